//! What can be seen of a value at a glance, so that the usual ones need no complete check.
//!
//! A look refuses nothing: a value that it does not accept is checked completely
//! ([`Plan::value_is_right`]). What it accepts is right under every policy. Values are read as
//! words of eight bytes that end where the value ends: every value of a message but the first has
//! that many bytes before its end.

use fixbolt_codec::{Date, FromField, Message};

use super::plan::{Plan, names_a_msg_type};
use super::values::takes_any_value;
use crate::data_type::DataType;

/// Which values of a field are accepted at a glance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Look {
    /// None: the complete check also notes something, or there is no form to be seen.
    Nothing,
    /// Every one that is not empty.
    Any,
    /// A code of one byte.
    Byte,
    /// A code of up to seven bytes.
    Word,
    /// A code that is a plain number.
    CodedNumber,
    /// A plain number.
    Number,
    /// A number with decimals.
    Decimal,
    /// A date and time of day in UTC, except for leap seconds.
    Time,
    /// A date.
    Date,
    /// `Y` or `N`.
    Boolean,
    /// One byte.
    Char,
    /// One to eight digits.
    Count,
}

impl Look {
    /// Returns how the values of a field are looked at. `codes_fit`: whether every code of one byte
    /// is of the field's type.
    pub(crate) fn of(tag: u32, kind: DataType, has_codes: bool, codes_fit: bool) -> Look {
        use DataType::{
            Amt, Boolean, Char, Float, Int, Length, LocalMktDate, NumInGroup, Percentage, Price, PriceOffset,
            Qty, SeqNum, TagNum, UtcDateOnly, UtcTimestamp, Xid, XidRef,
        };
        let is_coded = has_codes && !names_a_msg_type(tag);
        match kind {
            Xid | XidRef => Look::Nothing,
            _ if is_coded && !codes_fit => Look::Nothing,
            Int | Length | SeqNum | TagNum if is_coded => Look::CodedNumber,
            _ if is_coded && takes_any_value(kind) => Look::Word,
            // An open group is of the number that a count says, whatever its codes.
            NumInGroup if is_coded => Look::Nothing,
            _ if is_coded => Look::Byte,
            _ if takes_any_value(kind) => Look::Any,
            Int | Length | SeqNum | TagNum => Look::Number,
            Float | Qty | Price | PriceOffset | Amt | Percentage => Look::Decimal,
            UtcTimestamp => Look::Time,
            UtcDateOnly | LocalMktDate => Look::Date,
            Boolean => Look::Boolean,
            Char => Look::Char,
            NumInGroup => Look::Count,
            _ => Look::Nothing,
        }
    }
}

/// The date that was right last: most times and dates of a day are of the same one.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LastDate(u64);

impl LastDate {
    pub(crate) const fn new() -> LastDate {
        LastDate(u64::from_le_bytes(*b"20000101"))
    }

    #[inline]
    pub(crate) fn is_date(&mut self, date: &[u8; 8]) -> bool {
        u64::from_le_bytes(*date) == self.0 || self.is_another(date)
    }

    #[inline(never)]
    fn is_another(&mut self, date: &[u8; 8]) -> bool {
        let is_date = Date::from_field(date).is_ok();
        if is_date {
            self.0 = u64::from_le_bytes(*date);
        }
        is_date
    }

    /// Returns whether the value is a time of the last date, or of another one, which is then the
    /// last.
    #[inline]
    pub(crate) fn is_time(&mut self, value: &[u8]) -> bool {
        let Some((date, rest)) = value.split_first_chunk::<8>() else { return false };
        let Some(([b'-', clock @ ..], fraction)) = rest.split_first_chunk::<9>() else { return false };
        // Most senders write milliseconds.
        let is_fraction = match <[u8; 4]>::try_from(fraction) {
            Ok(millis) => is_millis(millis),
            Err(_) => is_fraction(fraction),
        };
        is_clock(*clock) && is_fraction && self.is_date(date)
    }
}

const HIGH: u64 = u64::from_le_bytes([0x80; 8]);
const ZEROS: u64 = u64::from_le_bytes([b'0'; 8]);
/// Added to a byte, it carries into the high bit if and only if the byte is above 9.
const ABOVE_NINE: u64 = u64::from_le_bytes([0x76; 8]);

/// Returns a mask (0x80) whose lowest bit is that of the first byte that is not a digit, given the
/// bytes XORed with `0`.
#[inline]
const fn others(digits: u64) -> u64 {
    (digits.wrapping_add(ABOVE_NINE) | digits) & HIGH
}

/// Returns whether the bytes are `HH:MM:SS`, with a second below 60.
#[inline]
const fn is_clock(clock: [u8; 8]) -> bool {
    // Above 29:59:59, byte by byte.
    const LIMIT: u64 = u64::from_le_bytes([0x7D, 0x76, 0x7F, 0x7A, 0x76, 0x7F, 0x7A, 0x76]);
    let digits = u64::from_le_bytes(clock) ^ u64::from_le_bytes(*b"00:00:00");
    let hour = (digits & 0xFF) * 10 + (digits >> 8 & 0xFF);
    (digits.wrapping_add(LIMIT) | digits) & HIGH == 0 && hour <= 23
}

/// Returns whether the bytes are a point and three digits.
#[inline]
const fn is_millis(bytes: [u8; 4]) -> bool {
    // Above 0, and above 9.
    const LIMIT: u32 = u32::from_le_bytes([0x7F, 0x76, 0x76, 0x76]);
    let digits = u32::from_le_bytes(bytes) ^ u32::from_le_bytes(*b".000");
    (digits.wrapping_add(LIMIT) | digits) & 0x8080_8080 == 0
}

/// Returns whether the bytes are nothing, or a point and one to twelve digits.
#[inline]
fn is_fraction(bytes: &[u8]) -> bool {
    match bytes {
        [] => true,
        [b'.', digits @ ..] => matches!(digits.len(), 1..=12) && digits.iter().all(u8::is_ascii_digit),
        _ => false,
    }
}

/// A value of one to eight bytes as a number, the first byte lowest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Word {
    pub(crate) bytes: u64,
    pub(crate) length: usize,
}

impl Word {
    #[inline(always)]
    pub(crate) fn of(message: &Message<'_>, position: usize) -> Option<Word> {
        let span = message.span(position);
        let length = span.end() - span.start();
        if length.wrapping_sub(1) >= 8 {
            return None;
        }
        // No value begins before the third byte, so that a span that ended before the eighth would
        // wrap to one that does not exist.
        let last = message.bytes().get(span.end().wrapping_sub(8)..)?.first_chunk()?;
        Some(Word { bytes: u64::from_le_bytes(*last) >> (64 - 8 * length), length })
    }

    /// Returns the bytes XORed with `0`; unused ones are 0, as a digit is.
    #[inline(always)]
    const fn digits(self) -> u64 {
        self.bytes ^ ZEROS >> (64 - 8 * self.length as u32)
    }

    #[inline(always)]
    pub(crate) const fn is_digits(self) -> bool {
        others(self.digits()) == 0
    }

    /// Returns whether the value is a number that does not begin with 0.
    #[inline(always)]
    pub(crate) const fn is_plain_number(self) -> bool {
        self.is_digits() && self.digits() & 0xFF != 0
    }

    /// Returns the number that a plain one is.
    #[inline]
    pub(crate) fn plain_number(self) -> Option<u64> {
        let digit = |at: usize| self.bytes >> (8 * at) & 0xF;
        self.is_plain_number().then(|| (0..self.length).fold(0, |number, at| number * 10 + digit(at)))
    }

    /// `-?(\d+(\.\d*)?|\.\d+)`
    #[inline(always)]
    const fn is_decimal(self) -> bool {
        if self.is_digits() {
            return true;
        }
        let mut word = self;
        if word.bytes as u8 == b'-' {
            word = Word { bytes: word.bytes >> 8, length: word.length - 1 };
            if word.length == 0 {
                return false;
            }
        }
        let digits = word.digits();
        let other = others(digits);
        if other == 0 {
            return true;
        }
        // The first byte that is not a digit has to be the point, the only one and not alone.
        let place = other.trailing_zeros() & !7;
        let without = digits & !(0xFF << place);
        let point = (b'.' ^ b'0') as u64;
        digits ^ without == point << place && others(without) == 0 && word.length > 1
    }
}

/// Returns whether a value of any length is `-?(\d+(\.\d*)?|\.\d+)`.
#[inline(never)]
fn is_long_decimal(message: &Message<'_>, position: usize) -> bool {
    let span = message.span(position);
    let value = &message.bytes()[span.start()..span.end()];
    let magnitude = value.strip_prefix(b"-").unwrap_or(value);
    let (words, rest) = magnitude.as_chunks::<8>();
    let mut points = 0;
    let mut is_right = |digits: u64| {
        let other = others(digits);
        if other != 0 {
            let place = other.trailing_zeros() & !7;
            let without = digits & !(0xFF << place);
            if digits ^ without != u64::from(b'.' ^ b'0') << place || others(without) != 0 {
                return false;
            }
            points += 1;
        }
        true
    };
    if !words.iter().all(|word| is_right(u64::from_le_bytes(*word) ^ ZEROS)) {
        return false;
    }
    if !rest.is_empty() {
        let Some(last) = message.bytes()[..span.end()].last_chunk() else { return false };
        let last = Word { bytes: u64::from_le_bytes(*last) >> (64 - 8 * rest.len()), length: rest.len() };
        if !is_right(last.digits()) {
            return false;
        }
    }
    points <= 1 && magnitude.len() > points
}

impl Plan {
    /// Returns whether the field's value can be seen to be right.
    #[inline(never)]
    pub(crate) fn looks_right(
        &self,
        slot: u16,
        message: &Message<'_>,
        position: usize,
        dates: &mut LastDate,
    ) -> bool {
        let word = || Word::of(message, position);
        let is_byte = || self.is_code_of_one_byte(slot, message, position);
        let has = |word: Word| self.codes(self.field(slot)).is_some_and(|codes| codes.has_word(word));
        match self.field(slot).look {
            Look::Any => !message.span(position).is_empty(),
            Look::Byte => is_byte(),
            Look::Word => is_byte() || word().is_some_and(has),
            Look::CodedNumber => is_byte() || word().is_some_and(|word| word.is_plain_number() && has(word)),
            Look::Number => word().is_some_and(Word::is_plain_number),
            Look::Decimal => is_decimal(message, position),
            Look::Time => dates.is_time(message.value(position)),
            Look::Date => <&[u8; 8]>::try_from(message.value(position)).is_ok_and(|date| dates.is_date(date)),
            Look::Boolean => matches!(message.value(position), b"Y" | b"N"),
            Look::Char => matches!(message.value(position), [byte] if *byte != 1),
            Look::Count => word().is_some_and(Word::is_digits),
            Look::Nothing => false,
        }
    }

    /// Returns whether the value of a field with codes is one of one byte.
    #[inline(always)]
    pub(crate) fn is_code_of_one_byte(&self, slot: u16, message: &Message<'_>, position: usize) -> bool {
        let span = message.span(position);
        span.end() - span.start() == 1
            && self.codes(self.field(slot)).is_some_and(|codes| codes.has_byte(message.bytes()[span.start()]))
    }
}

/// Returns whether the value is a number with decimals, of any length.
#[inline(always)]
pub(crate) fn is_decimal(message: &Message<'_>, position: usize) -> bool {
    match Word::of(message, position) {
        Some(word) => word.is_decimal(),
        None => is_long_decimal(message, position),
    }
}
