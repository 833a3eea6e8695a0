//! One session's open journal, as the session's own thread has it.
//!
//! `append`, `commit`, `look_ahead`, `read_back` and `close` say what is done with it. `recover`
//! has decided before what the files of a recovered journal mean.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use fixbolt_session::store::StoreError;

use crate::files::floor_writer::FloorWriter;
use crate::files::lock::Lock;
use crate::files::segment::Segment;
use crate::layout::checkpoint::Spot;
use crate::layout::floor::Floor;
use crate::layout::scan::RecordAddress;
use crate::open::cursor::Cursor;
use crate::open::shared::Shared;
use crate::open::wanted::Wanted;
use crate::values::ledger::Ledger;
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

impl Turn {
    /// Returns whether a record was added.
    pub(crate) const fn is_begun(&self) -> bool {
        self.begun
    }
}

impl Log {
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
        if let Some(error) = &*lock(&self.shared.failure) {
            return error.clone();
        }
        let place = self.shared.directory.display().to_string();
        StoreError::Damaged { place, reason: self.damage.clone().unwrap_or_default() }
    }

    /// Returns a failure that one of the store's threads has noticed, once. Appends are refused
    /// from then on.
    pub(crate) fn take_failure(&mut self) -> Option<StoreError> {
        if self.damage.is_some() || !self.shared.failed.load(Ordering::Relaxed) {
            return None;
        }
        let error = lock(&self.shared.failure).clone()?;
        self.damage = Some(error.to_string());
        Some(error)
    }
}
