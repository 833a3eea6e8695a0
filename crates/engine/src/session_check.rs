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

/// The shortest pause between attempts to connect, and the shortest time for one.
const MIN_INTERVAL: Duration = Duration::from_millis(1);

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
pub(crate) fn unspoken(version: Version) -> Option<String> {
    version.is_application().then(|| {
        format!(
            "{version} has no sessions of its own: its messages travel in sessions of FIXT.1.1 (DefaultApplVerID={version})"
        )
    })
}

/// Returns what is wrong with a session next to this one.
pub(crate) fn ambiguous(other: &SessionId) -> String {
    format!(
        "a Logon could be for it or for {other} at the same address, as neither has more SubIDs and LocationIDs; give one of them those of both"
    )
}

/// Checks that the session's file in a message log can have a name.
///
/// # Errors
/// What is wrong, and how to correct it.
pub(crate) fn check_log_name(session: &SessionId) -> Result<(), String> {
    let length = session.file_name().len() + LOG_SUFFIX.len();
    if length <= 255 {
        return Ok(());
    }
    Err(format!(
        "the name of its file in the message log (FileLogPath) would have {length} bytes, 255 at most: each byte of an ID outside A-Z a-z 0-9 . _ takes three; shorten the IDs"
    ))
}

/// Checks the settings of a session and fills in the shipped dictionary.
///
/// # Errors
/// What is wrong, and how to correct it.
pub(crate) fn prepare(settings: &mut SessionSettings) -> Result<(), String> {
    let version = settings.id.version();
    if let Some(reason) = unspoken(version) {
        return Err(reason);
    }
    if settings.dictionary == SessionDictionary::Shipped
        && let Some(dictionary) = shipped_dictionary(version, settings.default_appl_ver_id)
    {
        settings.dictionary = dictionary;
    }
    // The store is not known yet.
    wrong_settings(settings, true).find_map(|wrong| reason(wrong, version)).map_or(Ok(()), Err)
}

/// Returns what is wrong with a setting of a session of this version, in the words of the
/// configuration; `None` if only opening the session says so.
fn reason(wrong: WrongSetting, version: Version) -> Option<String> {
    match wrong {
        WrongSetting::NoApplicationVersion => Some(
            "a session of FIXT.1.1 needs DefaultApplVerID, the version of its messages: FIX.5.0SP2 for example"
                .to_owned(),
        ),
        WrongSetting::DictionaryNotFilledIn => Some(format!(
            "no dictionary of {version} is shipped; name one, or do without by SessionDictionary::None"
        )),
        WrongSetting::OutOfRange { range: range @ SettingRange::MAX_MESSAGE_SIZE, .. } => {
            let SettingRange { key, from, .. } = range;
            Some(format!("{key} must be at least {from} bytes"))
        }
        WrongSetting::NoResetInSession => Some(format!(
            "{version} has no ResetSeqNumFlag, with which a session that is logged on is reset (ResetSeqTime)"
        )),
        WrongSetting::NothingToCheckBy => Some(wrong.reason().to_owned()),
        _ => None,
    }
}

/// Checks the hosts and the times of an initiator.
///
/// # Errors
/// What is wrong, and how to correct it.
pub(crate) fn check_hosts(initiation: &Initiation) -> Result<(), String> {
    if initiation.hosts.is_empty() {
        return Err("there is no host to connect to; add one to Initiation::hosts".to_owned());
    }
    for (name, time) in [
        ("reconnect_interval", initiation.reconnect_interval),
        ("socket_connect_timeout", initiation.socket_connect_timeout),
    ] {
        if time < MIN_INTERVAL {
            return Err(format!("{name} must be at least {} ms", MIN_INTERVAL.as_millis()));
        }
    }
    match initiation.hosts.iter().find(|(host, port)| host.is_empty() || *port == 0) {
        Some((host, port)) => Err(format!("cannot connect to {host:?} with port {port}")),
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
        assert_eq!(
            prepare(&mut settings(Version::Fixt11)),
            Err("a session of FIXT.1.1 needs DefaultApplVerID, the version of its messages: FIX.5.0SP2 for example".to_owned())
        );
        assert!(refused(|s| s.limits.max_message_size = 8191).contains("8192"));
        let error = refused(|s| {
            s.dictionary = SessionDictionary::None;
            s.validation.outgoing = Some(fixbolt_dictionary::Policy::standard());
        });
        assert!(error.contains("there is no dictionary"), "{error}");
    }

    #[test]
    fn a_session_whose_message_log_no_file_can_be_is_refused() {
        let check = |count: usize| {
            let id = SessionId::new(Version::Fix44, &"-".repeat(count), &"-".repeat(20)).unwrap();
            check_log_name(&id)
        };
        assert_eq!(check(57), Ok(()));
        let error = check(58).unwrap_err();
        assert!(error.contains("(FileLogPath) would have 256 bytes, 255 at most"), "{error}");
    }

    #[test]
    fn an_initiator_without_a_host_is_refused() {
        let initiation = Initiation::new(settings(Version::Fix44), "localhost", 1);
        assert_eq!(check_hosts(&initiation), Ok(()));
        assert!(check_hosts(&Initiation { hosts: Vec::new(), ..initiation.clone() }).is_err());
        assert!(check_hosts(&Initiation::new(settings(Version::Fix44), "", 1)).is_err());
        assert!(check_hosts(&Initiation::new(settings(Version::Fix44), "localhost", 0)).is_err());
    }
}
