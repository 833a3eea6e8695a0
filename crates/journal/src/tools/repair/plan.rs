//! What a repair will do, found out without changing anything.
//!
//! Checksummed headers decide which journal a file belongs to and which segment it is; names are
//! only believed where there is no header. What does not belong here is moved aside.

use std::ffi::OsStr;
use std::path::Path;

use fixbolt_codec::SeqNum;
use fixbolt_session::SessionId;
use fixbolt_session::store::Generation;

use crate::files::found::Files;
use crate::files::names::file_name;
use crate::files::segment_file::SegmentFile;
use crate::layout::floor::Floor;
use crate::layout::head_copy::Head;
use crate::layout::records::SegmentHeader;
use crate::layout::scan::{Scan, Start, largest_next_out, scan};
use crate::values::identity::{JournalId, random};
use crate::values::reserve::RESERVE_MOST;
use crate::verdict::next_in;

/// The journal to which the files should belong.
pub(super) struct Owner {
    pub(super) session: SessionId,
    pub(super) salt: u32,
    pub(super) id: JournalId,
}

/// What becomes a segment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Slot {
    /// The file with this index.
    File {
        index: usize,
        /// Whether its header is to be rewritten.
        header: bool,
    },
    /// An empty segment, as the real one is gone.
    Empty,
}

/// What is to be done to a damaged journal.
pub(super) struct Plan {
    pub(super) owner: Owner,
    /// Number of the first segment that is not archived.
    pub(super) first: u32,
    /// The segments from there on.
    pub(super) slots: Vec<Slot>,
    /// Indices of the files that do not belong here.
    pub(super) aside: Vec<usize>,
    /// Whether the head file is to be moved aside and made anew.
    pub(super) new_head: bool,
    pub(super) scan: Scan,
    /// Where the numbers continue.
    pub(super) generation: Generation,
    pub(super) next_in: SeqNum,
    pub(super) mark: SeqNum,
}

impl Plan {
    /// Returns the plan for `files`, or `None` if neither they nor the directory's name say whose
    /// journal this is.
    pub(super) fn new(files: &Files) -> Option<Self> {
        let archived = SegmentFile::last_archived(&files.directory);
        let owner = owner(files, archived.as_ref())?;
        let own_head = files.head().filter(|head| owner.owns(&head.session, head.salt));
        let (slots, aside) = arrange(files, &owner);
        let bytes: Vec<&[u8]> = slots
            .iter()
            .map(|slot| match slot {
                Slot::File { index, .. } => files.segments[*index].bytes(),
                Slot::Empty => &[],
            })
            .collect();
        let start = match slots.first() {
            Some(Slot::File { index: 0, .. }) => files.start(),
            _ => Start::FIRST,
        };
        let scan = scan(&bytes, owner.salt, start, &mut |_, _| {});
        let floor = files.head_file.as_ref().and_then(|file| file.floor).filter(|_| own_head.is_some());
        let (generation, next_in, mark) = numbers(files, archived.as_ref(), own_head, floor, &scan);
        let new_head = own_head.is_none();
        let first = files.first;
        Some(Self { owner, first, slots, aside, new_head, scan, generation, next_in, mark })
    }

    /// Returns the number of the segment at index `n` of the slots.
    pub(super) fn number(&self, n: usize) -> u32 {
        self.first + n as u32
    }

    /// Returns its name.
    pub(super) fn name(&self, n: usize) -> String {
        file_name(self.number(n))
    }
}

impl Owner {
    fn owns(&self, session: &SessionId, salt: u32) -> bool {
        self.session == *session && self.salt == salt
    }
}

/// Returns the session, the salt and the journal that a segment names.
fn named_by(header: &SegmentHeader) -> (&SessionId, u32, Option<JournalId>) {
    (&header.session, header.salt, header.journal)
}

/// Returns the journal that most files name. If the directory has the name of a session, files of
/// others do not count. If there are none, the archive says it, or else that name.
fn owner(files: &Files, archived: Option<&SegmentFile>) -> Option<Owner> {
    let named = files.directory.file_name().and_then(OsStr::to_str).and_then(SessionId::from_file_name);
    let is_named = |session: &SessionId| named.as_ref().is_none_or(|named| named == session);
    let head = files.head().map(|head| (&head.session, head.salt, head.made.map(|made| made.id)));
    let segments = files.segments.iter().filter_map(|file| file.header.as_ref());
    let mut all: Vec<_> =
        head.into_iter().chain(segments.map(named_by)).filter(|(session, ..)| is_named(session)).collect();
    if all.is_empty() {
        let archived = archived.and_then(|file| file.header.as_ref()).map(named_by);
        all.extend(archived.filter(|(session, ..)| is_named(session)));
    }
    let votes = |salt| all.iter().filter(|(_, other, _)| *other == salt).count();
    // Of two with the same number the head's, which comes first.
    let chosen = all.iter().rev().max_by_key(|(_, salt, _)| votes(*salt));
    match chosen {
        Some((session, salt, _)) => {
            let id = all.iter().filter(|(_, other, _)| other == salt).find_map(|(.., id)| *id);
            Some(Owner { session: (*session).clone(), salt: *salt, id: id.unwrap_or_else(JournalId::random) })
        }
        None => Some(Owner { session: named?, salt: random() as u32, id: JournalId::random() }),
    }
}

/// Returns what becomes of each segment file: its place, or none.
fn arrange(files: &Files, owner: &Owner) -> (Vec<Slot>, Vec<usize>) {
    let own = |file: &SegmentFile| {
        let header = file.header.as_ref().filter(|header| owner.owns(&header.session, header.salt))?;
        Some((header.number, header.bytes == file.bytes().len() as u64))
    };
    let mut slots: Vec<Slot> = Vec::new();
    let mut aside = Vec::new();
    // Those that say which segment they are; if two say the same, the one with the right name.
    let mut known: Vec<(u32, bool, usize)> = Vec::new();
    for (index, file) in files.segments.iter().enumerate() {
        if let Some((number, _)) = own(file) {
            known.push((number, number != file.number, index));
        }
    }
    known.sort_unstable();
    let highest = known.last().map_or(0, |(number, ..)| *number);
    // A name counts where there is no header, if there is nothing else for this place.
    let nameless = |number: u32| {
        files
            .segments
            .iter()
            .position(|file| file.number == number && file.header.is_none() && file.mapping.is_some())
    };
    for number in files.first.. {
        let slot = match known.iter().find(|(known, ..)| *known == number) {
            Some((_, _, index)) => {
                let whole = own(&files.segments[*index]).is_some_and(|(_, whole)| whole);
                Slot::File { index: *index, header: !whole }
            }
            None => match nameless(number) {
                Some(index) => Slot::File { index, header: true },
                None if number < highest => Slot::Empty,
                None => break,
            },
        };
        slots.push(slot);
    }
    for index in 0..files.segments.len() {
        if !slots.iter().any(|slot| matches!(slot, Slot::File { index: used, .. } if *used == index)) {
            aside.push(index);
        }
    }
    (slots, aside)
}

/// Returns the generation, NextNumIn and the mark at which the session continues: above everything
/// that any part of the journal says was used.
fn numbers(
    files: &Files,
    archived: Option<&SegmentFile>,
    own_head: Option<&Head>,
    floor: Option<Floor>,
    scan: &Scan,
) -> (Generation, SeqNum, SeqNum) {
    let ledger = &scan.ledger;
    let closed = own_head.and_then(|head| head.made).map(|made| made.floor);
    let cookie = if own_head.is_some() { files.own_cookie() } else { files.cookie.as_ref() };
    let floors = [floor, closed, cookie.map(|cookie| cookie.floor)];
    let floors = floors.iter().flatten();
    let generation = floors
        .clone()
        .map(|floor| floor.generation)
        .chain(own_head.map(|head| head.generation))
        .fold(ledger.generation, Generation::max);
    let next_in =
        next_in::latest(generation, [files.reached(scan)].into_iter().chain(floors.clone().copied()));
    let used = floors.map(|floor| floor.next_out).fold(ledger.next_out, SeqNum::max);
    let mark = match own_head {
        Some(head) => used.max(head.mark),
        // Nothing is left but the cookie, which says what was used.
        None if files.segments.is_empty() && cookie.is_some() => used,
        // The lost mark was at most RESERVE_MOST ahead of NextNumOut at that time, and finished
        // pages are written to disk between two marks.
        None => {
            let unchecked = files.segments.iter().chain(archived);
            let unchecked = unchecked.map(|file| largest_next_out(file.bytes()));
            let used = unchecked.fold(used, SeqNum::max);
            SeqNum(used.0.saturating_add(2 * RESERVE_MOST))
        }
    };
    (generation, next_in, mark)
}

/// Returns the name of a file, for people.
pub(crate) fn name_of(path: &Path) -> String {
    path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned())
}
