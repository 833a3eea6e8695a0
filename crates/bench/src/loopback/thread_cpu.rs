//! The CPU time of single threads of this process, as Linux tells it.

use std::fs;
use std::time::Duration;

/// The threads of all journals of the process.
const JOURNALS: [&str; 4] = ["fixbolt-store", "fixbolt-sync", "fixbolt-history", "fixbolt-files"];

/// Returns the number of the calling thread, by which [`of`] finds it.
pub(super) fn this() -> u64 {
    #[cfg(target_os = "linux")]
    return u64::from(rustix::thread::gettid().as_raw_nonzero().get().unsigned_abs());
    #[cfg(not(target_os = "linux"))]
    return 0;
}

/// Returns what a thread has used; `None` where the system does not say.
pub(super) fn of(thread: u64) -> Option<Duration> {
    let times = fs::read_to_string(format!("/proc/self/task/{thread}/schedstat")).ok()?;
    Some(Duration::from_nanos(times.split(' ').next()?.parse().ok()?))
}

/// Returns what the threads of the journals have used together.
pub(super) fn of_journals() -> Duration {
    let tasks = fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    let time = |task: fs::DirEntry| {
        let name = fs::read_to_string(task.path().join("comm")).ok()?;
        JOURNALS.contains(&name.trim_end()).then(|| task.file_name().to_str()?.parse().ok().and_then(of))?
    };
    tasks.filter_map(time).sum()
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn a_thread_has_used_what_its_clock_says() {
        let used = || of(this()).unwrap();
        let before = used();
        while used() < before + Duration::from_millis(20) {}
        assert!(fixbolt_workloads::clock::thread_time() >= Duration::from_millis(20));
        assert_eq!(of(u64::MAX), None);
    }
}
