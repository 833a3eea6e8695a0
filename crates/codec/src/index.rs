//! Which fields a message holds and where: tags and value spans, found in one walk over the bytes.
//!
//! The caller lends the storage and gets it back filled; nothing is zeroed between messages. A message whose length and sum
//! are right always yields an index: a field that breaks the syntax is kept with its bytes and remembered as the first
//! [`Fault`], so that the session's own checks run before the Reject.

use core::fmt;

use crate::data_fields::DataFields;
use crate::framer::{Framed, TRAILER_LEN};
use crate::number::Tag;

/// Where a value stands in its message.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Span {
    start: u32,
    end: u32,
}

impl Span {
    /// Offset of the first byte.
    #[must_use]
    pub const fn start(self) -> usize {
        self.start as usize
    }

    /// Offset behind the last byte.
    #[must_use]
    pub const fn end(self) -> usize {
        self.end as usize
    }

    /// Whether there is no byte.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.start == self.end
    }
}

/// Builds [`Message`]s in storage that the caller lends.
///
/// A message of n bytes has fewer than n / 4 fields that are well-formed; with storage of that size it never runs out for a
/// sender that keeps to the syntax.
///
/// ```
/// use fixbolt_codec::{Frame, Framer, Index, Span, Tag};
/// let bytes = b"8=FIX.4.2\x019=12\x0135=D\x0155=IBM\x0110=099\x01";
/// let Frame::Message(framed) = Framer::new(1024).next(bytes) else { panic!() };
/// let (mut tags, mut spans) = ([0; 16], [Span::default(); 16]);
/// let mut index = Index::new(&mut tags, &mut spans);
/// let message = index.build(framed).unwrap();
/// assert_eq!(message.get(Tag::new(55)), Some(&b"IBM"[..]));
/// ```
#[derive(Debug)]
pub struct Index<'s> {
    tags: &'s mut [u32],
    spans: &'s mut [Span],
    data_fields: DataFields<'s>,
}

/// Why a complete message has no index: it is garbled, and ignored with a warning (test cases 2t, 3b, 3c).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum IndexError {
    /// CheckSum (10) is not the sum of the bytes.
    CheckSum {
        /// The value that the bytes give.
        computed: u8,
        /// The value that the message carries, up to 999.
        announced: u16,
    },
    /// MsgType (35) is not the third field, or empty.
    MsgTypeNotThird,
    /// A data field is longer or shorter than its length field says, so that no field behind it can be trusted.
    DataLength {
        /// Offset of the data field.
        at: usize,
    },
    /// More fields than the lent storage holds.
    TooManyFields {
        /// What the storage holds.
        limit: usize,
    },
}

impl fmt::Display for IndexError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::CheckSum { computed, announced } => {
                write!(f, "CheckSum (10) is {announced:03}, the bytes give {computed:03}")
            }
            Self::MsgTypeNotThird => f.write_str("MsgType (35) is not the third field"),
            Self::DataLength { at } => {
                write!(f, "the data field at byte {at} does not end where its length says")
            }
            Self::TooManyFields { limit } => write!(f, "more than {limit} fields"),
        }
    }
}

impl core::error::Error for IndexError {}

/// How the first broken field of a message is broken.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum FaultKind {
    /// The tag is not a number of 1 to 2^31 - 1 without leading zeros. SessionRejectReason 0.
    InvalidTag,
    /// There is no `=` between two SOH. SessionRejectReason 0.
    NoEquals,
    /// Nothing stands between `=` and SOH. SessionRejectReason 4.
    EmptyValue,
}

/// The first field of a message that breaks the syntax.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Fault {
    /// What is wrong.
    pub kind: FaultKind,
    /// Position of the field in the message, from 0.
    pub field: usize,
    /// The bytes of its tag as sent (the whole field when it has no `=`): RefTagID of the Reject.
    pub tag: Span,
}

impl<'s> Index<'s> {
    /// An index over the lent storage; the shorter of the two bounds the number of fields. Knows the data fields of the
    /// standard versions.
    #[must_use]
    pub const fn new(tags: &'s mut [u32], spans: &'s mut [Span]) -> Self {
        Self { tags, spans, data_fields: DataFields::STANDARD }
    }

    /// The same with other data fields, for a dialect of its own.
    #[must_use]
    pub const fn with_data_fields(self, data_fields: DataFields<'s>) -> Self {
        Self { tags: self.tags, spans: self.spans, data_fields }
    }

    /// Verifies CheckSum and finds every field.
    ///
    /// # Errors
    /// [`IndexError`]: the message is garbled.
    pub fn build<'m>(&'m mut self, framed: Framed<'m>) -> Result<Message<'m>, IndexError> {
        let bytes = framed.bytes();
        verify_check_sum(bytes)?;
        let (count, fault) = scan(bytes, &self.data_fields, self.tags, self.spans)?;
        if count < 3 || self.tags[2] != 35 || self.spans[2].is_empty() {
            return Err(IndexError::MsgTypeNotThird);
        }
        debug_assert!(self.spans[2].start() > framed.body_start() && framed.body_end() < bytes.len());
        Ok(Message { bytes, tags: &self.tags[..count], spans: &self.spans[..count], fault })
    }
}

/// The sum of all bytes modulo 256.
#[must_use]
pub fn byte_sum(bytes: &[u8]) -> u8 {
    bytes.iter().fold(0, |sum: u8, b| sum.wrapping_add(*b))
}

fn verify_check_sum(bytes: &[u8]) -> Result<(), IndexError> {
    let (summed, trailer) = bytes.split_at(bytes.len() - TRAILER_LEN);
    let computed = byte_sum(summed);
    let announced = trailer[3..6].iter().fold(0, |n, d| n * 10 + u16::from(d - b'0'));
    if announced == u16::from(computed) { Ok(()) } else { Err(IndexError::CheckSum { computed, announced }) }
}

/// The plain loop: for every field its tag, then its value to the next SOH; a data field's value by its length.
///
/// `bytes` ends with SOH, so neither inner search runs past the end.
fn scan(
    bytes: &[u8],
    data_fields: &DataFields<'_>,
    tags: &mut [u32],
    spans: &mut [Span],
) -> Result<(usize, Option<Fault>), IndexError> {
    let limit = tags.len().min(spans.len());
    let (tags, spans) = (&mut tags[..limit], &mut spans[..limit]);
    let mut fault = None;
    let mut count = 0;
    let mut at = 0;
    // Data tag and length announced by the field before, when that was a length field.
    let mut announced: Option<(u32, usize)> = None;
    while at < bytes.len() {
        if count == limit {
            return Err(IndexError::TooManyFields { limit });
        }
        let start = at;
        let (tag, value) = match read_tag(bytes, start) {
            Ok(found) => found,
            Err(broken) => {
                let (kind, tag_end, value) = broken;
                fault = fault.or(Some(Fault { kind, field: count, tag: span(start, tag_end) }));
                (0, value)
            }
        };
        at = value;
        match announced.take() {
            Some((data_tag, length)) if tag == data_tag => {
                at = value.saturating_add(length);
                // Its SOH is at most the one in front of CheckSum, or the message would have no CheckSum field.
                if at >= bytes.len() - TRAILER_LEN || bytes[at] != 1 {
                    return Err(IndexError::DataLength { at: start });
                }
            }
            _ => {
                while bytes[at] != 1 {
                    at += 1;
                }
            }
        }
        if at == value && tag != 0 {
            fault = fault.or(Some(Fault {
                kind: FaultKind::EmptyValue,
                field: count,
                tag: span(start, value - 1),
            }));
        }
        tags[count] = tag;
        spans[count] = span(value, at);
        count += 1;
        if let Some(data_tag) = data_fields.data_tag(tag) {
            announced = read_length(&bytes[value..at]).map(|length| (data_tag, length));
        }
        at += 1;
    }
    Ok((count, fault))
}

/// Tag and offset of the value; or what is wrong, where the tag ends and where the value begins.
fn read_tag(bytes: &[u8], start: usize) -> Result<(u32, usize), (FaultKind, usize, usize)> {
    let mut at = start;
    let mut tag: u32 = 0;
    while let digit @ 0..=9 = bytes[at].wrapping_sub(b'0') {
        tag = tag.wrapping_mul(10).wrapping_add(u32::from(digit));
        at += 1;
    }
    let digits = at - start;
    // Up to nine digits cannot overflow; ten are read again with room.
    if bytes[at] == b'=' && digits > 0 && bytes[start] != b'0' {
        if digits <= 9 {
            return Ok((tag, at + 1));
        }
        if digits == 10 {
            let wide = bytes[start..at].iter().fold(0u64, |n, d| n * 10 + u64::from(d - b'0'));
            if let Ok(tag) = u32::try_from(wide)
                && Tag::try_new(tag).is_some()
            {
                return Ok((tag, at + 1));
            }
        }
    }
    while bytes[at] != b'=' && bytes[at] != 1 {
        at += 1;
    }
    if bytes[at] == b'=' {
        Err((FaultKind::InvalidTag, at, at + 1))
    } else {
        Err((FaultKind::NoEquals, at, start))
    }
}

fn read_length(value: &[u8]) -> Option<usize> {
    if value.is_empty() {
        return None;
    }
    value.iter().try_fold(0usize, |n, b| {
        b.is_ascii_digit().then(|| n.saturating_mul(10).saturating_add(usize::from(b - b'0')))
    })
}

#[allow(clippy::cast_possible_truncation)] // a frame is at most MaxMessageSize, far below 4 GiB; checked by the assertion
fn span(start: usize, end: usize) -> Span {
    debug_assert!(u32::try_from(end).is_ok());
    Span { start: start as u32, end: end as u32 }
}

/// One field of a message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Field<'m> {
    /// The tag; `None` when the bytes in front of `=` are no tag.
    pub tag: Option<Tag>,
    /// The bytes between `=` and SOH; the whole field when it has no `=`.
    pub value: &'m [u8],
}

/// A message whose length and sum are right, as a view over the bytes and their index. Copying it copies four references.
#[derive(Clone, Copy, Debug)]
pub struct Message<'m> {
    bytes: &'m [u8],
    tags: &'m [u32],
    spans: &'m [Span],
    fault: Option<Fault>,
}

impl<'m> Message<'m> {
    /// The message from `8=` to the last SOH.
    #[must_use]
    pub const fn bytes(&self) -> &'m [u8] {
        self.bytes
    }

    /// Number of fields, 8, 9 and 10 included.
    #[must_use]
    #[allow(clippy::len_without_is_empty)] // a message has at least 8, 9, 35 and 10
    pub const fn len(&self) -> usize {
        self.tags.len()
    }

    /// The first field that breaks the syntax, if one does.
    #[must_use]
    pub const fn fault(&self) -> Option<Fault> {
        self.fault
    }

    /// BeginString (8).
    #[must_use]
    pub fn begin_string(&self) -> &'m [u8] {
        self.value(0)
    }

    /// MsgType (35).
    #[must_use]
    pub fn msg_type(&self) -> &'m [u8] {
        self.value(2)
    }

    /// The tags in the order of the message; 0 where a field has none.
    #[must_use]
    pub const fn tags(&self) -> &'m [u32] {
        self.tags
    }

    /// Where the value of field `position` stands.
    ///
    /// # Panics
    /// When `position` is not below [`Message::len`].
    #[must_use]
    pub const fn span(&self, position: usize) -> Span {
        self.spans[position]
    }

    /// The value of field `position`.
    ///
    /// # Panics
    /// When `position` is not below [`Message::len`].
    #[must_use]
    pub fn value(&self, position: usize) -> &'m [u8] {
        let span = self.spans[position];
        &self.bytes[span.start()..span.end()]
    }

    /// Field `position`.
    ///
    /// # Panics
    /// When `position` is not below [`Message::len`].
    #[must_use]
    pub fn field(&self, position: usize) -> Field<'m> {
        Field { tag: Tag::try_new(self.tags[position]), value: self.value(position) }
    }

    /// The bytes of field `position` as sent, tag and `=` included, SOH not.
    ///
    /// # Panics
    /// When `position` is not below [`Message::len`].
    #[must_use]
    pub fn field_bytes(&self, position: usize) -> &'m [u8] {
        let start = if position == 0 { 0 } else { self.spans[position - 1].end() + 1 };
        &self.bytes[start..self.spans[position].end()]
    }

    /// All fields in order.
    pub fn fields(&self) -> impl ExactSizeIterator<Item = Field<'m>> + use<'m> {
        let message = *self;
        (0..self.tags.len()).map(move |position| message.field(position))
    }

    /// Position of the first field with this tag.
    #[must_use]
    pub fn position(&self, tag: Tag) -> Option<usize> {
        self.tags.iter().position(|t| *t == tag.number())
    }

    /// Position of the first field with this tag at or behind `from`, else of the first one before it. Reading in wire
    /// order with `from` one past the last hit finds every field at the first try.
    #[must_use]
    pub fn position_near(&self, from: usize, tag: Tag) -> Option<usize> {
        let from = from.min(self.tags.len());
        let number = tag.number();
        match self.tags[from..].iter().position(|t| *t == number) {
            Some(n) => Some(from + n),
            None => self.tags[..from].iter().position(|t| *t == number),
        }
    }

    /// The value of the first field with this tag.
    #[must_use]
    pub fn get(&self, tag: Tag) -> Option<&'m [u8]> {
        self.position(tag).map(|position| self.value(position))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::framer::{Frame, Framer};

    extern crate std;
    use std::vec::Vec;

    fn frame(fields: &[u8]) -> Vec<u8> {
        let mut m = std::format!("8=FIX.4.4\x019={}\x01", fields.len()).into_bytes();
        m.extend_from_slice(fields);
        let sum = byte_sum(&m);
        m.extend_from_slice(std::format!("10={sum:03}\x01").as_bytes());
        m
    }

    fn with<R>(bytes: &[u8], look: impl FnOnce(Result<Message<'_>, IndexError>) -> R) -> R {
        let Frame::Message(framed) = Framer::new(4096).next(bytes) else { panic!("no frame") };
        let (mut tags, mut spans) = ([0; 32], [Span::default(); 32]);
        look(Index::new(&mut tags, &mut spans).build(framed))
    }

    #[test]
    fn a_field_is_found_by_its_tag_and_splits_at_the_first_equals() {
        with(&frame(b"35=D\x0158=a=b\x0155=IBM\x01"), |m| {
            let m = m.unwrap();
            assert_eq!(m.get(Tag::new(58)), Some(&b"a=b"[..]));
            assert_eq!(m.field_bytes(4), b"55=IBM");
            assert_eq!(m.position_near(4, Tag::new(58)), Some(3));
            assert_eq!(m.tags(), [8, 9, 35, 58, 55, 10]);
            assert_eq!(m.fault(), None);
        });
    }

    #[test]
    fn a_data_field_may_hold_soh_and_a_whole_message() {
        let inner = frame(b"35=0\x01");
        let mut fields = std::format!("35=B\x0195={}\x0196=", inner.len()).into_bytes();
        fields.extend_from_slice(&inner);
        fields.extend_from_slice(b"\x0158=x\x01");
        with(&frame(&fields), |m| {
            let m = m.unwrap();
            assert_eq!(m.get(Tag::new(96)), Some(&inner[..]));
            assert_eq!(m.get(Tag::new(58)), Some(&b"x"[..]));
        });
    }

    #[test]
    fn a_data_field_that_does_not_end_where_its_length_says_makes_the_message_garbled() {
        for fields in
            [&b"35=B\x0195=3\x0196=ab\x0158=x\x01"[..], b"35=B\x0195=999999999999999999999\x0196=ab\x01"]
        {
            with(&frame(fields), |m| assert!(matches!(m, Err(IndexError::DataLength { .. }))));
        }
    }

    #[test]
    fn a_broken_field_is_kept_and_the_first_one_remembered() {
        for (field, kind, tag) in [
            (&b"0=x"[..], FaultKind::InvalidTag, &b"0"[..]),
            (b"10000000000=x", FaultKind::InvalidTag, b"10000000000"),
            (b"2147483648=x", FaultKind::InvalidTag, b"2147483648"),
            (b"055=x", FaultKind::InvalidTag, b"055"),
            (b"-1=x", FaultKind::InvalidTag, b"-1"),
            (b"=x", FaultKind::InvalidTag, b""),
            (b"x\0y", FaultKind::NoEquals, b"x\0y"),
            (b"", FaultKind::NoEquals, b""),
            (b"58=", FaultKind::EmptyValue, b"58"),
        ] {
            let mut fields = b"35=D\x01".to_vec();
            fields.extend_from_slice(field);
            fields.extend_from_slice(b"\x0155=IBM\x0154=\x01");
            with(&frame(&fields), |m| {
                let m = m.unwrap();
                let fault = m.fault().unwrap();
                assert_eq!((fault.kind, fault.field), (kind, 3));
                assert_eq!(&m.bytes()[fault.tag.start()..fault.tag.end()], tag);
                assert_eq!(m.get(Tag::new(55)), Some(&b"IBM"[..]));
                assert_eq!(m.field_bytes(3), field);
            });
        }
    }

    #[test]
    fn a_wrong_sum_names_both_values() {
        let mut bytes = frame(b"35=0\x01");
        let n = bytes.len();
        bytes[n - 2] = if bytes[n - 2] == b'9' { b'0' } else { bytes[n - 2] + 1 };
        with(&bytes, |m| assert!(matches!(m, Err(IndexError::CheckSum { .. }))));
    }

    #[test]
    fn msg_type_is_the_third_field_or_the_message_is_garbled() {
        with(&frame(b"34=2\x0135=0\x01"), |m| assert_eq!(m.unwrap_err(), IndexError::MsgTypeNotThird));
        with(&frame(b"35=\x0134=2\x01"), |m| assert_eq!(m.unwrap_err(), IndexError::MsgTypeNotThird));
    }

    #[test]
    fn more_fields_than_storage_is_an_error_not_a_panic() {
        let mut fields = b"35=D\x01".to_vec();
        for _ in 0..40 {
            fields.extend_from_slice(b"58=x\x01");
        }
        with(&frame(&fields), |m| assert_eq!(m.unwrap_err(), IndexError::TooManyFields { limit: 32 }));
    }

    #[test]
    fn the_largest_tag_is_two_to_the_31_less_one() {
        with(&frame(b"35=D\x012147483647=x\x01"), |m| {
            assert_eq!(m.unwrap().get(Tag::MAX), Some(&b"x"[..]));
        });
    }
}
