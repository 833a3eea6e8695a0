//! The directory in which the sessions' directories are.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use fixbolt_session::store::StoreError;

use crate::files::cookies::{self, Cookies};
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
    /// The directory of the cookies, if it is a given one.
    pub(crate) cookies_in: Option<PathBuf>,
    /// `None` before they are used.
    cookies: Mutex<Option<Arc<Cookies>>>,
}

impl Base {
    pub(crate) fn new(backend: Arc<dyn Backend>, path: PathBuf, cookies_in: Option<PathBuf>) -> Self {
        let (names, synced, cookies) = (AtomicU64::new(0), Mutex::new(0), Mutex::default());
        Self { path, backend, names, synced, cookies_in, cookies }
    }

    /// Returns the cookies of the journals in this directory, which exists.
    ///
    /// # Errors
    /// Returns why there are none.
    pub(crate) fn cookies(&self) -> Result<Arc<Cookies>, String> {
        let mut cookies = lock(&self.cookies);
        if let Some(cookies) = &*cookies {
            return Ok(Arc::clone(cookies));
        }
        let directory = self.cookies_in.clone().unwrap_or_else(cookies::own_directory);
        let opened =
            Cookies::open(&directory, &self.path).map_err(|e| format!("{}: {e}", directory.display()))?;
        Ok(Arc::clone(cookies.insert(Arc::new(opened))))
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
