//! What a glance shows of a value: most values that are right are seen to be right in a few
//! instructions, under every policy. What a glance does not accept may still be right: it is
//! checked completely.

use fixbolt_codec::{FromField, Message};

use super::values::takes_any_value;
use crate::data_type::DataType;

/// What kind of glance a field needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Glance {
    /// Every value is right.
    Any,
    /// Every value is of the type; it identifies something, or refers to it.
    Identifier,
    /// One byte that is a code.
    Byte,
    /// No glance tells; but the same value is right again.
    Again,
    /// One to eight digits of which the first is not 0.
    Number,
    /// A number with decimals.
    Decimal,
    /// A time.
    Time,
    /// The number of a group's entries.
    Count,
}

impl Glance {
    /// Returns the glance at a field of this type. `codes` says whether it has codes, and if so,
    /// whether some are one byte and every one of these is of the type.
    pub(crate) const fn at(kind: DataType, codes: Option<bool>) -> Self {
        use DataType::{
            Amt, Float, Int, Length, NumInGroup, Percentage, Price, PriceOffset, Qty, SeqNum, TagNum,
            UtcTimestamp, Xid, XidRef,
        };
        match (codes, kind) {
            (_, NumInGroup) => Self::Count,
            (_, Xid | XidRef) => Self::Identifier,
            (Some(true), _) => Self::Byte,
            (Some(false), _) => Self::Again,
            (None, Int | Length | SeqNum | TagNum) => Self::Number,
            (None, Float | Qty | Price | PriceOffset | Amt | Percentage) => Self::Decimal,
            (None, UtcTimestamp) => Self::Time,
            (None, kind) if takes_any_value(kind) => Self::Any,
            (None, _) => Self::Again,
        }
    }
}

/// The identity of values that are too long to have one.
pub(super) const NO_IDENTITY: u128 = u128::MAX - 1;

/// Returns a value of one to eight bytes as a number, the first byte lowest, and its length.
#[inline]
fn word(message: &Message<'_>, position: usize) -> Option<(u64, usize)> {
    let span = message.span(position);
    let length = span.end() - span.start();
    let last = message.bytes().get(span.end().checked_sub(8)?..span.end())?;
    let last = u64::from_le_bytes(last.try_into().ok()?);
    let unused = 8 * 8usize.checked_sub(length)?;
    Some((last.checked_shr(unused as u32)?, length))
}

/// Returns a value of one to eight bytes as a number that no other value has.
#[inline]
pub(super) fn identity(message: &Message<'_>, position: usize) -> u128 {
    word(message, position).map_or(NO_IDENTITY, |(word, length)| u128::from(word) | (length as u128) << 64)
}

/// Returns whether the value is a number of one to eight digits that does not begin with 0.
#[inline]
pub(super) fn is_plain_number(message: &Message<'_>, position: usize) -> bool {
    const ZEROS: u64 = u64::from_le_bytes([b'0'; 8]);
    // Added to a byte, it carries into the high bit if and only if the byte is above 9.
    const ABOVE_NINE: u64 = u64::from_le_bytes([0x76; 8]);
    const HIGH: u64 = u64::from_le_bytes([0x80; 8]);
    word(message, position).is_some_and(|(word, length)| {
        let digits = word ^ ZEROS >> (64 - 8 * length);
        (digits.wrapping_add(ABOVE_NINE) | digits) & HIGH == 0 && digits & 0xFF != 0
    })
}

/// Returns whether the rest of a time, from the last digit of its second on, is right whatever is
/// before it.
#[inline]
pub(super) fn ends_a_time(rest: &[u8]) -> bool {
    match rest {
        [b'0'..=b'9'] => true,
        // Most senders write milliseconds.
        [b'0'..=b'9', b'.', b'0'..=b'9', b'0'..=b'9', b'0'..=b'9'] => true,
        [b'0'..=b'9', b'.', fraction @ ..] => fraction.len() <= 12 && u64::from_field(fraction).is_ok(),
        _ => false,
    }
}
