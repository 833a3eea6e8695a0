//! Which sessions there are, for threads other than the worker. A worker takes its locks only when it opens a session.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use fixbolt_session::{SessionId, SessionKey};

use crate::outbound_queue::OutboundQueue;

/// The sessions of one worker, and their outbound queues as far as somebody has asked for them.
#[derive(Debug)]
pub(crate) struct SessionRegistry {
    sessions: Mutex<HashMap<SessionId, RegisteredSession>>,
    queues: Mutex<HashMap<SessionKey, Arc<OutboundQueue>>>,
    queue_capacity: usize,
}

#[derive(Clone, Copy, Debug)]
struct RegisteredSession {
    key: SessionKey,
    max_message_size: usize,
}

impl SessionRegistry {
    /// Creates a registry whose outbound queues take `queue_capacity` bodies each.
    pub(crate) fn new(queue_capacity: usize) -> Self {
        Self { sessions: Mutex::default(), queues: Mutex::default(), queue_capacity }
    }

    /// Adds a session that was opened.
    pub(crate) fn add(&self, id: SessionId, key: SessionKey, max_message_size: usize) {
        lock(&self.sessions).insert(id, RegisteredSession { key, max_message_size });
    }

    /// The key of a session that is open.
    pub(crate) fn key(&self, id: &SessionId) -> Option<SessionKey> {
        lock(&self.sessions).get(id).map(|session| session.key)
    }

    /// The outbound queue of a session that is open, and the largest body that it takes, in bytes.
    pub(crate) fn outbound_queue(&self, id: &SessionId) -> Option<(Arc<OutboundQueue>, usize)> {
        let RegisteredSession { key, max_message_size } = *lock(&self.sessions).get(id)?;
        let mut queues = lock(&self.queues);
        let queue = queues
            .entry(key)
            .or_insert_with(|| Arc::new(OutboundQueue::new(key, self.queue_capacity, max_message_size)));
        Some((Arc::clone(queue), max_message_size))
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
