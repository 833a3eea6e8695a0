//! The open sessions, for threads other than the workers. A worker takes its lock only when it
//! opens or closes a session.

use std::collections::HashMap;
use std::sync::Arc;

use fixbolt_session::{OpenError, SessionId, SessionKey, StatusCell};

use crate::outbound_queue::OutboundQueue;
use crate::pages::Pages;
use crate::sync::{Mutex, lock};
use crate::worker_signal::WorkerSignal;

/// The sessions of an engine.
#[derive(Debug)]
pub(crate) struct SessionRegistry {
    /// `None` for a session that is being opened.
    sessions: Mutex<HashMap<SessionId, Option<SessionLink>>>,
    session_limit: usize,
    /// The memory of all outbound queues.
    pages: Arc<Pages>,
    /// The capacity of an outbound queue, in bytes.
    queue_size: usize,
}

/// The path to a session and its worker.
#[derive(Clone, Debug)]
pub(crate) struct SessionLink {
    pub(crate) queue: Arc<OutboundQueue>,
    pub(crate) signal: Arc<WorkerSignal>,
}

impl SessionRegistry {
    /// Creates a registry of at most `session_limit` sessions, whose outbound queues hold
    /// `queue_size` bytes each and `budget` bytes together.
    pub(crate) fn new(session_limit: usize, queue_size: usize, budget: usize) -> Self {
        let pages = Arc::new(Pages::new(budget));
        Self { sessions: Mutex::new(HashMap::new()), session_limit, pages, queue_size }
    }

    /// Keeps other workers from opening a session that is about to be opened.
    pub(crate) fn claim(&self, id: &SessionId) -> Result<(), OpenError> {
        let mut sessions = lock(&self.sessions);
        if sessions.contains_key(id) {
            return Err(OpenError::AlreadyOpen);
        }
        if sessions.len() >= self.session_limit {
            return Err(OpenError::Setting("the engine has as many sessions as its limit allows"));
        }
        sessions.insert(id.clone(), None);
        Ok(())
    }

    /// Adds a session that was claimed and opened.
    pub(crate) fn add(
        &self,
        id: &SessionId,
        key: SessionKey,
        status: Arc<StatusCell>,
        max_message_size: usize,
        signal: Arc<WorkerSignal>,
    ) {
        let pages = Arc::clone(&self.pages);
        let queue = OutboundQueue::new(id.clone(), key, status, max_message_size, self.queue_size, pages);
        let link = SessionLink { queue: Arc::new(queue), signal };
        lock(&self.sessions).insert(id.clone(), Some(link));
    }

    /// Removes a session that was closed, or could not be opened.
    pub(crate) fn remove(&self, id: &SessionId) {
        lock(&self.sessions).remove(id);
    }

    /// Returns the path to a session that is open.
    pub(crate) fn link(&self, id: &SessionId) -> Option<SessionLink> {
        lock(&self.sessions).get(id)?.clone()
    }

    /// Returns the memory of all outbound queues.
    pub(crate) const fn pages(&self) -> &Arc<Pages> {
        &self.pages
    }
}
