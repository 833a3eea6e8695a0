//! The operations, checked with every message of their rings.

use std::hint::black_box;

use fixbolt_codec::{Decimal, Index, Message, Precision, SeqNum, Span, byte_sum};
use fixbolt_dictionary::fix44;
use fixbolt_workloads::orders::NEW_ORDER_SINGLE;
use fixbolt_workloads::wire::{Encoder, read};

use super::object::{Definition, Object};
use super::orders::{Orders, PARTIES, Values};
use crate::batches::Work;
use crate::results::Row;

/// More fields than a message here has.
const FIELDS: usize = 256;
const SLOT: usize = 512;
/// The fields of the header that a gateway replaces.
const HEADER: [u32; 7] = [8, 9, 35, 34, 49, 52, 56];

/// What the operations share.
pub(super) struct Tools {
    pub(super) definition: Definition,
}

impl Tools {
    pub(super) fn new() -> Self {
        Self { definition: Definition::new(fix44()) }
    }
}

/// A row with the size of its messages and their tags.
pub(super) fn row(message: &str, operation: &str, bytes: &[u8]) -> Row {
    #[expect(clippy::cast_precision_loss, reason = "messages are short")]
    let size = |size: usize| size as f64;
    let tags = bytes.iter().filter(|byte| **byte == 1).count();
    let header = bytes.split(|byte| *byte == 1).filter(|field| {
        let tag = field.split(|byte| *byte == b'=').next().and_then(|tag| std::str::from_utf8(tag).ok());
        tag.and_then(|tag| tag.parse().ok()).is_some_and(|tag| HEADER.contains(&tag))
    });
    Row::of_ns("aim", message, operation, 0.0)
        .with("bytes", size(bytes.len()))
        .with("tags", size(tags))
        .with("header_tags", size(header.count()))
}

pub(super) fn of<'o>(orders: &'o Orders, tools: &'o Tools) -> Result<Vec<Work<'o>>, String> {
    let name = orders.name;
    Ok(vec![
        eager(name, "eager", &orders.valid, tools, true)?,
        eager(name, "eager-no-checksum", &orders.valid, tools, false)?,
        index(name, "index", &orders.published, true)?,
        index(name, "index-no-checksum", &orders.published, false)?,
        encode(orders)?,
        checksum(name, &orders.encoded)?,
        gateway(orders, "gateway", true)?,
        gateway(orders, "gateway-no-checksum", false)?,
    ]
    .into_iter()
    .map(published)
    .collect())
}

/// Adds AIM's figure.
fn published(work: Work<'_>) -> Work<'_> {
    let long = work.row.message == "AIM-158";
    let figures = match work.row.operation.as_str() {
        "eager" => [203.0, 302.0],
        "encode" => [320.0, 487.0],
        "gateway" => [309.0, 443.0],
        _ => return work,
    };
    Work { row: work.row.published(figures[usize::from(long)]), ..work }
}

fn wrong(name: &str, operation: &str, n: usize) -> String {
    format!("{name} {operation}: message {n} of the ring has a wrong result")
}

/// The memory of an index.
struct Memory {
    tags: Vec<u32>,
    spans: Vec<Span>,
    verified: bool,
}

impl Memory {
    fn new(verified: bool) -> Self {
        Self { tags: vec![0; FIELDS], spans: vec![Span::default(); FIELDS], verified }
    }

    fn index(&mut self) -> Index<'_> {
        Index::new(&mut self.tags, &mut self.spans).with_checksum_verified(self.verified)
    }
}

fn cycled(ring: &[Vec<u8>], rounds: usize) -> impl Iterator<Item = &Vec<u8>> {
    ring.iter().cycle().take(rounds * ring.len())
}

/// Returns the fields of a message as text, by splitting it.
fn split(bytes: &[u8]) -> Vec<(u32, Vec<u8>)> {
    let text = String::from_utf8_lossy(bytes);
    let fields = text.trim_end_matches('\u{1}').split('\u{1}');
    let field = |field: &str| {
        let (tag, value) = field.split_once('=')?;
        Some((tag.parse().ok()?, value.as_bytes().to_vec()))
    };
    fields.filter_map(field).collect()
}

pub(super) fn index<'o>(
    name: &str,
    operation: &'static str,
    ring: &'o [Vec<u8>],
    verified: bool,
) -> Result<Work<'o>, String> {
    let mut memory = Memory::new(verified);
    for (n, bytes) in ring.iter().enumerate() {
        let mut index = memory.index();
        let found = read(&mut index, bytes).map(|message| {
            message.fields().filter_map(|field| Some((field.tag?.number(), field.value.to_vec()))).collect()
        });
        if found != Some(split(bytes)) {
            return Err(wrong(name, operation, n));
        }
    }
    Ok(Work::new(row(name, operation, &ring[0]), ring.len(), move |rounds| {
        let mut index = memory.index();
        for bytes in cycled(ring, rounds) {
            black_box(read(&mut index, black_box(bytes)));
        }
    }))
}

pub(super) fn eager<'o>(
    name: &str,
    operation: &'static str,
    ring: &'o [Vec<u8>],
    tools: &'o Tools,
    verified: bool,
) -> Result<Work<'o>, String> {
    let (mut memory, mut object) = (Memory::new(verified), Object::default());
    for (n, bytes) in ring.iter().enumerate() {
        let mut index = memory.index();
        let filled = read(&mut index, bytes).and_then(|message| object.fill(&message, &tools.definition));
        let fields = split(bytes);
        let header: Vec<_> = fields.iter().filter(|(tag, _)| HEADER.contains(tag)).cloned().collect();
        let body: Vec<_> =
            fields.iter().filter(|(tag, _)| !HEADER.contains(tag) && *tag != 10).cloned().collect();
        let trailer: Vec<_> = fields.iter().filter(|(tag, _)| *tag == 10).cloned().collect();
        if filled.is_none() || object.sections() != [header, body, trailer] {
            return Err(wrong(name, operation, n));
        }
    }
    Ok(Work::new(row(name, operation, &ring[0]), ring.len(), move |rounds| {
        let mut index = memory.index();
        for bytes in cycled(ring, rounds) {
            let message = read(&mut index, black_box(bytes));
            black_box(message.and_then(|message| object.fill(&message, &tools.definition)));
            black_box(&object);
        }
    }))
}

fn encoder() -> Result<Encoder, String> {
    let encoder = Encoder::new(b"FIX.4.4", PARTIES.0.as_bytes(), PARTIES.1.as_bytes());
    Ok(encoder.ok_or("the parties of the orders are not CompIDs")?.with_precision(Precision::Millis))
}

fn encode(orders: &Orders) -> Result<Work<'_>, String> {
    let (mut encoder, mut slot, long) = (encoder()?, vec![0; SLOT], orders.long);
    let write = move |encoder: &mut Encoder, slot: &mut [u8], values: &Values| {
        encoder.encode(slot, NEW_ORDER_SINGLE, SeqNum(values.seq), values.sending_time, |body| {
            values.write(body, long);
        })
    };
    for (n, (values, bytes)) in orders.values.iter().zip(&orders.encoded).enumerate() {
        let place = write(&mut encoder, &mut slot, values);
        if place.is_none_or(|place| slot[place] != bytes[..]) {
            return Err(wrong(orders.name, "encode", n));
        }
    }
    let ring = &orders.values;
    Ok(Work::new(row(orders.name, "encode", &orders.encoded[0]), ring.len(), move |rounds| {
        for values in ring.iter().cycle().take(rounds * ring.len()) {
            black_box(write(&mut encoder, &mut slot, black_box(values)));
        }
    }))
}

/// The sum of a whole message, which every encoding includes.
fn checksum<'o>(name: &str, ring: &'o [Vec<u8>]) -> Result<Work<'o>, String> {
    for (n, bytes) in ring.iter().enumerate() {
        let slow = bytes.iter().fold(0u8, |sum, byte| sum.wrapping_add(*byte));
        if byte_sum(bytes) != slow {
            return Err(wrong(name, "checksum", n));
        }
    }
    Ok(Work::new(row(name, "checksum", &ring[0]), ring.len(), move |rounds| {
        for bytes in cycled(ring, rounds) {
            black_box(byte_sum(black_box(bytes)));
        }
    }))
}

/// Checks four fields, as a gateway checks the risk of an order: the sender is known, the symbol is
/// traded, quantity and price are within bounds.
#[inline]
fn is_accepted(message: &Message<'_>) -> bool {
    let below = |value: &[u8], most| {
        Decimal::parse(value).is_ok_and(|value| Decimal::ZERO < value && value <= Decimal::from(most))
    };
    let mut passed = 0;
    for (n, tag) in message.tags().iter().enumerate() {
        let (check, passes) = match tag {
            49 => (1, message.value(n) == b"TEST_INSTANCE1"),
            55 => (2, message.value(n) == b"AIMS.L"),
            38 => (4, below(message.value(n), 10_000)),
            44 => (8, below(message.value(n), 100_000)),
            _ => continue,
        };
        if !passes {
            return false;
        }
        passed |= check;
    }
    passed == 15
}

/// Decodes an order, checks it, and writes it with a header of its own.
#[inline]
fn forward(
    index: &mut Index<'_>,
    bytes: &[u8],
    encoder: &mut Encoder,
    slot: &mut [u8],
    values: &Values,
) -> Option<std::ops::Range<usize>> {
    let message = read(index, bytes);
    let message = message.as_ref().filter(|message| is_accepted(message))?;
    let outgoing = encoder.message(slot, SeqNum(values.seq), values.sending_time);
    message.forward(outgoing, &[], |_| ()).ok()
}

fn gateway<'o>(orders: &'o Orders, operation: &'static str, verified: bool) -> Result<Work<'o>, String> {
    let (mut memory, mut encoder, mut slot) = (Memory::new(verified), encoder()?, vec![0; SLOT]);
    for (n, (bytes, values)) in orders.published.iter().zip(&orders.values).enumerate() {
        let place = forward(&mut memory.index(), bytes, &mut encoder, &mut slot, values);
        if place.is_none_or(|place| slot[place] != orders.forwarded[n][..]) {
            return Err(wrong(orders.name, operation, n));
        }
    }
    let row = row(orders.name, operation, &orders.published[0]);
    Ok(Work::new(row, orders.values.len(), move |rounds| {
        let mut index = memory.index();
        let ring = orders.published.iter().zip(&orders.values);
        for (bytes, values) in ring.cycle().take(rounds * orders.values.len()) {
            black_box(forward(&mut index, black_box(bytes), &mut encoder, &mut slot, values));
        }
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_message_is_told_and_nothing_is_timed() {
        let tools = Tools::new();
        let mut orders = Orders::aim_158();
        // The hour of one digit, as published, is not a time.
        let error = eager("AIM-158", "eager", &orders.published, &tools, true).err();
        assert_eq!(error.as_deref(), Some("AIM-158 eager: message 0 of the ring has a wrong result"));
        orders.published[9][100] ^= 1;
        assert!(index("AIM-158", "index", &orders.published, true).is_err());
        orders.encoded[3][100] ^= 1;
        assert!(encode(&orders).is_err());
    }

    #[test]
    fn the_gateway_refuses_an_order_that_breaks_a_check() {
        let accepted = |body: &str| {
            let bytes = crate::messages::message("FIX.4.4", &format!("35=D|{body}"));
            let mut memory = Memory::new(true);
            let mut index = memory.index();
            read(&mut index, &bytes).is_some_and(|message| is_accepted(&message))
        };
        assert!(accepted("49=TEST_INSTANCE1|38=100|44=3000|55=AIMS.L|"));
        for wrong in [
            "49=STRANGER|38=100|44=3000|55=AIMS.L|",
            "49=TEST_INSTANCE1|38=10001|44=3000|55=AIMS.L|",
            "49=TEST_INSTANCE1|38=100|44=0|55=AIMS.L|",
            "49=TEST_INSTANCE1|38=100|44=3000|55=OTHER|",
            "49=TEST_INSTANCE1|38=a|44=3000|55=AIMS.L|",
            "49=TEST_INSTANCE1|38=100|44=3000|",
            "49=TEST_INSTANCE1|38=100|38=100|55=AIMS.L|",
        ] {
            assert!(!accepted(wrong), "{wrong}");
        }
    }
}
