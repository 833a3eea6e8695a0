//! What must be on disk for a session, which `fixbolt-sync` sees to: first a new journal itself, a
//! step at a time; then the reserve mark, and pages that are finished.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use fixbolt_codec::SeqNum;
use fixbolt_session::store::StoreError;

use crate::files::names::file_name;
use crate::open::bell::Task;
use crate::open::shared::Shared;
use crate::system::backend::failed;
use crate::system::mapping::MappingAhead;
use crate::threads::work::{Next, Pace, Work};
use crate::values::mutex::lock;
use crate::values::reserve::{RESERVE, RESERVE_MOST};

/// What is brought to disk for one session.
pub(crate) struct Syncing {
    shared: Arc<Shared>,
    /// NextNumOut at a point in time, to measure how fast sequence numbers are used.
    seen: (u64, Instant),
    /// How far ahead the mark is kept.
    reserve: u64,
    /// Bytes of the oldest segment in `ahead` that are on disk.
    flushed: usize,
    /// Up to where pages were given back to the system: the number of the segment, and the offset.
    released: (u32, usize),
    /// Where the session was when the finished pages were last on disk: the number of its segment,
    /// and the offset.
    synced_at: (u32, usize),
    next_look: Instant,
    next_flush: Instant,
    /// Whether more is to be written then.
    pauses: bool,
    /// The first segment that the session reads from, as far as `fixbolt-history` was told.
    told: u32,
}

/// How often to check that the directory is still there, and to write finished pages to disk.
const LOOK: Duration = Duration::from_secs(1);
const FLUSH: Duration = Duration::from_millis(500);
/// Maximum number of bytes written at a time, as the mark must not wait long, and the pause
/// afterwards, as writing takes a core from others: several times for a moment, however much is
/// written, so that it is not done more often. So at most 50 MiB of a session are written in a
/// second; what is beyond that, the system writes within half a minute.
const FLUSH_MOST: usize = 4 << 20;
const BETWEEN: Duration = Duration::from_millis(80);
/// How far before a session that goes on writing pages are left alone, at most.
const NEAR: usize = 64 << 10;
/// How long the reserve should last, and the shortest time over which the use of sequence numbers
/// is measured.
const LASTS: Duration = Duration::from_secs(2);
const MEASURE: Duration = Duration::from_millis(1);

/// How much is given back to the system before others may have the core.
const STEP: usize = 2 << 20;

/// Gives the pages of `range` back to the system.
fn release(mapping: &MappingAhead, range: Range<usize>) {
    for from in range.clone().step_by(STEP) {
        mapping.release(from..range.end.min(from + STEP));
        std::thread::yield_now();
    }
}

impl Work for Syncing {
    fn shared(&self) -> &Shared {
        &self.shared
    }

    fn round(&mut self, now: Instant) -> Result<Next, StoreError> {
        if self.shared.is_being_created() {
            self.shared.continue_creation()?;
            return Ok(Next::AtOnce);
        }
        self.keep_mark(now)?;
        self.release_finished();
        if now >= self.next_look {
            // In the same wake-up as the next time but one to write pages.
            self.next_look = now + LOOK - FLUSH / 2;
            self.shared.watch.in_place()?;
            let head = self.shared.directory.join("head");
            std::fs::metadata(&head).map_err(|e| failed("looking for", &head, &e))?;
        }
        if now >= self.next_flush {
            return self.flush(now);
        }
        Ok(if self.pauses { Next::Exactly(self.next_flush) } else { Next::At(self.next_flush) })
    }
}

impl Syncing {
    pub(crate) const PACE: Pace = Pace { grid: FLUSH, gather: Duration::from_millis(5) };

    pub(crate) fn new(shared: Arc<Shared>, now: Instant) -> Self {
        Self {
            seen: (shared.position.next_out.load(Ordering::Acquire), now),
            reserve: RESERVE,
            flushed: 0,
            released: (0, 0),
            synced_at: (0, 0),
            next_look: now,
            next_flush: now,
            pauses: false,
            told: shared.position.needed_from.load(Ordering::Acquire),
            shared,
        }
    }

    /// Keeps the mark on disk ahead of NextNumOut. The session's thread rings when half of the
    /// reserve is used.
    fn keep_mark(&mut self, now: Instant) -> Result<(), StoreError> {
        let shared = &self.shared;
        let Some((generation, next_out)) = shared.position.numbers() else { return Ok(()) };
        let (before, since) = self.seen;
        let passed = now.saturating_duration_since(since);
        if passed >= MEASURE {
            let used = u128::from(next_out.saturating_sub(before)) * LASTS.as_micros() / passed.as_micros();
            let used = u64::try_from(used).unwrap_or(u64::MAX);
            self.reserve = used.max(self.reserve / 2).clamp(RESERVE, RESERVE_MOST);
            self.seen = (next_out, now);
        }
        let synced = shared.head.synced.of(generation);
        if synced.is_some_and(|mark| mark.saturating_sub(next_out) > self.reserve / 2) {
            return Ok(());
        }
        let mut head = lock(&shared.head.file);
        if head.is_closed() {
            return Ok(());
        }
        let mark = SeqNum(next_out.saturating_add(self.reserve));
        shared.head.advance_mark(&mut head, shared.boot, generation, mark)
    }

    /// Gives pages back to the system to which nothing is appended any more, however much of them
    /// is still to be written to disk: what a session stores faster than that would count as memory
    /// of the process.
    fn release_finished(&mut self) {
        let (number, offset) = self.shared.position.reached();
        let finished = offset.saturating_sub(NEAR) & !4095;
        let (in_segment, to) = self.released;
        if number == in_segment && finished < to + FLUSH_MOST {
            return;
        }
        let ahead = lock(&self.shared.segments.ahead).clone();
        for (n, mapping) in ahead.iter().filter(|(n, _)| (in_segment..=number).contains(n)) {
            let from = if *n == in_segment { to } else { 0 };
            release(mapping, from..if *n == number { finished } else { mapping.len() });
        }
        self.released = (number, finished);
    }

    /// Writes pages to disk that will not be modified again, a step at a time. This also reports
    /// write-back errors.
    fn flush(&mut self, now: Instant) -> Result<Next, StoreError> {
        if self.shared.segments.reads_past.swap(false, Ordering::Relaxed) {
            let past = lock(&self.shared.segments.past).clone();
            past.iter().for_each(|(_, past)| release(past, 0..past.len()));
        }
        let (number, offset) = self.shared.position.reached();
        let (synced_in, synced_to) = self.synced_at;
        // As far back as it has come since the last time: a session that writes little has its
        // messages on disk soon.
        let written = if number == synced_in { offset.saturating_sub(synced_to) } else { NEAR };
        let finished = offset.saturating_sub(written.min(NEAR)) & !4095;
        let oldest = lock(&self.shared.segments.ahead).first().cloned();
        if let Some((n, mapping)) = oldest.filter(|(n, _)| *n <= number) {
            let finished = if n < number { mapping.len() } else { finished };
            let to = finished.min(self.flushed + FLUSH_MOST);
            let is_much = to == self.flushed + FLUSH_MOST;
            if to > self.flushed {
                // The system takes pages that are mapped from each core that may write to them, one
                // by one, before it writes them to disk. Nobody will write to these.
                mapping.release(self.flushed..to);
                let path = self.shared.directory.join(file_name(n));
                mapping.flush(self.flushed..to).map_err(|e| failed("writing back", &path, &e))?;
                let length = std::fs::metadata(&path).map_err(|e| failed("looking for", &path, &e))?.len();
                if length < mapping.len() as u64 {
                    return Err(StoreError::Io {
                        doing: format!("checking the length of {}", path.display()),
                        reason: format!("the file was truncated to {length} bytes"),
                    });
                }
                self.flushed = to;
            }
            if n < number && self.flushed >= mapping.len() {
                lock(&self.shared.segments.ahead).retain(|(m, _)| *m != n);
                release(&mapping, 0..mapping.len());
                mapping.expect_reads();
                lock(&self.shared.segments.past).push((n, mapping));
                self.flushed = 0;
                self.shared.calls.ring(Task::Archive);
            }
            self.pauses = is_much;
            if is_much {
                self.next_flush = now + BETWEEN;
                return Ok(Next::Exactly(self.next_flush));
            }
            if n < number {
                return Ok(Next::AtOnce);
            }
        }
        let needed = self.shared.position.needed_from.load(Ordering::Acquire);
        if needed != self.told {
            self.told = needed;
            self.shared.calls.ring(Task::Archive);
        }
        let is_idle = (number, offset) == self.synced_at;
        self.synced_at = (number, offset);
        self.pauses = false;
        self.next_flush = if is_idle { self.next_look } else { now + FLUSH / 2 };
        Ok(Next::At(self.next_flush))
    }
}
