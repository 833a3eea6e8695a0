//! Codes of other standards (Country, Currency, Exchange, Language), and the pattern Tenor.
//!
//! Only the form is checked: the lists of codes change, and checking them would refuse valid
//! orders. A value that breaks the form (a cryptocurrency of five letters, a lower-case country)
//! can be read as [`Text`](super::Text).

use super::rendered::Rendered;
use super::{FromField, ToField, ValueError, digits, display_as_written};
use core::fmt;

/// An ISO 3166-1 alpha-2 code: two capital letters.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Country([u8; 2]);

/// An ISO 4217 code: three capital letters, the last one in lower case for the minor unit, as in
/// `GBp` for pence.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Currency([u8; 3]);

/// An ISO 639-1 code: two letters, in the case the sender chose.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Language([u8; 2]);

/// An exchange: a Reuters mnemonic up to FIX.4.2, an ISO 10383 market identifier code since.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Exchange<'m>(&'m [u8]);

/// A period such as `D5`, `M3`, `W13`, `Y1`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Tenor {
    unit: TenorUnit,
    count: u32,
}

/// What a [`Tenor`] counts.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum TenorUnit {
    /// Days, `D`.
    Days,
    /// Weeks, `W`.
    Weeks,
    /// Months, `M`.
    Months,
    /// Years, `Y`.
    Years,
}

/// Reads a code of exactly `N` bytes if they have the form.
fn letters<const N: usize>(value: &[u8], right: fn(&[u8; N]) -> bool) -> Result<[u8; N], ValueError> {
    match <[u8; N]>::try_from(value) {
        Ok(code) if right(&code) => Ok(code),
        _ if value.is_empty() => Err(ValueError::Empty),
        _ => Err(ValueError::Format),
    }
}

/// What all codes of fixed length share.
macro_rules! code {
    ($($type:ident, $length:literal, $right:expr;)+) => {$(
        impl $type {
            /// Creates a code from its letters, or returns `None` if they do not have the form.
            #[must_use]
            pub fn new(code: &str) -> Option<Self> {
                Self::from_field(code.as_bytes()).ok()
            }

            /// Returns the letters.
            #[must_use]
            pub fn as_str(&self) -> &str {
                core::str::from_utf8(&self.0).unwrap_or_default()
            }
        }

        impl FromField<'_> for $type {
            #[inline]
            fn from_field(value: &[u8]) -> Result<Self, ValueError> {
                letters(value, $right).map(Self)
            }
        }

        impl ToField for $type {
            const MAX_LEN: usize = $length;

            #[inline]
            fn write_to(&self, out: &mut [u8]) -> usize {
                out[..$length].copy_from_slice(&self.0);
                $length
            }

            const WORDS: usize = 1;

            #[inline(always)]
            fn to_words(&self) -> Option<Rendered> {
                Some(Rendered::of_bytes(&self.0))
            }
        }

        impl fmt::Debug for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!(stringify!($type), "({})"), self.as_str())
            }
        }
    )+};
}
code! {
    Country, 2, |code| code.iter().all(u8::is_ascii_uppercase);
    // Orders in London, Tel Aviv and Johannesburg use GBp, ILs and ZAr.
    Currency, 3, |[first, second, third]| {
        first.is_ascii_uppercase() && second.is_ascii_uppercase() && third.is_ascii_alphabetic()
    };
    Language, 2, |code| code.iter().all(u8::is_ascii_alphabetic);
}
display_as_written!(Country, Currency, Language, Tenor);

impl<'m> Exchange<'m> {
    /// Returns the bytes as they are on the wire.
    #[must_use]
    pub const fn as_bytes(self) -> &'m [u8] {
        self.0
    }

    /// Returns whether the code has the form of a market identifier code: four capital letters or
    /// digits.
    #[must_use]
    pub fn is_mic(self) -> bool {
        self.0.len() == 4 && self.0.iter().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit())
    }
}

impl<'m> FromField<'m> for Exchange<'m> {
    fn from_field(value: &'m [u8]) -> Result<Self, ValueError> {
        <&[u8]>::from_field(value).map(Self)
    }
}

impl fmt::Debug for Exchange<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Exchange(\"{}\")", self.0.escape_ascii())
    }
}

impl Tenor {
    /// Creates a tenor, or returns `None` if the count is 0.
    #[must_use]
    pub const fn new(unit: TenorUnit, count: u32) -> Option<Self> {
        if count == 0 { None } else { Some(Self { unit, count }) }
    }

    /// Returns the unit.
    #[must_use]
    pub const fn unit(self) -> TenorUnit {
        self.unit
    }

    /// Returns the count, at least 1.
    #[must_use]
    pub const fn count(self) -> u32 {
        self.count
    }
}

/// `[DMWY][1-9][0-9]*`. Codes that fields such as SettlType (63) allow beside tenors are known to
/// the dictionary.
impl FromField<'_> for Tenor {
    fn from_field(value: &[u8]) -> Result<Self, ValueError> {
        let (unit, count) = value.split_first().ok_or(ValueError::Empty)?;
        let unit = match unit {
            b'D' => TenorUnit::Days,
            b'W' => TenorUnit::Weeks,
            b'M' => TenorUnit::Months,
            b'Y' => TenorUnit::Years,
            _ => return Err(ValueError::Format),
        };
        if matches!(count.first(), None | Some(b'0')) {
            return Err(ValueError::Format);
        }
        let count = u32::try_from(digits::unsigned(count)?).map_err(|_| ValueError::Format)?;
        Ok(Self { unit, count })
    }
}

impl ToField for Tenor {
    const MAX_LEN: usize = 11;

    fn write_to(&self, out: &mut [u8]) -> usize {
        out[0] = match self.unit {
            TenorUnit::Days => b'D',
            TenorUnit::Weeks => b'W',
            TenorUnit::Months => b'M',
            TenorUnit::Years => b'Y',
        };
        1 + digits::write_unsigned(u64::from(self.count), &mut out[1..Self::MAX_LEN])
    }
}
