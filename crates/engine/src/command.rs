//! Requests of other threads to a worker. They are rare and kept under a lock, unlike messages.

use core::net::SocketAddr;
use core::time::Duration;
use std::io;
use std::sync::Arc;

use fixbolt_session::{SessionEnd, SessionKey};
use mio::net::TcpListener;

use crate::acceptance::Acceptance;
use crate::error::EngineError;
use crate::initiation::Initiation;
use crate::operation::{Operation, OperationError};
use crate::outbound_queue::OutboundQueue;
use crate::ports::{Binding, Port};
use crate::semaphore::Permit;
use crate::tls::TlsStream;
use crate::worker::connection::Connection;

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
        answer: oneshot::Sender<Outcome>,
    },
    /// Open a session that is accepted at a port.
    Accept { binding: Binding, acceptance: Box<Acceptance>, adding: Permit, answer: oneshot::Sender<Opened> },
    /// Accept the connections to a port from now on.
    Listen { port: Port, socket: TcpListener },
    /// Continue with a connection that another worker has accepted, and that has not logged on.
    TakeOver(Box<Connection>),
    /// Open a session that we connect for.
    Connect { initiation: Box<Initiation>, adding: Permit, answer: oneshot::Sender<Opened> },
    /// A queue has messages, and the list of announced queues has no place for it.
    Announced(Arc<OutboundQueue>),
    /// Continue with a handshake of TLS: a step of it was computed.
    Handshaken(Handshaken),
    /// The addresses of an initiator's host, which were looked up on a thread of their own.
    HostLookedUp { initiator: usize, look_up: u64, addresses: io::Result<Vec<SocketAddr>> },
}

/// A step of a handshake that was computed.
#[derive(Debug)]
pub(crate) struct Handshaken {
    /// The slot of the connection.
    pub(crate) slot: usize,
    /// The number of the step. The connection may have been closed meanwhile.
    pub(crate) step: u64,
    /// `None` if the computation has panicked.
    pub(crate) tls: Option<Box<TlsStream>>,
}

/// The answer to an operation, including how the connection ended if that was awaited.
pub(crate) type Outcome = Result<Option<SessionEnd>, OperationError>;

/// The answer to a new session.
pub(crate) type Opened = Result<(), EngineError>;
