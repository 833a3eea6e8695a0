//! One session's open journal, as the session's own thread has it.
//!
//! `append`, `commit`, `look_ahead`, `read_back` and `close` say what is done with it. `opening`
//! gathers its parts, once `verdict` has said what the files of a journal mean.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use fixbolt_codec::SeqNum;
use fixbolt_session::store::{SessionKey, StoreError};

use crate::files::creation::Creation;
use crate::files::floor_writer::FloorWriter;
use crate::files::head::HeadFile;
use crate::files::lock::{DirectoryWatch, Lock};
use crate::files::segment::Segment;
use crate::files::segment_maker::SegmentMaker;
use crate::layout::checkpoint::Spot;
use crate::layout::floor::Floor;
use crate::layout::records::SEGMENT_HEADER;
use crate::layout::scan::{RecordAddress, Scan};
use crate::open::calls::Calls;
use crate::open::cursor::Cursor;
use crate::open::failure::Failure;
use crate::open::head_on_disk::HeadOnDisk;
use crate::open::position::Position;
use crate::open::segments::Segments;
use crate::open::shared::Shared;
use crate::open::wanted::Wanted;
use crate::system::boot::boot_id;
use crate::values::ledger::Ledger;
use crate::values::limits::Limits;
use crate::values::mutex::lock;

/// The journal of one session, open for appending.
pub(crate) struct Log {
    pub(crate) shared: Arc<Shared>,
    pub(crate) salt: u32,
    /// All segments, in order. Those after the current one were taken for a turn that was rolled
    /// back.
    pub(crate) segments: Vec<Segment>,
    /// Why nothing can be appended.
    pub(crate) damage: Option<String>,
    /// Where the next record goes, and where the next turn goes.
    pub(crate) end: RecordAddress,
    pub(crate) committed_end: RecordAddress,
    pub(crate) committed_turn: u64,
    pub(crate) turn_before: u64,
    /// Number of committed turns.
    pub(crate) turns: u64,
    pub(crate) committed: Ledger,
    pub(crate) pending: Ledger,
    pub(crate) generation_start: RecordAddress,
    pub(crate) pending_generation_start: RecordAddress,
    /// NextNumOut must not exceed this: the mark on disk; 0 before a new journal is.
    pub(crate) mark: u64,
    /// Once NextNumOut exceeds this, it is time to see to the mark: half of what was left is used.
    pub(crate) limit: u64,
    /// Once records of the current segment end after this offset, it is time to see to what is
    /// ahead of them (`look_ahead`), or to the next segment.
    pub(crate) alert: usize,
    /// Where the journal ended when it was opened: the number of the segment, and the offset.
    pub(crate) opened_at: (u32, usize),
    pub(crate) wanted: Wanted,
    /// Whether something is wanted that the store does not know of.
    pub(crate) has_news: bool,
    /// `None` if the journal is damaged: nothing is committed then.
    pub(crate) floor: Option<FloorWriter>,
    pub(crate) turn: Turn,
    /// The position after the message that was read last.
    pub(crate) cursor: Option<Cursor>,
    /// A segment that was asked for an index of, and how often.
    pub(crate) sought: (u32, u32),
    /// How far back from NextNumOut messages are read.
    pub(crate) horizon: u64,
    /// Held as long as the log is open.
    pub(crate) _lock: Lock,
}

/// The open turn.
#[derive(Default)]
pub(crate) struct Turn {
    pub(crate) number: u64,
    /// Whether a record was added.
    pub(crate) begun: bool,
    /// The first record, and the word that will make the turn visible.
    pub(crate) first: RecordAddress,
    pub(crate) first_word: u64,
    /// The last record, and the second word of its header as long as others may follow.
    pub(crate) last: RecordAddress,
    pub(crate) second_word: u64,
}

/// What a journal is opened with, besides its place and its settings.
pub(crate) struct Parts {
    /// All segments that the session's thread may read, in order.
    pub(crate) segments: Vec<Segment>,
    pub(crate) maker: SegmentMaker,
    pub(crate) head: HeadFile,
    /// What is left to do until a new journal is on disk.
    pub(crate) creation: Option<Creation>,
    pub(crate) floor: Option<FloorWriter>,
    pub(crate) reached: Reached,
    /// NextNumOut may reach this without a mark on disk.
    pub(crate) mark: u64,
    /// Number of the first segment that opening has read.
    pub(crate) read_from: u32,
    pub(crate) damage: Option<String>,
}

/// How far the records reach with which a journal is opened.
#[derive(Clone, Copy)]
pub(crate) struct Reached {
    pub(crate) ledger: Ledger,
    pub(crate) end: RecordAddress,
    pub(crate) generation_start: RecordAddress,
    pub(crate) turn: u64,
    pub(crate) turn_before: u64,
    pub(crate) turns: u64,
}

impl Reached {
    /// A journal without records.
    pub(crate) const NEW: Self = {
        let start = RecordAddress { segment: 0, offset: SEGMENT_HEADER };
        Self { ledger: Ledger::NEW, end: start, generation_start: start, turn: 0, turn_before: 0, turns: 0 }
    };

    /// Returns what a scan has found.
    pub(crate) fn of(scan: &Scan) -> Self {
        Self {
            ledger: scan.ledger,
            end: scan.end,
            generation_start: scan.generation_start,
            turn: scan.last_turn,
            turn_before: scan.turn_before,
            turns: scan.turns,
        }
    }
}

impl Log {
    /// Opens the journal in `directory`.
    pub(crate) fn new(
        directory: &Path,
        key: SessionKey,
        limits: Limits,
        watch: DirectoryWatch,
        parts: Parts,
        lock: Lock,
    ) -> Self {
        let Parts { segments, maker, head, creation, floor, reached, mark, read_from, damage } = parts;
        let Reached { ledger, end, generation_start, turn, turn_before, turns } = reached;
        let current = segments.get(end.segment).map_or(0, |segment| segment.number);
        let needed_from = segments.first().map_or(1, |segment| segment.number);
        let place = Floor {
            turn,
            generation: ledger.generation,
            segment: current,
            offset: end.offset as u64,
            next_in: ledger.next_in,
            next_out: ledger.next_out,
        };
        let salt = maker.salt;
        let shared = Shared {
            directory: directory.to_owned(),
            key,
            boot: boot_id(),
            process: std::process::id(),
            watch,
            read_from,
            limits,
            position: Position::new(&place, needed_from),
            failure: Failure::default(),
            head: HeadOnDisk::new(head, creation),
            segments: Segments::new(maker, &segments),
            calls: Calls::default(),
        };
        // With room for those that a session goes on to.
        let mut all = Vec::with_capacity(256 + segments.len());
        all.extend(segments);
        Self {
            shared: Arc::new(shared),
            salt,
            segments: all,
            damage,
            end,
            committed_end: end,
            committed_turn: turn,
            turn_before,
            turns,
            committed: ledger,
            pending: ledger,
            generation_start,
            pending_generation_start: generation_start,
            mark,
            limit: mark,
            alert: 0,
            opened_at: (current, end.offset),
            wanted: Wanted::default(),
            has_news: false,
            floor,
            turn: Turn::default(),
            cursor: None,
            sought: (0, 0),
            horizon: u64::MAX,
            _lock: lock,
        }
    }

    /// Has NextNumOut reach `reserve` further than it is, and writes this mark to disk if the one
    /// there is lower.
    pub(crate) fn write_mark(&mut self, reserve: u64) -> Result<(), StoreError> {
        let shared = &self.shared;
        let (generation, next_out) = (self.committed.generation, self.committed.next_out);
        self.mark = next_out.0.saturating_add(reserve);
        shared.head.advance_mark(&mut lock(&shared.head.file), shared.boot, generation, SeqNum(self.mark))
    }

    /// Returns what the last commit reached.
    #[inline]
    pub(crate) fn reached(&self) -> Floor {
        Floor {
            turn: self.committed_turn,
            generation: self.committed.generation,
            segment: self.segments[self.committed_end.segment].number,
            offset: self.committed_end.offset as u64,
            next_in: self.committed.next_in,
            next_out: self.committed.next_out,
        }
    }

    pub(crate) fn spot(&self, at: RecordAddress) -> Spot {
        Spot { segment: self.segments[at.segment].number, offset: at.offset as u32 }
    }

    #[cold]
    pub(crate) fn refusal(&self) -> StoreError {
        if let Some(error) = &*lock(&self.shared.failure.why) {
            return error.clone();
        }
        let place = self.shared.directory.display().to_string();
        StoreError::Damaged { place, reason: self.damage.clone().unwrap_or_default() }
    }

    /// Returns a failure that one of the store's threads has noticed, once. Appends are refused
    /// from then on.
    pub(crate) fn take_failure(&mut self) -> Option<StoreError> {
        if self.damage.is_some() || !self.shared.failure.failed.load(Ordering::Relaxed) {
            return None;
        }
        let error = lock(&self.shared.failure.why).clone()?;
        self.damage = Some(error.to_string());
        Some(error)
    }
}
