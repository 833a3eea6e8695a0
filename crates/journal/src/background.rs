//! The thread `fixbolt-files`: creates journals with their first record and closes those that
//! nobody uses any more, so that the worker of whoever logs on under a new name does not wait for
//! the disk.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread::JoinHandle;

use fixbolt_session::store::{Recovered, SessionKey, StoreError};
use fixbolt_session::{SessionId, WorkerWaker};

use crate::backend::Backend;
use crate::creation::Base;
use crate::directory::Open;
use crate::log::Log;
use crate::recover::{Limits, Opening};

/// The handle of the running thread; dropping it has the thread do what is left, and ends it.
pub(crate) struct Background {
    tasks: Option<Sender<Task>>,
    thread: Option<JoinHandle<()>>,
    /// Tasks that are not done yet.
    left: Arc<AtomicUsize>,
}

/// What the thread is to do, and for whom.
struct Task {
    work: Work,
    waker: Option<Arc<dyn WorkerWaker>>,
}

enum Work {
    Create(NewJournal, SyncSender<Result<Box<Log>, StoreError>>),
    Close(Open, SyncSender<Result<(), StoreError>>),
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
pub(crate) type Answer<T> = Receiver<Result<T, StoreError>>;

impl Background {
    pub(crate) fn start() -> Result<Self, StoreError> {
        let (sender, receiver) = channel();
        let left = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&left);
        let thread = crate::thread::spawn("fixbolt-files", move || run(&receiver, &count))?;
        Ok(Self { tasks: Some(sender), thread: Some(thread), left })
    }

    pub(crate) fn is_alive(&self) -> bool {
        self.thread.as_ref().is_some_and(|thread| !thread.is_finished())
    }

    /// Returns the number of tasks that are not done yet. A dead thread has none: they have failed.
    pub(crate) fn left(&self) -> usize {
        if self.is_alive() { self.left.load(Ordering::Acquire) } else { 0 }
    }

    /// Has a journal created, and returns it once it is on disk.
    pub(crate) fn create(
        &self,
        creation: NewJournal,
        waker: Option<Arc<dyn WorkerWaker>>,
    ) -> Answer<Box<Log>> {
        let (answer, receiver) = sync_channel(1);
        self.send(Work::Create(creation, answer), waker);
        receiver
    }

    /// Has the journal of a session closed.
    pub(crate) fn close(&self, open: Open, waker: Option<Arc<dyn WorkerWaker>>) -> Answer<()> {
        let (answer, receiver) = sync_channel(1);
        self.send(Work::Close(open, answer), waker);
        receiver
    }

    fn send(&self, work: Work, waker: Option<Arc<dyn WorkerWaker>>) {
        self.left.fetch_add(1, Ordering::AcqRel);
        if let Some(tasks) = &self.tasks {
            // Fails only if the thread is dead, and then drops the answer's sender.
            let _ = tasks.send(Task { work, waker });
        }
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        self.tasks = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Takes the tasks that wait together. New journals are created a step of each in turn: what the
/// first one waits for brings the names of the others to disk as well.
fn run(tasks: &Receiver<Task>, left: &AtomicUsize) {
    while let Ok(first) = tasks.recv() {
        let (mut creations, mut closings) = (Vec::new(), Vec::new());
        for Task { work, waker } in std::iter::once(first).chain(tasks.try_iter()) {
            match work {
                Work::Create(creation, answer) => creations.push((creation.begin(), answer, waker)),
                Work::Close(open, answer) => closings.push((open, answer, waker)),
            }
        }
        while creations.iter().flat_map(|(made, ..)| made).any(|log| log.shared.is_being_created()) {
            for (made, ..) in &mut creations {
                if let Err(error) = made.as_ref().map_or(Ok(()), |log| log.shared.continue_creation()) {
                    *made = Err(error);
                }
            }
        }
        let done = |waker: Option<Arc<dyn WorkerWaker>>| {
            left.fetch_sub(1, Ordering::AcqRel);
            if let Some(waker) = waker {
                waker.store_advanced();
            }
        };
        // Nobody may wait for an answer any more.
        for (made, answer, waker) in creations {
            let _ = answer.send(made);
            done(waker);
        }
        for (open, answer, waker) in closings {
            let _ = answer.send(open.close());
            done(waker);
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
