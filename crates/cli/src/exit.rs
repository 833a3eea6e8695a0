//! How a command ends: its exit status, and the one line that says why.

use std::fmt;
use std::io;
use std::process::ExitCode;

/// How a command ended that did what it was asked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Answer {
    /// Yes, valid, answered: 0.
    Yes,
    /// No, invalid, rejected: 1.
    No,
}

/// Why a command could not do what it was asked: one line that says what, where and what to do.
#[derive(Debug)]
pub(crate) struct Failure {
    status: u8,
    line: String,
}

impl Failure {
    /// Wrong usage, or something cannot be read or written: exit status 2.
    pub(crate) fn usage(line: impl Into<String>) -> Self {
        Self { status: 2, line: line.into() }
    }

    /// A time-out, or no connection: exit status 3.
    pub(crate) fn connection(line: impl Into<String>) -> Self {
        Self { status: 3, line: line.into() }
    }

    /// A signal ended it: exit status 130.
    pub(crate) fn interrupted(line: impl Into<String>) -> Self {
        Self { status: 130, line: line.into() }
    }

    /// The system refused a file: exit status 2.
    pub(crate) fn file(doing: &str, path: &std::path::Path, error: &io::Error) -> Self {
        Self::usage(format!("cannot {doing} {}: {}", path.display(), reason(error)))
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.line)
    }
}

/// Writing the answer failed. Nobody reads it any more: no failure of the command's.
impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe {
            return Self { status: 0, line: String::new() };
        }
        Self::usage(format!("cannot write the answer: {}", reason(&error)))
    }
}

/// The system's reason without its error number.
pub(crate) fn reason(error: &io::Error) -> String {
    let text = error.to_string();
    match text.split_once(" (os error") {
        Some((words, _)) => words.to_owned(),
        None => text,
    }
}

/// Tells why a command failed, and gives its exit status.
pub(crate) fn code(result: Result<Answer, Failure>) -> ExitCode {
    match result {
        Ok(Answer::Yes) => ExitCode::SUCCESS,
        Ok(Answer::No) => ExitCode::from(1),
        Err(failure) => {
            if !failure.line.is_empty() {
                note!("fixbolt: {failure}");
            }
            ExitCode::from(failure.status)
        }
    }
}
