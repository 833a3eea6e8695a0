//! A session, or the engine, as its rows have set it so far.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::time::Duration;

use fixbolt_codec::Version;
use fixbolt_dictionary::{Action, Check, Encoding, Policy, Source};
use fixbolt_session::{CompIds, Compatibility, InvalidSessionId, Role, SessionId, SessionSettings};

use super::engine::EngineConfiguration;
use super::error::SourceLine;
use super::fixt::FixtDraft;
use super::groups_as_sent::GroupsAsSent;
use super::schedule_draft::ScheduleDraft;
use super::session::{ConnectionType, SessionConfiguration};
use super::tls_draft::TlsDraft;
use crate::acceptance::Acceptance;
use crate::identity_template::{CompIdsTemplate, IdentityTemplate, SubIdTemplate};
use crate::initiation::Initiation;
use crate::socket_options::SocketOptions;
use crate::tls::Tls;
use crate::waiting::{Waiting, WorkerOptions};

/// The target of the rows. Fields that several rows decide together are put into `settings` after
/// all of them are read.
pub(super) struct Draft {
    /// What the rows of the engine set, from `[DEFAULT]` only.
    pub(super) engine: EngineConfiguration,
    pub(super) settings: SessionSettings,
    pub(super) role: Option<Role>,
    /// BeginString; `None` if it is absent, or any.
    pub(super) version: Option<Version>,
    pub(super) sender: CompIdsDraft,
    pub(super) target: CompIdsDraft,
    pub(super) qualifier: Option<String>,
    pub(super) dynamic: bool,
    pub(super) check_latency: bool,
    pub(super) max_latency: Duration,
    pub(super) outbox_given: bool,
    pub(super) high_watermark: u8,
    pub(super) low_watermark: u8,
    pub(super) schedule: ScheduleDraft,
    pub(super) use_dictionary: bool,
    pub(super) dictionary: Option<PathBuf>,
    pub(super) fixt: FixtDraft,
    /// How a file is read; made of the rows after it.
    pub(super) dictionary_version: Option<String>,
    pub(super) dictionary_encoding: Option<Encoding>,
    pub(super) dictionary_as_of: Option<String>,
    pub(super) dictionary_scenario: Option<String>,
    pub(super) accept_duplicate_tags: bool,
    pub(super) standard_names: bool,
    pub(super) groups_as_sent: GroupsAsSent,
    /// Whether all groups are read as sent if the order of their fields is not checked.
    pub(super) first_field_is_delimiter: bool,
    pub(super) validate_incoming: bool,
    pub(super) validate_outgoing: bool,
    pub(super) incoming: Policy,
    /// Whether a check that is made only warns, unless a key for that check says otherwise.
    pub(super) only_warns: bool,
    pub(super) outgoing: Policy,
    pub(super) address: IpAddr,
    pub(super) port: Option<u16>,
    /// What only an acceptor has. `settings`, `socket` and `tls` take the place of its own.
    pub(super) acceptance: Acceptance,
    /// What only an initiator has. `settings`, `socket` and `tls` take the place of its own.
    pub(super) initiation: Initiation,
    pub(super) socket: SocketOptions,
    /// How the session's own worker waits, if it has one, and its core.
    pub(super) dedicated_worker: Option<Waiting>,
    pub(super) dedicated_worker_core: Option<usize>,
    pub(super) tls: TlsDraft,
    pub(super) journal: Option<PathBuf>,
    pub(super) persist_messages: bool,
}

/// One side of the session.
#[derive(Default)]
pub(super) struct CompIdsDraft {
    pub(super) comp_id: Option<String>,
    pub(super) sub_id: Option<String>,
    pub(super) location_id: Option<String>,
}

/// Stands for any value.
pub(super) const ANY: &str = "*";

impl CompIdsDraft {
    /// Returns the side, with this CompID if it has none.
    ///
    /// # Errors
    /// Never, in fact: each ID was checked when it was read.
    pub(super) fn comp_ids(&self, unknown: &str) -> Result<CompIds, InvalidSessionId> {
        CompIds::new(self.comp_id.as_deref().unwrap_or(unknown))?
            .with_ids(self.sub_id.as_deref(), self.location_id.as_deref())
    }

    /// Returns the side of dynamic sessions.
    pub(super) fn template(&self) -> CompIdsTemplate {
        let sub_id = |id: &Option<String>| match id.as_deref() {
            None => SubIdTemplate::Ignored,
            Some(ANY) => SubIdTemplate::Any,
            Some(only) => SubIdTemplate::Only(only.to_owned()),
        };
        CompIdsTemplate {
            comp_id: self.comp_id.clone().filter(|id| id != ANY),
            sub_id: sub_id(&self.sub_id),
            location_id: sub_id(&self.location_id),
        }
    }
}

impl Draft {
    /// Creates a session with every default.
    ///
    /// # Errors
    /// Never, in fact: `*` is a valid CompID.
    pub(super) fn new() -> Result<Self, InvalidSessionId> {
        // Identity and role are only known at the end.
        let settings = SessionSettings::new(SessionId::new(Version::Fix44, ANY, ANY)?, Role::Acceptor);
        let watermarks = settings.limits.outbound_watermarks;
        Ok(Self {
            engine: EngineConfiguration::default(),
            max_latency: settings.timing.max_latency.unwrap_or_default(),
            acceptance: settings.clone().into(),
            initiation: Initiation { hosts: Vec::new(), ..Initiation::new(settings.clone(), "", 0) },
            settings,
            role: None,
            version: None,
            sender: CompIdsDraft::default(),
            target: CompIdsDraft::default(),
            qualifier: None,
            dynamic: false,
            check_latency: true,
            outbox_given: false,
            high_watermark: watermarks.high(),
            low_watermark: watermarks.low(),
            schedule: ScheduleDraft::default(),
            use_dictionary: true,
            dictionary: None,
            fixt: FixtDraft::default(),
            dictionary_version: None,
            dictionary_encoding: None,
            dictionary_as_of: None,
            dictionary_scenario: None,
            accept_duplicate_tags: false,
            standard_names: false,
            groups_as_sent: GroupsAsSent::default(),
            first_field_is_delimiter: false,
            validate_incoming: true,
            validate_outgoing: false,
            incoming: Policy::standard(),
            only_warns: false,
            // What we send must be valid, whatever we accept.
            outgoing: Policy::standard(),
            address: IpAddr::V4(Ipv4Addr::LOCALHOST),
            port: None,
            socket: SocketOptions::default(),
            dedicated_worker: None,
            dedicated_worker_core: None,
            tls: TlsDraft::default(),
            journal: None,
            persist_messages: true,
        })
    }

    /// Returns the session's identity, with this CompID where it has none.
    pub(super) fn id(&self, unknown: &str) -> Result<SessionId, InvalidSessionId> {
        // A version that is missing is reported, or any.
        let version = self.version.unwrap_or(Version::Fix44);
        let id = SessionId::between(version, self.sender.comp_ids(unknown)?, self.target.comp_ids(unknown)?)?;
        id.with_qualifier(self.qualifier.as_deref().unwrap_or_default())
    }

    /// Returns where an acceptor listens; `None` without a port.
    pub(super) fn listen(&self) -> Option<SocketAddr> {
        self.port.map(|port| SocketAddr::new(self.address, port))
    }

    /// Returns the session of the section at `place`; `None` if its role or port is not known.
    pub(super) fn finish(
        self,
        place: SourceLine,
        tls: Option<Tls>,
        application: BTreeMap<String, String>,
    ) -> Option<SessionConfiguration> {
        let (data_dictionary, listen) = (self.data_dictionary(), self.listen());
        let Self { settings, socket, journal, persist_messages, groups_as_sent, .. } = self;
        let connection = match self.role? {
            Role::Acceptor => ConnectionType::Acceptor {
                listen: listen?,
                dynamic_session: self.dynamic.then(|| IdentityTemplate {
                    version: self.version,
                    sender: self.sender.template(),
                    target: self.target.template(),
                }),
                acceptance: Acceptance { settings, socket, tls, ..self.acceptance },
            },
            Role::Initiator => {
                ConnectionType::Initiator(Initiation { settings, socket, tls, ..self.initiation })
            }
        };
        Some(SessionConfiguration {
            place,
            connection,
            journal,
            persist_messages,
            data_dictionary,
            groups_as_sent,
            dedicated_worker: self
                .dedicated_worker
                .map(|waiting| WorkerOptions { waiting, core: self.dedicated_worker_core }),
            application,
        })
    }

    /// Sets the first wait between attempts. The longest is not shorter unless it is given.
    pub(super) fn set_reconnect_interval(&mut self, interval: Duration) {
        self.initiation.reconnect_interval = interval;
        self.initiation.max_reconnect_interval = self.initiation.max_reconnect_interval.max(interval);
    }

    /// Sets the high watermark of the outbox; the low one is at most half of it unless it is given.
    pub(super) fn set_high_watermark(&mut self, percent: u8) {
        self.high_watermark = percent;
        self.low_watermark = self.low_watermark.min(percent / 2);
    }

    /// Follows another engine's behavior, including its checks.
    pub(super) fn follow(&mut self, engine: Compatibility) {
        self.settings.compatibility = engine;
        self.incoming = engine.validation();
    }

    /// Begins with the checks of this policy, whichever engine's behavior is followed.
    pub(super) fn check_as(&mut self, policy: Policy) {
        self.incoming = policy;
        self.only_warns = policy == Policy::tolerant();
    }

    /// Applies a switch of QuickFIX, which enables checks.
    pub(super) fn switch(&mut self, on: bool, checks: &[Check]) {
        let action = match (on, self.only_warns) {
            (false, _) => Action::Ignore,
            (true, false) => Action::Reject,
            (true, true) => Action::Warn,
        };
        self.incoming = checks.iter().fold(self.incoming, |policy, check| policy.with(*check, action));
    }

    /// Applies a permission, which disables checks if it is granted.
    pub(super) fn allow(&mut self, on: bool, checks: &[Check]) {
        if on {
            self.switch(false, checks);
        }
    }

    /// Returns the source of the session's own dictionary; over FIXT.1.1, that of the dictionary of
    /// its default version.
    pub(super) fn data_dictionary(&self) -> Option<Source<'static>> {
        match (self.version, self.settings.default_appl_ver_id) {
            (Some(Version::Fixt11), Some(default)) => self.fixt.source(default, &|file| self.source_of(file)),
            _ => self.dictionary.as_deref().map(|file| self.source_of(file)),
        }
    }

    /// Returns the source of a file, read as the keys say.
    pub(super) fn source_of(&self, file: &Path) -> Source<'static> {
        let mut source = Source::file(file);
        if let Some(version) = &self.dictionary_version {
            source = source.version(version);
        }
        if let Some(encoding) = self.dictionary_encoding {
            source = source.encoding(encoding);
        }
        if let Some(version) = &self.dictionary_as_of {
            source = source.as_of(version);
        }
        if let Some(name) = &self.dictionary_scenario {
            source = source.scenario(name);
        }
        if self.accept_duplicate_tags {
            source = source.accept_duplicate_tags();
        }
        if self.standard_names {
            source = source.standard_names();
        }
        source
    }

    /// Turns every rejection into a warning if `N`.
    pub(super) fn reject_invalid(&mut self, on: bool) {
        let rejected = |policy: &Policy, check| policy.action(check) == Action::Reject;
        for check in Check::ALL {
            if !on && rejected(&self.incoming, check) {
                self.incoming = self.incoming.with(check, Action::Warn);
            }
        }
    }
}
