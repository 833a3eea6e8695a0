//! What an operator asks of a session, and why it was not done.

use core::error::Error;
use core::fmt;

use fixbolt_codec::SeqNum;
use fixbolt_session::{ChangeError, OpenError};

use crate::unanswered::Unanswered;

/// The author of a change, and the reason: both are recorded in the session's journal. Together
/// they may have [`Change::MAX_SIZE`] bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Change<'c> {
    /// A person or a program.
    pub by: &'c str,
    /// The reason.
    pub why: &'c str,
}

impl<'c> Change<'c> {
    /// The largest size of author and reason together, in bytes.
    pub const MAX_SIZE: usize = 4096;

    /// Creates a change made by `by`, for the reason `why`.
    #[must_use]
    pub const fn new(by: &'c str, why: &'c str) -> Self {
        Self { by, why }
    }
}

impl fmt::Display for Change<'_> {
    /// Formats the change as it is recorded.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.by, self.why)
    }
}

/// An operation on a session.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Operation {
    LogOn,
    LogOut { text: String },
    Enable,
    Disable { text: String },
    SetNumbers { next_in: Option<SeqNum>, next_out: Option<SeqNum> },
    Reset,
    ResetInSession,
    TestRequest,
    SkipPoisonMessage,
    RetryPoisonMessage,
    Resume,
    ConfirmClock,
    Remove,
}

/// Why an operator's command was not carried out.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum OperationError {
    /// The session was removed.
    NoSession,
    /// The engine has stopped, or stopped before it answered.
    Stopped,
    /// The call was made in a callback, or on the thread that drives the engine
    /// ([`DrivenEngine`](crate::DrivenEngine)). Such a thread must not wait: it would wait for
    /// itself, or for another worker that waits for it.
    OwnThread,
    /// The time has passed before the session's worker began with it, because a callback of the
    /// application or a store keeps the worker busy: it will not be done.
    Withdrawn,
    /// The time has passed after the session's worker began with it. It continues: a Logout is on
    /// its way, a connection is being made, or a callback of the application has not returned.
    TimedOut,
    /// The author and the reason of the change are too long.
    ChangeTooLong {
        /// The bytes that they may have together, [`Change::MAX_SIZE`].
        most: usize,
        /// The bytes that they have.
        found: usize,
    },
    /// The session is switched off: switch it on first.
    Disabled,
    /// The session is an acceptor: its counterparty connects.
    NotInitiator,
    /// The session refused the change.
    Refused(ChangeError),
    /// The store could not be reopened, or not closed cleanly.
    Store(OpenError),
}

impl From<ChangeError> for OperationError {
    fn from(error: ChangeError) -> Self {
        Self::Refused(error)
    }
}

impl From<Unanswered> for OperationError {
    fn from(unanswered: Unanswered) -> Self {
        match unanswered {
            Unanswered::Stopped => Self::Stopped,
            Unanswered::Withdrawn => Self::Withdrawn,
            Unanswered::TimedOut => Self::TimedOut,
        }
    }
}

impl fmt::Display for OperationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoSession => f.write_str("the session was removed"),
            Self::Stopped => f.write_str("the engine has stopped"),
            Self::OwnThread => f.write_str("called in a callback, or on the thread that drives the engine, which must not wait: use another thread"),
            Self::Withdrawn => f.write_str("not begun within the time limit, because the session's worker is busy; it will not be done"),
            Self::TimedOut => f.write_str("not done within the time limit; it continues"),
            Self::ChangeTooLong { most, found } => write!(
                f,
                "the author and the reason of a change may have {most} bytes together; these have {found}"
            ),
            Self::Disabled => f.write_str("the session is disabled: enable it first"),
            Self::NotInitiator => f.write_str("the counterparty connects for this session"),
            Self::Refused(error) => error.fmt(f),
            Self::Store(error) => error.fmt(f),
        }
    }
}

impl Error for OperationError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Refused(error) => error.source(),
            Self::Store(error) => error.source(),
            _ => None,
        }
    }
}
