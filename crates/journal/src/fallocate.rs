//! The one system call of the journal that std does not have: blocks for a file that is about to be
//! written.

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
