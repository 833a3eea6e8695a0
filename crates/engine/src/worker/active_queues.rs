//! The outbound queues that hold messages from other threads. The worker sends each message in a
//! turn of its own.

use std::sync::Arc;

use fixbolt_codec::Body;
use fixbolt_session::runtime::posted;
use fixbolt_session::{SessionKey, Ticket};

use crate::outbound_queue::OutboundQueue;
use crate::posted_body::PostedBody;
use crate::worker_signal::WorkerSignal;

/// The most bytes taken from one queue per cycle; a larger message is taken alone.
const BATCH: usize = 32 * 1024;
/// A message of up to this size is copied without an allocation; so is any message no larger than
/// the largest so far.
const BODY: usize = 64 * 1024;

/// The queues that have messages, or had some until recently.
#[derive(Debug)]
pub(crate) struct ActiveQueues {
    queues: Vec<Arc<OutboundQueue>>,
    /// The buffer into which a message is copied before it is sent.
    body: Vec<u8>,
}

/// How many messages to take from each queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Take {
    /// A batch, so that other work is not delayed.
    Batch,
    /// All messages queued before the call.
    All,
}

/// What became of a message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum SendOutcome {
    /// It was sent, or never will be.
    Done,
    /// The session's outbox is full: try again later.
    BackPressure,
}

/// The state of a queue after a call.
enum QueueState {
    Empty,
    /// The session accepts no more messages for now.
    Stalled,
    More,
}

impl ActiveQueues {
    pub(crate) fn new() -> Self {
        Self { queues: Vec::with_capacity(64), body: Vec::with_capacity(BODY) }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.queues.is_empty()
    }

    /// Passes queued messages to `send`. Returns whether more can be sent at once.
    pub(crate) fn send(
        &mut self,
        signal: &WorkerSignal,
        take: Take,
        mut send: impl FnMut(SessionKey, Ticket, &PostedBody<'_>) -> SendOutcome,
    ) -> bool {
        self.collect(signal);
        let Self { queues, body } = self;
        let mut more = false;
        queues.retain(|queue| match send_from(queue, take, body, &mut send) {
            QueueState::Empty => false,
            QueueState::Stalled => true,
            QueueState::More => {
                more = true;
                true
            }
        });
        more
    }

    /// Checks what holds between two cycles.
    ///
    /// # Panics
    /// Panics if it does not hold.
    pub(crate) fn check(&self) {
        for queue in &self.queues {
            queue.check();
        }
    }

    /// Adds a queue that was announced.
    pub(crate) fn add(&mut self, queue: Arc<OutboundQueue>) {
        self.queues.push(queue);
    }

    fn collect(&mut self, signal: &WorkerSignal) {
        while let Some(queue) = signal.next_announced() {
            self.queues.push(queue);
        }
    }
}

/// Passes a queue's messages to `send`.
fn send_from(
    queue: &OutboundQueue,
    take: Take,
    bytes: &mut Vec<u8>,
    send: &mut impl FnMut(SessionKey, Ticket, &PostedBody<'_>) -> SendOutcome,
) -> QueueState {
    let most = match take {
        Take::Batch => BATCH,
        Take::All => queue.queued(),
    };
    let mut made_room = false;
    let mut taken = 0;
    let state = loop {
        let Some(record) = queue.peek(bytes) else {
            if !queue.retire(bytes) {
                continue;
            }
            made_room |= queue.shrink();
            break QueueState::Empty;
        };
        if taken > 0 && taken + record.size() > most {
            break QueueState::More;
        }
        let body = Body { msg_type: record.msg_type, bytes, sum: record.sum };
        let body = PostedBody { body, may_have_secrets: record.may_have_secrets };
        if send(queue.session, posted(record.number), &body) == SendOutcome::BackPressure {
            break QueueState::Stalled;
        }
        taken += record.size();
        made_room |= queue.consume(record);
    };
    if made_room {
        queue.pages.room.made();
    }
    state
}

#[cfg(all(test, not(loom)))]
mod tests {
    use fixbolt_codec::MsgType;
    use fixbolt_codec::plumbing::TagSet;
    use fixbolt_session::runtime::session_key;
    use fixbolt_session::{SessionId, StatusCell};

    use super::*;
    use crate::damage::said;
    use crate::pages::Pages;

    #[test]
    fn a_queue_that_would_be_announced_a_second_time_is_noticed() {
        let id: SessionId = "FIX.4.4:US->THEM".parse().unwrap();
        let (key, status) = (session_key(0, 0, 0), Arc::new(StatusCell::default()));
        let pages = Arc::new(Pages::with_shift(4, 10));
        let secrets = TagSet::of([]);
        let queue = Arc::new(OutboundQueue::new(id, key, status, 8, 8, pages, secrets));
        let body = Body { msg_type: MsgType::new(b"D"), bytes: b"", sum: 0 };
        let body = PostedBody { body, may_have_secrets: false };
        assert!(queue.push(&body).unwrap().must_announce);
        let mut queues = ActiveQueues::new();
        queues.add(Arc::clone(&queue));
        queues.check();
        let mut bytes = Vec::new();
        let record = queue.peek(&mut bytes).unwrap();
        queue.consume(record);
        assert!(queue.retire(&mut bytes));
        let said = said(|| queues.check());
        assert!(
            said.contains("FIX.4.4:US->THEM: the worker would be told of the queue a second time"),
            "{said}"
        );
    }
}
