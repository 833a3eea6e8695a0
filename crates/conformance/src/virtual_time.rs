//! Runs scripts against the session core itself, in virtual time: waiting moves the clock to the
//! next deadline, so that minutes of heartbeats take microseconds and all runs are identical.
//!
//! This is an acceptor without sockets, or an initiator. It does what any acceptor does around the
//! core: it finds the session of a connection, rejects connections without one, and closes those
//! that the core wants closed.

use core::time::Duration;
use std::collections::BTreeMap;
use std::path::Path;

use fixbolt_codec::SeqNum;
use fixbolt_session::runtime::mono;
use fixbolt_session::store::Store;
use fixbolt_session::{
    Application, Identity, Mono, Next, Now, OpenError, Read, Role, SessionId, SessionKey, SessionSettings,
    Sessions, Socket, Utc, identify,
};

use crate::compare::Order;
use crate::runner::{Command, Received, Transport, TransportError, take_message};
use crate::script::ScriptError;
use crate::suite::{Report, run_folder};

/// An acceptor, or one session that connects, whose clock moves only when a script waits.
pub struct VirtualTime {
    /// The session that connects, if there is one: the script is then the acceptor.
    initiator: Option<SessionKey>,
    now: Now,
    sessions: Sessions,
    app: Box<dyn Application>,
    logon_timeout: Duration,
    connections: BTreeMap<u32, Connection>,
}

/// A connection from the counterparty's side.
struct Connection {
    of: Of,
    /// What its session asks for.
    next: Next,
    /// Bytes received but not yet processed.
    inbound: Vec<u8>,
    /// Bytes that the session sent and the script has not read.
    outbound: Vec<u8>,
}

/// The owner of a connection.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Of {
    /// Unknown until the Logon arrives, which it must by this time.
    Nobody {
        until: Mono,
    },
    Session(SessionKey),
    /// Closed by the acceptor.
    Closed,
}

/// 2026-01-05T09:00:00.25Z. The fraction makes `<TIME>`, in whole seconds, differ from our own
/// times.
const BEGIN: Now = Now { mono: mono(5_000_000_000), utc: Utc(1_767_603_600_250_000_000) };
/// The number of rounds without progress after which the session counts as stuck.
const ROUNDS: usize = 100_000;

impl VirtualTime {
    /// Creates an acceptor with these sessions, or a single session that connects when a script
    /// says so.
    ///
    /// # Errors
    /// Returns an [`OpenError`] if a session cannot be opened.
    pub fn new(
        settings: &[SessionSettings],
        store: Box<dyn Store>,
        mut app: Box<dyn Application>,
    ) -> Result<Self, OpenError> {
        let size = settings.iter().map(|s| s.limits.max_message_size).max().unwrap_or_default();
        let mut sessions = Sessions::new(store, size);
        let mut initiator = None;
        for settings in settings {
            let key = sessions.open(BEGIN, settings.clone(), &mut *app)?;
            initiator = initiator.or((settings.role == Role::Initiator).then_some(key));
        }
        let logon_timeout =
            settings.iter().map(|s| s.timing.logon_timeout).max().unwrap_or(Duration::from_secs(10));
        Ok(Self { initiator, now: BEGIN, sessions, app, logon_timeout, connections: BTreeMap::new() })
    }

    fn connection(&mut self, connection: u32) -> Result<&mut Connection, TransportError> {
        self.connections.get_mut(&connection).ok_or(TransportError::NotConnected(connection))
    }

    /// Runs every connection until nothing more happens at this point in time.
    fn settle(&mut self) {
        let Self { now, sessions, app, connections, .. } = self;
        for connection in connections.values_mut() {
            connection.identify(*now, sessions, &mut **app);
        }
        for _ in 0..ROUNDS {
            self.poll();
            let Self { now, sessions, app, connections, .. } = self;
            let mut moved = false;
            for connection in connections.values_mut() {
                moved |= connection.go_on(*now, sessions, &mut **app);
            }
            sessions.store_advanced(*now, &mut **app);
            self.poll();
            // A store that acknowledges late is polled until it has.
            let goes_on = self.connections.values().any(|c| {
                let Next { close, read, output, .. } = c.next;
                matches!(c.of, Of::Session(_)) && (output || close || read == Read::Again)
            });
            if !moved && !goes_on {
                return;
            }
        }
    }

    /// Learns what the sessions ask for.
    fn poll(&mut self) {
        while let Some((key, next)) = self.sessions.poll() {
            let of = Of::Session(key);
            if let Some(connection) = self.connections.values_mut().find(|connection| connection.of == of) {
                connection.next = next;
            }
        }
    }

    fn set_numbers(
        &mut self,
        key: SessionKey,
        numbers: (Option<SeqNum>, Option<SeqNum>),
    ) -> Result<(), TransportError> {
        let set = self.sessions.set_numbers(self.now, key, numbers, "set by a script", &mut *self.app);
        set.map_err(|e| TransportError::Other(e.to_string()))
    }

    /// Returns the next point in time at which something is due.
    fn next_deadline(&self) -> Option<Mono> {
        let due = |connection: &Connection| match connection.of {
            Of::Nobody { until } => Some(until),
            Of::Session(_) => connection.next.deadline,
            Of::Closed => None,
        };
        self.connections.values().filter_map(due).min()
    }

    fn advance_to(&mut self, mono: Mono) {
        let step = mono - self.now.mono;
        self.now = Now { mono: self.now.mono.max(mono), utc: self.now.utc + step };
        let Self { now, sessions, app, connections, .. } = self;
        for connection in connections.values_mut() {
            match connection.of {
                Of::Nobody { until } if until <= now.mono => connection.of = Of::Closed,
                Of::Session(key) if connection.next.deadline.is_some_and(|due| due <= now.mono) => {
                    let read = sessions.wake(*now, key, &connection.inbound, &mut **app);
                    connection.inbound.drain(..read);
                }
                _ => {}
            }
        }
        self.settle();
    }
}

impl Connection {
    /// Finds the session from the first message. A counterparty that is unknown or already
    /// connected gets no answer.
    fn identify(&mut self, now: Now, sessions: &mut Sessions, app: &mut dyn Application) {
        if !matches!(self.of, Of::Nobody { .. }) {
            return;
        }
        let session = match identify(&self.inbound) {
            Identity::Incomplete => return,
            Identity::Refused(_) => None,
            Identity::Logon(id) => sessions.find_for_logon(&id).filter(|key| sessions.can_connect(*key)),
            Identity::LogonWithWrongCheckSum(id) => sessions.find_for_logon(&id).filter(|key| {
                sessions.can_connect(*key)
                    && sessions.settings(*key).is_some_and(|s| !s.validation.validate_checksum)
            }),
        };
        self.of = session.map_or(Of::Closed, Of::Session);
        if let Some(key) = session {
            sessions.connected(now, key, app);
        }
    }

    /// Runs one round of reading and writing. Returns whether anything happened.
    fn go_on(&mut self, now: Now, sessions: &mut Sessions, app: &mut dyn Application) -> bool {
        let Of::Session(key) = self.of else {
            self.inbound.clear();
            return false;
        };
        let mut moved = false;
        if (!self.inbound.is_empty() || self.next.read == Read::Again) && !self.next.close {
            let read = sessions.receive(now, key, &self.inbound, app);
            self.inbound.drain(..read);
            moved |= read > 0;
        }
        let written = sessions.writable(key).bytes.len();
        self.outbound.extend_from_slice(sessions.writable(key).bytes);
        sessions.wrote(now, key, written, Socket::Full);
        moved |= written > 0;
        if self.next.close && !self.next.output {
            sessions.disconnected(now, key, app);
            self.of = Of::Closed;
            moved = true;
        }
        moved
    }
}

impl Transport for VirtualTime {
    fn connect(&mut self, connection: u32) -> Result<(), TransportError> {
        let of = match self.initiator {
            Some(key) if self.sessions.can_connect(key) => Of::Session(key),
            Some(_) => return Err(TransportError::Other("the session does not connect".into())),
            None => Of::Nobody { until: self.now.mono + self.logon_timeout },
        };
        let old = self.connections.insert(
            connection,
            Connection { of, next: Next::default(), inbound: Vec::new(), outbound: Vec::new() },
        );
        match old {
            Some(Connection { of: Of::Session(_) | Of::Nobody { .. }, .. }) => {
                Err(TransportError::Other(format!("connection {connection} is already open")))
            }
            _ => {
                if let Of::Session(key) = of {
                    self.sessions.connected(self.now, key, &mut *self.app);
                }
                Ok(())
            }
        }
    }

    fn send(&mut self, connection: u32, bytes: &[u8]) -> Result<(), TransportError> {
        self.connection(connection)?.inbound.extend_from_slice(bytes);
        self.settle();
        Ok(())
    }

    fn receive(&mut self, connection: u32, wait: Duration) -> Result<Received, TransportError> {
        let until = self.now.mono + wait;
        self.settle();
        for _ in 0..ROUNDS {
            let open = self.connection(connection)?;
            if let Some(message) = take_message(&mut open.outbound) {
                return Ok(Received::Message(message));
            }
            if open.of == Of::Closed {
                return Ok(match std::mem::take(&mut open.outbound) {
                    rest if rest.is_empty() => Received::Disconnected,
                    rest => Received::Message(rest),
                });
            }
            match self.next_deadline() {
                Some(due) if due <= until => self.advance_to(due),
                _ if self.now.mono < until => self.advance_to(until),
                _ => return Ok(Received::Nothing),
            }
        }
        Err(TransportError::Other("the session keeps asking for the clock without doing anything".into()))
    }

    fn close(&mut self, connection: u32) -> Result<(), TransportError> {
        let open = self.connections.remove(&connection).ok_or(TransportError::NotConnected(connection))?;
        if let Of::Session(key) = open.of {
            self.sessions.disconnected(self.now, key, &mut *self.app);
        }
        self.settle();
        Ok(())
    }

    fn utc(&self) -> Utc {
        self.now.utc
    }

    fn command(&mut self, command: &Command) -> Result<(), TransportError> {
        let find = |id: &SessionId| {
            self.sessions.find(id).ok_or_else(|| TransportError::Other(format!("there is no session {id}")))
        };
        match command {
            Command::SetNextSenderSeqNum(id, number) => {
                let key = find(id)?;
                self.set_numbers(key, (None, Some(SeqNum(*number))))?;
            }
            Command::SetNextTargetSeqNum(id, number) => {
                let key = find(id)?;
                self.set_numbers(key, (Some(SeqNum(*number)), None))?;
            }
            Command::Logout(id, text) => {
                let key = find(id)?;
                let text = text.as_deref().unwrap_or_default();
                let done = self.sessions.log_out(self.now, key, text, &mut *self.app);
                done.map_err(|e| TransportError::Other(e.to_string()))?;
            }
        }
        self.settle();
        Ok(())
    }
}

/// Runs a folder of scripts in virtual time, every script against a new acceptor with these
/// sessions.
///
/// # Errors
/// Returns a [`ScriptError`] if the folder or a script cannot be read; no script is run then.
///
/// # Panics
/// Panics if the sessions cannot be opened.
pub fn run_suite(
    folder: &Path,
    order: Order,
    settings: &[SessionSettings],
    store: &mut dyn FnMut() -> Box<dyn Store>,
) -> Result<Report, ScriptError> {
    run_folder(folder, order, |_| {
        VirtualTime::new(settings, store(), Box::new(crate::Echo::new())).expect("the sessions open")
    })
}
