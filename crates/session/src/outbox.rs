//! Bytes on their way to the socket, and how far the store lets them go.
//!
//! Messages stand behind one another in one stretch of memory, so that the loop writes many with one call. For each stretch
//! the outbox knows the store position it waits for: nothing is writable before the store has it (property 3).

use std::collections::VecDeque;

use crate::store::Position;

/// Bytes for the socket of one session. The memory stands beside the bookkeeping, so that a body can be written into the one
/// while the other is still at hand.
#[derive(Debug)]
pub(crate) struct Outbox {
    pub(crate) memory: Box<[u8]>,
    pub(crate) ends: Ends,
    /// Whether the session stands in the list of those with something to write.
    pub(crate) noted: bool,
}

/// Where things stand in an outbox's memory.
#[derive(Debug)]
pub(crate) struct Ends {
    /// First byte not yet taken by the socket.
    head: usize,
    /// Behind the last byte that the store has released.
    released: usize,
    /// Behind the last message.
    tail: usize,
    /// Stretches that wait for the store: position, and the end of the stretch counted from the session's first byte.
    waiting: VecDeque<(Position, u64)>,
    /// What `memory[0]` is, counted from the session's first byte.
    origin: u64,
    /// Digits of BodyLength in the message before: the guess for the next one.
    length_digits: usize,
}

/// What a turn must restore in an outbox.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OutboxMark {
    tail: usize,
    length_digits: usize,
}

impl Outbox {
    pub(crate) fn new(size: usize) -> Self {
        Self {
            memory: vec![0; size].into_boxed_slice(),
            noted: false,
            ends: Ends {
                head: 0,
                released: 0,
                tail: 0,
                waiting: VecDeque::with_capacity(1024),
                origin: 0,
                length_digits: 3,
            },
        }
    }

    /// What the socket may have.
    pub(crate) fn writable(&self) -> &[u8] {
        &self.memory[self.ends.head..self.ends.released]
    }

    /// The socket took `bytes` bytes.
    pub(crate) fn written(&mut self, bytes: usize) {
        self.ends.head = (self.ends.head + bytes).min(self.ends.released);
        if self.ends.head == self.ends.tail {
            self.ends.origin += self.ends.tail as u64;
            (self.ends.head, self.ends.released, self.ends.tail) = (0, 0, 0);
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.ends.head == self.ends.tail
    }

    /// Bytes that a new message may use behind the last one, once the memory is tidied.
    pub(crate) fn room(&self) -> usize {
        self.memory.len() - (self.ends.tail - self.ends.head)
    }

    /// Where a message must end that leaves half of the memory free.
    pub(crate) fn half(&self) -> usize {
        self.ends.head + self.memory.len() / 2
    }

    pub(crate) fn size(&self) -> usize {
        self.memory.len()
    }

    /// Moves what is left to the front when the end comes near. Must not be called once the open turn wrote here.
    pub(crate) fn tidy(&mut self) {
        if self.ends.head > 0 && self.memory.len() - self.ends.tail < self.memory.len() / 2 {
            self.memory.copy_within(self.ends.head..self.ends.tail, 0);
            self.ends.origin += self.ends.head as u64;
            self.ends.released -= self.ends.head;
            self.ends.tail -= self.ends.head;
            self.ends.head = 0;
        }
    }

    pub(crate) fn mark(&self) -> OutboxMark {
        OutboxMark { tail: self.ends.tail, length_digits: self.ends.length_digits }
    }

    /// Whether something was queued when the mark was made.
    pub(crate) fn was_queued(&self, mark: OutboxMark) -> bool {
        mark.tail > self.ends.head
    }

    pub(crate) fn rollback(&mut self, mark: OutboxMark) {
        self.ends.tail = mark.tail;
        self.ends.length_digits = mark.length_digits;
    }

    /// Everything up to here waits for `position`, which is durable up to `durable`.
    pub(crate) fn committed(&mut self, position: Position, durable: Position) {
        if self.ends.released == self.ends.tail {
            return;
        }
        let end = self.ends.origin + self.ends.tail as u64;
        if position <= durable && self.ends.waiting.is_empty() {
            self.ends.released = self.ends.tail;
            return;
        }
        match self.ends.waiting.back_mut() {
            Some(last) if last.1 >= end => {}
            Some(last) if last.0 == position => last.1 = end,
            _ => self.ends.waiting.push_back((position, end)),
        }
        self.advance(durable);
    }

    /// The store is durable up to here.
    pub(crate) fn advance(&mut self, durable: Position) {
        while let Some((position, end)) = self.ends.waiting.front().copied()
            && position <= durable
        {
            self.ends.waiting.pop_front();
            self.ends.released =
                usize::try_from(end.saturating_sub(self.ends.origin)).unwrap_or(0).max(self.ends.released);
        }
    }

    /// Forgets everything: the connection is gone.
    pub(crate) fn clear(&mut self) {
        self.ends.origin += self.ends.tail as u64;
        (self.ends.head, self.ends.released, self.ends.tail) = (0, 0, 0);
        self.ends.waiting.clear();
    }
}

impl Ends {
    /// Behind the last message.
    pub(crate) fn tail(&self) -> usize {
        self.tail
    }

    /// The guess of BodyLength's digits for the next message.
    pub(crate) fn length_digits(&self) -> usize {
        self.length_digits
    }

    /// A message was sealed and ends at `tail`.
    pub(crate) fn push(&mut self, tail: usize, length_digits: usize) {
        self.tail = tail;
        self.length_digits = length_digits;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn push(outbox: &mut Outbox, bytes: &[u8]) {
        let tail = outbox.ends.tail();
        outbox.memory[tail..tail + bytes.len()].copy_from_slice(bytes);
        outbox.ends.push(tail + bytes.len(), 3);
    }

    #[test]
    fn nothing_is_writable_before_the_store_has_it() {
        let mut outbox = Outbox::new(64);
        push(&mut outbox, b"one");
        assert_eq!(outbox.writable(), b"");
        outbox.committed(Position(1), Position(0));
        push(&mut outbox, b"two");
        outbox.committed(Position(2), Position(0));
        assert_eq!(outbox.writable(), b"");
        outbox.advance(Position(1));
        assert_eq!(outbox.writable(), b"one");
        outbox.written(2);
        outbox.tidy();
        outbox.advance(Position(2));
        assert_eq!(outbox.writable(), b"etwo");
        outbox.written(4);
        assert!(outbox.is_empty());
    }

    #[test]
    fn tidying_keeps_stretches_that_wait() {
        let mut outbox = Outbox::new(32);
        push(&mut outbox, b"0123456789abcdef");
        outbox.committed(Position(1), Position(1));
        push(&mut outbox, b"wait");
        outbox.committed(Position(2), Position(1));
        outbox.written(10);
        outbox.tidy();
        assert_eq!(outbox.writable(), b"abcdef");
        outbox.advance(Position(2));
        assert_eq!(outbox.writable(), b"abcdefwait");
    }

    #[test]
    fn a_rolled_back_turn_leaves_no_byte() {
        let mut outbox = Outbox::new(64);
        push(&mut outbox, b"one");
        outbox.committed(Position(1), Position(1));
        let mark = outbox.mark();
        push(&mut outbox, b"two");
        outbox.rollback(mark);
        outbox.committed(Position(2), Position(2));
        assert_eq!(outbox.writable(), b"one");
    }
}
