//! Requests of other threads to a worker. They are rare and kept under a lock, unlike messages.

use core::net::SocketAddr;
use core::time::Duration;
use std::io;
use std::sync::Arc;
use std::sync::mpsc::SyncSender;

use fixbolt_session::{SessionEnd, SessionKey};

use crate::acceptance::Acceptance;
use crate::error::EngineError;
use crate::initiation::Initiation;
use crate::operation::{Operation, OperationError};
use crate::outbound_queue::OutboundQueue;

/// A request to a worker. A worker that has ended drops it, which ends the wait for its answer.
#[derive(Debug)]
pub(crate) enum Command {
    /// Log out every session, then end.
    Stop,
    /// Carry out an operator's command on a session.
    Operate {
        session: SessionKey,
        operation: Operation,
        why: String,
        /// How long the caller waits for the answer.
        limit: Duration,
        answer: SyncSender<Outcome>,
    },
    /// Listen on an address, unless the worker does already, and open a session that is accepted
    /// there.
    Accept { address: SocketAddr, acceptance: Box<Acceptance>, answer: SyncSender<Opened> },
    /// Open a session that we connect for.
    Connect { initiation: Box<Initiation>, answer: SyncSender<Opened> },
    /// A queue has messages, and the list of announced queues has no place for it.
    Announced(Arc<OutboundQueue>),
    /// The addresses of an initiator's host, which were looked up on a thread of their own.
    HostLookedUp { initiator: usize, look_up: u64, addresses: io::Result<Vec<SocketAddr>> },
}

/// The answer to an operation, including how the connection ended if that was awaited.
pub(crate) type Outcome = Result<Option<SessionEnd>, OperationError>;

/// The answer to a new session: the address that it is accepted at, with the port that the system
/// chose.
pub(crate) type Opened = Result<Option<SocketAddr>, EngineError>;
