//! What an engine is made of: what to listen for, whom to connect to, where messages are kept.

use core::fmt;
use core::net::SocketAddr;
use core::time::Duration;
use std::collections::HashSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use fixbolt_journal::{DirectoryStore, MemoryStore};
use fixbolt_session::store::Store;
use fixbolt_session::{Application, Role, SessionId, SessionSettings, Sessions, WireObserver, WorkerWaker};
use mio::{Poll, Waker};

use crate::acceptance::{Acceptance, AcceptanceTemplate};
use crate::engine::Engine;
use crate::error::EngineError;
use crate::initiation::Initiation;
use crate::limits::Limits;
use crate::session_check;
use crate::session_registry::SessionRegistry;
use crate::tier::choose_tier;
use crate::worker::Worker;
use crate::worker::event_source::EventSource;
use crate::worker::listeners::Listeners;
use crate::worker_signal::WorkerSignal;

/// Bytes of messages from other threads that may wait for each session, unless told otherwise.
const OUTBOUND_QUEUE_SIZE: usize = 1024 * 1024;
/// Bytes of messages from other threads that may wait for all sessions, unless told otherwise.
const OUTBOUND_BUDGET: usize = 32 * 1024 * 1024;
/// The index of an inbound message has room for messages of this size at least, in bytes.
const MIN_INDEXED_SIZE: usize = 64 * 1024;

/// What an engine is made of; [`Engine::builder`] begins one.
pub struct EngineBuilder {
    acceptances: Vec<(SocketAddr, Acceptance)>,
    templates: Vec<(SocketAddr, AcceptanceTemplate)>,
    initiations: Vec<Initiation>,
    store: Option<Box<dyn Store>>,
    observer: Option<Arc<dyn WireObserver>>,
    outbound_queue_size: usize,
    outbound_budget: usize,
    limits: Limits,
    keep_going: bool,
}

impl fmt::Debug for EngineBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EngineBuilder")
            .field("acceptances", &self.acceptances)
            .field("initiations", &self.initiations)
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}

impl EngineBuilder {
    pub(crate) fn new() -> Self {
        Self {
            acceptances: Vec::new(),
            templates: Vec::new(),
            initiations: Vec::new(),
            store: None,
            observer: None,
            outbound_queue_size: OUTBOUND_QUEUE_SIZE,
            outbound_budget: OUTBOUND_BUDGET,
            limits: Limits::default(),
            keep_going: false,
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
        mut settings: impl FnMut(&SessionId) -> Option<Acceptance> + Send + 'static,
    ) -> Self {
        let checked = move |id: &SessionId| {
            let mut acceptance = settings(id)?;
            let checked = prepare_session(&mut acceptance.settings, Role::Acceptor);
            checked.map_err(|error| tracing::warn!(%error, "refused")).ok().map(|()| acceptance)
        };
        self.templates.push((address, AcceptanceTemplate(Box::new(checked))));
        self
    }

    /// Connects for a session, and connects again whenever the connection has ended.
    #[must_use]
    pub fn connect(mut self, session: Initiation) -> Self {
        self.initiations.push(session);
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

    /// Shows every message of every session to `observer`, as it came and as it goes out, for logs of messages and the like.
    #[must_use]
    pub fn observe(mut self, observer: Arc<dyn WireObserver>) -> Self {
        self.observer = Some(observer);
        self
    }

    /// How many bytes of messages from other threads may wait for each session, 1 MiB by default; one message of MaxMessageSize
    /// always has room. A message takes its body's bytes and up to 39 more. [`PostError::Full`](crate::PostError::Full) refuses
    /// what exceeds it.
    #[must_use]
    pub const fn outbound_queue_size(mut self, bytes: usize) -> Self {
        self.outbound_queue_size = bytes;
        self
    }

    /// How many bytes of messages from other threads may wait for all sessions together, 32 MiB by default.
    ///
    /// The memory is allocated in pieces of 8 KiB when messages first need it. A session takes no more of it than it leaves to
    /// the others: one whose counterparty does not read keeps no other one from sending. A body has to fit into half of the
    /// budget; [`PostError::TooLarge`](crate::PostError::TooLarge) refuses a larger one.
    #[must_use]
    pub const fn outbound_budget(mut self, bytes: usize) -> Self {
        self.outbound_budget = bytes;
        self
    }

    /// How many connections may be open that have not logged on, 256 by default. More are closed at once.
    #[must_use]
    pub const fn pending_connections(mut self, limit: usize) -> Self {
        self.limits.pending_connections = limit;
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

    /// Whether sessions that cannot be had are left out, instead of stopping the start: their port
    /// is in use, or another process has their journal. Each is told as an error of its own
    /// (`tracing`). Off by default.
    #[must_use]
    pub const fn keep_going(mut self, keep_going: bool) -> Self {
        self.keep_going = keep_going;
        self
    }

    /// Opens journals and ports and starts the worker thread. The application sees its sessions' journals
    /// (`on_resume`) before this returns.
    ///
    /// # Errors
    /// [`EngineError`], one line that says what and where: a port in use, a journal that another process holds, ...
    pub fn start<A: Application + Send + 'static>(self, mut app: A) -> Result<Engine<A>, EngineError> {
        let Self { mut acceptances, templates, mut initiations, store, observer, limits, keep_going, .. } =
            self;
        let (outbound_queue_size, outbound_budget) = (self.outbound_queue_size, self.outbound_budget);
        if acceptances.is_empty() && templates.is_empty() && initiations.is_empty() {
            return Err(EngineError::NoSessions);
        }
        let had = |result| or_left_out(keep_going, result);
        prepare(&mut acceptances, &mut initiations, keep_going)?;
        choose_tier()?;
        let system = |doing| move |e: io::Error| EngineError::System { doing, reason: e.to_string() };
        let poll = Poll::new().map_err(system("creating the event queue"))?;
        let waker =
            Waker::new(poll.registry(), EventSource::Waker.token()).map_err(system("creating the waker"))?;
        let signal = Arc::new(WorkerSignal::new(waker, limits.sessions.max(1)));
        let registry = Arc::new(SessionRegistry::new(outbound_queue_size, outbound_budget));

        let mut listeners = Listeners::default();
        let mut accepted = Vec::new();
        for (address, acceptance) in acceptances {
            let listener = or_left_out(keep_going, bind(&mut listeners, address, &poll))?;
            accepted.extend(listener.map(|listener| (listener, acceptance)));
        }
        let mut sessions_had = 0;
        for (address, template) in templates {
            if let Some(listener) = or_left_out(keep_going, bind(&mut listeners, address, &poll))? {
                listeners.add_template(listener, template);
                sessions_had += 1;
            }
        }
        let addresses = listeners.addresses();

        let largest = accepted.iter().map(|(_, acceptance)| acceptance.settings.max_message_size);
        let largest = largest.chain(initiations.iter().map(|session| session.settings.max_message_size));
        let store = store.unwrap_or_else(|| Box::new(MemoryStore::new()));
        let mut sessions = Sessions::new(store, largest.fold(MIN_INDEXED_SIZE, usize::max))
            .on_worker(0, Arc::clone(&signal) as Arc<dyn WorkerWaker>);
        if let Some(observer) = observer {
            sessions = sessions.observed_by(observer);
        }
        let mut worker =
            Worker::new(sessions, listeners, poll, Arc::clone(&signal), Arc::clone(&registry), limits);
        for (listener, acceptance) in accepted {
            let id = acceptance.settings.id.clone();
            let opened = worker.accept_for(listener, acceptance, &mut app).map(drop);
            sessions_had += usize::from(had(opened.map_err(|e| EngineError::open(id, e)))?.is_some());
        }
        for initiation in initiations {
            let id = initiation.settings.id.clone();
            let opened = worker.connect_for(initiation, &mut app);
            sessions_had += usize::from(had(opened.map_err(|e| EngineError::open(id, e)))?.is_some());
        }
        if sessions_had == 0 {
            return Err(EngineError::NoSessions);
        }
        Engine::spawn(worker, app, addresses, signal, registry).map_err(system("starting the worker thread"))
    }
}

impl Engine<()> {
    /// Returns the builder of an engine without sessions yet. [`EngineBuilder::from_config`] begins with those of a
    /// configuration file.
    #[must_use]
    pub fn builder() -> EngineBuilder {
        EngineBuilder::new()
    }
}

fn bind(listeners: &mut Listeners, address: SocketAddr, poll: &Poll) -> Result<usize, EngineError> {
    listeners
        .bind(address, poll.registry())
        .map_err(|e| EngineError::Listen { address, reason: e.to_string() })
}

/// What could be had; `None` if it is left out.
fn or_left_out<T>(keep_going: bool, result: Result<T, EngineError>) -> Result<Option<T>, EngineError> {
    match result {
        Ok(had) => Ok(Some(had)),
        Err(error) if keep_going => {
            tracing::error!(%error, "left out");
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

/// Checks every session before anything is opened, and puts the shipped dictionaries in their
/// places.
fn prepare(
    acceptances: &mut Vec<(SocketAddr, Acceptance)>,
    initiations: &mut Vec<Initiation>,
    keep_going: bool,
) -> Result<(), EngineError> {
    let mut known = HashSet::new();
    let mut failed = None;
    let mut keep = |result: Result<(), EngineError>| match or_left_out(keep_going, result) {
        Ok(had) => had.is_some(),
        Err(error) => {
            failed.get_or_insert(error);
            true
        }
    };
    let mut once = |settings: &SessionSettings| match known.insert(settings.id.clone()) {
        true => Ok(()),
        false => Err(wrong(&settings.id, "it is given twice".to_owned())),
    };
    acceptances.retain_mut(|(_, Acceptance { settings, .. })| {
        keep(once(settings).and_then(|()| prepare_session(settings, Role::Acceptor)))
    });
    initiations.retain_mut(|initiation| {
        let hosts = session_check::check_hosts(initiation);
        let settings = &mut initiation.settings;
        keep(
            once(settings)
                .and_then(|()| prepare_session(settings, Role::Initiator))
                .and_then(|()| hosts.map_err(|reason| wrong(&settings.id, reason))),
        )
    });
    failed.map_or(Ok(()), Err)
}

fn prepare_session(settings: &mut SessionSettings, role: Role) -> Result<(), EngineError> {
    if settings.role != role {
        let reason = match role {
            Role::Acceptor => "it is to be accepted, but its role is initiator",
            Role::Initiator => "it is to connect, but its role is acceptor",
        };
        return Err(wrong(&settings.id, reason.to_owned()));
    }
    session_check::prepare(settings).map_err(|reason| wrong(&settings.id, reason))
}

fn wrong(session: &SessionId, reason: String) -> EngineError {
    EngineError::Settings { session: Box::new(session.clone()), reason }
}
