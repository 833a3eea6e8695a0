//! What is wrong with a session before it is opened: values with their words.

use core::fmt;
use core::time::Duration;
use std::error::Error;

use fixbolt_codec::Version;
use fixbolt_session::{Role, SessionId, SettingRange, WrongSetting};

/// What is wrong with a session's settings; says how to correct it.
///
/// ```
/// use fixbolt::session::{SettingRange, WrongSetting};
/// use fixbolt::{EngineError, SettingsError, testing::TestSession};
/// # use fixbolt::prelude::*;
/// # struct Nobody;
/// # impl Application for Nobody {
/// #     fn on_message(&mut self, _: Message<'_>, _: &mut Turn<'_>) -> Result<Delivery, Failure> {
/// #         Ok(Delivery::Done)
/// #     }
/// # }
/// let mut settings = SessionSettings::new("FIX.4.4:VENUE->TRADER".parse()?, Role::Acceptor);
/// settings.limits.max_message_size = 100;
/// let wrong = match TestSession::new(settings, Nobody) {
///     Err(EngineError::Settings { error: SettingsError::Setting { wrong, .. }, .. }) => wrong,
///     _ => return Err("it is refused".into()),
/// };
/// let range = SettingRange::MAX_MESSAGE_SIZE; // at least 8,192
/// assert_eq!(wrong, WrongSetting::OutOfRange { range, found: 100 });
/// assert_eq!(wrong.key(), "MaxMessageSize");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum SettingsError {
    /// A setting is wrong: [`WrongSetting::key`] names it.
    Setting {
        /// The setting, and what is wrong with it.
        wrong: WrongSetting,
        /// The version of the session.
        version: Version,
    },
    /// There are no sessions of this version: its messages travel in those of FIXT.1.1.
    Version {
        /// The version.
        found: Version,
    },
    /// A session that is accepted is an initiator, or one that connects is an acceptor.
    Role {
        /// Its role.
        found: Role,
    },
    /// There are two sessions with this identity.
    Twice,
    /// A Logon could be for the session or for another one of its address.
    Ambiguous {
        /// The other one.
        other: Box<SessionId>,
    },
    /// There is no host to connect to.
    NoHost,
    /// A host to connect to has no name, or no port.
    Host {
        /// Its name.
        host: String,
        /// Its port.
        port: u16,
    },
    /// A time of [`Initiation`](crate::Initiation) is too short.
    TooShort {
        /// The name of its field.
        field: &'static str,
        /// The shortest time.
        least: Duration,
        /// Its time.
        found: Duration,
    },
    /// The session's file in the message log would have too long a name.
    LogName {
        /// The longest name, in bytes.
        most: usize,
        /// Its length in bytes.
        found: usize,
    },
    /// The session's TLS cannot be used, or the sessions of its address do not agree on TLS or
    /// proxies.
    Tls {
        /// What is wrong, and what to do; begins with the file's name if it is about a file.
        reason: String,
    },
}

impl fmt::Display for SettingsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Setting { wrong, version } => setting(*wrong, *version, f),
            Self::Version { found } => write!(
                f,
                "{found} has no sessions of its own: its messages travel in sessions of FIXT.1.1 (DefaultApplVerID={found})"
            ),
            Self::Role { found: Role::Initiator } => {
                f.write_str("it is added with `accept`, but its role is initiator")
            }
            Self::Role { found: Role::Acceptor } => {
                f.write_str("it is added with `connect`, but its role is acceptor")
            }
            Self::Twice => f.write_str("it is configured twice"),
            Self::Ambiguous { other } => write!(
                f,
                "a Logon could be for it or for {other} at the same address, as neither has more SubIDs and LocationIDs; give one of them those of both"
            ),
            Self::NoHost => f.write_str("there is no host to connect to; add one to Initiation::hosts"),
            Self::Host { host, port } => write!(f, "cannot connect to {host:?} with port {port}"),
            Self::TooShort { field, least, .. } => {
                write!(f, "{field} must be at least {} ms", least.as_millis())
            }
            Self::LogName { most, found } => write!(
                f,
                "the name of its file in the message log (FileLogPath) would have {found} bytes, {most} at most: each byte of an ID outside A-Z a-z 0-9 . _ takes three; shorten the IDs"
            ),
            Self::Tls { reason } => f.write_str(reason),
        }
    }
}

impl Error for SettingsError {}

/// Writes what is wrong with a setting in the words of the configuration.
fn setting(wrong: WrongSetting, version: Version, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match wrong {
        WrongSetting::NoApplicationVersion => f.write_str(
            "a session of FIXT.1.1 needs DefaultApplVerID, the version of its messages: FIX.5.0SP2 for example",
        ),
        WrongSetting::DictionaryNotFilledIn => write!(
            f,
            "no dictionary of {version} is shipped; name one, or do without by SessionDictionary::None"
        ),
        WrongSetting::OutOfRange { range: range @ SettingRange::MAX_MESSAGE_SIZE, .. } => {
            write!(f, "{} must be at least {} bytes", range.key, range.from)
        }
        WrongSetting::NoResetInSession => write!(
            f,
            "{version} has no ResetSeqNumFlag, with which a session that is logged on is reset (ResetSeqTime)"
        ),
        other => f.write_str(other.reason()),
    }
}
