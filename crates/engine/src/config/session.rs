//! A session, made from a `[SESSION]` section and the defaults.

use core::fmt;
use core::net::SocketAddr;
use std::collections::BTreeMap;
use std::path::PathBuf;

use fixbolt_dictionary::Source;
use fixbolt_session::{SessionId, SessionSettings};

use super::error::{ConfigError, SourceLine};
use super::groups_as_sent::GroupsAsSent;
use super::secret::WithoutSecrets;
use crate::acceptance::Acceptance;
use crate::identity_template::IdentityTemplate;
use crate::initiation::Initiation;
use crate::tls::Tls;
use crate::waiting::WorkerOptions;

/// A session as configured.
#[derive(Clone, PartialEq)]
#[non_exhaustive]
pub struct SessionConfiguration {
    /// The line of its `[SESSION]`.
    pub place: SourceLine,
    /// Who connects and where, and every setting of the session itself.
    pub connection: ConnectionType,
    /// FileStorePath: the directory that holds the session's journal; `None` keeps messages in
    /// memory.
    pub journal: Option<PathBuf>,
    /// PersistMessages: N keeps no messages, and answers every ResendRequest with a gap fill.
    pub persist_messages: bool,
    /// DataDictionary, and the keys that say how it is read: the source of the dictionary in the
    /// settings, unless it is the shipped one.
    pub data_dictionary: Option<Source<'static>>,
    /// GroupsAsSent: the groups that the dictionary in the settings reads as they are sent.
    pub groups_as_sent: GroupsAsSent,
    /// DedicatedWorker and DedicatedWorkerCore:
    /// [`EngineBuilder::dedicated_worker`](crate::EngineBuilder::dedicated_worker).
    pub dedicated_worker: Option<WorkerOptions>,
    /// The application's keys of this session and of the defaults: those that start with `X-`,
    /// without the prefix, and those of QuickFIX/J's example programs, which cause a warning.
    pub application: BTreeMap<String, String>,
}

impl SessionConfiguration {
    /// Returns the session's settings. For a dynamic session, `*` in their identity stands for what
    /// is not given.
    #[must_use]
    pub const fn settings(&self) -> &SessionSettings {
        match &self.connection {
            ConnectionType::Acceptor { acceptance, .. } => &acceptance.settings,
            ConnectionType::Initiator(initiation) => &initiation.settings,
        }
    }

    /// Returns the session's settings, to change them.
    pub const fn settings_mut(&mut self) -> &mut SessionSettings {
        match &mut self.connection {
            ConnectionType::Acceptor { acceptance, .. } => &mut acceptance.settings,
            ConnectionType::Initiator(initiation) => &mut initiation.settings,
        }
    }

    /// Returns the session's identity; `None` for dynamic sessions.
    #[must_use]
    pub const fn id(&self) -> Option<&SessionId> {
        match &self.connection {
            ConnectionType::Acceptor { dynamic_session: Some(_), .. } => None,
            _ => Some(&self.settings().id),
        }
    }

    /// Returns SocketUseSSL and what the other keys of TLS say; `None` for plain connections.
    #[must_use]
    pub const fn tls(&self) -> Option<&Tls> {
        match &self.connection {
            ConnectionType::Acceptor { acceptance, .. } => acceptance.tls.as_ref(),
            ConnectionType::Initiator(initiation) => initiation.tls.as_ref(),
        }
    }
}

impl fmt::Debug for SessionConfiguration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { place, connection, journal, persist_messages, .. } = self;
        let Self { data_dictionary, groups_as_sent, dedicated_worker, application, .. } = self;
        f.debug_struct("SessionConfiguration")
            .field("place", place)
            .field("connection", connection)
            .field("journal", journal)
            .field("persist_messages", persist_messages)
            .field("data_dictionary", data_dictionary)
            .field("groups_as_sent", groups_as_sent)
            .field("dedicated_worker", dedicated_worker)
            .field("application", &WithoutSecrets(application))
            .finish()
    }
}

/// Who connects, and the options of the session: what the engine's builder takes.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub enum ConnectionType {
    /// ConnectionType=acceptor: what [`EngineBuilder::accept`](crate::EngineBuilder::accept) takes.
    Acceptor {
        /// SocketAcceptHost and SocketAcceptPort: where to listen; port 0 lets the system choose.
        listen: SocketAddr,
        /// DynamicSession=Y: the identities with which any initiator may log on; `None` for the
        /// session of exactly the identity in its settings.
        dynamic_session: Option<IdentityTemplate>,
        /// The options of the session, or of each dynamic session.
        acceptance: Acceptance,
    },
    /// ConnectionType=initiator: what [`EngineBuilder::connect`](crate::EngineBuilder::connect)
    /// takes.
    Initiator(Initiation),
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
