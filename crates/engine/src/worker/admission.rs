//! Connections that come in: taken, read until a complete Logon says whose they are, and given to that session. Who is not
//! expected is told nothing, and costs a bounded number of bytes and time.

use core::net::IpAddr;
use std::panic::{AssertUnwindSafe, catch_unwind};

use fixbolt_session::store::SessionKey;
use fixbolt_session::{Application, Identity, Role, SessionId, identify};

use super::connection::{Connection, Received, Stage};
use super::listener::Accepted;
use super::{ACCEPT_AGAIN, ACCEPT_BATCH, Seat, Worker};
use crate::builder::Acceptance;
use crate::inbound::READ_SIZE;

impl Worker {
    pub(super) fn accept(&mut self) {
        let mut batch = core::mem::take(&mut self.accepting);
        batch.retain(|n| self.accept_from(*n));
        self.hurry |= !batch.is_empty() && self.accept_again.is_none();
        self.accepting = batch;
    }

    /// Whether there may be more.
    fn accept_from(&mut self, n: usize) -> bool {
        if self.accept_again.is_some_and(|at| at > self.now.mono) {
            return true;
        }
        self.accept_again = None;
        for _ in 0..ACCEPT_BATCH {
            let Some(listener) = self.listeners.get(n) else { return false };
            match listener.accept() {
                Accepted::Connection(stream, peer) => {
                    if self.pending >= self.limits.pending {
                        tracing::warn!(%peer, "closed: too many connections that have not logged on");
                        continue;
                    }
                    let until = self.now.mono + self.limits.pending_time;
                    let stage = Stage::Pending { listener: n, until };
                    if self.adopt(Connection::new(stream, peer, stage)).is_some() {
                        self.pending += 1;
                        self.wake(until);
                    }
                }
                Accepted::None => return false,
                Accepted::Later(error) => {
                    tracing::error!(%error, address = %listener.address, "accepting failed");
                    let at = self.now.mono + ACCEPT_AGAIN;
                    self.accept_again = Some(at);
                    self.wake(at);
                    return true;
                }
            }
        }
        true
    }

    /// Reads an accepted connection until its Logon shows whose it is. Who is not expected is told nothing.
    pub(super) fn identify(&mut self, slot: usize, listener: usize, app: &mut dyn Application) {
        let Some(connection) = self.connections[slot].as_mut() else { return };
        if !connection.readable {
            return;
        }
        let ended = matches!(connection.receive(), Received::End);
        let peer = connection.peer;
        let refused = match identify(connection.inbound.filled()) {
            _ if ended => "the counterparty closed it",
            Identity::Incomplete => {
                if connection.readable {
                    self.queue(slot);
                }
                return;
            }
            Identity::Refused(why) => why,
            Identity::Logon(id) => match self.find(listener, &id, peer.ip().to_canonical(), app) {
                Err(why) => why,
                Ok(key) if !self.sessions.can_connect(key) => "the session is connected already, or halted",
                Ok(key) => {
                    self.pending -= 1;
                    self.seat(slot, key, app);
                    return;
                }
            },
        };
        tracing::info!(%peer, reason = refused, "closed before logon");
        self.kill(slot);
    }

    /// The session that a Logon from this address asks for: configured, or made by a template. Whoever may not have it costs
    /// no session and no journal.
    fn find(
        &mut self,
        listener: usize,
        id: &SessionId,
        from: IpAddr,
        app: &mut dyn Application,
    ) -> Result<SessionKey, &'static str> {
        let allows = |allowed: &[IpAddr]| allowed.is_empty() || allowed.contains(&from);
        if let Some(key) = self.sessions.find(id) {
            let seat = &self.seats[key.0 as usize];
            return match seat.listener {
                Some(at) if at == listener && allows(&seat.allowed) => Ok(key),
                Some(at) if at == listener => Err(NOT_FROM_HERE),
                _ => Err(NO_SUCH_SESSION),
            };
        }
        let templates = &mut self.listeners.get_mut(listener).ok_or(NO_SUCH_SESSION)?.templates;
        let asked = AssertUnwindSafe(|| templates.iter_mut().find_map(|template| (template.0)(id)));
        let Acceptance { settings, allowed, nodelay } =
            catch_unwind(asked).map_err(|_| "the template panicked")?.ok_or(NO_SUCH_SESSION)?;
        if !allows(&allowed) {
            return Err(NOT_FROM_HERE);
        }
        if settings.id != *id || settings.role != Role::Acceptor {
            tracing::error!(session = %id, "the template gives settings of another session, or of an initiator");
            return Err(NO_SUCH_SESSION);
        }
        let seat = Seat::accepting(&settings, listener, allowed, nodelay);
        self.open(settings, seat, app).map_err(|error| {
            tracing::error!(session = %id, %error, "the session cannot be opened");
            "the session cannot be opened"
        })
    }

    /// A connection becomes a session's.
    pub(super) fn seat(&mut self, slot: usize, key: SessionKey, app: &mut dyn Application) {
        let Some(connection) = self.connections[slot].as_mut() else { return };
        let seat = &mut self.seats[key.0 as usize];
        tracing::info!(session = %seat.id, peer = %connection.peer, "connected");
        seat.connection = Some(slot);
        if let Err(error) = connection.stream.set_nodelay(seat.nodelay) {
            tracing::warn!(session = %seat.id, %error, "TCP_NODELAY could not be set");
        }
        connection.stage = Stage::Session(key);
        connection.inbound.grow(seat.max_message_size + READ_SIZE);
        self.sessions.connected(self.now, key, app);
        self.feed(slot, key, app);
    }
}

const NO_SUCH_SESSION: &str = "no such session here";
const NOT_FROM_HERE: &str = "the session is not for this address";
