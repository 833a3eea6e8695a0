//! Bytes queued for the socket, and how many of them the store has released.
//!
//! Messages are adjacent in memory, so that the loop writes many of them with one call. For each
//! stretch the outbox knows the store position that it waits for: nothing is writable before the
//! store has reached it (property 3).

use std::collections::VecDeque;

use fixbolt_codec::{Frame, Framer};

use crate::store::Position;
use crate::values::time::Mono;

/// Bytes for the socket of one session. The memory is separate from the cursor, so that a body can
/// be written into the memory while the cursor is still in use.
#[derive(Debug)]
pub(crate) struct Outbox {
    pub(crate) memory: Box<[u8]>,
    pub(crate) cursor: OutboxCursor,
    unread: Option<Unread>,
    /// Whether the socket may accept more at once: nothing counts as unread until it refuses.
    is_taking: bool,
    watermarks: Watermarks,
    /// Since when the counterparty reads too slowly, if it does.
    slow_since: Option<Mono>,
}

/// The number of bytes above which a counterparty reads too slowly, and up to which it has caught
/// up again.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Watermarks {
    pub(crate) high: usize,
    pub(crate) low: usize,
}

/// Bytes that the socket could not accept, because the counterparty has not read what it has.
#[derive(Clone, Copy, Debug)]
struct Unread {
    since: Mono,
    /// The number of bytes that the socket must still accept for these to be gone.
    bytes: usize,
}

// An outbox's memory; what is accepted is free once the memory is compacted, or nothing is queued:
//
//   begin      head       released              tail   size
//   0          16         40                    72     128
//   | accepted | writable | waits for the store | free |

/// The positions in an outbox's memory.
#[derive(Debug)]
pub(crate) struct OutboxCursor {
    /// The first byte that the socket has not accepted.
    head: usize,
    /// One past the last byte that the store has released.
    released: usize,
    /// One past the last message.
    tail: usize,
    /// Stretches that wait for the store: its position, and the end of the stretch counted from the
    /// session's first byte.
    waiting: VecDeque<(Position, u64)>,
    /// The position of `memory[0]`, counted from the session's first byte.
    origin: u64,
    /// Where the messages end that were numbered before the last reset, counted from the session's
    /// first byte.
    reset_at: u64,
    /// The digits of BodyLength in the previous message: the guess for the next one.
    length_digits: usize,
}

/// What a rollback restores in an outbox.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct OutboxMark {
    tail: usize,
    reset_at: u64,
    length_digits: usize,
}

impl Outbox {
    pub(crate) fn new(size: usize, watermarks: Watermarks) -> Self {
        Self {
            memory: vec![0; size].into_boxed_slice(),
            cursor: OutboxCursor {
                head: 0,
                released: 0,
                tail: 0,
                waiting: VecDeque::with_capacity(1024),
                origin: 0,
                reset_at: 0,
                length_digits: 3,
            },
            unread: None,
            is_taking: false,
            watermarks,
            slow_since: None,
        }
    }

    /// Returns the bytes that the socket may have.
    pub(crate) fn writable(&self) -> &[u8] {
        &self.memory[self.cursor.head..self.cursor.released]
    }

    /// Records that the socket accepted `bytes` bytes, and no more for now.
    pub(crate) fn written(&mut self, now: Mono, bytes: usize) {
        self.is_taking = false;
        self.accepted(now, bytes);
    }

    /// Records that the socket accepted all `bytes` bytes that it was offered.
    pub(crate) fn taken(&mut self, now: Mono, bytes: usize) {
        self.is_taking = true;
        self.accepted(now, bytes);
    }

    fn accepted(&mut self, now: Mono, bytes: usize) {
        self.cursor.head = (self.cursor.head + bytes).min(self.cursor.released);
        let left = self.writable().len();
        self.unread = match self.unread {
            Some(unread) if bytes < unread.bytes => Some(Unread { bytes: unread.bytes - bytes, ..unread }),
            _ => (left > 0).then_some(Unread { since: now, bytes: left }),
        };
        if self.cursor.head == self.cursor.tail {
            self.cursor.origin += self.cursor.tail as u64;
            (self.cursor.head, self.cursor.released, self.cursor.tail) = (0, 0, 0);
        }
    }

    /// Returns since when bytes that the socket may have are not accepted. A counterparty that
    /// reads a little now and then does not begin a new period: it must read all that waited.
    pub(crate) fn unread_since(&self) -> Option<Mono> {
        self.unread.filter(|_| !self.is_taking).map(|unread| unread.since)
    }

    /// Returns since when the counterparty reads too slowly, if it does.
    pub(crate) fn slow_since(&self) -> Option<Mono> {
        self.slow_since
    }

    /// Returns whether a watermark has been passed and [`Outbox::pass_watermark`] is to be called:
    /// the high one while the socket refuses bytes, or then the low one. Much that was written at
    /// once is not the counterparty's fault.
    pub(crate) fn has_passed_watermark(&self) -> bool {
        match self.slow_since {
            None => self.queued() > self.watermarks.high && self.unread_since().is_some(),
            Some(_) => self.queued() <= self.watermarks.low,
        }
    }

    /// Records that the counterparty reads too slowly from now on, or that it has caught up.
    /// Returns since when it was slow in that case.
    pub(crate) fn pass_watermark(&mut self, now: Mono) -> Option<Mono> {
        let before = self.slow_since;
        self.slow_since = if before.is_some() { None } else { Some(now) };
        before
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.cursor.head == self.cursor.tail
    }

    /// Returns the number of bytes for new messages once the memory is compacted.
    pub(crate) fn room(&self) -> usize {
        self.memory.len() - (self.cursor.tail - self.cursor.head)
    }

    /// Returns where a message must end at the latest to leave half of the memory free.
    pub(crate) fn half(&self) -> usize {
        self.cursor.head + self.memory.len() / 2
    }

    /// Returns the number of bytes that the socket has not accepted.
    pub(crate) fn queued(&self) -> usize {
        self.cursor.tail - self.cursor.head
    }

    /// Returns the number of bytes that the socket has accepted, or that were discarded, since the
    /// session was opened.
    pub(crate) fn position(&self) -> u64 {
        self.cursor.origin + self.cursor.head as u64
    }

    pub(crate) fn size(&self) -> usize {
        self.memory.len()
    }

    /// Compacts the memory when little space remains at its end. Must not be called after the open
    /// transaction wrote here.
    pub(crate) fn compact(&mut self) {
        if self.cursor.head > 0 && self.memory.len() - self.cursor.tail < self.memory.len() / 2 {
            self.memory.copy_within(self.cursor.head..self.cursor.tail, 0);
            self.cursor.origin += self.cursor.head as u64;
            self.cursor.released -= self.cursor.head;
            self.cursor.tail -= self.cursor.head;
            self.cursor.head = 0;
        }
    }

    pub(crate) fn mark(&self) -> OutboxMark {
        let OutboxCursor { tail, reset_at, length_digits, .. } = self.cursor;
        OutboxMark { tail, reset_at, length_digits }
    }

    /// Returns whether something was queued when the mark was made.
    pub(crate) fn was_queued(&self, mark: OutboxMark) -> bool {
        mark.tail > self.cursor.head
    }

    pub(crate) fn rollback(&mut self, mark: OutboxMark) {
        self.cursor.tail = mark.tail;
        self.cursor.reset_at = mark.reset_at;
        self.cursor.length_digits = mark.length_digits;
    }

    /// Records that the sequence numbers are reset: what is queued has numbers from before.
    pub(crate) fn reset(&mut self) {
        self.cursor.reset_at = self.cursor.end();
    }

    /// Returns whether bytes wait for the store.
    pub(crate) fn waits_for_store(&self) -> bool {
        !self.cursor.waiting.is_empty()
    }

    /// Records that everything up to here waits for `position`; the store is durable up to
    /// `durable`.
    pub(crate) fn committed(&mut self, position: Position, durable: Position) {
        if self.cursor.released == self.cursor.tail {
            return;
        }
        let end = self.cursor.origin + self.cursor.tail as u64;
        if position <= durable && self.cursor.waiting.is_empty() {
            self.cursor.released = self.cursor.tail;
            return;
        }
        match self.cursor.waiting.back_mut() {
            Some(last) if last.1 >= end => {}
            Some(last) if last.0 == position => last.1 = end,
            _ => self.cursor.waiting.push_back((position, end)),
        }
        self.advance(durable);
    }

    /// Releases everything that waits for `durable` or less.
    pub(crate) fn advance(&mut self, durable: Position) {
        while let Some((position, end)) = self.cursor.waiting.front().copied()
            && position <= durable
        {
            self.cursor.waiting.pop_front();
            self.cursor.released = usize::try_from(end.saturating_sub(self.cursor.origin))
                .unwrap_or(0)
                .max(self.cursor.released);
        }
    }

    /// Returns the messages whose last byte the socket has not accepted, and whether each was
    /// numbered before the last reset. The rest of a message that was cut off when the memory was
    /// compacted is skipped.
    pub(crate) fn unwritten(&self) -> impl Iterator<Item = (&[u8], bool)> {
        let OutboxCursor { head, tail, origin, reset_at, .. } = self.cursor;
        let mut framer = Framer::new(self.memory.len());
        let mut at = 0;
        core::iter::from_fn(move || {
            while at < tail && head < tail {
                let (bytes, whole) = match framer.next(&self.memory[at..tail]) {
                    Frame::Message(framed) => (framed.bytes(), true),
                    Frame::Garbled { bytes, .. } => (bytes, false),
                    Frame::Incomplete { .. } => break,
                };
                at += bytes.len();
                if whole && at > head {
                    return Some((bytes, origin + at as u64 <= reset_at));
                }
            }
            None
        })
    }

    /// Checks what holds after each transaction, committed or rolled back, and after each write to
    /// the socket: every byte is either released or waits for the store.
    ///
    /// # Panics
    /// Panics if it does not hold.
    pub(crate) fn check(&self) {
        self.cursor.check();
        let (size, tail) = (self.memory.len(), self.cursor.tail);
        assert!(tail <= size, "messages end at {tail}, and the memory has {size} bytes");
        if let Some(Unread { bytes, .. }) = self.unread {
            let writable = self.writable().len();
            assert!(bytes > 0, "the socket is to accept 0 bytes before nothing is unread");
            assert!(bytes <= writable, "{bytes} bytes are unread, and {writable} may be written");
        }
    }

    /// Discards everything, because the connection has ended.
    pub(crate) fn clear(&mut self) {
        self.cursor.origin += self.cursor.tail as u64;
        (self.cursor.head, self.cursor.released, self.cursor.tail) = (0, 0, 0);
        self.cursor.waiting.clear();
        (self.unread, self.slow_since) = (None, None);
        self.is_taking = false;
    }
}

impl OutboxMark {
    /// Returns the index after the last message.
    pub(crate) const fn tail(self) -> usize {
        self.tail
    }
}

impl OutboxCursor {
    fn check(&self) {
        let Self { head, released, tail, waiting, origin, reset_at, length_digits } = self;
        assert!(head <= released, "the socket has accepted {head} bytes, and {released} are released");
        assert!(released <= tail, "{released} bytes are released of {tail}");
        let (mut end, mut position) = (origin + *released as u64, None);
        for (stretch, (waits_for, its_end)) in waiting.iter().enumerate() {
            assert!(*its_end > end, "stretch {stretch} ends at {its_end}, and begins at {end}");
            assert!(
                position < Some(*waits_for),
                "stretch {stretch} waits for {waits_for:?}, the one before it for {position:?}"
            );
            (end, position) = (*its_end, Some(*waits_for));
        }
        let last = origin + *tail as u64;
        assert!(end == last, "bytes end at {last}, and up to {end} they are released or wait for the store");
        assert!(*reset_at <= last, "bytes end at {last}, and were numbered before a reset up to {reset_at}");
        let is_length = (1..=20).contains(length_digits);
        assert!(is_length, "BodyLength of the last message has {length_digits} digits");
    }

    /// Returns the index after the last message.
    pub(crate) fn tail(&self) -> usize {
        self.tail
    }

    /// Returns where the last message ends, counted from the session's first byte.
    pub(crate) fn end(&self) -> u64 {
        self.origin + self.tail as u64
    }

    /// Returns the guess for the digits of BodyLength in the next message.
    pub(crate) fn length_digits(&self) -> usize {
        self.length_digits
    }

    /// Adds a sealed message that ends at `tail`.
    pub(crate) fn push(&mut self, tail: usize, length_digits: usize) {
        self.tail = tail;
        self.length_digits = length_digits;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::invariants::said;

    fn outbox(size: usize) -> Outbox {
        Outbox::new(size, Watermarks { high: 10, low: 4 })
    }

    fn push(outbox: &mut Outbox, bytes: &[u8]) {
        let tail = outbox.cursor.tail();
        outbox.memory[tail..tail + bytes.len()].copy_from_slice(bytes);
        outbox.cursor.push(tail + bytes.len(), 3);
    }

    /// Returns an outbox with bytes that are unread, released, and in two stretches that wait.
    fn busy() -> Outbox {
        let mut outbox = outbox(64);
        for (position, bytes) in [(1, b"read"), (2, b"wait"), (3, b"more")] {
            push(&mut outbox, bytes);
            outbox.committed(Position(position), Position(1));
        }
        outbox.written(Mono(1), 1);
        outbox
    }

    /// Changes the outbox, and what `check` says then.
    type Damage = (fn(&mut Outbox), &'static str);

    const DAMAGES: [Damage; 11] = [
        (|it| it.cursor.head = 5, "the socket has accepted 5 bytes, and 4 are released"),
        (|it| it.cursor.tail = 3, "4 bytes are released of 3"),
        (|it| it.memory = vec![0; 11].into(), "messages end at 12, and the memory has 11 bytes"),
        (|it| it.cursor.waiting[0].1 = 4, "stretch 0 ends at 4, and begins at 4"),
        (|it| it.cursor.waiting[1].0 = Position(2), "stretch 1 waits for Position(2), the one before it"),
        (|it| it.cursor.waiting.truncate(1), "bytes end at 12, and up to 8 they are released"),
        (|it| it.cursor.origin = 1, "bytes end at 13, and up to 12 they are released"),
        (|it| it.cursor.reset_at = 13, "bytes end at 12, and were numbered before a reset up to 13"),
        (|it| it.cursor.length_digits = 0, "BodyLength of the last message has 0 digits"),
        (|it| it.unread = Some(Unread { since: Mono(1), bytes: 0 }), "the socket is to accept 0 bytes"),
        (|it| it.cursor.head = 2, "3 bytes are unread, and 2 may be written"),
    ];

    #[test]
    fn each_condition_is_seen_to_fail() {
        busy().check();
        for (damage, says) in DAMAGES {
            let mut outbox = busy();
            damage(&mut outbox);
            let said = said(|| outbox.check());
            assert!(said.contains(says), "{said}, not {says}");
        }
    }

    #[test]
    fn nothing_is_writable_before_the_store_has_it() {
        let mut outbox = outbox(64);
        push(&mut outbox, b"one");
        assert_eq!(outbox.writable(), b"");
        outbox.committed(Position(1), Position(0));
        push(&mut outbox, b"two");
        outbox.committed(Position(2), Position(0));
        assert_eq!(outbox.writable(), b"");
        outbox.advance(Position(1));
        assert_eq!(outbox.writable(), b"one");
        outbox.written(Mono(1), 2);
        outbox.compact();
        outbox.advance(Position(2));
        assert_eq!(outbox.writable(), b"etwo");
        outbox.written(Mono(1), 4);
        assert!(outbox.is_empty());
    }

    #[test]
    fn compacting_keeps_stretches_that_wait() {
        let mut outbox = outbox(32);
        push(&mut outbox, b"0123456789abcdef");
        outbox.committed(Position(1), Position(1));
        push(&mut outbox, b"wait");
        outbox.committed(Position(2), Position(1));
        outbox.written(Mono(1), 10);
        outbox.compact();
        assert_eq!(outbox.writable(), b"abcdef");
        outbox.advance(Position(2));
        assert_eq!(outbox.writable(), b"abcdefwait");
    }

    #[test]
    fn an_outbox_is_as_it_is_drawn() {
        let mut lines = include_str!("outbox.rs").lines().skip_while(|line| !line.starts_with("//   begin"));
        let names: Vec<&str> = lines.next().unwrap().split_whitespace().skip(1).collect();
        let numbers = lines.next().unwrap().split_whitespace().skip(1);
        let numbers: Vec<usize> = numbers.map(|number| number.parse().unwrap()).collect();
        let [begin, head, released, tail, size] = numbers[..] else { panic!("{numbers:?}") };
        let mut outbox = outbox(size);
        push(&mut outbox, &vec![b'x'; released - begin]);
        outbox.committed(Position(1), Position(1));
        push(&mut outbox, &vec![b'y'; tail - released]);
        outbox.committed(Position(2), Position(1));
        outbox.written(Mono(1), head);
        let OutboxCursor { head, released, tail, .. } = outbox.cursor;
        assert_eq!(names, ["begin", "head", "released", "tail", "size"]);
        assert_eq!(numbers, [0, head, released, tail, outbox.size()]);
        assert_eq!(outbox.writable(), vec![b'x'; released - head]);
        assert_eq!(outbox.room(), size - tail + head, "what is free, and what was accepted");
        outbox.check();
    }

    #[test]
    fn a_rollback_leaves_no_byte() {
        let mut outbox = outbox(64);
        push(&mut outbox, b"one");
        outbox.committed(Position(1), Position(1));
        let mark = outbox.mark();
        push(&mut outbox, b"two");
        outbox.rollback(mark);
        outbox.committed(Position(2), Position(2));
        assert_eq!(outbox.writable(), b"one");
    }

    #[test]
    fn bytes_are_unread_until_the_socket_has_accepted_all_that_waited() {
        let mut outbox = outbox(64);
        push(&mut outbox, b"0123456789");
        outbox.committed(Position(1), Position(1));
        assert_eq!(outbox.unread_since(), None);
        outbox.written(Mono(1), 4);
        push(&mut outbox, b"abcdef");
        outbox.committed(Position(2), Position(2));
        outbox.written(Mono(2), 5);
        assert_eq!(outbox.unread_since(), Some(Mono(1)), "one of the first bytes still waits");
        outbox.written(Mono(3), 0);
        assert_eq!(outbox.unread_since(), Some(Mono(1)));
        outbox.written(Mono(4), 1);
        assert_eq!(outbox.unread_since(), Some(Mono(4)), "the others have waited since then");
        outbox.written(Mono(5), 6);
        assert_eq!(outbox.unread_since(), None);
        push(&mut outbox, b"x");
        outbox.committed(Position(3), Position(3));
        outbox.written(Mono(6), 0);
        assert_eq!(outbox.unread_since(), Some(Mono(6)));
        outbox.clear();
        assert_eq!(outbox.unread_since(), None);
    }

    #[test]
    fn a_watermark_is_passed_once_until_the_other_one_is() {
        let mut outbox = outbox(64);
        push(&mut outbox, b"0123456789a");
        outbox.committed(Position(1), Position(1));
        assert!(!outbox.has_passed_watermark(), "the socket was not offered anything");
        outbox.taken(Mono(1), 0);
        assert!(!outbox.has_passed_watermark(), "it may accept more");
        outbox.written(Mono(2), 0);
        assert!(outbox.has_passed_watermark());
        assert_eq!(outbox.pass_watermark(Mono(3)), None);
        outbox.written(Mono(4), 6);
        push(&mut outbox, b"bcdefghijkl");
        outbox.committed(Position(2), Position(2));
        outbox.written(Mono(5), 0);
        assert!(!outbox.has_passed_watermark() && outbox.slow_since() == Some(Mono(3)));
        outbox.written(Mono(6), 12);
        assert_eq!(outbox.queued(), 4);
        assert!(outbox.has_passed_watermark());
        assert_eq!(outbox.pass_watermark(Mono(7)), Some(Mono(3)));
        assert!(!outbox.has_passed_watermark());
        outbox.written(Mono(8), 0);
        outbox.pass_watermark(Mono(9));
        outbox.clear();
        assert_eq!(outbox.slow_since(), None, "that of another connection");
    }

    #[test]
    fn nothing_is_unread_while_the_socket_takes_what_it_is_offered_a_part_at_a_time() {
        let mut outbox = outbox(64);
        push(&mut outbox, b"0123456789");
        outbox.committed(Position(1), Position(1));
        outbox.written(Mono(1), 0);
        outbox.taken(Mono(9), 4);
        assert_eq!(outbox.unread_since(), None, "whoever writes was kept from it");
        outbox.written(Mono(9), 2);
        assert_eq!(outbox.unread_since(), Some(Mono(1)), "the counterparty has not read all that waited");
        outbox.taken(Mono(9), 4);
        assert_eq!(outbox.unread_since(), None);
    }
}
