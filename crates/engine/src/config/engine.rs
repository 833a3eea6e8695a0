//! The settings of the engine itself, which only `[DEFAULT]` may hold.

use fixbolt_journal::Retention;

use crate::limits::{Limits, OUTBOUND_BUDGET, OUTBOUND_QUEUE_SIZE};

/// The settings of the engine as configured.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct EngineConfiguration {
    /// Workers: the number of worker threads, which the program passes to
    /// [`EngineBuilder::start_with`](crate::EngineBuilder::start_with); `None` leaves it to the
    /// program.
    pub workers: Option<usize>,
    /// MaxSessions: [`EngineBuilder::session_limit`](crate::EngineBuilder::session_limit).
    pub max_sessions: usize,
    /// MaxPendingConnections:
    /// [`EngineBuilder::pending_connections`](crate::EngineBuilder::pending_connections).
    pub max_pending_connections: usize,
    /// OutboundQueueSize:
    /// [`EngineBuilder::outbound_queue_size`](crate::EngineBuilder::outbound_queue_size), in bytes.
    pub outbound_queue_size: usize,
    /// OutboundQueueBudget:
    /// [`EngineBuilder::outbound_budget`](crate::EngineBuilder::outbound_budget), in bytes.
    pub outbound_queue_budget: usize,
    /// JournalQuota: [`DirectoryStore::with_quota`](fixbolt_journal::DirectoryStore::with_quota),
    /// in bytes for each session.
    pub journal_quota: Option<u64>,
    /// ArchiveGenerations, ArchiveDays and ArchiveSize:
    /// [`DirectoryStore::with_retention`](fixbolt_journal::DirectoryStore::with_retention).
    pub retention: Retention,
}

impl Default for EngineConfiguration {
    fn default() -> Self {
        let Limits { pending_connections, sessions, .. } = Limits::default();
        Self {
            workers: None,
            max_sessions: sessions,
            max_pending_connections: pending_connections,
            outbound_queue_size: OUTBOUND_QUEUE_SIZE,
            outbound_queue_budget: OUTBOUND_BUDGET,
            journal_quota: None,
            retention: Retention::default(),
        }
    }
}
