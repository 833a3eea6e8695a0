//! The reference folder, which is not part of the project: finds it, and reports if it is absent.

use std::path::PathBuf;

/// Returns the reference folder: `FIXBOLT_SHARED`, else `../shared` beside the repository.
pub(crate) fn folder() -> PathBuf {
    std::env::var_os("FIXBOLT_SHARED")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared"), PathBuf::from)
}

/// Returns the text of a file of the reference folder.
pub(crate) fn shared(path: &str) -> Option<String> {
    std::fs::read_to_string(folder().join(path)).ok()
}

/// Reports on standard error that checks were skipped.
pub(crate) fn absent(checks: usize) {
    eprintln!("shared folder absent: {checks} checks skipped");
}
