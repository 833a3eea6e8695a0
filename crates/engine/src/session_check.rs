//! The conditions that a session must meet before it can start, however it was configured.

use core::time::Duration;
use std::sync::{Arc, OnceLock};

use fixbolt_dictionary::{Validator, Version, shipped};
use fixbolt_session::{MAX_MESSAGE_SIZE_BEFORE_LOGON, SessionDictionary, SessionSettings};

use crate::initiation::Initiation;

/// The shortest pause between attempts to connect, and the shortest time for one.
const MIN_INTERVAL: Duration = Duration::from_millis(1);

/// The versions that sessions support.
pub(crate) const SESSION_VERSIONS: [Version; 5] =
    [Version::Fix40, Version::Fix41, Version::Fix42, Version::Fix43, Version::Fix44];

/// Returns the validator of a version that sessions support, by the shipped dictionary; `None` for
/// any other version. It is made once per process.
pub(crate) fn shipped_validator(version: Version) -> Option<Arc<Validator>> {
    static SHIPPED: [OnceLock<Arc<Validator>>; SESSION_VERSIONS.len()] =
        [const { OnceLock::new() }; SESSION_VERSIONS.len()];
    let at = SESSION_VERSIONS.iter().position(|one| *one == version)?;
    Some(Arc::clone(SHIPPED[at].get_or_init(|| Arc::new(Validator::new(shipped(version))))))
}

/// Returns why sessions of this version are not supported; `None` if they are.
pub(crate) fn unspoken(version: Version) -> Option<String> {
    if version.is_application() {
        return Some(format!(
            "{version} has no sessions of its own: its messages travel in sessions of FIXT.1.1"
        ));
    }
    (!SESSION_VERSIONS.contains(&version))
        .then(|| format!("sessions of {version} are not supported yet; those of FIX.4.0 to FIX.4.4 are"))
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
    if settings.dictionary == SessionDictionary::Shipped {
        let validator = shipped_validator(version).ok_or_else(|| {
            format!(
                "no dictionary of {version} is shipped; name one, or do without by SessionDictionary::None"
            )
        })?;
        settings.dictionary = SessionDictionary::Own(validator);
    }
    let validates = settings.dictionary.validator().is_some();
    if settings.outbound_policy.is_some() && !validates {
        return Err("outgoing messages cannot be validated: there is no dictionary".to_owned());
    }
    if settings.max_message_size < MAX_MESSAGE_SIZE_BEFORE_LOGON {
        return Err(format!("MaxMessageSize must be at least {MAX_MESSAGE_SIZE_BEFORE_LOGON} bytes"));
    }
    if !matches!(settings.timestamp_digits, 0 | 3 | 6 | 9 | 12) {
        return Err("the times that are sent can have 0, 3, 6, 9 or 12 digits of a second".to_owned());
    }
    Ok(())
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
        ("connect_timeout", initiation.connect_timeout),
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
    use fixbolt_session::{Role, SessionId};

    use super::*;

    fn settings(version: Version) -> SessionSettings {
        SessionSettings::new(SessionId::new(version, "A", "B").unwrap(), Role::Initiator)
    }

    #[test]
    fn a_session_has_the_shipped_dictionary_of_its_version_unless_told_otherwise() {
        for version in SESSION_VERSIONS {
            let mut settings = settings(version);
            prepare(&mut settings).unwrap();
            assert!(Arc::ptr_eq(
                settings.dictionary.validator().unwrap(),
                &shipped_validator(version).unwrap()
            ));
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
            Err("sessions of FIXT.1.1 are not supported yet; those of FIX.4.0 to FIX.4.4 are".to_owned())
        );
        assert!(refused(|s| s.timestamp_digits = 4).contains("0, 3, 6, 9 or 12"));
        assert!(refused(|s| s.max_message_size = 8191).contains("8192"));
        let error = refused(|s| {
            s.dictionary = SessionDictionary::None;
            s.outbound_policy = Some(fixbolt_dictionary::Policy::standard());
        });
        assert!(error.contains("there is no dictionary"), "{error}");
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
