//! Messages that came before their turn, kept until the gap in front of them is filled.
//!
//! Bounded: what does not fit is dropped and will be asked for again.

use core::ops::Range;

use fixbolt_codec::SeqNum;

/// Messages by number, behind one another in one buffer.
#[derive(Debug, Default)]
pub(crate) struct Stash {
    bytes: Vec<u8>,
    entries: Vec<(SeqNum, Range<usize>)>,
    limit: usize,
}

/// What a turn must restore in a stash.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct StashMark {
    bytes: usize,
    entries: usize,
}

impl Stash {
    pub(crate) fn new(limit: usize) -> Self {
        Self { limit, ..Self::default() }
    }

    /// Keeps a message; `false` when there is no room. One that is kept already is not kept twice.
    pub(crate) fn keep(&mut self, seq: SeqNum, message: &[u8]) -> bool {
        if self.find(seq).is_some() {
            return true;
        }
        if self.bytes.len() + message.len() > self.limit {
            return false;
        }
        let start = self.bytes.len();
        self.bytes.extend_from_slice(message);
        self.entries.push((seq, start..self.bytes.len()));
        true
    }

    /// Where the message with this number stands.
    pub(crate) fn find(&self, seq: SeqNum) -> Option<Range<usize>> {
        self.entries.iter().find(|entry| entry.0 == seq).map(|entry| entry.1.clone())
    }

    /// The buffer, for reading a message from it while the session is at work; give it back with [`Stash::put_back`].
    pub(crate) fn take_bytes(&mut self) -> Vec<u8> {
        core::mem::take(&mut self.bytes)
    }

    /// Puts the buffer back. What was kept meanwhile is appended to it.
    pub(crate) fn put_back(&mut self, mut bytes: Vec<u8>) {
        debug_assert!(self.bytes.is_empty(), "a message from the stash is never too high");
        bytes.append(&mut self.bytes);
        self.bytes = bytes;
    }

    /// Frees everything once no entry is still ahead.
    pub(crate) fn forget_before(&mut self, next_in: SeqNum) {
        if !self.entries.is_empty() && self.entries.iter().all(|entry| entry.0 < next_in) {
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

    pub(crate) fn mark(&self) -> StashMark {
        StashMark { bytes: self.bytes.len(), entries: self.entries.len() }
    }

    pub(crate) fn rollback(&mut self, mark: StashMark) {
        self.bytes.truncate(mark.bytes);
        self.entries.truncate(mark.entries);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_stash_drops_and_a_repeated_message_is_kept_once() {
        let mut stash = Stash::new(6);
        assert!(stash.keep(SeqNum(7), b"abc"));
        assert!(stash.keep(SeqNum(7), b"abc"));
        assert!(stash.keep(SeqNum(9), b"def"));
        assert!(!stash.keep(SeqNum(10), b"g"));
        assert_eq!(stash.find(SeqNum(9)), Some(3..6));
        stash.forget_before(SeqNum(9));
        assert!(!stash.is_empty());
        stash.forget_before(SeqNum(10));
        assert!(stash.is_empty());
    }

    #[test]
    fn a_rolled_back_turn_keeps_nothing() {
        let mut stash = Stash::new(100);
        stash.keep(SeqNum(7), b"abc");
        let mark = stash.mark();
        stash.keep(SeqNum(8), b"def");
        stash.rollback(mark);
        assert_eq!(stash.find(SeqNum(8)), None);
        assert_eq!(stash.mark(), mark);
    }
}
