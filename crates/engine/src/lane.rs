//! The way from other threads to a session: a bounded lane of finished bodies a session, and the worker's doorbell.
//!
//! Posting takes no lock and allocates nothing: bodies travel in buffers that go round between two queues. Only when the
//! worker sleeps does a post cost a system call, to wake it. Control commands (rare) stand behind a lock beside it.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering, fence};
use std::sync::{Arc, Mutex, PoisonError};

use crossbeam_queue::ArrayQueue;
use fixbolt_codec::{Body, MsgType};
use fixbolt_session::Ticket;
use fixbolt_session::store::SessionKey;

use crate::engine::Command;

/// Bodies on their way to one session.
#[derive(Debug)]
pub(crate) struct Lane {
    pub(crate) session: SessionKey,
    posts: ArrayQueue<Post>,
    free: ArrayQueue<Box<[u8]>>,
    /// Whether the worker knows that there are posts.
    announced: AtomicBool,
    tickets: AtomicU64,
}

/// One body on its way.
#[derive(Debug)]
pub(crate) struct Post {
    pub(crate) ticket: Ticket,
    msg_type: MsgType,
    memory: Box<[u8]>,
    len: usize,
    sum: u8,
}

impl Post {
    pub(crate) fn body(&self) -> Body<'_> {
        Body { msg_type: self.msg_type, bytes: &self.memory[..self.len], sum: self.sum }
    }
}

impl Lane {
    /// A lane for `posts` bodies of at most `size` bytes each.
    pub(crate) fn new(session: SessionKey, posts: usize, size: usize) -> Self {
        let free = ArrayQueue::new(posts);
        while free.push(vec![0; size].into_boxed_slice()).is_ok() {}
        Self {
            session,
            posts: ArrayQueue::new(posts),
            free,
            announced: AtomicBool::new(false),
            tickets: AtomicU64::new(0),
        }
    }

    /// Posts a copy of `body`; `None` when the lane is full.
    pub(crate) fn post(self: &Arc<Self>, body: &Body<'_>, doorbell: &Doorbell) -> Option<Ticket> {
        let mut memory = self.free.pop()?;
        let len = body.bytes.len();
        memory[..len].copy_from_slice(body.bytes);
        let ticket = Ticket(self.tickets.fetch_add(1, Ordering::Relaxed) + 1);
        let post = Post { ticket, msg_type: body.msg_type, memory, len, sum: body.sum };
        // There are as many buffers as places: a post that has a buffer has a place.
        let pushed = self.posts.push(post);
        debug_assert!(pushed.is_ok(), "a buffer without a place");
        fence(Ordering::SeqCst);
        if !self.announced.swap(true, Ordering::SeqCst) {
            doorbell.announce(self);
        }
        Some(ticket)
    }

    /// The next body; the worker's side.
    pub(crate) fn next(&self) -> Option<Post> {
        self.posts.pop()
    }

    /// How many posts may wait.
    pub(crate) fn capacity(&self) -> usize {
        self.posts.capacity()
    }

    /// Gives a post's buffer back to the senders.
    pub(crate) fn done(&self, post: Post) {
        let returned = self.free.push(post.memory);
        debug_assert!(returned.is_ok(), "more buffers than places");
    }

    /// The worker found the lane empty and forgets it; `false` when something came meanwhile and it must look again.
    pub(crate) fn leave(&self) -> bool {
        self.announced.store(false, Ordering::SeqCst);
        fence(Ordering::SeqCst);
        self.posts.is_empty() || self.announced.swap(true, Ordering::SeqCst)
    }
}

/// How other threads get a worker's attention.
#[derive(Debug)]
pub(crate) struct Doorbell {
    lanes: ArrayQueue<Arc<Lane>>,
    commands: Mutex<Vec<Command>>,
    commanded: AtomicBool,
    sleeping: AtomicBool,
    stopped: AtomicBool,
    turns: AtomicU64,
    waker: mio::Waker,
}

impl Doorbell {
    /// For at most `lanes` lanes.
    pub(crate) fn new(waker: mio::Waker, lanes: usize) -> Self {
        Self {
            lanes: ArrayQueue::new(lanes),
            commands: Mutex::new(Vec::new()),
            commanded: AtomicBool::new(false),
            sleeping: AtomicBool::new(false),
            stopped: AtomicBool::new(false),
            turns: AtomicU64::new(0),
            waker,
        }
    }

    fn announce(&self, lane: &Arc<Lane>) {
        // A lane is announced once at a time and there are no more lanes than places.
        let announced = self.lanes.push(Arc::clone(lane));
        debug_assert!(announced.is_ok(), "more lanes than places");
        self.ring();
    }

    /// Leaves a command for the worker. One that has ended gets none: whoever waits for the answer sees the command dropped.
    pub(crate) fn command(&self, command: Command) {
        let mut commands = self.commands.lock().unwrap_or_else(PoisonError::into_inner);
        if self.is_stopped() {
            return;
        }
        commands.push(command);
        drop(commands);
        self.commanded.store(true, Ordering::SeqCst);
        self.ring();
    }

    fn ring(&self) {
        fence(Ordering::SeqCst);
        if self.sleeping.swap(false, Ordering::SeqCst)
            && let Err(error) = self.waker.wake()
        {
            tracing::error!(%error, "the worker could not be woken");
        }
    }

    /// The worker is about to sleep; `false` when there is something to do first.
    pub(crate) fn may_sleep(&self) -> bool {
        self.sleeping.store(true, Ordering::SeqCst);
        fence(Ordering::SeqCst);
        let quiet = self.lanes.is_empty() && !self.commanded.load(Ordering::SeqCst);
        if !quiet {
            self.sleeping.store(false, Ordering::SeqCst);
        }
        quiet
    }

    /// The worker is awake: nobody needs to wake it.
    pub(crate) fn awake(&self) {
        self.sleeping.store(false, Ordering::Relaxed);
        // The only writer is the worker.
        self.turns.store(self.turns.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
    }

    /// How many turns the worker's loop has made.
    pub(crate) fn turns(&self) -> u64 {
        self.turns.load(Ordering::Relaxed)
    }

    /// The next lane with posts that the worker did not know of.
    pub(crate) fn next_lane(&self) -> Option<Arc<Lane>> {
        self.lanes.pop()
    }

    /// Commands left since the last call.
    pub(crate) fn take_commands(&self) -> Vec<Command> {
        if !self.commanded.swap(false, Ordering::SeqCst) {
            return Vec::new();
        }
        core::mem::take(&mut *self.commands.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// The worker has ended: what is posted from now on goes nowhere, and nobody waits for an answer any more.
    pub(crate) fn stop(&self) {
        let mut commands = self.commands.lock().unwrap_or_else(PoisonError::into_inner);
        self.stopped.store(true, Ordering::SeqCst);
        fence(Ordering::SeqCst);
        commands.clear();
    }

    /// Whether the worker has ended.
    pub(crate) fn is_stopped(&self) -> bool {
        fence(Ordering::SeqCst);
        self.stopped.load(Ordering::SeqCst)
    }
}
