//! The system calls that std does not have, of the journal and of the engine, which has no unsafe
//! code: blocks for a file that is about to be written, where it has none, the end of those that it
//! does not need any more, whom a file lets in, what is free on its disk, how often a thread has
//! waited, where and how urgently it runs, memory that stays, and the clock that goes on in a
//! suspended machine.
//!
//! rustix wraps most of them; it has users compile three crates for 4 s.

use std::ffi::CString;
use std::fs::File;
use std::io;
use std::mem::MaybeUninit;
use std::ops::Range;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Returns the error of the call that has just returned this, which is 0 if there is none.
fn answered(status: libc::c_int) -> io::Result<()> {
    if status == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

fn c_path(path: &Path) -> io::Result<CString> {
    Ok(CString::new(path.as_os_str().as_bytes())?)
}

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
    answered(unsafe { libc::fallocate64(file.as_raw_fd(), 0, 0, length) })
}

/// Returns where the next bytes of a file are, from `at` on, that have no blocks: empty and at its
/// end if all have. Whether a block that was only allocated is one depends on the file system.
///
/// # Errors
/// Returns the system's error.
#[allow(unsafe_code)]
pub(crate) fn next_hole(file: &File, at: u64) -> io::Result<Range<u64>> {
    let end = file.metadata()?.len();
    let seek = |at: u64, whence| {
        let at = i64::try_from(at).map_err(|_| io::ErrorKind::FileTooLarge)?;
        // SAFETY: the call accesses no memory of this process, and the descriptor is open while
        // `file` is borrowed.
        let found = unsafe { libc::lseek64(file.as_raw_fd(), at, whence) };
        u64::try_from(found).map_err(|_| io::Error::last_os_error())
    };
    let start = seek(at, libc::SEEK_HOLE)?;
    if start >= end {
        return Ok(end..end);
    }
    match seek(start, libc::SEEK_DATA) {
        // There is none after the hole.
        Err(error) if error.raw_os_error() == Some(libc::ENXIO) => Ok(start..end),
        found => Ok(start..found?),
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
    answered(unsafe { libc::fallocate64(file.as_raw_fd(), mode, from, bytes) })
}

/// Returns how often the calling thread has waited, for the disk, for memory or for another thread;
/// not how often the system has let another one run instead of it. 0 where the system does not say.
#[allow(unsafe_code)]
pub(crate) fn waits() -> i64 {
    #[cfg(target_os = "linux")]
    {
        let mut usage = MaybeUninit::<libc::rusage>::zeroed();
        // SAFETY: the call writes one `rusage` to where `usage` is.
        unsafe { libc::getrusage(libc::RUSAGE_THREAD, usage.as_mut_ptr()) };
        // SAFETY: it is made of numbers, for which zeros are valid, whether or not the call wrote.
        unsafe { usage.assume_init() }.ru_nvcsw
    }
    #[cfg(not(target_os = "linux"))]
    0
}

/// Checks whether this process may use a file so (`libc::R_OK` and the like), by its effective
/// user, by which files are opened.
///
/// # Errors
/// Returns the system's error, which says what opening the file would say.
#[allow(unsafe_code)]
pub(crate) fn may(path: &Path, access: libc::c_int) -> io::Result<()> {
    let path = c_path(path)?;
    // SAFETY: the path ends with NUL, and is read only.
    answered(unsafe { libc::faccessat(libc::AT_FDCWD, path.as_ptr(), access, libc::AT_EACCESS) })
}

/// Returns the number of the effective user: whose files are created and opened.
#[allow(unsafe_code)]
pub(crate) fn user() -> u32 {
    // SAFETY: the call accesses no memory of this process.
    unsafe { libc::geteuid() }
}

/// Returns whether the process runs as root.
pub(crate) fn is_root() -> bool {
    user() == 0
}

/// Returns what the file system of `path` has, and what of it is free.
///
/// # Errors
/// Returns the system's error.
#[allow(unsafe_code)]
pub(crate) fn room(path: &Path) -> io::Result<libc::statvfs> {
    let path = c_path(path)?;
    let mut found = MaybeUninit::<libc::statvfs>::zeroed();
    // SAFETY: the path ends with NUL, and is read only; the call writes one `statvfs` to where
    // `found` is.
    answered(unsafe { libc::statvfs(path.as_ptr(), found.as_mut_ptr()) })?;
    // SAFETY: the call has written it.
    Ok(unsafe { found.assume_init() })
}

/// Returns whether a directory shows what the kernel has, and takes no files, although it gives the
/// right to write. Only Linux is asked.
///
/// # Errors
/// Returns the system's error.
pub(crate) fn is_of_the_kernel(directory: &Path) -> io::Result<bool> {
    #[cfg(target_os = "linux")]
    {
        let kind = file_system(directory)?.f_type;
        // The types differ between C libraries.
        Ok([libc::PROC_SUPER_MAGIC, libc::SYSFS_MAGIC].into_iter().any(|magic| kind == magic as _))
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = directory;
        Ok(false)
    }
}

/// Returns whether the files of a directory are in memory only. Only Linux is asked.
///
/// # Errors
/// Returns the system's error.
pub(crate) fn is_in_memory(directory: &Path) -> io::Result<bool> {
    #[cfg(target_os = "linux")]
    {
        let kind = file_system(directory)?.f_type;
        Ok([libc::TMPFS_MAGIC].into_iter().any(|magic| kind == magic as _))
    }
    #[cfg(not(target_os = "linux"))]
    {
        let _ = directory;
        Ok(false)
    }
}

/// Returns what the system says of the file system that a directory is on.
#[cfg(target_os = "linux")]
#[allow(unsafe_code)]
fn file_system(directory: &Path) -> io::Result<libc::statfs> {
    let path = c_path(directory)?;
    let mut found = MaybeUninit::<libc::statfs>::zeroed();
    // SAFETY: the path ends with NUL, and is read only; the call writes one `statfs` to where
    // `found` is.
    answered(unsafe { libc::statfs(path.as_ptr(), found.as_mut_ptr()) })?;
    // SAFETY: the call has written it.
    Ok(unsafe { found.assume_init() })
}

/// Makes the calling thread run on this core only, counted from 0.
///
/// # Errors
/// Returns the system's error: `EINVAL` if there is no such core, or if the process may not use it.
#[cfg(target_os = "linux")]
#[allow(unsafe_code)]
pub fn pin_to(core: usize) -> io::Result<()> {
    let size = size_of::<libc::cpu_set_t>();
    if core >= 8 * size {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let mut cores = MaybeUninit::<libc::cpu_set_t>::zeroed();
    // SAFETY: the set is made of numbers, for which zeros are valid, and the core is one of its
    // bits. The system call reads it; 0 is the calling thread.
    answered(unsafe {
        libc::CPU_SET(core, cores.assume_init_mut());
        libc::sched_setaffinity(0, size, cores.as_ptr())
    })
}

/// Lets the calling thread run on the cores of the process's first thread, whatever the thread that
/// has started it is pinned to. Does nothing elsewhere than on Linux, where threads can be pinned.
#[allow(unsafe_code)]
pub(crate) fn unpin() {
    #[cfg(target_os = "linux")]
    {
        let size = size_of::<libc::cpu_set_t>();
        let mut cores = MaybeUninit::<libc::cpu_set_t>::zeroed();
        let first = std::process::id().cast_signed();
        // SAFETY: the call writes one set to where `cores` is.
        if unsafe { libc::sched_getaffinity(first, size, cores.as_mut_ptr()) } == 0 {
            // SAFETY: the call reads one set, which is made of numbers. Where it is refused, nobody
            // is pinned, either.
            unsafe { libc::sched_setaffinity(0, size, cores.as_ptr()) };
        }
    }
}

/// Has the system prefer other threads to the calling one, by so much of what `nice` counts.
///
/// # Errors
/// Returns the system's error.
#[cfg(target_os = "linux")]
#[allow(unsafe_code)]
pub fn give_way(by: i32) -> io::Result<()> {
    // SAFETY: the calls access no memory of this process; 0 is the calling thread.
    answered(unsafe {
        let now = libc::getpriority(libc::PRIO_PROCESS, 0);
        libc::setpriority(libc::PRIO_PROCESS, 0, now.saturating_add(by))
    })
}

/// Returns how many bytes of memory the process may lock, which is `None` if there is no limit.
#[cfg(target_os = "linux")]
#[allow(unsafe_code)]
#[must_use]
pub fn lock_limit() -> Option<u64> {
    let mut limit = MaybeUninit::<libc::rlimit>::zeroed();
    // SAFETY: the call writes one `rlimit` to where `limit` is.
    unsafe { libc::getrlimit(libc::RLIMIT_MEMLOCK, limit.as_mut_ptr()) };
    // SAFETY: it is made of numbers, for which zeros are valid, whether or not the call wrote.
    let limit = unsafe { limit.assume_init() }.rlim_cur;
    (limit != libc::RLIM_INFINITY).then_some(limit)
}

/// Locks the memory that the process has, and what it will have, page by page when it is first
/// used.
///
/// # Errors
/// Returns the system's error.
#[cfg(target_os = "linux")]
#[allow(unsafe_code)]
pub fn lock_memory() -> io::Result<()> {
    for flags in [libc::MCL_CURRENT, libc::MCL_FUTURE | libc::MCL_ONFAULT] {
        // SAFETY: the call changes where memory is, and nothing that is in it.
        answered(unsafe { libc::mlockall(flags) })?;
    }
    Ok(())
}

/// Returns the nanoseconds since the machine was started, including those in which it was
/// suspended.
#[cfg(target_os = "linux")]
#[allow(unsafe_code)]
#[must_use]
pub fn since_boot() -> u64 {
    let mut time = MaybeUninit::<libc::timespec>::zeroed();
    // SAFETY: the call writes one `timespec` to where `time` is. Every Linux has this clock.
    unsafe { libc::clock_gettime(libc::CLOCK_BOOTTIME, time.as_mut_ptr()) };
    // SAFETY: it is made of numbers, for which zeros are valid.
    let time = unsafe { time.assume_init() };
    // Neither is negative.
    time.tv_sec.unsigned_abs().saturating_mul(1_000_000_000) + time.tv_nsec.unsigned_abs()
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
