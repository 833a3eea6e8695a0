//! The journal that is damaged, the copies of it that were made earlier, and the journals that its
//! files are confused with.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::Duration;

use fixbolt_codec::SeqNum;
use fixbolt_session::store::{Generation, Prepares, Record, Store};

use crate::DirectoryStore;
use crate::testing::{TempDir, inbound, opened, outbound, reset, session};
use crate::tests::{body, turn};

/// The contents of a directory, by file name.
pub(super) type Files = BTreeMap<String, Vec<u8>>;

/// The session whose journal is damaged.
pub(super) const SESSION: &str = "A";
/// Turns before the first clean close.
const FEW: u64 = 5;
const TURNS: u64 = 110;
/// Turns of a foreign journal: fewer, so that its sequence numbers are lower.
const TURNS_OF_STRANGER: u64 = 100;
/// The turn after which the session is reset.
const RESET: u64 = 60;
/// The middle one of the segments that hold records, counted from the first.
const MIDDLE: u32 = 2;

/// How the journal came about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Variant {
    /// Whether the session was reset: then the generation is 1.
    pub(super) reset: bool,
    /// Whether it was closed, or its process was killed.
    pub(super) clean: bool,
    /// Whether a generation before it is in the archive: then segments begin above 1.
    pub(super) archived: bool,
}

impl Variant {
    pub(super) const ALL: [Self; 6] = [
        Self { reset: false, clean: false, archived: false },
        Self { reset: false, clean: true, archived: false },
        Self { reset: true, clean: false, archived: false },
        Self { reset: true, clean: true, archived: false },
        Self { reset: false, clean: false, archived: true },
        Self { reset: false, clean: true, archived: true },
    ];

    /// Returns the position in [`Variant::ALL`].
    fn index(self) -> usize {
        Self::ALL.iter().position(|variant| *variant == self).expect("all are there")
    }

    pub(super) fn name(self) -> &'static str {
        [
            "killed",
            "closed",
            "killed after a reset",
            "closed after a reset",
            "killed, with an archive",
            "closed, with an archive",
        ][self.index()]
    }
}

/// What the session has really used.
#[derive(Clone, Copy, Debug)]
pub(super) struct Truth {
    pub(super) generation: Generation,
    pub(super) next_in: SeqNum,
    pub(super) next_out: SeqNum,
}

/// When a copy of the directory was made.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Moment {
    /// After a few turns, when the journal was closed.
    FirstClose,
    /// While the session ran, after half of the turns and before the reset.
    HalfTime,
    /// While the session ran, a few turns before its end.
    Late,
}

impl Moment {
    pub(super) const ALL: [Self; 3] = [Self::FirstClose, Self::HalfTime, Self::Late];

    fn turn(self) -> u64 {
        match self {
            Self::FirstClose => FEW,
            Self::HalfTime => TURNS / 2,
            Self::Late => TURNS - 5,
        }
    }
}

/// Another journal, whose files may be put in the place of ours.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Stranger {
    OtherSession,
    /// A journal that a session of the same identity wrote elsewhere.
    SameSession,
}

/// A journal that can be damaged, in directories of its own.
pub(super) struct Journal {
    pub(super) root: TempDir,
    /// The base directory in which the session is opened.
    pub(super) base: PathBuf,
    pub(super) truth: Truth,
    variant: Variant,
    earlier: Vec<(Moment, Files)>,
    /// Whether there is a file of an earlier moment or of another journal.
    pub(super) stale: bool,
}

impl Journal {
    /// Writes a journal. Each has its own files, as a copy of files may be told from the original.
    pub(super) fn new(variant: Variant) -> Self {
        let root = TempDir::new("damages");
        let base = root.path().join("base");
        let mut earlier = Vec::new();
        let truth = write(&base, SESSION, variant, TURNS, &mut |done, directory| {
            if let Some(moment) = Moment::ALL.into_iter().find(|m| m.turn() == done) {
                let mut files = load(directory);
                // Whether the next segment exists already is a matter of microseconds.
                files.retain(|name, bytes| !name.starts_with("segment-") || holds_records(bytes));
                earlier.push((moment, files));
            }
        });
        Self { root, base, truth, variant, earlier, stale: false }
    }

    pub(super) fn directory(&self) -> PathBuf {
        self.base.join(session(SESSION).file_name())
    }

    /// Returns the directory in which the journal was written, if it is opened in another one.
    pub(super) fn original(&self) -> Option<PathBuf> {
        let original = self.root.path().join("base").join(session(SESSION).file_name());
        (original != self.directory()).then_some(original)
    }

    /// Returns the directory as it was.
    pub(super) fn at(&self, moment: Moment) -> &Files {
        &self.earlier.iter().find(|(m, _)| *m == moment).expect("every moment was reached").1
    }

    /// Returns the files of another journal that came about in the same way.
    pub(super) fn stranger(&self, stranger: Stranger) -> &'static Files {
        const EACH: usize = Variant::ALL.len();
        static FILES: [OnceLock<Files>; 2 * EACH] = [const { OnceLock::new() }; 2 * EACH];
        let (target, index) = match stranger {
            Stranger::OtherSession => ("B", 0),
            Stranger::SameSession => (SESSION, EACH),
        };
        FILES[self.variant.index() + index].get_or_init(|| {
            let dir = TempDir::new("damages");
            write(dir.path(), target, self.variant, TURNS_OF_STRANGER, &mut |_, _| {});
            load(&dir.path().join(session(target).file_name()))
        })
    }

    /// Returns the segment and the offset where each turn begins, and where the log ends.
    pub(super) fn turns(&self) -> &'static [(u32, usize)] {
        const EACH: usize = Variant::ALL.len();
        static TURN: [OnceLock<Vec<(u32, usize)>>; EACH] = [const { OnceLock::new() }; EACH];
        TURN[self.variant.index()].get_or_init(|| {
            let dir = TempDir::new("damages");
            let mut ends = Vec::new();
            write(dir.path(), SESSION, self.variant, TURNS, &mut |_, directory| {
                let files = load(directory);
                let used =
                    |(name, bytes): &(&String, &Vec<u8>)| number(name).is_some() && holds_records(bytes);
                ends.push(files.iter().rfind(used).map_or((1, 512), |(name, bytes)| {
                    let length = bytes.iter().rposition(|b| *b != 0).unwrap() + 1;
                    (number(name).unwrap(), length.next_multiple_of(8))
                }));
            });
            ends
        })
    }

    /// Returns the numbers of the first, the middle and the last segment that holds records.
    pub(super) fn segments(&self) -> [u32; 3] {
        let [(first, _), .., (last, _)] = self.turns() else { panic!("there are many turns") };
        assert!(*last > first + MIDDLE, "segments {first} to {last} are too few");
        [*first, first + MIDDLE, *last]
    }
}

/// Returns a store with segments of a few dozen turns.
pub(super) fn store(base: &Path) -> DirectoryStore {
    DirectoryStore::new(base).with_segments(4096, 8192).looking_every(crate::tests::NEVER)
}

/// Fills a few segments with a generation that is closed, and archives them.
fn write_archive(base: &Path, target: &str) {
    let mut store = store(base);
    let (key, _) = opened(&mut store, target).unwrap();
    for n in 1..=60 {
        turn(&mut store, key, &[outbound(n, &body(n))]);
    }
    turn(&mut store, key, &[reset(1, 1)]);
    store.close(key).unwrap();
    let (key, _) = opened(&mut store, target).unwrap();
    store.archive(key);
    assert!(base.join(session(target).file_name()).join("archive/segment-000001").exists());
    store.close(key).unwrap();
}

/// Writes a journal and shows its directory before the first and after each turn.
fn write(base: &Path, target: &str, variant: Variant, turns: u64, seen: &mut dyn FnMut(u64, &Path)) -> Truth {
    let directory = base.join(session(target).file_name());
    if variant.archived {
        write_archive(base, target);
    }
    let mut store = store(base);
    let (mut key, _) = opened(&mut store, target).unwrap();
    seen(0, &directory);
    let mut n = 0;
    for done in 1..=turns {
        n += 1;
        let (order, report) = (body(7 * n), body(n));
        let report = Record { next_in: SeqNum(n + 1), cause: Some(SeqNum(n)), ..outbound(n, &report) };
        turn(&mut store, key, &[inbound(n, &order), report]);
        if done == FEW || (variant.reset && done == RESET) {
            if done == RESET {
                turn(&mut store, key, &[reset(1, 1)]);
                n = 0;
            }
            // Otherwise it would be a matter of time whether the head knows of the reset.
            store.close(key).unwrap();
            seen(done, &directory);
            key = opened(&mut store, target).unwrap().0;
        } else {
            seen(done, &directory);
        }
    }
    if variant.clean {
        store.close(key).unwrap();
    } else {
        // The next segment is created by a thread of the store, which an idle worker asks for it.
        // Waiting for it leaves the same files every time.
        while store.prepare() {}
        for _ in 0..1000 {
            let files = load(&directory);
            let last = files.iter().rfind(|(name, _)| number(name).is_some());
            if last.is_none_or(|(_, bytes)| !holds_records(bytes)) {
                break;
            }
            std::thread::sleep(Duration::from_micros(500));
        }
        store.crash();
    }
    let next = SeqNum(n + 1);
    Truth {
        generation: Generation(u32::from(variant.reset) + u32::from(variant.archived)),
        next_in: next,
        next_out: next,
    }
}

/// Returns the number in the name of a segment's file.
pub(super) fn number(name: &str) -> Option<u32> {
    name.strip_prefix("segment-")?.parse().ok()
}

pub(super) fn segment(number: u32) -> String {
    format!("segment-{number:06}")
}

/// Returns whether there is anything after the header of a segment.
pub(super) fn holds_records(bytes: &[u8]) -> bool {
    bytes.iter().skip(512).any(|b| *b != 0)
}

/// Returns the contents of a directory; nothing if it does not exist.
pub(super) fn load(directory: &Path) -> Files {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    let files = entries.filter_map(|e| {
        // The next segment is renamed while a copy is made.
        let bytes = std::fs::read(e.path()).ok()?;
        Some((e.file_name().into_string().ok()?, bytes))
    });
    files.collect()
}
