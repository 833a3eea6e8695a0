//! What a reader reports about a source: errors, which refuse it, and warnings, which do not.

use std::fmt;

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

impl ReadError {
    /// Creates an error that concerns the source as a whole.
    pub(crate) fn of_document(reason: impl Into<String>) -> ReadError {
        ReadError { line: 1, element: "document".to_string(), reason: reason.into() }
    }
}

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

/// Collects errors and warnings, so that one run reports everything.
#[derive(Debug, Default)]
pub(crate) struct Findings {
    pub(crate) errors: Vec<ReadError>,
    pub(crate) warnings: Vec<Warning>,
}

impl Findings {
    pub(crate) fn error(&mut self, line: u32, element: impl Into<String>, reason: impl Into<String>) {
        self.errors.push(ReadError { line, element: element.into(), reason: reason.into() });
    }

    pub(crate) fn warn(&mut self, line: u32, element: impl Into<String>, reason: impl Into<String>) {
        self.warnings.push(Warning { line, element: element.into(), reason: reason.into() });
    }
}
