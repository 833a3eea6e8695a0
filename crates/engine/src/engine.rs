//! A running engine, as other threads see it: its addresses, its sessions, how to stop it.

use core::fmt;
use core::net::SocketAddr;
use core::time::Duration;
use std::io;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Instant;

use fixbolt_session::store::StoreError;
use fixbolt_session::{Application, SessionId};

use crate::acceptance::Acceptance;
use crate::certificates::Certificates;
use crate::command::Command;
use crate::distribution::least;
use crate::error::EngineError;
use crate::initiation::Initiation;
use crate::preparation::wrong_tls;
use crate::running_threads::RunningThreads;
use crate::semaphore::{Permit, Semaphore};
use crate::session_handle::SessionHandle;
use crate::session_registry::SessionRegistry;
use crate::shutdown_signals;
use crate::stopper::Stopper;
use crate::team::Team;
use crate::unanswered::Unanswered;
use crate::waiting::pin_to;
use crate::worker::Worker;
use crate::worker_signal::{WorkerSignal, on_worker_thread};

/// A running engine: sessions on one or more worker threads.
///
/// The engine accepts connections, connects and reconnects, reads and writes, and keeps the time.
///
/// Dropping the engine stops it as [`Engine::stop`] does and waits for its threads: at most for the
/// longest LogoutTimeout of its sessions plus six seconds, unless a callback of the application or
/// a store keeps a thread busy for longer. In a callback it does not wait.
///
/// ```
/// use fixbolt::Engine;
/// use fixbolt::codec::Message;
/// use fixbolt::session::{Application, Delivery, Failure, Role, SessionSettings, Turn};
///
/// #[derive(Default)]
/// struct Venue {
///     messages: u64,
/// }
///
/// impl Application for Venue {
///     fn on_message(&mut self, _: Message<'_>, _: &mut Turn<'_>) -> Result<Delivery, Failure> {
///         self.messages += 1;
///         Ok(Delivery::Done)
///     }
/// }
///
/// let session = SessionSettings::new("FIX.4.4:VENUE->TRADER".parse()?, Role::Acceptor);
/// let id = session.id.clone();
/// // With port 0 the system chooses one.
/// let engine = Engine::builder().accept("127.0.0.1:0".parse()?, session).start(Venue::default())?;
/// assert_ne!(engine.addresses()[0].port(), 0);
/// assert!(engine.session(&id).is_some());
/// // One worker, one application.
/// let applications = engine.stop()?;
/// assert_eq!(applications[0].messages, 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Engine<A> {
    threads: Vec<JoinHandle<Ended<A>>>,
    running: Arc<RunningThreads>,
    team: Arc<Team>,
    registry: Arc<SessionRegistry>,
    /// Acquired for a session that is added, and kept until it is open, whether or not its caller
    /// still waits: an address is bound once, and the workers get as many sessions each.
    adding: Arc<Semaphore>,
}

/// What a worker returns: its application, and the result of closing the stores.
type Ended<A> = (A, Result<(), StoreError>);

impl<A: Application + Send + 'static> Engine<A> {
    /// Moves workers and applications to threads of their own, each on this core if there is one.
    pub(crate) fn spawn(
        workers: Vec<(Worker, A)>,
        cores: Vec<Option<usize>>,
        team: Arc<Team>,
        registry: Arc<SessionRegistry>,
    ) -> io::Result<Self> {
        let threads = Vec::with_capacity(workers.len());
        let mut engine = Self { threads, running: Arc::default(), team, registry, adding: Arc::default() };
        for (n, ((worker, app), core)) in workers.into_iter().zip(cores).enumerate() {
            let running = engine.running.add();
            let thread = std::thread::Builder::new().name(format!("fixbolt-{n}")).spawn(move || {
                let _running = running;
                if let Some(core) = core
                    && let Err(error) = pin_to(core)
                {
                    tracing::error!(%error, core, "a worker could not be pinned to its core");
                }
                worker.run(app)
            })?;
            engine.threads.push(thread);
        }
        Ok(engine)
    }
}

impl<A> Engine<A> {
    /// Returns the addresses on which the engine listens, in the order in which they were first
    /// named. Where port 0 was requested, the address has the port that the system chose.
    #[must_use]
    pub fn addresses(&self) -> Vec<SocketAddr> {
        self.registry.ports().addresses()
    }

    /// Returns a handle of a session; `None` if there is no such session (yet).
    #[must_use]
    pub fn session(&self, session: &SessionId) -> Option<SessionHandle> {
        self.registry.link(session).map(SessionHandle::new)
    }

    /// Returns a handle of each open session, of dynamic ones too
    /// ([`EngineBuilder::accept_any`](crate::EngineBuilder::accept_any)), in the order of their
    /// identities.
    #[must_use]
    pub fn sessions(&self) -> Vec<SessionHandle> {
        self.registry.links().into_iter().map(SessionHandle::new).collect()
    }

    /// Adds a session that counterparties connect to at `address`, and opens its journal. Waits
    /// until it is open, for at most `limit`.
    ///
    /// The engine listens on the address if it does not yet. The session belongs to the worker that
    /// has the fewest, dedicated ones left out.
    ///
    /// # Errors
    /// [`EngineError::Settings`] if the session's settings are wrong, [`EngineError::Open`] if it
    /// is open already or one too many, [`EngineError::Listen`] if the engine cannot listen on the
    /// address, [`EngineError::Store`] if the journal cannot be used, [`EngineError::Withdrawn`]
    /// and [`EngineError::TimedOut`] after `limit`, [`EngineError::Stopped`], and
    /// [`EngineError::OwnThread`] in a callback.
    pub fn accept(
        &self,
        address: SocketAddr,
        session: impl Into<Acceptance>,
        limit: Duration,
    ) -> Result<SessionHandle, EngineError> {
        let begun = Instant::now();
        let acceptance: Box<Acceptance> = Box::new(session.into());
        let id = acceptance.settings.id.clone();
        if on_worker_thread() {
            return Err(EngineError::OwnThread);
        }
        // Loaded here, so that no worker waits for a file.
        let _loaded = acceptance
            .tls
            .as_ref()
            .map(|tls| self.registry.tls().of_port(tls))
            .transpose()
            .map_err(|faults| wrong_tls(&id, &faults))?;
        let adding = self.begin_adding(begun, limit)?;
        let binding = self.registry.ports().bind(address)?;
        let limit = limit.saturating_sub(begun.elapsed());
        self.next_worker().ask(limit, |answer| Command::Accept { binding, acceptance, adding, answer })??;
        self.session(&id).ok_or(EngineError::Stopped)
    }

    /// Adds a session that connects, and opens its journal. Waits until it is open, for at most
    /// `limit`; it connects afterwards. It belongs to the worker that has the fewest, dedicated
    /// ones left out.
    ///
    /// # Errors
    /// [`EngineError::Settings`] if the session's settings are wrong, [`EngineError::Open`] if it
    /// is open already or one too many, [`EngineError::Store`] if the journal cannot be used,
    /// [`EngineError::Withdrawn`] and [`EngineError::TimedOut`] after `limit`,
    /// [`EngineError::Stopped`], and [`EngineError::OwnThread`] in a callback.
    pub fn connect(&self, session: Initiation, limit: Duration) -> Result<SessionHandle, EngineError> {
        let begun = Instant::now();
        if on_worker_thread() {
            return Err(EngineError::OwnThread);
        }
        let id = session.settings.id.clone();
        let _loaded = session
            .tls
            .as_ref()
            .map(|tls| self.registry.tls().of_initiator(tls, id.target_comp_id()))
            .transpose()
            .map_err(|faults| wrong_tls(&id, &faults))?;
        let initiation = Box::new(session);
        let adding = self.begin_adding(begun, limit)?;
        let limit = limit.saturating_sub(begun.elapsed());
        self.next_worker().ask(limit, |answer| Command::Connect { initiation, adding, answer })??;
        self.session(&id).ok_or(EngineError::Stopped)
    }

    /// Waits until no other session is being added.
    fn begin_adding(&self, begun: Instant, limit: Duration) -> Result<Permit, Unanswered> {
        self.adding.acquire(limit.saturating_sub(begun.elapsed())).ok_or(Unanswered::Withdrawn)
    }

    /// Returns the living shared worker with the fewest sessions.
    fn next_worker(&self) -> &WorkerSignal {
        let mut counts = self.registry.counts(self.team.shared());
        for (count, worker) in counts.iter_mut().zip(self.team.workers()) {
            if worker.is_stopped() {
                *count = usize::MAX;
            }
        }
        &self.team.workers()[least(&counts)]
    }

    /// Returns the certificates in use, which can be loaded again.
    ///
    /// ```
    /// # struct Trader;
    /// # impl fixbolt::session::Application for Trader {
    /// #     fn on_message(
    /// #         &mut self,
    /// #         _: fixbolt::codec::Message<'_>,
    /// #         _: &mut fixbolt::session::Turn<'_>,
    /// #     ) -> Result<fixbolt::session::Delivery, fixbolt::session::Failure> {
    /// #         Ok(fixbolt::session::Delivery::Done)
    /// #     }
    /// # }
    /// # let settings = fixbolt::session::SessionSettings::new(
    /// #     "FIX.4.4:TRADER->VENUE".parse()?,
    /// #     fixbolt::session::Role::Initiator,
    /// # );
    /// # let session = fixbolt::Initiation::new(settings, "localhost", 9);
    /// let engine = fixbolt::Engine::builder().connect(session).start(Trader)?;
    /// engine.certificates().reload()?;
    /// engine.stop()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn certificates(&self) -> Certificates {
        Certificates::new(Arc::clone(self.registry.tls()))
    }

    /// Returns the number of cycles that each worker's loop has begun. While a worker lives, its
    /// number grows at least once a second.
    #[must_use]
    pub fn cycles(&self) -> Vec<u64> {
        self.team.workers().iter().map(|worker| worker.cycles()).collect()
    }

    /// Returns whether the engine is running: until a [`Stopper`] or a signal has stopped it, it
    /// has logged out, and its journals are closed, or until all its workers have died.
    ///
    /// ```
    /// # struct Trader;
    /// # impl fixbolt::session::Application for Trader {
    /// #     fn on_message(
    /// #         &mut self,
    /// #         _: fixbolt::codec::Message<'_>,
    /// #         _: &mut fixbolt::session::Turn<'_>,
    /// #     ) -> Result<fixbolt::session::Delivery, fixbolt::session::Failure> {
    /// #         Ok(fixbolt::session::Delivery::Done)
    /// #     }
    /// # }
    /// # let settings = fixbolt::session::SessionSettings::new(
    /// #     "FIX.4.4:TRADER->VENUE".parse()?,
    /// #     fixbolt::session::Role::Initiator,
    /// # );
    /// # let session = fixbolt::Initiation::new(settings, "localhost", 9);
    /// use std::time::Duration;
    ///
    /// let engine = fixbolt::Engine::builder().connect(session).start(Trader)?;
    /// assert!(engine.is_running() && !engine.wait_for(Duration::from_millis(1)));
    /// engine.stopper().stop();
    /// assert!(engine.wait_for(Duration::from_secs(60)) && !engine.is_running());
    /// let _applications = engine.wait()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn is_running(&self) -> bool {
        self.running.any()
    }

    /// Waits until the engine has ended, for at most `limit`, and returns whether it has
    /// ([`Engine::is_running`] says when that is). [`Engine::wait`] then returns at once.
    ///
    /// In a callback it does not wait.
    pub fn wait_for(&self, limit: Duration) -> bool {
        let limit = if on_worker_thread() { Duration::ZERO } else { limit };
        self.running.wait_for_none(limit)
    }

    /// Returns a [`Stopper`], which stops the engine from any thread.
    #[must_use]
    pub fn stopper(&self) -> Stopper {
        Stopper::new(Arc::clone(&self.team))
    }

    /// Makes SIGINT and SIGTERM stop the engine as [`Engine::stop`] does. A second signal ends the
    /// process at once, unless it comes within half a second of the first: a program that starts
    /// this one may send each signal both to the process and to its group.
    ///
    /// # Errors
    /// The system's, when the signals cannot be watched.
    pub fn stop_on_signals(&self) -> Result<(), EngineError> {
        shutdown_signals::stop_on_signals(self.stopper())
            .map_err(|error| EngineError::system("watching signals", &error))
    }

    /// Stops the engine and returns each worker's application, in the order of the workers.
    ///
    /// Sends a Logout in every session, waits up to LogoutTimeout for the answers, and closes the
    /// connections and the journals.
    ///
    /// # Errors
    /// [`EngineError::Panicked`] if a worker thread died, [`EngineError::Closing`] if a journal
    /// could not be closed cleanly, [`EngineError::OwnThread`] in a callback: the engine stops then
    /// without being waited for.
    pub fn stop(self) -> Result<Vec<A>, EngineError> {
        self.stopper().stop();
        self.wait()
    }

    /// Waits until a [`Stopper`] or a signal stops the engine, and returns each worker's
    /// application, in the order of the workers.
    ///
    /// # Errors
    /// [`EngineError::Panicked`] if a worker thread died, [`EngineError::Closing`] if a journal
    /// could not be closed cleanly, [`EngineError::OwnThread`] in a callback: the engine is dropped
    /// then, which stops it.
    pub fn wait(mut self) -> Result<Vec<A>, EngineError> {
        if on_worker_thread() {
            return Err(EngineError::OwnThread);
        }
        // All of them are joined, even if the first one failed.
        let ended: Vec<_> = self.threads.drain(..).map(JoinHandle::join).collect();
        let mut apps = Vec::with_capacity(ended.len());
        for ended in ended {
            let (app, closed) = ended.map_err(|_| EngineError::Panicked)?;
            closed.map_err(EngineError::Closing)?;
            apps.push(app);
        }
        Ok(apps)
    }
}

impl<A> fmt::Debug for Engine<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Engine").field("addresses", &self.addresses()).finish_non_exhaustive()
    }
}

impl<A> Drop for Engine<A> {
    fn drop(&mut self) {
        if self.threads.is_empty() {
            return;
        }
        self.stopper().stop();
        // Threads that nobody waits for end by themselves.
        if !on_worker_thread() {
            for thread in self.threads.drain(..) {
                // `stop` would have reported how it ended.
                let _ = thread.join();
            }
        }
    }
}
