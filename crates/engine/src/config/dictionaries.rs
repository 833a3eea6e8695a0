//! The files that DataDictionary names, each read once.

use std::path::Path;
use std::sync::Arc;

use fixbolt_codec::Version;
use fixbolt_dictionary::{Dictionary, LoadError, Source, Validator};

use super::fixt::{Fixt, FixtDraft};

/// The dictionaries that were read, by source.
#[derive(Default)]
pub(super) struct Dictionaries {
    read: Vec<(Source<'static>, Result<Known, String>)>,
    /// Those of sessions of FIXT.1.1, by the keys that name them.
    pub(super) fixt: Vec<(FixtDraft, Version, Option<Source<'static>>, Fixt)>,
}

struct Known {
    begin_string: String,
    validator: Arc<Validator>,
}

impl Dictionaries {
    /// Returns the validator for a dictionary, for a session of this version.
    ///
    /// # Errors
    /// Why there is none, and what to do.
    pub(super) fn validator(
        &mut self,
        source: Source<'static>,
        version: Option<Version>,
    ) -> Result<Arc<Validator>, String> {
        let at = self.read.iter().position(|(known, _)| *known == source).unwrap_or_else(|| {
            let known = read_dictionary(source.clone()).map(|dictionary| Known {
                begin_string: dictionary.version().begin_string.clone(),
                validator: Arc::new(Validator::new(&dictionary)),
            });
            self.read.push((source, known));
            self.read.len() - 1
        });
        let Known { begin_string, validator } = match &self.read[at].1 {
            Ok(known) => known,
            Err(reason) => {
                let serves = match version {
                    Some(version) => format!("then the shipped one of {version} is used"),
                    None => "then the shipped ones are used".to_owned(),
                };
                return Err(format!("{reason}; leave the key out ({serves}), or correct the path"));
            }
        };
        match version {
            Some(version) if begin_string == version.begin_string() => Ok(Arc::clone(validator)),
            Some(version) => Err(format!("it is for {begin_string}, but the session uses {version}")),
            None => Err(format!(
                "it is for {begin_string}, but the session may use any version; set its BeginString"
            )),
        }
    }
}

/// Returns the shipped version whose name a file has that is absent, such as `spec/FIX44.xml`: the
/// examples of QuickFIX name the files of their own distribution, and QuickFIX/J finds its own by
/// these names.
pub(super) fn shipped_in_place_of(file: &Path) -> Option<Version> {
    let named = file.file_stem()?.to_str()?.parse().ok()?;
    matches!(file.try_exists(), Ok(false)).then_some(named)
}

/// Reads a dictionary, and logs what is odd in it.
pub(super) fn read_dictionary(source: Source<'static>) -> Result<Dictionary, String> {
    let file = source.files().first().map(|file| file.display().to_string()).unwrap_or_default();
    match source.load() {
        Ok(loaded) => {
            for warning in loaded.warnings {
                tracing::warn!(file, %warning, "dictionary");
            }
            Ok(loaded.dictionary)
        }
        Err(LoadError::File { error, .. }) => Err(error.to_string()),
        Err(LoadError::Refused { faults, .. }) => Err(match (faults.first(), faults.count()) {
            ([first, ..], more @ 2..) => {
                format!("{first} (and {} more: `fixbolt dictionary check` shows them)", more - 1)
            }
            _ => faults.to_string(),
        }),
        Err(other) => Err(other.to_string()),
    }
}
