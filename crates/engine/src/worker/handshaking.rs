//! Handshakes of TLS, of connections that were accepted and of our own. The worker reads and
//! writes; what a step has to compute is computed by the thread of the
//! [`HandshakeQueue`](crate::handshake_queue::HandshakeQueue), since a signature would keep the
//! sessions waiting. The connection keeps its slot, its place and its time limit meanwhile.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use fixbolt_session::{Application, AttemptFailure, TlsFailure};

use super::Worker;
use super::connection::{Handshake, Stage};
use crate::command::{Command, Handshaken};
use crate::handshake_queue::Kind;

impl Worker {
    /// Goes on with the handshake of a connection.
    pub(super) fn shake_hands(&mut self, slot: usize, app: &mut dyn Application) {
        let Some(connection) = self.driver.connections.get_mut(slot) else { return };
        match connection.handshake() {
            Handshake::Waits if connection.readable && !connection.transport.is_away() => {
                self.driver.connections.mark_ready(slot);
            }
            Handshake::Waits => {}
            Handshake::HasStep => {
                if let Err(failure) = self.pass_on_step(slot) {
                    self.give_up_handshake(slot, failure);
                }
            }
            Handshake::Failed(failure) => self.give_up_handshake(slot, failure),
            Handshake::Done => self.end_handshake(slot, app),
        }
    }

    /// Has a step computed. [`Worker::take_back_step`] continues.
    fn pass_on_step(&mut self, slot: usize) -> Result<(), TlsFailure> {
        let connections = &mut self.driver.connections;
        let Some(connection) = connections.get(slot) else { return Ok(()) };
        if connection.transport.has_hello() {
            connections.admission.greet(slot, self.cycle.now.mono);
        }
        let (handshakes, signal) = (Arc::clone(self.driver.handshakes()), Arc::clone(&self.signal));
        let Some(connection) = self.driver.connections.get_mut(slot) else { return Ok(()) };
        let address = connection.peer.ip();
        let kind = match connection.stage.is_pending() {
            false => Kind::Ours,
            true if connection.transport.has_signed() => Kind::GoesOn,
            true => Kind::Begins,
        };
        let passed = connection.transport.pass_on_step(|mut tls| {
            handshakes.add(address, kind, move |step| {
                let compute = AssertUnwindSafe(|| {
                    tls.step();
                    tls
                });
                let tls = catch_unwind(compute).ok();
                signal.command(Command::Handshaken(Handshaken { slot, step, tls }));
            })
        });
        passed.map_err(|error| {
            tracing::error!(%error, "the thread for handshakes cannot be started");
            TlsFailure::Ours { reason: format!("the thread for handshakes cannot be started: {error}") }
        })
    }

    /// Goes on with a handshake of which a step was computed. The connection may have been closed
    /// meanwhile, and its slot may have another one.
    pub(super) fn take_back_step(&mut self, handshaken: Handshaken, app: &mut dyn Application) {
        let Handshaken { slot, step, tls } = handshaken;
        let Some(connection) = self.driver.connections.get_mut(slot) else { return };
        if !connection.transport.awaits(step) {
            return;
        }
        let Some(tls) = tls else {
            let reason = "the handshake has panicked, which is a fault of this program".to_owned();
            let failure = TlsFailure::Ours { reason };
            tracing::error!(peer = %connection.peer, "{failure}");
            return self.give_up_handshake(slot, failure);
        };
        connection.transport.take_back(tls);
        if connection.transport.has_just_signed() {
            self.driver.connections.admission.greet(slot, self.cycle.now.mono);
        }
        self.shake_hands(slot, app);
    }

    /// Goes on after a handshake: with the Logon.
    fn end_handshake(&mut self, slot: usize, app: &mut dyn Application) {
        let connections = &mut self.driver.connections;
        let Some(connection) = connections.get_mut(slot) else { return };
        // What was read, and decrypted, with the end of the handshake.
        connection.readable = true;
        match connection.stage {
            Stage::Pending { port, .. } => {
                connections.admission.trust(slot, self.cycle.now.mono);
                self.identify(slot, port, app);
            }
            Stage::Connecting { initiator, .. } => self.end_connecting(slot, initiator, app),
            _ => {}
        }
    }

    fn give_up_handshake(&mut self, slot: usize, failure: TlsFailure) {
        let Some(connection) = self.driver.connections.get(slot) else { return };
        match (connection.stage, connection.peer) {
            (Stage::Connecting { initiator, .. }, address) => {
                self.driver.connections.close(slot);
                self.cannot_connect(initiator, address, AttemptFailure::Tls(failure));
            }
            _ => self.refuse_tls(slot, failure),
        }
    }
}
