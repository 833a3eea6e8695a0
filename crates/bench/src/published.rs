//! The pages of published tests, where the reference folder is there.

use std::path::PathBuf;

/// Returns a page of the reference folder: `FIXBOLT_SHARED`, else `../shared` beside the
/// repository; `None` if it is absent.
pub(crate) fn page(name: &str) -> Option<String> {
    let beside = || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared"));
    let folder = std::env::var_os("FIXBOLT_SHARED").map_or_else(beside, PathBuf::from);
    std::fs::read_to_string(folder.join("published").join(name)).ok()
}
