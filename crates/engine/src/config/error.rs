//! The mistakes that a configuration can have, each with its file and line.

use core::fmt;
use std::borrow::Cow;
use std::io;
use std::sync::Arc;

/// The position of a setting: the file as it was named, and the line counted from 1.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SourceLine {
    /// The file's name as given, or as written in the `include` line.
    pub file: Arc<str>,
    /// Line number from 1.
    pub line: u32,
}

impl fmt::Display for SourceLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}

/// A mistake in a configuration: one line that says where and what it is, and what to do.
///
/// Values are shown as written in the file: the replacement of `${...}` never appears in an error,
/// and neither does the value of a key that holds a secret.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum ConfigError {
    /// The file cannot be read.
    Unreadable {
        /// The file.
        file: String,
        /// The line that includes the file, if another file does.
        included_at: Option<SourceLine>,
        /// What kind of error the system returned; [`io::ErrorKind::InvalidData`] if the file was
        /// read, and is no configuration.
        kind: io::ErrorKind,
        /// The system's reason, or what is wrong with the file.
        reason: String,
    },
    /// A line is neither a section, a setting, an include nor a comment.
    Syntax {
        /// Where.
        place: SourceLine,
        /// What is wrong with it.
        reason: String,
    },
    /// A section with an unknown name.
    UnknownSection {
        /// Where.
        place: SourceLine,
        /// Its name as written.
        name: String,
    },
    /// A key that is unknown here and in the other engines, and no application's.
    UnknownKey {
        /// Where.
        place: SourceLine,
        /// The key as written.
        key: String,
        /// The known key with the most similar spelling, if one is close; several if they are as
        /// close.
        nearest: Vec<String>,
    },
    /// A known key whose effect is not supported yet: ignoring it would change what the session
    /// does.
    Unavailable {
        /// Where.
        place: SourceLine,
        /// The key, with its value if other values are available.
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
        /// The text between the braces.
        name: String,
        /// Why not.
        reason: String,
    },
    /// A dictionary cannot be used.
    Dictionary {
        /// Where it is named.
        place: SourceLine,
        /// The key that names the file.
        key: String,
        /// The file as named.
        file: String,
        /// Why not, and what to do.
        reason: String,
    },
    /// A required setting is missing.
    Missing {
        /// The session's section, or the file's first line if there is no section.
        place: SourceLine,
        /// What is missing, and what it is needed for.
        reason: String,
    },
    /// Two settings that contradict each other, or a session that is not possible with its
    /// settings.
    Contradiction {
        /// The position of one of them.
        place: SourceLine,
        /// The other one, its position, and why they contradict each other.
        reason: String,
    },
    /// An engine could not start with this here: a certificate that cannot be loaded, a journal
    /// that cannot be written, a core that does not exist.
    Start {
        /// The setting, or the session's section.
        place: SourceLine,
        /// The key, if it is about a single one.
        key: Option<String>,
        /// What is wrong, and what to do.
        reason: String,
    },
}

impl ConfigError {
    /// Returns the position of the error; `None` for an unreadable file that no other file
    /// includes.
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
            | Self::Contradiction { place, .. }
            | Self::Start { place, .. } => Some(place),
        }
    }

    /// Returns the key that the mistake is about, if it is about a single key.
    #[must_use]
    pub fn key(&self) -> Option<&str> {
        match self {
            Self::UnknownKey { key, .. }
            | Self::Unavailable { key, .. }
            | Self::Value { key, .. }
            | Self::Dictionary { key, .. } => Some(key),
            Self::Start { key, .. } => key.as_deref(),
            _ => None,
        }
    }

    /// Returns the known key that was probably meant.
    #[must_use]
    pub fn nearest(&self) -> Option<&str> {
        match self {
            Self::UnknownKey { nearest, .. } => nearest.first().map(String::as_str),
            _ => None,
        }
    }

    /// Returns what is wrong, without the position.
    #[must_use]
    pub fn reason(&self) -> String {
        match self {
            Self::Unreadable { file, reason, .. } => format!("cannot read {file}: {reason}"),
            Self::Syntax { reason, .. }
            | Self::Missing { reason, .. }
            | Self::Contradiction { reason, .. }
            | Self::Start { key: None, reason, .. } => reason.clone(),
            Self::Start { key: Some(key), reason, .. } => format!("{key}: {reason}"),
            Self::UnknownSection { name, .. } => {
                format!("unknown section [{name}]; there are [DEFAULT], [SESSION] and [APP]")
            }
            Self::UnknownKey { key, nearest, .. } if !nearest.is_empty() => {
                let nearest = nearest.join(" or ");
                format!(
                    "unknown key {key}; did you mean {nearest}? A key of the application belongs in [APP], or is written X-{key}"
                )
            }
            Self::UnknownKey { key, .. } => {
                format!("unknown key {key}; a key of the application belongs in [APP], or is written X-{key}")
            }
            Self::Unavailable { key, reason, .. } => format!("{key} is not available: {reason}"),
            Self::Value { key, value, expected, .. } => {
                let hint = comment_hint(value);
                format!("{key}={value}: {expected} expected{hint}")
            }
            Self::Expansion { name, reason, .. } => format!("${{{name}}}: {reason}"),
            Self::Dictionary { key, file, reason, .. } => format!("{key}={file}: {reason}"),
        }
    }
}

/// Returns a hint if `text` seems to have a comment in it.
pub(super) fn comment_hint(text: &str) -> &'static str {
    match text.contains(['#', ';']) {
        true => " (a comment must be on a line of its own, and begins with #)",
        false => "",
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

/// Every mistake in a configuration, at least one, in the order of the file.
///
/// Displayed as one line each.
#[derive(Clone, PartialEq, Eq)]
pub struct ConfigErrors(Vec<ConfigError>);

impl ConfigErrors {
    /// Returns the mistakes if there are any.
    pub(super) fn of(mistakes: Vec<ConfigError>) -> Option<Self> {
        (!mistakes.is_empty()).then_some(Self(mistakes))
    }

    /// Iterates over the mistakes, in the order of the file.
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

/// Shows the lines, since this is how `main` prints an error.
impl fmt::Debug for ConfigErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl core::error::Error for ConfigErrors {}

/// What [`CheckedConfiguration::try_start`](super::CheckedConfiguration::try_start) has found that
/// is no mistake of the configuration.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct Trial {
    /// What a running process stands in the way of, with the process as far as the system names it:
    /// a port in use, a journal that is open. The process may be the engine that runs with this
    /// configuration.
    pub in_use: Vec<ConfigWarning>,
    /// The sessions that would be halted, one each, with what ends that: their journals are
    /// damaged, or copies. The others are served.
    pub halted: Vec<ConfigWarning>,
}

/// A setting that is understood but has no effect here, and what replaces it; or one that is used
/// and may not do what was hoped.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct ConfigWarning {
    /// The position of the setting.
    pub place: SourceLine,
    /// The key as written.
    pub key: String,
    /// What replaces it, or why nothing needs to; what is doubtful about one that is used.
    pub instead: String,
    /// Whether the setting is used all the same.
    pub is_used: bool,
}

impl fmt::Display for ConfigWarning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let effect = if self.is_used { "" } else { " has no effect" };
        write!(f, "{}: {}{effect}: {}", self.place, self.key, self.instead)
    }
}
