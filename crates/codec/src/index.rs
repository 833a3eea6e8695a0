//! Finds the fields of a message: their tags and the positions of their values, in one pass.
//!
//! The caller lends the storage; nothing is cleared between messages. A message whose BodyLength,
//! CheckSum and first three fields are right always has an index, if the storage holds its fields:
//! one with a syntax error is included and recorded as the first [`Fault`], so that the session can
//! run its own checks before it sends a Reject.

use core::fmt;

use crate::data_fields::DataFields;
use crate::frame::Framed;
use crate::message::Message;
use crate::scan::scan;
use crate::tier::Tier;

// The index of a message (`|` is SOH): a tag for each field, and a span, which has eight bytes.
//
//   message  8=FIX.4.2|9=12|35=D|55=IBM|10=099|
//   tags     8         9    35   55     10
//   starts   2         12   18   23     30
//   ends     9         14   19   26     33
//
//   span     0       4     8
//            | start | end |

/// The position of a value in its message.
// Two numbers in this order: vector instructions write them (see simd).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(C)]
pub struct Span {
    start: u32,
    end: u32,
}

impl Span {
    #[allow(clippy::cast_possible_truncation)] // a frame is far below 4 GiB
    pub(crate) fn new(start: usize, end: usize) -> Self {
        debug_assert!(u32::try_from(end).is_ok());
        Self { start: start as u32, end: end as u32 }
    }

    /// Returns the offset of the first byte.
    #[must_use]
    pub const fn start(self) -> usize {
        self.start as usize
    }

    /// Returns the offset after the last byte.
    #[must_use]
    pub const fn end(self) -> usize {
        self.end as usize
    }

    /// Returns whether the value is empty.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.start == self.end
    }
}

/// Builds [`Message`]s in storage that the caller lends.
///
/// A message of n bytes has fewer than n / 4 well-formed fields, so storage of that size is enough
/// for every counterparty that keeps to the syntax.
///
/// ```
/// use fixbolt_codec::{Frame, Framer, Index, Span};
/// let bytes = b"8=FIX.4.2\x019=12\x0135=D\x0155=IBM\x0110=099\x01";
/// let Frame::Message(framed) = Framer::new(1024).next(bytes) else { panic!() };
/// let (mut tags, mut spans) = ([0; 16], [Span::default(); 16]);
/// let mut index = Index::new(&mut tags, &mut spans);
/// let message = index.build(framed).unwrap();
/// assert_eq!(message.get(55), Some(&b"IBM"[..]));
/// ```
#[derive(Debug)]
pub struct Index<'s> {
    tags: &'s mut [u32],
    spans: &'s mut [Span],
    data_fields: &'s DataFields,
    tier: Tier,
    verifies_checksum: bool,
    /// The first fault of the message built last, if it has one.
    fault: Option<Fault>,
}

/// Why a complete message has no index. It is garbled: ignored with a warning (test cases 2t, 3b,
/// 3c).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum IndexError {
    /// CheckSum (10) is wrong.
    CheckSum {
        /// The checksum of the bytes.
        computed: u8,
        /// The value in the message, up to 999.
        announced: u16,
    },
    /// MsgType (35) is not the third field, or empty.
    MsgTypeNotThird,
    /// The message has more fields than the storage can hold.
    TooManyFields {
        /// The number of fields that the storage can hold.
        limit: usize,
    },
}

impl fmt::Display for IndexError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::CheckSum { computed, announced } => {
                write!(f, "CheckSum (10) is {announced:03}, expected {computed:03}")
            }
            Self::MsgTypeNotThird => f.write_str("MsgType (35) is not the third field"),
            Self::TooManyFields { limit } => write!(f, "the message has more than {limit} fields"),
        }
    }
}

impl core::error::Error for IndexError {}

/// What is wrong with the first field that breaks the syntax.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum FaultKind {
    /// The tag is not a number of 1 to 2^31 - 1 without leading zeros. SessionRejectReason 0.
    InvalidTag,
    /// There is no `=` between two SOHs. SessionRejectReason 0.
    NoEquals,
    /// There is nothing between `=` and SOH. SessionRejectReason 4.
    EmptyValue,
    /// A length field is directly before its data field, and no SOH is where the data ends by its
    /// value, or only in CheckSum or after it. The data ends at its first SOH instead, so that what
    /// is read as the fields after it may be a part of it. SessionRejectReason 5.
    DataLength,
}

/// The first field of a message that breaks the syntax; for a data field whose length is wrong,
/// its length field.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Fault {
    /// What is wrong.
    pub kind: FaultKind,
    /// Position of the field in the message, from 0.
    pub field: usize,
    /// The bytes of its tag as sent, or the whole field if it has no `=`: RefTagID of the Reject.
    pub tag: Span,
}

impl<'s> Index<'s> {
    /// Creates an index over the borrowed storage, whose shorter part limits the number of fields.
    /// It knows the data fields of the standard versions.
    ///
    /// Vector instructions write as many as 32 fields at a time: if the storage does not have room
    /// for 32 fields more than a message has, the message may be searched without them, which takes
    /// several times as long.
    #[must_use]
    pub fn new(tags: &'s mut [u32], spans: &'s mut [Span]) -> Self {
        let (data_fields, tier) = (DataFields::STANDARD, Tier::current());
        Self { tags, spans, data_fields, tier, verifies_checksum: true, fault: None }
    }

    /// Replaces the data fields by those of a dialect.
    #[must_use]
    pub fn with_data_fields(self, data_fields: &'s DataFields) -> Self {
        Self { data_fields, ..self }
    }

    /// Uses another tier than [`Tier::current`], to compare or to measure it.
    #[must_use]
    pub fn with_tier(self, tier: Tier) -> Self {
        Self { tier, ..self }
    }

    /// Sets whether CheckSum is verified, as it is by default. A counterparty whose checksums are
    /// wrong is the only reason not to.
    #[must_use]
    pub fn with_checksum_verified(self, verified: bool) -> Self {
        Self { verifies_checksum: verified, ..self }
    }

    /// Verifies CheckSum and finds all fields.
    ///
    /// # Errors
    /// Returns [`IndexError`] if the message is garbled.
    #[inline]
    pub fn build<'m>(&'m mut self, framed: Framed<'m>) -> Result<Message<'m>, IndexError> {
        let bytes = framed.bytes();
        let found = self.tier.find(bytes, self.data_fields, self.tags, self.spans);
        if let Err(error) = verify_check_sum(bytes, found.sum)
            && self.verifies_checksum
        {
            return Err(error);
        }
        let (count, fault) = if found.place.at as usize == bytes.len() {
            (found.place.field as usize, None)
        } else {
            scan(bytes, found.place, self.data_fields, self.tags, self.spans)?
        };
        // R-FRAME-3
        if count < 3 || self.tags[2] != 35 || self.spans[2].is_empty() {
            return Err(IndexError::MsgTypeNotThird);
        }
        debug_assert!(self.spans[2].start() > framed.body_start() && framed.body_end() < bytes.len());
        let fault = fault.map(|fault| &*self.fault.insert(fault));
        Ok(Message::new(bytes, &self.tags[..count], &self.spans[..count], fault, found.sum))
    }
}

/// Returns the sum of all bytes modulo 256.
#[must_use]
pub fn byte_sum(bytes: &[u8]) -> u8 {
    let add = |sum: u8, byte: &u8| sum.wrapping_add(*byte);
    let Some(last) = bytes.last_chunk::<16>() else { return bytes.iter().fold(0, add) };
    // Sixteen sums, which the compiler keeps in one register. The last sixteen bytes overlap those
    // before, which are not added twice.
    let (chunks, rest) = bytes.as_chunks::<16>();
    let mut sums = [0_u8; 16];
    for chunk in chunks {
        sums = core::array::from_fn(|n| sums[n].wrapping_add(chunk[n]));
    }
    let kept = &LAST[rest.len()..rest.len() + 16];
    for ((sum, byte), kept) in sums.iter_mut().zip(last).zip(kept) {
        *sum = sum.wrapping_add(byte & kept);
    }
    sums.iter().fold(0, add)
}

/// From its byte n on, sixteen bytes of which the last n are set.
const LAST: [u8; 32] = {
    let mut last = [0; 32];
    let mut n = 16;
    while n < 32 {
        last[n] = 0xFF;
        n += 1;
    }
    last
};

// R-FRAME-5
#[inline]
fn verify_check_sum(bytes: &[u8], computed: u8) -> Result<(), IndexError> {
    let digits = &bytes[bytes.len() - 4..bytes.len() - 1];
    let announced = digits.iter().fold(0, |n, d| n * 10 + u16::from(d - b'0'));
    if announced == u16::from(computed) { Ok(()) } else { Err(IndexError::CheckSum { computed, announced }) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::Frame;
    use crate::framer::Framer;
    use crate::number::Tag;

    extern crate std;
    use std::vec::Vec;

    #[test]
    fn the_sum_of_any_number_of_bytes_is_that_of_each_byte() {
        let bytes: Vec<u8> = (0..100_u8).map(|n| n.wrapping_mul(37)).collect();
        for end in 0..bytes.len() {
            let expected = bytes[..end].iter().fold(0, |sum: u8, byte| sum.wrapping_add(*byte));
            assert_eq!(byte_sum(&bytes[..end]), expected, "{end}");
        }
    }

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
    fn an_index_is_as_it_is_drawn() {
        let row = |name: &str| {
            let mut lines = include_str!("index.rs").lines();
            let row = lines.find_map(|line| line.strip_prefix("//   ")?.strip_prefix(name));
            row.unwrap().split_whitespace()
        };
        let numbers = |name: &str| row(name).map(|number| number.parse().unwrap()).collect::<Vec<usize>>();
        let text = row("message").next().unwrap();
        let bytes: Vec<u8> = text.bytes().map(|byte| if byte == b'|' { 1 } else { byte }).collect();
        with(&bytes, |m| {
            let m = m.unwrap();
            let tags: Vec<usize> = m.tags().iter().map(|tag| *tag as usize).collect();
            assert_eq!(tags, numbers("tags"));
            let spans: Vec<Span> = (0..m.len()).map(|position| m.span(position)).collect();
            assert_eq!(spans.iter().map(|span| span.start()).collect::<Vec<_>>(), numbers("starts"));
            assert_eq!(spans.iter().map(|span| span.end()).collect::<Vec<_>>(), numbers("ends"));
        });
        let span = [core::mem::offset_of!(Span, start), core::mem::offset_of!(Span, end), size_of::<Span>()];
        assert_eq!(numbers("span"), span);
    }

    #[test]
    fn a_field_is_found_by_its_tag_and_splits_at_the_first_equals() {
        with(&frame(b"35=D\x0158=a=b\x0155=IBM\x01"), |m| {
            let m = m.unwrap();
            assert_eq!(m.get(Tag::new(58)), Some(&b"a=b"[..]));
            assert_eq!(m.field_bytes(4), b"55=IBM");
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
    fn a_data_field_whose_length_is_wrong_ends_at_its_first_soh_and_its_length_field_is_the_fault() {
        for length in ["1", "3", "4", "11", "12", "13", "18", "19", "999999999999999999999"] {
            let fields = std::format!("35=B\x0195={length}\x0196=ab\x0158=x\x01");
            with(&frame(fields.as_bytes()), |m| {
                let m = m.unwrap();
                let fault = m.fault().unwrap();
                assert_eq!((fault.kind, fault.field), (FaultKind::DataLength, 3), "{length}");
                assert_eq!(&m.bytes()[fault.tag.start()..fault.tag.end()], b"95");
                assert_eq!((m.get(Tag::new(96)), m.get(Tag::new(58))), (Some(&b"ab"[..]), Some(&b"x"[..])));
                assert_eq!(m.tags(), [8, 9, 35, 95, 96, 58, 10]);
            });
        }
        for (fields, kind, field) in [
            (&b"35=B\x0158=\x0195=9\x0196=ab\x01"[..], FaultKind::EmptyValue, 3),
            (b"35=B\x0195=9\x0196=\x0158=\x01", FaultKind::DataLength, 3),
            (b"35=B\x0195=1\x0196=ab\x01c\x01", FaultKind::DataLength, 3),
        ] {
            with(&frame(fields), |m| {
                let fault = m.unwrap().fault().unwrap();
                assert_eq!((fault.kind, fault.field), (kind, field), "{}", fields.escape_ascii());
            });
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
    fn a_wrong_sum_is_accepted_if_it_is_not_verified_and_everything_else_still_is() {
        let wrong = |fields: &[u8]| {
            let mut bytes = frame(fields);
            let at = bytes.len() - 4;
            bytes[at..at + 3].copy_from_slice(b"999");
            bytes
        };
        let (mut tags, mut spans) = ([0; 32], [Span::default(); 32]);
        let mut index = Index::new(&mut tags, &mut spans).with_checksum_verified(false);
        for (fields, found) in [
            (&b"35=D\x0155=IBM\x01"[..], Ok(5)),
            (b"55=IBM\x0135=D\x01", Err(IndexError::MsgTypeNotThird)),
            (b"35=B\x0195=3\x0196=ab\x0158=x\x01", Ok(7)),
        ] {
            let bytes = wrong(fields);
            let Frame::Message(framed) = Framer::new(4096).next(&bytes) else { panic!("no frame") };
            assert_eq!(index.build(framed).map(|message| message.len()), found);
        }
    }

    // R-FRAME-3
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
