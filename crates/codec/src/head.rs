//! The beginning of a message: BeginString and BodyLength, which say where it ends.

use crate::frame::{FrameError, Framed, START, TRAILER_LEN};

/// `8=FIXT.1.1` has ten bytes; no BeginString is longer than this.
const BEGIN_STRING_MAX: usize = 16;

/// What the beginning of a buffer contains.
pub(crate) enum Head {
    /// Too few bytes to tell; none of them is wrong.
    Partial,
    Broken(FrameError),
    Whole {
        body_start: usize,
        end: usize,
    },
}

/// Returns the message at the beginning of `buffer` if it is complete and has the form of nearly
/// every message: `8=FIX.n.m` or `8=FIXT.n.m` with one digit each, and BodyLength of up to seven
/// digits. Everything else is left to [`head`].
#[inline]
pub(crate) fn usual_message(buffer: &[u8], max_message_size: usize) -> Option<Framed<'_>> {
    let eight = |at: usize| Some(u64::from_le_bytes(*buffer.get(at..)?.first_chunk()?));
    let (start, rest) = (eight(0)?, eight(8)?);
    let text = |bytes: &[u8; 8]| u64::from_le_bytes(*bytes);
    let digits_at = if start & 0xFF00_FFFF_FFFF_FFFF == text(b"8=FIX.\0.")
        && rest & 0xFFFF_FF00 == text(b"\0\x019=\0\0\0\0")
        && is_digit(start >> 48)
        && is_digit(rest)
    {
        12
    } else if start & 0x00FF_FFFF_FFFF_FFFF == text(b"8=FIXT.\0")
        && rest & 0xFF_FFFF_00FF == text(b".\0\x019=\0\0\0")
        && is_digit(start >> 56)
        && is_digit(rest >> 8)
    {
        13
    } else {
        return None;
    };
    // Digits become their values, and other bytes get a high bit; the lowest of those must be the
    // SOH.
    let values = eight(digits_at)? ^ 0x3030_3030_3030_3030;
    let not_digits = (values | values.wrapping_add(0x0606_0606_0606_0606)) & 0xF0F0_F0F0_F0F0_F0F0;
    let count = not_digits.trailing_zeros() / 8;
    if count == 0 || count == 8 || values >> (8 * count) & 0xFF != 0x31 {
        return None;
    }
    // Combine the digits, right-aligned in eight: pairs, then pairs of pairs, then both halves.
    let length = values << (64 - 8 * count);
    let length = (length.wrapping_mul(10 << 8 | 1) >> 8) & 0x00FF_00FF_00FF_00FF;
    let length = (length.wrapping_mul(100 << 16 | 1) >> 16) & 0x0000_FFFF_0000_FFFF;
    let length = length.wrapping_mul(10_000 << 32 | 1) >> 32;
    let body_start = digits_at + count as usize + 1;
    let end = body_start + usize::try_from(length).ok()? + TRAILER_LEN;
    if length == 0 || end > max_message_size {
        return None;
    }
    let bytes = buffer.get(..end)?;
    let trailer = u64::from_le_bytes(*bytes.last_chunk()?);
    let sum = trailer >> 32;
    let whole = trailer & 0xFF00_0000_FFFF_FFFF == text(b"\x0110=\0\0\0\x01")
        && is_digit(sum)
        && is_digit(sum >> 8)
        && is_digit(sum >> 16);
    whole.then_some(Framed { bytes, body_start })
}

/// Returns whether the lowest byte is a digit.
#[inline]
const fn is_digit(text: u64) -> bool {
    (text as u8).is_ascii_digit()
}

/// Reads `8=FIX.n.m SOH 9=ddd SOH`.
// R-FRAME-1
pub(crate) fn head(buffer: &[u8], max_message_size: usize) -> Head {
    if !buffer.starts_with(START) {
        return if START.starts_with(buffer) {
            Head::Partial
        } else {
            Head::Broken(FrameError::NoBeginString)
        };
    }
    let window = &buffer[2..buffer.len().min(2 + BEGIN_STRING_MAX)];
    let Some(soh) = window.iter().position(|b| *b == 1) else {
        return if window.len() < BEGIN_STRING_MAX {
            Head::Partial
        } else {
            Head::Broken(FrameError::BeginString)
        };
    };
    if !is_begin_string(&window[..soh]) {
        return Head::Broken(FrameError::BeginString);
    }
    let nine = 2 + soh + 1;
    let broken = Head::Broken(FrameError::BodyLengthField { at: nine });
    let field = &buffer[nine..];
    if field.len() < 2 {
        return if b"9=".starts_with(field) { Head::Partial } else { broken };
    }
    if !field.starts_with(b"9=") {
        return broken;
    }
    let mut length: usize = 0;
    for (n, b) in field[2..].iter().enumerate() {
        match b {
            b'0'..=b'9' => {
                // Leading zeros are accepted, up to a limit.
                if n >= BEGIN_STRING_MAX {
                    return if length == 0 {
                        broken
                    } else {
                        Head::Broken(FrameError::TooLarge { limit: max_message_size })
                    };
                }
                length = length * 10 + usize::from(b - b'0');
                if length > max_message_size {
                    return Head::Broken(FrameError::TooLarge { limit: max_message_size });
                }
            }
            1 if n > 0 && length > 0 => {
                let body_start = nine + 2 + n + 1;
                let end = body_start + length + TRAILER_LEN;
                if end > max_message_size {
                    return Head::Broken(FrameError::TooLarge { limit: max_message_size });
                }
                return Head::Whole { body_start, end };
            }
            _ => return broken,
        }
    }
    Head::Partial
}

/// `FIX.n.m` or `FIXT.n.m`.
fn is_begin_string(value: &[u8]) -> bool {
    let Some(rest) = value.strip_prefix(b"FIX") else { return false };
    let rest = rest.strip_prefix(b"T").unwrap_or(rest);
    let Some(rest) = rest.strip_prefix(b".") else { return false };
    let mut parts = rest.split(|b| *b == b'.');
    let number = |p: Option<&[u8]>| p.is_some_and(|p| !p.is_empty() && p.iter().all(u8::is_ascii_digit));
    number(parts.next()) && number(parts.next()) && parts.next().is_none()
}
