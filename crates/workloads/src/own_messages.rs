//! What the codec costs for the messages of a run: each is read as typed values and written again
//! from them, and the bytes are compared.

use std::hint::black_box;
use std::time::Duration;

use fixbolt_codec::{
    BodyWriter, FieldError, FromField, Index, Message, MsgType, SeqNum, Span, Tag, UtcTimestamp, Version,
};

use crate::clock::timed;
use crate::orders::{NEW_ORDER_SINGLE, Order};
use crate::reports::{EXECUTION_REPORT, Report};
use crate::wire::{Encoder, read};

/// Number of messages processed at a time: enough to time, few enough to stay in the processor's
/// caches, as in an engine.
const BLOCK: usize = 512;
/// More fields than a message here has.
const FIELDS: usize = 48;
/// More bytes than a message here has.
const SLOT: usize = 1024;

/// The cost of reading and writing.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Spent {
    /// Number of messages.
    pub messages: u64,
    /// Time from bytes to typed values.
    pub reading: Duration,
    /// Time from typed values to bytes.
    pub writing: Duration,
    /// Messages that could not be read, or whose bytes differed when written again.
    pub differing: u64,
}

impl Spent {
    /// Returns the nanoseconds per message, in and out; `None` without messages.
    #[must_use]
    #[allow(clippy::cast_precision_loss)] // far below 2^53
    pub fn ns(&self) -> Option<(f64, f64)> {
        let each = |time: Duration| time.as_nanos() as f64 / self.messages as f64;
        (self.messages > 0).then(|| (each(self.reading), each(self.writing)))
    }
}

/// Times orders or reports (FIX.4.2, of one session) block by block.
#[derive(Debug, Default)]
pub struct OwnMessages {
    bytes: Vec<u8>,
    ends: Vec<usize>,
    spent: Spent,
}

impl OwnMessages {
    /// Adds a message.
    pub fn add(&mut self, message: &[u8]) {
        self.bytes.extend_from_slice(message);
        self.ends.push(self.bytes.len());
        if self.ends.len() == BLOCK {
            self.block();
        }
    }

    /// Returns the total.
    #[must_use]
    pub fn finish(mut self) -> Spent {
        self.block();
        self.spent
    }

    fn block(&mut self) {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        let messages: Vec<&[u8]> =
            starts.zip(&self.ends).map(|(start, end)| &self.bytes[start..*end]).collect();
        let spent = measured(&messages).unwrap_or_else(|| {
            let messages = messages.len() as u64;
            Spent { messages, differing: messages, ..Spent::default() }
        });
        self.spent.messages += spent.messages;
        self.spent.reading += spent.reading;
        self.spent.writing += spent.writing;
        self.spent.differing += spent.differing;
        self.bytes.clear();
        self.ends.clear();
    }
}

/// The values of a message.
#[derive(Clone, Copy, Debug)]
enum Typed<'m> {
    Order(Order<'m>),
    Report(Report<'m>),
}

impl<'m> Typed<'m> {
    fn read(message: &Message<'m>) -> Result<Self, FieldError> {
        if message.msg_type() == b"D" {
            Order::read(message).map(Self::Order)
        } else {
            Report::read(message).map(Self::Report)
        }
    }

    fn msg_type(&self) -> MsgType {
        match self {
            Self::Order(_) => NEW_ORDER_SINGLE,
            Self::Report(_) => EXECUTION_REPORT,
        }
    }

    fn write(&self, body: &mut BodyWriter<'_>) {
        match self {
            Self::Order(order) => order.write(body),
            Self::Report(report) => report.write(body, Version::Fix42),
        }
    }
}

/// Returns `None` if a message cannot be read at all.
fn measured(messages: &[&[u8]]) -> Option<Spent> {
    let Some(first) = messages.first() else { return Some(Spent::default()) };
    // Timed: one storage for all messages, as in an engine.
    let (mut tags, mut spans) = ([0; FIELDS], [Span::default(); FIELDS]);
    let mut index = Index::new(&mut tags, &mut spans);
    let (reading, ()) = timed(|| {
        for bytes in messages {
            let message = read(&mut index, bytes);
            let _ = black_box(message.as_ref().map(Typed::read));
        }
    });
    // Not timed: the same values, kept, with a storage for each.
    let (mut tags, mut spans) =
        (vec![0; FIELDS * messages.len()], vec![Span::default(); FIELDS * messages.len()]);
    let storages = tags.chunks_mut(FIELDS).zip(spans.chunks_mut(FIELDS));
    let mut indexes: Vec<Index<'_>> = storages.map(|(tags, spans)| Index::new(tags, spans)).collect();
    let mut values = Vec::with_capacity(messages.len());
    for (index, bytes) in indexes.iter_mut().zip(messages) {
        let message = read(index, bytes)?;
        let seq = SeqNum(u64::from_field(message.get(Tag::new(34))?).ok()?);
        let sending_time = UtcTimestamp::from_field(message.get(Tag::new(52))?).ok()?.to_unix_nanos()?;
        values.push((seq, sending_time, Typed::read(&message).ok()?));
    }
    let mut encoder = encoder_of(first)?;
    let mut slots = vec![0; SLOT * messages.len()];
    let mut places = Vec::with_capacity(messages.len());
    let (writing, ()) = timed(|| {
        for ((seq, sending_time, value), slot) in values.iter().zip(slots.chunks_mut(SLOT)) {
            places
                .push(encoder.encode(slot, value.msg_type(), *seq, *sending_time, |body| value.write(body)));
        }
    });
    let same = |(place, slot): &(Option<std::ops::Range<usize>>, &[u8]), bytes: &[u8]| {
        place.clone().and_then(|place| slot.get(place)) == Some(bytes)
    };
    let written = places.into_iter().zip(slots.chunks(SLOT));
    let differing = written.zip(messages).filter(|(written, bytes)| !same(written, bytes)).count() as u64;
    Some(Spent { messages: messages.len() as u64, reading, writing, differing })
}

/// Returns the encoder for the session of a message.
fn encoder_of(bytes: &[u8]) -> Option<Encoder> {
    let (mut tags, mut spans) = ([0; FIELDS], [Span::default(); FIELDS]);
    let mut index = Index::new(&mut tags, &mut spans);
    let message = read(&mut index, bytes)?;
    Encoder::new(message.begin_string(), message.get(Tag::new(49))?, message.get(Tag::new(56))?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::orders::Orders;
    use crate::reports::Kind;
    use fixbolt_codec::Decimal;

    fn encoded(value: Typed<'_>, seq: u64) -> Vec<u8> {
        let mut slot = [0; SLOT];
        let mut encoder = Encoder::new(b"FIX.4.2", b"TRADER", b"VENUE").unwrap();
        let place = encoder
            .encode(&mut slot, value.msg_type(), SeqNum(seq), 1_353_000_000_123_000_000, |body| {
                value.write(body)
            })
            .unwrap();
        slot[place].to_vec()
    }

    #[test]
    fn messages_written_again_are_the_same_bytes_and_others_are_told() {
        let now: UtcTimestamp = "20261121-09:00:00.123".parse().unwrap();
        let (mut orders, mut own) = (Orders::new(1, "run"), OwnMessages::default());
        for seq in 0..1_000 {
            own.add(&encoded(Typed::Order(orders.next(now)), seq));
        }
        // A message of another form: HandlInst is 2.
        let other = encoded(Typed::Order(orders.next(now)), 9);
        let other = String::from_utf8(other).unwrap().replace("\u{1}21=1\u{1}", "\u{1}21=2\u{1}");
        let sum = other[..other.len() - 7].bytes().fold(0u8, u8::wrapping_add);
        own.add(format!("{}10={sum:03}\u{1}", &other[..other.len() - 7]).as_bytes());
        let spent = own.finish();
        assert_eq!((spent.messages, spent.differing), (1_001, 1));
        assert!(spent.ns().is_some_and(|(reading, writing)| reading > 0.0 && writing > 0.0));
    }

    #[test]
    fn reports_of_every_kind_are_read_as_they_were_written() {
        let now: UtcTimestamp = "20261121-09:00:00.123".parse().unwrap();
        let mut own = OwnMessages::default();
        for kind in Kind::ALL {
            let filled = matches!(kind, Kind::PartialFill | Kind::Fill);
            let report = Report {
                kind,
                order_id: b"O-1",
                exec_id: b"O-1-1",
                cl_ord_id: b"run-1",
                symbol: b"IBM",
                side: b"1",
                quantity: Decimal::from(57),
                price: Some(Decimal::from_parts(298_075, 3)),
                last: filled.then(|| (Decimal::from(7), Decimal::from_parts(298_075, 3))),
                leaves: Decimal::from(50),
                cumulated: Decimal::from(7),
                average: Decimal::from_parts(298_075, 3),
                transact_time: now,
                text: (kind == Kind::Rejected).then_some(b"rejected at random"),
            };
            own.add(&encoded(Typed::Report(report), 1));
        }
        let spent = own.finish();
        assert_eq!((spent.messages, spent.differing), (5, 0));
    }
}
