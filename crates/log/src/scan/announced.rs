//! What the BodyLength (9) of a message says about its end, and whether CheckSum is there.

use super::extent::{Extent, is_tail};
use super::separator::Separator;

/// What the BodyLength (9) of a message announces.
pub(super) enum Announced {
    /// A body of `length` bytes, in which each separator counts as one, from index `begin` on.
    Body {
        begin: usize,
        length: usize,
    },
    More,
}

/// Returns what the BodyLength (9) at this index announces; `None` if there is no BodyLength.
pub(super) fn announced_body(bytes: &[u8], at: usize, separator: Separator) -> Option<Announced> {
    const MOST_DIGITS: usize = 9;
    let (field, separator) = (&bytes[at..], separator.bytes());
    let Some(value) = field.strip_prefix(b"9=") else {
        return b"9=".starts_with(field).then_some(Announced::More);
    };
    let digits = value.iter().take(MOST_DIGITS).take_while(|byte| byte.is_ascii_digit()).count();
    let after = &value[digits..];
    if after.starts_with(separator) && digits > 0 {
        let length = value[..digits].iter().fold(0, |sum, digit| sum * 10 + usize::from(digit - b'0'));
        return Some(Announced::Body { begin: at + 2 + digits + separator.len(), length });
    }
    separator.starts_with(after).then_some(Announced::More)
}

/// Returns the end of the CheckSum (10) that follows a body of `length` bytes, in which each
/// separator counts as one, from index `begin` on; `None` if there is none.
pub(super) fn check_sum_after(
    bytes: &[u8],
    begin: usize,
    length: usize,
    separator: Separator,
    complete: bool,
) -> Option<Extent> {
    let size = separator.bytes().len();
    let (mut from, mut left) = (begin, length);
    let at = loop {
        // The last byte of the body is a separator. It is here if there is no other one before.
        let last = (from + left).checked_sub(1)?;
        // A separator of one byte counts as what it is.
        let searched = if size == 1 { last } else { from };
        let found = bytes
            .get(searched..)
            .and_then(|rest| separator.find(&rest[..rest.len().min(last + size - searched)]));
        match found.map(|found| searched + found) {
            Some(found) if found == last => break last,
            Some(found) => {
                left -= found + 1 - from;
                from = found + size;
            }
            None if last + size <= bytes.len() => return None,
            None => return Some(Extent::More),
        }
    };
    let tag = &bytes[at + size..];
    if !tag.starts_with(b"10=") {
        return b"10=".starts_with(tag).then_some(Extent::More);
    }
    match check_sum_at(bytes, at, separator, complete) {
        CheckSum::Whole(end) => Some(Extent::Length(end)),
        CheckSum::More => Some(Extent::More),
        // Logs often omit the last separator.
        CheckSum::Digits(end) => {
            let is_end = end > at + size + 3 && bytes.get(end).is_none_or(|byte| is_tail(&[*byte], true));
            is_end.then_some(Extent::Length(end))
        }
    }
}

/// What is at the place of a CheckSum.
pub(super) enum CheckSum {
    /// CheckSum with its separator, up to this index.
    Whole(usize),
    /// Digits up to this index, but no separator.
    Digits(usize),
    More,
}

pub(super) fn check_sum_at(bytes: &[u8], at: usize, separator: Separator, complete: bool) -> CheckSum {
    const MOST_DIGITS: usize = 20;
    let separator = separator.bytes();
    let value = at + separator.len() + 3;
    let digits = bytes[value..].iter().take(MOST_DIGITS).take_while(|byte| byte.is_ascii_digit()).count();
    let after = &bytes[value + digits..];
    if after.starts_with(separator) {
        CheckSum::Whole(value + digits + separator.len())
    } else if !complete && separator.starts_with(after) {
        CheckSum::More
    } else {
        CheckSum::Digits(value + digits)
    }
}
