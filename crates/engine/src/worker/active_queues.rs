//! The outbound queues that have messages of other threads. The worker sends each message in a turn of its own.

use std::sync::Arc;

use fixbolt_session::SessionKey;

use crate::outbound_queue::{OutboundQueue, QueuedBody};
use crate::worker_signal::WorkerSignal;

/// The most messages taken from one queue in a cycle.
const QUEUE_BATCH: usize = 64;

/// The queues that have messages, or had some a moment ago.
#[derive(Debug)]
pub(crate) struct ActiveQueues {
    queues: Vec<ActiveQueue>,
}

#[derive(Debug)]
struct ActiveQueue {
    queue: Arc<OutboundQueue>,
    /// A message that found the session's outbox full.
    stalled: Option<QueuedBody>,
}

/// How many messages to take from each queue.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Take {
    /// A batch, so that other work goes on.
    Batch,
    /// All that were queued before.
    All,
}

/// What became of a message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum SendOutcome {
    /// It was sent, or will never be.
    Done,
    /// The session's outbox is full: try again later.
    BackPressure,
}

/// What is left in a queue.
enum QueueState {
    Empty,
    Stalled,
    More,
}

impl ActiveQueues {
    pub(crate) fn new() -> Self {
        Self { queues: Vec::with_capacity(64) }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.queues.is_empty()
    }

    /// Passes queued messages to `send`; returns whether there are more that can be sent at once.
    pub(crate) fn send(
        &mut self,
        signal: &WorkerSignal,
        take: Take,
        mut send: impl FnMut(SessionKey, &QueuedBody) -> SendOutcome,
    ) -> bool {
        self.collect(signal);
        let mut more = false;
        let mut n = 0;
        while n < self.queues.len() {
            match self.queues[n].send(take, &mut send) {
                QueueState::Empty => {
                    self.queues.swap_remove(n);
                }
                QueueState::Stalled => n += 1,
                QueueState::More => {
                    more = true;
                    n += 1;
                }
            }
        }
        more
    }

    /// Passes every message that was not sent to `refuse`, at the engine's end.
    pub(crate) fn refuse(&mut self, signal: &WorkerSignal, mut refuse: impl FnMut(SessionKey, &QueuedBody)) {
        self.collect(signal);
        for ActiveQueue { queue, mut stalled } in self.queues.drain(..) {
            while let Some(queued) = stalled.take().or_else(|| queue.pop()) {
                refuse(queue.session, &queued);
                queue.recycle(queued);
            }
        }
    }

    fn collect(&mut self, signal: &WorkerSignal) {
        while let Some(queue) = signal.next_announced() {
            self.queues.push(ActiveQueue { queue, stalled: None });
        }
    }
}

impl ActiveQueue {
    fn send(
        &mut self,
        take: Take,
        send: &mut impl FnMut(SessionKey, &QueuedBody) -> SendOutcome,
    ) -> QueueState {
        let Self { queue, stalled } = self;
        let most = match take {
            Take::Batch => QUEUE_BATCH,
            Take::All => queue.capacity() + 1,
        };
        for _ in 0..most {
            let Some(queued) = stalled.take().or_else(|| queue.pop()) else {
                if queue.retire() {
                    return QueueState::Empty;
                }
                continue;
            };
            if send(queue.session, &queued) == SendOutcome::BackPressure {
                *stalled = Some(queued);
                return QueueState::Stalled;
            }
            queue.recycle(queued);
        }
        QueueState::More
    }
}
