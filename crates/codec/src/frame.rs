//! What the framer finds in a stream: a message, garbled bytes, or too few bytes to tell.

use core::fmt;

use crate::redacted::{Redacted, RedactedGarbled};

/// The largest message, in bytes: positions in it are 32-bit numbers, with room for rounding.
pub(crate) const LARGEST_MESSAGE: usize = 1 << 30;
/// Length of `10=ddd` and its SOH.
pub(crate) const TRAILER_LEN: usize = 7;
/// How a message begins.
pub(crate) const START: &[u8] = b"8=FIX";

/// A complete message: it begins with `8=FIX…` and `9=`, and ends with `10=ddd` and SOH exactly
/// where BodyLength (9) says.
///
/// Only a [`Framer`](crate::Framer) creates one, and [`Framed::try_new`] by the same rules, so that
/// its readers need not check this again. CheckSum is not verified yet.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Framed<'b> {
    pub(crate) bytes: &'b [u8],
    pub(crate) body_start: usize,
}

impl fmt::Debug for Framed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Redacted(self.bytes).fmt(f)
    }
}

impl<'b> Framed<'b> {
    /// Returns the message from `8=` to the last SOH.
    #[must_use]
    pub const fn bytes(self) -> &'b [u8] {
        self.bytes
    }

    /// Returns the offset of the first byte that BodyLength counts.
    #[must_use]
    pub const fn body_start(self) -> usize {
        self.body_start
    }

    /// Returns the offset of `10=`.
    #[must_use]
    pub(crate) const fn body_end(self) -> usize {
        self.bytes.len() - TRAILER_LEN
    }
}

/// What is at the beginning of the buffer.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Frame<'b> {
    /// A complete message. The caller consumes its bytes.
    Message(Framed<'b>),
    /// Bytes that are not a message. The caller consumes them.
    Garbled {
        /// The bytes to discard.
        bytes: &'b [u8],
        /// What is wrong with them, or `None` if they continue the garbled bytes of an earlier
        /// call.
        error: Option<FrameError>,
    },
    /// More bytes are needed.
    Incomplete {
        /// How many more bytes are needed at least; never 0.
        at_least: usize,
    },
}

impl fmt::Debug for Frame<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Message(framed) => f.debug_tuple("Message").field(framed).finish(),
            Self::Garbled { bytes, error } => {
                let bytes = RedactedGarbled { bytes, continues: error.is_none() };
                f.debug_struct("Garbled").field("bytes", &bytes).field("error", error).finish()
            }
            Self::Incomplete { at_least } => {
                f.debug_struct("Incomplete").field("at_least", at_least).finish()
            }
        }
    }
}

/// Why bytes are not a message. The standard's reaction is the same for all: ignore them and log a
/// warning (test case 2d).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum FrameError {
    /// The bytes do not begin with `8=FIX`.
    NoBeginString,
    /// BeginString (8) is not of the form `FIX.n.m` or `FIXT.n.m`.
    BeginString,
    /// BodyLength (9) is not the second field, not a number, or 0.
    BodyLengthField {
        /// Offset of the field.
        at: usize,
    },
    /// The message would be larger than the limit.
    TooLarge {
        /// The limit, in bytes of the whole message.
        limit: usize,
    },
    /// There is no CheckSum (10) where BodyLength (9) announces it, or no more bytes arrived.
    BodyLength {
        /// Offset at which `10=` was expected.
        announced_end: usize,
    },
    /// CheckSum (10) is where BodyLength (9) announces it, but is not three digits and SOH.
    CheckSumField {
        /// Offset of the field.
        at: usize,
    },
    /// The message is right, but more bytes follow it. Only [`Framed::try_new`] returns this.
    BytesAfter {
        /// Offset of the first of them.
        end: usize,
    },
}

impl fmt::Display for FrameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoBeginString => f.write_str("the bytes do not begin with 8=FIX"),
            Self::BeginString => f.write_str("BeginString (8) is not of the form FIX.n.m or FIXT.n.m"),
            Self::BodyLengthField { at } => {
                write!(f, "BodyLength (9) is missing, not a number, or 0 at byte {at}")
            }
            Self::TooLarge { limit } => write!(f, "the message is larger than the limit of {limit} bytes"),
            Self::BodyLength { announced_end } => {
                write!(f, "BodyLength (9) is wrong: no CheckSum (10) at byte {announced_end}")
            }
            Self::CheckSumField { at } => write!(f, "CheckSum (10) at byte {at} is not three digits"),
            Self::BytesAfter { end } => write!(f, "the message ends at byte {end}, and more bytes follow"),
        }
    }
}

impl core::error::Error for FrameError {}
