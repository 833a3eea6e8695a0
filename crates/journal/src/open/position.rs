//! Where the session's thread is, for the store's threads.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

use fixbolt_codec::SeqNum;
use fixbolt_session::store::Generation;

use crate::layout::floor::Floor;

/// Where the session's thread is. It alone writes this.
///
/// A commit stores, after the record that makes its turn visible: the generation, the floor in the
/// head file, `next_out`, `at`; then, if it gives segments up, `needed_from`. Whoever reads two of
/// these reads them against that order.
pub(crate) struct Position {
    /// Number of the current segment in the upper half, offset of the next turn in the lower.
    pub(crate) at: AtomicU64,
    pub(crate) generation: AtomicU32,
    pub(crate) next_out: AtomicU64,
    /// The first segment that the session's thread may read from.
    pub(crate) needed_from: AtomicU32,
    pub(crate) closed: AtomicBool,
}

impl Position {
    /// Begins with what opening the journal has reached, whose first segment is `needed_from`.
    pub(crate) const fn new(reached: &Floor, needed_from: u32) -> Self {
        let Generation(generation) = reached.generation;
        let SeqNum(next_out) = reached.next_out;
        Self {
            at: AtomicU64::new((reached.segment as u64) << 32 | reached.offset),
            generation: AtomicU32::new(generation),
            next_out: AtomicU64::new(next_out),
            needed_from: AtomicU32::new(needed_from),
            closed: AtomicBool::new(false),
        }
    }

    /// Returns where the next turn begins: the number of the segment, and the offset.
    pub(crate) fn reached(&self) -> (u32, usize) {
        let position = self.at.load(Ordering::Acquire);
        ((position >> 32) as u32, (position & 0xffff_ffff) as usize)
    }

    /// Publishes where the next turn begins.
    #[inline]
    pub(crate) fn publish(&self, segment: u32, offset: u64) {
        self.at.store(u64::from(segment) << 32 | offset, Ordering::Release);
    }

    /// Returns the current generation and its NextNumOut, or `None` in the middle of a reset.
    pub(crate) fn numbers(&self) -> Option<(Generation, u64)> {
        let generation = self.generation.load(Ordering::Acquire);
        let next_out = self.next_out.load(Ordering::Acquire);
        (self.generation.load(Ordering::Acquire) == generation).then_some((Generation(generation), next_out))
    }
}
