//! Segments on their way between the session's thread and the store's threads.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

use crate::files::index::Index;
use crate::files::segment::Segment;
use crate::files::segment_maker::SegmentMaker;
use crate::system::mapping::MappingAhead;
use crate::values::mutex::lock;

/// Segments in the hands of several threads.
pub(crate) struct Segments {
    pub(crate) maker: Mutex<SegmentMaker>,
    /// The unused segment that was created ahead, until the worker takes it.
    pub(crate) next: Mutex<Option<Segment>>,
    /// Segments in the care of the store's threads: created, and not yet completely on disk.
    pub(crate) ahead: Mutex<Vec<(u32, MappingAhead)>>,
    /// Segments that nothing is written to any more and that are on disk.
    pub(crate) past: Mutex<Vec<(u32, MappingAhead)>>,
    /// Segments that the session's thread does not read any more.
    pub(crate) given_up: Mutex<Vec<Segment>>,
    /// Held while files are moved to the archive, and while their bytes are read.
    pub(crate) archiving: Mutex<()>,
    /// Whether one of those was read, so that its pages are in memory again.
    pub(crate) reads_past: AtomicBool,
    /// Up to where pages are ready to be written: the number of the segment in the upper half, the
    /// offset in the lower.
    pub(crate) ready: AtomicU64,
    /// Whether the session's thread has fallen behind in making pages ready, and whether
    /// `fixbolt-store` makes them for it: so it does until it has made the first ones.
    pub(crate) is_behind: AtomicBool,
    pub(crate) helps: AtomicBool,
    /// The number of a segment that the session's thread needs an index of; 0 for none.
    pub(crate) sought: AtomicU32,
    /// Indexes of segments that were opened without one, until the session's thread takes them, and
    /// whether there are any.
    pub(crate) indexes: Mutex<Vec<(u32, Index)>>,
    pub(crate) has_indexes: AtomicBool,
    /// Bytes that the last generation has used, if it was within one segment; 0 once the next
    /// segment was made.
    pub(crate) small_generation: AtomicU64,
}

impl Segments {
    /// Begins with the segments of a journal that is opened, the last of which is written to.
    pub(crate) fn new(maker: SegmentMaker, segments: &[Segment]) -> Self {
        let mut past: Vec<_> = segments.iter().map(|s| (s.number, s.mapping.ahead())).collect();
        let ahead = past.split_off(past.len().saturating_sub(1));
        // What was read to open the journal is hardly needed again.
        past.iter().chain(&ahead).for_each(|(_, m)| m.release(0..m.len()));
        Self {
            maker: Mutex::new(maker),
            next: Mutex::new(None),
            ahead: Mutex::new(ahead),
            past: Mutex::new(past),
            given_up: Mutex::default(),
            archiving: Mutex::default(),
            reads_past: AtomicBool::new(false),
            ready: AtomicU64::new(0),
            is_behind: AtomicBool::new(false),
            helps: AtomicBool::new(true),
            sought: AtomicU32::new(0),
            indexes: Mutex::default(),
            has_indexes: AtomicBool::new(false),
            small_generation: AtomicU64::new(0),
        }
    }

    /// Notes that the pages of a segment are ready up to `offset`, and all of those before it.
    pub(crate) fn note_ready(&self, segment: u32, offset: usize) {
        self.ready.fetch_max(u64::from(segment) << 32 | offset as u64, Ordering::AcqRel);
    }

    /// Returns the offset up to which the pages of a segment are ready.
    pub(crate) fn ready_in(&self, segment: u32) -> usize {
        let ready = self.ready.load(Ordering::Acquire);
        match ((ready >> 32) as u32).cmp(&segment) {
            std::cmp::Ordering::Less => 0,
            std::cmp::Ordering::Equal => (ready & 0xffff_ffff) as usize,
            std::cmp::Ordering::Greater => usize::MAX,
        }
    }

    /// Hands the index of a segment to the session's thread.
    pub(crate) fn hand_over(&self, number: u32, index: Index) {
        lock(&self.indexes).push((number, index));
        self.has_indexes.store(true, Ordering::Release);
    }

    /// Has all segments brought to disk, as what a process wrote that died may not be there.
    pub(crate) fn sync_past(&self) {
        let past = std::mem::take(&mut *lock(&self.past));
        lock(&self.ahead).splice(0..0, past);
    }
}
