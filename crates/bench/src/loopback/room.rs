//! Whether there is room for a benchmark: file descriptors, and space for journals.

use fixbolt_journal::free_bytes;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// How many file descriptors a session needs: on both sides its journal's lock and head, a segment,
/// and a socket; and those of raw TCP.
const DESCRIPTORS: u64 = 10;
/// How many descriptors there are beside those of sessions, with those that an engine keeps free.
const OTHER_DESCRIPTORS: u64 = 128;
/// How many bytes an order or a report takes at least, in the journals of both sides together.
const JOURNALED: u64 = 2 * 300;

/// Checks whether the process may open as many files as this many sessions need. Raises that limit
/// if it may.
///
/// # Errors
/// Returns how many it may open, and how to change this.
pub(super) fn for_files(sessions: usize) -> Result<(), String> {
    let files = (sessions as u64).saturating_mul(DESCRIPTORS).saturating_add(OTHER_DESCRIPTORS);
    let limit = getrlimit(Resource::Nofile);
    let is_enough = |limit: Option<u64>| limit.is_none_or(|limit| limit >= files);
    if is_enough(limit.current) {
        return Ok(());
    }
    let raised = Rlimit { current: Some(files), ..limit };
    if is_enough(limit.maximum) && setrlimit(Resource::Nofile, raised).is_ok() {
        return Ok(());
    }
    let may = limit.maximum.or(limit.current).unwrap_or(0);
    Err(format!(
        "{sessions} sessions need {files} open files, and this process may have {may}: set the limit (ulimit -n {files}), or take fewer"
    ))
}

/// Checks whether there is space for the journals of this many orders and reports.
///
/// # Errors
/// Returns how much there is, and what to do.
pub(super) fn for_journals(messages: u64) -> Result<(), String> {
    let folder = std::env::temp_dir();
    // A folder that is missing is named when it is needed.
    let Ok(free) = free_bytes(&folder) else { return Ok(()) };
    let needed = messages.saturating_mul(JOURNALED);
    if free >= needed {
        return Ok(());
    }
    Err(format!(
        "the journals take {} MB, and {} has {} MB left: name another folder in TMPDIR, or measure less",
        needed.div_ceil(1_000_000),
        folder.display(),
        free / 1_000_000
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_there_is_no_room_for_is_named() {
        assert_eq!((for_files(1), for_journals(1)), (Ok(()), Ok(())));
        let error = for_journals(u64::MAX).unwrap_err();
        assert!(error.starts_with("the journals take ") && error.contains(" MB left: "), "{error}");
        if getrlimit(Resource::Nofile).maximum.is_some() {
            let error = for_files(usize::MAX).unwrap_err();
            assert!(error.contains(" open files, and this process may have "), "{error}");
        }
    }
}
