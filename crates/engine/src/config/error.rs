//! What can be wrong with a configuration, each with its file and line.

use core::fmt;
use std::borrow::Cow;
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

/// A mistake in a configuration: one line of text that says where and what, and what to do.
///
/// Values are shown as the file has them: what `${...}` stands for never appears in an error, and
/// neither does the value of a key that holds a secret.
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
        nearest: Option<String>,
    },
    /// A known key whose effect is not there yet: to ignore it would change what the session does.
    Unavailable {
        /// Where.
        place: SourceLine,
        /// The key, with its value where other values are available.
        key: String,
        /// Why, and what to do.
        reason: Cow<'static, str>,
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
    /// A dictionary cannot be used.
    Dictionary {
        /// Where it is named.
        place: SourceLine,
        /// The file as named.
        file: String,
        /// Why not, and what to do.
        reason: String,
    },
    /// A setting that the session needs is not there.
    Missing {
        /// The session's section, or the file's first line when there is none.
        place: SourceLine,
        /// What is missing and for what.
        reason: String,
    },
    /// Two settings that cannot both hold, or a session that cannot be had with its settings.
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
            | Self::Dictionary { place, .. }
            | Self::Missing { place, .. }
            | Self::Contradiction { place, .. } => Some(place),
        }
    }

    /// Returns the key that the mistake is about, where it is about one.
    #[must_use]
    pub fn key(&self) -> Option<&str> {
        match self {
            Self::UnknownKey { key, .. } | Self::Unavailable { key, .. } | Self::Value { key, .. } => {
                Some(key)
            }
            Self::Dictionary { .. } => Some("DataDictionary"),
            _ => None,
        }
    }

    /// Returns the known key that was meant perhaps.
    #[must_use]
    pub fn nearest(&self) -> Option<&str> {
        match self {
            Self::UnknownKey { nearest, .. } => nearest.as_deref(),
            _ => None,
        }
    }

    /// Returns what is wrong, without the place.
    #[must_use]
    pub fn reason(&self) -> String {
        match self {
            Self::Unreadable { file, reason, .. } => format!("cannot read {file}: {reason}"),
            Self::Syntax { reason, .. }
            | Self::Missing { reason, .. }
            | Self::Contradiction { reason, .. } => reason.clone(),
            Self::UnknownSection { name, .. } => {
                format!("unknown section [{name}]; there are [DEFAULT], [SESSION] and [APP]")
            }
            Self::UnknownKey { key, nearest: Some(nearest), .. } => {
                format!("unknown key {key}; did you mean {nearest}?")
            }
            Self::UnknownKey { key, nearest: None, .. } => {
                format!("unknown key {key}; keys of the application stand in [APP] or start with X-")
            }
            Self::Unavailable { key, reason, .. } => format!("{key} is not available: {reason}"),
            Self::Value { key, value, expected, .. } => {
                let hint = if value.contains('#') { " (a comment stands on a line of its own)" } else { "" };
                format!("{key}={value}: {expected} expected{hint}")
            }
            Self::Expansion { name, reason, .. } => format!("${{{name}}}: {reason}"),
            Self::Dictionary { file, reason, .. } => format!("DataDictionary={file}: {reason}"),
        }
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(place) = self.place() {
            write!(f, "{place}: ")?;
        }
        f.write_str(&self.reason())
    }
}

impl core::error::Error for ConfigError {}

/// Every mistake of a configuration, at least one, in the order of the file. Displayed as one line
/// each.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ConfigErrors(Vec<ConfigError>);

impl ConfigErrors {
    /// Returns the mistakes if there are any.
    pub(super) fn of(mistakes: Vec<ConfigError>) -> Option<Self> {
        (!mistakes.is_empty()).then_some(Self(mistakes))
    }

    /// The mistakes, in the order of the file.
    pub fn iter(&self) -> core::slice::Iter<'_, ConfigError> {
        self.0.iter()
    }
}

impl From<ConfigError> for ConfigErrors {
    fn from(mistake: ConfigError) -> Self {
        Self(vec![mistake])
    }
}

impl<'e> IntoIterator for &'e ConfigErrors {
    type Item = &'e ConfigError;
    type IntoIter = core::slice::Iter<'e, ConfigError>;
    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl fmt::Display for ConfigErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (n, mistake) in self.0.iter().enumerate() {
            let line_end = if n == 0 { "" } else { "\n" };
            write!(f, "{line_end}{mistake}")?;
        }
        Ok(())
    }
}

impl core::error::Error for ConfigErrors {}

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
