//! Why an engine does not start, or does not end, as it should. How the errors of all crates read
//! is in this crate's documentation, under "Errors"; `tests/errors.rs` lists them.

use core::error::Error;
use core::fmt;
use core::net::SocketAddr;
use std::io;
use std::path::Path;

use fixbolt_codec::TierError;
use fixbolt_session::store::StoreError;
use fixbolt_session::{OpenError, SessionId};

use crate::config::{ConfigError, ConfigErrors};
use crate::port_holder;
use crate::settings_error::SettingsError;
use crate::unanswered::Unanswered;
use crate::workers_error::WorkersError;

/// Why an engine did not start, or did not end well.
///
/// Each is one line that says what is wrong and where; only a wrong configuration has one line per
/// mistake. `{:#}` formats the whole line, `{}` omits what [`source`](Error::source) returns, as in
/// every error of the project ([how errors read](crate#errors)).
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum EngineError {
    /// The configuration is wrong; there is one line per mistake.
    Config(ConfigErrors),
    /// There is no session to accept or to connect.
    NoSessions,
    /// The engine cannot listen on an address.
    Listen {
        /// The address.
        address: SocketAddr,
        /// The reason.
        error: ListenError,
    },
    /// A session's settings are wrong.
    Settings {
        /// The session.
        session: Box<SessionId>,
        /// What is wrong.
        error: SettingsError,
    },
    /// A session cannot be opened, whatever its settings are: it is open already, for example, or
    /// there are as many sessions as there may be.
    Open {
        /// The session.
        session: Box<SessionId>,
        /// The reason.
        error: OpenError,
    },
    /// A session's journal cannot be used.
    Store {
        /// The session.
        session: Box<SessionId>,
        /// The reason.
        error: StoreError,
    },
    /// The environment variable `FIXBOLT_SIMD` names instructions that cannot be used.
    Tier {
        /// Its value.
        name: String,
        /// What is wrong with it.
        reason: TierError,
    },
    /// The system refused a request.
    System {
        /// What was being done.
        doing: &'static str,
        /// What kind of error the system returned.
        kind: io::ErrorKind,
        /// The system's reason, and what to do about it if that is known.
        reason: String,
    },
    /// Certificates could not be loaded again.
    Certificates {
        /// What is wrong with each.
        reason: String,
    },
    /// The engine has stopped.
    Stopped,
    /// The time has passed before a worker began to open the session, because a callback of the
    /// application or a store keeps the worker busy, or another session is being opened: it will
    /// not be opened.
    Withdrawn,
    /// The time has passed while a worker opens the session.
    /// [`Engine::session`](crate::Engine::session) returns it once it is open, if it can be opened.
    TimedOut,
    /// The call was made in a callback. A worker's thread must not wait: it would wait for itself,
    /// or for another worker that waits for it.
    OwnThread,
    /// The sessions cannot be distributed over the workers as requested.
    Workers(WorkersError),
    /// A journal could not be closed cleanly at the end.
    Closing(StoreError),
    /// The worker thread panicked outside the application's callbacks for messages.
    Panicked,
}

/// Why an engine cannot listen on an address.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum ListenError {
    /// The system refused it: another process has the port ([`io::ErrorKind::AddrInUse`]), the
    /// address does not belong to this machine ([`io::ErrorKind::AddrNotAvailable`]), or the
    /// process may not have the port ([`io::ErrorKind::PermissionDenied`]), for example.
    System {
        /// What kind of error the system returned.
        kind: io::ErrorKind,
        /// The system's reason, and what to do about it if that is known.
        reason: String,
    },
    /// The address includes another one on which this engine listens, or is included in it.
    Overlaps {
        /// The other address.
        other: SocketAddr,
    },
    /// TLS or proxies are set for the address, and no session is accepted there.
    NoSession {
        /// What is set.
        of: &'static str,
    },
    /// The sessions of the address do not agree on TLS or proxies, or their TLS cannot be used.
    Sessions {
        /// What is wrong; begins with the file's name if it is about a file.
        reason: String,
    },
}

impl fmt::Display for ListenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::System { reason, .. } | Self::Sessions { reason } => f.write_str(reason),
            Self::Overlaps { other } => write!(
                f,
                "it overlaps with {other}, on which this engine listens, too; name one of the two, or choose another port"
            ),
            Self::NoSession { of } => write!(
                f,
                "{of} of this address is set, but no session is accepted there; name the address of the sessions"
            ),
        }
    }
}

impl Error for ListenError {}

impl EngineError {
    /// Returns the error of an address that cannot be bound, with what to do about it.
    pub(crate) fn listen(address: SocketAddr, error: &io::Error) -> Self {
        let what_to_do = match error.kind() {
            io::ErrorKind::AddrInUse => match port_holder::of(address) {
                Some(process) => format!(": {process} listens there; stop it, or choose another port"),
                None => "; stop the process that listens there, or choose another port".to_owned(),
            },
            io::ErrorKind::AddrNotAvailable => {
                "; choose an address of this machine, or 0.0.0.0 for all".to_owned()
            }
            io::ErrorKind::PermissionDenied => "; choose a port from 1024 on".to_owned(),
            _ => String::new(),
        };
        let (kind, reason) = (error.kind(), format!("{error}{what_to_do}"));
        Self::Listen { address, error: ListenError::System { kind, reason } }
    }

    /// Returns the error of an address whose sessions do not agree, or have TLS that cannot be
    /// used.
    pub(crate) const fn listen_for_sessions(address: SocketAddr, reason: String) -> Self {
        Self::Listen { address, error: ListenError::Sessions { reason } }
    }

    /// Returns the error of a request that the system refused.
    pub(crate) fn system(doing: &'static str, error: &io::Error) -> Self {
        Self::System { doing, kind: error.kind(), reason: error.to_string() }
    }

    /// Returns the error of an engine whose memory cannot be locked.
    pub(crate) fn lock_memory(error: &io::Error) -> Self {
        Self::system("locking the memory (LockMemory)", error)
    }

    /// Returns the error of an engine whose message log cannot be started.
    pub(crate) fn message_log(directory: &Path, error: &io::Error) -> Self {
        let reason = format!("{}: {error}", directory.display());
        Self::System { doing: "starting the message log", kind: error.kind(), reason }
    }

    pub(crate) fn open(session: SessionId, error: OpenError) -> Self {
        let session = Box::new(session);
        match error {
            OpenError::Store(error) => Self::Store { session, error },
            OpenError::Setting(wrong) => {
                let version = session.version();
                Self::Settings { session, error: SettingsError::Setting { wrong, version } }
            }
            error => Self::Open { session, error },
        }
    }
}

impl From<Unanswered> for EngineError {
    fn from(unanswered: Unanswered) -> Self {
        match unanswered {
            Unanswered::Stopped => Self::Stopped,
            Unanswered::Withdrawn => Self::Withdrawn,
            Unanswered::TimedOut => Self::TimedOut,
        }
    }
}

impl From<ConfigErrors> for EngineError {
    fn from(errors: ConfigErrors) -> Self {
        Self::Config(errors)
    }
}

impl From<ConfigError> for EngineError {
    fn from(error: ConfigError) -> Self {
        Self::Config(error.into())
    }
}

impl fmt::Display for EngineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Config(error) => error.fmt(f),
            Self::NoSessions => f.write_str("there is no session to accept or to connect"),
            Self::Listen { address, error } => write!(f, "cannot listen on {address}: {error}"),
            Self::Settings { session, error } => write!(f, "session {session}: {error}"),
            Self::Open { session, error } => write!(f, "session {session}: {error}"),
            Self::Store { session, error } => {
                write!(f, "session {session}: its journal cannot be used")?;
                source(f, error)
            }
            Self::Tier { name, reason } => {
                write!(f, "environment variable FIXBOLT_SIMD is {name:?}")?;
                source(f, reason)
            }
            Self::System { doing, reason, .. } => write!(f, "{doing}: {reason}"),
            Self::Certificates { reason } => write!(f, "loading certificates: {reason}"),
            Self::Stopped => f.write_str("the engine has stopped"),
            Self::Withdrawn => {
                f.write_str("no worker was free within the time limit; the session will not be opened")
            }
            Self::TimedOut => {
                f.write_str("the session is not open within the time limit; it is still being opened")
            }
            Self::OwnThread => f.write_str("called in a callback, which must not wait: use another thread"),
            Self::Workers(error) => write!(f, "workers: {error}"),
            Self::Closing(error) => {
                f.write_str("a journal could not be closed cleanly")?;
                source(f, error)
            }
            Self::Panicked => f.write_str("the engine's thread panicked"),
        }
    }
}

impl Error for EngineError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Config(errors) => errors.source(),
            Self::Store { error, .. } | Self::Closing(error) => Some(error),
            Self::Tier { reason, .. } => Some(reason),
            _ => None,
        }
    }
}

/// Adds the text of the source if the whole chain was asked for.
fn source(f: &mut fmt::Formatter<'_>, error: &dyn Error) -> fmt::Result {
    if f.alternate() { write!(f, ": {error:#}") } else { Ok(()) }
}

/// Shows the whole line, since this is how `main` prints an error.
impl fmt::Debug for EngineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self:#}")
    }
}
