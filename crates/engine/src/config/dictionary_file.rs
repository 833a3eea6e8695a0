//! Reads one file of a dictionary.

use std::path::Path;

use fixbolt_codec::Version;
use fixbolt_dictionary::{Dictionary, LoadError, Source};

/// Returns the shipped version whose name a file has that is absent, such as `FIX44.xml`, as
/// QuickFIX/J finds its own by these names. A path with a directory is a file of the user's: if it
/// is absent, nothing stands in its place.
pub(super) fn shipped_in_place_of(file: &Path) -> Option<Version> {
    file.parent().filter(|directory| directory.as_os_str().is_empty())?;
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
