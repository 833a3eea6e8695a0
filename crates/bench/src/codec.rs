//! The codec benchmark: index, validate, typed-six and encode, over rings of differing messages, each checked before it is timed.
//!
//! Every operation that reads begins with the bytes: framing, BodyLength, CheckSum and the index are part of it.

use std::hint::black_box;

use fixbolt_codec::{Decimal, Index, Message, MsgType, Precision, SeqNum, Span, UtcTimestamp};
use fixbolt_dictionary::{Policy, Scratch, Validator, fix42, fix44};
use fixbolt_messages::fix42::ExecutionReport;
use fixbolt_messages::fix44::NewOrderSingle;
use fixbolt_messages::fix44::components::{Instrument as _, OrderQtyData as _};

use crate::Row;
use crate::clock::{median, timed};
use crate::messages::{Er235, Nos222, RING};
use crate::orders::NEW_ORDER_SINGLE;
use crate::reports::EXECUTION_REPORT;
use crate::wire::{Encoder, read};

/// More than a message here has fields.
const FIELDS: usize = 64;
const SLOT: usize = 1024;
/// Messages in a slice: one operation's, before the next one's begins.
const SLICE: usize = RING * 200;

/// Measures every operation in `rounds` slices, which alternate, and gives a row each: the median slice.
///
/// # Errors
/// Which operation did not give what it should: nothing is timed then.
pub fn run(rounds: usize) -> Result<Vec<Row>, String> {
    let nos = Ring::new("NOS-222", (0..RING as u64).map(Nos222::new).collect(), Nos222::bytes);
    let er = Ring::new("ER-235", (0..RING as u64).map(Er235::new).collect(), Er235::bytes);
    let (validator44, validator42) = (Validator::new(fix44()), Validator::new(fix42()));
    let valid_er = Ring::new("ER-235", er.values.clone(), Er235::valid_bytes);
    let nos_sealing =
        Sealing::new(Nos222::BEGIN_STRING, Nos222::PARTIES, NEW_ORDER_SINGLE, Precision::Millis)?;
    let er_sealing = Sealing::new(Er235::BEGIN_STRING, Er235::PARTIES, EXECUTION_REPORT, Precision::Seconds)?;
    let mut operations = [
        index(&nos, Nos222::SIZE)?,
        validate(&nos, &validator44)?,
        typed_six(&nos, read_nos, six_of_nos)?,
        encode(&nos, nos_sealing, |order| (order.seq, order.sending_time), Nos222::write)?,
        index(&er, Er235::SIZE)?,
        validate(&valid_er, &validator42)?,
        typed_six(&er, read_er, six_of_er)?,
        encode(&er, er_sealing, |report| (report.seq, report.sending_time), Er235::write)?,
    ];
    let mut figures = vec![Vec::with_capacity(rounds); operations.len()];
    for _ in 0..rounds {
        for (operation, figures) in operations.iter_mut().zip(&mut figures) {
            let (time, ()) = timed(|| (operation.slice)());
            #[allow(clippy::cast_precision_loss)] // a few milliseconds
            figures.push(time.as_nanos() as f64 / SLICE as f64);
        }
    }
    let rows = operations.iter().zip(&mut figures).filter_map(|(operation, figures)| {
        Some(Row {
            test: "codec",
            engine: "fixbolt",
            message: operation.message,
            operation: operation.name,
            ns: median(figures)?,
            floor_ns: None,
            published: None,
        })
    });
    Ok(rows.collect())
}

/// One operation over one ring, ready to be timed.
struct Operation<'r> {
    message: &'static str,
    name: &'static str,
    slice: Box<dyn FnMut() + 'r>,
}

/// Messages with the values that they were made of.
struct Ring<V> {
    name: &'static str,
    values: Vec<V>,
    bytes: Vec<Vec<u8>>,
}

impl<V> Ring<V> {
    fn new(name: &'static str, values: Vec<V>, bytes: fn(&V) -> Vec<u8>) -> Self {
        let bytes = values.iter().map(bytes).collect();
        Self { name, values, bytes }
    }

    fn wrong(&self, operation: &str, n: usize) -> String {
        format!("{} {operation}: message {n} of the ring does not come out right", self.name)
    }
}

/// The members of the ring again and again, as many as a slice has.
fn around<T>(ring: &[T]) -> impl Iterator<Item = &T> {
    ring.iter().cycle().take(SLICE)
}

fn index<V>(ring: &Ring<V>, (size, fields): (usize, usize)) -> Result<Operation<'_>, String> {
    let (mut tags, mut spans) = ([0; FIELDS], [Span::default(); FIELDS]);
    for (n, bytes) in ring.bytes.iter().enumerate() {
        let mut index = Index::new(&mut tags, &mut spans);
        let right = read(&mut index, bytes).is_some_and(|message| {
            message.len() == fields && bytes.len() == size && message.fault().is_none()
        });
        if !right {
            return Err(ring.wrong("index", n));
        }
    }
    let slice = Box::new(move || {
        let mut index = Index::new(&mut tags, &mut spans);
        for bytes in around(&ring.bytes) {
            black_box(read(&mut index, black_box(bytes)));
        }
    });
    Ok(Operation { message: ring.name, name: "index", slice })
}

fn validate<'r, V>(ring: &'r Ring<V>, validator: &'r Validator) -> Result<Operation<'r>, String> {
    let (mut tags, mut spans) = ([0; FIELDS], [Span::default(); FIELDS]);
    let (policy, mut scratch) = (Policy::standard(), validator.scratch());
    let valid = move |index: &mut Index<'_>, bytes: &[u8], scratch: &mut Scratch| {
        read(index, bytes).is_some_and(|message| validator.first_reject(&message, &policy, scratch).is_none())
    };
    for (n, bytes) in ring.bytes.iter().enumerate() {
        let mut index = Index::new(&mut tags, &mut spans);
        if !valid(&mut index, bytes, &mut scratch) {
            return Err(ring.wrong("validate", n));
        }
    }
    let slice = Box::new(move || {
        let mut index = Index::new(&mut tags, &mut spans);
        for bytes in around(&ring.bytes) {
            black_box(valid(&mut index, black_box(bytes), &mut scratch));
        }
    });
    Ok(Operation { message: ring.name, name: "validate", slice })
}

/// Six typed values of a message.
type Six<'m> = (&'m [u8], &'m [u8], u8, Decimal, Decimal, UtcTimestamp);

/// 11, 55, 54, 38, 44, 60: not in the order of the wire.
fn read_nos<'m>(message: Message<'m>) -> Option<Six<'m>> {
    let order = NewOrderSingle::read(message).ok()?;
    Some((
        order.cl_ord_id().ok()?,
        order.symbol().ok()??,
        order.side().ok()?.value(),
        order.order_qty().ok()??,
        order.price().ok()??,
        order.transact_time().ok()?,
    ))
}

fn six_of_nos(order: &Nos222) -> Six<'_> {
    let quantity = Decimal::from_parts(order.quantity.cast_signed(), 0);
    let (id, symbol) = (order.cl_ord_id.as_bytes(), order.symbol.as_bytes());
    (id, symbol, order.side as u8, quantity, order.price, order.transact_time)
}

/// 11, 17, 39, 151, 44, 60.
fn read_er<'m>(message: Message<'m>) -> Option<Six<'m>> {
    let report = ExecutionReport::read(message).ok()?;
    Some((
        report.cl_ord_id().ok()??,
        report.exec_id().ok()?,
        report.ord_status().ok()?.value(),
        report.leaves_qty().ok()?,
        report.price().ok()??,
        report.transact_time().ok()??,
    ))
}

fn six_of_er(report: &Er235) -> Six<'_> {
    let quantity = Decimal::from_parts(report.quantity.cast_signed(), 0);
    let (id, exec_id) = (report.cl_ord_id.as_bytes(), report.order_id.as_bytes());
    (id, exec_id, b'0', quantity, report.price, report.transact_time)
}

fn typed_six<V>(
    ring: &Ring<V>,
    six: impl for<'m> Fn(Message<'m>) -> Option<Six<'m>> + 'static,
    expected: fn(&V) -> Six<'_>,
) -> Result<Operation<'_>, String> {
    let (mut tags, mut spans) = ([0; FIELDS], [Span::default(); FIELDS]);
    for (n, (bytes, value)) in ring.bytes.iter().zip(&ring.values).enumerate() {
        let mut index = Index::new(&mut tags, &mut spans);
        if read(&mut index, bytes).and_then(&six) != Some(expected(value)) {
            return Err(ring.wrong("typed-six", n));
        }
    }
    let slice = Box::new(move || {
        let mut index = Index::new(&mut tags, &mut spans);
        for bytes in around(&ring.bytes) {
            black_box(read(&mut index, black_box(bytes)).and_then(&six));
        }
    });
    Ok(Operation { message: ring.name, name: "typed-six", slice })
}

/// How a ring's messages are sealed.
struct Sealing {
    encoder: Encoder,
    msg_type: MsgType,
}

impl Sealing {
    fn new(
        begin_string: &str,
        (sender, target): (&str, &str),
        msg_type: MsgType,
        precision: Precision,
    ) -> Result<Self, String> {
        let encoder = Encoder::new(begin_string.as_bytes(), sender.as_bytes(), target.as_bytes());
        let encoder = encoder.ok_or("a ring's parties are no CompIDs")?.with_precision(precision);
        Ok(Self { encoder, msg_type })
    }
}

fn encode<V>(
    ring: &Ring<V>,
    mut sealing: Sealing,
    stamp: fn(&V) -> (u64, u64),
    write: impl Fn(&V, &mut fixbolt_codec::BodyWriter<'_>) + 'static,
) -> Result<Operation<'_>, String> {
    let mut slot = vec![0; SLOT];
    let encode = move |sealing: &mut Sealing, slot: &mut [u8], value: &V| {
        let (seq, sending_time) = stamp(value);
        sealing.encoder.encode(slot, sealing.msg_type, SeqNum(seq), sending_time, |body| write(value, body))
    };
    for (n, (bytes, value)) in ring.bytes.iter().zip(&ring.values).enumerate() {
        let written = encode(&mut sealing, &mut slot, value).map(|place| slot[place].to_vec());
        if written.as_ref() != Some(bytes) {
            return Err(ring.wrong("encode", n));
        }
    }
    let slice = Box::new(move || {
        for value in around(&ring.values) {
            black_box(encode(&mut sealing, &mut slot, black_box(value)));
        }
    });
    Ok(Operation { message: ring.name, name: "encode", slice })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_operation_gives_what_it_should_and_a_figure() {
        let rows = run(1).unwrap();
        let names: Vec<(&str, &str)> = rows.iter().map(|row| (row.message, row.operation)).collect();
        let operations = ["index", "validate", "typed-six", "encode"];
        let expected = ["NOS-222", "ER-235"].map(|message| operations.map(|operation| (message, operation)));
        assert_eq!(names, expected.concat());
        assert!(rows.iter().all(|row| row.ns > 0.0 && row.floor_ns.is_none() && row.published.is_none()));
    }

    #[test]
    fn a_wrong_answer_is_told_and_nothing_is_timed() {
        let mut ring = Ring::new("NOS-222", (0..RING as u64).map(Nos222::new).collect(), Nos222::bytes);
        ring.values[9].price = Decimal::from_parts(1, 0);
        let error = typed_six(&ring, read_nos, six_of_nos).err();
        assert_eq!(
            error.as_deref(),
            Some("NOS-222 typed-six: message 9 of the ring does not come out right")
        );
        let sealing =
            Sealing::new(Nos222::BEGIN_STRING, Nos222::PARTIES, NEW_ORDER_SINGLE, Precision::Millis).unwrap();
        let error = encode(&ring, sealing, |order| (order.seq, order.sending_time), Nos222::write).err();
        assert_eq!(error.as_deref(), Some("NOS-222 encode: message 9 of the ring does not come out right"));
        ring.bytes[3][100] ^= 1;
        assert!(index(&ring, Nos222::SIZE).is_err() && validate(&ring, &Validator::new(fix44())).is_err());
    }
}
