//! Configuration files in the industry's form: `[DEFAULT]`, `[SESSION]`, `Key=Value`, with
//! QuickFIX's key names.
//!
//! A key is one of four kinds: used, also under a name that engines no longer have, which is a
//! warning that says what to write; known from another engine and without effect here, which is a
//! warning that names the replacement; the application's, in `[APP]`, with the prefix `X-`, or one
//! of the keys of QuickFIX/J's example programs; anything else in `[DEFAULT]` or `[SESSION]` stops
//! the start with file, line and the nearest known key. A known key whose effect is not available
//! stops the start too: nothing is ignored silently. A session that has a key of TLS has TLS, or
//! `SocketUseSSL=N`.
//!
//! A file is checked as a whole: [`Configuration::from_file`] returns every mistake in it, and
//! [`CheckedConfiguration`] describes it session by session.
//!
//! `${NAME}` is an environment variable, `${file:PATH}` the text of a file, `$$` a dollar sign;
//! `include=PATH` reads another file. No setting starts a program.
//!
//! A program reads a [`Configuration`], shows its warnings, takes its own settings from it, and
//! builds an engine of it ([`EngineBuilder::from_config`](crate::EngineBuilder::from_config)):
//!
//! ```
//! use fixbolt::EngineBuilder;
//! use fixbolt::config::Configuration;
//! # struct Venue(String);
//! # impl fixbolt::session::Application for Venue {
//! #     fn on_message(
//! #         &mut self,
//! #         _: fixbolt::codec::Message<'_>,
//! #         _: &mut fixbolt::session::Turn<'_>,
//! #     ) -> Result<fixbolt::session::Delivery, fixbolt::session::Failure> {
//! #         Ok(fixbolt::session::Delivery::Done)
//! #     }
//! # }
//!
//! // A program reads a file instead: Configuration::from_file("venue.cfg")?
//! let configuration = Configuration::from_text("venue.cfg", "
//! [APP]
//! Market=XLON
//! [DEFAULT]
//! ConnectionType=acceptor
//! SocketAcceptPort=0
//! Store=memory
//! [SESSION]
//! BeginString=FIX.4.4
//! SenderCompID=VENUE
//! TargetCompID=TRADER
//! ")?;
//! assert!(configuration.warnings.is_empty());
//! let venue = Venue(configuration.application["Market"].clone());
//! let engine = EngineBuilder::from_config(&configuration).start(venue)?;
//! assert!(engine.session(&"FIX.4.4:VENUE->TRADER".parse()?).is_some());
//! engine.stop()?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod applying;
mod binding;
mod classifying;
mod completing;
mod dictionaries;
mod dictionary_file;
mod draft;
mod engine;
mod engine_reading;
mod error;
mod fixt;
mod groups_as_sent;
mod logon_check;
mod nearest_key;
mod old_names;
mod other_keys;
mod paths;
mod port_draft;
mod reading;
mod refusal;
mod rows;
mod schedule_draft;
mod scheduling;
mod secret;
mod securing;
mod session;
mod text;
mod tls_draft;
mod trial;
mod values;

use core::fmt;
use std::collections::{BTreeMap, HashSet};
use std::path::Path;

pub use engine::EngineConfiguration;
pub use error::{ConfigError, ConfigErrors, ConfigWarning, SourceLine, Trial};
pub use groups_as_sent::{GroupsAsSent, InvalidGroupsAsSent};
pub use session::{CheckedSession, ConnectionType, EffectiveSetting, SessionConfiguration};

pub use crate::identity_template::{CompIdsTemplate, IdentityTemplate, SubIdTemplate};

use fixbolt_codec::Version;
use fixbolt_session::{Role, SessionId};

use crate::session_check;
use crate::settings_error::SettingsError;
use binding::{check_ports, share_a_port};
use classifying::{check_in_app, classify, may_hold_others, says_more_than_a_session};
use dictionaries::Dictionaries;
use fixt::{APPLICATION, TRANSPORT};
use reading::SessionReader;
use rows::Scope;
use secret::WithoutSecrets;
use text::{Section, SectionKind, Setting, Text};

/// A configuration file, read and checked.
///
/// ```
/// use fixbolt::config::Configuration;
/// let configuration = Configuration::from_text("venue.cfg", "
/// [DEFAULT]
/// ConnectionType=acceptor
/// SocketAcceptPort=9880
/// [SESSION]
/// BeginString=FIX.4.4
/// SenderCompID=VENUE
/// TargetCompID=TRADER
/// ")?;
/// assert_eq!(configuration.sessions.len(), 1);
///
/// let wrong = "[DEFAULT]\nHeartBeatInt=30\n[SESSION]\nConnectionType=initiater\n";
/// let mistakes = Configuration::from_text("venue.cfg", wrong).unwrap_err().to_string();
/// assert!(mistakes.starts_with("venue.cfg:2: unknown key HeartBeatInt; did you mean HeartBtInt"));
/// assert!(mistakes.contains("\nvenue.cfg:3: this session has no BeginString"));
/// # Ok::<(), fixbolt::config::ConfigErrors>(())
/// ```
#[derive(Clone, PartialEq)]
#[non_exhaustive]
pub struct Configuration {
    /// The settings of the engine itself.
    pub engine: EngineConfiguration,
    /// The sessions, in the order of the file; at least one.
    pub sessions: Vec<SessionConfiguration>,
    /// Settings of the section `[APP]`, which belong to the application; keys as written.
    pub application: BTreeMap<String, String>,
    /// The settings that have no effect.
    pub warnings: Vec<ConfigWarning>,
    /// Whether the warnings have what an engine warns of when it starts.
    pub(crate) is_tried: bool,
}

impl fmt::Debug for Configuration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { engine, sessions, application, warnings, .. } = self;
        f.debug_struct("Configuration")
            .field("engine", engine)
            .field("sessions", sessions)
            .field("application", &WithoutSecrets(application))
            .field("warnings", warnings)
            .finish()
    }
}

impl Configuration {
    /// Reads the file at `path`, the files that it includes and the dictionaries that it names,
    /// with the variables of the process's environment.
    ///
    /// # Errors
    /// [`ConfigErrors`]: every mistake, each with file and line.
    pub fn from_file(path: impl AsRef<Path>) -> Result<Self, ConfigErrors> {
        CheckedConfiguration::from_file(path).whole()
    }

    /// Reads `text` as if it were in a file called `name`. Includes are relative to the current
    /// directory.
    ///
    /// # Errors
    /// [`ConfigErrors`]: every mistake, each with file and line.
    pub fn from_text(name: &str, text: &str) -> Result<Self, ConfigErrors> {
        CheckedConfiguration::from_text(name, text).whole()
    }
}

/// The contents of a configuration file: for each session either the session or its mistakes.
#[derive(Clone, PartialEq)]
#[non_exhaustive]
pub struct CheckedConfiguration {
    /// The settings of the engine itself; the default for one with a mistake.
    pub engine: EngineConfiguration,
    /// The settings of the engine itself as text, from the file or by default.
    pub engine_effective: Vec<EffectiveSetting>,
    /// The sessions, in the order of the file.
    pub sessions: Vec<CheckedSession>,
    /// Every mistake, in the order of the file.
    pub mistakes: Vec<ConfigError>,
    /// Settings of the section `[APP]`, which belong to the application; keys as written.
    pub application: BTreeMap<String, String>,
    /// The settings that have no effect.
    pub warnings: Vec<ConfigWarning>,
    /// Whether [`try_start`](Self::try_start) was called.
    is_tried: bool,
}

impl fmt::Debug for CheckedConfiguration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { engine, engine_effective, sessions, mistakes, application, warnings, .. } = self;
        f.debug_struct("CheckedConfiguration")
            .field("engine", engine)
            .field("engine_effective", engine_effective)
            .field("sessions", sessions)
            .field("mistakes", mistakes)
            .field("application", &WithoutSecrets(application))
            .field("warnings", warnings)
            .finish()
    }
}

impl CheckedConfiguration {
    /// Reads the file at `path`, the files that it includes and the dictionaries that it names,
    /// with the variables of the process's environment.
    #[must_use]
    pub fn from_file(path: impl AsRef<Path>) -> Self {
        let path = path.as_ref();
        Self::from_read(&path.display().to_string(), &text::read_file(path, &environment))
    }

    /// Reads a file as [`CheckedConfiguration::from_file`] does, with settings for what it does not
    /// say in `[DEFAULT]`: a program's own defaults. `whose` is shown in mistakes instead of the
    /// file.
    #[must_use]
    pub fn from_file_with(path: impl AsRef<Path>, whose: &str, defaults: &[(&str, &str)]) -> Self {
        let path = path.as_ref();
        let mut text = text::read_file(path, &environment);
        text.add_defaults(whose, defaults);
        Self::from_read(&path.display().to_string(), &text)
    }

    /// Reads `text` as if it were in a file called `name`. Includes are relative to the current
    /// directory.
    #[must_use]
    pub fn from_text(name: &str, text: &str) -> Self {
        Self::from_read(name, &text::read_text(name, text, &environment))
    }

    /// Returns the configuration if it has no mistakes; with `ContinueInitializationOnError=Y`, the
    /// same as [`CheckedConfiguration::usable`], and the mistakes are logged.
    ///
    /// # Errors
    /// Every mistake.
    pub fn whole(self) -> Result<Configuration, ConfigErrors> {
        if self.engine.continue_initialization_on_error {
            for mistake in &self.mistakes {
                tracing::error!(%mistake, "the session is left out");
            }
            return self.usable();
        }
        match ConfigErrors::of(self.mistakes.clone()) {
            Some(mistakes) => Err(mistakes),
            None => self.usable(),
        }
    }

    /// Returns the sessions without mistakes.
    ///
    /// # Errors
    /// Every mistake, if each session has one.
    pub fn usable(self) -> Result<Configuration, ConfigErrors> {
        let Self { engine, sessions, mistakes, application, warnings, is_tried, .. } = self;
        let sessions: Vec<_> = sessions.into_iter().filter_map(|session| session.result.ok()).collect();
        match ConfigErrors::of(mistakes) {
            Some(mistakes) if sessions.is_empty() => Err(mistakes),
            _ => Ok(Configuration { engine, sessions, application, warnings, is_tried }),
        }
    }

    fn from_read(file: &str, text: &Text) -> Self {
        let mut warnings = Vec::new();
        let mut application = BTreeMap::new();
        let of = |kind| text.sections.iter().filter(move |section| section.kind == kind);
        // A mistake before any section, in [DEFAULT] or in [APP] is a mistake in every session, and
        // so is one that may have hidden settings of [DEFAULT].
        let mut shared = text.mistakes.clone();
        for section in of(SectionKind::App) {
            shared.extend(section.mistakes.iter().cloned());
            for setting in &section.settings {
                application.insert(setting.key.clone(), setting.text().to_owned());
                check_in_app(setting, &mut shared, &mut warnings);
            }
        }
        let defaults = of(SectionKind::Default).next();
        let mut shared_application = BTreeMap::new();
        if let Some(defaults) = defaults {
            shared.extend(defaults.mistakes.iter().cloned());
            classify(defaults, &mut shared, &mut warnings, &mut shared_application);
        }
        for section in of(SectionKind::Unknown).filter(|section| says_more_than_a_session(section)) {
            shared.extend(section.mistakes.iter().cloned());
        }
        let settings = of(SectionKind::Session).flat_map(|section| &section.settings);
        shared.extend(settings.filter_map(may_hold_others));
        let (engine, engine_effective) = engine_reading::read(defaults, &mut shared);
        let mut mistakes = shared.clone();
        for section in of(SectionKind::Unknown) {
            mistakes.extend(section.mistakes.iter().cloned());
        }
        let mut dictionaries = Dictionaries::default();
        let mut sessions: Vec<CheckedSession> = Vec::new();
        let mut ports = Vec::new();
        for section in of(SectionKind::Session) {
            let mut own = shared.clone();
            own.extend(section.mistakes.iter().cloned());
            let mut application = shared_application.clone();
            classify(section, &mut own, &mut warnings, &mut application);
            let (mut session, port) =
                SessionReader::check(section, defaults, own, application, &mut dictionaries, &mut warnings);
            fits_the_others(&mut session, &sessions);
            if engine.message_log.is_some() {
                can_be_logged(&mut session);
            }
            sessions.push(session);
            ports.push(port);
        }
        check_ports(&mut sessions, &ports);
        mistakes
            .extend(sessions.iter().filter_map(|session| session.result.as_ref().err()).flatten().cloned());
        // What the file says counts: a session with mistakes has no settings to ask.
        let names_journals = of(SectionKind::Default)
            .chain(of(SectionKind::Session))
            .flat_map(|section| &section.settings)
            .any(|setting| setting.key.eq_ignore_ascii_case("FileStorePath"));
        if let (Some(defaults), false) = (defaults, names_journals) {
            let of_journals = defaults.settings.iter().filter(|setting| rows::is_of_journals(&setting.key));
            let instead = "there is no FileStorePath, and so no journal";
            warnings.extend(of_journals.map(|setting| setting.without_effect(instead)));
        }
        warnings.extend(defaults.into_iter().flat_map(|defaults| of_no_session(defaults, &sessions)));
        let store = defaults.and_then(|defaults| defaults.find("Store"));
        if let (Some(setting), true, true) = (store, engine.store_in_memory, names_journals) {
            let reason = "Store=memory keeps messages in memory, but FileStorePath names a directory of journals; leave one of them out".to_owned();
            mistakes.push(ConfigError::Contradiction { place: setting.place.clone(), reason });
        }
        let misspelled = of(SectionKind::Unknown).next().is_some();
        let unread = mistakes.iter().any(|mistake| matches!(mistake, ConfigError::Unreadable { .. }));
        if sessions.is_empty() && !misspelled && !unread {
            let place = SourceLine { file: file.into(), line: 1 };
            let reason = "there is no [SESSION]; each session needs one".to_owned();
            mistakes.push(ConfigError::Missing { place, reason });
        }
        let (mistakes, warnings) = (in_order(mistakes, file), once(warnings));
        Self { engine, engine_effective, sessions, mistakes, application, warnings, is_tried: false }
    }
}

fn environment(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// Removes duplicates: a problem in [DEFAULT] is found once per session, but reported once.
fn once<T: fmt::Display>(mut all: Vec<T>) -> Vec<T> {
    let mut told = HashSet::new();
    all.retain(|one| told.insert(one.to_string()));
    all
}

/// Returns each mistake once, in the order of the file; mistakes in included files come last.
fn in_order(mistakes: Vec<ConfigError>, file: &str) -> Vec<ConfigError> {
    let key = |mistake: &ConfigError| {
        mistake.place().map(|place| {
            let included = (&*place.file != file).then(|| place.file.clone());
            (included, place.line)
        })
    };
    let mut ordered: Vec<ConfigError> = Vec::new();
    // They come in about this order, and a sort would be 8 KB of code.
    for mistake in once(mistakes) {
        let at = ordered.partition_point(|other| key(other) <= key(&mistake));
        ordered.insert(at, mistake);
    }
    ordered
}

/// Warns of settings in [DEFAULT] that are of other sessions than there are. One with a mistake may
/// be of any kind. What only says more about another key may be for sessions that are added to the
/// file, and is not looked at.
fn of_no_session(defaults: &Section, sessions: &[CheckedSession]) -> Vec<ConfigWarning> {
    let all: Option<Vec<_>> = sessions.iter().map(|session| session.result.as_ref().ok()).collect();
    let Some(all) = all.filter(|all| !all.is_empty()) else { return Vec::new() };
    let is_there = |role| all.iter().any(|session| session.settings().role == role);
    // None is of any version.
    let versions = all.iter().map(|session| match &session.connection {
        ConnectionType::Acceptor { dynamic_session: Some(template), .. } => template.version,
        _ => Some(session.settings().id.version()),
    });
    let only_fixt = versions.clone().all(|version| version == Some(Version::Fixt11));
    let no_fixt = versions.clone().all(|version| version.is_some_and(|version| version != Version::Fixt11));
    let is_dynamic = all.iter().any(|session| session.id().is_none());
    let why = |setting: &Setting| {
        let row = rows::row_of(&setting.key)?;
        match row.scope {
            Scope::Acceptor if !is_there(Role::Acceptor) => Some("it is of acceptors, and no session is one"),
            Scope::Initiator if !is_there(Role::Initiator) => {
                Some("it is of initiators, and no session is one")
            }
            _ if row.name == "DataDictionary" && only_fixt => {
                Some("sessions of FIXT.1.1 have TransportDataDictionary and AppDataDictionary instead")
            }
            _ if no_fixt && ["DefaultApplVerID", TRANSPORT, APPLICATION].contains(&row.name) => {
                Some("it belongs to sessions of FIXT.1.1, and there is none")
            }
            _ if !is_dynamic && ["MaxDynamicSessions", "DynamicSessionIdleTime"].contains(&row.name) => {
                Some("there is no session with DynamicSession=Y")
            }
            _ => {
                let (first, why) = row.since?;
                let is_on = setting.text().eq_ignore_ascii_case("Y");
                let is_before = |version: Option<Version>| version.is_some_and(|version| version < first);
                (is_on && versions.clone().all(is_before)).then_some(why)
            }
        }
    };
    defaults.settings.iter().filter_map(|setting| Some(setting.without_effect(why(setting)?))).collect()
}

/// Checks that the session's file in the message log can have a name.
fn can_be_logged(session: &mut CheckedSession) {
    let Some(id) = session.result.as_ref().ok().and_then(SessionConfiguration::id) else { return };
    if let Err(error) = session_check::check_log_name(id) {
        let (place, reason) = (session.place.clone(), error.to_string());
        session.result = Err(vec![ConfigError::Contradiction { place, reason }]);
    }
}

/// Checks a session against the valid ones above it.
fn fits_the_others(session: &mut CheckedSession, others: &[CheckedSession]) {
    let Ok(this) = &session.result else { return };
    let mut others = others.iter().filter_map(|other| other.result.as_ref().ok());
    let reason = if let Some(first) = others.clone().find(|other| are_same(this, other)) {
        format!("the session {} is configured twice, first at {}", session.name, first.place)
    } else if let Some((other, id)) = others.clone().find_map(|other| Some((other, ambiguous(this, other)?)))
    {
        let error = SettingsError::Ambiguous { other: Box::new(id.clone()) };
        format!("{error} (see {})", other.place)
    } else if let Some(other) = others.clone().find(|other| differs_in_proxies(this, other)) {
        format!(
            "the sessions of a port have the same ProxyProtocolFrom, because the header comes before the Logon; this one differs from the one at {}; make them equal, or give them different ports",
            other.place
        )
    } else if let Some(first) = others.next()
        && (&this.journal, this.persist_messages) != (&first.journal, first.persist_messages)
    {
        // A turn may write to several sessions.
        format!(
            "FileStorePath and PersistMessages are the same for all sessions of an engine, but differ from {}",
            first.place
        )
    } else {
        return;
    };
    session.result = Err(vec![ConfigError::Contradiction { place: this.place.clone(), reason }]);
}

/// Returns whether both are the same session, or dynamic sessions for the same counterparties.
fn are_same(this: &SessionConfiguration, other: &SessionConfiguration) -> bool {
    match (&this.connection, &other.connection) {
        (
            ConnectionType::Acceptor { dynamic_session: Some(template), acceptance, .. },
            ConnectionType::Acceptor { dynamic_session: Some(other_template), acceptance: others, .. },
        ) => {
            share_a_port(this, other)
                && template == other_template
                && (&acceptance.allowed_remote_addresses, &acceptance.proxy_protocol_from)
                    == (&others.allowed_remote_addresses, &others.proxy_protocol_from)
        }
        _ => this.id().is_some() && this.id() == other.id(),
    }
}

/// Returns the identity of the other session if a Logon could be for either.
fn ambiguous<'s>(this: &SessionConfiguration, other: &'s SessionConfiguration) -> Option<&'s SessionId> {
    let (id, other_id) = (this.id()?, other.id()?);
    (share_a_port(this, other) && id.is_ambiguous_with(other_id)).then_some(other_id)
}

/// Returns whether the proxies of two acceptors' sessions of a port differ.
fn differs_in_proxies(this: &SessionConfiguration, other: &SessionConfiguration) -> bool {
    matches!((&this.connection, &other.connection), (
        ConnectionType::Acceptor { acceptance, .. },
        ConnectionType::Acceptor { acceptance: others, .. },
    ) if share_a_port(this, other) && acceptance.proxy_protocol_from != others.proxy_protocol_from)
}

#[cfg(test)]
mod engines;
#[cfg(test)]
mod fixt_tests;
#[cfg(test)]
mod identity_tests;
#[cfg(test)]
mod limits_tests;
#[cfg(test)]
mod mistake_tests;
#[cfg(test)]
mod page_tests;
#[cfg(test)]
mod plain_text_tests;
#[cfg(test)]
mod port_tests;
#[cfg(test)]
mod row_tests;
#[cfg(test)]
mod schedule_tests;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod tls_tests;
#[cfg(test)]
mod typo_tests;
#[cfg(test)]
mod validation_tests;
