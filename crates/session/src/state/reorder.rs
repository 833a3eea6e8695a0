//! Messages that arrived after a gap, buffered until the gap is filled.
//!
//! The size is bounded: what does not fit is dropped and requested again. All memory is reserved at
//! the start, so that a gap allocates nothing; pages that were never written cost no memory. The
//! messages belong to one series of sequence numbers: for any other the buffer is empty.

use fixbolt_codec::{Framed, SeqNum};

use crate::limits::throttle::Arrival;
use crate::store::{ConnectionNumber, Generation};
use crate::values::fix::SOH;

/// A message with only the seven required fields, and 49 and 56 of a few letters.
const SMALLEST_MESSAGE: usize = 64;

/// The sequence numbers of the counterparty's messages from one reset to the next: a new connection
/// and a SequenceReset-Reset begin others, too. Later ones are greater.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub(crate) struct Series {
    pub(crate) generation: Generation,
    pub(crate) connection: ConnectionNumber,
    /// How many SequenceReset-Resets the logon has had.
    pub(crate) resets: u32,
}

/// Messages by sequence number, adjacent in one buffer.
#[derive(Debug)]
pub(crate) struct ReorderBuffer {
    bytes: Vec<u8>,
    /// Ascending by sequence number.
    entries: Vec<Entry>,
    limit: usize,
    series: Series,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    seq: SeqNum,
    start: usize,
    len: usize,
    arrival: Arrival,
}

/// A message that was copied out of the buffer.
#[derive(Debug, Default)]
pub(crate) struct Reordered {
    bytes: Vec<u8>,
}

impl Reordered {
    pub(crate) fn with_capacity(bytes: usize) -> Self {
        Self { bytes: Vec::with_capacity(bytes) }
    }

    /// Returns the number of bytes of the message.
    pub(crate) const fn len(&self) -> usize {
        self.bytes.len()
    }

    /// Returns the message, framed as when it arrived.
    pub(crate) fn framed(&self) -> Option<Framed<'_>> {
        Framed::try_new(&self.bytes).ok()
    }
}

impl ReorderBuffer {
    pub(crate) fn new(limit: usize) -> Self {
        let (bytes, entries) = (Vec::with_capacity(limit), Vec::with_capacity(limit / SMALLEST_MESSAGE));
        Self { bytes, entries, limit, series: Series::default() }
    }

    /// Adds a message; `false` if there is no room. A message that is already in the buffer is not
    /// added again.
    pub(crate) fn keep(
        &mut self,
        series: Series,
        seq: SeqNum,
        message: Framed<'_>,
        arrival: Arrival,
    ) -> bool {
        if self.series != series {
            self.clear();
            self.series = series;
        }
        let Err(place) = self.place(seq) else { return true };
        let (start, len) = (self.bytes.len(), message.bytes().len());
        // R-GAP-5
        if start + len > self.limit {
            return false;
        }
        self.bytes.extend_from_slice(message.bytes());
        self.entries.insert(place, Entry { seq, start, len, arrival });
        true
    }

    /// Returns whether the buffer has no messages.
    pub(crate) const fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Returns whether the message with this sequence number is in the buffer.
    pub(crate) fn has(&self, series: Series, seq: SeqNum) -> bool {
        self.series == series && self.place(seq).is_ok()
    }

    /// Returns the highest sequence number in the buffer.
    pub(crate) fn last(&self, series: Series) -> Option<SeqNum> {
        self.entries.last().filter(|_| self.series == series).map(|entry| entry.seq)
    }

    /// Returns the lowest sequence number in the buffer that is not below `next_in`.
    pub(crate) fn first_from(&self, series: Series, next_in: SeqNum) -> Option<SeqNum> {
        let place = self.place(next_in).unwrap_or_else(|place| place);
        self.entries.get(place).filter(|_| self.series == series).map(|entry| entry.seq)
    }

    /// Copies the message with this sequence number and returns when it arrived; `None` if it is
    /// not in the buffer. Clears the buffer once every entry is below it.
    #[inline]
    pub(crate) fn copy(&mut self, series: Series, seq: SeqNum, to: &mut Reordered) -> Option<Arrival> {
        if self.entries.is_empty() { None } else { self.copy_one(series, seq, to) }
    }

    fn copy_one(&mut self, series: Series, seq: SeqNum, to: &mut Reordered) -> Option<Arrival> {
        if self.series != series || self.entries.last().is_some_and(|last| last.seq < seq) {
            self.clear();
            return None;
        }
        let Entry { start, len, arrival, .. } = self.entries[self.place(seq).ok()?];
        to.bytes.clear();
        to.bytes.extend_from_slice(&self.bytes[start..start + len]);
        Some(arrival)
    }

    /// Checks what holds between two calls: the entries are in order, the buffer's bytes are theirs
    /// and no others, and none belongs to what is later than the session's present `now`.
    ///
    /// # Panics
    /// Panics if it does not hold.
    pub(crate) fn check(&self, now: Series) {
        let Self { bytes, entries, limit, series } = self;
        assert!(entries.is_empty() || *series <= now, "messages of {series:?} are buffered in {now:?}");
        assert!(bytes.len() <= *limit, "{} bytes are buffered, and at most {limit} may be", bytes.len());
        let (mut total, mut before) = (0, SeqNum::ZERO);
        for Entry { seq, start, len, arrival } in entries {
            assert!(*seq > before, "message {seq} is buffered after {before}");
            let message = bytes.get(*start..start + len).unwrap_or_default();
            let is_message = message.starts_with(b"8=") && message.ends_with(&[SOH]);
            assert!(is_message, "the bytes of message {seq} are not in the buffer");
            assert!(
                arrival.earliest <= arrival.latest,
                "message {seq} arrived after {:?} and before {:?}",
                arrival.earliest,
                arrival.latest
            );
            (total, before) = (total + len, *seq);
        }
        assert!(total == bytes.len(), "{} bytes are buffered, and messages have {total}", bytes.len());
    }

    fn place(&self, seq: SeqNum) -> Result<usize, usize> {
        self.entries.binary_search_by_key(&seq, |entry| entry.seq)
    }

    /// Forgets all messages.
    pub(crate) fn clear(&mut self) {
        self.bytes.clear();
        self.entries.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::invariants::said;
    use crate::values::time::Mono;
    use fixbolt_codec::{Frame, Framer};

    const SERIES: Series = Series { generation: Generation(1), connection: ConnectionNumber(2), resets: 3 };

    fn arrival(seq: u64) -> Arrival {
        Arrival { earliest: Mono(seq), latest: Mono(seq + 1) }
    }

    fn message(seq: u64) -> Vec<u8> {
        let body = format!("35=0\x0134={seq}\x01");
        format!("8=FIX.4.4\x019={}\x01{body}10=000\x01", body.len()).into_bytes()
    }

    fn keep(buffer: &mut ReorderBuffer, series: Series, seq: u64) -> bool {
        let bytes = message(seq);
        let Frame::Message(framed) = Framer::new(1000).next(&bytes) else { panic!("no message") };
        buffer.keep(series, SeqNum(seq), framed, arrival(seq))
    }

    fn copied(buffer: &mut ReorderBuffer, series: Series, seq: u64) -> Option<Vec<u8>> {
        let mut kept = Reordered::default();
        let found = buffer.copy(series, SeqNum(seq), &mut kept);
        assert!(found.is_none_or(|at| at == arrival(seq)));
        found.map(|_| kept.framed().expect("framed before").bytes().to_vec())
    }

    /// Changes the buffer, and what `check` says then.
    type Damage = (fn(&mut ReorderBuffer), &'static str);

    const DAMAGES: [Damage; 7] = [
        (
            |it| it.series.connection = ConnectionNumber(3),
            "messages of Series { generation: Generation(1), connection: ConnectionNumber(3), resets: 3 } are buffered",
        ),
        (|it| it.limit = 1, "bytes are buffered, and at most 1 may be"),
        (|it| it.entries.swap(0, 1), "message 7 is buffered after 9"),
        (|it| it.entries[1].start = 1, "the bytes of message 9 are not in the buffer"),
        (|it| it.entries[1].len = 1000, "the bytes of message 9 are not in the buffer"),
        (|it| it.entries[0].arrival.latest = Mono(0), "message 7 arrived after Mono(7) and before Mono(0)"),
        (|it| it.entries.truncate(1), "bytes are buffered, and messages have"),
    ];

    #[test]
    fn each_condition_is_seen_to_fail() {
        for (damage, says) in DAMAGES {
            let mut buffer = ReorderBuffer::new(1000);
            buffer.check(SERIES);
            assert!(keep(&mut buffer, SERIES, 9) && keep(&mut buffer, SERIES, 7));
            buffer.check(SERIES);
            damage(&mut buffer);
            let said = said(|| buffer.check(SERIES));
            assert!(said.contains(says), "{said}, not {says}");
        }
    }

    #[test]
    fn a_full_buffer_drops_and_a_repeated_message_is_kept_once() {
        let mut buffer = ReorderBuffer::new(2 * message(7).len());
        assert!(keep(&mut buffer, SERIES, 9));
        assert!(keep(&mut buffer, SERIES, 7));
        assert!(keep(&mut buffer, SERIES, 7));
        assert!(!keep(&mut buffer, SERIES, 8));
        assert_eq!(copied(&mut buffer, SERIES, 9), Some(message(9)));
        assert_eq!(copied(&mut buffer, SERIES, 8), None);
        assert_eq!(buffer.first_from(SERIES, SeqNum(8)), Some(SeqNum(9)));
        assert_eq!(copied(&mut buffer, SERIES, 10), None);
        assert!(keep(&mut buffer, SERIES, 11), "forgotten bytes leave their room");
    }

    #[test]
    fn resets_and_a_new_connection_find_the_buffer_empty() {
        let of = |generation, connection, resets| Series {
            generation: Generation(generation),
            connection: ConnectionNumber(connection),
            resets,
        };
        for series in [of(2, 2, 0), of(1, 3, 0), of(1, 2, 4)] {
            let mut buffer = ReorderBuffer::new(1000);
            assert!(keep(&mut buffer, SERIES, 7));
            assert!(!buffer.has(series, SeqNum(7)));
            assert_eq!(buffer.first_from(series, SeqNum(1)), None);
            assert!(buffer.has(SERIES, SeqNum(7)), "a reset that is rolled back loses nothing");
            assert!(keep(&mut buffer, series, 8));
            assert_eq!(copied(&mut buffer, series, 7), None);
        }
    }
}
