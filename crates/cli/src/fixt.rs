//! The shipped dictionaries of sessions of FIXT.1.1.

use std::sync::Arc;

use fixbolt_cli::exit::Failure;
use fixbolt_dictionary::{
    ApplicationVersion, Dictionary, DictionarySet, TransportMismatch, Version, shipped,
};
use fixbolt_session::{FixtDictionaries, SessionDictionary};

/// Returns the dictionaries of all versions from FIX.5.0 on: the counterparty of a session chooses
/// the version of its own messages.
pub(crate) fn dictionaries() -> SessionDictionary {
    let versions = [Version::Fix50, Version::Fix50Sp1, Version::Fix50Sp2, Version::FixLatest];
    // They fit their transport, as a test shows.
    set(&versions).map_or(SessionDictionary::None, |set| {
        SessionDictionary::Fixt(Arc::new(FixtDictionaries::new(set.validators())))
    })
}

fn set(versions: &[Version]) -> Result<DictionarySet, TransportMismatch> {
    let named = versions.iter().filter_map(|version| Some((version.appl_ver_id()?, shipped(*version))));
    named.fold(DictionarySet::new(shipped(Version::Fixt11).clone()), |set, (id, dictionary)| {
        set?.with(ApplicationVersion::new(id), dictionary)
    })
}

/// Returns the shipped dictionary of a session's messages, over FIXT.1.1 that of the version
/// `default` with the header of the transport.
pub(crate) fn dictionary(version: Version, default: Option<Version>) -> Result<Dictionary, Failure> {
    match default {
        Some(default) if version == Version::Fixt11 => shipped(default)
            .over(shipped(version))
            .map_err(|error| Failure::usage(format!("the shipped dictionary of {default}: {error}"))),
        _ => Ok(shipped(version).clone()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_shipped_version_fits_its_transport() {
        let all: Vec<_> = Version::ALL.into_iter().filter(|one| one.appl_ver_id().is_some()).collect();
        assert_eq!(set(&all).unwrap().applications().count(), all.len());
        assert!(dictionaries().checks());
    }
}
