//! int and its derived types: Length, TagNum, SeqNum, NumInGroup, day-of-month.

use super::rendered::Rendered;
use super::{FromField, ToField, ValueError, digits, display_as_written};
use crate::{SeqNum, Tag};

/// A number of bytes (type Length): at least 1, as data fields are never empty.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Length(u32);

/// The number of entries of a repeating group (type NumInGroup). Receivers accept 0; senders omit
/// the field instead.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct NumInGroup(pub u32);

/// A day of a month: 1 to 31.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct DayOfMonth(u8);

impl Length {
    /// Creates a length, or returns `None` if it is 0.
    #[must_use]
    pub const fn new(bytes: u32) -> Option<Self> {
        if bytes == 0 { None } else { Some(Self(bytes)) }
    }

    /// Returns the number of bytes.
    #[must_use]
    pub const fn bytes(self) -> u32 {
        self.0
    }
}

impl DayOfMonth {
    /// Creates a day, or returns `None` if it is not 1 to 31.
    #[must_use]
    pub const fn new(day: u8) -> Option<Self> {
        if matches!(day, 1..=31) { Some(Self(day)) } else { None }
    }

    /// Returns the day.
    #[must_use]
    pub const fn day(self) -> u8 {
        self.0
    }
}

display_as_written!(Length, NumInGroup, DayOfMonth);

/// int: `-?[0-9]+`, leading zeros accepted.
impl FromField<'_> for i64 {
    #[inline]
    fn from_field(value: &[u8]) -> Result<Self, ValueError> {
        if let [b'-', magnitude @ ..] = value {
            let magnitude = digits::unsigned(magnitude).map_err(|_| ValueError::Format)?;
            0_i64.checked_sub_unsigned(magnitude).ok_or(ValueError::Format)
        } else {
            Self::try_from(digits::unsigned(value)?).map_err(|_| ValueError::Format)
        }
    }
}

/// int without negative values: those are out of range.
impl FromField<'_> for u64 {
    #[inline]
    fn from_field(value: &[u8]) -> Result<Self, ValueError> {
        if value.first() == Some(&b'-') {
            return match i64::from_field(value)? {
                0 => Ok(0),
                _ => Err(ValueError::OutOfRange),
            };
        }
        digits::unsigned(value)
    }
}

/// int without negative values: those are out of range.
impl FromField<'_> for u32 {
    #[inline]
    fn from_field(value: &[u8]) -> Result<Self, ValueError> {
        Self::try_from(u64::from_field(value)?).map_err(|_| ValueError::Format)
    }
}

/// TagNum: `[1-9][0-9]*`, at most 2^31 - 1.
impl FromField<'_> for Tag {
    #[inline]
    fn from_field(value: &[u8]) -> Result<Self, ValueError> {
        if value.first() == Some(&b'0') {
            return Err(ValueError::Format);
        }
        u32::try_from(digits::unsigned(value)?).ok().and_then(Self::try_new).ok_or(ValueError::Format)
    }
}

/// SeqNum: `[0-9]+`. Zero is accepted, as it means "to infinity" in EndSeqNo (16); elsewhere the
/// session refuses it.
// R-SEQ-7
impl FromField<'_> for SeqNum {
    #[inline]
    fn from_field(value: &[u8]) -> Result<Self, ValueError> {
        digits::unsigned(value).map(Self)
    }
}

impl FromField<'_> for Length {
    #[inline]
    fn from_field(value: &[u8]) -> Result<Self, ValueError> {
        let bytes = u32::try_from(digits::unsigned(value)?).map_err(|_| ValueError::Format)?;
        Self::new(bytes).ok_or(ValueError::OutOfRange)
    }
}

impl FromField<'_> for NumInGroup {
    #[inline]
    fn from_field(value: &[u8]) -> Result<Self, ValueError> {
        u32::try_from(digits::unsigned(value)?).map(Self).map_err(|_| ValueError::Format)
    }
}

impl FromField<'_> for DayOfMonth {
    #[inline]
    fn from_field(value: &[u8]) -> Result<Self, ValueError> {
        u8::try_from(digits::unsigned(value)?).ok().and_then(Self::new).ok_or(ValueError::OutOfRange)
    }
}

impl ToField for i64 {
    const MAX_LEN: usize = 20;

    #[inline]
    fn write_to(&self, out: &mut [u8]) -> usize {
        let negative = usize::from(*self < 0);
        out[0] = b'-';
        negative + digits::write_unsigned(self.unsigned_abs(), &mut out[negative..])
    }

    const WORDS: usize = 2;

    #[inline(always)]
    fn to_words(&self) -> Option<Rendered> {
        Some(digits::rendered(self.unsigned_abs())?.with_sign(*self < 0))
    }
}

/// Implements `ToField` for types that hold an unsigned number.
macro_rules! write_number {
    ($($type:ty, $length:literal, $number:expr;)+) => {$(
        impl ToField for $type {
            const MAX_LEN: usize = $length;

            #[inline]
            fn write_to(&self, out: &mut [u8]) -> usize {
                let number: fn(&$type) -> u64 = $number;
                digits::write_unsigned(number(self), &mut out[..Self::MAX_LEN])
            }

            const WORDS: usize = 1;

            #[inline(always)]
            fn to_words(&self) -> Option<Rendered> {
                let number: fn(&$type) -> u64 = $number;
                digits::rendered(number(self))
            }
        }
    )+};
}
write_number! {
    u64, 20, |number| *number;
    u32, 10, |number| u64::from(*number);
    Tag, 10, |tag| u64::from(tag.number());
    SeqNum, 20, |number| number.0;
    Length, 10, |length| u64::from(length.0);
    NumInGroup, 10, |number| u64::from(number.0);
    DayOfMonth, 2, |day| u64::from(day.0);
}
