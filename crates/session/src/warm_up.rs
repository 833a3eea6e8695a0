//! What can be done before the first message, so that it does not wait for it.

use crate::key::SessionKey;
use crate::sessions::Sessions;
use crate::table;

impl Sessions {
    /// Returns the memory of the session's outbox, so that the caller can have the system provide
    /// it before the first message: empty unless nothing is queued.
    pub fn unused_outbox(&mut self, key: SessionKey) -> &mut [u8] {
        match table::find_mut(&mut self.table, key) {
            Some(session) if session.outbox.is_empty() => &mut session.outbox.memory,
            _ => &mut [],
        }
    }
}
