//! The messages exchanged, exactly as sent and received, for the command's thread to show.

use std::sync::mpsc::Sender;

use fixbolt_session::{Direction, WireMessage, WireObserver};

/// A message that was sent or received.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    /// Whether it was sent, as opposed to received.
    pub(crate) sent: bool,
    /// The whole message, secrets masked.
    pub(crate) bytes: Vec<u8>,
}

/// Passes every message to the command's thread.
#[derive(Debug)]
pub(crate) struct Tap(pub(crate) Sender<Seen>);

impl WireObserver for Tap {
    fn on_wire(&self, message: &WireMessage<'_>) {
        if message.garbled {
            return;
        }
        let sent = message.direction == Direction::Outbound;
        // The command has its answer and no longer listens.
        let _ = self.0.send(Seen { sent, bytes: message.bytes.to_vec() });
    }
}
