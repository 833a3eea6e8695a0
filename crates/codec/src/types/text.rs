//! char, Boolean, String and its derived types without a form of their own. data and XMLData are
//! plain bytes.

use super::rendered::Rendered;
use super::{FromField, ToField, ValueError};
use core::fmt::{self, Write as _};
use core::ops::Deref;

/// A String: the bytes as they are on the wire, in ISO 8859-1 unless the parties agreed on another
/// character set. It compares with text and bytes, displays as text, and a `&Text` can be passed
/// wherever a `&[u8]` is wanted.
///
/// ```
/// use fixbolt_codec::{FromField, Text};
///
/// let symbol: &Text = FromField::from_field(b"IBM")?;
/// assert_eq!(symbol, "IBM");
/// assert_eq!(symbol, b"IBM");
/// assert_eq!(symbol.to_str()?.to_lowercase(), "ibm");
/// assert_eq!(format!("{symbol} {symbol:?}"), r#"IBM "IBM""#);
/// let bytes: &[u8] = symbol;
/// assert_eq!(bytes.len(), 3);
/// # Ok::<(), fixbolt_codec::ValueError>(())
/// ```
#[derive(PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(transparent)]
pub struct Text([u8]);

/// A char: exactly one byte other than SOH, case-sensitive.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Char(pub u8);

/// Single letters or digits separated by one space (MultipleCharValue).
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct MultipleCharValue<'m>(&'m [u8]);

/// Tokens separated by one space (MultipleStringValue, and MultipleValueString of FIX.4.2 to 4.4).
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct MultipleStringValue<'m>(&'m [u8]);

impl Text {
    #[allow(unsafe_code)]
    const fn over(bytes: &[u8]) -> &Self {
        // SAFETY: `Text` is a transparent wrapper of `[u8]`, of which any bytes are a valid value.
        // The reference has the lifetime of `bytes`.
        unsafe { &*(core::ptr::from_ref(bytes) as *const Self) }
    }

    /// Returns the bytes as they are on the wire.
    #[inline]
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// Returns the text if its bytes are UTF-8, as all of ASCII is.
    ///
    /// # Errors
    /// Returns [`ValueError::Encoding`] if they are not.
    pub const fn to_str(&self) -> Result<&str, ValueError> {
        match core::str::from_utf8(&self.0) {
            Ok(text) => Ok(text),
            Err(_) => Err(ValueError::Encoding),
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
    pub fn iter(self) -> impl Iterator<Item = &'m Text> + Clone {
        self.0.split(|byte| *byte == b' ').map(Text::over)
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
impl<'m> FromField<'m> for &'m Text {
    #[inline]
    fn from_field(value: &'m [u8]) -> Result<Self, ValueError> {
        <&[u8]>::from_field(value).map(Text::over)
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

    const WORDS: usize = 1;

    #[inline(always)]
    fn to_words(&self) -> Option<Rendered> {
        Rendered::of_byte(self.0)
    }
}

impl ToField for bool {
    const MAX_LEN: usize = 1;

    #[inline]
    fn write_to(&self, out: &mut [u8]) -> usize {
        out[0] = if *self { b'Y' } else { b'N' };
        1
    }

    const WORDS: usize = 1;

    #[inline(always)]
    fn to_words(&self) -> Option<Rendered> {
        Rendered::of_byte(if *self { b'Y' } else { b'N' })
    }
}

impl Deref for Text {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        &self.0
    }
}

impl AsRef<[u8]> for Text {
    #[inline]
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl<'m> From<&'m str> for &'m Text {
    fn from(text: &'m str) -> Self {
        Text::over(text.as_bytes())
    }
}

impl<'m> From<&'m [u8]> for &'m Text {
    fn from(bytes: &'m [u8]) -> Self {
        Text::over(bytes)
    }
}

impl<'m, const N: usize> From<&'m [u8; N]> for &'m Text {
    fn from(bytes: &'m [u8; N]) -> Self {
        Text::over(bytes)
    }
}

/// Compares with text and bytes, on either side.
macro_rules! compares {
    ($([$($generic:tt)*] $other:ty, |$value:ident| $bytes:expr;)+) => {$(
        impl<$($generic)*> PartialEq<$other> for Text {
            #[inline]
            fn eq(&self, $value: &$other) -> bool {
                let bytes: &[u8] = $bytes;
                self.0 == *bytes
            }
        }

        impl<$($generic)*> PartialEq<Text> for $other {
            #[inline]
            fn eq(&self, other: &Text) -> bool {
                other == self
            }
        }
    )+};
}
compares! {
    [] str, |text| text.as_bytes();
    [] [u8], |bytes| bytes;
    [const N: usize] [u8; N], |bytes| bytes;
}

/// As UTF-8 if the bytes are valid, otherwise each byte as its ISO 8859-1 character.
impl fmt::Display for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.to_str() {
            Ok(text) => f.pad(text),
            Err(_) => self.0.iter().try_for_each(|byte| f.write_char(char::from(*byte))),
        }
    }
}

/// Quoted, with escapes for bytes that are not printable ASCII.
impl fmt::Debug for Text {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{}\"", self.0.escape_ascii())
    }
}

impl fmt::Display for Char {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_char(char::from(self.0))
    }
}

impl fmt::Display for MultipleCharValue<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(Text::over(self.0), f)
    }
}

impl fmt::Display for MultipleStringValue<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(Text::over(self.0), f)
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
    Char, "Char", |char| core::slice::from_ref(&char.0);
    MultipleCharValue<'_>, "MultipleCharValue", |value| value.0;
    MultipleStringValue<'_>, "MultipleStringValue", |value| value.0;
}
