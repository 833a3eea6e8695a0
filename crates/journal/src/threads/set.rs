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

use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, Weak};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use fixbolt_session::store::StoreError;

use crate::open::bell::{Bell, Bells, Task};
use crate::open::shared::Shared;
use crate::system::spawn;
use crate::threads::history::History;
use crate::threads::preparation::Preparation;
use crate::threads::syncing::Syncing;
use crate::threads::work::{Next, Pace, Work, on_grid};
use crate::values::mutex::lock;

/// The running threads; they end when the last store that uses them is dropped.
pub(crate) struct StoreThreads {
    threads: [Running; 3],
    bells: Arc<Bells>,
    arrivals: Arc<Arrivals>,
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
        let (bells, arrivals) = (Arc::default(), Arc::default());
        let threads = [
            Running::start("fixbolt-store", Task::Prepare, &bells, &arrivals)?,
            Running::start("fixbolt-sync", Task::Sync, &bells, &arrivals)?,
            Running::start("fixbolt-history", Task::Archive, &bells, &arrivals)?,
        ];
        Ok(Self { threads, bells, arrivals, process: std::process::id() })
    }

    /// Hands a session over to the threads until it is closed.
    pub(crate) fn look_after(&self, session: &Arc<Shared>) {
        *lock(&session.calls.bells) = Some(Arc::clone(&self.bells));
        for task in Task::ALL {
            lock(self.arrivals.of(task)).push(Arc::clone(session));
            self.bells.ring(task);
        }
    }

    /// Has the threads forget the sessions that were closed.
    pub(crate) fn forget_closed(&self) {
        Task::ALL.into_iter().for_each(|task| self.bells.ring(task));
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

/// The sessions that the threads have not seen yet, by their tasks.
#[derive(Default)]
struct Arrivals([Mutex<Vec<Arc<Shared>>>; 3]);

impl Arrivals {
    fn of(&self, task: Task) -> &Mutex<Vec<Arc<Shared>>> {
        &self.0[task as usize]
    }
}

/// Begins the work of a thread on a session.
fn begin(task: Task, shared: Arc<Shared>, now: Instant) -> Box<dyn Work> {
    match task {
        Task::Prepare => Box::new(Preparation::new(shared, now)),
        Task::Sync => Box::new(Syncing::new(shared, now)),
        Task::Archive => Box::new(History::new(shared, now)),
    }
}

const fn pace_of(task: Task) -> Pace {
    match task {
        Task::Prepare => Preparation::PACE,
        Task::Sync => Syncing::PACE,
        Task::Archive => History::PACE,
    }
}

struct Running {
    bells: Arc<Bells>,
    task: Task,
    thread: Option<JoinHandle<()>>,
}

impl Running {
    fn start(
        name: &'static str,
        task: Task,
        bells: &Arc<Bells>,
        arrivals: &Arc<Arrivals>,
    ) -> Result<Self, StoreError> {
        let (of_thread, arrivals) = (Arc::clone(bells), Arc::clone(arrivals));
        let run = move || {
            let (bell, arrivals, watched) = (of_thread.of(task), arrivals.of(task), Vec::new());
            Watch { name, task, bell, arrivals, watched, began: Instant::now(), rung: false }.run();
        };
        let thread = spawn::start(name, Box::new(run))?;
        // The thread may ring itself before that, and needs none to wake it.
        let _ = bells.of(task).thread.set(thread.thread().clone());
        Ok(Self { bells: Arc::clone(bells), task, thread: Some(thread) })
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(thread) = self.thread.take() {
            let bell = self.bells.of(self.task);
            bell.ended.store(true, Ordering::Release);
            bell.ring();
            let _ = thread.join();
        }
    }
}

/// How long the sessions that are there already wait for new ones at most.
const GATHER_MOST: Duration = Duration::from_secs(1);

/// A thread at work.
struct Watch<'t> {
    name: &'static str,
    task: Task,
    bell: &'t Bell,
    arrivals: &'t Mutex<Vec<Arc<Shared>>>,
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
            self.watched.retain(|watched| !watched.work.shared().position.closed.load(Ordering::Relaxed));
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
        let arrivals = mem::take(&mut *lock(self.arrivals));
        let (task, now, any) = (self.task, Instant::now(), !arrivals.is_empty());
        let new = arrivals.into_iter().map(|shared| begin(task, shared, now));
        self.watched.extend(new.map(|work| Watched { work, next: Next::AtOnce }));
        any
    }

    /// Waits for further sessions.
    fn gather(&mut self) {
        let (until, gather) = (Instant::now() + GATHER_MOST, pace_of(self.task).gather);
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
        self.watched[n].work.shared().calls.take_ring(self.task)
    }

    fn round(&mut self, n: usize, now: Instant) {
        let Watched { work, next } = &mut self.watched[n];
        let is_over = |shared: &Shared| shared.position.closed.load(Ordering::Relaxed);
        *next = Next::WhenRung;
        if is_over(work.shared()) || work.shared().failure.failed.load(Ordering::Relaxed) {
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
            Ok(Next::At(at)) => *next = Next::At(on_grid(self.began, pace_of(self.task).grid, at)),
            Ok(at) => *next = at,
            Err(error) if !is_over(work.shared()) => work.shared().failure.fail(error),
            Err(_) => {}
        }
    }
}
