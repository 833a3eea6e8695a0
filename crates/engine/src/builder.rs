//! What an engine is made of: what to listen for, whom to connect to, where messages are kept.

use core::fmt;
use core::net::{IpAddr, SocketAddr};
use core::time::Duration;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use fixbolt_journal::{DirectoryStore, MemoryStore};
use fixbolt_session::store::Store;
use fixbolt_session::{Application, Role, SessionId, SessionSettings, Sessions};
use mio::{Poll, Waker};

use crate::engine::{Directory, Engine};
use crate::error::EngineError;
use crate::lane::Doorbell;
use crate::worker::{Listener, Seat, Template, WAKER, Worker};

/// What an engine is made of; [`Engine::builder`] begins one.
pub struct EngineBuilder {
    acceptances: Vec<(SocketAddr, Acceptance)>,
    templates: Vec<(SocketAddr, Template)>,
    initiators: Vec<Initiation>,
    store: Option<Box<dyn Store>>,
    lane_posts: usize,
    limits: Limits,
}

impl fmt::Debug for EngineBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EngineBuilder")
            .field("acceptances", &self.acceptances)
            .field("initiators", &self.initiators)
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}

/// A session that counterparties connect to.
#[derive(Clone, Debug)]
pub struct Acceptance {
    /// The session; its role is [`Role::Acceptor`].
    pub settings: SessionSettings,
    /// From where it may be connected to; empty for anywhere.
    pub allowed: Vec<IpAddr>,
    /// Small messages leave at once (TCP_NODELAY).
    pub nodelay: bool,
}

impl From<SessionSettings> for Acceptance {
    fn from(settings: SessionSettings) -> Self {
        Self { settings, allowed: Vec::new(), nodelay: true }
    }
}

/// A session that we connect for.
#[derive(Clone, Debug)]
pub struct Initiation {
    /// The session; its role is [`Role::Initiator`].
    pub settings: SessionSettings,
    /// Hosts and ports, tried in this order. Names are looked up anew each time.
    pub hosts: Vec<(String, u16)>,
    /// How long to wait after an ended connection, or after every host was tried in vain.
    pub reconnect_interval: Duration,
    /// How long one attempt to connect may take.
    pub connect_timeout: Duration,
    /// Small messages leave at once (TCP_NODELAY).
    pub nodelay: bool,
}

impl Initiation {
    /// A session with `host` (a name or an address), reconnected after 30 s, with 10 s for each attempt.
    #[must_use]
    pub fn new(settings: SessionSettings, host: &str, port: u16) -> Self {
        Self {
            settings,
            hosts: vec![(host.to_owned(), port)],
            reconnect_interval: Duration::from_secs(30),
            connect_timeout: Duration::from_secs(10),
            nodelay: true,
        }
    }
}

impl EngineBuilder {
    pub(crate) fn new() -> Self {
        Self {
            acceptances: Vec::new(),
            templates: Vec::new(),
            initiators: Vec::new(),
            store: None,
            lane_posts: 1024,
            limits: Limits { pending: 256, pending_time: Duration::from_secs(10), sessions: 4096 },
        }
    }

    /// Listens on `address` for the counterparty of a session. Several sessions may share an address.
    #[must_use]
    pub fn accept(mut self, address: SocketAddr, session: impl Into<Acceptance>) -> Self {
        self.acceptances.push((address, session.into()));
        self
    }

    /// Listens on `address` for any counterparty: `settings` is asked about the identity that a Logon names (seen from our
    /// side) and refuses it with `None`. Sessions accepted by name are looked for first.
    ///
    /// A session opened so stays open, with its journal, until the engine ends, and counts towards
    /// [`EngineBuilder::session_limit`]: where strangers can connect, let in only names that you know.
    #[must_use]
    pub fn accept_any(
        mut self,
        address: SocketAddr,
        settings: impl FnMut(&SessionId) -> Option<Acceptance> + Send + 'static,
    ) -> Self {
        self.templates.push((address, Template(Box::new(settings))));
        self
    }

    /// Connects for a session, and connects again whenever the connection has ended.
    #[must_use]
    pub fn connect(mut self, session: Initiation) -> Self {
        self.initiators.push(session);
        self
    }

    /// Keeps each session's journal in a directory of its own below `base`. Without this, messages are kept in memory and
    /// numbers begin at 1 when the process starts.
    #[must_use]
    pub fn journal(self, base: impl AsRef<Path>) -> Self {
        let base: PathBuf = base.as_ref().to_owned();
        self.store(Box::new(DirectoryStore::new(base)))
    }

    /// Keeps messages in `store`.
    #[must_use]
    pub fn store(mut self, store: Box<dyn Store>) -> Self {
        self.store = Some(store);
        self
    }

    /// How many messages from other threads may wait in each session's lane, 1,024 by default.
    #[must_use]
    pub const fn lane_posts(mut self, posts: usize) -> Self {
        self.lane_posts = if posts == 0 { 1 } else { posts };
        self
    }

    /// How many connections may be open that have not logged on, 256 by default. More are closed at once.
    #[must_use]
    pub const fn pending_connections(mut self, limit: usize) -> Self {
        self.limits.pending = limit;
        self
    }

    /// How long a connection may take to send its complete Logon, 10 s by default.
    #[must_use]
    pub const fn pending_time(mut self, limit: Duration) -> Self {
        self.limits.pending_time = limit;
        self
    }

    /// How many sessions there may be, those opened by [`EngineBuilder::accept_any`] among them, 4,096 by default.
    #[must_use]
    pub const fn session_limit(mut self, limit: usize) -> Self {
        self.limits.sessions = limit;
        self
    }

    /// Opens journals and ports and starts the worker thread. The application sees its sessions' journals
    /// (`on_resume`) before this returns.
    ///
    /// # Errors
    /// [`EngineError`], one line that says what and where: a port in use, a journal that another process holds, ...
    pub fn start<A: Application + Send + 'static>(self, mut app: A) -> Result<Engine<A>, EngineError> {
        let Self { acceptances, templates, initiators, store, lane_posts, limits } = self;
        if acceptances.is_empty() && templates.is_empty() && initiators.is_empty() {
            return Err(EngineError::NoSessions);
        }
        crate::choose_tier()?;
        let system = |doing| move |e: io::Error| EngineError::System { doing, reason: e.to_string() };
        let poll = Poll::new().map_err(system("creating the event queue"))?;
        let waker = Waker::new(poll.registry(), WAKER).map_err(system("creating the waker"))?;
        let doorbell = Arc::new(Doorbell::new(waker, limits.sessions.max(1)));
        let directory = Arc::new(Directory::default());
        let listeners = listen(acceptances, templates, &poll)?;
        let addresses = listeners.bound.iter().map(|listener| listener.address).collect();

        let store = store.unwrap_or_else(|| Box::new(MemoryStore::new()));
        let largest = listeners.sessions.iter().map(|(_, session)| session.settings.max_message_size);
        let largest = largest.chain(initiators.iter().map(|session| session.settings.max_message_size));
        let sessions = Sessions::new(store, largest.fold(64 * 1024, usize::max));
        let mut worker = Worker::new(sessions, poll, Arc::clone(&doorbell), Arc::clone(&directory), limits);
        for (listener, Acceptance { settings, allowed, nodelay }) in listeners.sessions {
            check_role(&settings, Role::Acceptor)?;
            let id = settings.id.clone();
            let seat = Seat::accepting(&settings, listener, allowed, nodelay);
            worker.open(settings, seat, &mut app).map_err(|e| EngineError::open(id, e))?;
        }
        for Initiation { settings, hosts, reconnect_interval, connect_timeout, nodelay } in initiators {
            check_role(&settings, Role::Initiator)?;
            let id = settings.id.clone();
            let seat = Seat::connecting(&settings, nodelay);
            let key = worker.open(settings, seat, &mut app).map_err(|e| EngineError::open(id, e))?;
            worker.initiate(key, hosts, reconnect_interval, connect_timeout);
        }
        worker.listen(listeners.bound);
        Engine::spawn(worker, app, addresses, doorbell, directory, lane_posts)
            .map_err(system("starting the worker thread"))
    }
}

fn check_role(settings: &SessionSettings, role: Role) -> Result<(), EngineError> {
    if settings.role == role {
        return Ok(());
    }
    let reason = match role {
        Role::Acceptor => "it is to be accepted, but its role is initiator",
        Role::Initiator => "it is to connect, but its role is acceptor",
    };
    Err(EngineError::Settings { session: Box::new(settings.id.clone()), reason: reason.to_owned() })
}

/// Listeners, and which of them each accepted session belongs to.
struct Listening {
    bound: Vec<Listener>,
    sessions: Vec<(usize, Acceptance)>,
}

fn listen(
    acceptances: Vec<(SocketAddr, Acceptance)>,
    templates: Vec<(SocketAddr, Template)>,
    poll: &Poll,
) -> Result<Listening, EngineError> {
    let mut asked: Vec<SocketAddr> = Vec::new();
    let mut bound = Vec::new();
    let mut bind = |address: SocketAddr, bound: &mut Vec<Listener>| -> Result<usize, EngineError> {
        if let Some(at) = asked.iter().position(|other| *other == address) {
            return Ok(at);
        }
        let listener = Listener::bind(address, bound.len(), poll.registry())
            .map_err(|e| EngineError::Listen { address, reason: e.to_string() })?;
        asked.push(address);
        bound.push(listener);
        Ok(bound.len() - 1)
    };
    let mut sessions = Vec::new();
    for (address, acceptance) in acceptances {
        sessions.push((bind(address, &mut bound)?, acceptance));
    }
    for (address, template) in templates {
        let at = bind(address, &mut bound)?;
        bound[at].templates.push(template);
    }
    Ok(Listening { bound, sessions })
}

/// The limits that a worker keeps.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    pub(crate) pending: usize,
    pub(crate) pending_time: Duration,
    pub(crate) sessions: usize,
}
