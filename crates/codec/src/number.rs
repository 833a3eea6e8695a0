//! Tags and sequence numbers.

use core::fmt;

/// A field's tag: 1 to 2^31 - 1, written without leading zeros (standard type TagNum).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Tag(u32);

impl Tag {
    /// The largest tag.
    pub const MAX: Self = Self((1 << 31) - 1);

    /// Creates a tag from its number.
    ///
    /// # Panics
    /// Panics if `number` is 0 or above 2^31 - 1; in a constant this fails the build.
    #[must_use]
    pub const fn new(number: u32) -> Self {
        assert!(number != 0 && number <= Self::MAX.0, "a tag is 1 to 2^31 - 1");
        Self(number)
    }

    /// Creates a tag, or returns `None` if `number` is not one.
    #[must_use]
    pub const fn try_new(number: u32) -> Option<Self> {
        if number == 0 || number > Self::MAX.0 { None } else { Some(Self(number)) }
    }

    /// Returns the number.
    #[must_use]
    pub const fn number(self) -> u32 {
        self.0
    }

    /// Returns whether only the standard assigns a meaning to this tag: those below 5000, and 40000
    /// to 49999. All others are for counterparties to agree on.
    #[must_use]
    pub const fn is_of_standard(self) -> bool {
        matches!(self.0, ..5_000 | 40_000..50_000)
    }
}

/// For tags that are written as numbers: `message.get(5001)`. [`Tag::try_new`] is for numbers that
/// come from elsewhere.
///
/// # Panics
/// Panics as [`Tag::new`] does.
impl From<u32> for Tag {
    #[inline]
    fn from(number: u32) -> Self {
        Self::new(number)
    }
}

impl fmt::Display for Tag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A MsgSeqNum (34): 64 bits, counted from 1. Zero occurs only where the standard gives it a
/// meaning (EndSeqNo).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct SeqNum(pub u64);

impl SeqNum {
    /// Zero: "to infinity" in EndSeqNo (16); no message has it.
    pub const ZERO: Self = Self(0);
    /// The first sequence number of a session.
    pub const ONE: Self = Self(1);
    /// The largest sequence number.
    pub const MAX: Self = Self(u64::MAX);

    /// Returns the next sequence number; [`SeqNum::MAX`] is returned unchanged.
    #[must_use]
    pub const fn next(self) -> Self {
        Self(self.0.saturating_add(1))
    }

    /// Returns the previous sequence number; zero is returned unchanged.
    #[must_use]
    pub const fn previous(self) -> Self {
        Self(self.0.saturating_sub(1))
    }
}

impl fmt::Display for SeqNum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
