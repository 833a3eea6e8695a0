//! A bounded queue of finished bodies from other threads to one session.
//!
//! Pushing takes no lock and allocates nothing: bodies travel in buffers that go round between two lock-free queues.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering, fence};

use crossbeam_queue::ArrayQueue;
use fixbolt_codec::{Body, MsgType};
use fixbolt_session::{SessionKey, Ticket};

/// Bodies on their way to one session.
#[derive(Debug)]
pub(crate) struct OutboundQueue {
    pub(crate) session: SessionKey,
    bodies: ArrayQueue<QueuedBody>,
    free: ArrayQueue<Box<[u8]>>,
    /// Whether the worker knows that there are bodies.
    announced: AtomicBool,
    tickets: AtomicU64,
}

/// One body on its way.
#[derive(Debug)]
pub(crate) struct QueuedBody {
    pub(crate) ticket: Ticket,
    msg_type: MsgType,
    memory: Box<[u8]>,
    len: usize,
    sum: u8,
}

impl QueuedBody {
    pub(crate) fn body(&self) -> Body<'_> {
        Body { msg_type: self.msg_type, bytes: &self.memory[..self.len], sum: self.sum }
    }
}

/// What [`OutboundQueue::push`] did.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pushed {
    pub(crate) ticket: Ticket,
    /// The worker does not know that the queue has bodies: the caller must announce it.
    pub(crate) must_announce: bool,
}

impl OutboundQueue {
    /// Creates a queue for `capacity` bodies of at most `size` bytes each.
    pub(crate) fn new(session: SessionKey, capacity: usize, size: usize) -> Self {
        let free = ArrayQueue::new(capacity);
        while free.push(vec![0; size].into_boxed_slice()).is_ok() {}
        Self {
            session,
            bodies: ArrayQueue::new(capacity),
            free,
            announced: AtomicBool::new(false),
            tickets: AtomicU64::new(0),
        }
    }

    /// Pushes a copy of `body`; returns `None` when the queue is full.
    pub(crate) fn push(&self, body: &Body<'_>) -> Option<Pushed> {
        let mut memory = self.free.pop()?;
        let len = body.bytes.len();
        memory[..len].copy_from_slice(body.bytes);
        let ticket = Ticket(self.tickets.fetch_add(1, Ordering::Relaxed) + 1);
        let queued = QueuedBody { ticket, msg_type: body.msg_type, memory, len, sum: body.sum };
        // There are as many buffers as places: a body that has a buffer has a place.
        let pushed = self.bodies.push(queued);
        debug_assert!(pushed.is_ok(), "a buffer without a place");
        fence(Ordering::SeqCst);
        Some(Pushed { ticket, must_announce: !self.announced.swap(true, Ordering::SeqCst) })
    }

    /// Takes the next body out; for the worker.
    pub(crate) fn pop(&self) -> Option<QueuedBody> {
        self.bodies.pop()
    }

    /// How many bodies may wait.
    pub(crate) fn capacity(&self) -> usize {
        self.bodies.capacity()
    }

    /// Returns a body's buffer to the senders.
    pub(crate) fn recycle(&self, body: QueuedBody) {
        let returned = self.free.push(body.memory);
        debug_assert!(returned.is_ok(), "more buffers than places");
    }

    /// Tells senders that the worker found the queue empty and forgets it, so that the next push announces it again. Returns
    /// `false` when a body came meanwhile and the worker must look again.
    pub(crate) fn retire(&self) -> bool {
        self.announced.store(false, Ordering::SeqCst);
        fence(Ordering::SeqCst);
        self.bodies.is_empty() || self.announced.swap(true, Ordering::SeqCst)
    }
}
