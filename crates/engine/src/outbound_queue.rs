//! The messages from other threads to one session, and what these threads see of the session.

use core::time::Duration;
use std::sync::Arc;

use fixbolt_codec::plumbing::TagSet;
use fixbolt_session::runtime::posted;
use fixbolt_session::{CodecClock, SessionId, SessionKey, StatusCell, Ticket};

use crate::pages::Pages;
use crate::posted_body::PostedBody;
use crate::ring::{Record, Refused, Ring, largest_body, record_size};
use crate::sync::{AtomicBool, AtomicU64, Ordering, yield_now};

/// Messages on their way to one session.
#[derive(Debug)]
pub(crate) struct OutboundQueue {
    pub(crate) id: SessionId,
    pub(crate) session: SessionKey,
    pub(crate) status: Arc<StatusCell>,
    /// The largest body that it accepts, in bytes.
    pub(crate) max_body_size: usize,
    /// The fields that are secrets in every message of the session.
    pub(crate) secrets: TagSet,
    pub(crate) pages: Arc<Pages>,
    ring: Ring,
    /// Whether the worker knows that there are messages.
    announced: AtomicBool,
    tickets: AtomicU64,
    /// How long it took to write the bodies, if that is measured.
    pub(crate) timing: Option<WritingTime>,
}

/// How long other threads took to write bodies for a session.
#[derive(Debug)]
pub(crate) struct WritingTime {
    pub(crate) clock: CodecClock,
    nanos: AtomicU64,
}

impl WritingTime {
    pub(crate) fn new(clock: CodecClock) -> Self {
        Self { clock, nanos: AtomicU64::new(0) }
    }

    pub(crate) fn add(&self, time: Duration) {
        self.nanos.fetch_add(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX), Ordering::Relaxed);
    }

    /// Returns the time since it was last taken.
    pub(crate) fn take(&self) -> Duration {
        Duration::from_nanos(self.nanos.swap(0, Ordering::Relaxed))
    }
}

/// The result of [`OutboundQueue::push`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pushed {
    pub(crate) ticket: Ticket,
    /// The worker does not know that the queue has messages: the caller must announce it.
    pub(crate) must_announce: bool,
}

impl OutboundQueue {
    /// Creates a queue of at least `capacity` bytes, enlarged to hold a body of `max_body_size`
    /// bytes as far as the budget allows.
    pub(crate) fn new(
        id: SessionId,
        session: SessionKey,
        status: Arc<StatusCell>,
        max_body_size: usize,
        capacity: usize,
        pages: Arc<Pages>,
        secrets: TagSet,
    ) -> Self {
        let max_body_size = max_body_size.min(largest_body(&pages));
        // A ring never gets more than half of the budget.
        let capacity = capacity.min(pages.size()).max(record_size(max_body_size));
        Self {
            id,
            session,
            status,
            max_body_size,
            secrets,
            ring: Ring::new(Arc::clone(&pages), capacity),
            pages,
            announced: AtomicBool::new(false),
            tickets: AtomicU64::new(0),
            timing: None,
        }
    }

    /// Has the threads measure how long they write, if there is a clock for that.
    #[must_use]
    pub(crate) fn timed_by(mut self, clock: Option<CodecClock>) -> Self {
        self.timing = clock.map(WritingTime::new);
        self
    }

    /// Pushes a copy of `body`.
    pub(crate) fn push(&self, body: &PostedBody<'_>) -> Result<Pushed, Refused> {
        // Counted once there is room, so that no ticket is skipped.
        let ticket = self.ring.push(body, || self.tickets.fetch_add(1, Ordering::Relaxed) + 1)?;
        // Whichever of this swap and the worker's comes later sees what the other thread did before
        // its own swap.
        let must_announce = !self.announced.swap(true, Ordering::AcqRel);
        Ok(Pushed { ticket: posted(ticket), must_announce })
    }

    /// Copies the next body into `body`, for the worker.
    pub(crate) fn peek(&self, body: &mut Vec<u8>) -> Option<Record> {
        self.ring.peek(body)
    }

    /// Removes the message that [`OutboundQueue::peek`] returned. Returns whether that made room.
    pub(crate) fn consume(&self, record: Record) -> bool {
        self.ring.consume(record)
    }

    /// Returns how many bytes wait, at most.
    pub(crate) fn queued(&self) -> usize {
        self.ring.queued()
    }

    /// Forgets the queue, which the worker found empty, so that the next push announces it again.
    /// Returns `false` if a message came meanwhile and the worker must look again. `body` is
    /// overwritten.
    pub(crate) fn retire(&self, body: &mut Vec<u8>) -> bool {
        self.announced.swap(false, Ordering::AcqRel);
        self.ring.peek(body).is_none() || self.announced.swap(true, Ordering::AcqRel)
    }

    /// Refuses further messages, and passes the tickets of all that were accepted to `refuse`. For
    /// the worker, before the session is closed: then each ticket is either reported or was never
    /// returned. `body` is overwritten.
    pub(crate) fn close(&self, body: &mut Vec<u8>, mut refuse: impl FnMut(Ticket)) {
        self.ring.close();
        while !self.ring.is_empty() {
            match self.ring.peek(body) {
                Some(record) => {
                    refuse(posted(record.number));
                    self.ring.consume(record);
                }
                // Another thread is writing a message.
                None => yield_now(),
            }
        }
        self.ring.shrink();
        // Threads that wait for room must give up now.
        self.pages.room.made();
    }

    /// Checks what the worker may know of a queue that it has not forgotten.
    ///
    /// # Panics
    /// Panics if it does not hold.
    pub(crate) fn check(&self) {
        let is_announced = self.announced.load(Ordering::Relaxed);
        assert!(is_announced, "{}: the worker would be told of the queue a second time", self.id);
        self.ring.check();
    }

    /// Returns the page of an empty queue to the pool if other sessions may need it. The result is
    /// whether that made room.
    pub(crate) fn shrink(&self) -> bool {
        self.pages.are_short() && self.ring.shrink()
    }
}

#[cfg(all(loom, test))]
mod loom_tests {
    use fixbolt_codec::{Body, MsgType};

    use fixbolt_session::runtime::session_key;

    use super::*;

    #[test]
    fn loom_a_message_is_announced_or_found_before_the_worker_forgets_the_queue() {
        loom::model(|| {
            let id: SessionId = "FIX.4.4:US->THEM".parse().unwrap();
            let status = Arc::new(StatusCell::default());
            let pages = Arc::new(Pages::with_shift(4, 3));
            let (key, secrets) = (session_key(0, 0, 0), TagSet::of([]));
            let queue = OutboundQueue::new(id, key, status, 8, 8, Arc::clone(&pages), secrets);
            let queue = Arc::new(queue);
            let body = Body { msg_type: MsgType::new(b"D"), bytes: b"", sum: 0 };
            let body = PostedBody { body, may_have_secrets: false };
            // The worker knows about the queue, because of this message.
            assert!(queue.push(&body).unwrap().must_announce);
            let writer = {
                let queue = Arc::clone(&queue);
                loom::thread::spawn(move || queue.push(&body).unwrap().must_announce)
            };
            let mut seen = 0;
            let mut buffer = Vec::new();
            loop {
                if let Some(record) = queue.peek(&mut buffer) {
                    queue.consume(record);
                    seen += 1;
                } else if queue.retire(&mut buffer) {
                    break;
                }
            }
            let announced = writer.join().unwrap();
            assert!(seen == 2 || announced, "the second message would lie there for ever");
        });
    }
}
