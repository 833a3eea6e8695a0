//! The thread `fixbolt-files`, one for all stores of the process: creates journals with their first
//! record and closes those that nobody uses any more, so that the worker of whoever logs on under a
//! new name does not wait for the disk. It is started by the first such session, and sleeps while
//! there is nothing to do.

use std::fmt::Display;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError, Weak};
use std::thread::JoinHandle;

use fixbolt_session::store::{Recovered, SessionKey, StoreError};
use fixbolt_session::{SessionId, WorkerWaker};

use crate::files::base::Base;
use crate::open::log::Log;
use crate::open::opening::Opening;
use crate::system::backend::Backend;
use crate::values::limits::Limits;
use crate::values::mutex::lock;

/// A store's access to the thread; dropping it waits until what the store has asked for is done.
pub(crate) struct Background {
    files: Arc<Files>,
    /// Tasks of the store that are not done yet.
    left: Arc<AtomicUsize>,
}

/// The running thread; it ends when the last store that uses it is dropped.
struct Files {
    tasks: Arc<Tasks>,
    thread: Option<JoinHandle<()>>,
    /// The process in which it runs: one that was forked from it has a copy of this value, and no
    /// thread.
    process: u32,
}

/// The thread of this process, if a store uses it.
static FILES: Mutex<Weak<Files>> = Mutex::new(Weak::new());

/// What the thread is to do next, in order.
#[derive(Default)]
struct Tasks {
    waiting: Mutex<Waiting>,
    added: Condvar,
}

#[derive(Default)]
struct Waiting {
    tasks: Vec<Task>,
    /// Whether nothing may be added any more.
    ended: bool,
}

/// The tasks, as the thread has them: if it dies, those that wait are dropped with their answers.
struct TasksOfThread(Arc<Tasks>);

/// What the thread is to do, and for whom.
struct Task {
    work: Work,
    left: Arc<AtomicUsize>,
    waker: Option<Arc<dyn WorkerWaker>>,
}

enum Work {
    Create(NewJournal, oneshot::Sender<Result<Box<Log>, StoreError>>),
    Close(Closing, oneshot::Sender<Result<(), StoreError>>),
    /// Answers once everything before it is done.
    Rest(oneshot::Sender<()>),
}

/// A session whose journal is to be closed.
pub(crate) struct Closing {
    pub(crate) session: SessionId,
    pub(crate) close: Box<dyn FnOnce() -> Result<(), StoreError> + Send>,
}

/// A journal that does not exist yet.
pub(crate) struct NewJournal {
    pub(crate) directory: PathBuf,
    pub(crate) session: SessionId,
    pub(crate) key: SessionKey,
    pub(crate) backend: Arc<dyn Backend>,
    pub(crate) base: Arc<Base>,
    pub(crate) limits: Limits,
}

/// What becomes of a task. It ends without an answer if the thread has died.
pub(crate) type Answer<T> = oneshot::Receiver<Result<T, StoreError>>;

impl Background {
    /// Returns access to the thread of the process, which is started if there is none.
    pub(crate) fn start() -> Result<Self, StoreError> {
        // Dropped after the lock: it may be the last one, which waits for its thread.
        let running;
        let mut of_process = lock(&FILES);
        running = of_process.upgrade();
        let files = match running.as_ref().filter(|files| files.is_alive()) {
            Some(files) => Arc::clone(files),
            None => {
                let started = Arc::new(Files::start()?);
                *of_process = Arc::downgrade(&started);
                started
            }
        };
        Ok(Self { files, left: Arc::default() })
    }

    pub(crate) fn is_alive(&self) -> bool {
        self.files.is_alive()
    }

    /// Returns the number of the store's tasks that are not done yet. A dead thread has none: they
    /// have failed.
    pub(crate) fn left(&self) -> usize {
        if self.is_alive() { self.left.load(Ordering::Acquire) } else { 0 }
    }

    /// Has a journal created, and returns it once it is on disk.
    pub(crate) fn create(
        &self,
        creation: NewJournal,
        waker: Option<Arc<dyn WorkerWaker>>,
    ) -> Answer<Box<Log>> {
        let (answer, receiver) = oneshot::channel();
        self.send(Work::Create(creation, answer), waker);
        receiver
    }

    /// Has the journal of a session closed.
    pub(crate) fn close(&self, closing: Closing, waker: Option<Arc<dyn WorkerWaker>>) -> Answer<()> {
        let (answer, receiver) = oneshot::channel();
        self.send(Work::Close(closing, answer), waker);
        receiver
    }

    fn send(&self, work: Work, waker: Option<Arc<dyn WorkerWaker>>) {
        self.left.fetch_add(1, Ordering::AcqRel);
        self.files.tasks.add(Task { work, left: Arc::clone(&self.left), waker });
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        if self.left() > 0 {
            let (answer, rested) = oneshot::channel();
            self.send(Work::Rest(answer), None);
            // Fails if the thread has died, which does nothing any more.
            let _ = rested.recv();
        }
    }
}

impl Files {
    fn start() -> Result<Self, StoreError> {
        let tasks = Arc::new(Tasks::default());
        let taken = TasksOfThread(Arc::clone(&tasks));
        let thread = crate::system::spawn::start(NAME, Box::new(move || run(&taken)))?;
        Ok(Self { tasks, thread: Some(thread), process: std::process::id() })
    }

    /// Returns whether the thread runs, in this process.
    fn is_alive(&self) -> bool {
        self.process == std::process::id() && self.thread.as_ref().is_some_and(|it| !it.is_finished())
    }
}

impl Tasks {
    /// Adds a task. After the end it is dropped, with its answer's sender.
    fn add(&self, task: Task) {
        let mut waiting = lock(&self.waiting);
        if !waiting.ended {
            waiting.tasks.push(task);
            self.added.notify_one();
        }
    }

    /// Waits for tasks and takes all that there are, or `None` after the end.
    fn take(&self) -> Option<Vec<Task>> {
        let waiting = lock(&self.waiting);
        let idle = |waiting: &mut Waiting| waiting.tasks.is_empty() && !waiting.ended;
        let mut waiting = self.added.wait_while(waiting, idle).unwrap_or_else(PoisonError::into_inner);
        Some(mem::take(&mut waiting.tasks)).filter(|tasks| !tasks.is_empty())
    }

    fn end(&self) {
        lock(&self.waiting).ended = true;
        self.added.notify_one();
    }
}

impl Drop for TasksOfThread {
    fn drop(&mut self) {
        self.0.end();
        // Dropped without the lock.
        let left = mem::take(&mut lock(&self.0.waiting).tasks);
        drop(left);
    }
}

impl Drop for Files {
    fn drop(&mut self) {
        if let Some(thread) = self.thread.take() {
            if self.process == std::process::id() {
                self.tasks.end();
                let _ = thread.join();
            } else {
                // There is nobody to wait for.
                mem::forget(thread);
            }
        }
    }
}

const NAME: &str = "fixbolt-files";

/// Does one thing for a journal. A panic fails for this journal alone: the thread is that of all
/// stores.
fn step<T>(
    doing: &str,
    journal: &dyn Display,
    work: impl FnOnce() -> Result<T, StoreError>,
) -> Result<T, StoreError> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| {
        Err(StoreError::Io {
            doing: format!("{doing} {journal}"),
            reason: format!("the thread {NAME} has panicked"),
        })
    })
}

/// Takes the tasks that wait together. New journals are created a step of each in turn: what the
/// first one waits for brings the names of the others to disk as well.
fn run(tasks: &TasksOfThread) {
    while let Some(waiting) = tasks.0.take() {
        let (mut creations, mut closings, mut resting) = (Vec::new(), Vec::new(), Vec::new());
        for Task { work, left, waker } in waiting {
            match work {
                Work::Create(creation, answer) => {
                    let made = step("creating", &creation.session, || creation.begin());
                    creations.push((creation, made, answer, left, waker));
                }
                Work::Close(closing, answer) => closings.push((closing, answer, left, waker)),
                Work::Rest(answer) => resting.push((answer, left)),
            }
        }
        while creations.iter().flat_map(|(_, made, ..)| made).any(|log| log.shared.is_being_created()) {
            for (creation, made, ..) in &mut creations {
                let Ok(log) = made else { continue };
                let continued = step("creating", &creation.session, || log.shared.continue_creation());
                if let Err(error) = continued {
                    *made = Err(error);
                }
            }
        }
        let done = |left: &AtomicUsize, waker: Option<Arc<dyn WorkerWaker>>| {
            left.fetch_sub(1, Ordering::AcqRel);
            if let Some(waker) = waker {
                waker.store_advanced();
            }
        };
        // Nobody may wait for an answer any more.
        for (_, made, answer, left, waker) in creations {
            let _ = answer.send(made);
            done(&left, waker);
        }
        for (Closing { session, close }, answer, left, waker) in closings {
            let _ = answer.send(step("closing", &session, close));
            done(&left, waker);
        }
        for (answer, left) in resting {
            done(&left, None);
            let _ = answer.send(());
        }
    }
}

impl NewJournal {
    /// Writes the files of the journal.
    fn begin(&self) -> Result<Box<Log>, StoreError> {
        let opening = Opening {
            directory: self.directory.clone(),
            session: &self.session,
            key: self.key,
            backend: Arc::clone(&self.backend),
            base: Arc::clone(&self.base),
            limits: self.limits,
        };
        let (log, recovered, turn) = opening.open()?;
        if recovered == Recovered::default() && turn == 0 {
            return Ok(Box::new(log));
        }
        // Its numbers are not those that the session goes on with, or those of its turns may have
        // been used.
        log.close()?;
        Err(StoreError::Io {
            doing: format!("creating {}", self.directory.display()),
            reason: "another process has created it since the session was opened".to_owned(),
        })
    }
}
