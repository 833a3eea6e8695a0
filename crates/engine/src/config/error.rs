//! What can be wrong with a configuration, each with its file and line.

use core::fmt;
use std::sync::Arc;

/// Where a setting stands: the file as it was named, and the line counted from 1.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SourceLine {
    /// The file's name as given, or as the `include` line has it.
    pub file: Arc<str>,
    /// Line number from 1.
    pub line: u32,
}

impl fmt::Display for SourceLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}

/// Why a configuration is refused. Every variant is one line of text that says where and what.
///
/// Values are shown as the file has them: what `${...}` stands for never appears in an error.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum ConfigError {
    /// The file cannot be read.
    Unreadable {
        /// The file.
        file: String,
        /// The line that includes it, when another file does.
        included_at: Option<SourceLine>,
        /// The system's reason.
        reason: String,
    },
    /// A line is neither a section, a setting, an include nor a comment.
    Syntax {
        /// Where.
        place: SourceLine,
        /// What is wrong with it.
        reason: String,
    },
    /// A section that no one knows.
    UnknownSection {
        /// Where.
        place: SourceLine,
        /// Its name as written.
        name: String,
    },
    /// A key that neither we, QuickFIX nor QuickFIX/J know.
    UnknownKey {
        /// Where.
        place: SourceLine,
        /// The key as written.
        key: String,
        /// The known key that is spelt most alike, if one is near.
        nearest: Option<&'static str>,
    },
    /// A known key whose effect we cannot give: to ignore it would change what the session does.
    Unavailable {
        /// Where.
        place: SourceLine,
        /// The key.
        key: String,
        /// Why, and what to do.
        reason: &'static str,
    },
    /// The value does not have the key's type or range.
    Value {
        /// Where.
        place: SourceLine,
        /// The key.
        key: String,
        /// The value as written.
        value: String,
        /// What the key takes.
        expected: String,
    },
    /// `${...}` cannot be replaced.
    Expansion {
        /// Where.
        place: SourceLine,
        /// What stands between the braces.
        name: String,
        /// Why not.
        reason: String,
    },
    /// A setting that the session needs is not there.
    Missing {
        /// The session's section, or the file's first line when there is none.
        place: SourceLine,
        /// What is missing and for what.
        reason: String,
    },
    /// Two settings that cannot both hold.
    Contradiction {
        /// Where the one stands.
        place: SourceLine,
        /// Which other, where it stands, and why not both.
        reason: String,
    },
}

impl ConfigError {
    /// Where the error is; `None` for a file that cannot be read and that no other includes.
    #[must_use]
    pub const fn place(&self) -> Option<&SourceLine> {
        match self {
            Self::Unreadable { included_at, .. } => included_at.as_ref(),
            Self::Syntax { place, .. }
            | Self::UnknownSection { place, .. }
            | Self::UnknownKey { place, .. }
            | Self::Unavailable { place, .. }
            | Self::Value { place, .. }
            | Self::Expansion { place, .. }
            | Self::Missing { place, .. }
            | Self::Contradiction { place, .. } => Some(place),
        }
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(place) = self.place() {
            write!(f, "{place}: ")?;
        }
        match self {
            Self::Unreadable { file, reason, .. } => write!(f, "cannot read {file}: {reason}"),
            Self::Syntax { reason, .. }
            | Self::Missing { reason, .. }
            | Self::Contradiction { reason, .. } => f.write_str(reason),
            Self::UnknownSection { name, .. } => {
                write!(f, "unknown section [{name}]; there are [DEFAULT], [SESSION] and [APP]")
            }
            Self::UnknownKey { key, nearest: Some(nearest), .. } => {
                write!(f, "unknown key {key}; did you mean {nearest}?")
            }
            Self::UnknownKey { key, nearest: None, .. } => {
                write!(f, "unknown key {key}; keys of the application stand in [APP] or start with X-")
            }
            Self::Unavailable { key, reason, .. } => write!(f, "{key} is not available: {reason}"),
            Self::Value { key, value, expected, .. } => {
                write!(f, "{key}={value}: {expected} expected")?;
                if value.contains('#') {
                    f.write_str(" (a comment stands on a line of its own)")?;
                }
                Ok(())
            }
            Self::Expansion { name, reason, .. } => write!(f, "${{{name}}}: {reason}"),
        }
    }
}

impl core::error::Error for ConfigError {}

/// A setting that is understood and has no effect here, with what replaces it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ConfigWarning {
    /// Where it stands.
    pub place: SourceLine,
    /// The key as written.
    pub key: String,
    /// What replaces it, or why nothing needs to.
    pub instead: String,
}

impl fmt::Display for ConfigWarning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} has no effect: {}", self.place, self.key, self.instead)
    }
}
