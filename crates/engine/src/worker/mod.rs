//! The loop of one worker thread: waits for sockets, timers and other threads, and moves bytes
//! between them and the sessions.
//!
//! A cycle reads the clocks once, reads each ready socket at most once, and writes each session's
//! output at most once. The module does not interpret the bytes.
//!
//! Its parts own their data and do not know the worker; they return what they need done. From the
//! bottom:
//!
//! - a [`transport`] is a socket, plain or with TLS; [`connection`]s are kept by [`connections`],
//!   which of them may stay before they log on is decided by [`admission`]; what a worker knows of
//!   sessions is in [`session_table`];
//! - [`session_driver`] moves bytes between the two, and makes every call into the session core;
//! - [`listeners`] accept connections, as many as [`accepting`] lets them; [`proxied`] reads whose
//!   a proxy's are; [`handshaking`] has handshakes of TLS computed elsewhere; [`identifying`] finds
//!   their sessions, here or on another worker;
//! - a [`connector`] makes connections, as its [`initiator`]s say, with longer and longer waits
//!   between attempts; [`failed_attempt`] says in the log why one failed;
//! - a [`time_share`] limits what it takes to open sessions that counterparties ask for;
//! - [`preparing`] decides when the store prepares what it will need;
//! - [`active_queues`] hold the messages of other threads; [`waiters`] are operators who wait for a
//!   session;
//! - [`Worker`] calls all of them, each cycle in the same order.

mod accepting;
mod active_queues;
mod admission;
pub(crate) mod connection;
mod connections;
mod connector;
mod cycle;
pub(crate) mod event_source;
mod failed_attempt;
mod handshaking;
mod identifying;
mod initiator;
pub(crate) mod listeners;
mod preparing;
mod proxied;
mod receive_buffer;
mod refusal;
mod session_driver;
mod session_table;
mod time_share;
mod transport;
mod waiters;

use core::net::SocketAddr;
use core::time::Duration;
use std::collections::VecDeque;
use std::io;
#[cfg(unix)]
use std::os::fd::{AsFd, BorrowedFd};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;

use fixbolt_session::store::StoreError;
use fixbolt_session::{Application, AttemptFailure, Mono, Refusal, RefusedConnection, Sessions};
use mio::net::TcpListener;
use mio::{Events, Poll};

use self::active_queues::{ActiveQueues, Take};
use self::connection::{CLOSING_TIMEOUT, Connection, Stage};
use self::connector::{Connector, Progress};
use self::cycle::{Cycle, LONGEST_SLEEP};
use self::event_source::EventSource;
use self::failed_attempt::of_connecting;
use self::initiator::Initiator;
use self::listeners::Listeners;
use self::preparing::Preparing;
use self::session_driver::SessionDriver;
use self::session_table::{SessionEntry, Side};
use self::time_share::TimeShare;
use self::waiters::{Operated, Waiter, Waiters};
use crate::acceptance::Acceptance;
use crate::clock;
use crate::command::{Command, Opened};
use crate::descriptors::Descriptors;
use crate::error::EngineError;
use crate::initiation::Initiation;
use crate::limits::Limits;
use crate::memory;
use crate::pages::Pages;
use crate::ports::Port;
use crate::preparation;
use crate::session_registry::SessionRegistry;
use crate::team::Team;
use crate::waiting::Waiting;
use crate::worker_signal::{OnWorkerThread, WorkerSignal};

/// The most operating system events taken per cycle.
const EVENTS: usize = 256;
/// The most sockets that a spinning worker reads without asking whether they are ready: for more,
/// asking the event queue costs less.
const DIRECT_READS: usize = 4;
/// How many cycles in a row it does so.
const DIRECT_CYCLES: u32 = 32;

/// How many sessions and connections are checked after each cycle, in a build that does.
const CHECKED: usize = 64;

/// One thread's sessions, sockets and timers.
pub(crate) struct Worker {
    driver: SessionDriver,
    listeners: Listeners,
    connector: Connector,
    queues: ActiveQueues,
    waiters: Waiters,
    /// What opening the sessions may take that counterparties ask for.
    openings: TimeShare,
    /// The slots of connections whose Logon waits until its session may be opened, the first one
    /// first; some may be closed by now.
    waiting_to_open: VecDeque<usize>,
    /// How many of them are still to be looked at since there was news for them.
    to_look_at: usize,
    /// When to look at them again although there was no news, because they wait for another worker.
    look_at_waiting: Option<Mono>,
    /// Connections that other workers have passed on, the first one first.
    arriving: VecDeque<Box<Connection>>,
    cycle: Cycle,
    /// Every session is being logged out; the loop ends at this time at the latest.
    stopping: Option<Mono>,
    /// The file descriptors as they were when the system was last asked, less the connections that
    /// were accepted since.
    looked: Option<(Mono, Descriptors)>,
    /// When to look again whether file descriptors are still short.
    look_again: Option<Mono>,
    poll: Poll,
    events: Events,
    waiting: Waiting,
    ended: Ended,
    /// Its number among the workers.
    number: u16,
    team: Arc<Team>,
    /// When there was last something to do, for a worker that spins for some time.
    active: Mono,
    /// How many cycles a spinning worker has begun since it asked the event queue.
    direct_cycles: u32,
    preparing: Preparing,
    signal: Arc<WorkerSignal>,
    limits: Limits,
    /// Where the next cycle goes on to check sessions and connections, in a build that does.
    checked: usize,
}

/// Tells the other threads that the worker has ended, however it has: nobody may keep waiting for
/// it.
struct Ended(Arc<WorkerSignal>, Arc<Pages>);

impl Ended {
    /// Returns the commands that are not carried out.
    fn tell(&self) -> Vec<Command> {
        let left = self.0.stop();
        self.1.room.made();
        left
    }
}

impl Drop for Ended {
    fn drop(&mut self) {
        drop(self.tell());
    }
}

#[cfg(unix)]
impl AsFd for Worker {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.poll.registry().as_fd()
    }
}

impl Worker {
    pub(crate) fn new(
        sessions: Sessions,
        (poll, waiting): (Poll, Waiting),
        (number, team): (u16, Arc<Team>),
        registry: Arc<SessionRegistry>,
        limits: Limits,
    ) -> Self {
        let now = clock::now();
        let signal = Arc::clone(&team.workers()[usize::from(number)]);
        let ended = Ended(Arc::clone(&signal), Arc::clone(registry.pages()));
        Self {
            driver: SessionDriver::new(sessions, registry, Arc::clone(&signal), limits, now.mono),
            listeners: Listeners::default(),
            connector: Connector::new(Arc::clone(&signal)),
            queues: ActiveQueues::new(),
            waiters: Waiters::default(),
            openings: TimeShare::default(),
            waiting_to_open: VecDeque::new(),
            to_look_at: 0,
            look_at_waiting: None,
            arriving: VecDeque::new(),
            cycle: Cycle::new(now),
            stopping: None,
            looked: None,
            look_again: None,
            poll,
            events: Events::with_capacity(EVENTS),
            waiting,
            ended,
            number,
            team,
            active: now.mono,
            direct_cycles: 0,
            preparing: Preparing::default(),
            signal,
            limits,
            checked: 0,
        }
    }

    /// Accepts the connections to a port from now on.
    ///
    /// # Errors
    /// [`EngineError::System`].
    pub(crate) fn listen(&mut self, port: Port, socket: TcpListener) -> Result<(), EngineError> {
        let listens = self.listeners.add(port, socket, self.poll.registry());
        listens.map_err(|error| EngineError::system("watching a listener", &error))
    }

    /// Opens a session that is accepted at a port.
    pub(crate) fn accept_at(
        &mut self,
        port: Port,
        mut acceptance: Acceptance,
        app: &mut dyn Application,
    ) -> Opened {
        preparation::prepare_acceptance(&mut acceptance)?;
        if self.stopping.is_some() {
            return Err(EngineError::Stopped);
        }
        let id = acceptance.settings.id.clone();
        preparation::check_unambiguous(&id, self.driver.ports().identities(port).iter())?;
        self.driver
            .agree(port, &acceptance.proxy_protocol_from, acceptance.tls.as_ref())
            .map_err(|reason| preparation::wrong_tls(&id, &reason))?;
        let Acceptance { settings, allowed_remote_addresses: allowed, socket, tls, .. } = acceptance;
        let side = Side::Acceptor { port, allowed: allowed.into(), dynamic: None };
        let entry = SessionEntry::new(&settings, side, socket, tls.as_ref());
        let opened = self.driver.open(settings, entry, &mut self.cycle, app);
        opened.map(drop).map_err(|error| EngineError::open(id, error))
    }

    /// Opens a session that we connect for.
    pub(crate) fn connect_for(
        &mut self,
        mut initiation: Initiation,
        app: &mut dyn Application,
    ) -> Result<(), EngineError> {
        preparation::prepare_initiation(&mut initiation)?;
        if self.stopping.is_some() {
            return Err(EngineError::Stopped);
        }
        let settings = initiation.settings.clone();
        let initiator = self.connector.indices().end;
        let entry = SessionEntry::new(&settings, Side::Initiator { initiator }, initiation.socket, None);
        let id = settings.id.clone();
        let tls = self.driver.tls_of(&initiation).map_err(|reason| preparation::wrong_tls(&id, &reason))?;
        let key = self
            .driver
            .open(settings, entry, &mut self.cycle, app)
            .map_err(|error| EngineError::open(id, error))?;
        let now = self.cycle.now.mono;
        self.connector.add(Initiator::new(key, initiation, now).secured_by(tls));
        self.cycle.wake(now);
        Ok(())
    }

    /// Prepares the thread, before the first cycle.
    pub(crate) fn begin(&mut self, app: &mut dyn Application) {
        if memory::is_locked() {
            memory::touch_stack();
        }
        self.driver.warm_up(&mut self.cycle, app);
    }

    /// Runs until the engine is stopped. Returns the application, and the result of closing the
    /// stores.
    ///
    /// # Panics
    /// If the worker dies: a store, or the engine, has panicked.
    pub(crate) fn run<A: Application>(mut self, mut app: A) -> (A, Result<(), StoreError>) {
        let _callbacks = OnWorkerThread::begin();
        let cycles = catch_unwind(AssertUnwindSafe(|| {
            self.begin(&mut app);
            while !self.is_done() {
                self.run_cycle(Duration::MAX, &mut app);
            }
        }));
        if let Err(panic) = cycles {
            self.die();
            resume_unwind(panic);
        }
        let closed = self.finish(&mut app);
        (app, closed)
    }

    /// Ends the worker after its last cycle. Returns the result of closing the stores.
    pub(crate) fn finish(self, app: &mut dyn Application) -> Result<(), StoreError> {
        let Self { mut driver, mut cycle, ended, .. } = self;
        drop(ended);
        driver.refuse_all_queued(&cycle, app);
        driver.close(&mut cycle, app)
    }

    /// Ends the sessions of a worker that has panicked, and says which they are. Another one
    /// accepts connections in its place: those of sessions that live, and of such that do not, so
    /// that they are refused.
    pub(crate) fn die(&mut self) {
        let left = self.ended.tell();
        let sessions = self.driver.identities();
        let names = sessions.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
        tracing::error!(
            worker = self.number,
            count = sessions.len(),
            sessions = names,
            "the worker has died, and its sessions with it; start the engine again"
        );
        for slot in self.driver.connections.slots() {
            self.driver.connections.close(slot);
        }
        self.driver.connections.remove_closed(self.poll.registry());
        let mut listeners = self.listeners.give_away(self.poll.registry());
        listeners.extend(left.into_iter().filter_map(|command| match command {
            Command::Listen { port, socket } => Some((port, socket)),
            _ => None,
        }));
        for (port, socket) in listeners {
            self.team.listen(usize::from(self.number), port, socket);
        }
    }

    /// Returns whether the engine was stopped, and every session is logged out.
    pub(crate) fn is_done(&self) -> bool {
        self.stopping.is_some_and(|until| self.cycle.now.mono >= until || self.driver.connections.is_empty())
    }

    /// Runs one cycle, after waiting for something to do, for at most `limit`.
    pub(crate) fn run_cycle(&mut self, limit: Duration, app: &mut dyn Application) {
        let reads_directly = self.reads_directly();
        if reads_directly {
            self.events.clear();
        } else {
            self.wait_for_events(limit);
        }
        self.signal.begin_cycle();
        self.cycle.begin(clock::now());
        let mut count = 0;
        for event in &self.events {
            count += 1;
            match EventSource::from(event.token()) {
                EventSource::Waker => {}
                EventSource::Listener(listener) => self.listeners.mark_ready(listener),
                EventSource::Connection(slot) => self.driver.connections.note_event(slot, event),
            }
        }
        if count == EVENTS {
            // There may be more.
            self.cycle.repeat();
        }
        // Whether there was anything to do.
        let mut works = count > 0;
        works |= self.carry_out_commands(app);
        self.driver.connections.begin_round();
        while let Some(slot) = self.driver.connections.next_ready() {
            works = true;
            self.serve(slot, app);
        }
        self.take_over(app);
        let received = reads_directly && self.driver.read_all(&mut self.cycle, app);
        // The sessions' answers leave before strangers are let in, which costs a few tens of
        // microseconds each.
        let is_asked_for = self.listeners.may_accept(self.cycle.now.mono);
        let mut written = is_asked_for && self.driver.write_output(&mut self.cycle, app);
        // Afterwards, so that no connection gives way whose Logon is known to have arrived.
        self.accept(app);
        self.open_waiting(app);
        self.send_queued(Take::Batch, app);
        if received || count > 0 || !self.queues.is_empty() {
            self.active = self.cycle.now.mono;
        }
        works |= received || !self.queues.is_empty();
        if self.cycle.is_timer_due() {
            works = true;
            self.run_timers(app);
        }
        works |= self.wake_ready(app);
        if self.driver.check_store(self.signal.take_store_advanced(), &self.cycle, app) {
            works = true;
            // It may have time for another session.
            self.to_look_at = self.waiting_to_open.len();
        }
        if self.to_look_at > 0 && self.openings.may_begin(self.cycle.now.mono) {
            self.cycle.repeat();
        }
        written |= self.driver.write_output(&mut self.cycle, app);
        if written && !self.queues.is_empty() {
            // These queues have messages that may have met a full outbox.
            self.cycle.repeat();
        }
        while let Some((initiator, end)) = self.driver.next_ended_initiator() {
            if !self.await_window(initiator) {
                let progress = self.connector.ended(initiator, end, self.cycle.now);
                self.continue_connecting(initiator, progress);
            }
        }
        while let Some((session, failed)) = self.connector.next_failed() {
            self.driver.tell_failed_attempt(session, &failed, &mut self.cycle, app);
        }
        while let Some(refused) = self.driver.connections.refusals.next() {
            tell_refused(&refused, app);
        }
        self.follow_operators();
        self.driver.connections.remove_closed(self.poll.registry());
        self.signal.note_connections(self.driver.connections.count());
        if works || written || self.must_go_on() {
            self.preparing.note_work();
        } else {
            self.preparing.note_step(self.driver.prepare_store());
        }
        if cfg!(debug_assertions) {
            self.check();
        }
    }

    /// Checks what holds between two cycles. Sessions and connections take turns, so that a cycle
    /// costs the same however many there are.
    ///
    /// # Panics
    /// Panics if it does not hold.
    fn check(&mut self) {
        let (from, places) = (self.checked, self.driver.places());
        self.driver.check(from..from + CHECKED, &self.cycle);
        self.checked = if from + CHECKED < places { from + CHECKED } else { 0 };
        self.queues.check();
    }

    /// Calls the sessions whose applications have asked for it. Requests made meanwhile are served
    /// in the next cycle, so that an application that asks on every call does not delay other
    /// sessions. Returns whether there were any.
    fn wake_ready(&mut self, app: &mut dyn Application) -> bool {
        let ready = self.signal.ready();
        for _ in 0..ready {
            if let Some(session) = self.signal.next_ready() {
                self.driver.wake(session, &mut self.cycle, app);
            }
        }
        if self.signal.take_lost_ready() {
            self.driver.wake_blocked(&mut self.cycle, app);
            return true;
        }
        ready > 0
    }

    /// Returns whether this cycle of a spinning worker reads the sockets of its sessions without
    /// asking the event queue first, which saves a system call before each message. The queue has
    /// all other events, so it is asked in between, and always while there may be such an event.
    fn reads_directly(&mut self) -> bool {
        let may = self.spins()
            && self.direct_cycles < DIRECT_CYCLES
            && self.driver.connections.are_few_sessions(DIRECT_READS);
        self.direct_cycles = if may { self.direct_cycles + 1 } else { 0 };
        may
    }

    /// Returns whether the worker spins now.
    fn spins(&self) -> bool {
        match self.waiting {
            Waiting::Blocking => false,
            Waiting::Spinning => true,
            Waiting::SpinningFor(time) => self.cycle.now.mono - self.active < time,
        }
    }

    /// Returns how long the worker may sleep from `now` on before its next cycle. It is woken if
    /// another thread needs it earlier.
    pub(crate) fn wait(&self, now: Mono) -> Duration {
        let goes_on = self.spins() || self.must_go_on() || self.preparing.is_due();
        if goes_on || self.is_done() || !self.signal.may_sleep() {
            Duration::ZERO
        } else {
            self.cycle.sleep(now, LONGEST_SLEEP)
        }
    }

    /// Returns whether there is something left to do.
    fn must_go_on(&self) -> bool {
        self.cycle.repeats()
            || self.listeners.has_more()
            || self.driver.connections.has_ready()
            || self.driver.has_output()
    }

    fn wait_for_events(&mut self, limit: Duration) {
        let timeout = self.wait(self.cycle.now.mono).min(limit);
        if !timeout.is_zero() {
            kill_point!(Idle);
        }
        if let Err(error) = self.poll.poll(&mut self.events, Some(timeout))
            && error.kind() != io::ErrorKind::Interrupted
        {
            tracing::error!(%error, "waiting for events failed");
        }
    }

    /// Carries out the requests of other threads. Returns whether there were any.
    fn carry_out_commands(&mut self, app: &mut dyn Application) -> bool {
        let Some(batch) = self.signal.begin_commands() else { return false };
        if batch.operates {
            // A thread that sends and then stops the engine expects this order.
            self.send_queued(Take::All, app);
        }
        // One by one: while a callback keeps the worker from the others, they can be withdrawn.
        while let Some(command) = self.signal.next_command(batch) {
            match command {
                Command::Stop => self.stop(app),
                Command::Operate { session, operation, why, limit, answer } => {
                    let operated = self.driver.operate(session, operation, &why, &mut self.cycle, app);
                    let awaits = match operated {
                        Operated::Done(outcome) => {
                            // The thread that asked may have gone.
                            let _ = answer.send(outcome);
                            continue;
                        }
                        Operated::Waits(awaits) => awaits,
                    };
                    let now = self.cycle.now.mono;
                    self.waiters.add(now, limit, Waiter { session, awaits, until: now, answer });
                }
                Command::Accept { binding, acceptance, adding, answer } => {
                    let opened = self.accept_at(binding.port(), *acceptance, app);
                    if opened.is_err() {
                        drop(binding);
                    } else if let Some((port, socket)) = binding.listen() {
                        self.listen_too(port, socket);
                    }
                    drop(adding);
                    let _ = answer.send(opened);
                }
                Command::Connect { initiation, adding, answer } => {
                    let opened = self.connect_for(*initiation, app);
                    drop(adding);
                    let _ = answer.send(opened);
                }
                Command::Listen { port, socket } => self.listen_too(port, socket),
                Command::TakeOver(connection) => self.arriving.push_back(connection),
                Command::Announced(queue) => self.queues.add(queue),
                Command::Handshaken(handshaken) => self.take_back_step(handshaken, app),
                Command::HostLookedUp { initiator, look_up, addresses } => {
                    let now = self.cycle.now;
                    let progress = self.connector.looked_up(initiator, look_up, addresses, now);
                    self.continue_connecting(initiator, progress);
                }
            }
        }
        true
    }

    /// Carries out what follows from operators' commands, and answers those who wait.
    fn follow_operators(&mut self) {
        while let Some(initiator) = self.driver.next_removed_initiator() {
            self.connector.remove(initiator);
        }
        while let Some((initiator, attempt)) = self.driver.next_hastened_initiator() {
            self.connector.hasten(initiator, attempt, self.cycle.now.mono);
            self.cycle.wake(self.cycle.now.mono);
        }
        while let Some((session, end)) = self.driver.next_end() {
            self.waiters.ended(session, &end);
        }
        if !self.waiters.is_empty() {
            self.waiters.check_logons(|session| self.driver.logon_outcome(session));
        }
    }

    /// Sends messages from other threads.
    fn send_queued(&mut self, take: Take, app: &mut dyn Application) {
        let Self { driver, queues, cycle, signal, .. } = self;
        let more =
            queues.send(signal, take, |key, ticket, body| driver.send_queued(key, ticket, body, cycle, app));
        if more {
            cycle.repeat();
        }
    }

    /// Serves a connection that is ready.
    fn serve(&mut self, slot: usize, app: &mut dyn Application) {
        let Some(connection) = self.driver.connections.get(slot) else { return };
        match connection.stage {
            Stage::Connecting { initiator, .. } => self.finish_connecting(slot, initiator, app),
            Stage::Pending { .. } if connection.transport.is_handshaking() => self.shake_hands(slot, app),
            Stage::Pending { port, .. } => self.identify(slot, port, app),
            Stage::Proxied { port, until } => self.read_proxy_header(slot, (port, until), app),
            Stage::Session(key) => self.driver.read(slot, key, &mut self.cycle, app),
            Stage::Closing { session, .. } => self.driver.note_output(session),
            Stage::Draining { .. } => self.driver.connections.drain(slot),
            Stage::Closed => {}
        }
    }

    /// Starts the connection attempts that are due, and requests a wake-up for later ones.
    fn connect_due(&mut self) {
        let now = self.cycle.now.mono;
        for initiator in self.connector.indices() {
            let Some(until) = self.connector.waiting_until(initiator) else { continue };
            if until > now {
                self.cycle.wake(until);
            } else if self.driver.can_connect(self.connector.session(initiator)) {
                let progress = self.connector.start(initiator, self.cycle.now);
                self.continue_connecting(initiator, progress);
            } else {
                // The session's schedule allows no connection now; or it is halted, and may be
                // resumed without a restart of the engine.
                self.postpone_connecting(initiator);
            }
        }
    }

    /// Has the initiator wait if its session's schedule allows no connection now. Returns whether
    /// it does.
    fn await_window(&mut self, initiator: usize) -> bool {
        let session = self.connector.session(initiator);
        let Some(next) = self.driver.waits_for_schedule(session, &self.cycle) else { return false };
        let progress = self.connector.await_window(initiator, next, self.cycle.now);
        self.continue_connecting(initiator, progress);
        true
    }

    fn postpone_connecting(&mut self, initiator: usize) {
        if self.await_window(initiator) {
            return;
        }
        let progress = self.connector.postpone(initiator, self.cycle.now);
        self.continue_connecting(initiator, progress);
    }

    /// Continues with the next address, unless the session was disabled or halted meanwhile.
    fn cannot_connect(&mut self, initiator: usize, address: SocketAddr, why: AttemptFailure) {
        if !self.driver.can_connect(self.connector.session(initiator)) {
            return self.postpone_connecting(initiator);
        }
        let progress = self.connector.failed(initiator, address, why, self.cycle.now);
        self.continue_connecting(initiator, progress);
    }

    /// Carries out an initiator's next step.
    fn continue_connecting(&mut self, initiator: usize, mut progress: Progress) {
        let now = self.cycle.now;
        while let Progress::Connecting { transport, address, until } = progress {
            let connection = Connection::new(transport, address, Stage::Connecting { initiator, until });
            if self.driver.connections.insert(now.mono, connection, self.poll.registry()).is_some() {
                return self.cycle.wake(until);
            }
            let error = "the connection cannot be watched".to_owned();
            progress = self.connector.failed(initiator, address, AttemptFailure::Connecting { error }, now);
        }
        if let Progress::Waiting { until } = progress {
            self.cycle.wake(until);
        }
    }

    /// Checks whether a connection of ours was established.
    fn finish_connecting(&mut self, slot: usize, initiator: usize, app: &mut dyn Application) {
        let Some(connection) = self.driver.connections.get_mut(slot) else { return };
        let address = connection.peer;
        match connection.connect_result() {
            None => {}
            Some(Err(error)) => {
                self.driver.connections.close(slot);
                let why = of_connecting(&error, self.connector.local_address(initiator));
                self.cannot_connect(initiator, address, why);
            }
            Some(Ok(())) if connection.transport.is_handshaking() => self.shake_hands(slot, app),
            Some(Ok(())) => self.end_connecting(slot, initiator, app),
        }
    }

    /// Passes a connection of ours to its session.
    fn end_connecting(&mut self, slot: usize, initiator: usize, app: &mut dyn Application) {
        let session = self.connector.session(initiator);
        if self.driver.can_connect(session) && self.stopping.is_none() {
            self.driver.attach(slot, session, &mut self.cycle, app);
        } else {
            self.driver.connections.close(slot);
            self.postpone_connecting(initiator);
        }
    }

    /// Does everything that is due, and determines the next deadline.
    fn run_timers(&mut self, app: &mut dyn Application) {
        let now = self.cycle.now.mono;
        self.cycle.clear_timers();
        self.driver.wake_due(&mut self.cycle, app);
        self.driver.warm_up(&mut self.cycle, app);
        self.driver.give_back_idle(&mut self.cycle, app);
        for slot in self.driver.connections.slots() {
            let Some(connection) = self.driver.connections.get(slot) else { continue };
            let (stage, peer) = (connection.stage, connection.peer);
            let handshakes = connection.transport.is_handshaking();
            match stage.until() {
                Some(until) if until > now => self.cycle.wake(until),
                Some(_) => {
                    self.driver.connections.close(slot);
                    match stage {
                        Stage::Connecting { initiator, .. } => {
                            let why = match handshakes {
                                true => AttemptFailure::TlsTimedOut,
                                false => AttemptFailure::TimedOut,
                            };
                            self.cannot_connect(initiator, peer, why);
                        }
                        Stage::Closing { session, .. } => {
                            self.driver.disconnect(session, &mut self.cycle, app);
                        }
                        Stage::Pending { .. } => {
                            let why = match handshakes {
                                true => Refusal::TlsTimedOut,
                                false => Refusal::NoLogonInTime,
                            };
                            self.driver.connections.refusals.tell(peer, None, why, now);
                        }
                        Stage::Proxied { .. } => {
                            let why = Refusal::NoProxyHeaderInTime;
                            self.driver.connections.refusals.tell(peer, None, why, now);
                        }
                        // What a counterparty does after our last message says nothing.
                        Stage::Draining { .. } | Stage::Session(_) | Stage::Closed => {}
                    }
                }
                None => {}
            }
        }
        self.connect_due();
        self.note_next_look();
        self.note_next_opening();
    }

    /// Logs out every session, stops connecting and accepting, and sets the time by which the loop
    /// ends.
    fn stop(&mut self, app: &mut dyn Application) {
        if self.stopping.is_some() {
            return;
        }
        self.connector.stop();
        self.listeners.close();
        let logout_time = self.driver.log_out_all(&mut self.cycle, app);
        for slot in self.driver.connections.slots() {
            let stage = self.driver.connections.get(slot).map(|connection| connection.stage);
            if stage.is_some_and(|stage| stage.is_pending() || matches!(stage, Stage::Connecting { .. })) {
                self.driver.connections.close(slot);
            }
        }
        let until = self.cycle.now.mono + logout_time + CLOSING_TIMEOUT;
        self.stopping = Some(until);
        self.cycle.wake(until);
    }
}

/// Tells the application of a connection that was closed before logon. No session depends on what
/// it does about it.
fn tell_refused(refused: &RefusedConnection, app: &mut dyn Application) {
    if catch_unwind(AssertUnwindSafe(|| app.on_refused(refused))).is_err() {
        tracing::error!("the application has panicked in on_refused");
    }
}
