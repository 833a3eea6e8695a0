//! Where outbound messages are, so that a resend does not read a journal from its beginning.

use fixbolt_codec::SeqNum;
use fixbolt_session::store::Generation;

use crate::layout::records::{Header, Kind, RECORD_HEADER, SEGMENT_HEADER};
use crate::layout::scan::next_record;
use crate::values::ledger::is_original;

/// Positions of original outbound messages: of the first one that begins in each stride.
#[derive(Default)]
pub(crate) struct Index(Vec<IndexEntry>);

#[derive(Clone, Copy)]
struct IndexEntry {
    number: (Generation, SeqNum),
    offset: usize,
}

/// Length of a stride in bytes: a look-up reads at most this much.
const STRIDE: usize = 32 << 10;

impl Index {
    /// Creates an index with space for a segment of `length` bytes, so that adding to it never
    /// allocates.
    pub(crate) fn of_length(length: usize) -> Self {
        Self(Vec::with_capacity(length / STRIDE + 1))
    }

    /// Returns the index of a segment to which nothing is added any more. It looks at the headers
    /// of its records only.
    pub(crate) fn of(bytes: &[u8], salt: u32) -> Self {
        let (mut index, mut at) = (Self::default(), SEGMENT_HEADER);
        while at + RECORD_HEADER <= bytes.len() {
            let Some(header) = Header::peek(bytes, at) else {
                match next_record(bytes, at, salt) {
                    Some(next) => at = next,
                    None => break,
                }
                continue;
            };
            if header.kind == Kind::Seal {
                break;
            }
            if let Kind::Of(kind) = header.kind
                && is_original(kind, header.flags)
            {
                index.note(header.generation, header.seq, at);
            }
            at += header.size();
        }
        index.0.shrink_to_fit();
        index
    }

    /// Reserves the space of [`Index::of_length`].
    pub(crate) fn reserve_for(&mut self, length: usize) {
        self.0.reserve_exact((length / STRIDE + 1).saturating_sub(self.0.len()));
    }

    /// Records an original outbound message.
    #[inline]
    pub(crate) fn note(&mut self, generation: Generation, seq: SeqNum, offset: usize) {
        if self.0.last().is_none_or(|e| e.offset / STRIDE < offset / STRIDE) {
            self.0.push(IndexEntry { number: (generation, seq), offset });
        }
    }

    /// Forgets messages from `offset` on.
    pub(crate) fn forget(&mut self, offset: usize) {
        self.0.truncate(self.0.partition_point(|e| e.offset < offset));
    }

    /// Checks the last entries, as those before them do not change: they are in the order of their
    /// positions and numbers, and before `end`.
    ///
    /// # Panics
    /// Panics if they are not.
    pub(crate) fn check(&self, end: usize) {
        let [.., before, last] = &self.0[..] else { return };
        let IndexEntry { number, offset } = *last;
        assert!(offset < end, "a message begins at {offset}, and messages end at {end}");
        let is_sorted = before.number <= number && before.offset / STRIDE < offset / STRIDE;
        assert!(is_sorted, "message {number:?} at {offset} follows {:?} at {}", before.number, before.offset);
    }

    /// Returns where to begin the search for a message.
    pub(crate) fn begin_at(&self, number: (Generation, SeqNum)) -> usize {
        let after = self.0.partition_point(|e| e.number <= number);
        if after == 0 { SEGMENT_HEADER } else { self.0[after - 1].offset }
    }
}
