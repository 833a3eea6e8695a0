//! The system calls of the journal that std does not have: blocks for a file that is about to be
//! written, the end of those that it does not need any more, and how often a thread has waited.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;

/// Allocates the first `length` bytes of a file, and makes it that long if it is shorter.
///
/// # Errors
/// Returns the system's error: `ENOSPC` if the disk is full, `EOPNOTSUPP` or `ENOSYS` if the file
/// system cannot allocate.
#[allow(unsafe_code)]
pub(crate) fn fallocate(file: &File, length: u64) -> io::Result<()> {
    let length = i64::try_from(length).map_err(|_| io::ErrorKind::FileTooLarge)?;
    // SAFETY: the call accesses no memory of this process, and the descriptor is open while `file`
    // is borrowed.
    match unsafe { libc::fallocate64(file.as_raw_fd(), 0, 0, length) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Returns the blocks from `from` to `length` to the file system. The file keeps its length, and
/// reads as zeros there.
///
/// # Errors
/// Returns the system's error: `EOPNOTSUPP` or `ENOSYS` if the file system keeps all blocks.
#[allow(unsafe_code)]
pub(crate) fn punch_hole(file: &File, from: u64, length: u64) -> io::Result<()> {
    let offset = |n| i64::try_from(n).map_err(|_| io::Error::from(io::ErrorKind::FileTooLarge));
    let mode = libc::FALLOC_FL_PUNCH_HOLE | libc::FALLOC_FL_KEEP_SIZE;
    let (from, bytes) = (offset(from)?, offset(length.saturating_sub(from))?);
    // SAFETY: as above.
    match unsafe { libc::fallocate64(file.as_raw_fd(), mode, from, bytes) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Returns how often the calling thread has waited, for the disk, for memory or for another thread;
/// not how often the system has let another one run instead of it. 0 where the system does not say.
#[allow(unsafe_code)]
pub(crate) fn waits() -> i64 {
    #[cfg(target_os = "linux")]
    {
        let mut usage = core::mem::MaybeUninit::<libc::rusage>::zeroed();
        // SAFETY: the call writes one `rusage` to where `usage` is.
        unsafe { libc::getrusage(libc::RUSAGE_THREAD, usage.as_mut_ptr()) };
        // SAFETY: it is made of numbers, for which zeros are valid, whether or not the call wrote.
        unsafe { usage.assume_init() }.ru_nvcsw
    }
    #[cfg(not(target_os = "linux"))]
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(target_os = "linux")]
    #[test]
    fn a_thread_that_sleeps_has_waited() {
        let before = waits();
        std::thread::sleep(std::time::Duration::from_millis(1));
        assert!(waits() > before);
    }
}
