//! A search that goes on where it stopped when more bytes have arrived.

use memchr::memmem::Finder;

/// A search for some bytes in an input of which the caller holds a part. It reads each byte once.
#[derive(Debug)]
pub(super) struct Search {
    what: What,
    /// No occurrence between the place of the last request and this offset is unknown.
    searched: u64,
    /// The offset of the last occurrence found.
    found: Option<u64>,
}

#[derive(Debug)]
enum What {
    Byte(u8),
    Text(Finder<'static>),
    /// Text that does not follow a letter or digit.
    BeginningOfWord(Finder<'static>),
}

impl Search {
    /// Creates a search for a byte.
    pub(super) fn byte(byte: u8) -> Self {
        Self { what: What::Byte(byte), searched: 0, found: None }
    }

    /// Creates a search for this text.
    pub(super) fn text(text: &[u8]) -> Self {
        Self { what: What::Text(Finder::new(text).into_owned()), searched: 0, found: None }
    }

    /// Creates a search for this text where it does not follow a letter or digit.
    pub(super) fn beginning_of_word(text: &[u8]) -> Self {
        Self { what: What::BeginningOfWord(Finder::new(text).into_owned()), searched: 0, found: None }
    }

    /// Returns the index of the first occurrence in `bytes` at or after `at`. `base` is the offset
    /// of the first byte. `base` plus `at` must not be less than in the call before.
    pub(super) fn first(&mut self, bytes: &[u8], base: u64, at: usize) -> Option<usize> {
        let (least, end) = (base + at as u64, base + bytes.len() as u64);
        let length = self.what.length() as u64;
        let found = match self.found.filter(|found| *found >= least) {
            Some(found) => found,
            None => {
                let from = self.searched.max(least);
                let begin = bytes.len().min((from - base) as usize);
                match self.what.find(bytes, begin) {
                    Some(index) => {
                        let found = base + index as u64;
                        (self.found, self.searched) = (Some(found), found + 1);
                        found
                    }
                    None => {
                        self.searched = from.max((end + 1).saturating_sub(length));
                        return None;
                    }
                }
            }
        };
        // It may have been found in bytes that do not count this time.
        (found + length <= end).then(|| (found - base) as usize)
    }
}

impl What {
    fn length(&self) -> usize {
        match self {
            Self::Byte(_) => 1,
            Self::Text(finder) | Self::BeginningOfWord(finder) => finder.needle().len(),
        }
    }

    fn find(&self, bytes: &[u8], begin: usize) -> Option<usize> {
        match self {
            Self::Byte(byte) => memchr::memchr(*byte, &bytes[begin..]).map(|index| begin + index),
            Self::Text(finder) => finder.find(&bytes[begin..]).map(|index| begin + index),
            Self::BeginningOfWord(finder) => {
                let mut from = begin;
                loop {
                    let index = from + finder.find(&bytes[from..])?;
                    if index == 0 || !bytes[index - 1].is_ascii_alphanumeric() {
                        return Some(index);
                    }
                    from = index + 1;
                }
            }
        }
    }
}
