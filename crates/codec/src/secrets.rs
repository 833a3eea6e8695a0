//! Finds secrets in wire bytes, in whole messages and in bytes that are none: whatever stores or
//! shows bytes hides what is found here.
//!
//! It hides too much rather than too little. The bytes of a secret whose end is not certain are
//! hidden up to where it may end.

use core::fmt;
use core::ops::Range;

use crate::data_fields::DataFields;
use crate::frame::TRAILER_LEN;
use crate::soh::{SOH, first_soh};

const MSG_TYPE: u32 = 35;
const RAW_DATA: u32 = 96;

/// Which fields are secrets, and which fields are data and may contain SOH.
///
/// ```
/// use fixbolt_codec::Secrets;
/// let garbled = b"35=A| 554=open sesame\x0158=x\x01";
/// let hidden: Vec<_> = Secrets::STANDARD.in_garbled(garbled).collect();
/// assert_eq!(hidden, [10..21]);
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Secrets<'s> {
    tags: &'s [u32],
    data_fields: &'s DataFields,
}

impl<'s> Secrets<'s> {
    /// Password (554), NewPassword (925), EncryptedPassword (1402) and EncryptedNewPassword (1404),
    /// and RawData (96) in a Logon, with the data fields of the standard.
    pub const STANDARD: Secrets<'static> =
        Secrets { tags: &[554, 925, 1402, 1404, RAW_DATA], data_fields: DataFields::STANDARD };

    /// Returns the secrets with these tags, of which RawData (96) is one in a Logon only, among
    /// messages with these data fields.
    #[must_use]
    pub const fn new(tags: &'s [u32], data_fields: &'s DataFields) -> Self {
        Self { tags, data_fields }
    }

    /// Returns whether the values of a tag are secrets.
    #[must_use]
    pub fn contain(self, tag: u32, in_logon: bool) -> bool {
        (in_logon || tag != RAW_DATA) && self.tags.contains(&tag)
    }

    /// Returns the places of the secrets in a whole message, ascending.
    ///
    /// A secret ends where its length field says, if an SOH is there, or else at its SOH; what
    /// follows without a tag belongs to it, too. One that is data, and whose length is wrong or
    /// missing, may end anywhere before CheckSum. Other data is not searched if its length is
    /// right, except in a Logon: a length that is too long may end at an SOH by chance, with a
    /// password before it.
    #[must_use]
    pub fn in_message(self, message: &[u8]) -> SecretRanges<'s, '_> {
        let last = message.len().saturating_sub(TRAILER_LEN);
        SecretRanges { last, ..self.ranges(message, Kind::Message) }
    }

    /// Returns the places of the secrets in the bytes of a body, ascending. A body has no MsgType,
    /// so the caller says whether it is a Logon's.
    pub(crate) fn in_body(self, body: &[u8], is_logon: bool) -> SecretRanges<'s, '_> {
        SecretRanges { is_logon, ..self.ranges(body, Kind::Message) }
    }

    /// Returns the places of what may be a secret in bytes that are not a message, ascending.
    ///
    /// Any of them may be a Logon, whose sender may separate fields by something else than SOH:
    /// a tag of a secret counts wherever it is before `=`. Bytes that continue others may be the
    /// rest of a secret from the first to the last, which cannot be seen in them.
    #[must_use]
    pub fn in_garbled(self, bytes: &[u8]) -> SecretRanges<'s, '_> {
        SecretRanges { is_logon: true, ..self.ranges(bytes, Kind::Garbled) }
    }

    fn ranges(self, bytes: &[u8], kind: Kind) -> SecretRanges<'s, '_> {
        SecretRanges {
            secrets: self,
            bytes,
            kind,
            last: bytes.len(),
            at: 0,
            announced: None,
            data_end: 0,
            is_logon: false,
            after_secret: false,
        }
    }
}

/// How bytes are read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    /// As fields.
    Message,
    /// Fields may be anywhere, and no length is trusted to skip them.
    Garbled,
}

/// The places of secrets, ascending, from [`Secrets::in_message`] and [`Secrets::in_garbled`].
#[derive(Clone)]
pub struct SecretRanges<'s, 'b> {
    secrets: Secrets<'s>,
    bytes: &'b [u8],
    kind: Kind,
    /// The SOH of every field but CheckSum is before this.
    last: usize,
    at: usize,
    /// The data tag and the length in the field before.
    announced: Option<(u32, usize)>,
    /// What is before this may be data of a Logon, in which no length is trusted.
    data_end: usize,
    is_logon: bool,
    /// Whether the field before is a secret, or a part of one.
    after_secret: bool,
}

impl Iterator for SecretRanges<'_, '_> {
    type Item = Range<usize>;

    fn next(&mut self) -> Option<Range<usize>> {
        while self.at < self.bytes.len() {
            let (hidden, end) = self.field(self.at, soh_from(self.bytes, self.at));
            self.at = end + 1;
            self.after_secret = hidden.is_some();
            if let Some(from) = hidden {
                return Some(from..end);
            }
        }
        None
    }
}

/// Shows the places that are left, and none of the bytes.
impl fmt::Debug for SecretRanges<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.clone()).finish()
    }
}

impl SecretRanges<'_, '_> {
    /// Reads the field from `at` to `end`, its first SOH. Returns where a secret begins in it, if
    /// one does, and where it ends.
    fn field(&mut self, at: usize, end: usize) -> (Option<usize>, usize) {
        let announced = self.announced.take();
        let found = tag_and_value(self.bytes, at, end);
        if let Some((tag, value)) = found
            && self.secrets.contain(tag, self.is_logon)
        {
            return (Some(value), self.end_of_secret(tag, value, end, announced));
        }
        if (self.kind == Kind::Garbled || found.is_none())
            && let Some((tag, value)) = self.secret_within(at, end)
        {
            let from = if found.is_none() && self.after_secret { at } else { value };
            return (Some(from), self.end_of_secret(tag, value, end, None));
        }
        let Some((tag, value)) = found else { return (self.after_secret.then_some(at), end) };
        if self.kind == Kind::Message
            && let Some(data_end) = self.announced_end(tag, value, announced)
        {
            if !self.is_logon {
                return (None, data_end);
            }
            self.data_end = self.data_end.max(data_end);
        }
        if at < self.data_end {
            return (None, end);
        }
        if let Some(data_tag) = self.secrets.data_fields.data_tag(tag) {
            self.announced = decimal(&self.bytes[value..end]).map(|length| (data_tag, length));
        } else if tag == MSG_TYPE {
            self.is_logon |= self.bytes[value..end] == *b"A";
        }
        (None, end)
    }

    /// Returns the end of a data field by the length before it, if that is right.
    fn announced_end(&self, tag: u32, value: usize, announced: Option<(u32, usize)>) -> Option<usize> {
        let (_, length) = announced.filter(|(data_tag, _)| *data_tag == tag)?;
        let end = value.saturating_add(length);
        (end < self.last && self.bytes[end] == SOH).then_some(end)
    }

    /// Returns where a secret ends at the latest; `soh` is the first SOH after it.
    fn end_of_secret(&self, tag: u32, value: usize, soh: usize, announced: Option<(u32, usize)>) -> usize {
        if self.secrets.data_fields.length_tag(tag).is_none() {
            return soh;
        }
        let most = if self.last < self.bytes.len() { self.last.saturating_sub(1) } else { self.last };
        self.announced_end(tag, value, announced).unwrap_or(most).max(soh)
    }

    /// Returns the tag and the value of the first secret between two positions, whatever is before
    /// its tag.
    fn secret_within(&self, at: usize, end: usize) -> Option<(u32, usize)> {
        let mut equals = (at..end).filter(|n| self.bytes[*n] == b'=');
        equals.find_map(|equals| {
            let before = self.bytes[at..equals].trim_ascii_end();
            let digits = before.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
            let (before, digits) = before.split_at(before.len() - digits);
            let tags = [digits, digits.get(delimiter_digits(before)..).unwrap_or_default()];
            let mut tags = tags.into_iter().filter_map(|tag| u32::try_from(decimal(tag)?).ok());
            tags.find(|tag| self.secrets.contain(*tag, true)).map(|tag| (tag, equals + 1))
        })
    }
}

/// Returns how many digits after these bytes may belong to a delimiter: SOH may be written as
/// `\x01`, `\u0001`, `\001` or `%01`.
fn delimiter_digits(before: &[u8]) -> usize {
    match before {
        [.., b'\\', b'u'] => 4,
        [.., b'\\'] => 3,
        [.., b'\\', b'x'] | [.., b'%'] => 2,
        _ => 0,
    }
}

/// Returns the position of the first SOH at or after `at`, or the end.
fn soh_from(bytes: &[u8], at: usize) -> usize {
    bytes.get(at..).and_then(first_soh).map_or(bytes.len(), |n| at + n)
}

/// Returns the tag of the field from `at` to `end` and the position of its value. It is less strict
/// than the index: blanks around a tag and zeros before it make the field a broken one, and its
/// value no less a secret.
fn tag_and_value(bytes: &[u8], at: usize, end: usize) -> Option<(u32, usize)> {
    let equals = at + bytes[at..end].iter().position(|b| *b == b'=')?;
    let tag = decimal(bytes[at..equals].trim_ascii())?;
    Some((u32::try_from(tag).ok()?, equals + 1))
}

fn decimal(digits: &[u8]) -> Option<usize> {
    if digits.is_empty() {
        return None;
    }
    digits.iter().try_fold(0_usize, |n, digit| {
        let digit = digit.is_ascii_digit().then(|| usize::from(digit - b'0'))?;
        n.checked_mul(10)?.checked_add(digit)
    })
}

#[cfg(test)]
mod tests {
    extern crate std;
    use std::string::ToString;
    use std::vec::Vec;

    use super::*;

    /// Returns the bytes with every hidden one replaced.
    fn masked(bytes: &[u8], ranges: SecretRanges<'_, '_>) -> Vec<u8> {
        let mut bytes = bytes.to_vec();
        for range in ranges {
            bytes[range].fill(b'*');
        }
        bytes
    }

    #[test]
    fn data_that_is_a_secret_and_has_a_wrong_length_is_hidden_up_to_check_sum() {
        for (length, hidden) in [
            // Right, of another field in between, too short, too long, into CheckSum and beyond.
            ("1401=3\x01", "1402=***\x0158=x\x01"),
            ("1401=3\x0158=y\x01", "1402=********\x01"),
            ("1401=1\x01", "1402=********\x01"),
            ("1401=2\x01", "1402=********\x01"),
            ("1401=4\x01", "1402=********\x01"),
            ("1401=9\x01", "1402=********\x01"),
            ("1401=999\x01", "1402=********\x01"),
            ("1401=18446744073709551615\x01", "1402=********\x01"),
            ("1401=99999999999999999999999\x01", "1402=********\x01"),
            ("1401=-3\x01", "1402=********\x01"),
            ("1401=\x01", "1402=********\x01"),
            ("", "1402=********\x01"),
        ] {
            let message = std::format!("8=FIX.4.4\x0135=BE\x01{length}1402=a=b\x0158=x\x0110=000\x01");
            let shown = masked(message.as_bytes(), Secrets::STANDARD.in_message(message.as_bytes()));
            let expected = std::format!("8=FIX.4.4\x0135=BE\x01{length}{hidden}10=000\x01");
            assert_eq!(shown.escape_ascii().to_string(), expected.as_bytes().escape_ascii().to_string());
        }
    }

    #[test]
    fn a_secret_that_a_length_makes_a_part_of_other_data_of_a_logon_is_hidden() {
        for (data, after, hidden) in [
            ("554=secret", "58=y", "554=******|58=y"),
            ("553=me| 925=secret|5=x", "58=y", "553=me| 925=******|5=x|58=y"),
            // No length within the data is trusted, for what is after it neither.
            ("1401=2|1402=ab|99=c", "58=y", "1401=2|1402=************"),
            ("95=2|96=ab", "58=y", "95=2|96=*******"),
            ("1401=2", "1402=ab|99=c", "1401=2|1402=*******"),
            ("58=z", "1401=2|1402=ab|99=c", "58=z|1401=2|1402=**|99=c"),
        ] {
            for (length_tag, tag) in [(212, 213), (354, 355), (93, 89)] {
                let length = std::format!("<x>|{data}").len();
                let message = |rest: &str| {
                    let data = std::format!("{length_tag}={length}|{tag}=<x>|{rest}|");
                    std::format!("8=FIX.4.4|35=A|{data}10=000|").replace('|', "\x01")
                };
                let bytes = message(&std::format!("{data}|{after}"));
                let shown = masked(bytes.as_bytes(), Secrets::STANDARD.in_message(bytes.as_bytes()));
                assert_eq!(
                    shown.escape_ascii().to_string(),
                    message(hidden).as_bytes().escape_ascii().to_string()
                );
            }
        }
    }

    #[test]
    fn a_secret_under_a_tag_that_is_broken_is_hidden_in_a_message_as_in_garbled_bytes() {
        for tag in [
            "0554",
            " 554",
            "554 ",
            "x554",
            "|554",
            "^A925",
            "<SOH>554",
            "\t01404",
            "-554",
            "\\x01554",
            "\\u0001925",
            "x\\0011402",
            "%01554",
        ] {
            for separator in ["\x01", "\x0158=y\x01"] {
                let bytes = std::format!("8=FIX.4.4\x0135=D{separator}{tag}=secret\x0110=000\x01");
                for ranges in [
                    Secrets::STANDARD.in_message(bytes.as_bytes()),
                    Secrets::STANDARD.in_garbled(bytes.as_bytes()),
                ] {
                    let shown = masked(bytes.as_bytes(), ranges);
                    assert!(!shown.windows(6).any(|six| six == b"secret"), "{}", shown.escape_ascii());
                }
            }
        }
    }
}
