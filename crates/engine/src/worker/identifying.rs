//! Which session an accepted connection belongs to: reads its Logon, and finds the session on this
//! worker, passes the connection to the worker that has it, or opens the one that a template makes.

use core::net::{IpAddr, Ipv6Addr};
use core::time::Duration;

use fixbolt_session::{
    Application, CertificateMismatch, FirstMessageFault, Identity, Mono, Refusal, Role, SessionId,
    SessionKey, TlsFailure, identify,
};

use super::Worker;
use super::connection::{Received, Stage};
use super::session_table::{Dynamic, SessionEntry, Side, admit, peer_rules};
use crate::acceptance::Acceptance;
use crate::clock;
use crate::ports::{Made, Port};
use crate::proxy_header::begins;
use crate::session_registry::Elsewhere;
use crate::tls::PeerRules;

/// The most Logons that wait for their session to be opened and are looked at per cycle.
const MOST_TRIES: usize = 8;

/// How long a Logon waits for another worker before it is looked at again.
const OTHER_WORKER: Duration = Duration::from_millis(10);
/// How long the last words of a connection may take whose TLS was given up.
const LINGER: Duration = Duration::from_secs(1);
/// How a handshake of TLS begins: a record of the handshake, of version 3.
const HANDSHAKE: [u8; 2] = [0x16, 0x03];

/// What becomes of a connection whose Logon names its session.
enum Next {
    /// The session is open here.
    Attach(SessionKey),
    /// The session was opened for it here; the work began at that time.
    AttachOpened(SessionKey, Mono),
    /// The worker with this number has the session.
    PassOn(u16),
    /// The session cannot be opened yet.
    Wait,
}

impl Worker {
    /// Reads from an accepted connection until its Logon names its session.
    pub(super) fn identify(&mut self, slot: usize, port: Port, app: &mut dyn Application) {
        let Some(connection) = self.driver.connections.get_mut(slot) else { return };
        connection.flush();
        let ended = if connection.has_logon {
            connection.read_closed
        } else if connection.readable {
            connection.receive() == Received::End
        } else {
            return;
        };
        if let Some(failure) = connection.transport.failure().filter(|_| ended) {
            let failure = failure.clone();
            return self.refuse_tls(slot, failure);
        }
        if connection.received.filled().starts_with(&HANDSHAKE) {
            return self.refuse(slot, None, Refusal::SpeaksTls);
        }
        if begins(connection.received.filled()) {
            return self.refuse(slot, None, Refusal::SpeaksProxy);
        }
        let identity = identify(connection.received.filled());
        let is_right = !matches!(identity, Identity::LogonWithWrongCheckSum(_));
        match identity {
            _ if ended => self.refuse(slot, None, Refusal::ClosedByPeer),
            Identity::Incomplete => {
                if connection.readable {
                    self.driver.connections.mark_ready(slot);
                }
            }
            // R-FRAME-7
            Identity::Refused(reason) => self.refuse(slot, None, Refusal::NotALogon(reason)),
            Identity::Logon(logon) | Identity::LogonWithWrongCheckSum(logon) => {
                connection.has_logon = true;
                match self.next(slot, port, (&logon, is_right), app) {
                    Ok(Next::Attach(key)) => self.driver.attach(slot, key, &mut self.cycle, app),
                    Ok(Next::AttachOpened(key, began)) => {
                        self.driver.attach(slot, key, &mut self.cycle, app);
                        self.openings.spend(began, clock::now().mono);
                    }
                    Ok(Next::PassOn(worker)) => {
                        if !self.pass_on(slot, usize::from(worker)) {
                            self.refuse(slot, Some(&logon), Refusal::WorkerDied);
                        }
                    }
                    Ok(Next::Wait) => self.wait_to_open(slot),
                    Err(refusal) => self.refuse(slot, Some(&logon), refusal),
                }
            }
        }
    }

    /// Decides what becomes of a connection with this Logon.
    fn next(
        &mut self,
        slot: usize,
        port: Port,
        (logon, is_right): (&SessionId, bool),
        app: &mut dyn Application,
    ) -> Result<Next, Refusal> {
        if let Some(key) = self.driver.ports().session_for(port, logon) {
            return self.open_here(slot, port, (key, is_right), app);
        }
        let identities = self.driver.ports().identities_for(port, logon);
        // R-LOGON-4
        if identities.is_empty() {
            return Err(Refusal::NoSuchSession);
        }
        let may_open = identities.iter().all(|id| self.driver.may_open(id));
        if !self.openings.may_begin(self.cycle.now.mono) || !may_open {
            return Ok(Next::Wait);
        }
        let began = clock::now().mono;
        let Made { template, id, acceptance } = self
            .driver
            .ports()
            .ask_templates(port, logon)
            .map_err(|_| Refusal::TemplatePanicked)?
            .ok_or(Refusal::NoSuchSession)?;
        admit(&acceptance.allowed_remote_addresses, self.origin(slot))?;
        let has_tls =
            self.driver.connections.get(slot).is_some_and(|connection| connection.transport.has_tls());
        if let Some(tls) = &acceptance.tls {
            if !has_tls {
                return Err(CertificateMismatch::NoTls.into());
            }
            if let Some(what) = self.driver.ports().tls_differs(port, tls) {
                return Err(Refusal::OtherTls { what });
            }
        }
        self.check_certificate(slot, port, &peer_rules(acceptance.tls.as_ref(), &id))?;
        if acceptance.settings.id != id || acceptance.settings.role != Role::Acceptor {
            tracing::error!(session = %id, "the template returned settings for another session, or for an initiator");
            return Err(Refusal::NoSuchSession);
        }
        // In this order: a session that another worker has opened since is one of the port.
        let elsewhere = self.driver.elsewhere(&id);
        if let Some(key) = self.driver.ports().made_by(port, template, &id) {
            return self.open_here(slot, port, (key, is_right), app);
        }
        match elsewhere {
            None => {}
            Some(Elsewhere::Opening) => return Ok(self.wait_for_other_worker()),
            // For other connections.
            Some(Elsewhere::Open) => return Err(Refusal::NoSuchSession),
        }
        if usize::from(self.number) >= self.team.shared() {
            // A dedicated worker listens because no shared one lives.
            return Err(Refusal::WorkerDied);
        }
        check_sum(is_right, acceptance.settings.validation.validate_checksum)?;
        self.check_room(slot)?;
        let Acceptance { settings, allowed_remote_addresses: allowed, socket, tls, .. } = acceptance;
        let side = Side::Acceptor { port, allowed: allowed.into(), dynamic: Some(Dynamic::new(template)) };
        let entry = SessionEntry::new(&settings, side, socket, tls.as_ref());
        let Some(key) = self.driver.open_dynamic(settings, entry, &mut self.cycle, app)? else {
            return Ok(self.wait_for_other_worker());
        };
        self.driver.connectable(key).map(|()| Next::AttachOpened(key, began))
    }

    /// Decides what becomes of a connection whose Logon names a session that is open, on whichever
    /// worker.
    fn open_here(
        &mut self,
        slot: usize,
        port: Port,
        (key, is_right): (SessionKey, bool),
        app: &mut dyn Application,
    ) -> Result<Next, Refusal> {
        if key.worker() != self.number {
            let owner = self.team.workers().get(usize::from(key.worker()));
            if owner.is_some_and(|owner| !owner.is_stopped() && owner.is_behind()) {
                return Ok(self.wait_for_other_worker());
            }
            return Ok(Next::PassOn(key.worker()));
        }
        let entry = self.driver.entry(key);
        entry.admit(port, self.origin(slot))?;
        self.check_certificate(slot, port, &entry.peer)?;
        check_sum(is_right, self.driver.validates_checksum(key))?;
        if entry.is_dynamic() {
            self.check_room(slot)?;
        }
        if let Err(Refusal::AlreadyConnected { .. }) = self.driver.connectable(key) {
            self.driver.look_for_end(key, &mut self.cycle, app);
        }
        self.driver.connectable(key).map(|()| Next::Attach(key))
    }

    /// Checks whether a connection's certificate is one that the session's counterparty may have. A
    /// certificate that belongs to a session by the configuration is not for one that says nothing.
    fn check_certificate(&self, slot: usize, port: Port, rules: &PeerRules) -> Result<(), Refusal> {
        let Some(connection) = self.driver.connections.get(slot) else { return Ok(()) };
        if !connection.transport.has_tls() {
            return Ok(());
        }
        let certificate = connection.transport.peer_certificate();
        rules.check(certificate.as_ref())?;
        match certificate {
            Some(certificate)
                if rules.say_nothing() && self.driver.ports().is_claimed(port, &certificate) =>
            {
                Err(CertificateMismatch::OfAnotherSession.into())
            }
            _ => Ok(()),
        }
    }

    /// Closes a connection whose TLS was given up, and says why. What the library says about it to
    /// the counterparty should arrive, so the rest of what that one sends is read, unless it has
    /// said goodbye.
    pub(super) fn refuse_tls(&mut self, slot: usize, failure: TlsFailure) {
        self.tell_refused(slot, None, Refusal::Tls(failure));
        let Some(connection) = self.driver.connections.get(slot) else { return };
        if !connection.transport.has_tls()
            || connection.transport.is_away()
            || connection.transport.peer_has_left()
        {
            return self.driver.connections.close(slot);
        }
        let until = self.cycle.now.mono + LINGER;
        self.driver.connections.begin_draining(slot, until);
        self.cycle.wake(until);
    }

    /// Returns the address that a connection comes from.
    fn origin(&self, slot: usize) -> IpAddr {
        let peer = self.driver.connections.get(slot).map(|connection| connection.peer);
        peer.map_or(IpAddr::V6(Ipv6Addr::UNSPECIFIED), |peer| peer.ip().to_canonical())
    }

    /// Checks whether the address of a connection may have one more of a dynamic session.
    fn check_room(&self, slot: usize) -> Result<(), Refusal> {
        let may_be = self.driver.connections.admission.may_be_dynamic(slot);
        may_be.then_some(()).ok_or(Refusal::NoRoomForAddress)
    }

    /// Closes a connection that gets no session, and says why.
    pub(super) fn refuse(&mut self, slot: usize, asked: Option<&SessionId>, refusal: Refusal) {
        self.tell_refused(slot, asked, refusal);
        self.driver.connections.close(slot);
    }

    /// Says why a connection gets no session.
    fn tell_refused(&mut self, slot: usize, asked: Option<&SessionId>, refusal: Refusal) {
        let connections = &mut self.driver.connections;
        let Some(connection) = connections.get(slot) else { return };
        let peer = connection.peer;
        connections.refusals.tell(peer, asked, refusal, self.cycle.now.mono);
    }

    /// Passes a connection to the worker that has its session. Returns whether that one lives.
    fn pass_on(&mut self, slot: usize, worker: usize) -> bool {
        let Some(worker) = self.team.workers().get(worker).filter(|worker| !worker.is_stopped()) else {
            return false;
        };
        match self.driver.connections.take(slot, self.poll.registry()) {
            Some(connection) => worker.hand_over(Box::new(connection)),
            None => false,
        }
    }

    /// Continues with connections that other workers have accepted: as many in a cycle as it would
    /// accept itself, so that none of them has to give way before it was looked at.
    pub(super) fn take_over(&mut self, app: &mut dyn Application) {
        let most = match self.stopping {
            None => self.driver.connections.admission.batch(),
            Some(_) => usize::MAX,
        };
        for _ in 0..most {
            let Some(mut connection) = self.arriving.pop_front() else { return };
            if self.stopping.is_none() {
                (connection.queued, connection.waits) = (false, false);
                let (has_logon, stage) = (connection.has_logon, connection.stage);
                if let Some(slot) = self.take_in(*connection)
                    && let Stage::Pending { port, .. } = stage
                    && has_logon
                {
                    self.identify(slot, port, app);
                }
                // Before it no longer counts as coming: it is always counted.
                self.signal.note_connections(self.driver.connections.count());
            }
            self.signal.note_arrival();
        }
        if !self.arriving.is_empty() {
            self.cycle.repeat();
        }
    }

    /// Has a Logon wait until another worker has opened its session, or has caught up with the
    /// connections that it was passed.
    fn wait_for_other_worker(&mut self) -> Next {
        self.look_at_waiting.get_or_insert(self.cycle.now.mono + OTHER_WORKER);
        Next::Wait
    }

    /// Lets a connection wait whose Logon asks for a session that is not open.
    fn wait_to_open(&mut self, slot: usize) {
        let Some(connection) = self.driver.connections.get_mut(slot) else { return };
        // The slot may be there already, of a connection that was closed.
        if !core::mem::replace(&mut connection.waits, true) && !self.waiting_to_open.contains(&slot) {
            self.waiting_to_open.push_back(slot);
        }
    }

    /// Continues with the Logons that have waited for their session to be opened, a few in each
    /// cycle. Those that must wait on do so behind the others, until there is news for them: the
    /// store calls the waker, or the time has come for the next opening, or to see what another
    /// worker has done.
    pub(super) fn open_waiting(&mut self, app: &mut dyn Application) {
        if self.look_at_waiting.take_if(|at| *at <= self.cycle.now.mono).is_some() {
            self.to_look_at = self.waiting_to_open.len();
        }
        for _ in 0..MOST_TRIES {
            if self.to_look_at == 0 || !self.openings.may_begin(self.cycle.now.mono) {
                break;
            }
            self.to_look_at -= 1;
            let Some(slot) = self.waiting_to_open.pop_front() else { break };
            let Some(port) = self.waiting_at(slot) else { continue };
            self.identify(slot, port, app);
            if self.waiting_at(slot).is_some() {
                self.waiting_to_open.push_back(slot);
            }
        }
        self.note_next_opening();
    }

    /// Requests a wake-up for when the next session may be opened, or was by another worker.
    pub(super) fn note_next_opening(&mut self) {
        if let Some(at) = self.look_at_waiting {
            self.cycle.wake(at);
        }
        if !self.waiting_to_open.is_empty() && !self.openings.may_begin(self.cycle.now.mono) {
            self.to_look_at = self.waiting_to_open.len();
            self.cycle.wake(self.openings.next());
        }
    }

    /// Returns the port of a connection that waits for its session to be opened. Its slot may
    /// belong to another one by now.
    fn waiting_at(&self, slot: usize) -> Option<Port> {
        let connection = self.driver.connections.get(slot)?;
        match connection.stage {
            Stage::Pending { port, .. } if connection.waits => Some(port),
            _ => None,
        }
    }
}

/// Checks whether a Logon is refused because of its CheckSum.
fn check_sum(is_right: bool, validates: bool) -> Result<(), Refusal> {
    let is_accepted = is_right || !validates;
    is_accepted.then_some(()).ok_or(Refusal::NotALogon(FirstMessageFault::CheckSum))
}
