//! Files that keep what would otherwise be lost.

use std::path::{Path, PathBuf};

use fixbolt_session::store::StoreError;

use crate::system::backend::{Backend, failed};

/// Returns a path for a new file with this name, or with a number after it if there is one.
pub(crate) fn free_name(directory: &Path, name: &str) -> PathBuf {
    let mut path = directory.join(name);
    let mut n = 1;
    while path.exists() {
        n += 1;
        path = directory.join(format!("{name}.{n}"));
    }
    path
}

/// Keeps bytes that are about to be overwritten, under a new name.
pub(crate) fn keep_copy(
    backend: &dyn Backend,
    directory: &Path,
    name: &str,
    bytes: &[u8],
) -> Result<PathBuf, StoreError> {
    let path = free_name(directory, name);
    let write = || {
        let file = backend.create(&path)?;
        backend.write(&file, 0, bytes)?;
        backend.sync(&file)?;
        backend.sync_dir(directory)
    };
    write().map_err(|e| failed("writing", &path, &e))?;
    Ok(path)
}
