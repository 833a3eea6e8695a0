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
    pub(crate) connections: ConnectionLimits,
    /// How long a connection may take to log on.
    pub(crate) pending_time: Duration,
    /// How long a dynamic session is kept after its connection has ended.
    pub(crate) dynamic_idle_time: Duration,
    pub(crate) sessions: SessionLimits,
}

/// The number of connections whose counterparty is unknown, or up to the counterparties.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ConnectionLimits {
    /// Connections that have not logged on.
    pub(crate) pending: usize,
    /// Connections from one address that have not logged on, or belong to dynamic sessions.
    pub(crate) per_address: usize,
}

/// The number of sessions of an engine.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SessionLimits {
    /// All sessions, including those of templates.
    pub(crate) all: usize,
    /// Sessions of templates that have logged on.
    pub(crate) dynamic: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections: ConnectionLimits { pending: 256, per_address: 64 },
            pending_time: Duration::from_secs(10),
            dynamic_idle_time: Duration::from_secs(60),
            sessions: SessionLimits { all: 4096, dynamic: 256 },
        }
    }
}
