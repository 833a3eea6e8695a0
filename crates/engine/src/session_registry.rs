//! The open sessions, for threads other than the workers. A worker takes its lock only when it
//! opens or closes a session, or accepts connections.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use fixbolt_session::{OpenError, SessionId, SessionKey, SessionSettings, StatusCell};

use crate::handshake_queue::HandshakeQueue;
use crate::limits::SessionLimits;
use crate::outbound_queue::OutboundQueue;
use crate::pages::Pages;
use crate::ports::Ports;
use crate::sync::{Mutex, lock};
use crate::tls::TlsContexts;
use crate::worker_signal::WorkerSignal;

/// The sessions of an engine.
#[derive(Debug)]
pub(crate) struct SessionRegistry {
    /// `None` for a session that is being opened.
    sessions: Mutex<HashMap<SessionId, Option<SessionLink>>>,
    /// The number of dynamic sessions that have logged on.
    dynamic: AtomicUsize,
    limits: SessionLimits,
    ports: Ports,
    tls: Arc<TlsContexts>,
    handshakes: Arc<HandshakeQueue>,
    /// The memory of all outbound queues.
    pages: Arc<Pages>,
    /// The capacity of an outbound queue, in bytes.
    queue_size: usize,
}

/// What a session is that a Logon asks for and its port does not have.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Elsewhere {
    /// A worker is opening it.
    Opening,
    /// It is open, for other connections.
    Open,
}

/// The path to a session and its worker.
#[derive(Clone, Debug)]
pub(crate) struct SessionLink {
    pub(crate) queue: Arc<OutboundQueue>,
    pub(crate) signal: Arc<WorkerSignal>,
}

impl SessionRegistry {
    /// Creates a registry of sessions whose outbound queues hold `queue_size` bytes each and
    /// `budget` bytes together.
    pub(crate) fn new(limits: SessionLimits, queue_size: usize, budget: usize) -> Self {
        let pages = Arc::new(Pages::new(budget));
        let (sessions, dynamic) = (Mutex::new(HashMap::new()), AtomicUsize::new(0));
        let (ports, tls, handshakes) = (Ports::default(), Arc::default(), Arc::default());
        Self { sessions, dynamic, limits, ports, tls, handshakes, pages, queue_size }
    }

    /// Returns the number of sessions, also of those that are being opened.
    pub(crate) fn count(&self) -> usize {
        lock(&self.sessions).len()
    }

    /// Returns whether there are as many sessions as there may be.
    pub(crate) fn is_full(&self) -> bool {
        self.count() >= self.limits.all
    }

    /// Returns whether as many dynamic sessions have logged on as there may be.
    pub(crate) fn is_full_of_dynamic(&self) -> bool {
        self.dynamic.load(Ordering::Relaxed) >= self.limits.dynamic
    }

    /// Counts a dynamic session that has logged on. Returns whether they are more than there may
    /// be: several workers may have had room for one, and then one of their own gives way.
    pub(crate) fn add_dynamic(&self) -> bool {
        self.dynamic.fetch_add(1, Ordering::Relaxed) >= self.limits.dynamic
    }

    /// Stops counting a dynamic session that is closed.
    pub(crate) fn remove_dynamic(&self) {
        self.dynamic.fetch_sub(1, Ordering::Relaxed);
    }

    /// Keeps other workers from opening a session that is about to be opened.
    pub(crate) fn claim(&self, id: &SessionId) -> Result<(), OpenError> {
        let mut sessions = lock(&self.sessions);
        if sessions.contains_key(id) {
            return Err(OpenError::AlreadyOpen);
        }
        if sessions.len() >= self.limits.all {
            return Err(OpenError::TooManySessions { most: self.limits.all });
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
        settings: &SessionSettings,
        signal: Arc<WorkerSignal>,
    ) {
        let (pages, most) = (Arc::clone(&self.pages), settings.limits.max_message_size);
        let secrets = settings.secret_fields();
        let queue = OutboundQueue::new(id.clone(), key, status, most, self.queue_size, pages, secrets);
        let link = SessionLink { queue: Arc::new(queue.timed_by(settings.timing.codec_timing)), signal };
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

    /// Returns the paths to all sessions that are open, in the order of their identities.
    pub(crate) fn links(&self) -> Vec<SessionLink> {
        let mut links: Vec<_> = lock(&self.sessions).values().flatten().cloned().collect();
        links.sort_unstable_by(|one, other| one.queue.id.cmp(&other.queue.id));
        links
    }

    /// Returns whether there is a session with this identity, on whichever worker.
    pub(crate) fn elsewhere(&self, id: &SessionId) -> Option<Elsewhere> {
        match lock(&self.sessions).get(id)? {
            None => Some(Elsewhere::Opening),
            Some(_) => Some(Elsewhere::Open),
        }
    }

    /// Returns how many open sessions each worker has, for `workers` of them.
    pub(crate) fn counts(&self, workers: usize) -> Vec<usize> {
        let mut counts = vec![0; workers];
        for link in lock(&self.sessions).values().flatten() {
            if let Some(count) = counts.get_mut(usize::from(link.queue.session.worker())) {
                *count += 1;
            }
        }
        counts
    }

    /// Returns the TLS of all sessions.
    pub(crate) const fn tls(&self) -> &Arc<TlsContexts> {
        &self.tls
    }

    /// Returns where the steps of handshakes are computed.
    pub(crate) const fn handshakes(&self) -> &Arc<HandshakeQueue> {
        &self.handshakes
    }

    /// Returns the addresses on which the engine listens.
    pub(crate) const fn ports(&self) -> &Ports {
        &self.ports
    }

    /// Returns the memory of all outbound queues.
    pub(crate) const fn pages(&self) -> &Arc<Pages> {
        &self.pages
    }
}
