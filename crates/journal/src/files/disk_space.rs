//! How much disk space a session's segments take, and may take.

use std::os::unix::fs::MetadataExt;
use std::path::Path;

use fixbolt_session::store::StoreError;

use crate::files::listing::segments_in;
use crate::files::names::{ARCHIVE, archived_name, file_name};

/// Returns the disk space that a session's segments take, archived or not, in bytes. An archive
/// that cannot be read is not missed.
pub(crate) fn on_disk(directory: &Path) -> Result<u64, StoreError> {
    let size = |name: String| size_on_disk(&directory.join(name));
    let live = segments_in(directory)?.into_iter().map(file_name);
    let archived = segments_in(&directory.join(ARCHIVE)).unwrap_or_default().into_iter().map(archived_name);
    Ok(live.chain(archived).map(size).sum())
}

/// Returns the disk space that a file takes; 0 if it is gone.
pub(crate) fn size_on_disk(path: &Path) -> u64 {
    // In blocks of 512 bytes, whatever the file system's are.
    std::fs::metadata(path).map_or(0, |metadata| metadata.blocks() * 512)
}

/// How much disk space the segments of a session may take, archived or not.
pub(crate) struct Quota {
    /// In bytes; `None` for no limit.
    pub(crate) most: Option<u64>,
    /// What they take, if there is a limit.
    pub(crate) used: u64,
}

impl Quota {
    /// Creates a quota of which nothing is known to be used.
    pub(crate) fn new(most: Option<u64>) -> Self {
        Self { most, used: 0 }
    }

    /// Measures what is used.
    pub(crate) fn look(&mut self, directory: &Path) -> Result<(), StoreError> {
        if self.most.is_some() {
            self.used = on_disk(directory)?;
        }
        Ok(())
    }

    pub(crate) fn left(&self) -> u64 {
        self.most.map_or(u64::MAX, |most| most.saturating_sub(self.used))
    }
}
