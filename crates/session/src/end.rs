//! How a connection of a session ends, and why a session stands still.

use core::fmt;

use fixbolt_codec::SeqNum;

use crate::error::SendError;
use crate::store::StoreError;

/// How a connection of a session ended: who ended it, and why.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum SessionEnd {
    /// The transport was closed by the counterparty or the network, without a Logout.
    ConnectionLost,
    /// The counterparty logged out; the exchange was completed.
    LoggedOutByPeer,
    /// We logged out; the exchange was completed.
    LoggedOutByUs,
    /// We logged out and nobody answered in time.
    LogoutTimedOut,
    /// The counterparty logged out and did not close the connection in time.
    PeerDidNotClose,
    /// No Logon, or no answer to ours, in time.
    LogonTimedOut,
    /// Nothing came for so long that the connection counts as broken.
    HeartbeatTimedOut,
    /// The counterparty broke the protocol so that the session cannot go on.
    PeerMisbehaved(Misbehavior),
    /// Our application refused the logon.
    LogonRefused,
    /// Our application failed on the message with this number.
    ApplicationFailed {
        /// MsgSeqNum of the message.
        seq: SeqNum,
    },
    /// Our application panicked in a callback that processes no message.
    ApplicationPanicked {
        /// The callback.
        callback: &'static str,
    },
    /// What the session layer had to say could not be written: larger than the counterparty takes, for instance.
    Unanswerable(Box<SendError>),
    /// The session is halted.
    Halted(Halt),
}

/// What a counterparty did that ends a connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Misbehavior {
    /// The first message was not a Logon (test case 1B-e).
    FirstMessageNotLogon,
    /// The Logon breaks a rule (1S-d).
    InvalidLogon,
    /// A Logon in a session that is logged on.
    DuplicateLogon,
    /// MsgSeqNum too low without PossDupFlag (2c).
    MsgSeqNumTooLow,
    /// No MsgSeqNum.
    NoMsgSeqNum,
    /// Another BeginString than the session's (2i).
    BeginString,
    /// Other CompIDs than the session's (2k).
    CompId,
    /// SendingTime outside the threshold (2o).
    SendingTime,
    /// The same gap stayed open however often it was asked for.
    GapNeverFilled,
}

/// Why a session does not go on until somebody looks at it.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Halt {
    /// The application failed on this message again and again. `skip` or `retry` ends it.
    PoisonMessage {
        /// MsgSeqNum of the message.
        seq: SeqNum,
        /// Failed attempts.
        attempts: u32,
    },
    /// The store is damaged; repair it first.
    StoreDamaged {
        /// What is damaged.
        reason: String,
    },
    /// The store could not take a record.
    StoreFailed(StoreError),
    /// The application panicked when it was shown what the store holds.
    ApplicationPanicked {
        /// The callback.
        callback: &'static str,
    },
}

impl fmt::Display for Halt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::PoisonMessage { seq, attempts } => {
                write!(f, "the application failed {attempts} times on message {seq}: skip it or retry")
            }
            Self::StoreDamaged { reason } => write!(f, "the store is damaged: {reason}"),
            Self::StoreFailed(error) => write!(f, "the store failed: {error}"),
            Self::ApplicationPanicked { callback } => write!(f, "the application panicked in {callback}"),
        }
    }
}
