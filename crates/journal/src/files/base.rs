//! The directory in which the sessions' directories are.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use fixbolt_session::store::StoreError;

use crate::system::backend::{Backend, failed};
use crate::values::mutex::lock;

/// The directory in which the sessions' directories are. Their names get to disk together.
pub(crate) struct Base {
    pub(crate) path: PathBuf,
    backend: Arc<dyn Backend>,
    /// The number of names so far.
    names: AtomicU64,
    /// How many of them are on disk.
    synced: Mutex<u64>,
}

impl Base {
    pub(crate) fn new(backend: Arc<dyn Backend>, path: PathBuf) -> Self {
        Self { path, backend, names: AtomicU64::new(0), synced: Mutex::new(0) }
    }

    /// Returns a number for the name of a directory that exists.
    pub(crate) fn name(&self) -> u64 {
        self.names.fetch_add(1, Ordering::AcqRel) + 1
    }

    /// Waits until a name is on disk.
    pub(crate) fn sync(&self, name: u64) -> Result<(), StoreError> {
        let mut synced = lock(&self.synced);
        if *synced < name {
            let names = self.names.load(Ordering::Acquire);
            self.backend.sync_dir(&self.path).map_err(|e| failed("syncing", &self.path, &e))?;
            *synced = names;
        }
        Ok(())
    }
}
