//! The file operations of a journal behind a small trait, so that tests can make any of them fail.
//!
//! Everything that can run out of disk space goes through here. Sparse files are not used: blocks
//! are allocated before use.

use std::fs::{DirBuilder, File};
use std::io;
use std::os::unix::fs::{DirBuilderExt, FileExt, MetadataExt, OpenOptionsExt};
use std::path::Path;

use fixbolt_session::store::StoreError;

use crate::system::mapping::Mapping;
use crate::system::system_calls::{fallocate, next_hole, punch_hole};

/// The operations that the journal needs from the file system.
pub(crate) trait Backend: Send + Sync {
    /// Creates the directory and its parents. Only the user may enter those that are created.
    fn create_dir(&self, path: &Path) -> io::Result<()>;
    /// Creates an empty file that only the user may read, for reading and writing. One with that
    /// name loses the name, and nothing else: another directory may have a hard link to it.
    fn create(&self, path: &Path) -> io::Result<File>;
    /// Gives the first `length` bytes of the file blocks, and makes it that long if it is shorter.
    /// What is in it stays; what has no block, or is added, is zero.
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
        match std::fs::remove_file(path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => File::options().read(true).write(true).create_new(true).mode(0o600).open(path),
        }
    }

    fn allocate(&self, file: &File, length: u64) -> io::Result<()> {
        match fallocate(file, length) {
            Err(error) if matches!(error.raw_os_error(), Some(libc::EOPNOTSUPP | libc::ENOSYS)) => {
                fill(file, length)
            }
            // XFS wants room, and quota, before it looks whether the blocks are there.
            Err(error)
                if matches!(error.kind(), io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded) =>
            {
                let metadata = file.metadata()?;
                let is_whole = metadata.len() >= length && metadata.blocks() * 512 >= length;
                if is_whole { Ok(()) } else { Err(error) }
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

/// Allocates blocks on a file system without fallocate: by writing zeros to where the file has
/// none, which is also all that is beyond its end.
fn fill(file: &File, length: u64) -> io::Result<()> {
    static ZEROS: [u8; 1 << 16] = [0; 1 << 16];
    let end = file.metadata()?.len();
    let mut at = 0;
    while at < length {
        let hole = if at < end { next_hole(file, at)? } else { at..length };
        at = hole.start;
        let hole_end = hole.end.min(length);
        while at < hole_end {
            let n = (hole_end - at).min(ZEROS.len() as u64);
            file.write_all_at(&ZEROS[..n as usize], at)?;
            at += n;
        }
    }
    Ok(())
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::TempDir;

    /// Asserts that the file has blocks for all of its bytes, and returns them.
    fn whole(path: &Path, length: u64) -> Vec<u8> {
        let metadata = std::fs::metadata(path).unwrap();
        assert_eq!(metadata.len(), length);
        assert!(metadata.blocks() * 512 >= length, "{} blocks", metadata.blocks());
        std::fs::read(path).unwrap()
    }

    #[test]
    fn allocating_gives_holes_blocks_and_keeps_what_is_there_also_without_fallocate() {
        const LENGTH: u64 = 1 << 18;
        let dir = TempDir::new("allocate");
        let ways: [fn(&File, u64) -> io::Result<()>; 2] =
            [|file, length| System.allocate(file, length), fill];
        for (n, allocate) in ways.into_iter().enumerate() {
            let path = dir.path().join(n.to_string());
            let file = System.create(&path).unwrap();
            for at in [0, 100_000, 140_000] {
                System.write(&file, at, b"kept").unwrap();
            }
            assert!(file.metadata().unwrap().blocks() * 512 < 140_000, "the file has holes");
            let mut expected = std::fs::read(&path).unwrap();
            for length in [120_000, LENGTH, LENGTH] {
                allocate(&file, length).unwrap();
                expected.resize(expected.len().max(length as usize), 0);
                assert_eq!(std::fs::read(&path).unwrap(), expected, "{n}: {length}");
            }
            assert_eq!(whole(&path, LENGTH), expected, "{n}");
        }
    }
}
