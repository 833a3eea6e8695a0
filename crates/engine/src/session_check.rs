//! The conditions that a session must meet before it can start, however it was configured.

use core::time::Duration;
use std::sync::{Arc, OnceLock};

use fixbolt_dictionary::{ApplicationVersion, DictionarySet, Validator, Version, shipped};
use fixbolt_session::{
    FixtDictionaries, SessionDictionary, SessionId, SessionSettings, SettingRange, WrongSetting,
    wrong_settings,
};

use crate::initiation::Initiation;
use crate::message_log::LOG_SUFFIX;
use crate::settings_error::SettingsError;

/// The shortest pause between attempts to connect, and the shortest time for one.
const MIN_INTERVAL: Duration = Duration::from_millis(1);

/// The longest name that a file can have, in bytes.
const LOG_NAME_MOST: usize = 255;

/// Returns the shipped dictionaries of a session of this version; over FIXT.1.1, that of the
/// transport and that of the default application version. Each is made once per process. `None` if
/// a session of FIXT.1.1 has no default.
fn shipped_dictionary(version: Version, default_appl_ver_id: Option<Version>) -> Option<SessionDictionary> {
    static SHIPPED: [OnceLock<Arc<Validator>>; Version::ALL.len()] =
        [const { OnceLock::new() }; Version::ALL.len()];
    static FIXT: [OnceLock<Arc<FixtDictionaries>>; Version::ALL.len()] =
        [const { OnceLock::new() }; Version::ALL.len()];
    let at = |version| Version::ALL.iter().position(|one| *one == version);
    if version != Version::Fixt11 {
        let validator = SHIPPED[at(version)?].get_or_init(|| Arc::new(Validator::new(shipped(version))));
        return Some(SessionDictionary::Own(Arc::clone(validator)));
    }
    let default = default_appl_ver_id?;
    let id = ApplicationVersion::new(default.appl_ver_id()?);
    let place = &FIXT[at(default)?];
    if let Some(dictionaries) = place.get() {
        return Some(SessionDictionary::Fixt(Arc::clone(dictionaries)));
    }
    let set = DictionarySet::new(shipped(version).clone()).ok()?.with(id, shipped(default)).ok()?;
    let dictionaries = place.get_or_init(|| Arc::new(FixtDictionaries::new(set.validators())));
    Some(SessionDictionary::Fixt(Arc::clone(dictionaries)))
}

/// Returns why there are no sessions of this version; `None` if there are.
pub(crate) fn unspoken(version: Version) -> Option<SettingsError> {
    version.is_application().then_some(SettingsError::Version { found: version })
}

/// Checks that the session's file in a message log can have a name.
///
/// # Errors
/// What is wrong.
pub(crate) fn check_log_name(session: &SessionId) -> Result<(), SettingsError> {
    let found = session.file_name().len() + LOG_SUFFIX.len();
    if found <= LOG_NAME_MOST { Ok(()) } else { Err(SettingsError::LogName { most: LOG_NAME_MOST, found }) }
}

/// Checks the settings of a session and fills in the shipped dictionary.
///
/// # Errors
/// What is wrong.
pub(crate) fn prepare(settings: &mut SessionSettings) -> Result<(), SettingsError> {
    let version = settings.id.version();
    if let Some(error) = unspoken(version) {
        return Err(error);
    }
    if settings.dictionary == SessionDictionary::Shipped
        && let Some(dictionary) = shipped_dictionary(version, settings.default_appl_ver_id)
    {
        settings.dictionary = dictionary;
    }
    // The store is not known yet.
    match wrong_settings(settings, true).find(is_found_before_opening) {
        Some(wrong) => Err(SettingsError::Setting { wrong, version }),
        None => Ok(()),
    }
}

/// Returns whether a session is refused before it is opened; opening it finds the rest.
fn is_found_before_opening(wrong: &WrongSetting) -> bool {
    matches!(
        wrong,
        WrongSetting::NoApplicationVersion
            | WrongSetting::DictionaryNotFilledIn
            | WrongSetting::NoResetInSession
            | WrongSetting::NothingToCheckBy
            | WrongSetting::OutOfRange { range: SettingRange::MAX_MESSAGE_SIZE, .. }
    )
}

/// Checks the hosts and the times of an initiator.
///
/// # Errors
/// What is wrong.
pub(crate) fn check_hosts(initiation: &Initiation) -> Result<(), SettingsError> {
    if initiation.hosts.is_empty() {
        return Err(SettingsError::NoHost);
    }
    for (field, found) in [
        ("reconnect_interval", initiation.reconnect_interval),
        ("socket_connect_timeout", initiation.socket_connect_timeout),
    ] {
        if found < MIN_INTERVAL {
            return Err(SettingsError::TooShort { field, least: MIN_INTERVAL, found });
        }
    }
    match initiation.hosts.iter().find(|(host, port)| host.is_empty() || *port == 0) {
        Some((host, port)) => Err(SettingsError::Host { host: host.clone(), port: *port }),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use fixbolt_session::Role;

    use super::*;

    fn settings(version: Version) -> SessionSettings {
        SessionSettings::new(SessionId::new(version, "A", "B").unwrap(), Role::Initiator)
    }

    #[test]
    fn a_session_has_the_shipped_dictionary_of_its_version_unless_told_otherwise() {
        let sessions = Version::ALL.into_iter().filter(|version| !version.is_application());
        for (n, version) in sessions.enumerate() {
            let mut settings = settings(version);
            settings.default_appl_ver_id = [None, Some(Version::Fix50Sp1)][usize::from(n > 4)];
            prepare(&mut settings).unwrap();
            assert!(settings.dictionary.checks());
            let mut other = settings.clone().with(|s| s.dictionary = SessionDictionary::Shipped);
            prepare(&mut other).unwrap();
            assert_eq!(settings.dictionary, other.dictionary, "made once");
            settings.dictionary = SessionDictionary::None;
            prepare(&mut settings).unwrap();
            assert_eq!(settings.dictionary, SessionDictionary::None);
        }
    }

    #[test]
    fn a_version_that_no_session_speaks_and_settings_out_of_range_are_refused() {
        let refused = |change: fn(&mut SessionSettings)| {
            let mut settings = settings(Version::Fix44);
            change(&mut settings);
            prepare(&mut settings).unwrap_err()
        };
        let wrong = prepare(&mut settings(Version::Fixt11)).unwrap_err();
        assert_eq!(
            wrong,
            SettingsError::Setting { wrong: WrongSetting::NoApplicationVersion, version: Version::Fixt11 }
        );
        let needs = "a session of FIXT.1.1 needs DefaultApplVerID, the version of its messages: FIX.5.0SP2 for example";
        assert_eq!(wrong.to_string(), needs);
        let small = refused(|s| s.limits.max_message_size = 8191);
        assert_eq!(small.to_string(), "MaxMessageSize must be at least 8192 bytes");
        let (range, found) = (SettingRange::MAX_MESSAGE_SIZE, 8191);
        let wrong = WrongSetting::OutOfRange { range, found };
        assert_eq!(small, SettingsError::Setting { wrong, version: Version::Fix44 });
        let error = refused(|s| {
            s.dictionary = SessionDictionary::None;
            s.validation.outgoing = Some(fixbolt_dictionary::Policy::standard());
        });
        assert!(error.to_string().contains("there is no dictionary"), "{error}");
    }

    #[test]
    fn a_session_whose_message_log_no_file_can_be_is_refused() {
        let check = |count: usize| {
            let id = SessionId::new(Version::Fix44, &"-".repeat(count), &"-".repeat(20)).unwrap();
            check_log_name(&id)
        };
        assert_eq!(check(57), Ok(()));
        let error = check(58).unwrap_err();
        assert_eq!(error, SettingsError::LogName { most: 255, found: 256 });
        assert!(error.to_string().contains("(FileLogPath) would have 256 bytes, 255 at most"), "{error}");
    }

    #[test]
    fn an_initiator_without_a_host_is_refused() {
        let initiation = Initiation::new(settings(Version::Fix44), "localhost", 1);
        assert_eq!(check_hosts(&initiation), Ok(()));
        let none = check_hosts(&Initiation { hosts: Vec::new(), ..initiation.clone() });
        assert_eq!(none, Err(SettingsError::NoHost));
        for (host, port) in [("", 1), ("localhost", 0)] {
            let wrong = check_hosts(&Initiation::new(settings(Version::Fix44), host, port));
            assert_eq!(wrong, Err(SettingsError::Host { host: host.to_owned(), port }));
        }
    }
}
