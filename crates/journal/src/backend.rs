//! The file operations of a journal behind a small trait, so that tests can make any of them fail.
//!
//! Everything that can run out of disk space goes through here. Sparse files are not used: blocks
//! are allocated before use.

use std::fs::{DirBuilder, File};
use std::io;
use std::os::unix::fs::{DirBuilderExt, FileExt, OpenOptionsExt};
use std::path::Path;

use fixbolt_session::store::StoreError;

use crate::mapping::Mapping;
use crate::system_calls::{fallocate, punch_hole};

/// The operations that the journal needs from the file system.
pub(crate) trait Backend: Send + Sync {
    /// Creates the directory and its parents. Only the user may enter those that are created.
    fn create_dir(&self, path: &Path) -> io::Result<()>;
    /// Creates a file that only the user may read, or truncates an existing one, for reading and
    /// writing.
    fn create(&self, path: &Path) -> io::Result<File>;
    /// Fills the file with `length` bytes of zeros in allocated blocks.
    fn allocate(&self, file: &File, length: u64) -> io::Result<()>;
    /// Gives the blocks from `from` on back, where the file system can do that. The bytes there are
    /// zero before and after.
    fn release(&self, file: &File, from: u64, length: u64) -> io::Result<()>;
    /// Writes at an offset.
    fn write(&self, file: &File, at: u64, bytes: &[u8]) -> io::Result<()>;
    /// Waits until the file is on disk.
    fn sync(&self, file: &File) -> io::Result<()>;
    /// Waits until the directory's entries are on disk.
    fn sync_dir(&self, path: &Path) -> io::Result<()>;
    /// Renames a file within its file system.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;
    /// Removes a file.
    fn remove(&self, path: &Path) -> io::Result<()>;
    /// Maps a file for writing.
    fn map(&self, file: &File, length: usize) -> io::Result<Mapping>;
}

/// The operating system.
pub(crate) struct System;

impl Backend for System {
    fn create_dir(&self, path: &Path) -> io::Result<()> {
        DirBuilder::new().recursive(true).mode(0o700).create(path)
    }

    fn create(&self, path: &Path) -> io::Result<File> {
        let mut options = File::options();
        options.read(true).write(true).create(true).truncate(true).mode(0o600).open(path)
    }

    fn allocate(&self, file: &File, length: u64) -> io::Result<()> {
        match fallocate(file, length) {
            // A file system without fallocate: writing zeros allocates the blocks as well.
            Err(error) if matches!(error.raw_os_error(), Some(libc::EOPNOTSUPP | libc::ENOSYS)) => {
                let zeros = [0; 1 << 16];
                let mut at = 0;
                while at < length {
                    let n = (length - at).min(zeros.len() as u64);
                    file.write_all_at(&zeros[..n as usize], at)?;
                    at += n;
                }
                Ok(())
            }
            done => done,
        }
    }

    fn release(&self, file: &File, from: u64, length: u64) -> io::Result<()> {
        match punch_hole(file, from, length) {
            Err(error) if matches!(error.raw_os_error(), Some(libc::EOPNOTSUPP | libc::ENOSYS)) => Ok(()),
            done => done,
        }
    }

    fn write(&self, file: &File, at: u64, bytes: &[u8]) -> io::Result<()> {
        file.write_all_at(bytes, at)
    }

    fn sync(&self, file: &File) -> io::Result<()> {
        file.sync_data()
    }

    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        File::open(path)?.sync_all()
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        std::fs::rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        std::fs::remove_file(path)
    }

    fn map(&self, file: &File, length: usize) -> io::Result<Mapping> {
        Mapping::writable(file, length)
    }
}

/// Returns the store's error for a failed operation on `path`.
pub(crate) fn failed(doing: &str, path: &Path, error: &io::Error) -> StoreError {
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => {
            StoreError::Full { place: path.display().to_string() }
        }
        _ => StoreError::Io { doing: format!("{doing} {}", path.display()), reason: error.to_string() },
    }
}
