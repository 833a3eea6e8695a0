//! How many connections a worker accepts, and which ones give way to them: carries out what
//! [`admission`](super::admission) decides.

use core::time::Duration;
use std::io;

use fixbolt_session::Application;

use super::Worker;
use super::admission::{Descriptors, Intake};
use super::connection::{Connection, Stage};
use super::connections::Connections;
use super::descriptors;
use super::listeners::Incoming;

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
                close_pending(&mut self.driver.connections, slot, "file descriptors are short");
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
                    close_pending(&mut self.driver.connections, slot, "file descriptors are short");
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
            let unknown = Descriptors { limit: usize::MAX, left: usize::MAX };
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
        let mut pending = 0;
        let Self { driver, listeners, cycle, poll, limits, .. } = self;
        let may_be_more = listeners.accept(most, |Incoming { listener, stream, peer, template_admits }| {
            let from = peer.ip().to_canonical();
            if !template_admits && !driver.admits(listener, from) {
                let reason = "no session here allows connections from this address (AllowedRemoteAddresses)";
                tracing::info!(%peer, reason, "closed before logon");
                return;
            }
            if let Some(slot) = driver.connections.admission.gives_way(from) {
                let reason =
                    "a newer connection needs its place (MaxPendingConnections, MaxConnectionsPerAddress)";
                close_pending(&mut driver.connections, slot, reason);
            }
            let until = cycle.now.mono + limits.pending_time;
            let connection = Connection::new(stream, peer, Stage::Pending { listener, until });
            if driver.connections.insert(cycle.now.mono, connection, poll.registry()).is_some() {
                pending += 1;
                cycle.wake(until);
            }
        })?;
        Ok((pending, may_be_more))
    }
}

/// Closes a connection that has not logged on, for the sake of others. However many addresses there
/// are, the lines are of one kind: they say less about each than about the number.
fn close_pending(connections: &mut Connections, slot: usize, reason: &str) {
    if let Some(connection) = connections.get(slot)
        && connection.stage != Stage::Closed
    {
        tracing::info!(reason, from = %connection.peer, "gave way before logon");
    }
    connections.close(slot);
}
