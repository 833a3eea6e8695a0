//! Memory that is there when it is needed: locked, so that the system does not take it away, and
//! touched, so that no first use of a page waits for the system.
//!
//! What exists at the start is locked and read in as a whole. What is mapped later is locked page
//! by page, when a page is first used: the segments of journals are larger than what their sessions
//! use of them. So the engine touches what it allocates for a session itself; the journal's own
//! thread makes its next pages ready anyway.

use core::hint::black_box;
use core::sync::atomic::{AtomicBool, Ordering};
use std::io;

/// The smallest pages that a system has.
const PAGE: usize = 4096;
/// The part of a worker's stack that is touched: more than the engine uses of it.
const STACK: usize = 128 * 1024;

/// Whether [`lock`] has succeeded in this process.
static LOCKED: AtomicBool = AtomicBool::new(false);

/// Returns whether the process's memory is locked.
pub(crate) fn is_locked() -> bool {
    LOCKED.load(Ordering::Relaxed)
}

/// Locks the memory of the process, unless that was done already; the error says what is missing,
/// and what to do.
pub(crate) fn lock() -> io::Result<()> {
    if !is_locked() {
        lock_all()?;
        LOCKED.store(true, Ordering::Relaxed);
    }
    Ok(())
}

#[cfg(target_os = "linux")]
const WHAT_TO_DO: &str = "raise the limit (`ulimit -l unlimited`, or LimitMEMLOCK=infinity in systemd), or give the process CAP_IPC_LOCK";

/// Checks whether the process may lock its memory; the error says what is missing, and what to do.
#[cfg(target_os = "linux")]
pub(crate) fn may_lock() -> io::Result<()> {
    if let Some(limit) = fixbolt_journal::lock_limit()
        && !has_no_limit()
    {
        // Any limit counts address space, of which an allocator takes much more than it uses: later
        // allocations would fail, and end the process.
        let reason = format!(
            "the process may lock {limit} bytes (RLIMIT_MEMLOCK), and allocations beyond that would fail; {WHAT_TO_DO}"
        );
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, reason));
    }
    Ok(())
}

/// Returns whether the calling thread has the capability CAP_IPC_LOCK, with which no limit counts.
#[cfg(target_os = "linux")]
fn has_no_limit() -> bool {
    const CAP_IPC_LOCK: u64 = 1 << 14;
    let status = std::fs::read_to_string("/proc/thread-self/status").unwrap_or_default();
    let effective = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
    let effective = effective.and_then(|bits| u64::from_str_radix(bits.trim(), 16).ok());
    effective.is_some_and(|bits| bits & CAP_IPC_LOCK != 0)
}

#[cfg(target_os = "linux")]
fn lock_all() -> io::Result<()> {
    may_lock()?;
    fixbolt_journal::lock_memory()
        .map_err(|error| io::Error::new(error.kind(), format!("mlockall: {error}; {WHAT_TO_DO}")))
}

/// Returns an error: memory can be locked on Linux only.
#[cfg(not(target_os = "linux"))]
pub(crate) fn may_lock() -> io::Result<()> {
    Err(io::Error::new(io::ErrorKind::Unsupported, "memory can be locked on Linux only; leave it out"))
}

#[cfg(not(target_os = "linux"))]
fn lock_all() -> io::Result<()> {
    may_lock()
}

/// Writes to every page of `bytes`, without changing them.
pub(crate) fn touch(bytes: &mut [u8]) {
    for byte in bytes.iter_mut().step_by(PAGE) {
        *byte = black_box(*byte);
    }
}

/// Writes to the part of the calling thread's stack that a worker uses.
#[inline(never)]
pub(crate) fn touch_stack() {
    let mut bytes = [0; STACK];
    touch(black_box(&mut bytes));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_touched_stays_as_it_is() {
        let mut bytes: Vec<u8> = (0..3 * PAGE + 5).map(|n| (n % 251) as u8).collect();
        let before = bytes.clone();
        touch(&mut bytes);
        touch(&mut []);
        touch_stack();
        assert_eq!(bytes, before);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_process_with_a_limit_is_told_what_to_raise() {
        use rustix::process::{Resource, getrlimit};
        use rustix::thread::{CapabilitySet, capabilities, set_capabilities};
        let Some(limit) = getrlimit(Resource::Memlock).current else {
            eprintln!("not tested: this process may lock as much memory as it likes (`ulimit -l`)");
            return;
        };
        // Capabilities belong to a thread.
        let unprivileged = || {
            let mut sets = capabilities(None).unwrap();
            sets.effective.remove(CapabilitySet::IPC_LOCK);
            set_capabilities(None, sets).unwrap();
            lock_all().unwrap_err().to_string()
        };
        let refused = std::thread::scope(|s| s.spawn(unprivileged).join().unwrap());
        assert_eq!(
            refused,
            format!(
                "the process may lock {limit} bytes (RLIMIT_MEMLOCK), and allocations beyond that would fail; raise the limit (`ulimit -l unlimited`, or LimitMEMLOCK=infinity in systemd), or give the process CAP_IPC_LOCK"
            )
        );
    }
}
