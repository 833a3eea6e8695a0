//! What happens to the files of a journal. Printed, an operation is the code for a row of the
//! table.

use std::path::Path;

use super::journal::{Files, Journal, Moment, Stranger, load, number, segment};

/// The files that an operation changes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Target {
    Head,
    FirstSegment,
    MiddleSegment,
    LastSegment,
    Lock,
    AllSegments,
    AllButLock,
    Everything,
}

impl Target {
    pub(super) const ALL: [Self; 8] = [
        Self::Head,
        Self::FirstSegment,
        Self::MiddleSegment,
        Self::LastSegment,
        Self::Lock,
        Self::AllSegments,
        Self::AllButLock,
        Self::Everything,
    ];
    pub(super) const SEGMENTS: [Self; 3] = [Self::FirstSegment, Self::MiddleSegment, Self::LastSegment];

    fn has(self, name: &str, journal: &Journal) -> bool {
        let [first, middle, last] = journal.segments();
        let n = number(name);
        match self {
            Self::Head => name == "head",
            Self::FirstSegment => n == Some(first),
            Self::MiddleSegment => n == Some(middle),
            Self::LastSegment => n == Some(last),
            Self::Lock => name == "lock",
            Self::AllSegments => n.is_some(),
            Self::AllButLock => name != "lock",
            Self::Everything => true,
        }
    }

    /// Returns the name of the segment that this is.
    fn segment(self, journal: &Journal) -> String {
        let [first, middle, last] = journal.segments();
        segment(match self {
            Self::FirstSegment => first,
            Self::MiddleSegment => middle,
            _ => last,
        })
    }
}

/// What is left of a truncated file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Left {
    Bytes(usize),
    Half,
    AllButAPage,
}

/// The part of a file that is zeroed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Part {
    Whole,
    FirstPage,
    /// From and to, in thousandths of the file.
    Between(usize, usize),
}

/// One thing that happens to a journal's files. It does nothing if the files are gone already.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Operation {
    Truncated(Target, Left),
    Zeroed(Target, Part),
    /// The log is zeroed from this turn on, counted from the end.
    ZeroedLastTurns(usize),
    /// The first word of the last turn is zeroed.
    UnpublishedLastTurn,
    /// One bit, at this thousandth of the file.
    Flipped(Target, usize),
    Swapped(Target, Target),
    Deleted(Target),
    DeletedDirectory,
    /// Files of the same name come from another journal.
    Foreign(Target, Stranger),
    /// The first segment is copied over the second one.
    CopiedOver(Target, Target),
    /// The segment is copied to a file with the next number.
    CopiedAsNext(Target),
    /// The files that the copy has are removed and written anew.
    Older(Target, Moment),
    OlderDirectory(Moment),
    /// The directory is opened in another base directory, to which it was copied.
    CopiedDirectory {
        original_left: bool,
    },
}

use Operation::{
    CopiedAsNext, CopiedDirectory, CopiedOver, Deleted, DeletedDirectory, Flipped, Foreign, Older,
    OlderDirectory, Swapped, Truncated, UnpublishedLastTurn, Zeroed, ZeroedLastTurns,
};

impl Operation {
    pub(super) fn apply(self, journal: &mut Journal) {
        let directory = journal.directory();
        journal.stale |= matches!(self, Foreign(..) | Older(..) | OlderDirectory(_));
        match self {
            Truncated(target, left) => edit(journal, target, |bytes| {
                bytes.truncate(match left {
                    Left::Bytes(n) => n,
                    Left::Half => bytes.len() / 2,
                    Left::AllButAPage => bytes.len().saturating_sub(4096),
                });
            }),
            Zeroed(target, part) => edit(journal, target, |bytes| {
                let length = bytes.len();
                let (from, to) = match part {
                    Part::Whole => (0, length),
                    Part::FirstPage => (0, length.min(4096)),
                    Part::Between(from, to) => (from * length / 1000, to * length / 1000),
                };
                bytes[from..to].fill(0);
            }),
            ZeroedLastTurns(count) => {
                let turns = journal.turns();
                let (from, offset) = turns[turns.len() - 1 - count];
                for name in load(&directory).into_keys() {
                    let Some(n) = number(&name).filter(|n| *n >= from) else { continue };
                    let offset = if n == from { offset } else { 512 };
                    change(&directory.join(name), |bytes| bytes.iter_mut().skip(offset).for_each(|b| *b = 0));
                }
            }
            UnpublishedLastTurn => {
                let turns = journal.turns();
                let (n, offset) = turns[turns.len() - 2];
                let path = directory.join(segment(n));
                change(&path, |bytes| bytes.iter_mut().skip(offset).take(8).for_each(|b| *b = 0));
            }
            Flipped(target, place) => edit(journal, target, |bytes| {
                let at = place * bytes.len() / 1000;
                if let Some(byte) = bytes.get_mut(at) {
                    *byte ^= 1 << (place % 8);
                }
            }),
            Swapped(a, b) => {
                let [a, b] = [a, b].map(|t| directory.join(t.segment(journal)));
                if a.exists() && b.exists() {
                    let aside = journal.root.path().join("aside");
                    std::fs::rename(&a, &aside).unwrap();
                    std::fs::rename(&b, &a).unwrap();
                    std::fs::rename(&aside, &b).unwrap();
                }
            }
            Deleted(target) => {
                for name in load(&directory).into_keys().filter(|name| target.has(name, journal)) {
                    std::fs::remove_file(directory.join(name)).unwrap();
                }
            }
            DeletedDirectory => {
                let _ = std::fs::remove_dir_all(&directory);
            }
            Foreign(target, stranger) => {
                let files = journal.stranger(stranger);
                Deleted(target).apply(journal);
                write(&directory, files.iter().filter(|(name, _)| target.has(name, journal)));
            }
            CopiedOver(from, to) => {
                let [from, to] = [from, to].map(|t| directory.join(t.segment(journal)));
                if from.exists() {
                    std::fs::copy(from, to).unwrap();
                }
            }
            CopiedAsNext(target) => {
                let from = directory.join(target.segment(journal));
                let highest = load(&directory).keys().filter_map(|name| number(name)).max();
                if let Some(highest) = highest
                    && from.exists()
                {
                    std::fs::copy(from, directory.join(segment(highest + 1))).unwrap();
                }
            }
            Older(target, moment) => {
                write(&directory, journal.at(moment).iter().filter(|(name, _)| target.has(name, journal)));
            }
            OlderDirectory(moment) => {
                DeletedDirectory.apply(journal);
                write(&directory, journal.at(moment).iter());
            }
            CopiedDirectory { original_left } => {
                let files = load(&directory);
                if !original_left {
                    DeletedDirectory.apply(journal);
                }
                journal.base.push("copies");
                write(&journal.directory(), files.iter());
            }
        }
    }

    /// Returns whether the operation changes anything, if it is the first one.
    pub(super) fn applies(self, journal: &Journal) -> bool {
        let has = |files: &Files, target: Target| files.keys().any(|name| target.has(name, journal));
        match self {
            Older(target, moment) => has(journal.at(moment), target),
            _ => true,
        }
    }
}

fn edit(journal: &Journal, target: Target, edit: impl Fn(&mut Vec<u8>)) {
    let directory = journal.directory();
    for name in load(&directory).into_keys().filter(|name| target.has(name, journal)) {
        change(&directory.join(name), &edit);
    }
}

/// Changes a file in place.
fn change(path: &Path, change: impl Fn(&mut Vec<u8>)) {
    let Ok(mut bytes) = std::fs::read(path) else { return };
    change(&mut bytes);
    std::fs::write(path, bytes).unwrap();
}

/// Writes files anew, after removing those of the same names.
fn write<'f>(directory: &Path, files: impl Iterator<Item = (&'f String, &'f Vec<u8>)>) {
    std::fs::create_dir_all(directory).unwrap();
    for (name, bytes) in files {
        let path = directory.join(name);
        let _ = std::fs::remove_file(&path);
        std::fs::write(path, bytes).unwrap();
    }
}

/// Random operations from a seed.
pub(super) struct Random(u64);

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Returns a number below `limit` (SplitMix64).
    pub(super) fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ z >> 31) % limit as u64) as usize
    }

    pub(super) fn one_of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }

    pub(super) fn part(&mut self) -> Part {
        let (a, b) = (self.below(1000), self.below(1000));
        Part::Between(a.min(b), a.max(b) + 1)
    }

    /// Returns an operation. Those that leave most of the journal are more likely.
    pub(super) fn operation(&mut self) -> Operation {
        let target =
            if self.below(4) == 0 { self.one_of(&Target::ALL) } else { self.one_of(&Target::ALL[..5]) };
        let moment = self.one_of(&Moment::ALL);
        let [from, to] = self.one_of(&PAIRS);
        match self.below(17) {
            0 => Truncated(target, self.one_of(&LEFT)),
            1 => Truncated(target, Left::Bytes(self.below(8192))),
            2 => Zeroed(target, self.one_of(&[Part::Whole, Part::FirstPage])),
            3 | 4 => Zeroed(target, self.part()),
            5 => ZeroedLastTurns(1 + self.below(60)),
            6 => UnpublishedLastTurn,
            7 => Flipped(target, self.below(1000)),
            8 => Swapped(from, to),
            9 => Deleted(target),
            10 => Foreign(target, self.one_of(&[Stranger::OtherSession, Stranger::SameSession])),
            11 => CopiedOver(from, to),
            12 => CopiedAsNext(from),
            13 | 14 => Older(target, moment),
            15 => OlderDirectory(moment),
            _ => CopiedDirectory { original_left: self.below(2) == 0 },
        }
    }
}

pub(super) const LEFT: [Left; 5] =
    [Left::Bytes(0), Left::Bytes(100), Left::Bytes(512), Left::Half, Left::AllButAPage];

/// All pairs of two different segments.
pub(super) const PAIRS: [[Target; 2]; 6] = [
    [Target::FirstSegment, Target::MiddleSegment],
    [Target::FirstSegment, Target::LastSegment],
    [Target::MiddleSegment, Target::FirstSegment],
    [Target::MiddleSegment, Target::LastSegment],
    [Target::LastSegment, Target::FirstSegment],
    [Target::LastSegment, Target::MiddleSegment],
];
