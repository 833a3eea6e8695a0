//! An engine without threads of its own: the caller's loop drives it.

use core::fmt;
use core::net::SocketAddr;
use core::time::Duration;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::time::Instant;

use fixbolt_session::{Application, SessionId};

use crate::acceptance::Acceptance;
use crate::clock;
use crate::error::EngineError;
use crate::initiation::Initiation;
use crate::session_handle::SessionHandle;
use crate::session_registry::SessionRegistry;
use crate::stopper::Stopper;
use crate::team::Team;
use crate::worker::Worker;
use crate::worker_signal::OnWorkerThread;

/// An engine that the caller drives, in whichever loop the program has: its own, that of another
/// event library, or an async runtime. [`EngineBuilder::driven`](crate::EngineBuilder::driven)
/// makes one.
///
/// Call [`DrivenEngine::poll`] when the file descriptor ([`AsFd`](std::os::fd::AsFd)) is readable
/// and when [`DrivenEngine::next_deadline`] has come, whichever is first. Nothing happens between
/// the calls: while none is made, no message is read, no heartbeat is sent, and counterparties end
/// their connections for silence. Callbacks run on the thread that polls, so that an application
/// needs neither locks nor [`Send`].
///
/// The thread that polls must not wait for the engine: changes through a [`SessionHandle`] are
/// refused there with [`OperationError::OwnThread`](crate::OperationError::OwnThread), and senders
/// do not wait for room. It is the thread that made the last call, at first the one that made the
/// engine: an engine that moves to another thread is polled there before changes are made here.
///
/// What handshakes of TLS have to compute is computed by a thread of the engine, which wakes the
/// loop through the descriptor: no call takes as long as a signature.
///
/// Dropping it closes its connections without a Logout, and the journals; [`DrivenEngine::stop`]
/// logs out first.
///
/// ```
/// use std::time::Duration;
///
/// use fixbolt::Engine;
/// use fixbolt::codec::Message;
/// use fixbolt::session::{Application, Delivery, Failure, Role, SessionSettings, Turn};
///
/// struct Venue;
///
/// impl Application for Venue {
///     fn on_message(&mut self, _: Message<'_>, _: &mut Turn<'_>) -> Result<Delivery, Failure> {
///         Ok(Delivery::Done)
///     }
/// }
///
/// let session = SessionSettings::new("FIX.4.4:VENUE->TRADER".parse()?, Role::Acceptor);
/// let mut engine = Engine::builder().accept("127.0.0.1:0".parse()?, session).driven(Venue)?;
/// for _ in 0..3 {
///     // A loop of one's own that has nothing else to do.
///     engine.poll_for(Duration::from_millis(1))?;
/// }
/// let _venue = engine.stop()?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct DrivenEngine<A: Application> {
    /// `None` once it was stopped.
    running: Option<(Worker, A)>,
    /// A store has panicked.
    died: bool,
    team: Arc<Team>,
    registry: Arc<SessionRegistry>,
}

impl<A: Application> DrivenEngine<A> {
    pub(crate) const fn new(worker: Worker, app: A, team: Arc<Team>, registry: Arc<SessionRegistry>) -> Self {
        Self { running: Some((worker, app)), died: false, team, registry }
    }

    /// Calls the worker on this thread, which drives it from now on.
    fn drive<R>(
        &mut self,
        act: impl FnOnce(&mut Worker, &mut A) -> Result<R, EngineError>,
    ) -> Result<R, EngineError> {
        let (worker, app) = match &mut self.running {
            _ if self.died => return Err(EngineError::Panicked),
            Some((worker, app)) => (worker, app),
            None => return Err(EngineError::Stopped),
        };
        self.team.workers()[0].drive_here();
        let _callbacks = OnWorkerThread::begin();
        match catch_unwind(AssertUnwindSafe(|| act(worker, app))) {
            Ok(result) => result,
            Err(panic) => {
                worker.die();
                self.died = true;
                resume_unwind(panic)
            }
        }
    }

    /// Does what there is to do, without waiting: reads each ready socket at most once, runs the
    /// timers that are due, sends what other threads have left, and writes.
    ///
    /// # Errors
    /// [`EngineError::Stopped`] once the engine has ended: a [`Stopper`] was used, and every
    /// session is logged out. [`DrivenEngine::stop`] then returns the application at once.
    ///
    /// # Panics
    /// If a store panics. The engine has died then: further calls return [`EngineError::Panicked`].
    pub fn poll(&mut self) -> Result<(), EngineError> {
        self.poll_for(Duration::ZERO)
    }

    /// Waits for something to do, for at most `limit`, and does it: reads each ready socket at most
    /// once, runs the timers that are due, sends what other threads have left, and writes.
    /// [`DrivenEngine::poll`] does so without waiting.
    ///
    /// # Errors
    /// [`EngineError::Stopped`] once the engine has ended: a [`Stopper`] was used, and every
    /// session is logged out. [`DrivenEngine::stop`] then returns the application at once.
    ///
    /// # Panics
    /// If a store panics. The engine has died then: further calls return [`EngineError::Panicked`].
    pub fn poll_for(&mut self, limit: Duration) -> Result<(), EngineError> {
        self.drive(|worker, app| {
            if worker.is_done() {
                return Err(EngineError::Stopped);
            }
            // The last cycle may be long ago.
            let limit = if limit.is_zero() { limit } else { limit.min(worker.wait(clock::now().mono)) };
            worker.run_cycle(limit, app);
            Ok(())
        })
    }

    /// Returns when [`DrivenEngine::poll`] must be called next, even if the file descriptor is not
    /// readable until then: now if there is something left to do, in a second at the latest.
    ///
    /// Ask after each call of it: other threads then wake the loop through the file descriptor.
    #[must_use]
    pub fn next_deadline(&self) -> Instant {
        let now = clock::now().mono;
        let wait = self.running.as_ref().map_or(Duration::ZERO, |(worker, _)| worker.wait(now));
        Instant::now() + wait
    }

    /// Returns the application.
    pub fn application(&mut self) -> &mut A {
        &mut self.running.as_mut().expect("it is only taken out when the engine is consumed").1
    }

    /// Returns the addresses on which the engine listens, as
    /// [`Engine::addresses`](crate::Engine::addresses) does.
    #[must_use]
    pub fn addresses(&self) -> Vec<SocketAddr> {
        self.registry.ports().addresses()
    }

    /// Returns a handle of a session, for other threads; `None` if there is no such session (yet).
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

    /// Adds a session that counterparties connect to at `address`, and opens its journal. The
    /// engine listens on the address if it does not yet.
    ///
    /// # Errors
    /// [`EngineError::Settings`] if the session's settings are wrong, [`EngineError::Open`] if it
    /// is open already or one too many, [`EngineError::Listen`] if the engine cannot listen on the
    /// address, [`EngineError::Store`] if the journal cannot be used, [`EngineError::System`],
    /// [`EngineError::Stopped`], [`EngineError::Panicked`].
    pub fn accept(
        &mut self,
        address: SocketAddr,
        session: impl Into<Acceptance>,
    ) -> Result<SessionHandle, EngineError> {
        let acceptance = session.into();
        let id = acceptance.settings.id.clone();
        let registry = Arc::clone(&self.registry);
        self.drive(|worker, app| {
            let open = |port| worker.accept_at(port, acceptance, app);
            match registry.ports().open_at(address, open)? {
                Some((port, socket)) => worker.listen(port, socket),
                None => Ok(()),
            }
        })?;
        self.session(&id).ok_or(EngineError::Stopped)
    }

    /// Adds a session that connects, and opens its journal.
    ///
    /// # Errors
    /// [`EngineError::Settings`] if the session's settings are wrong, [`EngineError::Open`] if it
    /// is open already or one too many, [`EngineError::Store`] if the journal cannot be used,
    /// [`EngineError::Stopped`], [`EngineError::Panicked`].
    pub fn connect(&mut self, session: Initiation) -> Result<SessionHandle, EngineError> {
        let id = session.settings.id.clone();
        self.drive(|worker, app| worker.connect_for(session, app))?;
        self.session(&id).ok_or(EngineError::Stopped)
    }

    /// Returns a [`Stopper`], which stops the engine from any thread: the next call of
    /// [`DrivenEngine::poll`] begins to log out.
    #[must_use]
    pub fn stopper(&self) -> Stopper {
        Stopper::new(Arc::clone(&self.team))
    }

    /// Stops the engine and returns the application.
    ///
    /// Sends a Logout in every session, waits up to LogoutTimeout for the answers, and closes the
    /// connections and the journals. It drives the engine meanwhile. A program whose loop must go
    /// on uses the [`Stopper`], and calls this once [`DrivenEngine::poll`] says that the engine
    /// has stopped.
    ///
    /// # Errors
    /// [`EngineError::Panicked`] if a store panicked, [`EngineError::Closing`] if a journal could
    /// not be closed cleanly.
    ///
    /// # Panics
    /// If a store panics.
    pub fn stop(mut self) -> Result<A, EngineError> {
        self.stopper().stop();
        loop {
            match self.poll_for(Duration::MAX) {
                Ok(()) => {}
                Err(EngineError::Stopped) => break,
                Err(error) => return Err(error),
            }
        }
        let (worker, mut app) = self.running.take().ok_or(EngineError::Stopped)?;
        let _callbacks = OnWorkerThread::begin();
        worker.finish(&mut app).map_err(EngineError::Closing)?;
        Ok(app)
    }
}

/// Closes the connections and the journals.
impl<A: Application> Drop for DrivenEngine<A> {
    fn drop(&mut self) {
        if let Some((worker, mut app)) = self.running.take().filter(|_| !self.died) {
            let _callbacks = OnWorkerThread::begin();
            // `stop` would have reported how it ended.
            let _ = worker.finish(&mut app);
        }
    }
}

/// The descriptor is readable when there is something to do. It belongs to the engine: wait for it,
/// and nothing else.
#[cfg(unix)]
impl<A: Application> std::os::fd::AsFd for DrivenEngine<A> {
    fn as_fd(&self) -> std::os::fd::BorrowedFd<'_> {
        self.running.as_ref().expect("it is only taken out when the engine is consumed").0.as_fd()
    }
}

/// The number of the descriptor that [`AsFd`](std::os::fd::AsFd) lends, for libraries that ask for
/// it.
#[cfg(unix)]
impl<A: Application> std::os::fd::AsRawFd for DrivenEngine<A> {
    fn as_raw_fd(&self) -> std::os::fd::RawFd {
        std::os::fd::AsFd::as_fd(self).as_raw_fd()
    }
}

impl<A: Application> fmt::Debug for DrivenEngine<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DrivenEngine")
            .field("addresses", &self.registry.ports().addresses())
            .finish_non_exhaustive()
    }
}

#[cfg(all(test, feature = "tls"))]
mod tests {
    use std::sync::mpsc::{Sender, channel};

    use fixbolt_codec::Message;
    use fixbolt_session::{Delivery, Failure, Role, SessionSettings, SessionState, Turn};

    use super::*;
    use crate::Engine;
    use crate::handshake_queue::{Kind, Queued};
    use crate::tls::{Authorities, OwnCertificate, Pem, Tls};

    struct Quiet;

    impl Application for Quiet {
        fn on_message(&mut self, _: Message<'_>, _: &mut Turn<'_>) -> Result<Delivery, Failure> {
            Ok(Delivery::Done)
        }
    }

    /// Returns the TLS of an acceptor, and of initiators that trust it.
    fn tls() -> (Tls, Tls) {
        let key = rcgen::KeyPair::generate().unwrap();
        let own = rcgen::CertificateParams::new(["localhost".to_owned()]).unwrap().self_signed(&key).unwrap();
        let (mut acceptor, mut initiator) = (Tls::new(), Tls::new());
        acceptor.certificate =
            Some(OwnCertificate::new(Pem::Text(own.pem()), Pem::Text(key.serialize_pem())));
        initiator.authorities = Authorities::Text(own.pem());
        (acceptor, initiator)
    }

    fn settings(name: &str, role: Role) -> SessionSettings {
        SessionSettings::new(name.parse().unwrap(), role)
    }

    /// Keeps the engine's thread for handshakes busy until the sender is dropped.
    fn keep_busy(engine: &DrivenEngine<Quiet>) -> (Sender<()>, Queued) {
        let (go_on, goes_on) = channel::<()>();
        let local = "127.0.0.1".parse().unwrap();
        let busy = engine.registry.handshakes().add(local, Kind::GoesOn, move |_| {
            // An error: the sender was dropped.
            let _ = goes_on.recv();
        });
        (go_on, busy.unwrap())
    }

    /// Drives both engines until this is so.
    fn drive(engines: [&mut DrivenEngine<Quiet>; 2], mut done: impl FnMut() -> bool) {
        let [first, second] = engines;
        let give_up = Instant::now() + Duration::from_secs(20);
        while !done() {
            assert!(Instant::now() < give_up, "it never happened");
            first.poll_for(Duration::from_millis(1)).unwrap();
            second.poll_for(Duration::from_millis(1)).unwrap();
        }
    }

    #[test]
    fn sessions_are_served_while_a_handshake_is_computed_whichever_side_computes_it() {
        let (acceptor_tls, initiator_tls) = tls();
        for venue_is_busy in [true, false] {
            let mut secured = Acceptance::from(settings("FIX.4.4:VENUE->SECURED", Role::Acceptor));
            secured.tls = Some(acceptor_tls.clone());
            let mut venue = Engine::builder()
                .accept("127.0.0.1:0".parse().unwrap(), settings("FIX.4.4:VENUE->PLAIN", Role::Acceptor))
                .accept("127.0.0.2:0".parse().unwrap(), secured)
                .driven(Quiet)
                .unwrap();
            let connect = |name, address: SocketAddr| {
                let host = address.ip().to_string();
                Initiation::new(settings(name, Role::Initiator), &host, address.port())
            };
            let plain = connect("FIX.4.4:PLAIN->VENUE", venue.addresses()[0]);
            let mut secured = connect("FIX.4.4:SECURED->VENUE", venue.addresses()[1]);
            secured.tls = Some(Tls { server_name: Some("localhost".to_owned()), ..initiator_tls.clone() });
            let mut trader = Engine::builder().connect(secured).driven(Quiet).unwrap();
            let secured = trader.session(&"FIX.4.4:SECURED->VENUE".parse().unwrap()).unwrap();
            let (go_on, busy) = keep_busy(if venue_is_busy { &venue } else { &trader });
            let mut polled = 0;
            drive([&mut venue, &mut trader], || {
                polled += 1;
                polled > 100
            });
            let plain = trader.connect(plain).unwrap();
            drive([&mut venue, &mut trader], || plain.state() == SessionState::LoggedOn);
            assert_ne!(secured.state(), SessionState::LoggedOn);
            drop(go_on);
            drive([&mut venue, &mut trader], || secured.state() == SessionState::LoggedOn);
            drop(busy);
        }
    }
}
