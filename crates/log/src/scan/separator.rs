//! What a log writes for SOH.

use std::sync::LazyLock;

use fixbolt_codec::byte_sum;
use memchr::memmem::Finder;

/// A spelling of SOH.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Separator(u8);

/// If one is the beginning of another, the longer one comes first.
const SPELLINGS: [&[u8]; 16] = [
    b"\x01",
    b"|",
    b"^A",
    b"^",
    b"\\u0001",
    b"\\x01",
    b"\\001",
    b"<SOH>",
    b"<01>",
    b"[SOH]",
    // The picture of SOH, U+2401.
    b"\xe2\x90\x81",
    b" | ",
    b";",
    b"\t",
    b" ",
    b"~",
];
/// The first of the spellings that text has anyway, in values or after a BeginString that begins no
/// message.
const TEXT: u8 = 11;

static FINDERS: LazyLock<[Finder<'static>; SPELLINGS.len()]> = LazyLock::new(|| SPELLINGS.map(Finder::new));

impl Separator {
    /// SOH itself.
    pub(crate) const SOH: Self = Self(0);
    pub(super) const ALL: [Self; SPELLINGS.len()] = {
        let mut all = [Self(0); SPELLINGS.len()];
        let mut index = 0;
        while index < all.len() {
            all[index] = Self(index as u8);
            index += 1;
        }
        all
    };
    /// The length of the longest spelling.
    pub(super) const LONGEST: usize = 6;

    /// Returns the bytes that the input has for SOH.
    pub(crate) fn bytes(self) -> &'static [u8] {
        SPELLINGS[self.index()]
    }

    pub(super) const fn index(self) -> usize {
        self.0 as usize
    }

    /// Returns whether it counts only before a tag.
    const fn is_text(self) -> bool {
        self.0 >= TEXT
    }

    /// Returns the index of the first one in some bytes.
    pub(super) fn find(self, bytes: &[u8]) -> Option<usize> {
        FINDERS[self.index()].find(bytes)
    }

    /// Writes the message to `to` with SOH for the separator, and with SOH at its end. What may
    /// also be part of a value counts only before a tag and at the end, unless CheckSum shows that
    /// it always counts. Returns whether it is certain, or CheckSum shows, that all of them were
    /// found.
    pub(crate) fn replace(self, message: &[u8], to: &mut Vec<u8>) -> bool {
        if self.is_text() {
            self.replace_before_tags(message, to);
            if has_right_check_sum(to) {
                return true;
            }
        }
        self.replace_all(message, to);
        let is_certain = !self.is_text() && self.bytes().len() > 1;
        // One that was part of a value would have changed the checksum.
        if is_certain || has_right_check_sum(to) {
            return true;
        }
        self.replace_before_tags(message, to);
        false
    }

    /// Writes SOH in place of each byte of those that [`replace`](Self::replace) has left, and of
    /// the blanks after them, unless `=` follows: blanks before it are part of a broken tag.
    pub(crate) fn replace_rest(self, message: &mut [u8]) {
        let mut from = 0;
        while let Some(at) = self.find(&message[from..]) {
            let begin = from + at;
            let after = begin + self.bytes().len();
            from = after + message[after..].iter().take_while(|byte| byte.is_ascii_whitespace()).count();
            if message.get(from) != Some(&b'=') {
                message[begin..from].fill(1);
            }
        }
    }

    fn replace_all(self, message: &[u8], to: &mut Vec<u8>) {
        if let [separator] = *self.bytes() {
            to.clear();
            to.extend(message.iter().map(|byte| if *byte == separator { 1 } else { *byte }));
            end_with_soh(to);
        } else {
            self.replace_where(message, to, |_| true);
        }
    }

    fn replace_before_tags(self, message: &[u8], to: &mut Vec<u8>) {
        self.replace_where(message, to, |after| after.is_empty() || begins_with_tag(after));
    }

    /// Writes the message to `to` with SOH for each separator that counts, by what is after it.
    fn replace_where(self, message: &[u8], to: &mut Vec<u8>, counts: impl Fn(&[u8]) -> bool) {
        to.clear();
        let mut written = 0;
        for at in FINDERS[self.index()].find_iter(message) {
            let after = at + self.bytes().len();
            if counts(&message[after..]) {
                to.extend_from_slice(&message[written..at]);
                to.push(1);
                written = after;
            }
        }
        to.extend_from_slice(&message[written..]);
        end_with_soh(to);
    }
}

/// What is after a BeginString.
pub(super) enum Separation {
    Known(Separator),
    /// Something that is not known to be a separator.
    Unknown,
    More,
}

impl Separation {
    /// Returns what the rest of a line begins with; `all` says that no bytes after these count.
    pub(super) fn at(rest: &[u8], all: bool) -> Self {
        if !all && rest.len() < Separator::LONGEST {
            return Self::More;
        }
        for separator in Separator::ALL {
            let Some(after) = rest.strip_prefix(separator.bytes()) else { continue };
            if !separator.is_text() || begins_with_tag(after) {
                return Self::Known(separator);
            }
            if !all && after.iter().all(u8::is_ascii_digit) {
                return Self::More;
            }
        }
        Self::Unknown
    }
}

fn end_with_soh(message: &mut Vec<u8>) {
    if message.last() != Some(&1) {
        message.push(1);
    }
}

fn has_right_check_sum(message: &[u8]) -> bool {
    let Some((body, &[b'1', b'0', b'=', a, b, c, 1])) = message.split_last_chunk() else { return false };
    let sum = byte_sum(body);
    [a, b, c] == [b'0' + sum / 100, b'0' + sum / 10 % 10, b'0' + sum % 10]
}

/// The most digits of a tag.
pub(super) const MOST_DIGITS: usize = 20;

/// Returns whether a field begins here: digits and `=`.
#[inline]
fn begins_with_tag(bytes: &[u8]) -> bool {
    for (digits, byte) in bytes.iter().take(MOST_DIGITS + 1).enumerate() {
        if !byte.is_ascii_digit() {
            return digits > 0 && *byte == b'=';
        }
    }
    false
}
