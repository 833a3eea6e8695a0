//! How other threads get a worker's attention.
//!
//! Announcing a queue takes no lock and allocates nothing; only a sleeping worker costs a system
//! call, to wake it. Commands, which are rare, are kept under a lock.

use core::time::Duration;
use std::cell::Cell;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering, fence};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crossbeam_queue::ArrayQueue;
use fixbolt_session::{SessionKey, Ticket, WorkerWaker};

use mio::net::TcpListener;

use crate::command::Command;
use crate::outbound_queue::OutboundQueue;
use crate::ports::Port;
use crate::posted_body::PostedBody;
use crate::ring::Refused;
use crate::unanswered::Unanswered;
use crate::worker::connection::Connection;

/// The most connections that are on their way to a worker, but for those that several workers pass
/// on at the same moment. A worker that is busy for long would otherwise have file descriptors
/// without end, which nobody could take from it.
const MOST_COMING: usize = 64;

thread_local! {
    static ON_WORKER_THREAD: Cell<bool> = const { Cell::new(false) };
    /// A number of the thread that no other one has.
    static THREAD: u64 = THREADS.fetch_add(1, Ordering::Relaxed);
}

/// The numbers that were given to threads; 0 is none of them.
static THREADS: AtomicU64 = AtomicU64::new(1);

/// Makes this thread a worker's until the value is dropped.
#[derive(Debug)]
pub(crate) struct OnWorkerThread(bool);

impl OnWorkerThread {
    pub(crate) fn begin() -> Self {
        Self(ON_WORKER_THREAD.replace(true))
    }
}

impl Drop for OnWorkerThread {
    fn drop(&mut self) {
        ON_WORKER_THREAD.set(self.0);
    }
}

/// Returns whether this thread is a worker's, of any engine in the process. Such a thread must not
/// wait for a worker: for itself it would wait forever, and two could wait for each other.
pub(crate) fn on_worker_thread() -> bool {
    ON_WORKER_THREAD.get()
}

/// The commands that the worker has not begun with, the first one first.
#[derive(Debug, Default)]
struct Commands {
    waiting: VecDeque<(u64, Command)>,
    /// The number of the next command.
    next: u64,
}

/// The commands that were left before a moment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Batch {
    /// The number of the first command that was left later.
    end: u64,
    /// Whether one of them stops the worker, or operates a session.
    pub(crate) operates: bool,
}

/// What a worker and the threads that use it share.
#[derive(Debug)]
pub(crate) struct WorkerSignal {
    announced: ArrayQueue<Arc<OutboundQueue>>,
    commands: Mutex<Commands>,
    /// Whether there are commands: the lock is taken only then.
    commanded: AtomicBool,
    /// Sessions whose applications can accept a message again.
    ready: ArrayQueue<SessionKey>,
    /// Whether a session did not fit into `ready`: then every waiting session is called.
    lost_ready: AtomicBool,
    /// Whether the store has notified the worker.
    store_advanced: AtomicBool,
    sleeping: AtomicBool,
    stopped: AtomicBool,
    /// The thread that drives the worker, if it has none of its own; otherwise 0.
    driver: AtomicU64,
    cycles: AtomicU64,
    /// Connections of the worker, and connections that are on their way to it.
    connections: AtomicUsize,
    coming: AtomicUsize,
    waker: mio::Waker,
}

impl WorkerSignal {
    /// Creates the signal of a worker with places for `sessions` sessions that need its attention
    /// at once. Further ones cost more.
    pub(crate) fn new(waker: mio::Waker, sessions: usize) -> Self {
        Self {
            announced: ArrayQueue::new(sessions),
            commands: Mutex::default(),
            commanded: AtomicBool::new(false),
            ready: ArrayQueue::new(sessions),
            lost_ready: AtomicBool::new(false),
            store_advanced: AtomicBool::new(false),
            sleeping: AtomicBool::new(false),
            stopped: AtomicBool::new(false),
            driver: AtomicU64::new(0),
            cycles: AtomicU64::new(0),
            connections: AtomicUsize::new(0),
            coming: AtomicUsize::new(0),
            waker,
        }
    }

    /// Pushes a copy of `body` into `queue` and ensures that the worker takes it out.
    pub(crate) fn push(&self, queue: &Arc<OutboundQueue>, body: &PostedBody<'_>) -> Result<Ticket, Refused> {
        let pushed = queue.push(body)?;
        if pushed.must_announce {
            match self.announced.push(Arc::clone(queue)) {
                Ok(()) => self.wake(),
                // There are more queues than places.
                Err(queue) => self.command(Command::Announced(queue)),
            }
        }
        Ok(pushed.ticket)
    }

    /// Records that this thread drives the worker from now on.
    pub(crate) fn drive_here(&self) {
        self.driver.store(THREAD.with(|thread| *thread), Ordering::Relaxed);
    }

    /// Returns whether waiting for the worker on this thread could take forever: it is a worker's,
    /// or the one that drives this worker.
    pub(crate) fn must_not_be_awaited(&self) -> bool {
        on_worker_thread() || self.driver.load(Ordering::Relaxed) == THREAD.with(|thread| *thread)
    }

    /// Leaves a command for the worker. A worker that has ended drops it, which ends the wait for
    /// its answer.
    pub(crate) fn command(&self, command: Command) {
        self.leave(command);
    }

    /// Leaves a command for the worker and waits for its answer, for at most `limit`. If the worker
    /// has not begun by then, it never does.
    pub(crate) fn ask<T>(
        &self,
        limit: Duration,
        command: impl FnOnce(oneshot::Sender<T>) -> Command,
    ) -> Result<T, Unanswered> {
        let (answer, answered) = oneshot::channel();
        let number = self.leave(command(answer));
        match answered.recv_timeout(limit) {
            Ok(answer) => Ok(answer),
            Err(oneshot::RecvTimeoutError::Disconnected) => Err(Unanswered::Stopped),
            Err(oneshot::RecvTimeoutError::Timeout) if self.withdraw(number) => Err(Unanswered::Withdrawn),
            // The answer may have come since.
            Err(oneshot::RecvTimeoutError::Timeout) => answered.try_recv().map_err(|error| match error {
                oneshot::TryRecvError::Disconnected => Unanswered::Stopped,
                oneshot::TryRecvError::Empty => Unanswered::TimedOut,
            }),
        }
    }

    /// Leaves a command for the worker, unless it has ended. Returns the command's number.
    fn leave(&self, command: Command) -> u64 {
        let mut commands = self.lock_commands();
        if !self.is_stopped() {
            return self.add_command(&mut commands, command);
        }
        commands.next
    }

    /// Takes a command back. Returns whether the worker has not begun with it.
    fn withdraw(&self, number: u64) -> bool {
        let mut commands = self.lock_commands();
        let found = commands.waiting.binary_search_by_key(&number, |(number, _)| *number);
        let command = found.ok().and_then(|index| commands.waiting.remove(index));
        // It is dropped without the lock.
        drop(commands);
        command.is_some()
    }

    fn lock_commands(&self) -> MutexGuard<'_, Commands> {
        self.commands.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Has the worker accept the connections to a port. Returns the socket if the worker has ended.
    pub(crate) fn listen(&self, port: Port, socket: TcpListener) -> Option<TcpListener> {
        let mut commands = self.lock_commands();
        if self.is_stopped() {
            return Some(socket);
        }
        self.add_command(&mut commands, Command::Listen { port, socket });
        None
    }

    fn add_command(&self, commands: &mut Commands, command: Command) -> u64 {
        let number = commands.next;
        commands.next += 1;
        commands.waiting.push_back((number, command));
        self.commanded.store(true, Ordering::SeqCst);
        self.wake();
        number
    }

    fn wake(&self) {
        fence(Ordering::SeqCst);
        if self.sleeping.swap(false, Ordering::SeqCst)
            && let Err(error) = self.waker.wake()
        {
            tracing::error!(%error, "the worker could not be woken");
        }
    }

    /// Returns how many sessions [`WorkerSignal::next_ready`] would return now.
    pub(crate) fn ready(&self) -> usize {
        self.ready.len()
    }

    /// Returns the next session whose application has asked for its message.
    pub(crate) fn next_ready(&self) -> Option<SessionKey> {
        self.ready.pop()
    }

    /// Returns whether sessions have been left out of [`WorkerSignal::next_ready`] since the last
    /// call.
    pub(crate) fn take_lost_ready(&self) -> bool {
        self.lost_ready.load(Ordering::Relaxed) && self.lost_ready.swap(false, Ordering::SeqCst)
    }

    /// Returns whether the store has notified the worker since the last call.
    pub(crate) fn take_store_advanced(&self) -> bool {
        self.store_advanced.load(Ordering::Relaxed) && self.store_advanced.swap(false, Ordering::SeqCst)
    }

    /// Returns whether the worker may sleep: `false` if something arrived that it must do first.
    pub(crate) fn may_sleep(&self) -> bool {
        self.sleeping.store(true, Ordering::SeqCst);
        fence(Ordering::SeqCst);
        let flags = [&self.commanded, &self.lost_ready, &self.store_advanced];
        let quiet = self.announced.is_empty()
            && self.ready.is_empty()
            && !flags.iter().any(|flag| flag.load(Ordering::SeqCst));
        if !quiet {
            self.sleeping.store(false, Ordering::SeqCst);
        }
        quiet
    }

    /// Begins a cycle: the worker is awake, and nobody needs to wake it.
    pub(crate) fn begin_cycle(&self) {
        self.sleeping.store(false, Ordering::Relaxed);
        // The only writer is the worker.
        self.cycles.store(self.cycles.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
    }

    /// Returns how many cycles the worker's loop has begun.
    pub(crate) fn cycles(&self) -> u64 {
        self.cycles.load(Ordering::Relaxed)
    }

    /// Passes a connection to the worker. Returns whether it lives; the connection is closed if it
    /// does not.
    pub(crate) fn hand_over(&self, connection: Box<Connection>) -> bool {
        self.coming.fetch_add(1, Ordering::Relaxed);
        self.command(Command::TakeOver(connection));
        !self.is_stopped()
    }

    /// Returns whether so many connections are on their way to the worker that further ones must
    /// wait where they are.
    pub(crate) fn is_behind(&self) -> bool {
        self.coming.load(Ordering::Relaxed) >= MOST_COMING
    }

    /// Records that a connection has arrived that another worker passed on.
    pub(crate) fn note_arrival(&self) {
        self.coming.fetch_sub(1, Ordering::Relaxed);
    }

    /// Records how many connections the worker has.
    pub(crate) fn note_connections(&self, count: usize) {
        self.connections.store(count, Ordering::Relaxed);
    }

    /// Returns how many connections the worker has, with those that are on their way to it.
    pub(crate) fn load(&self) -> usize {
        self.connections.load(Ordering::Relaxed) + self.coming.load(Ordering::Relaxed)
    }

    /// Returns the next queue that was announced to the worker.
    pub(crate) fn next_announced(&self) -> Option<Arc<OutboundQueue>> {
        self.announced.pop()
    }

    /// Returns the commands that were left until now, if there are any.
    pub(crate) fn begin_commands(&self) -> Option<Batch> {
        if !self.commanded.swap(false, Ordering::SeqCst) {
            return None;
        }
        let commands = self.lock_commands();
        let operates = |(_, command): &_| matches!(command, Command::Stop | Command::Operate { .. });
        Some(Batch { end: commands.next, operates: commands.waiting.iter().any(operates) })
    }

    /// Takes the next command of a batch, which can no longer be withdrawn.
    pub(crate) fn next_command(&self, batch: Batch) -> Option<Command> {
        let mut commands = self.lock_commands();
        if commands.waiting.front()?.0 >= batch.end {
            return None;
        }
        commands.waiting.pop_front().map(|(_, command)| command)
    }

    /// Ends the worker's part: later messages are dropped, and nobody waits for an answer any
    /// longer once the commands are dropped that it returns, those that were not carried out.
    pub(crate) fn stop(&self) -> Vec<Command> {
        let mut commands = self.lock_commands();
        self.stopped.store(true, Ordering::SeqCst);
        fence(Ordering::SeqCst);
        commands.waiting.drain(..).map(|(_, command)| command).collect()
    }

    /// Returns whether the worker has ended.
    pub(crate) fn is_stopped(&self) -> bool {
        fence(Ordering::SeqCst);
        self.stopped.load(Ordering::SeqCst)
    }
}

impl WorkerWaker for WorkerSignal {
    fn session_ready(&self, session: SessionKey) {
        if self.ready.push(session).is_err() {
            self.lost_ready.store(true, Ordering::SeqCst);
        }
        self.wake();
    }

    fn store_advanced(&self) {
        self.store_advanced.store(true, Ordering::SeqCst);
        self.wake();
    }
}
