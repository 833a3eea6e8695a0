//! The threads of the store, one set for all stores of the process: `fixbolt-store` prepares
//! segments, and pages where a worker has no time to (`preparation`); `fixbolt-sync` brings new
//! journals to disk, keeps reserve marks and finished pages there, and notices when the directory
//! or the disk is gone (`syncing`); `fixbolt-history` verifies and archives the segments of the
//! past (`history`).
//!
//! They read a few counters of the session's thread and write no record. If they are late or dead,
//! the session's thread does the work itself; only speed is lost. There are several because a disk
//! may take its time while segments must be ready.
//!
//! None of them looks at what has not changed: they sleep until a worker, or one of the others,
//! rings for a session, or until a time that the work on a session has named.

use std::io;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, Weak};
use std::thread::{JoinHandle, Thread};
use std::time::{Duration, Instant};

use fixbolt_session::store::StoreError;

use crate::history::History;
use crate::preparation::Preparation;
use crate::shared::{Shared, lock};
use crate::syncing::Syncing;
use crate::system_calls::unpin;

/// The running threads; they end when the last store that uses them is dropped.
pub(crate) struct StoreThreads {
    threads: [Running; 3],
    bells: Arc<Bells>,
    /// The process in which they run: one that was forked from it has a copy of this value, and
    /// none of the threads.
    process: u32,
}

/// The threads of this process, if a store uses them.
static THREADS: Mutex<Weak<StoreThreads>> = Mutex::new(Weak::new());

impl StoreThreads {
    /// Returns the threads of the process. They are started if there are none, or if one has ended,
    /// as otherwise no journal would be served any more.
    pub(crate) fn of_process() -> Result<Arc<Self>, StoreError> {
        // Dropped after the lock: it may be the last one, which waits for its threads.
        let running;
        let mut threads = lock(&THREADS);
        running = threads.upgrade();
        if let Some(running) = running.as_ref().filter(|running| running.serve_here()) {
            return Ok(Arc::clone(running));
        }
        let started = Arc::new(Self::start()?);
        *threads = Arc::downgrade(&started);
        Ok(started)
    }

    pub(crate) fn start() -> Result<Self, StoreError> {
        let bells = Arc::new(Bells::default());
        let threads = [
            Running::start("fixbolt-store", Task::Prepare, &bells)?,
            Running::start("fixbolt-sync", Task::Sync, &bells)?,
            Running::start("fixbolt-history", Task::Archive, &bells)?,
        ];
        Ok(Self { threads, bells, process: std::process::id() })
    }

    /// Hands a session over to the threads until it is closed.
    pub(crate) fn look_after(&self, session: &Arc<Shared>) {
        *lock(&session.bells) = Some(Arc::clone(&self.bells));
        for bell in &self.bells.0 {
            lock(&bell.arrivals).push(Arc::clone(session));
            bell.ring();
        }
    }

    /// Has the threads forget the sessions that were closed.
    pub(crate) fn forget_closed(&self) {
        self.bells.0.iter().for_each(Bell::ring);
    }

    /// As if this were a copy of the value, in a process that was forked from this one.
    #[cfg(test)]
    pub(crate) fn is_of_process(&mut self, process: u32) {
        self.process = process;
    }

    /// Returns whether all of them run.
    pub(crate) fn are_alive(&self) -> bool {
        self.threads.iter().all(|r| r.thread.as_ref().is_some_and(|t| !t.is_finished()))
    }

    /// Returns whether all of them run, in this process. It makes a system call.
    pub(crate) fn serve_here(&self) -> bool {
        self.process == std::process::id() && self.are_alive()
    }
}

impl Drop for StoreThreads {
    fn drop(&mut self) {
        if self.process != std::process::id() {
            // There is nobody to wait for.
            self.threads.iter_mut().for_each(|running| mem::forget(running.thread.take()));
        }
    }
}

/// What a thread of the store does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Task {
    Prepare,
    Sync,
    Archive,
}

impl Task {
    /// Returns the bit that stands for it.
    pub(crate) const fn bit(self) -> u8 {
        1 << self as u8
    }

    const fn pace(self) -> Pace {
        match self {
            Self::Prepare => Preparation::PACE,
            Self::Sync => Syncing::PACE,
            Self::Archive => History::PACE,
        }
    }

    /// Begins the work on a session.
    fn begin(self, shared: Arc<Shared>, now: Instant) -> Box<dyn Work> {
        match self {
            Self::Prepare => Box::new(Preparation::new(shared, now)),
            Self::Sync => Box::new(Syncing::new(shared, now)),
            Self::Archive => Box::new(History::new(shared, now)),
        }
    }
}

/// The bells of the threads, by their tasks.
#[derive(Default)]
pub(crate) struct Bells([Bell; 3]);

impl Bells {
    /// Wakes a thread, which then looks for the sessions that have asked for it.
    pub(crate) fn ring(&self, task: Task) {
        self.0[task as usize].ring();
    }
}

/// How others get a thread's attention. It costs a system call if the thread sleeps.
#[derive(Default)]
struct Bell {
    rung: AtomicBool,
    ended: AtomicBool,
    /// Sessions that the thread has not seen yet.
    arrivals: Mutex<Vec<Arc<Shared>>>,
    thread: OnceLock<Thread>,
}

impl Bell {
    fn ring(&self) {
        if !self.rung.swap(true, Ordering::AcqRel)
            && let Some(thread) = self.thread.get()
        {
            thread.unpark();
        }
    }

    /// Returns whether somebody has rung since the last call.
    fn take(&self) -> bool {
        self.rung.swap(false, Ordering::AcqRel)
    }

    /// Sleeps until somebody rings, or for so long, and not at all if the thread is to end.
    fn wait(&self, time: Option<Duration>) {
        // Whoever rings after this leaves a token, with which parking ends at once.
        if !self.rung.load(Ordering::Acquire) && !self.ended.load(Ordering::Acquire) {
            match time {
                Some(time) => std::thread::park_timeout(time),
                None => std::thread::park(),
            }
        }
    }
}

struct Running {
    bells: Arc<Bells>,
    task: Task,
    thread: Option<JoinHandle<()>>,
}

impl Running {
    fn start(name: &'static str, task: Task, bells: &Arc<Bells>) -> Result<Self, StoreError> {
        let of_thread = Arc::clone(bells);
        let run = move || {
            let (bell, watched) = (&of_thread.0[task as usize], Vec::new());
            Watch { name, task, bell, watched, began: Instant::now(), rung: false }.run();
        };
        let thread = start(name, Box::new(run))?;
        // The thread may ring itself before that, and needs none to wake it.
        let _ = bells.0[task as usize].thread.set(thread.thread().clone());
        Ok(Self { bells: Arc::clone(bells), task, thread: Some(thread) })
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(thread) = self.thread.take() {
            let bell = &self.bells.0[self.task as usize];
            bell.ended.store(true, Ordering::Release);
            bell.ring();
            let _ = thread.join();
        }
    }
}

/// Starts a thread that runs on every core that the process has, although the worker that starts it
/// may be pinned to one, and may never leave it any time there.
///
/// # Errors
/// The system's.
pub fn spawn(name: &str, run: Box<dyn FnOnce() + Send>) -> io::Result<JoinHandle<()>> {
    std::thread::Builder::new().name(name.to_owned()).spawn(move || {
        unpin();
        run();
    })
}

/// Starts a thread of the store.
pub(crate) fn start(name: &str, run: Box<dyn FnOnce() + Send>) -> Result<JoinHandle<()>, StoreError> {
    spawn(name, run).map_err(|error| StoreError::Io {
        doing: format!("starting the thread {name}"),
        reason: error.to_string(),
    })
}

/// When a thread works.
pub(crate) struct Pace {
    /// The times that works name are put off to multiples of this, so that the thread wakes up once
    /// for all of them.
    pub(crate) grid: Duration,
    /// How long to wait for another session after a new one. Those that wait for the disk together
    /// wait less, and do not keep the file system busy while others are being opened.
    pub(crate) gather: Duration,
}

/// How long the sessions that are there already wait for new ones at most.
const GATHER_MOST: Duration = Duration::from_secs(1);

/// When the work on a session goes on, if nobody rings earlier.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Next {
    AtOnce,
    /// At this time, whatever other sessions need.
    Exactly(Instant),
    At(Instant),
    WhenRung,
}

/// The work of a thread for one session.
pub(crate) trait Work {
    fn shared(&self) -> &Shared;
    /// Does one step at `now` of what is due, which may be nothing.
    fn round(&mut self, now: Instant) -> Result<Next, StoreError>;
}

/// A thread at work.
struct Watch<'t> {
    name: &'static str,
    task: Task,
    bell: &'t Bell,
    watched: Vec<Watched>,
    began: Instant,
    /// Whether somebody has rung since the sessions were looked at.
    rung: bool,
}

/// The work on a session, and when it goes on.
struct Watched {
    work: Box<dyn Work>,
    next: Next,
}

impl Watch<'_> {
    fn run(mut self) {
        loop {
            // What is looked at comes after this: whoever changes it rings afterwards.
            self.bell.take();
            self.rung = false;
            if self.bell.ended.load(Ordering::Acquire) {
                return;
            }
            if self.take_arrivals() {
                self.gather();
            }
            self.watched.retain(|watched| !watched.work.shared().closed.load(Ordering::Relaxed));
            let now = Instant::now();
            for n in 0..self.watched.len() {
                let due = match self.watched[n].next {
                    Next::AtOnce => true,
                    Next::At(at) | Next::Exactly(at) => at <= now,
                    Next::WhenRung => false,
                };
                if self.take_ring(n) || due {
                    self.round(n, now);
                }
                // What others ask for does not wait until the disk has served all.
                self.attend();
            }
            let at_once = |watched: &Watched| watched.next == Next::AtOnce;
            if !self.rung && !self.watched.iter().any(at_once) {
                let next = self.watched.iter().filter_map(|watched| match watched.next {
                    Next::At(at) | Next::Exactly(at) => Some(at),
                    _ => None,
                });
                self.bell.wait(next.min().map(|at| at.saturating_duration_since(Instant::now())));
            }
        }
    }

    /// Takes the sessions that are new. Returns whether there were any.
    fn take_arrivals(&mut self) -> bool {
        let arrivals = mem::take(&mut *lock(&self.bell.arrivals));
        let (task, now, any) = (self.task, Instant::now(), !arrivals.is_empty());
        let new = arrivals.into_iter().map(|shared| task.begin(shared, now));
        self.watched.extend(new.map(|work| Watched { work, next: Next::AtOnce }));
        any
    }

    /// Waits for further sessions.
    fn gather(&mut self) {
        let (until, gather) = (Instant::now() + GATHER_MOST, self.task.pace().gather);
        while !gather.is_zero() && Instant::now() < until {
            self.bell.wait(Some(gather));
            self.attend();
            if !self.take_arrivals() {
                return;
            }
        }
    }

    /// Does a round for each session that has asked for it, if somebody has rung. Sessions may have
    /// arrived as well, or the thread be about to end: that is seen to afterwards.
    fn attend(&mut self) {
        if !self.bell.take() {
            return;
        }
        self.rung = true;
        let now = Instant::now();
        for n in 0..self.watched.len() {
            if self.take_ring(n) {
                self.round(n, now);
            }
        }
    }

    fn take_ring(&self, n: usize) -> bool {
        self.watched[n].work.shared().take_ring(self.task)
    }

    fn round(&mut self, n: usize, now: Instant) {
        let Watched { work, next } = &mut self.watched[n];
        let is_over = |shared: &Shared| shared.closed.load(Ordering::Relaxed);
        *next = Next::WhenRung;
        if is_over(work.shared()) || work.shared().failed.load(Ordering::Relaxed) {
            return;
        }
        // The other sessions go on, which may be those of other engines.
        let done = catch_unwind(AssertUnwindSafe(|| {
            let done = work.round(now);
            if cfg!(debug_assertions) {
                work.shared().check();
            }
            done
        }));
        let done = done.unwrap_or_else(|_| {
            Err(StoreError::Io {
                doing: format!("serving {}", work.shared().directory.display()),
                reason: format!("the thread {} has panicked", self.name),
            })
        });
        match done {
            Ok(Next::At(at)) => *next = Next::At(on_grid(self.began, self.task.pace().grid, at)),
            Ok(at) => *next = at,
            Err(error) if !is_over(work.shared()) => work.shared().fail(error),
            Err(_) => {}
        }
    }
}

/// Returns the first time from `at` on that is a multiple of `grid` after `began`.
pub(crate) fn on_grid(began: Instant, grid: Duration, at: Instant) -> Instant {
    let grid = grid.as_nanos().max(1);
    let past = at.saturating_duration_since(began).as_nanos() % grid;
    if past == 0 { at } else { at + Duration::from_nanos((grid - past) as u64) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_that_is_to_end_does_not_sleep_although_it_was_rung_for_before_and_has_taken_that() {
        let bell = Bell::default();
        bell.ring();
        bell.ended.store(true, Ordering::Release);
        bell.ring();
        assert!(bell.take());
        bell.wait(None);
    }

    #[test]
    fn times_are_put_off_to_the_next_multiple() {
        let (began, grid) = (Instant::now(), Duration::from_millis(500));
        for (at, on) in [(0, 0), (1, 500), (499, 500), (500, 500), (501, 1000), (1750, 2000)] {
            let [at, on] = [at, on].map(|ms| began + Duration::from_millis(ms));
            assert_eq!(on_grid(began, grid, at), on);
        }
    }
}
