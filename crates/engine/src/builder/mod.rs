//! The parts of an engine: the addresses it listens on, the hosts it connects to, where it keeps
//! messages.

mod binding;
mod starting;
pub(crate) mod trial;

use core::fmt;
use core::net::SocketAddr;
use core::time::Duration;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use fixbolt_journal::{DirectoryStore, MemoryStore};
use fixbolt_session::store::Store;
use fixbolt_session::{BeforeSend, SessionId, WireObserver};

use crate::acceptance::{Acceptance, AcceptanceTemplate};
use crate::engine::Engine;
use crate::identity_template::IdentityTemplate;
use crate::initiation::Initiation;
use crate::limits::{Limits, OUTBOUND_BUDGET, OUTBOUND_QUEUE_SIZE};
use crate::network::Network;
use crate::preparation;
use crate::tls::Tls;
use crate::waiting::{Waiting, WorkerOptions};

/// The largest budget for messages from other threads, in bytes.
const MAX_OUTBOUND_BUDGET: usize = 16 * 1024 * 1024 * 1024;

/// Builds an engine: [`Engine::builder`] returns one without sessions, [`Engine::from_config`] one
/// with what a file says.
///
/// First come the sessions: [`accept`](Self::accept) those that counterparties connect to,
/// [`accept_any`](Self::accept_any) those that are made when a counterparty logs on, and
/// [`connect`](Self::connect) those that connect. Then it is said where their messages are kept
/// ([`journal`](Self::journal); in memory without it), and, where the defaults do not suit, how
/// many threads work ([`start_with`](Self::start_with)), how they wait
/// ([`worker_waiting`](Self::worker_waiting)), and what strangers may take.
/// [`start`](Self::start) checks all of it: the engine runs, or an error says why it does not.
///
/// ```
/// use fixbolt::session::{Application, Delivery, Failure, Role, SessionSettings, Turn};
/// use fixbolt::{Engine, Initiation};
///
/// struct Gateway;
///
/// impl Application for Gateway {
///     fn on_message(
///         &mut self,
///         _: fixbolt::codec::Message<'_>,
///         _: &mut Turn<'_>,
///     ) -> Result<Delivery, Failure> {
///         Ok(Delivery::Done)
///     }
/// }
///
/// let client = SessionSettings::new("FIX.4.4:GATE->CLIENT".parse()?, Role::Acceptor);
/// let venue = SessionSettings::new("FIX.4.2:GATE->VENUE".parse()?, Role::Initiator);
/// let engine = Engine::builder()
///     .accept("127.0.0.1:0".parse()?, client)
///     .connect(Initiation::new(venue, "localhost", 9))
///     .start_with(2, |_worker| Gateway)?;
/// assert_eq!(engine.stop()?.len(), 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct EngineBuilder {
    acceptances: Vec<(SocketAddr, Acceptance)>,
    templates: Vec<(SocketAddr, AcceptanceTemplate)>,
    /// TLS of addresses, for sessions that say nothing about it.
    tls: Vec<(SocketAddr, Tls)>,
    /// The proxies of addresses, for sessions that name none.
    proxies: Vec<(SocketAddr, Vec<Network>)>,
    initiations: Vec<Initiation>,
    observer: Option<Arc<dyn WireObserver>>,
    before_send: Option<Arc<dyn BeforeSend>>,
    message_log: Option<PathBuf>,
    store: Stores,
    together: Vec<Vec<SessionId>>,
    /// The sessions that have a worker of their own.
    dedicated: Vec<(SessionId, WorkerOptions)>,
    outbound_queue_size: usize,
    outbound_queue_budget: usize,
    limits: Limits,
    keep_going: bool,
    /// The number of workers that a configuration asks for.
    workers: Option<usize>,
    /// Whether what is doubtful about workers and keys was told already.
    are_doubts_told: bool,
    waiting: Waiting,
    /// The core of each worker; empty if the system chooses.
    cores: Vec<usize>,
    lock_memory: bool,
    /// Whether sessions are warmed up, and how long after the last time again.
    warm_up: Option<Option<Duration>>,
}

impl fmt::Debug for EngineBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EngineBuilder")
            .field("acceptances", &self.acceptances)
            .field("initiations", &self.initiations)
            .field("message_log", &self.message_log)
            .field("limits", &self.limits)
            .field("outbound_queue_size", &self.outbound_queue_size)
            .field("outbound_queue_budget", &self.outbound_queue_budget)
            .field("keep_going", &self.keep_going)
            .field("workers", &self.workers)
            .field("waiting", &self.waiting)
            .field("cores", &self.cores)
            .field("dedicated", &self.dedicated)
            .field("lock_memory", &self.lock_memory)
            .field("warm_up", &self.warm_up)
            .finish_non_exhaustive()
    }
}

impl EngineBuilder {
    pub(crate) fn new() -> Self {
        Self {
            acceptances: Vec::new(),
            templates: Vec::new(),
            tls: Vec::new(),
            proxies: Vec::new(),
            initiations: Vec::new(),
            observer: None,
            before_send: None,
            message_log: None,
            store: Stores::Memory,
            together: Vec::new(),
            dedicated: Vec::new(),
            outbound_queue_size: OUTBOUND_QUEUE_SIZE,
            outbound_queue_budget: OUTBOUND_BUDGET,
            limits: Limits::default(),
            keep_going: false,
            workers: None,
            are_doubts_told: false,
            waiting: Waiting::default(),
            cores: Vec::new(),
            lock_memory: false,
            warm_up: None,
        }
    }

    /// Listens on `address` for the counterparty of a session. Several sessions may share an
    /// address.
    #[must_use]
    pub fn accept(mut self, address: SocketAddr, session: impl Into<Acceptance>) -> Self {
        self.acceptances.push((address, session.into()));
        self
    }

    /// Listens on `address` for any counterparty.
    ///
    /// `settings` is called with the identity that a Logon names (seen from our side) and refuses
    /// it by returning `None`. Sessions that were added by name take precedence.
    ///
    /// SubIDs and LocationIDs of the Logon are not part of the identity: they may name a trader,
    /// and differ from one Logon to the next. With [`EngineBuilder::accept_any_with_sub_ids`] they
    /// are.
    ///
    /// A session opened this way is dynamic: it is closed when it has had no connection for
    /// [`EngineBuilder::dynamic_session_idle_time`], at once if its first Logon is refused, and
    /// earlier if [`EngineBuilder::max_dynamic_sessions`] is reached and another counterparty
    /// logs on. Its handles are refused then ([`OperationError::NoSession`]). A journal stays on
    /// disk, and its sequence numbers continue with the next logon. Of sessions that are kept in
    /// memory, messages would be lost: they are closed only if the limit is reached, or if they
    /// reset their sequence numbers at each logon anyway. A session that is halted, or that an
    /// operator has disabled, stays open.
    ///
    /// The journal of a dynamic session is created with the first message that is stored: its Logon
    /// if that is accepted, or the Logout that refuses it with a text, which uses a sequence
    /// number. A Logon that is refused silently leaves no journal.
    ///
    /// [`OperationError::NoSession`]: crate::OperationError::NoSession
    #[must_use]
    pub fn accept_any(
        mut self,
        address: SocketAddr,
        settings: impl FnMut(&SessionId) -> Option<Acceptance> + Send + 'static,
    ) -> Self {
        self.templates.push((address, template(IdentityTemplate::default(), settings)));
        self
    }

    /// Listens on `address` for any counterparty, with the SubIDs and LocationIDs of the Logon (50,
    /// 142 and 57, 143) in the identity: Logons that differ in one of them are for different
    /// sessions, each with a journal of its own. `settings` is called, and its sessions are
    /// dynamic, as with [`EngineBuilder::accept_any`].
    ///
    /// A counterparty chooses them: `settings` says which ones there are, or how many sessions a
    /// counterparty can begin is only limited as for [`EngineBuilder::accept_any`].
    #[must_use]
    pub fn accept_any_with_sub_ids(
        mut self,
        address: SocketAddr,
        settings: impl FnMut(&SessionId) -> Option<Acceptance> + Send + 'static,
    ) -> Self {
        self.templates.push((address, template(IdentityTemplate::with_sub_ids(), settings)));
        self
    }

    /// Listens on `address` for Logons with these identities. Each identity gets a session like
    /// `session`, whose TLS and proxies are those of the address; connections that it does not
    /// allow are closed before their Logon is read.
    pub(crate) fn accept_any_from(
        mut self,
        address: SocketAddr,
        identity: IdentityTemplate,
        session: Acceptance,
    ) -> Self {
        let Acceptance { allowed_remote_addresses, tls, proxy_protocol_from, .. } = session.clone();
        let mut template = template(identity, move |id| {
            let mut session = session.clone();
            session.settings.id = id.clone();
            Some(session)
        });
        (template.allowed, template.tls, template.proxies) =
            (allowed_remote_addresses, tls, proxy_protocol_from);
        self.templates.push((address, template));
        self
    }

    /// Encrypts the connections to `address`, those of [`EngineBuilder::accept_any`] too, for
    /// sessions whose [`Acceptance::tls`] says nothing else. All sessions of an address have TLS,
    /// or none has: the start fails if they do not agree, and if no session is accepted there.
    /// A session that is added later ([`Engine::accept`]) names its TLS itself.
    ///
    /// ```no_run
    /// use fixbolt::Engine;
    /// use fixbolt::tls::{Authorities, ClientCertificates, OwnCertificate, Tls};
    ///
    /// let mut tls = Tls::fixs();
    /// tls.certificate = Some(OwnCertificate::new("venue.pem", "venue.key"));
    /// tls.client_certificates = ClientCertificates::Required;
    /// tls.authorities = Authorities::File("clients.pem".into());
    /// let builder = Engine::builder().tls("0.0.0.0:9880".parse()?, tls);
    /// # drop(builder);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn tls(mut self, address: SocketAddr, tls: Tls) -> Self {
        self.tls.push((address, tls));
        self
    }

    /// Expects a PROXY header (version 1 or 2) at the beginning of the connections to `address`
    /// that come from these proxies, those of [`EngineBuilder::accept_any`] too, for sessions whose
    /// [`Acceptance::proxy_protocol_from`] names none.
    ///
    /// The counterparty that the header names counts as the connection's address from then on: for
    /// [`Acceptance::allowed_remote_addresses`], for limits, and in the log. A header of the
    /// proxy's own connections (LOCAL, UNKNOWN) leaves it the proxy's. A connection from a proxy
    /// without a header is closed, and so is one from elsewhere with a header. The start fails if
    /// no session is accepted at the address. The header may have 107 bytes in version 1, 4,096 in
    /// version 2, and comes before the handshake of TLS.
    ///
    /// Whoever may connect from a proxy's address can name any counterparty: name the proxies
    /// alone, not the network that they share with others.
    ///
    /// ```
    /// use fixbolt::{Engine, Network};
    ///
    /// let proxies: [Network; 2] = ["10.0.0.5".parse()?, "10.1.0.0/28".parse()?];
    /// let builder = Engine::builder().proxy_protocol_from("0.0.0.0:9880".parse()?, proxies);
    /// # drop(builder);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn proxy_protocol_from(
        mut self,
        address: SocketAddr,
        proxies: impl IntoIterator<Item = Network>,
    ) -> Self {
        self.proxies.push((address, proxies.into_iter().collect()));
        self
    }

    /// Connects for a session, and reconnects whenever the connection has ended.
    #[must_use]
    pub fn connect(mut self, session: Initiation) -> Self {
        self.initiations.push(session);
        self
    }

    /// Keeps each session's journal in a directory of its own below `base`.
    ///
    /// Without this, messages are kept in memory and sequence numbers begin at 1 when the process
    /// starts.
    #[must_use]
    pub fn journal(self, base: impl AsRef<Path>) -> Self {
        let base: PathBuf = base.as_ref().to_owned();
        self.stores(move |_| Box::new(DirectoryStore::new(base.clone())))
    }

    /// Keeps messages in `store`, which serves one worker.
    #[must_use]
    pub fn store(mut self, store: Box<dyn Store>) -> Self {
        self.store = Stores::One(Some(store));
        self
    }

    /// Keeps messages in the store that `make` returns for each worker; its argument is the
    /// worker's index, from 0.
    #[must_use]
    pub fn stores(mut self, make: impl FnMut(usize) -> Box<dyn Store> + 'static) -> Self {
        self.store = Stores::Each(Box::new(make));
        self
    }

    /// Shows every message of every session to `observer`, as received and as sent, for message
    /// logs and the like.
    #[must_use]
    pub fn observe(mut self, observer: Arc<dyn WireObserver>) -> Self {
        self.observer = Some(observer);
        self
    }

    /// Shows every new message of every session to `hook` before it is sent: it may add fields,
    /// change them, or refuse the message ([`BeforeSend`]).
    ///
    /// ```
    /// use std::sync::atomic::{AtomicU64, Ordering};
    ///
    /// use fixbolt::codec::Key;
    /// use fixbolt::session::Outgoing;
    ///
    /// let orders = AtomicU64::new(0);
    /// let builder = fixbolt::Engine::builder().before_send(move |message: &mut Outgoing<'_, '_>| {
    ///     if message.msg_type() != b"D" {
    ///         return Ok(());
    ///     }
    ///     if message.get(1).is_none() {
    ///         message.set(Key::new(1), b"DESK7");
    ///     }
    ///     let count = orders.fetch_add(1, Ordering::Relaxed);
    ///     if count < 10_000 { Ok(()) } else { Err("the day's orders are used up") }
    /// });
    /// # let _ = builder;
    /// ```
    #[must_use]
    pub fn before_send(mut self, hook: impl BeforeSend + 'static) -> Self {
        self.before_send = Some(Arc::new(hook));
        self
    }

    /// Writes every message of every session to a [`MessageLog`](crate::MessageLog) in `directory`,
    /// beside showing it to an observer. A directory that cannot be written to stops the start.
    #[must_use]
    pub fn message_log(mut self, directory: impl AsRef<Path>) -> Self {
        self.message_log = Some(directory.as_ref().to_owned());
        self
    }

    /// Sets how many bytes of messages from other threads may wait for each session, 1 MiB by
    /// default.
    ///
    /// There is always room for one message of MaxMessageSize, and never for more than the budget
    /// of all sessions. A message takes the bytes of its body and up to 39 more. Messages beyond
    /// the limit are refused with [`PostError::Full`](crate::PostError::Full).
    ///
    /// As many bytes may wait in each session for a throttle
    /// ([`OutboundThrottle::Wait`](crate::session::OutboundThrottle::Wait)).
    #[must_use]
    pub const fn outbound_queue_size(mut self, bytes: usize) -> Self {
        self.outbound_queue_size = bytes;
        self
    }

    /// Sets how many bytes of messages from other threads may wait for all sessions together, 32
    /// MiB by default, 16 GiB at most; a larger value counts as 16 GiB.
    ///
    /// The memory is allocated in pieces of 8 KiB when messages first need it. A session never
    /// takes more of it than it leaves to the others, so one whose counterparty does not read does
    /// not keep others from sending. A body must fit into half of the budget; a larger one is
    /// refused with [`PostError::TooLarge`](crate::PostError::TooLarge).
    #[must_use]
    pub const fn outbound_queue_budget(mut self, bytes: usize) -> Self {
        self.outbound_queue_budget = if bytes < MAX_OUTBOUND_BUDGET { bytes } else { MAX_OUTBOUND_BUDGET };
        self
    }

    /// Sets how many connections may be open that have not logged on, 256 by default, for each
    /// worker.
    ///
    /// A further one is accepted all the same, and another one gives way to it: of the address that
    /// has most of them, the one that has sent nothing for longest. So connections that only wait
    /// keep no counterparty from logging on. Besides, about 64 may be on their way from one worker
    /// to another that is busy; the others wait where they were accepted.
    #[must_use]
    pub const fn max_pending_connections(mut self, limit: usize) -> Self {
        self.limits.connections.pending = limit;
        self
    }

    /// Sets how many connections of one address may be open that have not logged on or belong to
    /// sessions of [`EngineBuilder::accept_any`], 64 by default, for each worker. Connections of
    /// other sessions do not count. The addresses of an IPv6 network (64 bits) count as one.
    ///
    /// A further one is accepted all the same, and another one of the address that has not logged
    /// on gives way to it. If all of them have logged on, it may only ask for a session that does
    /// not count.
    #[must_use]
    pub const fn max_connections_per_address(mut self, limit: usize) -> Self {
        self.limits.connections.per_address = limit;
        self
    }

    /// Sets how long a connection may take to send its complete Logon, 10 s by default.
    #[must_use]
    pub const fn pending_time(mut self, limit: Duration) -> Self {
        self.limits.pending_time = limit;
        self
    }

    /// Sets how many sessions there may be, including those opened by
    /// [`EngineBuilder::accept_any`], 4,096 by default.
    #[must_use]
    pub const fn max_sessions(mut self, limit: usize) -> Self {
        self.limits.sessions.all = limit;
        self
    }

    /// Sets how many sessions of [`EngineBuilder::accept_any`] may be logged on or idle, 256 by
    /// default.
    ///
    /// If there are as many, the one that has been idle for longest is closed when another
    /// counterparty logs on. If none is idle, further counterparties are refused. An engine with
    /// several workers closes only idle sessions of the worker that accepts the counterparty.
    #[must_use]
    pub const fn max_dynamic_sessions(mut self, limit: usize) -> Self {
        self.limits.sessions.dynamic = limit;
        self
    }

    /// Sets how long a session of [`EngineBuilder::accept_any`] stays open after its connection has
    /// ended, a minute by default.
    #[must_use]
    pub const fn dynamic_session_idle_time(mut self, limit: Duration) -> Self {
        self.limits.dynamic_idle_time = limit;
        self
    }

    /// Sets whether sessions that cannot be opened are left out, instead of stopping the start:
    /// their port is in use, or another process holds their journal. Each is logged as an error of
    /// its own (`tracing`). Off by default.
    #[must_use]
    pub const fn continue_initialization_on_error(mut self, keep_going: bool) -> Self {
        self.keep_going = keep_going;
        self
    }

    /// Remembers the number of workers that a configuration asks for, to check the start against.
    pub(crate) const fn configured_workers(mut self, workers: Option<usize>) -> Self {
        self.workers = workers;
        self
    }

    /// Leaves out what is doubtful about workers and private keys, if that was told already.
    pub(crate) const fn doubts_told(mut self, are_told: bool) -> Self {
        self.are_doubts_told = are_told;
        self
    }

    /// Sets how the workers wait, [`Waiting::Blocking`] by default.
    #[must_use]
    pub const fn worker_waiting(mut self, waiting: Waiting) -> Self {
        self.waiting = waiting;
        self
    }

    /// Pins the workers to these cores, which are counted from 0: the first worker to the first
    /// one, and so on, one for each worker. Without this, or with none, the system chooses. A core
    /// that is not there, or that the process's control group excludes, stops the start; one that
    /// only its `taskset` excludes is used.
    ///
    /// Threads that the application starts in its callbacks run on their worker's core too, unless
    /// they choose others. Those of the engine and of its journals do not. Linux only.
    #[must_use]
    pub fn worker_cores(mut self, cores: impl IntoIterator<Item = usize>) -> Self {
        self.cores = cores.into_iter().collect();
        self
    }

    /// Sets whether the memory of the process is locked, so that the system does not page it out,
    /// and made ready before it is needed. Off by default.
    ///
    /// The start locks what the process has (`mlockall`), which reads it all in; what it allocates
    /// later is locked as it is used. What the engine allocates for a session is touched at once:
    /// the stack of its worker, its outbox, 8 KiB of its outbound queue, and the receive buffer of
    /// its connection. Journals make their next pages ready by themselves, and of their segments
    /// only what was used is locked.
    ///
    /// The memory stays locked until the process ends. If the system refuses, the engine does not
    /// start: the process needs CAP_IPC_LOCK or an unlimited RLIMIT_MEMLOCK, since with a limit
    /// later allocations could fail. Linux only.
    #[must_use]
    pub const fn lock_memory(mut self, lock: bool) -> Self {
        self.lock_memory = lock;
        self
    }

    /// Sets whether each session writes an order and takes it back when a connection of it begins,
    /// before its Logon: code and memory of the way to the socket, and the next page of the
    /// journal, are in the caches then. Off by default.
    ///
    /// It leaves no trace: no sequence number is used, no record is committed, nothing is sent, and
    /// neither the application nor an observer sees it.
    #[must_use]
    pub const fn warm_up(mut self, warm_up: bool) -> Self {
        self.warm_up = if warm_up { Some(None) } else { None };
        self
    }

    /// Makes each session write an order and take it back when a connection of it begins, as with
    /// [`EngineBuilder::warm_up`], and again every `interval` while it is logged on: of each
    /// worker's sessions at most 16 at a time, in turn.
    ///
    /// It is for sessions that are idle for long and whose next message must not find cold caches,
    /// on workers that spin: one that blocks needs longer to wake up than this gains. A message
    /// that arrives meanwhile waits for it, some tens of microseconds if the caches are cold. With
    /// a journal the next page is written to disk again and again.
    #[must_use]
    pub const fn warm_up_interval(mut self, interval: Duration) -> Self {
        self.warm_up = Some(Some(interval));
        self
    }

    /// Makes these sessions belong to one worker, so that a callback of one can write to the others
    /// in its turn.
    ///
    /// Only needed with several workers ([`EngineBuilder::start_with`]).
    #[must_use]
    pub fn together(mut self, sessions: impl IntoIterator<Item = SessionId>) -> Self {
        self.together.push(sessions.into_iter().collect());
        self
    }

    /// Gives a session a worker of its own, beside the shared ones: a thread that does nothing
    /// else, so that no other session delays it.
    ///
    /// Sessions that [`EngineBuilder::together`] names with it belong to the same worker. Dedicated
    /// workers are numbered after the shared ones, in the order in which they are named, and each
    /// has an application and a store of its own. Start such an engine with
    /// [`EngineBuilder::start_with`].
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// use fixbolt::session::{Role, SessionSettings};
    /// use fixbolt::{Engine, Waiting, WorkerOptions};
    /// # struct Venue;
    /// # impl fixbolt::session::Application for Venue {
    /// #     fn on_message(
    /// #         &mut self,
    /// #         _: fixbolt::codec::Message<'_>,
    /// #         _: &mut fixbolt::session::Turn<'_>,
    /// #     ) -> Result<fixbolt::session::Delivery, fixbolt::session::Failure> {
    /// #         Ok(fixbolt::session::Delivery::Done)
    /// #     }
    /// # }
    ///
    /// let maker = SessionSettings::new("FIX.4.4:VENUE->MAKER".parse()?, Role::Acceptor);
    /// let taker = SessionSettings::new("FIX.4.4:VENUE->TAKER".parse()?, Role::Acceptor);
    /// let mut worker = WorkerOptions::default();
    /// worker.waiting = Waiting::SpinningFor(Duration::from_micros(50));
    /// let address = "127.0.0.1:0".parse()?;
    /// let engine = Engine::builder()
    ///     .accept(address, maker.clone())
    ///     .accept(address, taker)
    ///     .dedicated_worker(maker.id, worker)
    ///     .start_with(1, |_worker| Venue)?;
    /// // One shared worker, and the dedicated one.
    /// assert_eq!(engine.stop()?.len(), 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn dedicated_worker(mut self, session: SessionId, worker: WorkerOptions) -> Self {
        self.dedicated.push((session, worker));
        self
    }
}

/// Returns the template of sessions that `settings` returns, and that are checked.
fn template(
    identity: IdentityTemplate,
    mut settings: impl FnMut(&SessionId) -> Option<Acceptance> + Send + 'static,
) -> AcceptanceTemplate {
    AcceptanceTemplate::new(identity, move |id| {
        let mut acceptance = settings(id)?;
        let checked = preparation::prepare_acceptance(&mut acceptance);
        checked
            .map_err(|error| tracing::warn!(error = %format_args!("{error:#}"), "a Logon was refused"))
            .ok()
            .map(|()| acceptance)
    })
}

/// Where messages are kept.
enum Stores {
    /// In memory.
    Memory,
    /// In this store, which serves one worker.
    One(Option<Box<dyn Store>>),
    /// In a store made for each worker.
    Each(Box<dyn FnMut(usize) -> Box<dyn Store>>),
}

impl Stores {
    /// Returns the store of a worker; called once for each.
    fn take(&mut self, worker: usize) -> Box<dyn Store> {
        let store = match self {
            Self::Memory => None,
            Self::One(store) => store.take(),
            Self::Each(make) => Some(make(worker)),
        };
        store.unwrap_or_else(|| Box::new(MemoryStore::new()))
    }
}

impl Engine<()> {
    /// Returns the builder of an engine without sessions.
    ///
    /// [`Engine::from_config`] returns that of a configuration file.
    #[must_use]
    pub fn builder() -> EngineBuilder {
        EngineBuilder::new()
    }
}
