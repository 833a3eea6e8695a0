//! The loop of one worker thread: waits for sockets, timers and other threads, and moves bytes between them and the sessions.
//!
//! A turn reads the clocks once, reads each ready socket at most once, and writes each session's output at most once. It
//! refuses to know what the bytes mean.

mod admission;
mod connection;
mod ending;
mod lanes;
mod listener;
mod reconnect;

use core::net::IpAddr;
use core::time::Duration;
use std::io;
use std::sync::{Arc, PoisonError};

use fixbolt_session::store::{SessionKey, StoreError};
use fixbolt_session::{Application, Mono, Now, OpenError, SessionId, SessionSettings, Sessions};
use mio::{Events, Poll, Token};

use self::connection::{Connection, Received, Stage};
use self::lanes::ActiveLane;
pub(crate) use self::listener::{Listener, Template};
use self::reconnect::Initiator;
use crate::builder::Limits;
use crate::clock;
use crate::engine::Directory;
use crate::lane::Doorbell;

/// The token of the waker.
pub(crate) const WAKER: Token = Token(0);
/// The first listener's token.
const FIRST_LISTENER: usize = 1;
/// The first connection's token; there are not that many listeners.
const FIRST_CONNECTION: usize = 1 << 20;

/// The loop turns at least this often: a store that failed on its own is noticed, and the liveness counter moves.
const LONGEST_SLEEP: Duration = Duration::from_secs(1);
/// How often a store is asked for bytes that wait for it.
const STORE_PATIENCE: Duration = Duration::from_millis(1);
/// How long the queue of a session whose end is decided may take to go out.
const CLOSING_PATIENCE: Duration = Duration::from_secs(5);
/// How long a closed connection may take to end from the other side.
const DRAINING_PATIENCE: Duration = Duration::from_secs(1);
/// When to accept again after the system was out of descriptors.
const ACCEPT_AGAIN: Duration = Duration::from_millis(100);
/// Connections taken from one listener in a turn.
const ACCEPT_BATCH: usize = 64;

/// One thread's sessions, sockets and timers.
pub(crate) struct Worker {
    sessions: Sessions,
    seats: Vec<Seat>,
    connections: Vec<Option<Connection>>,
    /// Places of `connections` that are free, and those that become free at the end of the turn: an event of this turn must
    /// not meet a newer connection in the same place.
    free: Vec<usize>,
    dead: Vec<usize>,
    /// Connections to look after, and the list that is being worked on.
    ready: Vec<usize>,
    busy: Vec<usize>,
    /// Sessions whose output goes out at the end of the turn, and the list that is being worked on.
    outgoing: Vec<SessionKey>,
    writing: Vec<SessionKey>,
    listeners: Vec<Listener>,
    /// Listeners that may have more connections.
    accepting: Vec<usize>,
    accept_again: Option<Mono>,
    pending: usize,
    initiators: Vec<Initiator>,
    lanes: Vec<ActiveLane>,
    /// Something must be done although no socket is ready.
    hurry: bool,
    /// Sessions have bytes that the store has not released.
    store_owes: bool,
    store_asked: Mono,
    now: Now,
    /// No timer is due before this.
    wake_at: Option<Mono>,
    /// Everything is being logged out, and ends at the latest then.
    stopping: Option<Mono>,
    poll: Poll,
    doorbell: Arc<Doorbell>,
    directory: Arc<Directory>,
    limits: Limits,
}

/// What the loop knows of a session.
#[derive(Debug)]
pub(crate) struct Seat {
    /// The listener that it is accepted through.
    listener: Option<usize>,
    allowed: Vec<IpAddr>,
    nodelay: bool,
    id: SessionId,
    initiator: Option<usize>,
    connection: Option<usize>,
    /// Whether it stands in the list of sessions whose output goes out.
    outgoing: bool,
    deadline: Option<Mono>,
    max_message_size: usize,
    logout_timeout: Duration,
}

impl Seat {
    /// Of a session that is accepted through `listener`.
    pub(crate) fn accepting(
        settings: &SessionSettings,
        listener: usize,
        allowed: Vec<IpAddr>,
        nodelay: bool,
    ) -> Self {
        Self { listener: Some(listener), allowed, ..Self::connecting(settings, nodelay) }
    }

    /// Of a session that we connect for.
    pub(crate) fn connecting(settings: &SessionSettings, nodelay: bool) -> Self {
        Self {
            listener: None,
            allowed: Vec::new(),
            nodelay,
            id: settings.id.clone(),
            initiator: None,
            connection: None,
            outgoing: false,
            deadline: None,
            max_message_size: settings.max_message_size,
            logout_timeout: settings.logout_timeout,
        }
    }
}

impl Worker {
    pub(crate) fn new(
        sessions: Sessions,
        poll: Poll,
        doorbell: Arc<Doorbell>,
        directory: Arc<Directory>,
        limits: Limits,
    ) -> Self {
        let now = clock::now();
        Self {
            sessions,
            seats: Vec::new(),
            connections: Vec::new(),
            free: Vec::new(),
            dead: Vec::with_capacity(64),
            ready: Vec::with_capacity(256),
            busy: Vec::with_capacity(256),
            outgoing: Vec::with_capacity(256),
            writing: Vec::with_capacity(256),
            listeners: Vec::new(),
            accepting: Vec::new(),
            accept_again: None,
            pending: 0,
            initiators: Vec::new(),
            lanes: Vec::with_capacity(64),
            hurry: false,
            store_owes: false,
            store_asked: now.mono,
            now,
            wake_at: None,
            stopping: None,
            poll,
            doorbell,
            directory,
            limits,
        }
    }

    /// Opens a session: its store, and its place here.
    pub(crate) fn open(
        &mut self,
        settings: SessionSettings,
        seat: Seat,
        app: &mut dyn Application,
    ) -> Result<SessionKey, OpenError> {
        if self.seats.len() == self.limits.sessions {
            return Err(OpenError::Setting("the engine has as many sessions as its limit allows"));
        }
        let body_limit = settings.max_message_size;
        let key = self.sessions.open(self.now, settings, app)?;
        if let Some(halt) = self.sessions.halted(key) {
            tracing::error!(session = %seat.id, %halt, "the session is halted");
        }
        let mut known = self.directory.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        known.insert(seat.id.clone(), (key, body_limit));
        drop(known);
        self.seats.push(seat);
        Ok(key)
    }

    pub(crate) fn listen(&mut self, listeners: Vec<Listener>) {
        self.accepting = (0..listeners.len()).collect();
        self.hurry = true;
        self.listeners = listeners;
    }

    /// Turns until the engine is stopped. Gives the application back, and how closing the stores went.
    pub(crate) fn run<A: Application>(
        mut self,
        mut app: A,
        mut events: Events,
    ) -> (A, Result<(), StoreError>) {
        // Whatever ends this thread, a panic too: nobody shall wait for it.
        struct Ended(Arc<Doorbell>);
        impl Drop for Ended {
            fn drop(&mut self) {
                self.0.stop();
            }
        }
        let ended = Ended(Arc::clone(&self.doorbell));
        while !self.is_done() {
            self.turn(&mut events, &mut app);
        }
        drop(ended);
        self.refuse_posts(&mut app);
        for n in 0..self.seats.len() {
            if let Some(slot) = self.seats[n].connection {
                self.end(slot, key_of(n), &mut app);
            }
        }
        let closed = self.sessions.close();
        (app, closed)
    }

    fn is_done(&self) -> bool {
        self.stopping
            .is_some_and(|until| self.now.mono >= until || self.connections.iter().all(Option::is_none))
    }

    fn turn(&mut self, events: &mut Events, app: &mut dyn Application) {
        let timeout = self.timeout();
        if !timeout.is_zero() {
            kill_point!(Idle);
        }
        if let Err(error) = self.poll.poll(events, Some(timeout))
            && error.kind() != io::ErrorKind::Interrupted
        {
            tracing::error!(%error, "waiting for events failed");
        }
        self.doorbell.awake();
        self.now = clock::now();
        self.hurry = false;
        for event in events.iter() {
            let Token(token) = event.token();
            if token >= FIRST_CONNECTION {
                self.note(token - FIRST_CONNECTION, event);
            } else if token >= FIRST_LISTENER && !self.accepting.contains(&(token - FIRST_LISTENER)) {
                self.accepting.push(token - FIRST_LISTENER);
            }
        }
        let commands = self.doorbell.take_commands();
        if !commands.is_empty() {
            // Whoever sends and then says stop means it in this order.
            self.serve_lanes(true, app);
        }
        for command in commands {
            self.obey(command, app);
        }
        if !self.accepting.is_empty() {
            self.accept();
        }
        core::mem::swap(&mut self.ready, &mut self.busy);
        while let Some(slot) = self.busy.pop() {
            self.look_after(slot, app);
        }
        self.serve_lanes(false, app);
        if self.wake_at.is_some_and(|at| at <= self.now.mono) {
            self.timers(app);
        }
        if self.store_owes || self.now.mono - self.store_asked >= LONGEST_SLEEP {
            self.ask_store(app);
        }
        self.write_out(app);
        self.bury();
    }

    fn timeout(&self) -> Duration {
        if self.hurry || !self.ready.is_empty() || !self.doorbell.may_sleep() {
            return Duration::ZERO;
        }
        let longest = if self.store_owes { STORE_PATIENCE } else { LONGEST_SLEEP };
        self.wake_at.map_or(longest, |at| longest.min(at - self.now.mono))
    }

    /// Asks for a look at the timers at `at`.
    fn wake(&mut self, at: Mono) {
        self.wake_at = Some(self.wake_at.map_or(at, |other| other.min(at)));
    }

    fn queue(&mut self, slot: usize) {
        if let Some(connection) = self.connections[slot].as_mut()
            && !connection.queued
        {
            connection.queued = true;
            self.ready.push(slot);
        }
    }

    fn note(&mut self, slot: usize, event: &mio::event::Event) {
        let Some(Some(connection)) = self.connections.get_mut(slot) else { return };
        connection.readable |= event.is_readable() || event.is_read_closed() || event.is_error();
        connection.read_closed |= event.is_read_closed() || event.is_error();
        connection.writable |= event.is_writable();
        self.queue(slot);
    }

    /// Gives a new socket its place; `None` when the system does not take it.
    fn adopt(&mut self, mut connection: Connection) -> Option<usize> {
        let slot = self.free.last().copied().unwrap_or(self.connections.len());
        if let Err(error) = connection.register(slot, self.poll.registry()) {
            tracing::error!(%error, "the connection cannot be watched");
            return None;
        }
        if self.free.pop().is_some() {
            self.connections[slot] = Some(connection);
        } else {
            self.connections.push(Some(connection));
        }
        Some(slot)
    }

    fn look_after(&mut self, slot: usize, app: &mut dyn Application) {
        let Some(connection) = self.connections[slot].as_mut() else { return };
        connection.queued = false;
        match connection.stage {
            Stage::Connecting { initiator, .. } => self.connecting(slot, initiator, app),
            Stage::Pending { listener, .. } => self.identify(slot, listener, app),
            Stage::Session(key) => self.serve(slot, key, app),
            Stage::Closing { session, .. } => self.owe_write(session),
            Stage::Draining { until, bytes } => {
                let received = if connection.readable { connection.receive() } else { Received::Nothing };
                let came = connection.inbound.filled().len();
                connection.inbound.consume(came);
                match bytes.checked_sub(came) {
                    Some(bytes) if !matches!(received, Received::End) => {
                        connection.stage = Stage::Draining { until, bytes };
                        if connection.readable {
                            self.queue(slot);
                        }
                    }
                    _ => self.kill(slot),
                }
            }
            Stage::Dead => {}
        }
    }

    /// Reads once and shows the session what came.
    fn serve(&mut self, slot: usize, key: SessionKey, app: &mut dyn Application) {
        let blocked = self.sessions.is_blocked(key);
        let Some(connection) = self.connections[slot].as_mut() else { return };
        let received = if connection.readable && !blocked { connection.receive() } else { Received::Nothing };
        match received {
            Received::Bytes => self.feed(slot, key, app),
            Received::Nothing => {}
            Received::End => return self.end(slot, key, app),
        }
        self.owe_write(key);
    }

    /// Shows the session the bytes that it has not consumed.
    fn feed(&mut self, slot: usize, key: SessionKey, app: &mut dyn Application) {
        let Some(connection) = self.connections[slot].as_mut() else { return };
        let consumed = self.sessions.receive(self.now, key, connection.inbound.filled(), app);
        connection.inbound.consume(consumed);
        self.settle(slot, key);
    }

    /// The clock, or room in the outbox, may have changed something for the session.
    fn tick(&mut self, slot: usize, key: SessionKey, app: &mut dyn Application) {
        let Some(connection) = self.connections[slot].as_mut() else { return };
        let consumed = self.sessions.tick(self.now, key, connection.inbound.filled(), app);
        connection.inbound.consume(consumed);
        self.settle(slot, key);
    }

    /// After the session was at work: its next timer, its wish to close, whether to read on.
    fn settle(&mut self, slot: usize, key: SessionKey) {
        let deadline = self.sessions.next_deadline(key);
        self.seats[key.0 as usize].deadline = deadline;
        if let Some(at) = deadline {
            self.wake(at);
        }
        let Some(connection) = self.connections[slot].as_mut() else { return };
        if self.sessions.wants_close(key) {
            // Once: looking again does not make the patience longer.
            if !matches!(connection.stage, Stage::Closing { .. }) {
                let until = self.now.mono + CLOSING_PATIENCE;
                connection.stage = Stage::Closing { session: key, until };
                self.wake(until);
            }
            self.owe_write(key);
        } else if connection.readable && !self.sessions.is_blocked(key) {
            self.queue(slot);
        }
    }

    fn owe_write(&mut self, key: SessionKey) {
        let seat = &mut self.seats[key.0 as usize];
        if !seat.outgoing {
            seat.outgoing = true;
            self.outgoing.push(key);
        }
    }

    /// One write for each session that has something to write, or that may be closed.
    fn write_out(&mut self, app: &mut dyn Application) {
        while let Some(key) = self.sessions.next_output() {
            self.owe_write(key);
        }
        core::mem::swap(&mut self.outgoing, &mut self.writing);
        while let Some(key) = self.writing.pop() {
            self.seats[key.0 as usize].outgoing = false;
            self.write(key, app);
        }
        self.hurry |= !self.outgoing.is_empty();
    }

    /// One write of what the store has released.
    fn write(&mut self, key: SessionKey, app: &mut dyn Application) {
        let Some(slot) = self.seats[key.0 as usize].connection else { return };
        let Some(connection) = self.connections[slot].as_mut() else { return };
        let bytes = self.sessions.writable(key);
        if !bytes.is_empty() && connection.writable {
            kill_point!(Send);
            match connection.send(bytes) {
                Ok(taken) => {
                    self.sessions.written(key, taken);
                    // Posts that found no room are in these lanes.
                    self.hurry |= taken > 0 && !self.lanes.is_empty();
                    // Room for what waited: the rest of a replay, or a message that found the outbox full. It goes out in the
                    // next turn, so that a long replay does not keep the other sessions waiting.
                    if taken > 0 && (self.sessions.is_blocked(key) || self.sessions.is_replaying(key)) {
                        self.tick(slot, key, app);
                        self.hurry = true;
                    }
                }
                Err(error) => {
                    tracing::info!(session = %self.seats[key.0 as usize].id, %error, "writing failed");
                    return self.end(slot, key, app);
                }
            }
        }
        let queued = self.sessions.has_queued(key);
        self.store_owes |= queued && self.sessions.writable(key).is_empty();
        let closing = matches!(self.connections[slot].as_ref().map(|c| c.stage), Some(Stage::Closing { .. }));
        if closing && !queued {
            self.end(slot, key, app);
        }
    }

    /// Releases what waits for the store, and notices a store that failed on its own.
    fn ask_store(&mut self, app: &mut dyn Application) {
        self.store_asked = self.now.mono;
        self.store_owes = false;
        self.sessions.store_advanced(app);
        for n in 0..self.seats.len() {
            let Some(slot) = self.seats[n].connection else { continue };
            self.settle(slot, key_of(n));
            self.owe_write(key_of(n));
        }
    }
}

#[allow(clippy::cast_possible_truncation)] // There are at most as many seats as sessions were opened.
const fn key_of(seat: usize) -> SessionKey {
    SessionKey(seat as u32)
}
