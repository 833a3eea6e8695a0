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
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, Weak};
use std::thread::JoinHandle;
use std::time::Instant;

use fixbolt_session::store::StoreError;

use crate::open::bell::{Bells, Caller, Task};
use crate::open::shared::Shared;
use crate::system::spawn;
use crate::threads::history::History;
use crate::threads::preparation::Preparation;
use crate::threads::scheduler::{Arrivals, Scheduler};
use crate::threads::syncing::Syncing;
use crate::threads::work::{Pace, Work};
use crate::values::mutex::lock;

/// The running threads; they end when the last store that uses them is dropped.
pub(crate) struct StoreThreads {
    threads: [Running; 3],
    bells: Arc<Bells>,
    /// By their tasks.
    arrivals: Arc<[Arrivals; 3]>,
    /// How many sessions were handed over to them.
    came: AtomicU64,
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
        Ok(Self { threads, bells, arrivals, came: AtomicU64::new(0), process: std::process::id() })
    }

    /// Hands a session over to the threads until it is closed.
    pub(crate) fn look_after(&self, session: &Arc<Shared>) {
        let caller = Caller(self.came.fetch_add(1, Ordering::Relaxed));
        session.calls.answered_by(&self.bells, caller, || {
            for task in Task::ALL {
                self.bells.of(task).expect_one_more();
                self.arrivals[task as usize].add(caller, session);
            }
        });
        Task::ALL.into_iter().for_each(|task| self.bells.of(task).ring());
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
        arrivals: &Arc<[Arrivals; 3]>,
    ) -> Result<Self, StoreError> {
        let (of_thread, arrivals) = (Arc::clone(bells), Arc::clone(arrivals));
        let run = move || {
            let (bell, arrivals) = (of_thread.of(task), &arrivals[task as usize]);
            let begin = |shared, now| begin(task, shared, now);
            Scheduler::new(name, task, pace_of(task), bell, arrivals, &begin).run();
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
