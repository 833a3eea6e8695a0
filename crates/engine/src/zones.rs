//! Time zones of the system's database, by name.

use std::error::Error;
use std::fmt;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use fixbolt_session::schedule::Zone;

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
pub struct TimeZoneError {
    name: String,
    reason: String,
}

impl fmt::Display for TimeZoneError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "time zone {}: {}", self.name, self.reason)
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
    let error = |reason: String| TimeZoneError { name: name.to_owned(), reason };
    // The name becomes a path inside the database.
    let allowed = |b: u8| b.is_ascii_alphanumeric() || b"_+-/".contains(&b);
    if name.is_empty() || name.starts_with('/') || !name.bytes().all(allowed) {
        return Err(error("a name such as Europe/London expected".to_owned()));
    }
    let given = std::env::var_os("TZDIR").map(PathBuf::from);
    let directories: Vec<PathBuf> =
        given.into_iter().chain(DIRECTORIES.map(PathBuf::from)).filter(|path| path.is_dir()).collect();
    if directories.is_empty() {
        return Err(error("this system has no time zone database; install its package tzdata".to_owned()));
    }
    for directory in &directories {
        match read(&directory.join(name)) {
            Ok(contents) => {
                return Zone::from_tzif(name, &contents).map_err(|invalid| error(invalid.to_string()));
            }
            Err(_) => continue,
        }
    }
    Err(error(format!("there is none of this name in {}", directories[0].display())))
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
    let error = |reason: String| TimeZoneError { name: LOCAL.to_owned(), reason };
    match read(Path::new(LOCAL)) {
        Ok(contents) => {
            // Usually a link into the database, whose name says more.
            let target = fs::canonicalize(LOCAL).unwrap_or_default();
            let target = target.to_string_lossy();
            let name = target.split_once("/zoneinfo/").map_or(LOCAL, |(_, name)| name);
            Zone::from_tzif(name, &contents).map_err(|invalid| error(invalid.to_string()))
        }
        Err(missing) if missing.kind() == io::ErrorKind::NotFound => Ok(Zone::utc()),
        Err(other) => Err(error(other.to_string())),
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
        for name in ["", "/etc/passwd", "../../etc/passwd", "Europe/Lond on", "Europe/Nowhere"] {
            assert!(time_zone(name).is_err(), "{name}");
        }
    }
}
