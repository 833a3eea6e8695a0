//! Tags in the form in which they are written, and which side writes each field.

use crate::data_fields;
use crate::number::Tag;

/// A tag in the form in which it is written: its digits and `=`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Key {
    pub(crate) tag: Tag,
    pub(crate) len: u8,
    pub(crate) owner: Owner,
    /// Whether it is a length field or a data field of the standard.
    pub(crate) paired: bool,
    /// Whether nothing is special about it: an application's field, not paired, with a tag of up to
    /// seven digits.
    pub(crate) plain: bool,
    /// Digits and `=`; the rest is unused.
    pub(crate) text: [u8; 12],
    /// The sum of digits, `=` and the SOH that ends the field, modulo 256.
    pub(crate) sum: u8,
}

/// Who writes a field.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Owner {
    /// The application, in the body.
    Body,
    /// The application, in the header.
    Header,
    /// The session.
    Session,
}

impl Key {
    /// Creates the key of a tag.
    ///
    /// # Panics
    /// Panics if `tag` is 0 or above 2^31 - 1; in a constant this fails the build.
    #[must_use]
    pub const fn new(tag: u32) -> Self {
        Self::of(Tag::new(tag))
    }

    /// Creates the key of a tag.
    #[must_use]
    pub const fn of(tag: Tag) -> Self {
        let mut digits = 1;
        let mut rest = tag.number() / 10;
        while rest > 0 {
            digits += 1;
            rest /= 10;
        }
        let mut text = [b'='; 12];
        let mut sum = b'=' + 1;
        let mut rest = tag.number();
        let mut n = digits;
        while n > 0 {
            n -= 1;
            text[n] = b'0' + (rest % 10) as u8;
            sum = sum.wrapping_add(text[n]);
            rest /= 10;
        }
        let number = tag.number();
        let owner = if is_session_field(number) {
            Owner::Session
        } else if is_header_field(number) {
            Owner::Header
        } else {
            Owner::Body
        };
        let paired = data_fields::is_paired(number);
        let plain = !paired && !matches!(owner, Owner::Session) && digits <= 7;
        Self { tag, len: digits as u8 + 1, owner, paired, plain, text, sum }
    }

    /// Returns the tag.
    #[must_use]
    pub const fn tag(&self) -> Tag {
        self.tag
    }
}

/// A constant of a generated version, such as `fix44::tags::PRICE`, reads a field, too.
impl From<Key> for Tag {
    #[inline]
    fn from(key: Key) -> Self {
        key.tag
    }
}

/// Header and trailer fields that the session writes itself.
pub(crate) const fn is_session_field(tag: u32) -> bool {
    matches!(tag, 8 | 9 | 10 | 34 | 35 | 43 | 49 | 52 | 56 | 122)
}

/// Header fields that the application writes, before the body.
pub(crate) const fn is_header_field(tag: u32) -> bool {
    matches!(
        tag,
        50 | 57
            | 90
            | 91
            | 97
            | 115
            | 116
            | 128
            | 129
            | 142
            | 143
            | 144
            | 145
            | 212
            | 213
            | 347
            | 369
            | 370
            | 627
            | 628
            | 629
            | 630
            | 1128
            | 1129
            | 1156
    )
}
