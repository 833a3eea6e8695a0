//! The operations, checked with every message of their rings.

use std::hint::black_box;
use std::ops::{ControlFlow, Range};

use fixbolt_codec::plumbing::BodyPlumbing as _;
use fixbolt_codec::{Index, Key, Message, MsgType, Precision, SeqNum, Span};
use fixbolt_dictionary::{Policy, RefTag, Validator, fix44};
use fixbolt_workloads::wire::{Encoder, read};

use crate::batches::Work;
use crate::messages::RING;
use crate::more_messages;
use crate::read_all::{self, Kept, Used};
use crate::results::Row;
use crate::values::{Types, Value};
use crate::write_typed::{self, Session, sent};

/// More fields than a message here has.
const FIELDS: usize = 160;
const SLOT: usize = 2048;
/// The fields that a session writes.
const SESSION: [u32; 8] = [8, 9, 35, 34, 49, 52, 56, 10];

/// A message: its ring, and the fields in which validation finds something wrong.
struct Ring {
    name: &'static str,
    bytes: Vec<Vec<u8>>,
    wrong: &'static [u32],
}

impl Ring {
    fn new(name: &'static str, bytes: fn(u64) -> Vec<u8>, wrong: &'static [u32]) -> Self {
        Self { name, bytes: (0..RING as u64).map(bytes).collect(), wrong }
    }

    fn wrong(&self, operation: &str, n: usize) -> String {
        format!("{} {operation}: message {n} of the ring has a wrong result", self.name)
    }

    fn work<'w>(&self, operation: &str, rounds: impl FnMut(usize) + 'w) -> Work<'w> {
        Work::new(Row::of_ns("fsfix", self.name, operation, 0.0), self.bytes.len(), rounds)
    }

    fn around(&self, rounds: usize) -> impl Iterator<Item = &Vec<u8>> {
        self.bytes.iter().cycle().take(rounds * self.bytes.len())
    }
}

/// The four messages.
pub(crate) struct Messages {
    market_data: Ring,
    quotes: Ring,
    nested: Ring,
    multileg: Ring,
    validator: Validator,
    types: Types,
}

impl Messages {
    pub(crate) fn new() -> Result<Self, String> {
        Ok(Self {
            market_data: Ring::new("MarketDataRequest", more_messages::market_data_request, &[]),
            quotes: Ring::new("QuoteStatusRequest", more_messages::quote_status_request, &[]),
            nested: Ring::new(
                "QuoteStatusRequest-nested",
                more_messages::nested_quote_status_request,
                &[606, 606, 606, 606],
            ),
            // Its values are random: invalid countries, currencies and codes, and a group without
            // its required entries.
            multileg: Ring::new(
                "NewOrderMultileg",
                more_messages::new_order_multileg,
                &[470, 947, 875, 555, 479, 120, 847],
            ),
            validator: Validator::new(fix44()),
            types: Types::new(fix44()),
        })
    }

    pub(super) fn works(&self) -> Result<Vec<Work<'_>>, String> {
        let Self { market_data, quotes, nested, multileg, .. } = self;
        let mut works = Vec::new();
        for ring in [market_data, quotes, nested, multileg] {
            works.push(self.write(ring)?);
            works.push(write_untyped(ring)?);
            works.push(parse(ring)?);
        }
        works.push(generated(market_data, write_typed::market_data_request)?);
        works.push(generated(quotes, write_typed::quote_status_request)?);
        works.push(generated(nested, write_typed::nested_quote_status_request)?);
        works.extend(self.reads(
            market_data,
            read_all::market_data_request,
            read_all::market_data_request,
        )?);
        works.extend(self.reads(quotes, read_all::quote_status_request, read_all::quote_status_request)?);
        works.extend(self.reads(nested, read_all::quote_status_request, read_all::quote_status_request)?);
        works.extend(self.reads(multileg, read_all::new_order_multileg, read_all::new_order_multileg)?);
        Ok(works)
    }

    /// Both ways of writing NewOrderMultileg, for `bench codec`.
    pub(crate) fn write_multileg(&self) -> Result<[Work<'_>; 2], String> {
        let mut works = [self.write(&self.multileg)?, write_untyped(&self.multileg)?];
        for work in &mut works {
            "codec".clone_into(&mut work.row.test);
        }
        Ok(works)
    }

    /// From typed values, field by field, with groups whose entries are counted.
    fn write<'m>(&'m self, ring: &'m Ring) -> Result<Work<'m>, String> {
        let mut scratch = self.validator.scratch();
        writing(ring, "write", move |message, bytes| {
            let places = self.validator.places(message, &mut scratch);
            let (mut steps, mut depth) = (Vec::new(), 0);
            for n in own_fields(message) {
                let (tag, value, place) = (message.tags()[n], value(message, bytes, n), places[n]);
                while depth > place.depth() {
                    steps.push(Step::EndGroup);
                    depth -= 1;
                }
                if place.begins_entry() {
                    steps.push(Step::Entry);
                }
                if place.counts_group() && value != b"0" {
                    steps.push(Step::Group(Key::new(tag)));
                    depth += 1;
                } else {
                    steps.push(Step::Typed(Key::new(tag), self.types.read(tag, value)?));
                }
            }
            steps.extend((0..depth).map(|_| Step::EndGroup));
            Some(steps)
        })
    }

    /// Index, the places of the fields in their groups, every field typed; and the same validated.
    fn reads<'m>(
        &'m self,
        ring: &'m Ring,
        used: impl for<'b> Fn(Message<'b>, &mut Used) -> Option<()> + Copy + 'm,
        kept: impl for<'b> Fn(Message<'b>, &mut Kept) -> Option<()>,
    ) -> Result<[Work<'m>; 2], String> {
        let (validator, policy) = (&self.validator, Policy::standard());
        let mut memory = Memory::new();
        let mut scratch = validator.scratch();
        for (n, bytes) in ring.bytes.iter().enumerate() {
            let mut index = memory.index();
            let message = read(&mut index, bytes).ok_or_else(|| ring.wrong("read", n))?;
            let places = validator.places(&message, &mut scratch).to_vec();
            let mut values = Kept::default();
            let done = kept(message.with_places(&places), &mut values);
            if done.is_none() || values.0 != Kept::of(&message).0 {
                return Err(ring.wrong("read", n));
            }
            let found = validator.all(&message, &policy, &mut scratch);
            let found: Vec<RefTag<'_>> = found.iter().map(|violation| violation.tag).collect();
            if !found.iter().eq(ring.wrong.iter().map(|tag| RefTag::Number(*tag)).collect::<Vec<_>>().iter())
            {
                return Err(ring.wrong("read-validated", n));
            }
        }
        let read_only = ring.work("read", move |rounds| {
            let mut index = memory.index();
            for bytes in ring.around(rounds) {
                black_box(read(&mut index, black_box(bytes)).and_then(|message| {
                    used(message.with_places(validator.places(&message, &mut scratch)), &mut Used)
                }));
            }
        });
        let (mut memory, mut scratch) = (Memory::new(), validator.scratch());
        let validated = ring.work("read-validated", move |rounds| {
            let mut index = memory.index();
            for bytes in ring.around(rounds) {
                black_box(read(&mut index, black_box(bytes)).and_then(|message| {
                    let report = |violation| {
                        black_box(violation);
                        ControlFlow::Continue(())
                    };
                    let places = validator.for_each(&message, &policy, &mut scratch, report)?;
                    used(message.with_places(places), &mut Used)
                }));
            }
        });
        Ok([read_only, validated])
    }
}

/// The memory of an index.
struct Memory {
    tags: Vec<u32>,
    spans: Vec<Span>,
}

impl Memory {
    fn new() -> Self {
        Self { tags: vec![0; FIELDS], spans: vec![Span::default(); FIELDS] }
    }

    fn index(&mut self) -> Index<'_> {
        Index::new(&mut self.tags, &mut self.spans)
    }
}

/// Framing, BodyLength and CheckSum verified, every field located.
fn parse(ring: &Ring) -> Result<Work<'_>, String> {
    let mut memory = Memory::new();
    for (n, bytes) in ring.bytes.iter().enumerate() {
        let mut index = memory.index();
        let fields = bytes.iter().filter(|byte| **byte == 1).count();
        if read(&mut index, bytes).is_none_or(|message| message.len() != fields || message.fault().is_some())
        {
            return Err(ring.wrong("parse", n));
        }
    }
    Ok(ring.work("parse", move |rounds| {
        let mut index = memory.index();
        for bytes in ring.around(rounds) {
            black_box(read(&mut index, black_box(bytes)));
        }
    }))
}

/// What writing a message consists of.
struct Steps<'m> {
    msg_type: MsgType,
    n: u64,
    steps: Vec<Step<'m>>,
}

enum Step<'m> {
    /// A value of the field's type.
    Typed(Key, Value<'m>),
    /// A value as bytes, not checked.
    Raw(Key, &'m [u8]),
    Group(Key),
    Entry,
    EndGroup,
}

/// Fields whose values are bytes, which are not checked, as in a program that copies messages.
fn write_untyped(ring: &Ring) -> Result<Work<'_>, String> {
    writing(ring, "write-untyped", |message, bytes| {
        let field = |n| Some(Step::Raw(Key::new(message.tags()[n]), value(message, bytes, n)));
        own_fields(message).map(field).collect()
    })
}

/// Returns the positions of the fields that the session does not write.
fn own_fields(message: &Message<'_>) -> impl Iterator<Item = usize> {
    let tags = message.tags();
    (0..tags.len()).filter(move |n| !SESSION.contains(&tags[*n]))
}

/// Returns the value of a field out of the ring, which outlives the index.
fn value<'m>(message: &Message<'_>, bytes: &'m [u8], n: usize) -> &'m [u8] {
    let span = message.span(n);
    &bytes[span.start()..span.end()]
}

/// Writes a message in the steps that `steps` makes of it before anything is timed.
fn writing<'m>(
    ring: &'m Ring,
    operation: &'static str,
    mut steps: impl FnMut(&Message<'_>, &'m [u8]) -> Option<Vec<Step<'m>>>,
) -> Result<Work<'m>, String> {
    let encoder = Encoder::new(b"FIX.4.4", b"senderCompID", b"targetCompID");
    let mut encoder = encoder.ok_or("the parties are not CompIDs")?.with_precision(Precision::Millis);
    let (mut memory, mut slot, mut all) = (Memory::new(), vec![0; SLOT], Vec::new());
    for (n, bytes) in ring.bytes.iter().enumerate() {
        let mut index = memory.index();
        let message = read(&mut index, bytes).ok_or_else(|| ring.wrong(operation, n))?;
        let steps = steps(&message, bytes).ok_or_else(|| ring.wrong(operation, n))?;
        let of = Steps { msg_type: MsgType::new(message.msg_type()), n: n as u64, steps };
        let written = encode(&mut encoder, &mut slot, &of).map(|place| sorted(&slot[place]));
        if written != Some(sorted(bytes)) {
            return Err(ring.wrong(operation, n));
        }
        all.push(of);
    }
    Ok(ring.work(operation, move |rounds| {
        for of in all.iter().cycle().take(rounds * all.len()) {
            black_box(encode(&mut encoder, &mut slot, black_box(of)));
        }
    }))
}

#[inline]
fn encode(encoder: &mut Encoder, slot: &mut [u8], of: &Steps<'_>) -> Option<Range<usize>> {
    encoder.encode(slot, of.msg_type, SeqNum(10 + of.n), sent(of.n), |body| {
        // Deeper groups are not in these messages.
        let mut groups = [None, None, None];
        let mut depth = 0;
        for step in &of.steps {
            match step {
                Step::Typed(key, value) => value.write(*key, body),
                Step::Raw(key, value) => {
                    body.raw().field(*key, value);
                }
                Step::Group(key) => {
                    groups[depth] = Some(body.group(*key));
                    depth += 1;
                }
                Step::Entry => {
                    if let Some(group) = &mut groups[depth - 1] {
                        body.entry(group);
                    }
                }
                Step::EndGroup => {
                    depth -= 1;
                    if let Some(group) = groups[depth].take() {
                        body.end_group(group);
                    }
                }
            }
        }
    })
}

/// With the generated writers.
fn generated(
    ring: &Ring,
    write: impl Fn(&mut Session, u64) -> Option<&[u8]> + 'static,
) -> Result<Work<'_>, String> {
    let mut session = Session::new().ok_or("the parties are not CompIDs")?;
    for (n, bytes) in ring.bytes.iter().enumerate() {
        if write(&mut session, n as u64).map(sorted) != Some(sorted(bytes)) {
            return Err(ring.wrong("write-generated", n));
        }
    }
    Ok(ring.work("write-generated", move |rounds| {
        for n in (0..RING as u64).cycle().take(rounds * RING) {
            black_box(write(&mut session, black_box(n)));
        }
    }))
}

/// Returns the fields, those of the header in the order of their tags: a session has its own order.
fn sorted(bytes: &[u8]) -> Vec<Vec<u8>> {
    let mut fields: Vec<Vec<u8>> = bytes.split(|byte| *byte == 1).map(<[u8]>::to_vec).collect();
    if let Some(header) = fields.get_mut(3..7) {
        header.sort();
    }
    fields
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::batches;
    use fixbolt_workloads::harness::Control;

    #[test]
    fn each_message_has_every_operation() {
        let messages = Messages::new().unwrap();
        let rows: Vec<Row> = batches::measure(&mut messages.works().unwrap(), 1, 1, &Control::default());
        for message in
            ["MarketDataRequest", "QuoteStatusRequest", "QuoteStatusRequest-nested", "NewOrderMultileg"]
        {
            let mut operations: Vec<&str> =
                rows.iter().filter(|row| row.message == message).map(|row| row.operation.as_str()).collect();
            operations.sort_unstable();
            let generated = (message != "NewOrderMultileg").then_some("write-generated");
            let expected = ["parse", "read", "read-validated", "write"].into_iter().chain(generated);
            assert_eq!(operations, expected.chain(["write-untyped"]).collect::<Vec<_>>(), "{message}");
        }
        assert!(rows.iter().all(|row| row.figure().0 > 0.0));
    }

    #[test]
    fn a_wrong_message_is_told_and_nothing_is_timed() {
        let mut messages = Messages::new().unwrap();
        messages.quotes.wrong = &[600];
        let error = messages.works().err();
        let expected = "QuoteStatusRequest read-validated: message 0 of the ring has a wrong result";
        assert_eq!(error.as_deref(), Some(expected));
        messages.market_data.bytes.swap(1, 2);
        let error = messages.works().err();
        assert_eq!(
            error.as_deref(),
            Some("MarketDataRequest write: message 1 of the ring has a wrong result")
        );
    }
}
