//! The threads of the store: `fixbolt-store` prepares segments and pages before they are needed;
//! `fixbolt-sync` brings new journals to disk, keeps reserve marks and finished pages there, and
//! notices when the directory or the disk is gone; `fixbolt-history` verifies and archives the
//! segments of the past (`history`).
//!
//! They read a few counters of the session's thread and write no record. If they are late or dead,
//! the session's thread does the work itself; only speed is lost. There are several because a disk
//! may take its time while pages must be ready.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, TrySendError, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use fixbolt_codec::SeqNum;
use fixbolt_session::store::StoreError;

use crate::backend::failed;
use crate::history::History;
use crate::log::{RESERVE, RESERVE_MOST};
use crate::mapping::MappingAhead;
use crate::segment::file_name;
use crate::shared::{Shared, lock};

/// The handle of the running threads; dropping it ends them.
pub(crate) struct StoreThreads {
    threads: [Running; 3],
}

struct Running {
    sessions: Option<Sender<Arc<Shared>>>,
    thread: Option<JoinHandle<()>>,
}

/// Pause of a thread between two rounds: while sessions append, while none does, and without any
/// session.
struct Pace {
    busy: Duration,
    idle: Duration,
    /// How long to wait for another session after a new one. Those that wait for the disk together
    /// wait less, and do not keep the file system busy while others are being opened.
    gather: Duration,
}

const PREPARE: Pace =
    Pace { busy: Duration::from_millis(1), idle: Duration::from_millis(4), gather: Duration::ZERO };
const SYNC: Pace = Pace {
    busy: Duration::from_millis(4),
    idle: Duration::from_millis(20),
    gather: Duration::from_millis(5),
};
const HISTORY: Pace =
    Pace { busy: Duration::from_millis(20), idle: Duration::from_millis(20), gather: Duration::ZERO };
/// How long the sessions that are there already wait for new ones at most.
const GATHER_MOST: Duration = Duration::from_secs(1);
const EMPTY: Duration = Duration::from_millis(250);
/// How long a session counts as busy after its last append.
const BUSY_FOR: Duration = Duration::from_secs(1);

impl StoreThreads {
    pub(crate) fn start() -> Result<Self, StoreError> {
        Ok(Self {
            threads: [
                Running::start("fixbolt-store", PREPARE, Preparation::new)?,
                Running::start("fixbolt-sync", SYNC, Syncing::new)?,
                Running::start("fixbolt-history", HISTORY, History::new)?,
            ],
        })
    }

    /// Hands a session over to the threads until it is closed.
    pub(crate) fn look_after(&self, session: &Arc<Shared>) {
        for running in &self.threads {
            if let Some(sender) = &running.sessions {
                // Fails only if the thread is dead, which `are_alive` reports.
                let _ = sender.send(Arc::clone(session));
            }
        }
    }

    pub(crate) fn are_alive(&self) -> bool {
        self.threads.iter().all(|r| r.thread.as_ref().is_some_and(|t| !t.is_finished()))
    }
}

impl Running {
    fn start<W: Work + 'static>(
        name: &str,
        pace: Pace,
        new: fn(Arc<Shared>, Instant) -> W,
    ) -> Result<Self, StoreError> {
        let (sender, receiver) = channel();
        let thread = spawn(name, move || run(&receiver, &pace, new))?;
        Ok(Self { sessions: Some(sender), thread: Some(thread) })
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.sessions = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Starts a thread of the store. It runs on every core that the process has, although the worker
/// that starts it may be pinned to one, and may never leave it any time there.
pub(crate) fn spawn(name: &str, run: impl FnOnce() + Send + 'static) -> Result<JoinHandle<()>, StoreError> {
    let thread = std::thread::Builder::new().name(name.to_owned()).spawn(move || {
        unpin();
        run();
    });
    thread.map_err(|error| StoreError::Io {
        doing: format!("starting the thread {name}"),
        reason: error.to_string(),
    })
}

/// Lets the calling thread run on the cores of the process's first thread, whatever the thread that
/// has started it is pinned to.
#[cfg(target_os = "linux")]
pub fn unpin() {
    use rustix::thread::{sched_getaffinity, sched_setaffinity};
    let first = rustix::process::getpid();
    // Where that is refused, nobody is pinned, either.
    let _ = sched_getaffinity(Some(first)).and_then(|cores| sched_setaffinity(None, &cores));
}

/// Does nothing: threads can be pinned on Linux only.
#[cfg(not(target_os = "linux"))]
pub const fn unpin() {}

/// The work of a thread for one session.
pub(crate) trait Work {
    fn shared(&self) -> &Shared;
    /// Returns whether the next round should follow at once.
    fn is_urgent(&self) -> bool {
        false
    }
    /// Does one round at `now`, with the number of the current segment and the offset in it.
    fn round(&mut self, now: Instant, number: u32, offset: usize) -> Result<(), StoreError>;
}

fn run<W: Work>(new: &Receiver<Arc<Shared>>, pace: &Pace, watch: fn(Arc<Shared>, Instant) -> W) {
    let mut sessions: Vec<(u64, W)> = Vec::new();
    let mut busy_until = Instant::now();
    loop {
        let now = Instant::now();
        sessions.retain(|(_, work)| !work.shared().closed.load(Ordering::Relaxed));
        for (last, work) in &mut sessions {
            if work.shared().failed.load(Ordering::Relaxed) {
                continue;
            }
            let position = work.shared().position.load(Ordering::Acquire);
            if position != *last {
                *last = position;
                busy_until = now + BUSY_FOR;
            }
            if let Err(error) = work.round(now, (position >> 32) as u32, (position & 0xffff_ffff) as usize)
                && !work.shared().closed.load(Ordering::Relaxed)
            {
                work.shared().fail(error);
            }
            if cfg!(debug_assertions) {
                work.shared().check();
            }
        }
        let sleep = if sessions.iter().any(|(_, work)| work.is_urgent()) {
            Duration::ZERO
        } else if sessions.is_empty() {
            EMPTY
        } else if now < busy_until {
            pace.busy
        } else {
            pace.idle
        };
        match new.recv_timeout(sleep) {
            Ok(shared) => {
                sessions.push((0, watch(shared, now)));
                while now.elapsed() < GATHER_MOST
                    && let Ok(shared) = new.recv_timeout(pace.gather)
                {
                    sessions.push((0, watch(shared, now)));
                }
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return,
        }
    }
}

/// Pages and segments of one session.
struct Preparation {
    shared: Arc<Shared>,
    offset: usize,
    /// The current generation, and the segment in which it began.
    generation: (u32, u32),
    /// The segment whose pages were made ready, up to where, and when.
    ready: (u32, usize, Instant),
    /// The segment whose pages were released, and up to where.
    released: (u32, usize),
    retry: Instant,
}

/// Bytes to make ready to write, at least.
const AHEAD: usize = 256 << 10;
/// Age at which pages may have been written back and must be made ready again.
const STALE: Duration = Duration::from_secs(2);
/// Bytes before the last record that stay in memory, at least, and bytes that are released at a
/// time.
const KEPT: usize = 1 << 20;
/// Pause after a segment could not be created.
const RETRY: Duration = Duration::from_secs(1);

impl Work for Preparation {
    fn shared(&self) -> &Shared {
        &self.shared
    }

    fn round(&mut self, now: Instant, number: u32, offset: usize) -> Result<(), StoreError> {
        if !self.shared.created.load(Ordering::Acquire) {
            return Ok(());
        }
        self.measure(number);
        self.populate(now, number, offset);
        self.release(number, offset);
        self.keep_segment(now, number, offset);
        Ok(())
    }
}

impl Preparation {
    fn new(shared: Arc<Shared>, now: Instant) -> Self {
        let generation = (shared.generation.load(Ordering::Acquire), 0);
        Self { shared, offset: 0, generation, ready: (0, 0, now), released: (0, 0), retry: now }
    }

    /// After a reset, the next segment is made for a generation like the last one, if that was
    /// small.
    fn measure(&mut self, number: u32) {
        let generation = self.shared.generation.load(Ordering::Acquire);
        let (before, began_in) = self.generation;
        if generation == before {
            return;
        }
        let (last, ..) = self.ready;
        if last == began_in {
            let used = (self.offset as u64).next_multiple_of(4096);
            lock(&self.shared.maker).maker.bytes = used;
        }
        self.generation = (generation, number);
    }

    /// Makes the next pages writable.
    fn populate(&mut self, now: Instant, number: u32, offset: usize) {
        let (ready_number, ready_to, when) = self.ready;
        let step = match ready_number {
            // It was opened just now, and may stay idle.
            0 => 0,
            _ if ready_number == number => offset.saturating_sub(self.offset),
            _ => offset,
        };
        self.offset = offset;
        let window = AHEAD.max(step.saturating_mul(4));
        let fresh = ready_number == number && now.duration_since(when) < STALE;
        let idle = step == 0 && ready_number == number;
        if idle || (fresh && offset + window / 2 <= ready_to) {
            return;
        }
        let from = if fresh { ready_to.max(offset) } else { offset } & !4095;
        let ahead = lock(&self.shared.ahead).clone();
        for (n, mapping) in ahead {
            if n == number {
                // Of a small segment a part, as its session may never need more.
                let window = if step == 0 { window.min(mapping.len() / 4) } else { window };
                mapping.populate(from..offset + window);
            } else if n == number + 1 && offset + 2 * window > ready_to {
                mapping.populate(0..window);
            }
        }
        self.ready = (number, offset + window, now);
    }

    /// Takes pages that were written out of this process's memory, in large pieces.
    fn release(&mut self, number: u32, offset: usize) {
        let (of, to) = self.released;
        let (from, to_now) = (if of == number { to } else { 0 }, offset.saturating_sub(KEPT) & !4095);
        if of == number && to_now < from + KEPT {
            return;
        }
        let ahead = lock(&self.shared.ahead).clone();
        for (n, mapping) in ahead.iter().filter(|(n, _)| *n <= number) {
            let begin = if *n == of { to } else { 0 };
            mapping.release(begin..if *n == number { to_now } else { mapping.len() });
        }
        self.released = (number, to_now);
    }

    /// Keeps one unused segment ready. An idle session has one only: if it is small, the next one
    /// is made when half of it is used.
    fn keep_segment(&mut self, now: Instant, number: u32, offset: usize) {
        if now < self.retry {
            return;
        }
        let may_stay_idle = |mapping: &MappingAhead| mapping.len() < AHEAD && offset < mapping.len() / 2;
        if lock(&self.shared.ahead).iter().any(|(n, mapping)| *n == number && may_stay_idle(mapping)) {
            return;
        }
        let mut making = lock(&self.shared.maker);
        if making.maker.closed || making.maker.highest > number {
            return;
        }
        match making.maker.make(0) {
            Ok(segment) => {
                let ahead = segment.mapping.ahead();
                ahead.populate(0..AHEAD.min(ahead.len() / 4));
                lock(&self.shared.ahead).push((segment.number, ahead));
                if let Err(TrySendError::Full(segment) | TrySendError::Disconnected(segment)) =
                    making.ready.try_send(segment)
                {
                    lock(&self.shared.ahead).retain(|(n, _)| *n != segment.number);
                    let _ = making.maker.unmake(segment);
                    self.retry = now + RETRY;
                }
            }
            // There is no space now. If there still is none when the segment is needed, the append
            // reports it.
            Err(_) => self.retry = now + RETRY,
        }
    }
}

/// What must be on disk for a session: first a new journal itself, a step at a time.
struct Syncing {
    shared: Arc<Shared>,
    /// NextNumOut at a point in time, to measure how fast sequence numbers are used.
    seen: (u64, Instant),
    /// How far ahead the mark is kept.
    reserve: u64,
    /// Bytes of the oldest segment in `ahead` that are on disk.
    flushed: usize,
    next_look: Instant,
    next_flush: Instant,
}

/// How often to check that the directory is still there, and to write finished pages to disk.
const LOOK: Duration = Duration::from_millis(250);
const FLUSH: Duration = Duration::from_millis(500);
/// Maximum number of bytes written at a time, as the mark must not wait long.
const FLUSH_MOST: usize = 1 << 20;
/// The period over which the use of sequence numbers is measured, and the number of such periods
/// that the reserve should last.
const MEASURE: Duration = Duration::from_millis(100);
const LASTS: u64 = 20;

impl Work for Syncing {
    fn shared(&self) -> &Shared {
        &self.shared
    }

    fn is_urgent(&self) -> bool {
        let Shared { created, closed, failed, .. } = &*self.shared;
        ![created, closed, failed].iter().any(|done| done.load(Ordering::Acquire))
    }

    fn round(&mut self, now: Instant, number: u32, offset: usize) -> Result<(), StoreError> {
        if self.is_urgent() {
            return self.shared.continue_creation();
        }
        self.keep_mark(now)?;
        if now >= self.next_look {
            self.next_look = now + LOOK;
            self.shared.watch.in_place()?;
            let head = self.shared.directory.join("head");
            std::fs::metadata(&head).map_err(|e| failed("looking for", &head, &e))?;
        }
        self.flush(now, number, offset)
    }
}

impl Syncing {
    fn new(shared: Arc<Shared>, now: Instant) -> Self {
        Self {
            seen: (shared.next_out.load(Ordering::Acquire), now),
            reserve: RESERVE,
            flushed: 0,
            next_look: now,
            next_flush: now + FLUSH,
            shared,
        }
    }

    /// Keeps the mark on disk ahead of NextNumOut.
    fn keep_mark(&mut self, now: Instant) -> Result<(), StoreError> {
        let shared = &self.shared;
        let Some((generation, next_out)) = shared.numbers() else { return Ok(()) };
        let (before, since) = self.seen;
        if now.duration_since(since) >= MEASURE {
            let used = next_out.saturating_sub(before);
            self.reserve = used.saturating_mul(LASTS).max(self.reserve / 2).clamp(RESERVE, RESERVE_MOST);
            self.seen = (next_out, now);
        }
        let synced = shared.synced.of(generation);
        if synced.is_some_and(|mark| mark.saturating_sub(next_out) >= self.reserve / 2) {
            return Ok(());
        }
        let mut head = lock(&shared.head);
        if head.is_closed() {
            return Ok(());
        }
        shared.advance_mark(&mut head, generation, SeqNum(next_out.saturating_add(self.reserve)))
    }

    /// Writes pages to disk that will not be modified again. This also reports write-back errors.
    fn flush(&mut self, now: Instant, number: u32, offset: usize) -> Result<(), StoreError> {
        if now < self.next_flush {
            return Ok(());
        }
        if self.shared.reads_past.swap(false, Ordering::Relaxed) {
            lock(&self.shared.past).iter().for_each(|(_, past)| past.release(0..past.len()));
        }
        let oldest = lock(&self.shared.ahead).first().cloned();
        let Some((n, mapping)) = oldest.filter(|(n, _)| *n <= number) else {
            self.next_flush = now + FLUSH;
            return Ok(());
        };
        let finished = if n < number { mapping.len() } else { offset & !4095 };
        let to = finished.min(self.flushed + FLUSH_MOST);
        if to > self.flushed {
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
            lock(&self.shared.ahead).retain(|(m, _)| *m != n);
            mapping.release(0..mapping.len());
            lock(&self.shared.past).push((n, mapping));
            self.flushed = 0;
        } else if to == finished {
            self.next_flush = now + FLUSH;
        }
        Ok(())
    }
}
