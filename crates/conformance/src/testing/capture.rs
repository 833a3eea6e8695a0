//! An observer of the wire that keeps what it is shown.

use std::sync::{Mutex, PoisonError};

use fixbolt_session::{Direction, WireMessage, WireObserver};

/// Keeps every message that it is shown: its direction, whether it is garbled, and its text.
#[derive(Default, Debug)]
pub struct Capture(Mutex<Vec<(Direction, bool, String)>>);

impl Capture {
    /// Returns what was shown since the last call.
    #[must_use]
    pub fn take(&self) -> Vec<(Direction, bool, String)> {
        core::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl WireObserver for Capture {
    fn on_wire(&self, message: &WireMessage<'_>) {
        let text = String::from_utf8_lossy(message.bytes).replace('\x01', "|");
        let shown = (message.direction, message.garbled, text);
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(shown);
    }
}
