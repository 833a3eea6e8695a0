//! One session: what a `[SESSION]` section and the defaults make of it.

use core::net::IpAddr;
use core::time::Duration;
use std::collections::BTreeMap;
use std::path::PathBuf;

use fixbolt_codec::Version;
use fixbolt_session::{SessionId, SessionSettings};

use super::error::{ConfigError, SourceLine};

/// A session as configured.
#[derive(Clone, PartialEq, Debug)]
pub struct SessionConfiguration {
    /// The line of its `[SESSION]`.
    pub place: SourceLine,
    /// Which session it is.
    pub identity: Identity,
    /// Who connects, and where.
    pub connection: ConnectionType,
    /// The session's settings. For a dynamic one `*` stands in their identity for what is not
    /// given.
    pub settings: SessionSettings,
    /// FileStorePath: the directory that holds the session's journal; `None` keeps messages in memory.
    pub journal: Option<PathBuf>,
    /// PersistMessages: N keeps no messages, and gap-fills whatever is asked for.
    pub persist_messages: bool,
    /// DataDictionary: the file of which the dictionary in `settings` was read, if it is not the
    /// shipped one.
    pub data_dictionary: Option<PathBuf>,
    /// SocketNodelay: small messages leave at once.
    pub socket_nodelay: bool,
    /// Keys of this session and of the defaults that are the application's: those that start with
    /// `X-`, without the prefix, and those of `[DEFAULT]` that were warned about.
    pub application: BTreeMap<String, String>,
}

/// Which session a section configures.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Identity {
    /// This one.
    Fixed(SessionId),
    /// DynamicSession=Y: whichever initiator logs on. `None` stands for any.
    Dynamic {
        /// BeginString.
        version: Option<Version>,
        /// Our CompID.
        sender_comp_id: Option<String>,
        /// The counterparty's.
        target_comp_id: Option<String>,
    },
}

/// How the connection comes about.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ConnectionType {
    /// ConnectionType=acceptor.
    Acceptor {
        /// Where to listen; port 0 lets the system choose.
        listen: (IpAddr, u16),
        /// AllowedRemoteAddresses; empty for any.
        allowed: Vec<IpAddr>,
    },
    /// ConnectionType=initiator.
    Initiator {
        /// Hosts with ports, in the order in which they are tried. Names are resolved anew at each attempt.
        hosts: Vec<(String, u16)>,
        /// ReconnectInterval between attempts.
        reconnect_interval: Duration,
        /// SocketConnectTimeout of one attempt.
        connect_timeout: Duration,
    },
}

/// A `[SESSION]` section after it was checked.
#[derive(Clone, PartialEq, Debug)]
pub struct CheckedSession {
    /// The line of its `[SESSION]`.
    pub place: SourceLine,
    /// What the session is called: `FIX.4.4:VENUE->TRADER`, with `?` for what is not known and `*`
    /// for whatever it may be.
    pub name: String,
    /// Every setting that the session has, of the file or by default, in the order of
    /// docs/configuration.md.
    pub effective: Vec<EffectiveSetting>,
    /// The session, or every mistake that keeps it from being had, also those of `[DEFAULT]`.
    pub result: Result<SessionConfiguration, Vec<ConfigError>>,
}

/// A setting of a session.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct EffectiveSetting {
    /// The key under its usual name.
    pub key: String,
    /// The value as it may be shown: a secret is masked.
    pub value: String,
    /// Where it stands; `None` for a default.
    pub place: Option<SourceLine>,
    /// What the key is for.
    pub meaning: &'static str,
}
