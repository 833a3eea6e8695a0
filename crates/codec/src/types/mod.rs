//! The FIX data types: conversion between a field's bytes and a value (FIX 5.0SP2 volume 1, "FIX
//! data types"; Orchestra's datatypes).
//!
//! A value keeps the form of its bytes (scale, fraction digits, zone), so that reading and writing
//! returns the same bytes. The exceptions are forms that the standard accepts and that a sender
//! should not write:
//! - integers lose leading zeros and the sign of zero (`007` -> `7`, `-0` -> `0`);
//! - so do decimals, which also lose a trailing point and gain a zero before a leading one (`23.`
//!   -> `23`, `-.5` -> `-0.5`, `-0.00` -> `0.00`);
//! - the zone offset `-00` becomes `+00`.
//!
//! These types do not know which tag has which type or which codes a field allows (the dictionary
//! does), do not guess (`+5`, `1e3` and ` 7` are errors) and do not round unless told how.

mod code;
mod date;
mod decimal;
pub(crate) mod digits;
#[cfg(feature = "f64")]
mod float;
mod integer;
mod month_year;
mod rendered;
mod rounding;
#[cfg(feature = "rust_decimal")]
mod rust_decimal;
mod second_cache;
mod second_reader;
mod text;
mod time;
mod wide;
mod zoned;

use core::fmt;

pub use code::{Country, Currency, Exchange, Language, Tenor, TenorUnit};
pub use date::Date;
pub use decimal::{Decimal, Digits};
pub use integer::{DayOfMonth, Length, NumInGroup};
pub use month_year::{MonthYear, MonthYearPart};
use rendered::Rendered;
pub use rounding::Rounding;
pub use second_cache::SecondCache;
pub use second_reader::SecondReader;
pub use text::{Char, MultipleCharValue, MultipleStringValue, Text};
pub use time::{LocalMktTime, Precision, UtcTimeOnly, UtcTimestamp};
pub use wide::WideDecimal;
pub use zoned::{TzTimeOnly, TzTimestamp, ZoneOffset};

/// Reads a typed value from the bytes of a field (those between `=` and SOH).
pub trait FromField<'m>: Sized {
    /// Reads the value.
    ///
    /// # Errors
    /// Returns a [`ValueError`] if the bytes are not a value of this type.
    fn from_field(value: &'m [u8]) -> Result<Self, ValueError>;
}

/// Writes a value of bounded length as the bytes of a field. Values that borrow their bytes
/// ([`Text`], [`Digits`], ...) are written as those bytes.
pub trait ToField {
    /// The maximum length of a value of this type.
    const MAX_LEN: usize;

    /// Writes the value at the start of `out` and returns its length, 1 to `MAX_LEN`. The other
    /// bytes of the first `MAX_LEN` may be overwritten. A value without bytes or with SOH is
    /// refused by [`BodyWriter::field`](crate::BodyWriter::field).
    ///
    /// # Panics
    /// May panic if `out` is shorter than `MAX_LEN`.
    fn write_to(&self, out: &mut [u8]) -> usize;

    /// The number of words that [`ToField::to_words`] uses, 0 if it returns none.
    #[doc(hidden)]
    const WORDS: usize = 0;

    /// Returns the value as `write_to` writes it, or `None` if it is not one of the common ones of
    /// a type of this crate.
    #[doc(hidden)]
    #[inline(always)]
    fn to_words(&self) -> Option<Rendered> {
        None
    }
}

/// Why a field's bytes are not a value of the requested type.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum ValueError {
    /// There are no bytes (SessionRejectReason 4: tag specified without a value).
    Empty,
    /// The bytes do not have the form of the type, or are an integer that is too large
    /// (SessionRejectReason 6: incorrect data format for value).
    Format,
    /// The form is right but the value is outside the range of the type (SessionRejectReason 5:
    /// value is incorrect for this tag). For [`Decimal`] and [`WideDecimal`]: it has more digits
    /// than they can hold and may still be valid, see [`Digits`].
    OutOfRange,
    /// The bytes are not UTF-8 (SessionRejectReason 6). The text may be in another encoding, see
    /// [`Text`].
    Encoding,
}

impl ValueError {
    /// Returns the SessionRejectReason (373) that names this error.
    #[must_use]
    pub const fn session_reject_reason(self) -> u16 {
        match self {
            Self::Empty => 4,
            Self::OutOfRange => 5,
            Self::Format | Self::Encoding => 6,
        }
    }
}

impl fmt::Display for ValueError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Empty => "the value is empty",
            Self::Format => "the value does not have the form of its type",
            Self::OutOfRange => "the value is outside the range of its type",
            Self::Encoding => "the text is not UTF-8; it may be in another encoding, such as ISO 8859-1",
        })
    }
}

impl core::error::Error for ValueError {}

/// Implements `Display` with the bytes that `ToField` writes (all of them ASCII).
macro_rules! display_as_written {
    ($($type:ty),+) => {$(
        impl core::fmt::Display for $type {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                let mut out = [0; <Self as $crate::types::ToField>::MAX_LEN];
                let length = $crate::types::ToField::write_to(self, &mut out);
                f.pad(core::str::from_utf8(&out[..length]).unwrap_or_default())
            }
        }
    )+};
}
pub(crate) use display_as_written;

/// Implements `FromStr` with `FromField`.
macro_rules! parse_as_read {
    ($($type:ty),+) => {$(
        impl core::str::FromStr for $type {
            type Err = $crate::types::ValueError;

            fn from_str(text: &str) -> Result<Self, Self::Err> {
                $crate::types::FromField::from_field(text.as_bytes())
            }
        }
    )+};
}
pub(crate) use parse_as_read;
