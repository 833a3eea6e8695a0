//! Why a session could not be opened or resumed.

use core::error::Error;
use core::fmt;

use crate::events::end::Halt;
use crate::settings::check::WrongSetting;
use crate::store::StoreError;

/// Why a session could not be opened or resumed.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum OpenError {
    /// The store refused.
    Store(StoreError),
    /// The session is open already.
    AlreadyOpen,
    /// No session is open under this key.
    NotOpen,
    /// The session has a connection, which must end first.
    Connected,
    /// The session is halted for another reason, which `resume` does not end.
    Halted(Halt),
    /// A setting is wrong: [`WrongSetting::key`] names it, and [`WrongSetting::OutOfRange`] has its
    /// least and largest value and the one that was found.
    Setting(WrongSetting),
    /// A CompID, SubID or LocationID of the session is too long.
    IdTooLong {
        /// The bytes that it may have.
        most: usize,
    },
    /// There are as many sessions as there may be.
    TooManySessions {
        /// Their number.
        most: usize,
    },
}

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Store(error) => error.fmt(f),
            Self::AlreadyOpen => f.write_str("the session is open already"),
            Self::NotOpen => f.write_str("the session is not open"),
            Self::Connected => f.write_str("the session has a connection: close it first"),
            Self::Halted(halt) => halt.fmt(f),
            Self::Setting(wrong) => f.write_str(wrong.reason()),
            Self::IdTooLong { most } => write!(f, "an ID of the session has more than {most} bytes"),
            Self::TooManySessions { most } => {
                write!(f, "the engine has {most} sessions, as many as its limit allows (MaxSessions)")
            }
        }
    }
}

impl Error for OpenError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Store(error) => error.source(),
            _ => None,
        }
    }
}
