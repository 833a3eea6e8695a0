//! Locks on files and directories, between processes.

use std::fs::{File, TryLockError};
use std::io;

/// A file or directory that this process has locked exclusively, until it is dropped.
#[derive(Debug)]
pub(crate) struct Locked {
    pub(crate) file: File,
    /// The process that took the lock.
    process: u32,
}

impl Locked {
    /// Takes the lock. Returns `None` if somebody else has it, whatever the name of the file is to
    /// them.
    ///
    /// # Errors
    /// Returns the system's error.
    pub(crate) fn take(file: File) -> io::Result<Option<Self>> {
        match file.try_lock() {
            Ok(()) => Ok(Some(Self { file, process: std::process::id() })),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }
}

/// Unlocks, and does not only close the file: a process that another thread has just forked has it
/// open until it begins its program, and the lock would be held as long. A process that was forked
/// and goes on with a copy of this value leaves the lock to the one that took it.
impl Drop for Locked {
    fn drop(&mut self) {
        if self.process == std::process::id() {
            // On an error, closing is what is left.
            let _ = self.file.unlock();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::TempDir;

    #[test]
    fn a_released_lock_is_free_although_a_process_that_was_just_forked_has_the_file_open() {
        let dir = TempDir::new("locked-forked");
        let take = || Locked::take(File::open(dir.path()).unwrap()).unwrap();
        let first = take().unwrap();
        let of_child = first.file.try_clone().unwrap();
        drop(first);
        let mut second = take().unwrap();
        // The copy that the other process has is no lock of its own.
        second.process += 1;
        let kept = second.file.try_clone().unwrap();
        drop(second);
        assert!(take().is_none());
        drop((of_child, kept));
        assert!(take().is_some());
    }
}
