//! Segments and pages that are ready before they are needed: what `fixbolt-store` does for a
//! session.
//!
//! A worker makes pages ready itself, one at a time, while it has nothing else to do
//! (`look_ahead`). This thread makes the first ones of a journal, and goes on where a worker has
//! fallen behind because it is never idle, or because the system lets it wait for pages.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use fixbolt_session::store::StoreError;

use crate::layout::records::SEGMENT_HEADER;
use crate::open::look_ahead::{AHEAD, FIRST};
use crate::open::shared::Shared;
use crate::system::mapping::MappingAhead;
use crate::threads::work::{Next, Pace, Work};
use crate::values::mutex::lock;

/// Segments and pages of one session.
pub(crate) struct Preparation {
    shared: Arc<Shared>,
    /// Whether the first pages were made ready.
    begun: bool,
    /// Where the session was in the last round, while pages are made ready for it: the number of
    /// its segment, and the offset.
    seen: (u32, usize),
    helps_until: Option<Instant>,
    retry: Instant,
}

/// How many bytes are made ready at a time, so that whoever else needs the core gets it in between.
const STEP: usize = 64 << 10;
/// How many bytes are made ready for a session before other sessions have their turn.
const MOST: usize = 4 << 20;
/// How many bytes of the next segment are made ready before it is needed, at most.
const FIRST_OF_NEXT: usize = 64 << 10;
/// How often to look where a session is whose worker has fallen behind, and how long to go on after
/// it has done without.
const HELP_EVERY: Duration = Duration::from_millis(1);
const HELP_FOR: Duration = Duration::from_millis(100);
/// Pause after a segment could not be created.
const RETRY: Duration = Duration::from_secs(1);

impl Work for Preparation {
    fn shared(&self) -> &Shared {
        &self.shared
    }

    fn round(&mut self, now: Instant) -> Result<Next, StoreError> {
        if !self.shared.head.created.load(Ordering::Acquire) {
            // Whoever takes the last step of the creation rings.
            return Ok(Next::WhenRung);
        }
        let at = self.shared.position.reached();
        if !self.begun {
            self.begun = true;
            self.make_ready(at, FIRST);
            self.shared.segments.helps.store(false, Ordering::Release);
        }
        // First, as a worker that lacks a segment has more to do than one that lacks pages.
        self.keep_segment(now, at);
        self.help(now, at);
        Ok(match self.helps_until {
            Some(_) => Next::At(now + HELP_EVERY),
            None if now < self.retry => Next::At(self.retry),
            None => Next::WhenRung,
        })
    }
}

impl Preparation {
    pub(crate) const PACE: Pace = Pace { grid: HELP_EVERY, gather: Duration::ZERO };

    pub(crate) fn new(shared: Arc<Shared>, now: Instant) -> Self {
        Self { shared, begun: false, seen: (0, 0), helps_until: None, retry: now }
    }

    /// Makes further pages writable if the worker has fallen behind.
    fn help(&mut self, now: Instant, at: (u32, usize)) {
        let shared = &self.shared;
        let asked = shared.segments.is_behind.swap(false, Ordering::AcqRel);
        if asked && self.helps_until.is_none() {
            self.seen = at;
        }
        if asked || self.helps_until.is_some() {
            let ((number, offset), (before, since)) = (at, self.seen);
            let is_short = shared.segments.ready_in(number).saturating_sub(offset) < AHEAD / 2;
            let step = if number == before { offset.saturating_sub(since) } else { offset };
            if is_short && self.make_ready(at, (4 * step).clamp(AHEAD, MOST)) {
                self.helps_until = Some(now + HELP_FOR);
            } else if self.helps_until.is_none_or(|until| now >= until) {
                self.helps_until = None;
            }
            self.seen = at;
            self.shared.segments.helps.store(self.helps_until.is_some(), Ordering::Release);
        }
    }

    /// Makes pages writable from `at` on, for so many bytes, or for as many as are left in the
    /// segment. Returns whether there were any.
    fn make_ready(&self, (number, offset): (u32, usize), bytes: usize) -> bool {
        let ahead = lock(&self.shared.segments.ahead).clone();
        let Some((_, mapping)) = ahead.iter().find(|(n, _)| *n == number) else { return false };
        let to = (offset + bytes).min(mapping.len());
        let mut from = self.shared.segments.ready_in(number).max(offset) & !4095;
        let are_any = from < to;
        while from < to {
            let end = (from + STEP).min(to);
            mapping.populate(from..end);
            self.shared.segments.note_ready(number, end.next_multiple_of(4096));
            from = end;
            std::thread::yield_now();
        }
        are_any
    }

    /// Keeps one unused segment ready. An idle session has one only: if it is small, the next one
    /// is made when half of it is used.
    fn keep_segment(&mut self, now: Instant, (number, offset): (u32, usize)) {
        if now < self.retry {
            return;
        }
        let may_stay_idle = |mapping: &MappingAhead| mapping.len() < AHEAD && offset < mapping.len() / 2;
        if lock(&self.shared.segments.ahead).iter().any(|(n, mapping)| *n == number && may_stay_idle(mapping))
        {
            return;
        }
        let mut maker = lock(&self.shared.segments.maker);
        if maker.closed || maker.highest > number {
            return;
        }
        // After a reset, the next segment is made for a generation like the last one, if that was
        // small.
        let small = self.shared.segments.small_generation.swap(0, Ordering::AcqRel);
        if small > 0 {
            maker.bytes = small;
        }
        match maker.make(0) {
            Ok(mut segment) => {
                let ahead = segment.mapping.ahead();
                let first = FIRST_OF_NEXT.min(ahead.len() / 4);
                while segment.ready < first {
                    segment.ready = segment.step(segment.ready.max(SEGMENT_HEADER));
                }
                lock(&self.shared.segments.ahead).push((segment.number, ahead));
                let mut ready = lock(&self.shared.segments.next);
                if ready.is_some() {
                    lock(&self.shared.segments.ahead).retain(|(n, _)| *n != segment.number);
                    let _ = maker.unmake(segment);
                    self.retry = now + RETRY;
                } else {
                    *ready = Some(segment);
                }
            }
            // There is no space now. If there still is none when the segment is needed, the append
            // reports it.
            Err(_) => self.retry = now + RETRY,
        }
    }
}
