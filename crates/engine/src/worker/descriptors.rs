//! How many file descriptors the process may still open, as far as the system says.
//!
//! The standard library does not ask for RLIMIT_NOFILE, and a crate that does is not worth its
//! compile time: Linux also has it as text.

use std::fs;
use std::io;

use super::admission::Descriptors;

/// The errors of a system call that needs a descriptor and gets none: EMFILE of the process, ENFILE
/// of the system.
const NONE_LEFT: [i32; 2] = [24, 23];

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
