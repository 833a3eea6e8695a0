//! Segments: the files that hold the records, complete before they are used.

use fixbolt_codec::SeqNum;
use fixbolt_session::store::Generation;

use crate::files::index::Index;
use crate::system::mapping::Mapping;

/// What a page takes.
pub(crate) const PAGE: usize = 4096;
/// How many bytes are filled at a time, or made ready: 5 us, and 3.
const STEP: usize = 16 << 10;

/// A segment in memory, with the positions of some of its outbound messages.
pub(crate) struct Segment {
    pub(crate) number: u32,
    pub(crate) mapping: Mapping,
    /// Generation and NextNumOut at the beginning of the segment.
    pub(crate) start: (Generation, SeqNum),
    /// Bytes whose pages were made ready before its first record.
    pub(crate) ready: usize,
    /// Up to where the system keeps zeros in memory, so that pages are quickly made ready.
    filled: usize,
    index: Index,
    /// Whether the index has all of its messages. If not, a message is searched from its beginning.
    is_indexed: bool,
}

impl Segment {
    /// Begins with an index of its messages, or without one, if nothing is added to it.
    pub(crate) fn new(
        number: u32,
        mapping: Mapping,
        start: (Generation, SeqNum),
        index: Option<Index>,
    ) -> Self {
        let is_indexed = index.is_some();
        Self { number, mapping, start, ready: 0, filled: 0, index: index.unwrap_or_default(), is_indexed }
    }

    /// Returns whether a message is found without a search from the segment's beginning.
    pub(crate) const fn is_indexed(&self) -> bool {
        self.is_indexed
    }

    /// Takes the index of a segment that was opened without one.
    pub(crate) fn take_index(&mut self, index: Index) {
        if !self.is_indexed {
            (self.index, self.is_indexed) = (index, true);
        }
    }

    /// Takes a step towards pages that are ready to be written from `from` on, where no record is:
    /// fills [`STEP`] bytes, or makes ready what is filled, or a page of a file that cannot be.
    /// Returns up to where pages are ready.
    pub(crate) fn step(&mut self, from: usize) -> usize {
        let to = (from + 1).next_multiple_of(STEP).min(self.mapping.len());
        if from >= to {
            return to;
        }
        let is_filled = self.filled >= to;
        if !is_filled && self.mapping.fill(from..to) {
            self.filled = to;
            return from;
        }
        let to = if is_filled { to } else { to.min(from + PAGE) };
        self.mapping.ahead().populate(from..to);
        to
    }

    /// Records an original outbound message.
    #[inline]
    pub(crate) fn note(&mut self, generation: Generation, seq: SeqNum, offset: usize) {
        self.index.note(generation, seq, offset);
    }

    /// Forgets messages from `offset` on.
    pub(crate) fn forget(&mut self, offset: usize) {
        self.index.forget(offset);
    }

    /// Checks what is known of its messages, of which the last one ends at `end`.
    ///
    /// # Panics
    /// Panics if it does not hold.
    pub(crate) fn check(&self, end: usize) {
        self.index.check(end);
    }

    /// Returns where to begin the search for a message.
    pub(crate) fn begin_at(&self, number: (Generation, SeqNum)) -> usize {
        self.index.begin_at(number)
    }
}
