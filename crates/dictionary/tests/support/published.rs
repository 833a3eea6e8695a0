//! Published dictionaries of the reference folder, and their number of differences of each kind.

use std::collections::BTreeMap;

use fixbolt_dictionary::{Dictionary, Difference, Source};

/// Returns a dictionary of the reference folder; if the folder is absent, reports that and returns
/// `None`.
pub(crate) fn read(path: &str) -> Option<Dictionary> {
    let Some(text) = crate::support::shared(&format!("dictionaries/{path}")) else {
        crate::support::absent(1);
        return None;
    };
    match Source::text(&text).load() {
        Ok(loaded) => Some(loaded.dictionary),
        Err(error) => panic!("{path}: {error}"),
    }
}

/// Returns the number of differences of each kind.
pub(crate) fn counts(differences: &[Difference]) -> BTreeMap<&'static str, usize> {
    differences.iter().fold(BTreeMap::new(), |mut counts, difference| {
        *counts.entry(difference.kind()).or_default() += 1;
        counts
    })
}
