//! What other threads ask of a worker, rarely: commands travel behind a lock, messages do not.

use core::net::SocketAddr;
use std::io;
use std::sync::mpsc::SyncSender;

use fixbolt_session::{OpenError, SendError, SessionKey};

/// A request to a worker.
#[derive(Debug)]
pub(crate) enum Command {
    /// Log every session out, then end.
    Stop,
    /// Log one session out.
    LogOut { session: SessionKey, text: String },
    /// Continue a session that is halted by a message on which the application failed.
    ResolvePoisonMessage {
        session: SessionKey,
        resolution: PoisonResolution,
        answer: SyncSender<Result<(), SendError>>,
    },
    /// Continue a session that is halted for another reason: its store is opened again.
    Resume { session: SessionKey, answer: SyncSender<Result<(), OpenError>> },
    /// The addresses of an initiator's host, which were looked up on a thread of their own.
    HostLookedUp { initiator: usize, attempt: u64, addresses: io::Result<Vec<SocketAddr>> },
}

/// What becomes of a message on which the application failed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum PoisonResolution {
    /// It is skipped.
    Skip,
    /// It is offered to the application again.
    Retry,
}
