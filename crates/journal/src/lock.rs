//! The exclusive lock on a session's directory: a single writer in all processes.
//!
//! The system releases the lock when the process ends, however it ends, so that a left-over lock
//! file means nothing. Tools that only read take no lock. The file says who holds the lock and how
//! often it was taken (a fencing epoch for replicated stores).

use std::fs::{File, TryLockError};
use std::io::{self, Read};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use fixbolt_session::Utc;
use fixbolt_session::store::StoreError;

use crate::backend::failed;

/// A held lock, which is released when dropped.
#[derive(Debug)]
pub(crate) struct Lock {
    file: File,
    path: PathBuf,
}

impl Lock {
    /// Takes the lock of `directory`, which must exist.
    pub(crate) fn take(directory: &Path) -> Result<Self, StoreError> {
        let path = directory.join("lock");
        loop {
            let file = File::options()
                .read(true)
                .write(true)
                .create(true)
                .truncate(false)
                .open(&path)
                .map_err(|e| failed("opening", &path, &e))?;
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => {
                    return Err(StoreError::Locked {
                        place: directory.display().to_string(),
                        holder: holder(directory).unwrap_or_else(|| "an unknown process".to_owned()),
                    });
                }
                Err(TryLockError::Error(error)) => return Err(failed("locking", &path, &error)),
            }
            let lock = Self { file, path: path.clone() };
            // If the file was removed between opening and locking, the lock protects nothing.
            if lock.in_place().is_ok() {
                lock.sign().map_err(|e| failed("writing", &path, &e))?;
                return Ok(lock);
            }
        }
    }

    /// Returns whether the lock file is still where it was taken.
    pub(crate) fn in_place(&self) -> io::Result<()> {
        let (ours, there) = (self.file.metadata()?, std::fs::symlink_metadata(&self.path)?);
        if (ours.dev(), ours.ino()) == (there.dev(), there.ino()) {
            Ok(())
        } else {
            Err(io::Error::new(io::ErrorKind::NotFound, "another file has taken its place"))
        }
    }

    /// Returns another handle on the same lock file, for watching it. The lock itself stays with
    /// `self`.
    pub(crate) fn watch(&self) -> io::Result<LockWatch> {
        let metadata = self.file.metadata()?;
        Ok(LockWatch { path: self.path.clone(), device: metadata.dev(), inode: metadata.ino() })
    }

    fn sign(&self) -> io::Result<()> {
        let mut before = String::new();
        (&self.file).take(4096).read_to_string(&mut before).unwrap_or_default();
        let epoch = field(&before, "epoch").and_then(|e| e.parse::<u64>().ok()).unwrap_or(0);
        let text = format!(
            "host={} pid={} start={} epoch={}\n",
            host_name(),
            std::process::id(),
            text_of(now()),
            epoch + 1
        );
        self.file.write_all_at(text.as_bytes(), 0)?;
        self.file.set_len(text.len() as u64)
    }
}

/// Checks whether a lock file is still in its place, without holding the lock.
pub(crate) struct LockWatch {
    path: PathBuf,
    device: u64,
    inode: u64,
}

impl LockWatch {
    /// Returns an error if the file or its directory is gone or replaced.
    pub(crate) fn in_place(&self) -> Result<(), StoreError> {
        let looked =
            std::fs::symlink_metadata(&self.path).map_err(|e| failed("looking for", &self.path, &e))?;
        if (looked.dev(), looked.ino()) == (self.device, self.inode) {
            Ok(())
        } else {
            Err(StoreError::Io {
                doing: format!("looking for {}", self.path.display()),
                reason: "another file has taken its place".to_owned(),
            })
        }
    }
}

/// Returns the name of this host, for people to read.
fn host_name() -> String {
    let name = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    match name.trim() {
        "" => "unknown".to_owned(),
        name => name.replace(char::is_whitespace, "_"),
    }
}

/// Returns who last took the lock of `directory`, as text.
pub(crate) fn holder(directory: &Path) -> Option<String> {
    let text = std::fs::read_to_string(directory.join("lock")).ok()?;
    Some(format!(
        "process {} on {} since {}",
        field(&text, "pid")?,
        field(&text, "host")?,
        field(&text, "start")?
    ))
}

fn field<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    text.split_whitespace().find_map(|word| word.strip_prefix(name)?.strip_prefix('='))
}

/// Returns the time of the system's clock.
pub(crate) fn now() -> Utc {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Utc(u64::try_from(since.as_nanos()).unwrap_or(u64::MAX))
}

/// Returns the time as `2026-11-21T20:45:00Z`.
pub(crate) fn text_of(time: Utc) -> String {
    let seconds = time.0 / 1_000_000_000;
    let (days, rest) = ((seconds / 86_400) as i64, seconds % 86_400);
    // Civil date from days since 1970-01-01 (proleptic Gregorian calendar, years counted from
    // March).
    let shifted = days + 719_468;
    let era = shifted.div_euclid(146_097);
    let day_of_era = shifted.rem_euclid(146_097);
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    format!("{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}Z", rest / 3600, rest / 60 % 60, rest % 60)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::TempDir;

    #[test]
    fn a_second_holder_is_refused_with_the_first_ones_name_and_a_third_comes_after_it() {
        let dir = TempDir::new("lock");
        let first = Lock::take(dir.path()).unwrap();
        let Err(StoreError::Locked { holder, .. }) = Lock::take(dir.path()) else { panic!("not refused") };
        assert!(holder.contains(&format!("process {} on ", std::process::id())), "{holder}");
        drop(first);
        let third = Lock::take(dir.path()).unwrap();
        assert!(std::fs::read_to_string(dir.path().join("lock")).unwrap().ends_with("epoch=2\n"));
        std::fs::remove_file(dir.path().join("lock")).unwrap();
        assert!(third.in_place().is_err());
        assert!(third.watch().unwrap().in_place().is_err());
    }

    #[test]
    fn times_are_written_as_the_calendar_has_them() {
        assert_eq!(text_of(Utc(0)), "1970-01-01T00:00:00Z");
        assert_eq!(text_of(Utc(951_782_400_000_000_000)), "2000-02-29T00:00:00Z");
        assert_eq!(text_of(Utc(1_795_297_199_999_999_999)), "2026-11-21T21:39:59Z");
    }
}
