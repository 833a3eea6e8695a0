//! Messages that came before their turn, kept until the gap in front of them is filled.
//!
//! Bounded: what does not fit is dropped and will be asked for again. All room is taken at the start, so that a gap allocates
//! nothing; pages that were never written cost no memory.

use core::ops::Range;

use fixbolt_codec::SeqNum;

/// A message with no more than the seven fields that every one must have, and 49 and 56 of a few letters.
const SMALLEST_MESSAGE: usize = 64;

/// Messages by number, behind one another in one buffer.
#[derive(Debug)]
pub(crate) struct Stash {
    bytes: Vec<u8>,
    /// Ascending by number.
    entries: Vec<(SeqNum, Range<usize>)>,
    limit: usize,
}

impl Stash {
    pub(crate) fn new(limit: usize) -> Self {
        let (bytes, entries) = (Vec::with_capacity(limit), Vec::with_capacity(limit / SMALLEST_MESSAGE));
        Self { bytes, entries, limit }
    }

    /// Keeps a message; `false` when there is no room. One that is kept already is not kept twice.
    pub(crate) fn keep(&mut self, seq: SeqNum, message: &[u8]) -> bool {
        let Err(place) = self.place(seq) else { return true };
        if self.bytes.len() + message.len() > self.limit {
            return false;
        }
        let start = self.bytes.len();
        self.bytes.extend_from_slice(message);
        self.entries.insert(place, (seq, start..self.bytes.len()));
        true
    }

    /// Whether the message with this number is kept.
    pub(crate) fn has(&self, seq: SeqNum) -> bool {
        self.place(seq).is_ok()
    }

    /// The lowest number kept that is not below `next_in`.
    pub(crate) fn first_from(&self, next_in: SeqNum) -> Option<SeqNum> {
        let place = self.place(next_in).unwrap_or_else(|place| place);
        self.entries.get(place).map(|entry| entry.0)
    }

    /// Copies the message with this number; `false` when it is not kept.
    pub(crate) fn copy(&self, seq: SeqNum, to: &mut Vec<u8>) -> bool {
        let Ok(place) = self.place(seq) else { return false };
        to.clear();
        to.extend_from_slice(&self.bytes[self.entries[place].1.clone()]);
        true
    }

    fn place(&self, seq: SeqNum) -> Result<usize, usize> {
        self.entries.binary_search_by_key(&seq, |entry| entry.0)
    }

    /// Frees everything once no entry is still ahead.
    pub(crate) fn forget_before(&mut self, next_in: SeqNum) {
        if self.entries.last().is_some_and(|last| last.0 < next_in) {
            self.clear();
        }
    }

    pub(crate) fn clear(&mut self) {
        self.bytes.clear();
        self.entries.clear();
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_stash_drops_and_a_repeated_message_is_kept_once() {
        let mut stash = Stash::new(6);
        assert!(stash.keep(SeqNum(9), b"def"));
        assert!(stash.keep(SeqNum(7), b"abc"));
        assert!(stash.keep(SeqNum(7), b"abc"));
        assert!(!stash.keep(SeqNum(10), b"g"));
        let mut message = Vec::new();
        assert!(stash.copy(SeqNum(9), &mut message));
        assert_eq!(message, b"def");
        assert!(!stash.copy(SeqNum(8), &mut message));
        stash.forget_before(SeqNum(9));
        assert!(!stash.is_empty());
        stash.forget_before(SeqNum(10));
        assert!(stash.is_empty());
        assert!(stash.keep(SeqNum(10), b"ghijkl"), "forgotten bytes leave their room");
    }
}
