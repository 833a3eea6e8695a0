//! Sessions and their connections: passes each session its bytes and the time, and carries out what
//! it asks for.
//!
//! Every call into the session core is made here. The module does not know where connections come
//! from.

mod dynamic;
mod invariants;
mod operating;
mod posted;

use core::mem;
use core::net::SocketAddr;
use core::time::Duration;
use std::collections::VecDeque;
use std::sync::Arc;

use fixbolt_session::store::StoreError;
use fixbolt_session::{
    Application, AttemptFailure, ChangeError, Event, FailedAttempt, Mono, Next, OpenError, Read, Refusal,
    SendError, SessionEnd, SessionId, SessionKey, SessionSettings, SessionState, Sessions, Socket, Utc,
    Writable,
};
use tracing::field::display;

use super::connection::{CLOSING_TIMEOUT, Received, Stage};
use super::connections::Connections;
use super::cycle::{Cycle, LONGEST_SLEEP};
use super::initiator::{Attempt, ConnectionEnd};
use super::session_table::{SessionEntry, SessionTable, Side};
use crate::clock;
use crate::handshake_queue::HandshakeQueue;
use crate::initiation::Initiation;
use crate::limits::Limits;
use crate::memory;
use crate::network::Network;
use crate::operation::OperationError;
use crate::pages::Pages;
use crate::ports::{Port, Ports};
use crate::session_registry::{Elsewhere, SessionRegistry};
use crate::tls::{Tls, TlsContext};
use crate::worker_signal::WorkerSignal;

/// The most bytes that one write passes to a socket, so that a session with much to send does not
/// delay the others. The rest is written in the next cycle.
const WRITE_SIZE: usize = 64 * 1024;

/// How often a connection is read to find its end, when a second one asks for its session.
const LOOKS_FOR_END: usize = 4;

/// The sessions of one worker, with their connections.
///
/// Effects on other parts are returned as values: [`SessionDriver::next_ended_initiator`] names the
/// initiators to continue.
pub(crate) struct SessionDriver {
    sessions: Sessions,
    table: SessionTable,
    pub(crate) connections: Connections,
    /// Sessions that may have something to write, or to continue with, at the end of the cycle.
    outputs: VecDeque<SessionKey>,
    /// Sessions among `outputs` that can continue. Empty outside [`SessionDriver::write_output`].
    continuing: Vec<SessionKey>,
    /// Initiators whose connection has ended, and how.
    ended_initiators: Vec<(usize, ConnectionEnd)>,
    /// Initiators that an operator wants to connect now.
    hastened_initiators: Vec<(usize, Attempt)>,
    /// Initiators whose session was removed.
    removed_initiators: Vec<usize>,
    /// Connections that have ended.
    ends: Vec<(SessionKey, SessionEnd)>,
    store_checked: Mono,
    /// How long a dynamic session is kept without a connection.
    dynamic_idle_time: Duration,
    registry: Arc<SessionRegistry>,
    signal: Arc<WorkerSignal>,
}

impl SessionDriver {
    pub(crate) fn new(
        sessions: Sessions,
        registry: Arc<SessionRegistry>,
        signal: Arc<WorkerSignal>,
        limits: Limits,
        now: Mono,
    ) -> Self {
        Self {
            sessions,
            table: SessionTable::default(),
            connections: Connections::new(limits.connections),
            outputs: VecDeque::new(),
            continuing: Vec::new(),
            ended_initiators: Vec::new(),
            hastened_initiators: Vec::new(),
            removed_initiators: Vec::new(),
            ends: Vec::new(),
            store_checked: now,
            dynamic_idle_time: limits.dynamic_idle_time,
            registry,
            signal,
        }
    }

    /// Opens a session and its store.
    pub(crate) fn open(
        &mut self,
        settings: SessionSettings,
        entry: SessionEntry,
        cycle: &mut Cycle,
        app: &mut dyn Application,
    ) -> Result<SessionKey, OpenError> {
        self.registry.claim(&entry.id)?;
        let opened = if entry.is_dynamic() {
            self.sessions.open_lazily(cycle.now, settings, app)
        } else {
            self.sessions.open(cycle.now, settings, app)
        };
        let key = opened.inspect_err(|_| self.registry.remove(&entry.id))?;
        if memory::is_locked() {
            memory::touch(self.sessions.unused_outbox(key));
        }
        if let Some(halt) = self.sessions.halted(key) {
            tracing::error!(name: "halted", session = %entry.id, reason = %halt, "the session is halted");
        }
        let status = self.sessions.status(key).ok_or(OpenError::NotOpen)?;
        let settings = self.sessions.settings(key).ok_or(OpenError::NotOpen)?;
        // First at its port: other workers pass connections on, or wait while it is being opened.
        if let Some((port, accepted)) = entry.accepted(key) {
            self.registry.ports().add(port, accepted);
        }
        self.registry.add(&entry.id, key, status, settings, Arc::clone(&self.signal));
        self.table.add(key, entry);
        // No message allocates, also not the first one of a replay.
        self.continuing.reserve(self.table.places());
        self.poll(cycle);
        Ok(key)
    }

    /// Closes a session that has no connection, and forgets it. The result is that of closing its
    /// store.
    fn close_session(
        &mut self,
        key: SessionKey,
        close: impl FnOnce(&mut Sessions, SessionKey) -> Result<(), OpenError>,
        cycle: &Cycle,
        app: &mut dyn Application,
    ) -> Result<(), OpenError> {
        self.refuse_queued(key, cycle, app);
        let closed = close(&mut self.sessions, key);
        if closed == Err(OpenError::Connected) {
            return closed;
        }
        if let Some(mut entry) = self.table.remove(key) {
            // Last at its port: until then, other workers pass on what asks for it.
            self.registry.remove(&entry.id);
            if let Some((port, _)) = entry.accepted(key) {
                self.registry.ports().remove(port, key);
            }
            if entry.dynamic().is_some_and(|dynamic| dynamic.counted) {
                self.registry.remove_dynamic();
            }
            if let Side::Initiator { initiator } = entry.side {
                self.removed_initiators.push(initiator);
            }
        }
        closed
    }

    /// Returns whether the store has time for a session that is to be opened.
    pub(crate) fn may_open(&mut self, id: &SessionId) -> bool {
        self.sessions.may_open(id)
    }

    /// Returns the number of sessions of all workers.
    pub(crate) fn session_count(&self) -> usize {
        self.registry.count()
    }

    /// Returns the ports of the engine.
    pub(crate) fn ports(&self) -> &Ports {
        self.registry.ports()
    }

    /// Returns where the steps of handshakes are computed.
    pub(crate) fn handshakes(&self) -> &Arc<HandshakeQueue> {
        self.registry.handshakes()
    }

    /// Decides how the connections to a port begin, or checks that a further session agrees.
    pub(crate) fn agree(&self, port: Port, proxies: &[Network], tls: Option<&Tls>) -> Result<(), String> {
        let agreed = self.ports().agree(port, proxies, tls, self.registry.tls());
        agreed.map_err(|faults| faults.to_string())
    }

    /// Returns the TLS of an initiator's connections, if they have it.
    pub(crate) fn tls_of(&self, initiation: &Initiation) -> Result<Option<Arc<TlsContext>>, String> {
        let Some(tls) = &initiation.tls else { return Ok(None) };
        let context = self.registry.tls().of_initiator(tls, initiation.settings.id.target_comp_id());
        context.map(Some).map_err(|faults| faults.to_string())
    }

    /// Returns the memory of the messages from other threads.
    pub(crate) fn pages(&self) -> &Arc<Pages> {
        self.registry.pages()
    }

    /// Returns whether a session with this identity is open, or being opened, on any worker.
    pub(crate) fn elsewhere(&self, id: &SessionId) -> Option<Elsewhere> {
        self.registry.elsewhere(id)
    }

    /// Returns the number of places of sessions or of connections, whichever are more.
    pub(crate) fn places(&self) -> usize {
        self.table.places().max(self.connections.slots().end)
    }

    /// Returns the identities of the open sessions.
    pub(crate) fn identities(&self) -> Vec<SessionId> {
        let keys = (0..self.table.places()).filter_map(|n| self.table.key(n));
        keys.map(|key| self.table[key].id.clone()).collect()
    }

    /// Returns what is known about a session that is open.
    pub(crate) fn entry(&self, key: SessionKey) -> &SessionEntry {
        &self.table[key]
    }

    /// Returns whether a message with a wrong CheckSum is garbled in the session.
    pub(crate) fn validates_checksum(&self, key: SessionKey) -> bool {
        self.sessions.settings(key).is_none_or(|settings| settings.validation.validate_checksum)
    }

    /// Returns whether the session accepts a connection now.
    pub(crate) fn can_connect(&self, key: SessionKey) -> bool {
        self.sessions.can_connect(key)
    }

    /// Returns when the session may have a connection, if its schedule allows none now:
    /// `Some(None)` if not within three years.
    pub(crate) fn waits_for_schedule(&self, key: SessionKey, cycle: &Cycle) -> Option<Option<Utc>> {
        self.sessions.waits_for_schedule(cycle.now, key)
    }

    /// Checks whether the session accepts a connection now, for one that asks for it.
    pub(crate) fn connectable(&self, key: SessionKey) -> Result<(), Refusal> {
        if self.sessions.can_connect(key) {
            Ok(())
        } else if self.sessions.halted(key).is_some() {
            Err(Refusal::Halted)
        } else if !self.sessions.is_enabled(key) {
            Err(Refusal::Disabled)
        } else {
            Err(Refusal::AlreadyConnected { to: self.peer_of(key) })
        }
    }

    /// Returns the address of the counterparty of a session's connection.
    pub(crate) fn peer_of(&self, key: SessionKey) -> Option<SocketAddr> {
        let slot = self.table.get(key)?.connection?;
        Some(self.connections.get(slot)?.peer)
    }

    /// Attaches a connection to a session, which takes over its received bytes.
    pub(crate) fn attach(
        &mut self,
        slot: usize,
        key: SessionKey,
        cycle: &mut Cycle,
        app: &mut dyn Application,
    ) {
        let entry = &mut self.table[key];
        let Some(connection) = self.connections.get_mut(slot) else { return };
        let certificate = connection.transport.peer_certificate();
        let certificate = certificate.as_ref();
        // The subject, which the counterparty may have chosen, is the last thing.
        tracing::info!(
            session = %entry.id,
            peer = %connection.peer,
            serial = certificate.map(|certificate| display(&certificate.serial)),
            expires = certificate.and_then(|certificate| certificate.expires.as_ref()).map(display),
            subject = certificate.map(|certificate| display(&certificate.subject)),
            "connected"
        );
        connection.set_options(&entry.socket, |option, error| {
            tracing::warn!(name: "socket_option", session = %entry.id, %error, "{option} could not be set");
        });
        entry.connection = Some(slot);
        entry.withdrawn = false;
        if let Some(dynamic) = entry.dynamic() {
            dynamic.idle_since = None;
        }
        self.connections.assign(slot, key, entry.is_dynamic(), entry.max_message_size);
        if !self.sessions.connected(cycle.now, key, app) {
            // Its window has ended since the last look.
            return self.disconnect(key, cycle, app);
        }
        self.process_received(slot, key, cycle, app);
        self.count_dynamic(key, cycle, app);
    }

    /// Serves the connection of a session, which is ready: reads once, unless something is left to
    /// process of the last read.
    pub(crate) fn read(
        &mut self,
        slot: usize,
        key: SessionKey,
        cycle: &mut Cycle,
        app: &mut dyn Application,
    ) {
        let read = self.next(key, cycle).read;
        let Some(connection) = self.connections.get_mut(slot) else { return };
        match read {
            // The counterparty resends what was not consumed; it must not keep the session from its
            // next connection.
            Read::Nothing if connection.broken => return self.disconnect(key, cycle, app),
            Read::Nothing => {}
            Read::Again => self.process_received(slot, key, cycle, app),
            _ => match connection.receive() {
                Received::Bytes => self.process_received(slot, key, cycle, app),
                Received::Nothing => self.follow_up(key, cycle),
                Received::End => {
                    self.note_failure(slot, key);
                    return self.disconnect(key, cycle, app);
                }
            },
        }
        self.note_output(key);
    }

    /// Reads what the connection of a session may have waiting, whether or not the system has
    /// reported it: the counterparty may have closed it before it made another one, of which
    /// another worker knew first.
    pub(crate) fn look_for_end(&mut self, key: SessionKey, cycle: &mut Cycle, app: &mut dyn Application) {
        for _ in 0..LOOKS_FOR_END {
            let Some(slot) = self.table[key].connection else { return };
            let Some(connection) = self.connections.get_mut(slot) else { return };
            connection.readable = true;
            self.read(slot, key, cycle, app);
        }
    }

    /// Says why the TLS of a session's connection was given up, if it was.
    fn note_failure(&self, slot: usize, key: SessionKey) {
        if let Some(failure) =
            self.connections.get(slot).and_then(|connection| connection.transport.failure())
        {
            tracing::warn!(name: "tls_failed", session = %self.table[key].id, "{failure}");
        }
    }

    /// Reads once from each session's socket, whether or not there is anything to read, except from
    /// those that are served anyway. Returns whether there was anything.
    pub(crate) fn read_all(&mut self, cycle: &mut Cycle, app: &mut dyn Application) -> bool {
        let mut any = false;
        for slot in self.connections.slots() {
            let Some(connection) = self.connections.get_mut(slot) else { continue };
            let Stage::Session(key) = connection.stage else { continue };
            if connection.queued || self.next(key, cycle).read != Read::Bytes {
                continue;
            }
            let Some(connection) = self.connections.get_mut(slot) else { continue };
            connection.readable = true;
            match connection.receive() {
                Received::Bytes => {
                    any = true;
                    self.process_received(slot, key, cycle, app);
                    self.note_output(key);
                }
                Received::Nothing => {}
                Received::End => {
                    self.note_failure(slot, key);
                    self.disconnect(key, cycle, app);
                }
            }
        }
        any
    }

    /// Passes the session the bytes that it has not consumed.
    fn process_received(
        &mut self,
        slot: usize,
        key: SessionKey,
        cycle: &mut Cycle,
        app: &mut dyn Application,
    ) {
        let Some(connection) = self.connections.get_mut(slot) else { return };
        let consumed = self.sessions.receive(cycle.now, key, connection.received.filled(), app);
        connection.received.consume(consumed);
        self.poll(cycle);
    }

    /// Calls the session because of the time, because there is room again, or because its
    /// application asked for it.
    pub(crate) fn wake(&mut self, key: SessionKey, cycle: &mut Cycle, app: &mut dyn Application) {
        // The handle of another engine's session may get here by mistake.
        if self.table.key(key.index()) != Some(key) {
            return;
        }
        let Some(slot) = self.table[key].connection else {
            self.sessions.wake(cycle.now, key, &[], app);
            self.uncount_dynamic(key, cycle);
            return self.poll(cycle);
        };
        let Some(connection) = self.connections.get_mut(slot) else { return };
        let consumed = self.sessions.wake(cycle.now, key, connection.received.filled(), app);
        connection.received.consume(consumed);
        self.poll(cycle);
    }

    /// Calls every session that reads nothing for now.
    pub(crate) fn wake_blocked(&mut self, cycle: &mut Cycle, app: &mut dyn Application) {
        for n in 0..self.table.places() {
            if let Some(key) = self.table.key(n)
                && self.next(key, cycle).read == Read::Nothing
            {
                self.wake(key, cycle, app);
            }
        }
    }

    /// Calls the sessions whose deadline has come, connected or not, and requests a wake-up for
    /// later deadlines.
    pub(crate) fn wake_due(&mut self, cycle: &mut Cycle, app: &mut dyn Application) {
        for n in 0..self.table.places() {
            let Some(key) = self.table.key(n) else { continue };
            match self.next(key, cycle).deadline {
                Some(at) if at <= cycle.now.mono => {
                    // The worker may have been kept from writing: what the socket accepts now is
                    // not unread.
                    self.write(key, cycle, app);
                    self.wake(key, cycle, app);
                }
                Some(at) => cycle.wake(at),
                None => {}
            }
        }
    }

    /// Warms up idle sessions if that is due, and requests a wake-up for the next time.
    pub(crate) fn warm_up(&mut self, cycle: &mut Cycle, app: &mut dyn Application) {
        if let Some(at) = self.sessions.warm_up_due(cycle.now, app) {
            cycle.wake(at);
        }
    }

    /// Returns what the session asks for.
    fn next(&mut self, key: SessionKey, cycle: &mut Cycle) -> Next {
        self.poll(cycle);
        self.table[key].next
    }

    /// Follows up each session that asks for something new: after each call that may close it, read
    /// on or change its deadline, and at the end of a cycle in any case.
    fn poll(&mut self, cycle: &mut Cycle) {
        while let Some((key, next)) = self.sessions.poll() {
            self.table[key].next = next;
            self.follow_up(key, cycle);
        }
    }

    /// Does what the session asks for: notes whether it closes, whether it reads on, its output and
    /// its deadline.
    fn follow_up(&mut self, key: SessionKey, cycle: &mut Cycle) {
        let SessionEntry { next, connection: slot, .. } = self.table[key];
        if next.deadline.is_some_and(|at| at <= cycle.now.mono) {
            self.note_output(key);
        } else if let Some(at) = next.deadline {
            cycle.wake(at);
        }
        let Some(slot) = slot else { return };
        let Some(connection) = self.connections.get(slot) else { return };
        // What the store has not released, or the socket does not accept, is written later.
        let writes = connection.writable && !self.sessions.writable(key).bytes.is_empty();
        let reads = connection.readable && (connection.broken || next.read != Read::Nothing);
        if next.close {
            self.begin_closing(slot, key, cycle);
        } else if reads || next.read == Read::Again {
            self.connections.mark_ready(slot);
        }
        if writes || next.close && !next.output {
            self.note_output(key);
        }
    }

    /// Sends a closing session's remaining output, then closes the connection. Further calls of the
    /// session do not extend the time limit.
    fn begin_closing(&mut self, slot: usize, key: SessionKey, cycle: &mut Cycle) {
        let Some(connection) = self.connections.get_mut(slot) else { return };
        if !matches!(connection.stage, Stage::Closing { .. }) {
            let until = cycle.now.mono + CLOSING_TIMEOUT;
            connection.stage = Stage::Closing { session: key, until };
            cycle.wake(until);
        }
    }

    /// Reports to the application that an attempt to connect and to log on has failed. What it
    /// writes because of it is sent in the next cycle.
    pub(crate) fn tell_failed_attempt(
        &mut self,
        key: SessionKey,
        attempt: &FailedAttempt,
        cycle: &mut Cycle,
        app: &mut dyn Application,
    ) {
        self.sessions.notify(cycle.now, key, &Event::AttemptFailed(attempt), app);
        self.poll(cycle);
    }

    /// Schedules the session's output for the end of the cycle, and the close of its connection if
    /// nothing else is left to do.
    pub(crate) fn note_output(&mut self, key: SessionKey) {
        let entry = &mut self.table[key];
        if !entry.has_output {
            entry.has_output = true;
            self.outputs.push_back(key);
        }
    }

    /// Returns whether a session may have output.
    pub(crate) fn has_output(&self) -> bool {
        !self.outputs.is_empty()
    }

    /// Writes once for each session that has output, or whose connection may be closed, and calls
    /// those that can continue. Returns whether a socket accepted any bytes.
    pub(crate) fn write_output(&mut self, cycle: &mut Cycle, app: &mut dyn Application) -> bool {
        self.poll(cycle);
        let mut written = false;
        // Sessions that get output meanwhile have it written in the next cycle.
        for _ in 0..self.outputs.len() {
            let Some(key) = self.outputs.pop_front() else { break };
            // It may have been closed.
            if self.table.key(key.index()) != Some(key) {
                continue;
            }
            self.table[key].has_output = false;
            written |= self.write(key, cycle, app);
            if self.table[key].next.deadline.is_some_and(|at| at <= cycle.now.mono) {
                self.continuing.push(key);
            }
        }
        // There may be room for what waited: the rest of a replay, or a message that met a full
        // outbox. The others' output is written first, and what these add in the next cycle, so
        // that a long replay does not delay the other sessions.
        let mut continuing = mem::take(&mut self.continuing);
        for key in continuing.drain(..) {
            self.wake(key, cycle, app);
        }
        self.continuing = continuing;
        written
    }

    /// Writes once what the store has released. Returns whether the socket accepted any bytes.
    fn write(&mut self, key: SessionKey, cycle: &mut Cycle, app: &mut dyn Application) -> bool {
        let Some(slot) = self.table[key].connection else { return false };
        let Some(connection) = self.connections.get_mut(slot) else { return false };
        let mut written = false;
        let Writable { bytes, is_timed } = self.sessions.writable(key);
        if bytes.is_empty() {
            connection.flush();
        } else if connection.writable {
            kill_point!(Send);
            match connection.send(&bytes[..bytes.len().min(WRITE_SIZE)]) {
                Ok(count) => {
                    let socket = if connection.writable { Socket::Open } else { Socket::Full };
                    let now = if is_timed { clock::now() } else { cycle.now };
                    self.sessions.wrote(now, key, count, socket);
                    written = count > 0;
                }
                Err(error) => {
                    tracing::info!(session = %self.table[key].id, %error, "writing failed");
                    self.disconnect(key, cycle, app);
                    return false;
                }
            }
        }
        let next = self.next(key, cycle);
        let closes = self.connections.get(slot).is_some_and(|connection| {
            matches!(connection.stage, Stage::Closing { .. }) && !connection.has_unsent()
        });
        if closes && !next.output {
            self.disconnect(key, cycle, app);
        }
        written
    }

    /// Releases what waits for the store, and notices a store that failed by itself: when the store
    /// has notified the worker, and periodically in any case. Returns whether it did.
    pub(crate) fn check_store(&mut self, rang: bool, cycle: &Cycle, app: &mut dyn Application) -> bool {
        let is_due = rang || cycle.now.mono - self.store_checked >= LONGEST_SLEEP;
        if is_due {
            self.store_checked = cycle.now.mono;
            self.sessions.store_advanced(cycle.now, app);
            while let Some((session, error)) = self.sessions.take_unclean() {
                tracing::error!(%session, %error, "the dynamic session was not closed cleanly");
            }
        }
        is_due
    }

    /// Lets the store do one step of what it has to do ahead of time. Returns whether there may be
    /// another one.
    pub(crate) fn prepare_store(&mut self) -> bool {
        self.sessions.prepare_store()
    }

    /// Begins a session's logout for an operator, or ends its connection if that is not possible.
    pub(crate) fn log_out(
        &mut self,
        key: SessionKey,
        text: &str,
        cycle: &mut Cycle,
        app: &mut dyn Application,
    ) {
        if self.table[key].connection.is_none() {
            return;
        }
        self.table[key].withdrawn = true;
        match self.sessions.log_out(cycle.now, key, text, app) {
            Ok(()) => self.poll(cycle),
            // No Logout can be sent: not logged on, halted, or the outbox is full.
            Err(SendError::NotLoggedOn | SendError::Unavailable | SendError::BackPressure) => {
                self.disconnect(key, cycle, app);
            }
            Err(error) => {
                tracing::error!(session = %self.table[key].id, %error, "the Logout could not be sent");
                self.disconnect(key, cycle, app);
            }
        }
    }

    /// Begins the logout of every session. Returns how long the answers may take, and the ends of
    /// their connections.
    pub(crate) fn log_out_all(&mut self, cycle: &mut Cycle, app: &mut dyn Application) -> Duration {
        let mut longest = Duration::ZERO;
        for n in 0..self.table.places() {
            let Some(key) = self.table.key(n) else { continue };
            let entry = &self.table[key];
            longest = longest.max(entry.logout_timeout.saturating_add(entry.socket.linger));
            self.log_out(key, "", cycle, app);
        }
        longest
    }

    /// Ends the session's connection, whichever side closed it.
    pub(crate) fn disconnect(&mut self, key: SessionKey, cycle: &mut Cycle, app: &mut dyn Application) {
        let entry = &mut self.table[key];
        let Some(slot) = entry.connection.take() else { return };
        if self.sessions.settings(key).is_some_and(|settings| settings.timing.codec_timing.is_some())
            && let Some(link) = self.registry.link(&entry.id)
            && let Some(timing) = &link.queue.timing
        {
            self.sessions.add_encoding_time(key, timing.take());
        }
        let logged_on = self.sessions.has_logged_on(key);
        let end = self.sessions.disconnected(cycle.now, key, app);
        let entry = &self.table[key];
        // The line about a failed attempt has its reason.
        let is_attempt = matches!(entry.side, Side::Initiator { .. }) && !logged_on;
        log_end(&entry.id, end.as_ref().filter(|_| !is_attempt));
        if let Side::Initiator { initiator } = self.table[key].side {
            let end = self.connection_end(slot, key, logged_on, end.as_ref());
            self.ended_initiators.push((initiator, end));
        }
        if let Some(end) = end {
            if !logged_on {
                self.tell_refused(slot, key, &end, cycle);
            }
            self.ends.push((key, end));
        }
        self.note_idle(key, cycle);
        self.uncount_dynamic(key, cycle);
        // Threads that wait for room must give up now.
        self.pages().room.made();
        self.poll(cycle);
        let stage = self.connections.get(slot).map(|connection| connection.stage);
        if matches!(stage, Some(Stage::Closing { .. })) {
            let until = cycle.now.mono + self.table[key].socket.linger;
            self.connections.begin_draining(slot, until);
            cycle.wake(until);
        } else {
            self.connections.close(slot);
        }
    }

    /// Tells why an acceptor's connection has ended before its counterparty was logged on, unless
    /// we have ended it on purpose.
    fn tell_refused(&mut self, slot: usize, key: SessionKey, end: &SessionEnd, cycle: &Cycle) {
        let entry = &self.table[key];
        let Some(connection) = self.connections.get(slot) else { return };
        if entry.withdrawn || matches!(entry.side, Side::Initiator { .. }) {
            return;
        }
        let why = match connection.transport.failure() {
            Some(failure) => Refusal::Tls(failure.clone()),
            None => Refusal::LoggingOn(end.clone()),
        };
        let peer = connection.peer;
        self.connections.refusals.tell(peer, Some(&entry.id), why, cycle.now.mono);
    }

    /// Returns how an initiator's connection has ended, as far as its next attempt depends on it.
    fn connection_end(
        &self,
        slot: usize,
        key: SessionKey,
        logged_on: bool,
        end: Option<&SessionEnd>,
    ) -> ConnectionEnd {
        if logged_on {
            return ConnectionEnd::AfterLogon;
        }
        match (self.connections.get(slot), end) {
            // A session that is halted or disabled would have no use for the next host.
            (Some(connection), Some(end)) if !self.table[key].withdrawn && self.sessions.can_connect(key) => {
                // An acceptor's verdict on our certificate may come after our Logon.
                let why = match connection.transport.failure() {
                    Some(failure) => AttemptFailure::Tls(failure.clone()),
                    None => AttemptFailure::LoggingOn(end.clone()),
                };
                ConnectionEnd::BeforeLogon { address: connection.peer, why }
            }
            _ => ConnectionEnd::Withdrawn,
        }
    }

    /// Returns an initiator whose connection has ended, and how, each once.
    pub(crate) fn next_ended_initiator(&mut self) -> Option<(usize, ConnectionEnd)> {
        self.ended_initiators.pop()
    }

    /// Returns an initiator to connect at once, each once.
    pub(crate) fn next_hastened_initiator(&mut self) -> Option<(usize, Attempt)> {
        self.hastened_initiators.pop()
    }

    /// Returns an initiator whose session was removed, each once.
    pub(crate) fn next_removed_initiator(&mut self) -> Option<usize> {
        self.removed_initiators.pop()
    }

    /// Returns a connection that has ended, and how, each once.
    pub(crate) fn next_end(&mut self) -> Option<(SessionKey, SessionEnd)> {
        self.ends.pop()
    }

    /// Returns whether a session is logged on, or cannot be; `None` while that is undecided.
    pub(crate) fn logon_outcome(&self, key: SessionKey) -> Option<Result<(), OperationError>> {
        let Some(status) = self.sessions.status(key) else { return Some(Err(OperationError::NoSession)) };
        match status.state() {
            SessionState::LoggedOn => Some(Ok(())),
            SessionState::Halted(halt) => Some(Err(ChangeError::Halted(halt).into())),
            SessionState::Disabled => Some(Err(OperationError::Disabled)),
            _ => None,
        }
    }

    /// Ends every connection and closes the stores.
    pub(crate) fn close(mut self, cycle: &mut Cycle, app: &mut dyn Application) -> Result<(), StoreError> {
        for n in 0..self.table.places() {
            if let Some(key) = self.table.key(n) {
                self.disconnect(key, cycle, app);
                // What its socket has not accepted.
                self.sessions.end_waiting(cycle.now, key, app);
            }
        }
        self.sessions.close_all()
    }
}

/// Writes the line of the log about the end of a connection. What our side has failed at, and what
/// needs an operator, is an error: the application may show its events to nobody.
fn log_end(session: &SessionId, end: Option<&SessionEnd>) {
    use SessionEnd::{ApplicationFailed, CallbackFailed, Halted, PeerExpectsMore, Unanswerable};
    let reason = end.map(display);
    match end {
        Some(
            ApplicationFailed { .. }
            | CallbackFailed { .. }
            | Halted(_)
            | PeerExpectsMore { .. }
            | Unanswerable(_),
        ) => tracing::error!(name: "disconnected", %session, reason, "disconnected"),
        _ => tracing::info!(name: "disconnected", %session, reason, "disconnected"),
    }
}
