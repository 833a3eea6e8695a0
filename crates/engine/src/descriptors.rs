//! How many file descriptors the process may still open, as far as the system says.
//!
//! The standard library does not ask for RLIMIT_NOFILE, and a crate that does is not worth its
//! compile time: Linux also has it as text.

use std::fs;
use std::io;

/// The errors of a system call that needs a descriptor and gets none: EMFILE of the process, ENFILE
/// of the system.
const NONE_LEFT: [i32; 2] = [24, 23];

/// The file descriptors that are left alone besides those for sessions: what a journal, the log or
/// the application may need at any time.
const RESERVED: usize = 16;
/// One more descriptor is left alone for each group of this many sessions: their journals begin
/// segments, and their stores are opened again after a failure.
const SESSIONS_PER_DESCRIPTOR: usize = 4;

/// The file descriptors of the process.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Descriptors {
    /// How many it may have open (RLIMIT_NOFILE).
    pub(crate) limit: usize,
    /// How many more it may open.
    pub(crate) left: usize,
}

impl Descriptors {
    /// Returns how many are left alone while so many sessions are open.
    pub(crate) fn reserve(self, sessions: usize) -> usize {
        (RESERVED + sessions / SESSIONS_PER_DESCRIPTOR).min(self.limit / 2)
    }
}

/// What an engine has open.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Opened {
    pub(crate) sessions: usize,
    pub(crate) journals: usize,
    pub(crate) ports: usize,
    pub(crate) workers: usize,
}

/// Of descriptors that do not suffice.
#[derive(PartialEq, Eq, Debug)]
pub(crate) enum TooFew {
    /// The engine cannot start.
    ToStart(String),
    /// It can, and not all sessions can be connected.
    ToConnect(String),
}

impl Opened {
    /// Returns what is wrong if these descriptors do not suffice.
    pub(crate) fn fits(self, descriptors: Descriptors) -> Result<(), TooFew> {
        let Self { sessions, journals, ports, workers } = self;
        let Descriptors { limit, left } = descriptors;
        // A journal has its directory and its head; a worker polls and is woken; so are signals.
        let start = 2 * journals + ports + 2 * workers + 2;
        let all = start + sessions + RESERVED + sessions / SESSIONS_PER_DESCRIPTOR;
        let raise = limit.saturating_sub(left) + all;
        let what_to_do =
            format!("raise the limit to {raise} or more (`ulimit -n`, or LimitNOFILE= in systemd)");
        if left < start {
            Err(TooFew::ToStart(format!(
                "the process may open {left} more files, and the start needs {start}, 2 for each journal: {what_to_do}"
            )))
        } else if left < all {
            Err(TooFew::ToConnect(format!(
                "the process may open {left} more files, which is too few to have all {sessions} sessions connected: {what_to_do}"
            )))
        } else {
            Ok(())
        }
    }
}

/// Returns whether the system had no file descriptor to give.
pub(crate) fn are_used_up(error: &io::Error) -> bool {
    error.raw_os_error().is_some_and(|code| NONE_LEFT.contains(&code))
}

/// Returns the limit, and what is left of it; `None` if the system does not say.
pub(crate) fn look() -> Option<Descriptors> {
    match limit().and_then(|limit| Ok(limit.zip(open()?))) {
        Ok(known) => known.map(|(limit, open)| Descriptors { limit, left: limit.saturating_sub(open) }),
        Err(error) => are_used_up(&error).then_some(Descriptors { limit: 0, left: 0 }),
    }
}

/// Returns how many descriptors the process may have open.
fn limit() -> io::Result<Option<usize>> {
    Ok(limit_in(&fs::read_to_string("/proc/self/limits")?))
}

fn limit_in(limits: &str) -> Option<usize> {
    let line = limits.lines().find_map(|line| line.strip_prefix("Max open files"))?;
    let soft = line.split_ascii_whitespace().next()?;
    if soft == "unlimited" { Some(usize::MAX) } else { soft.parse().ok() }
}

/// Returns how many descriptors the process has open.
fn open() -> io::Result<Option<usize>> {
    // Since Linux 6.2 this is their number; before, it was 0.
    match fs::metadata("/proc/self/fd")?.len() {
        0 => Ok(Some(fs::read_dir("/proc/self/fd")?.count().saturating_sub(1))),
        open => Ok(usize::try_from(open).ok()),
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    #[test]
    fn what_an_engine_opens_is_compared_with_what_the_process_may_open() {
        let opened = Opened { sessions: 60, journals: 60, ports: 1, workers: 1 };
        let left = |left| opened.fits(Descriptors { limit: left + 4, left });
        let raise = "raise the limit to 220 or more (`ulimit -n`, or LimitNOFILE= in systemd)";
        let few = "the process may open 124 more files, and the start needs 125, 2 for each journal";
        assert_eq!(left(124), Err(TooFew::ToStart(format!("{few}: {raise}"))));
        assert!(matches!(left(125), Err(TooFew::ToConnect(said)) if said.ends_with(raise)));
        assert!(matches!(left(215), Err(TooFew::ToConnect(_))));
        assert_eq!(left(216), Ok(()));
    }

    #[test]
    fn the_soft_limit_is_read() {
        let limits = "Limit                     Soft Limit           Hard Limit           Units\n\
                      Max core file size        0                    unlimited            bytes\n\
                      Max open files            1024                 524288               files\n";
        assert_eq!(limit_in(limits), Some(1024));
        assert_eq!(limit_in(&limits.replace("1024", "unlimited")), Some(usize::MAX));
        assert_eq!(limit_in(""), None);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn an_open_file_is_counted() {
        let here = || {
            let files = fs::read_dir("/proc/self/fd").unwrap().count() - 1;
            open().unwrap().unwrap().abs_diff(files)
        };
        // Other tests of the process open files meanwhile.
        let give_up = Instant::now() + Duration::from_secs(20);
        while here() != 0 {
            assert!(Instant::now() < give_up, "another number of open files");
            std::thread::sleep(Duration::from_millis(1));
        }
        let Descriptors { limit, left } = look().unwrap();
        assert!(0 < left && left < limit);
    }
}
