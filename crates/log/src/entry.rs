//! What a reader finds: a message or something else, where it is, and what the log says of it.

use std::fmt;
use std::ops::Range;
use std::path::Path;

use fixbolt_codec::{FrameError, Framed, Precision, Secrets, UtcTimestamp};
use fixbolt_session::{Direction, SessionId, Utc};

use crate::prefix::Prefix;
use crate::scan::Separator;

/// A part of a log or journal.
#[derive(Clone, Copy)]
pub struct Entry<'r> {
    /// What it is.
    pub content: Content<'r>,
    /// The text before a message on its line; empty in a journal.
    pub prefix: Prefix<'r>,
    /// The file that it is in; of damage, the directory of the journal. `None` if the reader reads
    /// an input that has no name.
    pub file: Option<&'r Path>,
    /// The line, from 1, on which it begins; `None` in a journal.
    pub line: Option<u64>,
    /// Where in the file it begins, in bytes: for a message in a log, where `8=` is; in a journal,
    /// where the record is.
    pub offset: u64,
    /// The session, if a journal's head names it; `None` in a log.
    pub session: Option<&'r SessionId>,
    /// What a journal says of it.
    pub(crate) recorded: Option<(Utc, Option<Direction>)>,
    /// What the log has for SOH, if it may also be a part of values.
    pub(crate) doubtful: Option<Separator>,
}

/// What a part of a log or journal is.
#[derive(Clone, Copy)]
#[non_exhaustive]
pub enum Content<'r> {
    /// A message as it was sent, with SOH after each field. Whether CheckSum (10) is right has not
    /// been asked: `Index::build` answers that.
    Message(Framed<'r>),
    /// Bytes that begin like a message and are none, with SOH in place of what the log has for it.
    Garbled {
        /// The bytes.
        bytes: &'r [u8],
        /// What is wrong with them; its positions are in `bytes`.
        error: FrameError,
    },
    /// What a log says of an event: a line `<time, session, event> (text)` of QuickFIX/J, or the
    /// text of a journal's record that is no message, such as a reset of the sequence numbers. It
    /// may contain secrets.
    Event(&'r [u8]),
    /// Other bytes of a log: a line, or up to 16 MiB of a longer one; or what is before a message,
    /// if it is longer than 64 KiB. It may contain secrets.
    Text(&'r [u8]),
    /// What is damaged in a journal, in words. It follows the records that were intact.
    Damage(&'r str),
}

/// When something happened.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Time<'r> {
    /// As the log has it. Often nothing says in which time zone.
    Written(&'r [u8]),
    /// By the journal.
    Utc(Utc),
}

impl<'r> Entry<'r> {
    /// Returns the bytes of a message, or of what begins like one.
    #[must_use]
    pub const fn bytes(&self) -> Option<&'r [u8]> {
        match self.content {
            Content::Message(framed) => Some(framed.bytes()),
            Content::Garbled { bytes, .. } => Some(bytes),
            _ => None,
        }
    }

    /// Returns when it happened, if log or journal says so.
    #[must_use]
    pub fn time(&self) -> Option<Time<'r>> {
        match self.recorded {
            Some((utc, _)) => Some(Time::Utc(utc)),
            None => self.prefix.time().map(Time::Written),
        }
    }

    /// Returns who sent the message, if log or journal says so.
    #[must_use]
    pub fn direction(&self) -> Option<Direction> {
        match self.recorded {
            Some((_, direction)) => direction,
            None => self.prefix.direction(),
        }
    }

    /// Returns what may be a secret in [`bytes`](Self::bytes) for no reason but that the log's
    /// separator may also be a part of values: then what seems to be a part of one may begin a
    /// field that is broken. Other secrets are found by [`Secrets`].
    #[must_use]
    pub fn doubtful_secrets(&self) -> Vec<Range<usize>> {
        let (Some(separator), Some(bytes)) = (self.doubtful, self.bytes()) else { return Vec::new() };
        let mut message = bytes.to_vec();
        separator.replace_rest(&mut message);
        Secrets::STANDARD.in_garbled(&message).collect()
    }
}

/// Shows secrets as `***`.
impl fmt::Debug for Entry<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Entry");
        shown.field("content", &self.content).field("file", &self.file).field("line", &self.line);
        shown.field("offset", &self.offset).finish_non_exhaustive()
    }
}

/// Shows messages with `***` for their secrets, and of other bytes how many they are: they may
/// contain any.
impl fmt::Debug for Content<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Message(framed) => f.debug_tuple("Message").field(framed).finish(),
            Self::Garbled { bytes, error } => write!(f, "Garbled({} bytes: {error})", bytes.len()),
            Self::Event(bytes) => write!(f, "Event({} bytes)", bytes.len()),
            Self::Text(bytes) => write!(f, "Text({} bytes)", bytes.len()),
            Self::Damage(text) => f.debug_tuple("Damage").field(text).finish(),
        }
    }
}

/// Writes the time as the log has it, or as UTCTimestamp.
impl fmt::Display for Time<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Written(text) => String::from_utf8_lossy(text).fmt(f),
            Self::Utc(utc) => UtcTimestamp::from_unix_nanos(utc.0, Precision::Nanos).fmt(f),
        }
    }
}
