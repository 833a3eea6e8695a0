//! char, Boolean, String and its derived types without a form of their own. data and XMLData are
//! plain bytes.

use super::{FromField, ToField, ValueError};
use core::fmt::{self, Write as _};

/// A String: at least one byte, in ISO 8859-1 unless the parties agreed on another single-byte
/// character set.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Text<'m>(&'m [u8]);

/// A char: exactly one byte other than SOH, case-sensitive.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Char(pub u8);

/// Single letters or digits separated by one space (MultipleCharValue).
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct MultipleCharValue<'m>(&'m [u8]);

/// Tokens separated by one space (MultipleStringValue, and MultipleValueString of FIX.4.2 to 4.4).
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct MultipleStringValue<'m>(&'m [u8]);

impl<'m> Text<'m> {
    /// Returns the bytes as they are on the wire.
    #[must_use]
    pub const fn as_bytes(self) -> &'m [u8] {
        self.0
    }

    /// Returns the text if its bytes are ASCII, which all single-byte sets and UTF-8 share.
    #[must_use]
    pub const fn as_ascii(self) -> Option<&'m str> {
        if !self.0.is_ascii() {
            return None;
        }
        match core::str::from_utf8(self.0) {
            Ok(text) => Some(text),
            Err(_) => None,
        }
    }
}

impl<'m> MultipleCharValue<'m> {
    /// Returns the bytes as they are on the wire.
    #[must_use]
    pub const fn as_bytes(self) -> &'m [u8] {
        self.0
    }

    /// Returns the letters and digits, in the sender's order.
    pub fn iter(self) -> impl ExactSizeIterator<Item = Char> + Clone + 'm {
        self.0.iter().step_by(2).map(|byte| Char(*byte))
    }
}

impl<'m> MultipleStringValue<'m> {
    /// Returns the bytes as they are on the wire.
    #[must_use]
    pub const fn as_bytes(self) -> &'m [u8] {
        self.0
    }

    /// Returns the tokens, in the sender's order.
    pub fn iter(self) -> impl Iterator<Item = Text<'m>> + Clone {
        self.0.split(|byte| *byte == b' ').map(Text)
    }
}

/// data and XMLData: any bytes, including SOH.
impl<'m> FromField<'m> for &'m [u8] {
    #[inline]
    fn from_field(value: &'m [u8]) -> Result<Self, ValueError> {
        if value.is_empty() { Err(ValueError::Empty) } else { Ok(value) }
    }
}

/// String. It contains no SOH, as the index ends a value there.
impl<'m> FromField<'m> for Text<'m> {
    #[inline]
    fn from_field(value: &'m [u8]) -> Result<Self, ValueError> {
        <&[u8]>::from_field(value).map(Self)
    }
}

impl FromField<'_> for Char {
    #[inline]
    fn from_field(value: &[u8]) -> Result<Self, ValueError> {
        match value {
            [] => Err(ValueError::Empty),
            [byte] if *byte != 1 => Ok(Self(*byte)),
            _ => Err(ValueError::Format),
        }
    }
}

/// Boolean: `Y` or `N`.
impl FromField<'_> for bool {
    #[inline]
    fn from_field(value: &[u8]) -> Result<Self, ValueError> {
        match value {
            [] => Err(ValueError::Empty),
            b"Y" => Ok(true),
            b"N" => Ok(false),
            _ => Err(ValueError::Format),
        }
    }
}

impl<'m> FromField<'m> for MultipleCharValue<'m> {
    fn from_field(value: &'m [u8]) -> Result<Self, ValueError> {
        if value.is_empty() {
            return Err(ValueError::Empty);
        }
        let right = |(place, byte): (usize, &u8)| {
            if place % 2 == 0 { byte.is_ascii_alphanumeric() } else { *byte == b' ' }
        };
        if value.len() % 2 == 1 && value.iter().enumerate().all(right) {
            Ok(Self(value))
        } else {
            Err(ValueError::Format)
        }
    }
}

impl<'m> FromField<'m> for MultipleStringValue<'m> {
    fn from_field(value: &'m [u8]) -> Result<Self, ValueError> {
        if value.is_empty() {
            return Err(ValueError::Empty);
        }
        if value.split(|byte| *byte == b' ').any(<[u8]>::is_empty) {
            Err(ValueError::Format)
        } else {
            Ok(Self(value))
        }
    }
}

impl ToField for Char {
    const MAX_LEN: usize = 1;

    #[inline]
    fn write_to(&self, out: &mut [u8]) -> usize {
        out[0] = self.0;
        1
    }
}

impl ToField for bool {
    const MAX_LEN: usize = 1;

    #[inline]
    fn write_to(&self, out: &mut [u8]) -> usize {
        out[0] = if *self { b'Y' } else { b'N' };
        1
    }
}

impl PartialEq<str> for Text<'_> {
    fn eq(&self, other: &str) -> bool {
        self.0 == other.as_bytes()
    }
}

impl PartialEq<&str> for Text<'_> {
    fn eq(&self, other: &&str) -> bool {
        self.0 == other.as_bytes()
    }
}

impl AsRef<[u8]> for Text<'_> {
    fn as_ref(&self) -> &[u8] {
        self.0
    }
}

/// Each byte as its ISO 8859-1 character.
impl fmt::Display for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.as_ascii() {
            Some(text) => f.pad(text),
            None => self.0.iter().try_for_each(|byte| f.write_char(char::from(*byte))),
        }
    }
}

impl fmt::Display for Char {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_char(char::from(self.0))
    }
}

impl fmt::Display for MultipleCharValue<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Text(self.0).fmt(f)
    }
}

impl fmt::Display for MultipleStringValue<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Text(self.0).fmt(f)
    }
}

/// Implements `Debug` with the type's name around its escaped bytes.
macro_rules! debug_escaped {
    ($($type:ty, $name:literal, $bytes:expr;)+) => {$(
        impl fmt::Debug for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let bytes: fn(&Self) -> &[u8] = $bytes;
                write!(f, concat!($name, "(\"{}\")"), bytes(self).escape_ascii())
            }
        }
    )+};
}
debug_escaped! {
    Text<'_>, "Text", |text| text.0;
    Char, "Char", |char| core::slice::from_ref(&char.0);
    MultipleCharValue<'_>, "MultipleCharValue", |value| value.0;
    MultipleStringValue<'_>, "MultipleStringValue", |value| value.0;
}
