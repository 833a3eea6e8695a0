//! Limits on what an engine accepts from counterparties that it does not know yet, and on what
//! waits to be sent.

use core::time::Duration;

/// Bytes of messages from other threads that may wait for each session, by default.
pub(crate) const OUTBOUND_QUEUE_SIZE: usize = 1024 * 1024;
/// Bytes of messages from other threads that may wait for all sessions together, by default.
pub(crate) const OUTBOUND_BUDGET: usize = 32 * 1024 * 1024;

/// The limits that a worker enforces.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// The number of connections that have not logged on.
    pub(crate) pending_connections: usize,
    /// How long a connection may take to log on.
    pub(crate) pending_time: Duration,
    /// The number of sessions, including those of templates.
    pub(crate) sessions: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { pending_connections: 256, pending_time: Duration::from_secs(10), sessions: 4096 }
    }
}
