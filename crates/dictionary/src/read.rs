//! What a reader reports about a source: errors, which refuse it, and warnings, which do not.

use std::borrow::Cow;
use std::fmt;

use crate::limits;

/// Why a source is refused: the line, the element, and what is wrong with it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReadError {
    /// Line in the source, from 1.
    pub line: u32,
    /// The element, for example `field 'Symbol' in message 'NewOrderSingle'`.
    pub element: String,
    /// What is wrong.
    pub reason: String,
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}: {}", self.line, self.element, self.reason)
    }
}

impl std::error::Error for ReadError {}

/// An oddity in a source that was read nevertheless.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Warning {
    /// Line in the source, from 1.
    pub line: u32,
    /// The element.
    pub element: String,
    /// What is odd and how it was read.
    pub reason: String,
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}: {}", self.line, self.element, self.reason)
    }
}

/// Everything that is wrong with a source: the first errors, and how many there are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Faults {
    pub(crate) first: Vec<ReadError>,
    pub(crate) count: usize,
}

impl Faults {
    /// Creates the only fault, which concerns the source as a whole.
    pub(crate) fn of_document(reason: impl Into<String>) -> Faults {
        Faults::one(ReadError { line: 1, element: "document".to_string(), reason: reason.into() })
    }

    pub(crate) fn one(error: ReadError) -> Faults {
        Faults { first: vec![error], count: 1 }
    }

    /// Returns the errors that were kept, in the order in which they were found: at least one, at
    /// most 1,000.
    pub fn first(&self) -> &[ReadError] {
        &self.first
    }

    /// Returns the number of all errors.
    pub fn count(&self) -> usize {
        self.count
    }
}

impl fmt::Display for Faults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(first) = self.first.first() {
            write!(f, "{first}")?;
        }
        match self.count {
            0 | 1 => Ok(()),
            more => write!(f, " (and {} more)", more - 1),
        }
    }
}

impl std::error::Error for Faults {}

/// Returns a name for messages, which may quote it many times: a long one is cut.
pub(crate) fn brief(name: &str) -> Cow<'_, str> {
    match name.char_indices().nth(NAME_LENGTH) {
        Some((end, _)) => Cow::Owned(format!("{}...", &name[..end])),
        None => Cow::Borrowed(name),
    }
}

/// Returns why the second of two fields with the same tag is not read.
pub(crate) fn tag_again(tag: u32, name: &str, first: &str) -> String {
    format!("tag {tag} again: '{}' is hidden by '{}' before it", brief(name), brief(first))
}

/// Characters of a name in messages. No name of a published file is as long.
const NAME_LENGTH: usize = 100;

/// A place in a text: a line, or a byte whose line is looked up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Spot {
    Line(u32),
    Byte(usize),
}

impl From<u32> for Spot {
    fn from(line: u32) -> Spot {
        Spot::Line(line)
    }
}

/// Where the lines of a text begin, so that finding the line of a byte does not count them again.
#[derive(Debug, Clone, Default)]
pub(crate) struct Lines {
    starts: Vec<usize>,
}

impl Lines {
    pub(crate) fn of(text: &str) -> Lines {
        let ends = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at + 1);
        Lines { starts: std::iter::once(0).chain(ends).collect() }
    }

    /// Returns the line of a place, from 1.
    pub(crate) fn line(&self, spot: Spot) -> u32 {
        match spot {
            Spot::Line(line) => line,
            Spot::Byte(at) => self.starts.partition_point(|start| *start <= at).max(1) as u32,
        }
    }
}

/// Collects errors and warnings, so that one run reports everything.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    lines: Lines,
    errors: Vec<ReadError>,
    error_count: usize,
    warnings: Vec<Warning>,
    warning_count: usize,
}

impl Findings {
    /// Creates an empty collection for a text, whose bytes the places are.
    pub(crate) fn in_text(text: &str) -> Findings {
        Findings { lines: Lines::of(text), ..Findings::default() }
    }

    pub(crate) fn line(&self, spot: Spot) -> u32 {
        self.lines.line(spot)
    }

    pub(crate) fn error(
        &mut self,
        at: impl Into<Spot>,
        element: impl Into<String>,
        reason: impl Into<String>,
    ) {
        self.error_count += 1;
        if self.errors.len() < limits::FINDINGS {
            let line = self.lines.line(at.into());
            self.errors.push(ReadError { line, element: element.into(), reason: reason.into() });
        }
    }

    pub(crate) fn warn(
        &mut self,
        at: impl Into<Spot>,
        element: impl Into<String>,
        reason: impl Into<String>,
    ) {
        self.warning_count += 1;
        if self.warnings.len() < limits::FINDINGS {
            let line = self.lines.line(at.into());
            self.warnings.push(Warning { line, element: element.into(), reason: reason.into() });
        }
    }

    pub(crate) fn has_errors(&self) -> bool {
        self.error_count > 0
    }

    /// Returns the warnings, the last of which counts those that were left out; or the errors.
    pub(crate) fn conclude(mut self) -> Result<Vec<Warning>, Faults> {
        if self.has_errors() {
            return Err(self.into_faults());
        }
        if self.warning_count > self.warnings.len() {
            let reason = format!("{} more warnings are not shown", self.warning_count - self.warnings.len());
            self.warnings.push(Warning { line: 1, element: "document".to_string(), reason });
        }
        Ok(self.warnings)
    }

    /// Returns the errors.
    pub(crate) fn into_faults(self) -> Faults {
        Faults { first: self.errors, count: self.error_count }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_byte_is_in_the_line_that_began_last_before_it() {
        let lines = Lines::of("ab\n\nc");
        let found: Vec<u32> = (0..6).map(|at| lines.line(Spot::Byte(at))).collect();
        assert_eq!(found, [1, 1, 1, 2, 3, 3]);
    }

    #[test]
    fn findings_beyond_the_limit_are_counted() {
        let mut found = Findings::default();
        (0..limits::FINDINGS as u32 + 5).for_each(|line| found.warn(line, "x", "odd"));
        let warnings = found.conclude().unwrap();
        assert_eq!(warnings.len(), limits::FINDINGS + 1);
        assert_eq!(warnings.last().unwrap().reason, "5 more warnings are not shown");

        let mut found = Findings::default();
        (0..limits::FINDINGS as u32 + 5).for_each(|line| found.error(line + 1, "x", "wrong"));
        let faults = found.conclude().unwrap_err();
        assert_eq!((faults.first().len(), faults.count()), (limits::FINDINGS, limits::FINDINGS + 5));
        assert_eq!(faults.to_string(), "line 1: x: wrong (and 1004 more)");
    }
}
