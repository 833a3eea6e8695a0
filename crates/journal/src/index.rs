//! Where outbound messages are, so that a resend does not read a journal from its beginning.

use fixbolt_codec::SeqNum;
use fixbolt_session::store::Generation;

use crate::files::Files;
use crate::layout::{Header, Kind, SEGMENT_HEADER};
use crate::ledger::is_original;
use crate::scan::RecordAddress;
use crate::segment::Segment;

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

/// The positions of outbound messages that a scan visits, for each segment.
pub(crate) struct Indexes {
    indexes: Vec<Index>,
    /// Generation and NextNumOut at the beginning of each segment, as far as the scan reached.
    starts: Vec<(Generation, SeqNum)>,
    /// Number of the segment in which the scan begins.
    pub(crate) read_from: u32,
}

impl Indexes {
    pub(crate) fn new(files: &Files, from: usize) -> Self {
        let salt = files.salt();
        let mut start = (Generation(0), SeqNum::ONE);
        let starts = files.segments.iter().map(|file| {
            if let Some((header, _)) = file.checkpoint(salt) {
                start = (header.generation, header.next_out);
            }
            start
        });
        let starts = starts.collect();
        let read_from = files.segments.get(from).map_or(1, |s| s.number);
        Self { read_from, indexes: files.segments.iter().map(|_| Index::default()).collect(), starts }
    }

    pub(crate) fn note(&mut self, at: RecordAddress, header: &Header) {
        if let Kind::Of(kind) = header.kind
            && is_original(kind, header.flags)
        {
            self.indexes[at.segment].note(header.generation, header.seq, at.offset);
        }
        // Where a segment has no checkpoint, what comes before it says with what it begins.
        for start in &mut self.starts[at.segment + 1..] {
            *start = (*start).max((header.generation, header.next_out));
        }
    }

    pub(crate) fn segments(self, files: Files) -> Vec<Segment> {
        let mut segments = Vec::new();
        for (file, (mut index, start)) in
            files.segments.into_iter().zip(self.indexes.into_iter().zip(self.starts))
        {
            // A file that is too short to be mapped is damage, and a damaged journal is only read,
            // so that its empty stand-in is never accessed.
            let Some(mapping) = file.mapping else { break };
            if file.number >= self.read_from {
                index.reserve_for(mapping.len());
            }
            segments.push(Segment::new(file.number, mapping, start, index));
        }
        segments
    }
}
