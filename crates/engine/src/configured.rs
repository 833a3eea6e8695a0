//! An engine from a configuration file: the same as the builder's calls, made from what the file says.

use core::net::SocketAddr;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use fixbolt_dictionary::{Action, Check, Dictionary, Policy, Validator, Version, fix42, fix44};
use fixbolt_journal::NoStore;
use fixbolt_session::{Role, SessionId, SessionSettings};

use crate::acceptance::Acceptance;
use crate::builder::EngineBuilder;
use crate::config::{
    ConfigError, Configuration, ConnectionType, Identity, SESSION_VERSIONS, SessionConfiguration, SourceLine,
    Validation,
};
use crate::error::EngineError;
use crate::initiation::Initiation;

/// The validator of a version that sessions speak, by the dictionary that is shipped: FIX.4.2 and FIX.4.4; `None` for any other.
/// Made once a process.
#[must_use]
pub fn shipped_validator(version: Version) -> Option<Arc<Validator>> {
    static FIX42: OnceLock<Arc<Validator>> = OnceLock::new();
    static FIX44: OnceLock<Arc<Validator>> = OnceLock::new();
    let shipped = match version {
        Version::Fix42 => FIX42.get_or_init(|| Arc::new(Validator::new(fix42()))),
        Version::Fix44 => FIX44.get_or_init(|| Arc::new(Validator::new(fix44()))),
        _ => return None,
    };
    Some(Arc::clone(shipped))
}

impl EngineBuilder {
    /// What `configuration` describes. Its warnings are the caller's to show.
    ///
    /// # Errors
    /// [`EngineError::Dictionary`] when a DataDictionary cannot be used, [`EngineError::Config`] when sessions cannot stand in one
    /// engine.
    pub fn from_config(configuration: &Configuration) -> Result<Self, EngineError> {
        let mut builder = store_of(Self::new(), &configuration.sessions)?;
        let acceptors = configuration
            .sessions
            .iter()
            .filter(|session| matches!(session.connection, ConnectionType::Acceptor { .. }));
        // Whose a connection is shows with its Logon: until then the most patient session decides.
        if let Some(longest) = acceptors.map(|session| session.logon_timeout).max() {
            builder = builder.pending_time(longest);
        }
        let mut dictionaries = Dictionaries::default();
        for session in &configuration.sessions {
            builder = add(builder, session, &mut dictionaries)?;
        }
        Ok(builder)
    }
}

/// All sessions of an engine are kept in one place, since a turn may write to several of them.
fn store_of(builder: EngineBuilder, sessions: &[SessionConfiguration]) -> Result<EngineBuilder, EngineError> {
    let Some(first) = sessions.first() else { return Ok(builder) };
    for session in sessions {
        if (&session.journal, session.persist_messages) != (&first.journal, first.persist_messages) {
            let reason = format!(
                "FileStorePath and PersistMessages are the same for all sessions of an engine, but differ from {}",
                first.place
            );
            return Err(contradiction(&session.place, reason));
        }
    }
    Ok(match &first.journal {
        Some(base) => builder.journal(base),
        None if first.persist_messages => builder,
        None => builder.store(Box::new(NoStore::new())),
    })
}

fn contradiction(place: &SourceLine, reason: String) -> EngineError {
    EngineError::Config(ConfigError::Contradiction { place: place.clone(), reason })
}

fn add(
    builder: EngineBuilder,
    session: &SessionConfiguration,
    dictionaries: &mut Dictionaries,
) -> Result<EngineBuilder, EngineError> {
    let nodelay = session.socket_nodelay;
    match (&session.identity, &session.connection) {
        (Identity::Fixed(id), ConnectionType::Initiator { hosts, reconnect_interval, connect_timeout }) => {
            let validator = dictionaries.validator(session, id.version())?;
            Ok(builder.connect(Initiation {
                settings: settings(session, id.clone(), Role::Initiator, validator),
                hosts: hosts.clone(),
                reconnect_interval: *reconnect_interval,
                connect_timeout: *connect_timeout,
                nodelay,
            }))
        }
        (Identity::Fixed(id), ConnectionType::Acceptor { listen, allowed }) => {
            let validator = dictionaries.validator(session, id.version())?;
            let settings = settings(session, id.clone(), Role::Acceptor, validator);
            let acceptance = Acceptance { settings, allowed: allowed.clone(), nodelay };
            Ok(builder.accept(SocketAddr::from(*listen), acceptance))
        }
        (
            Identity::Dynamic { version: only, sender_comp_id, target_comp_id },
            ConnectionType::Acceptor { listen, allowed },
        ) => {
            let mut validators = HashMap::new();
            for version in SESSION_VERSIONS {
                if only.is_none_or(|only| only == version) {
                    validators.insert(version, dictionaries.validator(session, version)?);
                }
            }
            let (session, allowed) = (session.clone(), allowed.clone());
            let (sender, target) = (sender_comp_id.clone(), target_comp_id.clone());
            Ok(builder.accept_any(SocketAddr::from(*listen), move |id| {
                let named = |part: &Option<String>, is: &str| part.as_deref().is_none_or(|only| only == is);
                let validator = validators.get(&id.version())?;
                (named(&sender, id.sender_comp_id()) && named(&target, id.target_comp_id())).then(|| {
                    let settings = settings(&session, id.clone(), Role::Acceptor, validator.clone());
                    Acceptance { settings, allowed: allowed.clone(), nodelay }
                })
            }))
        }
        (Identity::Dynamic { .. }, ConnectionType::Initiator { .. }) => {
            let reason = "only an acceptor takes any session".to_owned();
            Err(contradiction(&session.place, reason))
        }
    }
}

fn settings(
    session: &SessionConfiguration,
    id: SessionId,
    role: Role,
    validator: Option<Arc<Validator>>,
) -> SessionSettings {
    SessionSettings {
        validator,
        policy: session.validation.incoming.unwrap_or(SYNTAX_ONLY),
        outbound_policy: session.validation.outgoing,
        compatibility: session.compatibility,
        heart_bt_int: session.heart_bt_int,
        sending_time_threshold: session.max_latency,
        logon_timeout: session.logon_timeout,
        logout_timeout: session.logout_timeout,
        max_message_size: session.max_message_size,
        reset_on_logon: session.reset_on_logon,
        reset_on_logout: session.reset_on_logout,
        reset_on_disconnect: session.reset_on_disconnect,
        check_comp_id: session.check_comp_id,
        requires_orig_sending_time: session.requires_orig_sending_time,
        timestamp_digits: session.timestamp_precision.digits(),
        outbox_size: SessionSettings::new(id.clone(), role).outbox_size.max(4 * session.max_message_size),
        ..SessionSettings::new(id, role)
    }
}

/// As without a dictionary: fields that break the syntax are rejected all the same.
const SYNTAX_ONLY: Policy =
    Policy::ignoring().with(Check::TagSyntax, Action::Reject).with(Check::EmptyValue, Action::Reject);

/// Dictionaries that were read, by file, with the BeginString that each is for.
#[derive(Default)]
struct Dictionaries {
    read: HashMap<PathBuf, (String, Arc<Validator>)>,
}

impl Dictionaries {
    /// The validator that a session of this version wants, if it wants one.
    fn validator(
        &mut self,
        session: &SessionConfiguration,
        version: Version,
    ) -> Result<Option<Arc<Validator>>, EngineError> {
        let Validation { incoming, outgoing, .. } = session.validation;
        if incoming.is_none() && outgoing.is_none() {
            return Ok(None);
        }
        let Some(file) = &session.data_dictionary else { return Ok(shipped_validator(version)) };
        if !self.read.contains_key(file) {
            let refused = |reason| EngineError::Dictionary { file: file.clone(), reason };
            let dictionary = read_dictionary(file).map_err(refused)?;
            let begin_string = dictionary.version().begin_string.clone();
            self.read.insert(file.clone(), (begin_string, Arc::new(Validator::new(&dictionary))));
        }
        let (begin_string, validator) = &self.read[file];
        if begin_string != version.begin_string() {
            let reason = format!(
                "DataDictionary {} is of {begin_string}, but the session is of {version}",
                file.display()
            );
            return Err(contradiction(&session.place, reason));
        }
        Ok(Some(Arc::clone(validator)))
    }
}

/// Reads a dictionary in any form, told apart by the text.
fn read_dictionary(file: &Path) -> Result<Dictionary, String> {
    let bytes = std::fs::read(file).map_err(|e| e.to_string())?;
    let text = fixbolt_dictionary::source_text(&bytes).map_err(|e| e.to_string())?;
    match Dictionary::from_source(&text) {
        Ok((dictionary, warnings)) => {
            for warning in warnings {
                tracing::warn!(file = %file.display(), %warning, "dictionary");
            }
            Ok(dictionary)
        }
        Err(errors) => Err(match errors.split_first() {
            None => "it cannot be read".to_owned(),
            Some((first, [])) => first.to_string(),
            Some((first, more)) => format!("{first} (and {} more)", more.len()),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BASE: &str =
        "[DEFAULT]\nConnectionType=acceptor\nSocketAcceptPort=0\nBeginString=FIX.4.4\nSenderCompID=A\n";

    fn first(lines: &str) -> SessionConfiguration {
        let text = format!("{BASE}[SESSION]\nTargetCompID=B\n{lines}\n");
        Configuration::from_text("a.cfg", &text).unwrap().sessions.remove(0)
    }

    #[test]
    fn settings_of_the_file_are_settings_of_the_session() {
        let session = first(
            "HeartBtInt=7\nCheckLatency=N\nTimestampPrecision=6\nMaxMessageSize=1000000\nResetOnLogon=Y\nCheckCompID=N",
        );
        let settings = settings(&session, "FIX.4.4:A->B".parse().unwrap(), Role::Acceptor, None);
        assert_eq!((settings.heart_bt_int, settings.timestamp_digits), (7, 6));
        assert_eq!((settings.max_message_size, settings.outbox_size), (1_000_000, 4_000_000));
        assert!(settings.sending_time_threshold.is_none());
        assert_eq!((settings.policy, settings.outbound_policy), (Policy::standard(), None));
        assert!(settings.reset_on_logon && !settings.reset_on_logout && !settings.check_comp_id);
    }

    #[test]
    fn a_session_has_the_dictionary_of_its_version_unless_it_wants_none() {
        let mut dictionaries = Dictionaries::default();
        let shipped = dictionaries.validator(&first(""), Version::Fix44).unwrap().unwrap();
        assert!(Arc::ptr_eq(&shipped, &shipped_validator(Version::Fix44).unwrap()));
        assert!(dictionaries.validator(&first("UseDataDictionary=N"), Version::Fix44).unwrap().is_none());
        assert!(
            dictionaries.validator(&first("ValidateIncomingMessage=N"), Version::Fix44).unwrap().is_none()
        );
        let outgoing = first("ValidateIncomingMessage=N\nValidateOutgoingMessage=Y");
        let validator = dictionaries.validator(&outgoing, Version::Fix44).unwrap();
        assert!(validator.is_some());
        let settings = settings(&outgoing, "FIX.4.4:A->B".parse().unwrap(), Role::Acceptor, validator);
        assert_eq!((settings.policy, settings.outbound_policy), (SYNTAX_ONLY, Some(Policy::standard())));
        let error = dictionaries.validator(&first("DataDictionary=/absent.xml"), Version::Fix44).unwrap_err();
        assert_eq!(error.to_string(), "dictionary /absent.xml: No such file or directory (os error 2)");
    }

    #[test]
    fn a_dictionary_of_another_version_or_with_a_fault_stops_the_start() {
        let directory = std::env::temp_dir().join(format!("fixbolt-dictionary-{}", std::process::id()));
        std::fs::create_dir_all(&directory).unwrap();
        let file = directory.join("dictionary.xml");
        let line = format!("DataDictionary={}", file.display());
        let fix42 =
            "<fix type='FIX' major='4' minor='2'><header/><trailer/><messages/><components/><fields/></fix>";
        std::fs::write(&file, fix42).unwrap();
        let error = Dictionaries::default().validator(&first(&line), Version::Fix44).unwrap_err().to_string();
        assert!(error.ends_with("is of FIX.4.2, but the session is of FIX.4.4"), "{error}");
        std::fs::write(&file, "<fix").unwrap();
        let error = Dictionaries::default().validator(&first(&line), Version::Fix44).unwrap_err();
        assert!(matches!(error, EngineError::Dictionary { .. }), "{error}");
        std::fs::remove_dir_all(&directory).unwrap();
    }

    #[test]
    fn the_longest_logon_timeout_is_how_long_a_connection_may_take_to_log_on() {
        let text = format!(
            "{BASE}LogonTimeout=3\n[SESSION]\nTargetCompID=B\nLogonTimeout=45\n[SESSION]\nTargetCompID=C\n"
        );
        let configuration = Configuration::from_text("a.cfg", &text).unwrap();
        let builder = format!("{:?}", EngineBuilder::from_config(&configuration).unwrap());
        assert!(builder.contains("pending_time: 45s"), "{builder}");
    }

    #[test]
    fn sessions_that_are_kept_in_different_places_are_refused() {
        let text = format!("{BASE}[SESSION]\nTargetCompID=B\nFileStorePath=one\n[SESSION]\nTargetCompID=C\n");
        let configuration = Configuration::from_text("a.cfg", &text).unwrap();
        let error = EngineBuilder::from_config(&configuration).unwrap_err().to_string();
        assert!(error.starts_with("a.cfg:9: FileStorePath and PersistMessages are the same"), "{error}");
    }
}
