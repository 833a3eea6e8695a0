//! The settings of the engine itself, which only `[DEFAULT]` may hold.

use core::time::Duration;
use std::path::PathBuf;

use fixbolt_journal::Retention;

use crate::limits::{Limits, OUTBOUND_BUDGET, OUTBOUND_QUEUE_SIZE};
use crate::waiting::Waiting;

/// The settings of the engine as configured.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct EngineConfiguration {
    /// ContinueInitializationOnError: whether the sessions without mistakes are used, and
    /// [`EngineBuilder::continue_initialization_on_error`][1].
    ///
    /// [1]: crate::EngineBuilder::continue_initialization_on_error
    pub continue_initialization_on_error: bool,
    /// Workers: the number of worker threads, which the program passes to
    /// [`EngineBuilder::start_with`](crate::EngineBuilder::start_with); `None` leaves it to the
    /// program.
    pub workers: Option<usize>,
    /// WorkerWaiting: [`EngineBuilder::worker_waiting`](crate::EngineBuilder::worker_waiting).
    pub worker_waiting: Waiting,
    /// WorkerCores: [`EngineBuilder::worker_cores`](crate::EngineBuilder::worker_cores).
    pub worker_cores: Vec<usize>,
    /// LockMemory: [`EngineBuilder::lock_memory`](crate::EngineBuilder::lock_memory).
    pub lock_memory: bool,
    /// WarmUp: [`EngineBuilder::warm_up`](crate::EngineBuilder::warm_up).
    pub warm_up: bool,
    /// WarmUpInterval: [`EngineBuilder::warm_up_interval`](crate::EngineBuilder::warm_up_interval).
    pub warm_up_interval: Option<Duration>,
    /// FileLogPath: [`EngineBuilder::message_log`](crate::EngineBuilder::message_log).
    pub message_log: Option<PathBuf>,
    /// Store=memory: that messages are kept in memory is meant so.
    pub store_in_memory: bool,
    /// MaxSessions: [`EngineBuilder::max_sessions`](crate::EngineBuilder::max_sessions).
    pub max_sessions: usize,
    /// MaxPendingConnections:
    /// [`EngineBuilder::max_pending_connections`](crate::EngineBuilder::max_pending_connections).
    pub max_pending_connections: usize,
    /// MaxConnectionsPerAddress:
    /// [`EngineBuilder::max_connections_per_address`][1].
    ///
    /// [1]: crate::EngineBuilder::max_connections_per_address
    pub max_connections_per_address: usize,
    /// MaxDynamicSessions:
    /// [`EngineBuilder::max_dynamic_sessions`](crate::EngineBuilder::max_dynamic_sessions).
    pub max_dynamic_sessions: usize,
    /// DynamicSessionIdleTime:
    /// [`EngineBuilder::dynamic_session_idle_time`][1].
    ///
    /// [1]: crate::EngineBuilder::dynamic_session_idle_time
    pub dynamic_session_idle_time: Duration,
    /// OutboundQueueSize:
    /// [`EngineBuilder::outbound_queue_size`](crate::EngineBuilder::outbound_queue_size), in bytes.
    pub outbound_queue_size: usize,
    /// OutboundQueueBudget:
    /// [`EngineBuilder::outbound_queue_budget`](crate::EngineBuilder::outbound_queue_budget), in
    /// bytes.
    pub outbound_queue_budget: usize,
    /// JournalQuota: [`DirectoryStore::with_quota`](fixbolt_journal::DirectoryStore::with_quota),
    /// in bytes for each session.
    pub journal_quota: Option<u64>,
    /// JournalCookies: [`DirectoryStore::with_cookies`][1].
    ///
    /// [1]: fixbolt_journal::DirectoryStore::with_cookies
    pub journal_cookies: Option<PathBuf>,
    /// ArchiveGenerations, ArchiveDays and ArchiveSize:
    /// [`DirectoryStore::with_retention`](fixbolt_journal::DirectoryStore::with_retention).
    pub retention: Retention,
}

impl Default for EngineConfiguration {
    fn default() -> Self {
        let Limits { connections, dynamic_idle_time, sessions, .. } = Limits::default();
        Self {
            continue_initialization_on_error: false,
            workers: None,
            worker_waiting: Waiting::default(),
            worker_cores: Vec::new(),
            lock_memory: false,
            warm_up: false,
            warm_up_interval: None,
            message_log: None,
            store_in_memory: false,
            max_sessions: sessions.all,
            max_pending_connections: connections.pending,
            max_connections_per_address: connections.per_address,
            max_dynamic_sessions: sessions.dynamic,
            dynamic_session_idle_time: dynamic_idle_time,
            outbound_queue_size: OUTBOUND_QUEUE_SIZE,
            outbound_queue_budget: OUTBOUND_BUDGET,
            journal_quota: None,
            journal_cookies: None,
            retention: Retention::default(),
        }
    }
}
