//! The log of a side, in the form of the published one:
//! `0000003 A 2013-05-03 20:15:00.855875931 Encode: ...`.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use fixbolt_cli::exit::Failure;
use fixbolt_codec::{Precision, UtcTimestamp};

/// Where a line comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum From {
    /// The command.
    Command,
    /// The session's thread.
    Session,
}

/// A log.
#[derive(Debug)]
pub(super) struct LineLog {
    file: Option<File>,
    /// Whether lines are displayed although there is a file.
    shown: bool,
    lines: u64,
}

impl LineLog {
    /// Creates a log that is appended to a file, or displayed without one. With `shown` it is
    /// displayed in any case.
    pub(super) fn new(path: Option<&Path>, shown: bool) -> Result<Self, Failure> {
        let open = |path: &Path| {
            let file = OpenOptions::new().create(true).append(true).open(path);
            file.map_err(|error| Failure::file("write", path, &error))
        };
        Ok(Self { file: path.map(open).transpose()?, shown, lines: 0 })
    }

    /// Adds a line.
    pub(super) fn line(&mut self, from: From, text: &str) -> Result<(), Failure> {
        self.lines += 1;
        let letter = if from == From::Command { 'A' } else { 'B' };
        let line = format!("{:07} {letter} {} {text}\n", self.lines, now());
        if let Some(file) = &mut self.file {
            file.write_all(line.as_bytes())?;
        }
        if self.shown || self.file.is_none() {
            let mut out = std::io::stdout();
            out.write_all(line.as_bytes())?;
            out.flush()?;
        }
        Ok(())
    }
}

/// Returns the time as `2013-05-03 20:15:00.855875931`.
fn now() -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let nanos = u64::try_from(now.as_nanos()).unwrap_or(0);
    form(&UtcTimestamp::from_unix_nanos(nanos, Precision::Nanos).to_string())
}

/// Returns a UTCTimestamp with hyphens in its date and a space after it.
fn form(time: &str) -> String {
    match (time.get(..4), time.get(4..6), time.get(6..8), time.get(9..)) {
        (Some(year), Some(month), Some(day), Some(time)) => format!("{year}-{month}-{day} {time}"),
        _ => time.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_is_written_as_in_the_published_log() {
        assert_eq!(form("20130503-20:15:00.855875931"), "2013-05-03 20:15:00.855875931");
        assert_eq!(now().len(), "2013-05-03 20:15:00.855875931".len());
    }
}
