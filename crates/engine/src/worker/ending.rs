//! How things end: connections, sessions' turns of the clock, the engine itself; and what other threads ask for.

use core::time::Duration;

use fixbolt_session::store::SessionKey;
use fixbolt_session::{Application, SendError};

use super::connection::Stage;
use super::{CLOSING_PATIENCE, DRAINING_PATIENCE, Seat, Worker, key_of};
use crate::engine::Command;

impl Worker {
    /// Does everything that is due, and finds out when the next thing is.
    pub(super) fn timers(&mut self, app: &mut dyn Application) {
        self.wake_at = None;
        let now = self.now.mono;
        for n in 0..self.seats.len() {
            let Seat { connection: Some(slot), deadline: Some(at), .. } = self.seats[n] else { continue };
            if at <= now {
                self.tick(slot, key_of(n), app);
            } else {
                self.wake(at);
            }
        }
        for slot in 0..self.connections.len() {
            let Some(connection) = self.connections[slot].as_ref() else { continue };
            let stage = connection.stage;
            let (Stage::Connecting { until, .. }
            | Stage::Pending { until, .. }
            | Stage::Closing { until, .. }
            | Stage::Draining { until, .. }) = stage
            else {
                continue;
            };
            if until > now {
                self.wake(until);
                continue;
            }
            match stage {
                Stage::Connecting { initiator, .. } => {
                    tracing::warn!(address = %connection.peer, "no connection: it takes too long");
                    self.kill(slot);
                    self.try_next(initiator);
                }
                Stage::Closing { session, .. } => {
                    self.kill(slot);
                    self.end(slot, session, app);
                }
                _ => {
                    tracing::info!(peer = %connection.peer, "closed: it takes too long");
                    self.kill(slot);
                }
            }
        }
        self.connect_due();
        if let Some(at) = self.accept_again {
            self.wake(at);
            self.hurry |= at <= now;
        }
    }

    /// The session's connection is over, whoever ended it.
    pub(super) fn end(&mut self, slot: usize, key: SessionKey, app: &mut dyn Application) {
        let seat = &mut self.seats[key.0 as usize];
        seat.connection = None;
        seat.deadline = None;
        let initiator = seat.initiator;
        tracing::info!(session = %seat.id, "disconnected");
        self.sessions.disconnected(self.now, key, app);
        if let Some(connection) = self.connections[slot].as_mut() {
            if matches!(connection.stage, Stage::Closing { .. }) {
                let until = self.now.mono + DRAINING_PATIENCE;
                connection.drain(until);
                self.wake(until);
                self.queue(slot);
            } else {
                self.kill(slot);
            }
        }
        if let Some(n) = initiator {
            self.wait(n);
        }
    }

    /// Closes a socket; its place is free at the end of the turn.
    pub(super) fn kill(&mut self, slot: usize) {
        if let Some(connection) = self.connections[slot].as_mut()
            && connection.stage != Stage::Dead
        {
            if matches!(connection.stage, Stage::Pending { .. }) {
                self.pending -= 1;
            }
            connection.stage = Stage::Dead;
            self.dead.push(slot);
        }
    }

    pub(super) fn bury(&mut self) {
        for slot in self.dead.drain(..) {
            if let Some(connection) = &mut self.connections[slot] {
                // Closing it takes it off the event queue, whatever this says.
                let _ = self.poll.registry().deregister(&mut connection.stream);
            }
            self.connections[slot] = None;
            self.free.push(slot);
        }
        // A dead connection may still stand in the list of those to look after; the place may have a new owner next turn.
        if !self.ready.is_empty() {
            let connections = &self.connections;
            self.ready.retain(|slot| connections[*slot].is_some());
        }
    }

    pub(super) fn obey(&mut self, command: Command, app: &mut dyn Application) {
        match command {
            Command::Stop => self.stop(app),
            Command::LogOut { session, text } => self.log_out(session, &text, app),
            Command::Resolve { session, skip, answer } => {
                let result = if skip {
                    self.sessions.skip(self.now, session, app)
                } else {
                    self.sessions.retry(self.now, session, app)
                };
                // Whoever asked may have gone.
                let _ = answer.try_send(result);
            }
            Command::Resolved { initiator, attempt, addresses } => {
                self.resolved(initiator, attempt, addresses);
            }
        }
    }

    pub(super) fn log_out(&mut self, key: SessionKey, text: &str, app: &mut dyn Application) {
        let Some(slot) = self.seats[key.0 as usize].connection else { return };
        match self.sessions.log_out(self.now, key, text, app) {
            Ok(()) => self.settle(slot, key),
            // There is nobody to say it to: not logged on, halted, or the outbox is full.
            Err(SendError::NotLoggedOn | SendError::Unavailable | SendError::BackPressure) => {
                self.end(slot, key, app);
            }
            Err(error) => {
                tracing::error!(session = %self.seats[key.0 as usize].id, %error, "the Logout could not be sent");
                self.end(slot, key, app);
            }
        }
    }

    /// Logs out everywhere, connects and accepts no more, and sets the time by which the loop ends.
    fn stop(&mut self, app: &mut dyn Application) {
        if self.stopping.is_some() {
            return;
        }
        self.stop_connecting();
        self.listeners.clear();
        self.accepting.clear();
        let mut longest = Duration::ZERO;
        for n in 0..self.seats.len() {
            longest = longest.max(self.seats[n].logout_timeout);
            self.log_out(key_of(n), "", app);
        }
        for slot in 0..self.connections.len() {
            let stage = self.connections[slot].as_ref().map(|connection| connection.stage);
            if matches!(stage, Some(Stage::Connecting { .. } | Stage::Pending { .. })) {
                self.kill(slot);
            }
        }
        let until = self.now.mono + longest + CLOSING_PATIENCE + DRAINING_PATIENCE;
        self.stopping = Some(until);
        self.wake(until);
    }
}
