//! Why an operator's change was refused.

use core::error::Error;
use core::fmt;

use fixbolt_codec::SeqNum;

use crate::events::end::Halt;
use crate::events::error::SendError;

/// Why a session refused an operator's change. Nothing was changed.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum ChangeError {
    /// The session has a connection: log it out first.
    Connected,
    /// The session is not logged on.
    NotLoggedOn,
    /// The session is halted.
    Halted(Halt),
    /// The session is not halted by a message on which the application failed.
    NotHalted,
    /// NextNumOut never decreases, since a sequence number is never used again with another body.
    /// A reset begins again at 1.
    NextNumOutTooLow {
        /// NextNumOut, the least that it can be set to.
        least: SeqNum,
        /// The number that was asked for.
        found: SeqNum,
    },
    /// No message can have the sequence number: it is 0, or 2^64-1, which has no successor.
    SeqNumOutOfRange {
        /// The number that was asked for.
        found: SeqNum,
    },
    /// FIX.4.0 has no ResetSeqNumFlag (141), with which a session that is logged on is reset: reset
    /// it between two connections.
    NoResetSeqNumFlag,
    /// A reset of the sequence numbers has already begun in the session.
    ResetHasBegun,
    /// Messages are missing, wait for the application, or are being sent again: a reset would lose
    /// them.
    MessagesPending,
    /// The record or the message of the change was refused.
    Send(SendError),
}

impl From<SendError> for ChangeError {
    fn from(error: SendError) -> Self {
        match error {
            SendError::NotLoggedOn => Self::NotLoggedOn,
            error => Self::Send(error),
        }
    }
}

impl fmt::Display for ChangeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Connected => f.write_str("the session has a connection: log it out first"),
            Self::NotLoggedOn => f.write_str("the session is not logged on"),
            Self::Halted(halt) => write!(f, "the session is halted: {halt}"),
            Self::NotHalted => f.write_str("the session is not halted by a message"),
            Self::NextNumOutTooLow { least, found } => {
                write!(f, "NextNumOut cannot be lowered from {least} to {found}: reset the session instead")
            }
            Self::SeqNumOutOfRange { found } => {
                write!(f, "a sequence number must be at least 1 and below {}, not {found}", SeqNum::MAX)
            }
            Self::NoResetSeqNumFlag => {
                f.write_str("FIX.4.0 has no ResetSeqNumFlag: reset between two connections")
            }
            Self::ResetHasBegun => f.write_str("a reset of the sequence numbers has already begun"),
            Self::MessagesPending => f.write_str("messages are missing, wait, or are being sent again"),
            Self::Send(error) => error.fmt(f),
        }
    }
}

impl Error for ChangeError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Send(error) => error.source(),
            _ => None,
        }
    }
}
