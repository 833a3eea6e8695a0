//! The dictionaries of a session of FIXT.1.1, of which each is a key of its own: that of the
//! transport, that of the default application version, and those of other versions.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use fixbolt_codec::Version;
use fixbolt_dictionary::{ApplicationVersion, Dictionary, DictionarySet, Policy, Source, shipped};
use fixbolt_session::FixtDictionaries;

use super::dictionary_file::{Lacks, Remark, read_dictionary, shipped_in_place_of};
use super::paths::path_of;
use super::refusal::Refusal;

/// What the keys of a session name.
#[derive(Clone, PartialEq, Default)]
pub(super) struct FixtDraft {
    pub(super) transport: Option<PathBuf>,
    /// By version; `None` stands for the default one.
    applications: Vec<(Option<Version>, PathBuf)>,
}

/// The name of the key that AppDataDictionary's other keys begin with.
pub(super) const APPLICATION: &str = "AppDataDictionary";
pub(super) const TRANSPORT: &str = "TransportDataDictionary";

impl FixtDraft {
    /// Sets what a key names: `AppDataDictionary` or, for messages of another version than the
    /// default one, `AppDataDictionary.FIX.4.4`.
    pub(super) fn set_application(&mut self, key: &str, file: &str) -> Result<(), Refusal> {
        let version = version_in(key).ok_or(Refusal::Form)?;
        // The session's own key comes last, and may spell the version differently.
        self.applications.retain(|(known, _)| *known != version);
        self.applications.push((version, path_of(file)));
        Ok(())
    }

    pub(super) const fn names_no_application(&self) -> bool {
        self.applications.is_empty()
    }

    pub(super) const fn names_no_file(&self) -> bool {
        self.transport.is_none() && self.applications.is_empty()
    }

    /// Returns the files of application versions.
    pub(super) fn application_files(&self) -> impl Iterator<Item = &Path> {
        self.applications.iter().map(|(_, file)| file.as_path())
    }

    /// Reads the dictionaries of a session whose messages have the version `default` unless they
    /// say otherwise. `application` makes the source of a file.
    ///
    /// # Errors
    /// The key whose file cannot be used, and why.
    pub(super) fn read(
        &self,
        default: Version,
        application: &dyn Fn(&Path) -> Source<'static>,
        policy: &Policy,
    ) -> Result<(FixtDictionaries, Vec<Remark>), (String, String)> {
        let mut remarks = Vec::new();
        let refused = |key: &str, reason: String| (key.to_owned(), reason);
        let transport = match &self.transport {
            None => shipped(Version::Fixt11).clone(),
            Some(file) if shipped_in_place_of(file) == Some(Version::Fixt11) => {
                remarks.push(Remark::in_place(TRANSPORT, Version::Fixt11));
                shipped(Version::Fixt11).clone()
            }
            Some(file) => {
                let read = read_dictionary(Source::file(file))
                    .map_err(|unread| unread.or_shipped(Some(Version::Fixt11)))
                    .and_then(|(dictionary, odd)| {
                        remarks.extend(Remark::odd(TRANSPORT, odd));
                        is_transport(dictionary, policy)
                    });
                read.map_err(|reason| refused(TRANSPORT, reason))?
            }
        };
        let mut set = DictionarySet::new(transport).map_err(|error| refused(TRANSPORT, error.to_string()))?;
        let files = &self.applications;
        let names_default =
            |(version, _): &(Option<Version>, _)| version.is_none_or(|named| named == default);
        if !files.iter().any(names_default) {
            set = with(set, default, shipped(default)).map_err(|reason| refused(APPLICATION, reason))?;
        }
        // The key without a version counts where both name the default one.
        let (named, others): (Vec<_>, Vec<_>) = files.iter().partition(|(version, _)| version.is_some());
        for &(version, ref file) in [named, others].into_iter().flatten() {
            let key = version.map_or(APPLICATION.to_owned(), |version| format!("{APPLICATION}.{version}"));
            let version = version.unwrap_or(default);
            let read = if shipped_in_place_of(file) == Some(version) {
                remarks.push(Remark::in_place(&key, version));
                with(set, version, shipped(version))
            } else {
                let is_default = version == default;
                read_dictionary(application(file))
                    .map_err(|unread| unread.or_shipped(is_default.then_some(version)))
                    .and_then(|(dictionary, odd)| {
                        remarks.extend(Remark::odd(&key, odd));
                        is_application(dictionary, version)
                    })
                    .and_then(|dictionary| with(set, version, &dictionary))
            };
            set = read.map_err(|reason| refused(&key, reason))?;
        }
        Ok((FixtDictionaries::new(set.validators()), remarks))
    }

    /// Returns the source of the default version's dictionary over that of the transport, if any
    /// key names a file that is there.
    pub(super) fn source(
        &self,
        default: Version,
        application: &dyn Fn(&Path) -> Source<'static>,
    ) -> Option<Source<'static>> {
        if self.names_no_file() {
            return None;
        }
        let is_there = |file: &&PathBuf, version| shipped_in_place_of(file) != Some(version);
        let of = |wanted: Option<Version>| {
            self.applications.iter().find(|(version, _)| *version == wanted).map(|(_, file)| file)
        };
        let file = of(None).or_else(|| of(Some(default))).filter(|file| is_there(file, default));
        let transport = self.transport.as_ref().filter(|file| is_there(file, Version::Fixt11));
        let transport = transport.map_or(Source::shipped(Version::Fixt11), Source::file);
        Some(file.map_or(Source::shipped(default), |file| application(file)).transport(transport))
    }
}

/// Returns the version that a key names after its dot, `None` for the default one; nothing if it is
/// no key of an application's dictionary.
pub(super) fn version_in(key: &str) -> Option<Option<Version>> {
    let rest = key.get(APPLICATION.len()..)?;
    if !key[..APPLICATION.len()].eq_ignore_ascii_case(APPLICATION) {
        return None;
    }
    match rest.strip_prefix('.') {
        None => rest.is_empty().then_some(None),
        Some(name) => {
            let version: Version = name.parse().ok()?;
            version.appl_ver_id().map(|_| Some(version))
        }
    }
}

/// Returns the keys of an application's dictionary that name a version.
pub(super) fn versioned_keys() -> impl Iterator<Item = String> {
    let versions = Version::ALL.into_iter().filter(|version| version.appl_ver_id().is_some());
    versions.map(|version| format!("{APPLICATION}.{version}"))
}

fn with(set: DictionarySet, version: Version, dictionary: &Dictionary) -> Result<DictionarySet, String> {
    let id = version.appl_ver_id().unwrap_or_default();
    set.with(ApplicationVersion::new(id), dictionary).map_err(|error| error.to_string())
}

fn is_transport(dictionary: Dictionary, policy: &Policy) -> Result<Dictionary, String> {
    let version = dictionary.version();
    let is_fixt = version.begin_string == Version::Fixt11.begin_string();
    // Application messages of FIX.5.0 and later have no header of their own.
    if !is_fixt || dictionary.header().is_empty() && version.known != Some(Version::Fixt11) {
        return Err(format!("it is of {}, and the transport is FIXT.1.1", version.name));
    }
    Lacks::of(&dictionary).no_logon(policy).map_or(Ok(dictionary), Err)
}

/// Refuses a dictionary of another version. Service packs of FIX.5.0 are not told apart, as many
/// files do not name theirs.
fn is_application(dictionary: Dictionary, version: Version) -> Result<Dictionary, String> {
    let transport = shipped(Version::Fixt11);
    if dictionary.messages().iter().all(|one| transport.message(one.msg_type.as_bytes()).is_some()) {
        let name = &dictionary.version().name;
        return Err(format!("it is of {name} and has no application messages; the key is for {version}"));
    }
    let known = dictionary.version().appl_ver_id().and_then(|id| Version::from_appl_ver_id(id.as_bytes()));
    let family = |version: Version| if version.is_application() { Version::Fix50 } else { version };
    match known {
        Some(known) if family(known) != family(version) => {
            Err(format!("it is of {known}, and the key is for {version}"))
        }
        _ => Ok(dictionary),
    }
}

/// What was read for a session.
pub(super) type Fixt = Result<(Arc<FixtDictionaries>, Vec<Remark>), (String, String)>;
