//! What a log writes for SOH.

use std::sync::LazyLock;

use fixbolt_codec::byte_sum;
use memchr::memmem::Finder;

/// A spelling of SOH.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Separator(u8);

/// If one is the beginning of another, the longer one comes first.
const SPELLINGS: [&[u8]; 8] = [b"\x01", b"|", b"^A", b"^", b"\\u0001", b"\\x01", b"<SOH>", b"<01>"];

static FINDERS: LazyLock<[Finder<'static>; SPELLINGS.len()]> = LazyLock::new(|| SPELLINGS.map(Finder::new));

impl Separator {
    /// SOH itself.
    pub(crate) const SOH: Self = Self(0);
    pub(super) const ALL: [Self; SPELLINGS.len()] =
        [Self(0), Self(1), Self(2), Self(3), Self(4), Self(5), Self(6), Self(7)];
    /// The length of the longest spelling.
    pub(super) const LONGEST: usize = 6;

    /// Returns the bytes that the input has for SOH.
    pub(crate) fn bytes(self) -> &'static [u8] {
        SPELLINGS[self.index()]
    }

    pub(super) const fn index(self) -> usize {
        self.0 as usize
    }

    /// Writes the message to `to` with SOH for the separator, and with SOH at its end. A `|` or `^`
    /// may also be part of a value: it counts only before a tag and at the end.
    pub(crate) fn replace(self, message: &[u8], to: &mut Vec<u8>) {
        to.clear();
        if let [separator] = *self.bytes() {
            to.extend(message.iter().map(|byte| if *byte == separator { 1 } else { *byte }));
            if to.last() != Some(&1) {
                to.push(1);
            }
            // One that was part of a value would have changed the checksum.
            if has_right_check_sum(to) {
                return;
            }
            to.clear();
            to.extend_from_slice(message);
            for at in memchr::memchr_iter(separator, message) {
                let after = &message[at + 1..];
                if after.is_empty() || begins_with_tag(after) {
                    to[at] = 1;
                }
            }
        } else {
            let mut written = 0;
            for at in FINDERS[self.index()].find_iter(message) {
                to.extend_from_slice(&message[written..at]);
                to.push(1);
                written = at + self.bytes().len();
            }
            to.extend_from_slice(&message[written..]);
        }
        if to.last() != Some(&1) {
            to.push(1);
        }
    }
}

fn has_right_check_sum(message: &[u8]) -> bool {
    let Some((body, &[b'1', b'0', b'=', a, b, c, 1])) = message.split_last_chunk() else { return false };
    let sum = byte_sum(body);
    [a, b, c] == [b'0' + sum / 100, b'0' + sum / 10 % 10, b'0' + sum % 10]
}

/// Returns whether a field begins here: digits and `=`.
#[inline]
fn begins_with_tag(bytes: &[u8]) -> bool {
    const MOST_DIGITS: usize = 20;
    for (digits, byte) in bytes.iter().take(MOST_DIGITS + 1).enumerate() {
        if !byte.is_ascii_digit() {
            return digits > 0 && *byte == b'=';
        }
    }
    false
}
