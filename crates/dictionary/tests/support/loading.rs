//! Loads a source, with its parts apart for tests that look at one of them.

use fixbolt_dictionary::{Dictionary, LoadError, ReadError, Source, Warning};

/// Returns the dictionary and the warnings, or the errors.
pub(crate) fn load(source: Source<'_>) -> Result<(Dictionary, Vec<Warning>), Vec<ReadError>> {
    match source.load() {
        Ok(loaded) => Ok((loaded.dictionary, loaded.warnings)),
        Err(LoadError::Refused { faults, .. }) => Err(faults.first().to_vec()),
        Err(other) => panic!("{other}"),
    }
}
