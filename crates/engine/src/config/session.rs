//! A session, made from a `[SESSION]` section and the defaults.

use core::fmt;
use core::net::{IpAddr, SocketAddr};
use core::time::Duration;
use std::collections::BTreeMap;
use std::path::PathBuf;

use fixbolt_dictionary::Source;
use fixbolt_session::{SessionId, SessionSettings};

use super::error::{ConfigError, SourceLine};
use super::groups_as_sent::GroupsAsSent;
use super::secret::WithoutSecrets;
use crate::identity_template::IdentityTemplate;
use crate::initiation::HostSelection;
use crate::network::Network;
use crate::socket_options::SocketOptions;
use crate::tls::Tls;
use crate::waiting::WorkerOptions;

/// A session as configured.
#[derive(Clone, PartialEq)]
#[non_exhaustive]
pub struct SessionConfiguration {
    /// The line of its `[SESSION]`.
    pub place: SourceLine,
    /// The session that the section configures.
    pub identity: Identity,
    /// Who connects, and where.
    pub connection: ConnectionType,
    /// The session's settings. For a dynamic session, `*` in their identity stands for what is not
    /// given.
    pub settings: SessionSettings,
    /// FileStorePath: the directory that holds the session's journal; `None` keeps messages in
    /// memory.
    pub journal: Option<PathBuf>,
    /// PersistMessages: N keeps no messages, and answers every ResendRequest with a gap fill.
    pub persist_messages: bool,
    /// DataDictionary, and the keys that say how it is read: the source of the dictionary in
    /// `settings`, unless it is the shipped one.
    pub data_dictionary: Option<Source<'static>>,
    /// GroupsAsSent: the groups that the dictionary in `settings` reads as they are sent.
    pub groups_as_sent: GroupsAsSent,
    /// SocketNodelay, SocketKeepAlive and the other options of sockets.
    pub socket: SocketOptions,
    /// DedicatedWorker and DedicatedWorkerCore:
    /// [`EngineBuilder::dedicated`](crate::EngineBuilder::dedicated).
    pub dedicated: Option<WorkerOptions>,
    /// SocketUseSSL and the other keys of TLS; `None` for plain connections.
    pub tls: Option<Tls>,
    /// The application's keys of this session and of the defaults: those that start with `X-`,
    /// without the prefix, and those of QuickFIX/J's example programs, which cause a warning.
    pub application: BTreeMap<String, String>,
}

impl fmt::Debug for SessionConfiguration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { place, identity, connection, settings, journal, .. } = self;
        let Self { persist_messages, data_dictionary, groups_as_sent, socket, .. } = self;
        let Self { dedicated, tls, application, .. } = self;
        f.debug_struct("SessionConfiguration")
            .field("place", place)
            .field("identity", identity)
            .field("connection", connection)
            .field("settings", settings)
            .field("journal", journal)
            .field("persist_messages", persist_messages)
            .field("data_dictionary", data_dictionary)
            .field("groups_as_sent", groups_as_sent)
            .field("socket", socket)
            .field("dedicated", dedicated)
            .field("tls", tls)
            .field("application", &WithoutSecrets(application))
            .finish()
    }
}

/// The identity that a section configures.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Identity {
    /// Exactly this session.
    Fixed(SessionId),
    /// DynamicSession=Y: any initiator that logs on with one of these.
    Dynamic(IdentityTemplate),
}

/// How the connection is made.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum ConnectionType {
    /// ConnectionType=acceptor.
    Acceptor {
        /// Where to listen; port 0 lets the system choose.
        listen: (IpAddr, u16),
        /// AllowedRemoteAddresses; empty for any.
        allowed: Vec<IpAddr>,
        /// ProxyProtocolFrom; empty for none.
        proxies: Vec<Network>,
    },
    /// ConnectionType=initiator.
    Initiator {
        /// Hosts with ports, in the order in which they are tried. Names are looked up again at
        /// each attempt.
        hosts: Vec<(String, u16)>,
        /// SocketConnectSourceHost and SocketConnectSourcePort: the local address of the
        /// connections to each host, in the same order; `None` leaves it to the system.
        local_addresses: Vec<Option<SocketAddr>>,
        /// HostSelectionPolicy: the host that an attempt begins with.
        host_selection: HostSelection,
        /// HostSelectionPolicyPriorityStartOverInterval: how long after an attempt that began with
        /// the first host one begins with it again.
        priority_start_over: Duration,
        /// ReconnectInterval: the first wait between attempts.
        reconnect_interval: Duration,
        /// MaxReconnectInterval: the longest.
        max_reconnect_interval: Duration,
        /// SocketConnectTimeout of one attempt.
        connect_timeout: Duration,
    },
}

/// A `[SESSION]` section after it was checked.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub struct CheckedSession {
    /// The line of its `[SESSION]`.
    pub place: SourceLine,
    /// The session's name: `FIX.4.4:VENUE->TRADER`, with `?` for an unknown part and `*` for any
    /// value.
    pub name: String,
    /// Every setting of the session, from the file or by default, in the order of
    /// docs/configuration.md.
    pub effective: Vec<EffectiveSetting>,
    /// The session, or every mistake in it, including those of `[DEFAULT]`.
    pub result: Result<SessionConfiguration, Vec<ConfigError>>,
}

/// A setting of a session.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct EffectiveSetting {
    /// The key under its usual name.
    pub key: String,
    /// The value as it may be shown: a secret is masked.
    pub value: String,
    /// The position of the setting; `None` if the value follows from others, or is the default.
    pub place: Option<SourceLine>,
    /// Whether the value is the default.
    pub is_default: bool,
    /// What the key is for.
    pub meaning: &'static str,
}
