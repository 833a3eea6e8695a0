//! A folder for what a benchmark writes.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

/// A folder of its own in the system's folder for temporary files, removed when dropped.
pub(crate) struct Folder(pub(crate) PathBuf);

impl Folder {
    pub(crate) fn new() -> Result<Self, String> {
        static FOLDERS: AtomicU32 = AtomicU32::new(0);
        let n = FOLDERS.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("fixbolt-bench-{}-{n}", std::process::id()));
        std::fs::create_dir(&path).map_err(|error| {
            format!("cannot create {}: {error}; TMPDIR names the folder for temporary files", path.display())
        })?;
        Ok(Self(path))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // A directory that cannot be removed is no reason to lose the figures.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
