//! The positions of outbound messages that opening a journal has read.

use fixbolt_codec::SeqNum;
use fixbolt_session::store::Generation;

use crate::files::found::Files;
use crate::files::index::Index;
use crate::files::segment::Segment;
use crate::layout::records::{Header, Kind};
use crate::layout::scan::RecordAddress;
use crate::values::ledger::is_original;

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
            let is_read = file.number >= self.read_from;
            if is_read {
                index.reserve_for(mapping.len());
            }
            segments.push(Segment::new(file.number, mapping, start, is_read.then_some(index)));
        }
        segments
    }
}
