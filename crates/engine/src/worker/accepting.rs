//! How many connections a worker accepts, and which ones give way to them: carries out what
//! [`admission`](super::admission) decides.

use core::net::SocketAddr;
use core::time::Duration;
use std::io;

use fixbolt_session::{Application, Mono, Refusal};
use mio::net::TcpListener;

use super::Worker;
use super::admission::Intake;
use super::connection::{Connection, Stage};
use super::connections::Connections;
use super::listeners::Incoming;
use super::transport::Transport;
use crate::descriptors::{self, Descriptors};
use crate::ports::Port;

/// When to accept again if there may be more connections than were accepted at once.
const ACCEPT_INTERVAL: Duration = Duration::from_millis(1);
/// When to accept again after accepting has failed.
const ACCEPT_RETRY_INTERVAL: Duration = Duration::from_millis(100);
/// Asking the system for the number of file descriptors costs more than accepting a connection, so
/// it is asked at most this often while there are enough.
const LOOK_INTERVAL: Duration = Duration::from_millis(10);
/// While file descriptors are short, the worker looks at least this often whether they still are.
const SHORTAGE_INTERVAL: Duration = Duration::from_secs(1);

impl Worker {
    /// Accepts new connections from the listeners, as far as there are file descriptors.
    pub(super) fn accept(&mut self, app: &mut dyn Application) {
        let now = self.cycle.now.mono;
        let looks = self.look_again.is_some_and(|at| at <= now);
        if self.listeners.may_accept(now) || looks {
            let short = self.driver.connections.admission.is_short();
            let mut intake = self.intake();
            let accepted = match intake {
                Intake::Accept(most) => self.accept_at_most(most),
                Intake::Exchange(_) => self.accept_at_most(1),
                Intake::Close(_) | Intake::Pause(_) => Ok((0, false)),
            };
            if let (Some((_, known)), Ok((pending, _))) = (&mut self.looked, &accepted) {
                known.left = known.left.saturating_sub(*pending);
            }
            if let (Intake::Exchange(slot), Ok((1.., _))) = (intake, &accepted) {
                close_pending(&mut self.driver.connections, slot, Refusal::NoDescriptors, now);
            }
            if let Err(error) = &accepted {
                if descriptors::are_used_up(error) {
                    intake = self.driver.connections.admission.refused(now);
                } else {
                    tracing::error!(%error, "accepting failed");
                    intake = Intake::Pause(now + ACCEPT_RETRY_INTERVAL);
                }
            }
            match intake {
                Intake::Accept(_) if matches!(accepted, Ok((_, true))) => {
                    self.listeners.pause(now + ACCEPT_INTERVAL);
                }
                Intake::Accept(_) | Intake::Exchange(_) => {}
                // A journal has several descriptors, and continues when it is needed.
                _ if self.driver.give_back_for_descriptors(&self.cycle, app) => self.cycle.repeat(),
                Intake::Close(slot) => {
                    close_pending(&mut self.driver.connections, slot, Refusal::NoDescriptors, now);
                    self.cycle.repeat();
                }
                Intake::Pause(until) => self.listeners.pause(until),
            }
            self.note_shortage(short);
        }
        self.note_next_look();
    }

    /// Requests a wake-up for when accepting continues.
    pub(super) fn note_next_look(&mut self) {
        for at in [self.listeners.retry_at(), self.look_again].into_iter().flatten() {
            self.cycle.wake(at);
        }
    }

    /// Decides how many connections to accept.
    fn intake(&mut self) -> Intake {
        let now = self.cycle.now.mono;
        let is_old = self.looked.is_none_or(|(at, _)| now - at >= LOOK_INTERVAL);
        if is_old || self.driver.connections.admission.is_short() {
            let unknown = Descriptors { limit: usize::MAX, left: usize::MAX, most: usize::MAX };
            self.looked = Some((now, descriptors::look().unwrap_or(unknown)));
        }
        let Some((_, descriptors)) = self.looked else { return Intake::Pause(now + LOOK_INTERVAL) };
        let sessions = self.driver.session_count();
        self.driver.connections.admission.intake(now, descriptors, sessions)
    }

    /// Logs the begin and the end of a shortage of file descriptors, and plans when to look again.
    fn note_shortage(&mut self, before: bool) {
        let short = self.driver.connections.admission.is_short();
        match (before, short) {
            (false, true) => tracing::error!(
                "file descriptors are short: connections that have not logged on are closed or must wait, so that sessions and journals have what they need; raise the limit (`ulimit -n`)"
            ),
            (true, false) => tracing::warn!("file descriptors are no longer short"),
            _ => {}
        }
        self.look_again = short.then(|| self.cycle.now.mono + SHORTAGE_INTERVAL);
    }

    /// Accepts some of the connections that wait. Returns how many of them are pending now, and
    /// whether there may be more.
    fn accept_at_most(&mut self, most: usize) -> io::Result<(usize, bool)> {
        let mut accepted = Vec::new();
        let may_be_more = self.listeners.accept(most, |incoming| accepted.push(incoming));
        let mut pending = 0;
        for incoming in accepted {
            pending += usize::from(self.welcome(incoming));
        }
        Ok((pending, may_be_more?))
    }

    /// Begins with a connection that was accepted: here, or on the worker with the fewest
    /// connections if a session may have to be opened for it. Returns whether it is pending.
    fn welcome(&mut self, Incoming { port, stream, peer }: Incoming) -> bool {
        let until = self.cycle.now.mono + self.limits.pending_time;
        let connection = if self.driver.ports().is_proxy(port, peer.ip()) {
            Connection::new(stream, peer, Stage::Proxied { port, until })
        } else if !self.may_enter(port, peer) {
            return false;
        } else {
            let transport = match self.driver.ports().tls(port).map(|tls| tls.accept()) {
                None => Transport::from(stream),
                Some(Ok(tls)) => Transport::with_tls(stream, tls),
                Some(Err(failure)) => {
                    let (why, now) = (Refusal::Tls(failure), self.cycle.now.mono);
                    self.driver.connections.refusals.tell(peer, None, why, now);
                    return false;
                }
            };
            Connection::new(transport, peer, Stage::Pending { port, until })
        };
        let may_open = self.team.shared() > 1 && self.driver.ports().has_templates(port);
        match self.team.least_loaded().filter(|_| may_open) {
            Some(worker)
                if worker != usize::from(self.number) && !self.team.workers()[worker].is_behind() =>
            {
                self.team.workers()[worker].hand_over(Box::new(connection))
            }
            _ => self.take_in(connection).is_some(),
        }
    }

    /// Returns whether a session of the port may admit connections from this address, and says so
    /// if not.
    pub(super) fn may_enter(&mut self, port: Port, peer: SocketAddr) -> bool {
        let may = self.driver.ports().admits(port, peer.ip().to_canonical());
        if !may {
            let now = self.cycle.now.mono;
            self.driver.connections.refusals.tell(peer, None, Refusal::NoSessionForAddress, now);
        }
        may
    }

    /// Takes in a pending connection, and closes the one that gives way to it, if one must. Returns
    /// its slot.
    pub(super) fn take_in(&mut self, connection: Connection) -> Option<usize> {
        let (connections, now) = (&mut self.driver.connections, self.cycle.now.mono);
        close_to_make_room(connections, connection.peer, now);
        let until = connection.stage.until();
        let slot = connections.insert(now, connection, self.poll.registry())?;
        if let Some(until) = until {
            self.cycle.wake(until);
        }
        Some(slot)
    }

    /// Accepts the connections to a port that is new, or that a worker which has died has left.
    pub(super) fn listen_too(&mut self, port: Port, socket: TcpListener) {
        if self.stopping.is_none()
            && let Err(error) = self.listen(port, socket)
        {
            tracing::error!(error = %format_args!("{error:#}"), "nobody accepts the connections to a port");
        }
    }
}

/// Closes the pending connection that gives way to a new one from this address, if one must.
pub(super) fn close_to_make_room(connections: &mut Connections, peer: SocketAddr, now: Mono) {
    if let Some(slot) = connections.admission.gives_way(peer.ip().to_canonical(), now) {
        close_pending(connections, slot, Refusal::GaveWay, now);
    }
}

/// Closes a connection that has not logged on, for the sake of others.
fn close_pending(connections: &mut Connections, slot: usize, why: Refusal, now: Mono) {
    if let Some(connection) = connections.get(slot)
        && connection.stage != Stage::Closed
    {
        let peer = connection.peer;
        connections.refusals.tell(peer, None, why, now);
    }
    connections.close(slot);
}
