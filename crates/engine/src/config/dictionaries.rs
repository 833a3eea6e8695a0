//! The files that DataDictionary names, each read once.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use fixbolt_codec::Version;
use fixbolt_dictionary::{Dictionary, Validator};

/// The dictionaries that were read, by file.
#[derive(Default)]
pub(super) struct Dictionaries {
    read: HashMap<PathBuf, Result<Known, String>>,
}

struct Known {
    begin_string: String,
    validator: Arc<Validator>,
}

impl Dictionaries {
    /// Returns the validator for the dictionary in a file, for a session of this version.
    ///
    /// # Errors
    /// Why there is none, and what to do.
    pub(super) fn validator(
        &mut self,
        file: &Path,
        version: Option<Version>,
    ) -> Result<Arc<Validator>, String> {
        let read = self.read.entry(file.to_owned()).or_insert_with(|| {
            let dictionary = read_dictionary(file)?;
            let begin_string = dictionary.version().begin_string.clone();
            Ok(Known { begin_string, validator: Arc::new(Validator::new(&dictionary)) })
        });
        let Known { begin_string, validator } = match read {
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

/// Reads a dictionary in any form, which its text shows.
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
            Some((first, more)) => {
                format!("{first} (and {} more: `fixbolt dictionary check` shows all)", more.len())
            }
        }),
    }
}
