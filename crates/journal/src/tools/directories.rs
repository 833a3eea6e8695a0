//! Which sessions' directories a path names.

use std::path::{Path, PathBuf};

use fixbolt_session::store::StoreError;

use crate::files::cookies;
use crate::files::names::number_of;
use crate::files::segment_file::SegmentFile;
use crate::system::backend::failed;

/// Returns the sessions' directories that `path` names: itself, or those in it.
pub(crate) fn session_directories(path: &Path) -> Result<Vec<PathBuf>, StoreError> {
    let is_part = |name: &str| matches!(name, "head" | "lock") || number_of(name).is_some();
    let is_one = |directory: &Path| {
        let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
        entries.into_iter().any(|entry| entry.file_name().to_str().is_some_and(is_part))
            || SegmentFile::last_archived(directory).is_some()
            || (directory.is_dir() && cookies::find_used(None, directory).is_some())
    };
    if is_one(path) {
        return Ok(vec![path.to_owned()]);
    }
    let mut found = Vec::new();
    for entry in std::fs::read_dir(path).map_err(|e| failed("reading", path, &e))? {
        let inner = entry.map_err(|e| failed("reading", path, &e))?.path();
        if inner.is_dir() && is_one(&inner) {
            found.push(inner);
        }
    }
    if found.is_empty() {
        return Err(StoreError::Io {
            doing: format!("looking for a journal in {}", path.display()),
            reason: "this is neither a session's journal nor a directory of journals".to_owned(),
        });
    }
    found.sort();
    Ok(found)
}
