//! A directory for the journals of one test.

use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

use fixbolt_journal::DirectoryStore;
use fixbolt_session::store::Store;

/// Returns a name that begins with `name` and that no directory has had: journals that were in one
/// are remembered as long as the machine runs, and the number of a process comes again.
#[must_use]
pub fn unused(name: &str) -> String {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos());
    format!("{name}-{}-{since}", std::process::id())
}

/// A directory for one test, which is removed when dropped.
#[derive(Debug)]
pub struct Scratch(PathBuf);

impl Scratch {
    /// Returns an empty directory of this name.
    #[must_use]
    pub fn new(name: &str) -> Self {
        Self(std::env::temp_dir().join(unused(&format!("fixbolt-{name}"))))
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
