//! Time zones of the system's database, by name.

use std::error::Error;
use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use fixbolt_session::schedule::{InvalidZone, Zone};

/// Where systems have the database; the environment variable TZDIR comes first.
const DIRECTORIES: [&str; 3] = ["/usr/share/zoneinfo", "/usr/lib/zoneinfo", "/etc/zoneinfo"];
/// Where systems have the zone of the machine.
const LOCAL: &str = "/etc/localtime";
/// Names of UTC, which need no database.
const UTC: [&str; 5] = ["UTC", "Etc/UTC", "Z", "GMT", "Etc/GMT"];
/// The largest file that is read, in bytes. Those of the database have a few thousand.
const SIZE_MOST: u64 = 1 << 20;

/// Why there is no such time zone.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum TimeZoneError {
    /// The name cannot be one of the database.
    Name {
        /// The name.
        name: String,
    },
    /// The system has no time zone database.
    NoDatabase {
        /// The name that was looked for.
        name: String,
    },
    /// The database has none of this name.
    Unknown {
        /// The name.
        name: String,
        /// The directory of the database.
        directory: PathBuf,
    },
    /// The system refused to read the zone of this machine.
    Unreadable {
        /// Its file.
        file: &'static str,
        /// What kind of error the system returned.
        kind: io::ErrorKind,
        /// The system's reason.
        reason: String,
    },
    /// The zone's file in the database describes no time zone.
    Invalid {
        /// The name of the zone or file.
        name: String,
        /// What is wrong with it.
        error: InvalidZone,
    },
}

impl fmt::Display for TimeZoneError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name { name } => write!(f, "time zone {name}: a name such as Europe/London expected"),
            Self::NoDatabase { name } => write!(
                f,
                "time zone {name}: this system has no time zone database; install its package tzdata"
            ),
            Self::Unknown { name, directory } => {
                write!(f, "time zone {name}: there is none of this name in {}", directory.display())
            }
            Self::Unreadable { file, reason, .. } => write!(f, "time zone {file}: {reason}"),
            Self::Invalid { name, error } => write!(f, "time zone {name}: {error}"),
        }
    }
}

impl Error for TimeZoneError {}

/// Returns a time zone of the system's database by its name, such as `Europe/London`. UTC needs no
/// database.
///
/// The database is the directory that the environment variable TZDIR names, or one of the usual
/// ones, such as `/usr/share/zoneinfo`, which the package tzdata installs.
///
/// # Errors
/// Returns a [`TimeZoneError`] if the name is not in the database, or there is no database.
pub fn time_zone(name: &str) -> Result<Zone, TimeZoneError> {
    if UTC.iter().any(|utc| utc.eq_ignore_ascii_case(name)) {
        return Ok(Zone::utc());
    }
    let name = name.to_owned();
    // The name becomes a path inside the database.
    let allowed = |b: u8| b.is_ascii_alphanumeric() || b"_+-/".contains(&b);
    if name.is_empty() || name.starts_with('/') || !name.bytes().all(allowed) {
        return Err(TimeZoneError::Name { name });
    }
    let given = std::env::var_os("TZDIR").map(PathBuf::from);
    let mut directories =
        given.into_iter().chain(DIRECTORIES.map(PathBuf::from)).filter(|path| path.is_dir()).peekable();
    let Some(directory) = directories.peek().cloned() else {
        return Err(TimeZoneError::NoDatabase { name });
    };
    match directories.find_map(|directory| read(&directory.join(&name)).ok()) {
        Some(contents) => {
            Zone::from_tzif(&name, &contents).map_err(|error| TimeZoneError::Invalid { name, error })
        }
        None => Err(TimeZoneError::Unknown { name, directory }),
    }
}

/// Returns the time zone of this machine: that of the environment variable TZ if it names one, or
/// else of `/etc/localtime`; UTC if there is neither.
///
/// # Errors
/// Returns a [`TimeZoneError`] if TZ names no zone of the database, or the file cannot be read.
pub fn local_time_zone() -> Result<Zone, TimeZoneError> {
    if let Some(name) = std::env::var_os("TZ").filter(|name| !name.is_empty()) {
        let name = name.to_string_lossy();
        return time_zone(name.trim_start_matches(':'));
    }
    match read(Path::new(LOCAL)) {
        Ok(contents) => {
            // Usually a link into the database, whose name says more.
            let target = fs::canonicalize(LOCAL).unwrap_or_default();
            let target = target.to_string_lossy();
            let name = target.split_once("/zoneinfo/").map_or(LOCAL, |(_, name)| name);
            let invalid = |error| TimeZoneError::Invalid { name: LOCAL.to_owned(), error };
            Zone::from_tzif(name, &contents).map_err(invalid)
        }
        Err(missing) if missing.kind() == io::ErrorKind::NotFound => Ok(Zone::utc()),
        Err(error) => {
            let (kind, reason) = (error.kind(), error.to_string());
            Err(TimeZoneError::Unreadable { file: LOCAL, kind, reason })
        }
    }
}

fn read(path: &Path) -> io::Result<Vec<u8>> {
    let metadata = fs::metadata(path)?;
    if !metadata.is_file() || metadata.len() > SIZE_MOST {
        return Err(io::Error::other("not a file of the time zone database"));
    }
    fs::read(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn utc_needs_no_database_and_a_name_cannot_leave_it() {
        for name in UTC {
            assert_eq!(time_zone(name), Ok(Zone::utc()));
        }
        for name in ["", "/etc/passwd", "../../etc/passwd", "Europe/Lond on"] {
            let error = time_zone(name).unwrap_err();
            assert_eq!(error, TimeZoneError::Name { name: name.to_owned() });
        }
        // On a system with a database.
        let missing = time_zone("Europe/Nowhere").unwrap_err();
        assert!(
            matches!(missing, TimeZoneError::Unknown { .. } | TimeZoneError::NoDatabase { .. }),
            "{missing}"
        );
    }
}
