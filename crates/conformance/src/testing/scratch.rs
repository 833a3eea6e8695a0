//! A directory for the journals of one test.

use std::path::PathBuf;

use fixbolt_journal::DirectoryStore;
use fixbolt_session::store::Store;

/// A directory for one test, which is removed when dropped.
#[derive(Debug)]
pub struct Scratch(PathBuf);

impl Scratch {
    /// Returns an empty directory of this name.
    #[must_use]
    pub fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("fixbolt-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        Self(path)
    }

    /// Returns a store whose journals are there.
    #[must_use]
    pub fn store(&self) -> Box<dyn Store> {
        Box::new(DirectoryStore::new(&self.0))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
