//! What other threads ask of a worker, rarely: commands travel behind a lock, messages do not.

use core::net::SocketAddr;
use core::time::Duration;
use std::io;
use std::sync::mpsc::SyncSender;

use fixbolt_session::{SessionEnd, SessionKey};

use crate::acceptance::Acceptance;
use crate::error::EngineError;
use crate::initiation::Initiation;
use crate::operation::{Operation, OperationError};

/// A request to a worker. One that has ended drops it, which ends the wait for its answer.
#[derive(Debug)]
pub(crate) enum Command {
    /// Log every session out, then end.
    Stop,
    /// Do something to a session.
    Operate {
        session: SessionKey,
        operation: Operation,
        why: String,
        /// How long somebody waits for the answer.
        limit: Duration,
        answer: SyncSender<Outcome>,
    },
    /// Listen on an address, if the worker does not yet, and open a session that is accepted there.
    Accept { address: SocketAddr, acceptance: Box<Acceptance>, answer: SyncSender<Opened> },
    /// Open a session that we connect for.
    Connect { initiation: Box<Initiation>, answer: SyncSender<Opened> },
    /// The addresses of an initiator's host, which were looked up on a thread of their own.
    HostLookedUp { initiator: usize, attempt: u64, addresses: io::Result<Vec<SocketAddr>> },
}

/// The answer to an operation; how the connection ended, where that was waited for.
pub(crate) type Outcome = Result<Option<SessionEnd>, OperationError>;

/// The answer to a new session: where it is accepted, with the port that the system chose.
pub(crate) type Opened = Result<Option<SocketAddr>, EngineError>;
