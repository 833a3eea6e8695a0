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

/// What a journal has open that has grown: its directory, its head, the segment that it writes to,
/// and the next one.
const GROWN: usize = 4;

/// The file descriptors of the process.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Descriptors {
    /// How many it may have open (RLIMIT_NOFILE).
    pub(crate) limit: usize,
    /// How many more it may open.
    pub(crate) left: usize,
    /// Up to how many it may raise the limit.
    pub(crate) most: usize,
}

impl Descriptors {
    /// Returns how many are left alone while so many sessions are open.
    pub(crate) fn reserve(self, sessions: usize) -> usize {
        reserve(sessions).min(self.limit / 2)
    }
}

/// Returns how many descriptors are to be left alone for so many sessions, whatever the limit is.
const fn reserve(sessions: usize) -> usize {
    RESERVED + sessions / SESSIONS_PER_DESCRIPTOR
}

/// What an engine has open.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Opened {
    pub(crate) sessions: usize,
    pub(crate) journals: usize,
    /// What the journals have open at the start.
    pub(crate) of_journals: usize,
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
        let Self { sessions, journals, of_journals, ports, workers } = self;
        let Descriptors { limit, left, most } = descriptors;
        // A worker polls and is woken, and so are signals.
        let others = ports + 2 * workers + 2;
        let start = of_journals + others;
        let all = GROWN * journals + others + sessions + reserve(sessions);
        let open = limit.saturating_sub(left);
        let raise = open + all;
        let what_to_do = format!(
            "raise the limit to {raise} or more (`ulimit -n`, LimitNOFILE= in systemd; `fixbolt serve` raises its own as far as it may)"
        );
        if most.saturating_sub(open) < start {
            Err(TooFew::ToStart(format!(
                "the process may open {left} more files, and the start needs {start}, {of_journals} of them for the journals: {what_to_do}"
            )))
        } else if left < all {
            Err(TooFew::ToConnect(format!(
                "the process may open {left} more files, which is too few for {sessions} sessions that are connected, with the {all} files that they have then: {what_to_do}"
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
        Ok(known) => {
            known.map(|((limit, most), open)| Descriptors { limit, left: limit.saturating_sub(open), most })
        }
        Err(error) => are_used_up(&error).then_some(Descriptors { limit: 0, left: 0, most: 0 }),
    }
}

/// Returns how many descriptors the process may have open, and up to how many it may raise that.
fn limit() -> io::Result<Option<(usize, usize)>> {
    Ok(limit_in(&fs::read_to_string("/proc/self/limits")?))
}

fn limit_in(limits: &str) -> Option<(usize, usize)> {
    let line = limits.lines().find_map(|line| line.strip_prefix("Max open files"))?;
    let mut words = line.split_ascii_whitespace();
    let mut next = || match words.next()? {
        "unlimited" => Some(usize::MAX),
        number => number.parse().ok(),
    };
    Some((next()?, next()?))
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
        let opened = Opened { sessions: 60, journals: 60, of_journals: 130, ports: 1, workers: 1 };
        let left = |left, most| opened.fits(Descriptors { limit: left + 4, left, most });
        let raise = "raise the limit to 340 or more (`ulimit -n`, ";
        let few =
            "the process may open 134 more files, and the start needs 135, 130 of them for the journals";
        let said = |found: Result<(), TooFew>| match found {
            Err(TooFew::ToStart(said)) => format!("start: {said}"),
            Err(TooFew::ToConnect(said)) => format!("connect: {said}"),
            Ok(()) => String::new(),
        };
        assert!(
            said(left(134, 138)).starts_with(&format!("start: {few}: {raise}")),
            "{}",
            said(left(134, 138))
        );
        // A process that may raise its limit can start.
        for too_few in [left(134, 139), left(135, 139), left(335, 339)] {
            assert!(said(too_few).contains(&format!("with the 336 files that they have then: {raise}")));
        }
        assert_eq!(left(336, 340), Ok(()));
    }

    #[test]
    fn the_soft_limit_is_read() {
        let limits = "Limit                     Soft Limit           Hard Limit           Units\n\
                      Max core file size        0                    unlimited            bytes\n\
                      Max open files            1024                 524288               files\n";
        assert_eq!(limit_in(limits), Some((1024, 524_288)));
        assert_eq!(limit_in(&limits.replace("1024", "unlimited")), Some((usize::MAX, 524_288)));
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
        let Descriptors { limit, left, .. } = look().unwrap();
        assert!(0 < left && left < limit);
    }
}
