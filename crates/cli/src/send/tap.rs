//! What the counterparty and we said, as it was on the wire, for the command's thread to show.

use std::sync::mpsc::Sender;

use fixbolt_session::{Direction, WireMessage, WireObserver};

/// A message that was on the wire.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    /// Sent, or else received.
    pub(crate) sent: bool,
    /// The whole message, secrets masked.
    pub(crate) bytes: Vec<u8>,
}

/// Tells the command's thread of every message.
#[derive(Debug)]
pub(crate) struct Tap(pub(crate) Sender<Seen>);

impl WireObserver for Tap {
    fn on_wire(&self, message: &WireMessage<'_>) {
        if message.garbled {
            return;
        }
        let sent = message.direction == Direction::Outbound;
        // Nobody listens any more: the command has its answer.
        let _ = self.0.send(Seen { sent, bytes: message.bytes.to_vec() });
    }
}
