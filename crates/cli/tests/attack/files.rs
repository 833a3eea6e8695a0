//! A folder of a test, and how much is in it.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use fixbolt_conformance::testing::unused;

/// An empty folder that is removed when dropped.
#[derive(Debug)]
pub(crate) struct Folder(pub(crate) PathBuf);

impl Folder {
    /// Creates one; no other test has it.
    pub(crate) fn create() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let n = COUNT.fetch_add(1, Ordering::Relaxed);
        let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(unused(&format!("attack-{n}")));
        std::fs::create_dir_all(&path).expect("the target directory can be written");
        Self(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// What a folder takes.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub(crate) struct Size {
    /// Allocated on disk.
    pub(crate) bytes: u64,
    /// Its folders, on all levels.
    pub(crate) folders: u64,
}

/// Measures a folder that may change meanwhile; one that does not exist takes nothing.
pub(crate) fn size(path: &Path) -> Size {
    let mut size = Size::default();
    let Ok(entries) = std::fs::read_dir(path) else { return size };
    for entry in entries.flatten() {
        let Ok(metadata) = entry.metadata() else { continue };
        if metadata.is_dir() {
            let inner = self::size(&entry.path());
            size.bytes += inner.bytes;
            size.folders += inner.folders + 1;
        } else {
            size.bytes += metadata.blocks() * 512;
        }
    }
    size
}
