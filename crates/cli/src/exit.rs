//! How a command ends: its exit status, and the words that explain a failure.

use std::fmt;
use std::io;
use std::process::ExitCode;

use crate::options;

/// The result of a command that did what was asked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Answer {
    /// Yes, valid, answered: 0.
    Yes,
    /// No, invalid, rejected: 1.
    No,
}

/// Why a command could not do what was asked: a line that says what happened, where, and what to
/// do, or one for each thing that is wrong.
#[derive(Debug)]
pub struct Failure {
    status: u8,
    lines: Vec<String>,
}

impl Failure {
    /// Returns a failure for wrong usage, or for something that cannot be read or written: exit
    /// status 2.
    pub fn usage(line: impl Into<String>) -> Self {
        Self { status: 2, lines: vec![words(line.into())] }
    }

    /// Returns a failure for several things that are wrong, each of which is told by itself: exit
    /// status 2.
    pub fn each(lines: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self { status: 2, lines: lines.into_iter().map(|line| words(line.into())).collect() }
    }

    /// Returns a failure for a timeout, or a missing connection: exit status 3.
    pub fn connection(line: impl Into<String>) -> Self {
        Self { status: 3, lines: vec![words(line.into())] }
    }

    /// Returns whether it is a timeout, or a missing connection.
    pub fn is_connection(&self) -> bool {
        self.status == 3
    }

    /// Returns a failure for a command that a signal ended: exit status 130.
    pub fn interrupted(line: impl Into<String>) -> Self {
        Self { status: 130, lines: vec![line.into()] }
    }

    /// Returns a failure for a file that the system refused: exit status 2.
    pub fn file(doing: &str, path: &std::path::Path, error: &io::Error) -> Self {
        Self::usage(format!("cannot {doing} {}: {}", path.display(), reason(error)))
    }
}

/// Returns a line as a command says it.
fn words(line: String) -> String {
    options::named(&without_error_numbers(line)).into_owned()
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.lines.join("\n"))
    }
}

/// Writing the answer failed. If its reader has gone away, this is not a failure of the command;
/// one that answers with its exit status writes to [`verdict`](crate::output::verdict).
impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe {
            return Self { status: 0, lines: Vec::new() };
        }
        Self::usage(format!("cannot write the answer: {}", reason(&error)))
    }
}

/// Returns the system's message without its error number.
pub fn reason(error: &io::Error) -> String {
    without_error_numbers(error.to_string())
}

/// Returns a text without the system's error numbers, which add nothing to its words.
pub fn without_error_numbers(mut text: String) -> String {
    const BEGIN: &str = " (os error ";
    while let Some(begin) = text.find(BEGIN)
        && let Some(len) = text[begin..].find(')')
        && text[begin + BEGIN.len()..begin + len].bytes().all(|byte| byte.is_ascii_digit())
    {
        text.replace_range(begin..=begin + len, "");
    }
    text
}

/// Reports why a command failed, ends its log, and returns its exit status.
pub fn code(result: Result<Answer, Failure>) -> ExitCode {
    crate::log::last(result.as_ref().err().map_or(&[], |failure| &failure.lines));
    match result {
        Ok(Answer::Yes) => ExitCode::SUCCESS,
        Ok(Answer::No) => ExitCode::from(1),
        Err(failure) => ExitCode::from(failure.status),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn error_numbers_are_left_out_and_what_to_do_is_kept() {
        let shown = |text: &str| without_error_numbers(text.to_owned());
        assert_eq!(shown("in use (os error 98); choose another"), "in use; choose another");
        assert_eq!(shown("a: refused (os error 111)\nb: none (os error 2)"), "a: refused\nb: none");
        assert_eq!(shown("no number (os error"), "no number (os error");
    }
}
