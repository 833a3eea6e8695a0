//! Reads one file of a dictionary.

use std::path::Path;

use fixbolt_codec::Version;
use fixbolt_dictionary::{Action, Check, Dictionary, LoadError, Policy, Source};

/// Warnings of a dictionary that are told beside the configuration that names it.
const MOST_ODD: usize = 3;

/// What is told about a key that names a dictionary.
#[derive(Clone, Debug)]
pub(super) struct Remark {
    pub(super) key: String,
    pub(super) text: String,
    /// Whether the file is used.
    pub(super) is_used: bool,
}

impl Remark {
    /// Returns that a shipped dictionary is used in place of a file that is absent.
    pub(super) fn in_place(key: &str, version: Version) -> Self {
        let text = format!("there is no such file; the shipped dictionary of {version} is used");
        Self { key: key.to_owned(), text, is_used: false }
    }

    /// Returns what is odd in a file.
    pub(super) fn odd(key: &str, odd: Vec<String>) -> impl Iterator<Item = Self> {
        odd.into_iter().map(|text| Self { key: key.to_owned(), text, is_used: true })
    }
}

/// Why there is no dictionary.
#[derive(Clone, Debug)]
pub(super) struct Unread {
    reason: String,
    /// Whether the file could be read, so that its content is wrong.
    is_read: bool,
}

impl Unread {
    /// Returns the reason and what to do about it; the shipped dictionary of this version is used
    /// if the key is left out.
    pub(super) fn or_shipped(&self, version: Option<Version>) -> String {
        let Self { reason, .. } = self;
        let correct = self.correct();
        match version {
            Some(version) => {
                format!(
                    "{reason}; leave the key out (then the shipped one of {version} is used), or {correct}"
                )
            }
            None => format!("{reason}; {correct}"),
        }
    }

    /// Returns the reason and what to do about it, where the shipped dictionary of each version is
    /// used if the key is left out.
    pub(super) fn or_any_shipped(&self) -> String {
        let (reason, correct) = (&self.reason, self.correct());
        format!("{reason}; leave the key out (then the shipped ones are used), or {correct}")
    }

    const fn correct(&self) -> &'static str {
        if self.is_read { "correct the file" } else { "correct the path" }
    }
}

/// What a dictionary lacks that a Logon needs.
#[derive(Clone)]
pub(super) struct Lacks {
    name: String,
    header: bool,
    logon: bool,
}

impl Lacks {
    pub(super) fn of(dictionary: &Dictionary) -> Self {
        let header = dictionary.header().is_empty();
        let logon = dictionary.message(b"A").is_none();
        Self { name: dictionary.version().name.clone(), header, logon }
    }

    /// Returns why nobody could log on to a session that checks messages with this policy; `None`
    /// if its Logon is in the dictionary, or passes without.
    pub(super) fn no_logon(&self, policy: &Policy) -> Option<String> {
        let rejects = |check| policy.action(check) == Action::Reject;
        let lacking = if self.header && (rejects(Check::UnknownTag) || rejects(Check::TagNotInMessage)) {
            "header"
        } else if self.logon && rejects(Check::MsgType) {
            "Logon"
        } else {
            return None;
        };
        let name = &self.name;
        Some(format!(
            "it has no {lacking}, so nobody could log on: it replaces all of {name}; if it only adds to that, begin it with <fix extends='{name}'>"
        ))
    }
}

/// Returns the shipped version whose name a file has that is absent, such as `FIX44.xml`, as
/// QuickFIX/J finds its own by these names. A path with a directory is a file of the user's: if it
/// is absent, nothing stands in its place.
pub(super) fn shipped_in_place_of(file: &Path) -> Option<Version> {
    file.parent().filter(|directory| directory.as_os_str().is_empty())?;
    let named = file.file_stem()?.to_str()?.parse().ok()?;
    matches!(file.try_exists(), Ok(false)).then_some(named)
}

/// Reads a dictionary. Returns what is odd in it, too: as much as is worth reading beside a
/// configuration.
pub(super) fn read_dictionary(source: Source<'static>) -> Result<(Dictionary, Vec<String>), Unread> {
    match source.load() {
        Ok(loaded) => {
            let (all, first) = (loaded.warnings.len(), loaded.warnings.iter().take(MOST_ODD));
            let mut odd: Vec<_> = first.map(ToString::to_string).collect();
            if let (Some(last), more @ 1..) = (odd.last_mut(), all.saturating_sub(MOST_ODD)) {
                *last += &format!(" (and {more} more: `fixbolt dictionary check` shows them)");
            }
            Ok((loaded.dictionary, odd))
        }
        Err(LoadError::File { error, .. }) => Err(Unread { reason: error.to_string(), is_read: false }),
        Err(LoadError::Refused { faults, .. }) => {
            let reason = match (faults.first(), faults.count()) {
                ([first, ..], more @ 2..) => {
                    format!("{first} (and {} more: `fixbolt dictionary check` shows them)", more - 1)
                }
                _ => faults.to_string(),
            };
            Err(Unread { reason, is_read: true })
        }
        Err(other) => Err(Unread { reason: other.to_string(), is_read: false }),
    }
}
