//! What a process uses, as the kernel counts it.

use std::time::{Duration, Instant};

/// A process that is measured from outside.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Process(pub(crate) u32);

impl Process {
    fn read(self, file: &str) -> String {
        std::fs::read_to_string(format!("/proc/{}/{file}", self.0)).unwrap_or_default()
    }

    fn status(self, name: &str) -> u64 {
        let status = self.read("status");
        let line = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
        let kib = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
        kib.unwrap_or(0) * 1024
    }

    /// Returns the memory in use, in bytes; zero once it has ended.
    pub(crate) fn memory(self) -> u64 {
        self.status("VmRSS")
    }

    /// Returns the memory in use that is no part of a file, in bytes.
    pub(crate) fn private_memory(self) -> u64 {
        self.status("RssAnon")
    }

    /// Returns the most memory that was ever in use, in bytes.
    pub(crate) fn peak(self) -> u64 {
        self.status("VmHWM")
    }

    /// Returns the number of open descriptors.
    pub(crate) fn descriptors(self) -> usize {
        std::fs::read_dir(format!("/proc/{}/fd", self.0)).map_or(0, Iterator::count)
    }

    /// Whether it runs.
    pub(crate) fn is_running(self) -> bool {
        let stat = self.read("stat");
        stat.rsplit(')').next().is_some_and(|rest| !rest.is_empty() && !rest.starts_with(" Z"))
    }
}

/// Asks until there is an answer. Asks often: how long it takes is not judged, only that it comes.
///
/// # Panics
///
/// If none comes within `seconds`.
pub(crate) fn wait_for<T>(what: &str, seconds: u64, mut ask: impl FnMut() -> Option<T>) -> T {
    let deadline = Instant::now() + Duration::from_secs(seconds);
    loop {
        if let Some(answer) = ask() {
            return answer;
        }
        assert!(Instant::now() < deadline, "within {seconds} s: {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn this_process_is_measured() {
    let own = Process(std::process::id());
    assert!(own.is_running() && own.memory() > 0 && own.peak() >= own.memory());
    assert!(own.descriptors() >= 3);
}
