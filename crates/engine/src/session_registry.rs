//! Which sessions there are, for threads other than the worker. A worker takes its lock only when it opens a session.

use std::collections::HashMap;
use std::sync::Arc;

use fixbolt_session::{SessionId, SessionKey, StatusCell};

use crate::outbound_queue::OutboundQueue;
use crate::pages::Pages;
use crate::sync::{Mutex, lock};

/// The sessions of one worker.
#[derive(Debug)]
pub(crate) struct SessionRegistry {
    sessions: Mutex<HashMap<SessionId, Arc<OutboundQueue>>>,
    /// The memory of all outbound queues.
    pages: Arc<Pages>,
    /// Bytes that an outbound queue takes.
    queue_capacity: usize,
}

impl SessionRegistry {
    /// Creates a registry whose outbound queues take `queue_capacity` bytes each, and `budget` bytes together.
    pub(crate) fn new(queue_capacity: usize, budget: usize) -> Self {
        Self { sessions: Mutex::new(HashMap::new()), pages: Arc::new(Pages::new(budget)), queue_capacity }
    }

    /// Adds a session that was opened.
    pub(crate) fn add(
        &self,
        id: SessionId,
        key: SessionKey,
        status: Arc<StatusCell>,
        max_message_size: usize,
    ) {
        let pages = Arc::clone(&self.pages);
        let queue = OutboundQueue::new(id.clone(), key, status, max_message_size, self.queue_capacity, pages);
        lock(&self.sessions).insert(id, Arc::new(queue));
    }

    /// The key of a session that is open.
    pub(crate) fn key(&self, id: &SessionId) -> Option<SessionKey> {
        lock(&self.sessions).get(id).map(|queue| queue.session)
    }

    /// The outbound queue of a session that is open.
    pub(crate) fn outbound_queue(&self, id: &SessionId) -> Option<Arc<OutboundQueue>> {
        lock(&self.sessions).get(id).map(Arc::clone)
    }

    /// The memory of all outbound queues.
    pub(crate) const fn pages(&self) -> &Arc<Pages> {
        &self.pages
    }
}
