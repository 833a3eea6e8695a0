//! The codec benchmark: index, validate, typed-six, typed-all, encode and write-typed, over rings
//! of differing messages, each checked before it is timed, in every tier of the processor.
//!
//! Every operation that reads begins with the bytes: framing, BodyLength, CheckSum and the index
//! are included. The typed operations read messages with the places that validation found before,
//! as an engine's application does; finding them is part of `validate`.

use std::hint::black_box;
use std::ops::ControlFlow;

use fixbolt_codec::{Decimal, Index, Message, MsgType, Precision, SeqNum, Span, Tier, UtcTimestamp};
use fixbolt_dictionary::{Policy, RefTag, Scratch, Validator, fix42, fix44};
use fixbolt_messages::fix42::ExecutionReport;
use fixbolt_messages::fix44::NewOrderSingle;
use fixbolt_messages::fix44::components::{Instrument as _, OrderQtyData as _};

use crate::clock::{median, timed};
use crate::harness::Control;
use crate::messages::{Er235, Nos222, RING};
use crate::orders::NEW_ORDER_SINGLE;
use crate::read_all::{self, Kept, Used};
use crate::reports::EXECUTION_REPORT;
use crate::results::Row;
use crate::wire::{Encoder, read};
use crate::{more_messages, write_typed};

/// More fields than a message here has.
const FIELDS: usize = 160;
const SLOT: usize = 1024;
/// Rounds of a ring per slice: the slices of different operations alternate.
const SLICE: usize = 100;

/// Measures every operation in `rounds` alternating slices and returns one row per operation: the
/// median slice.
///
/// # Errors
/// Returns the operation with a wrong result; nothing is timed then.
pub fn run(rounds: usize, control: &Control) -> Result<Vec<Row>, String> {
    let mut figures = Vec::new();
    let rows = with_operations(|operations| {
        figures.resize_with(operations.len(), || Vec::with_capacity(rounds));
        for round in 0..rounds {
            if control.is_stopped() {
                break;
            }
            control.progress(round as u64);
            for (operation, figures) in operations.iter_mut().zip(&mut figures) {
                let (time, ()) = timed(|| (operation.rounds)(SLICE));
                #[allow(clippy::cast_precision_loss)] // a few milliseconds
                figures.push(time.as_nanos() as f64 / (SLICE * RING) as f64);
            }
        }
        operations.iter().map(Operation::row).collect::<Vec<_>>()
    })?;
    let timed = rows.into_iter().zip(&mut figures);
    Ok(timed.filter_map(|(row, figures)| Some(Row { ns: Some(median(figures)?), ..row })).collect())
}

/// Runs every operation once over its ring, for a profiler that counts the instructions of
/// [`counted`], and returns the rows in the same order, without a figure. Each operation calls
/// [`counted`] twice: the first call learns what is learned once, the second one counts.
///
/// # Errors
/// Returns the operation with a wrong result.
pub fn once() -> Result<Vec<Row>, String> {
    with_operations(|operations| {
        for operation in &mut *operations {
            counted(&mut *operation.rounds, 2);
            counted(&mut *operation.rounds, 1);
        }
        operations.iter().map(Operation::row).collect()
    })
}

/// Runs an operation this many times. `.ci/instructions` knows the name of this function.
#[inline(never)]
pub fn counted(operation: &mut dyn FnMut(usize), rounds: usize) {
    operation(black_box(rounds));
}

fn with_operations<R>(work: impl FnOnce(&mut [Operation<'_>]) -> R) -> Result<R, String> {
    let nos = Ring::new("NOS-222", (0..RING as u64).map(Nos222::new).collect(), Nos222::bytes);
    let er = Ring::new("ER-235", (0..RING as u64).map(Er235::new).collect(), Er235::bytes);
    let valid_er = Ring::new("ER-235", er.values.clone(), Er235::valid_bytes);
    let aim_97 = Ring::numbered("AIM-97", more_messages::aim_97);
    let aim_158 = Ring::numbered("AIM-158", more_messages::aim_158);
    let valid_aim = Ring::numbered("AIM-158", more_messages::valid_aim_158);
    let market_data = Ring::numbered("MarketDataRequest", more_messages::market_data_request);
    let quotes = Ring::numbered("QuoteStatusRequest", more_messages::quote_status_request);
    let nested = Ring::numbered("QuoteStatusRequest-nested", more_messages::nested_quote_status_request);
    let multileg = Ring::numbered("NewOrderMultileg", more_messages::new_order_multileg);
    let (validator44, validator42) = (Validator::new(fix44()), Validator::new(fix42()));
    let nos_sealing =
        Sealing::new(Nos222::VERSION.begin_string(), Nos222::PARTIES, NEW_ORDER_SINGLE, Precision::Millis)?;
    let er_sealing =
        Sealing::new(Er235::VERSION.begin_string(), Er235::PARTIES, EXECUTION_REPORT, Precision::Seconds)?;
    let mut operations = Vec::new();
    for tier in Tier::available() {
        operations.extend([
            index(&nos, tier)?,
            validate(&nos, &validator44, tier, &[])?,
            validate_miss(&nos, &validator44, tier)?,
            typed_six(&nos, &validator44, tier, read_nos, six_of_nos)?,
            typed_all(&nos, &validator44, tier, read_all::nos_222, read_all::nos_222)?,
            index(&aim_97, tier)?,
            index(&aim_158, tier)?,
            // It has no MsgSeqNum.
            validate(&valid_aim, &validator44, tier, &[34])?,
            typed_all(&valid_aim, &validator44, tier, read_all::aim_158, read_all::aim_158)?,
            index(&er, tier)?,
            validate(&valid_er, &validator42, tier, &[])?,
            validate_miss(&valid_er, &validator42, tier)?,
            typed_six(&er, &validator42, tier, read_er, six_of_er)?,
            typed_all(&er, &validator42, tier, read_all::er_235, read_all::er_235)?,
            index(&market_data, tier)?,
            validate(&market_data, &validator44, tier, &[])?,
            validate_miss(&market_data, &validator44, tier)?,
            typed_all(
                &market_data,
                &validator44,
                tier,
                read_all::market_data_request,
                read_all::market_data_request,
            )?,
            index(&quotes, tier)?,
            validate(&quotes, &validator44, tier, &[])?,
            typed_all(
                &quotes,
                &validator44,
                tier,
                read_all::quote_status_request,
                read_all::quote_status_request,
            )?,
            index(&nested, tier)?,
            validate(&nested, &validator44, tier, &[606, 606, 606, 606])?,
            typed_all(
                &nested,
                &validator44,
                tier,
                read_all::quote_status_request,
                read_all::quote_status_request,
            )?,
            index(&multileg, tier)?,
            // Its values are random: invalid countries, currencies and codes, and a group without
            // its required entries.
            validate(&multileg, &validator44, tier, &[470, 947, 875, 555, 479, 120, 847])?,
            typed_all(
                &multileg,
                &validator44,
                tier,
                read_all::new_order_multileg,
                read_all::new_order_multileg,
            )?,
        ]);
    }
    operations.extend([
        encode(&nos, nos_sealing, |order| (order.seq, order.sending_time), Nos222::write)?,
        encode(&er, er_sealing, |report| (report.seq, report.sending_time), Er235::write)?,
        write_typed(&market_data, write_typed::market_data_request)?,
        write_typed(&quotes, write_typed::quote_status_request)?,
        write_typed(&nested, write_typed::nested_quote_status_request)?,
    ]);
    // Rows of the same message are next to each other.
    let order: Vec<&str> = operations.iter().map(|operation: &Operation<'_>| operation.message).collect();
    operations.sort_by_key(|operation| order.iter().position(|name| *name == operation.message));
    Ok(work(&mut operations))
}

/// An operation over a ring, ready to be timed for a number of rounds.
struct Operation<'r> {
    message: &'static str,
    name: &'static str,
    tier: Option<Tier>,
    rounds: Box<dyn FnMut(usize) + 'r>,
}

impl Operation<'_> {
    fn row(&self) -> Row {
        let row = Row::of_ns("codec", self.message, self.name, 0.0);
        match self.tier {
            Some(tier) => row.tier(tier.name()),
            None => row,
        }
    }
}

/// Messages with the values they were made from.
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
        format!("{} {operation}: message {n} of the ring has a wrong result", self.name)
    }
}

impl Ring<u64> {
    fn numbered(name: &'static str, bytes: fn(u64) -> Vec<u8>) -> Self {
        let values: Vec<u64> = (0..RING as u64).collect();
        let bytes = values.iter().map(|n| bytes(*n)).collect();
        Self { name, values, bytes }
    }
}

/// Iterates over the members of a ring this many times.
fn around<T>(ring: &[T], rounds: usize) -> impl Iterator<Item = &T> {
    ring.iter().cycle().take(rounds * ring.len())
}

/// The storage of an index.
struct Storage {
    tags: Vec<u32>,
    spans: Vec<Span>,
    tier: Tier,
}

impl Storage {
    fn new(tier: Tier) -> Self {
        Self { tags: vec![0; FIELDS], spans: vec![Span::default(); FIELDS], tier }
    }

    fn index(&mut self) -> Index<'_> {
        Index::new(&mut self.tags, &mut self.spans).with_tier(self.tier)
    }
}

/// Returns a reading operation, which checks each message of the ring and then times the same.
fn reading<'r, V, R: 'r>(
    ring: &'r Ring<V>,
    name: &'static str,
    tier: Tier,
    mut work: impl for<'m> FnMut(Message<'m>) -> R + 'r,
    right: impl for<'m> Fn(Message<'m>, &V) -> bool,
) -> Result<Operation<'r>, String> {
    let mut storage = Storage::new(tier);
    for (n, (bytes, value)) in ring.bytes.iter().zip(&ring.values).enumerate() {
        if !read(&mut storage.index(), bytes).is_some_and(|message| right(message, value)) {
            return Err(ring.wrong(name, n));
        }
    }
    let rounds = Box::new(move |rounds: usize| {
        let mut index = storage.index();
        for bytes in around(&ring.bytes, rounds) {
            black_box(read(&mut index, black_box(bytes)).map(&mut work));
        }
    });
    Ok(Operation { message: ring.name, name, tier: Some(tier), rounds })
}

/// Does the same with messages that have their places.
fn reading_placed<'r, V, R: 'r>(
    ring: &'r Ring<V>,
    validator: &Validator,
    name: &'static str,
    tier: Tier,
    mut work: impl for<'m> FnMut(Message<'m>) -> R + 'r,
    right: impl for<'m> Fn(Message<'m>, &V) -> bool,
) -> Result<Operation<'r>, String> {
    let (mut storage, mut scratch) = (Storage::new(tier), validator.scratch());
    let mut all = Vec::with_capacity(ring.bytes.len());
    for (n, (bytes, value)) in ring.bytes.iter().zip(&ring.values).enumerate() {
        let mut index = storage.index();
        let message = read(&mut index, bytes).ok_or_else(|| ring.wrong(name, n))?;
        let places = validator.places(&message, &mut scratch).to_vec();
        if !right(message.with_places(&places), value) {
            return Err(ring.wrong(name, n));
        }
        all.push((bytes, places));
    }
    let rounds = Box::new(move |rounds: usize| {
        let mut index = storage.index();
        for (bytes, places) in around(&all, rounds) {
            let message = read(&mut index, black_box(bytes));
            black_box(message.map(|message| work(message.with_places(places))));
        }
    });
    Ok(Operation { message: ring.name, name, tier: Some(tier), rounds })
}

fn index<V>(ring: &Ring<V>, tier: Tier) -> Result<Operation<'_>, String> {
    let mut storage = Storage::new(tier);
    for (n, bytes) in ring.bytes.iter().enumerate() {
        let fields = bytes.iter().filter(|byte| **byte == 1).count();
        let right = read(&mut storage.index(), bytes)
            .is_some_and(|message| message.len() == fields && message.fault().is_none());
        if !right {
            return Err(ring.wrong("index", n));
        }
    }
    let rounds = Box::new(move |rounds: usize| {
        let mut index = storage.index();
        for bytes in around(&ring.bytes, rounds) {
            black_box(read(&mut index, black_box(bytes)));
        }
    });
    Ok(Operation { message: ring.name, name: "index", tier: Some(tier), rounds })
}

/// For rings whose messages all have the same layout. `wrong` are the fields that validation must
/// find wrong, and no others.
fn validate<'r, V>(
    ring: &'r Ring<V>,
    validator: &'r Validator,
    tier: Tier,
    wrong: &[u32],
) -> Result<Operation<'r>, String> {
    validation(ring, validator, tier, wrong, "validate", |_| ())
}

/// Validates with no layout known, so that one is learned for every message.
fn validate_miss<'r, V>(
    ring: &'r Ring<V>,
    validator: &'r Validator,
    tier: Tier,
) -> Result<Operation<'r>, String> {
    validation(ring, validator, tier, &[], "validate-miss", Scratch::forget)
}

fn validation<'r, V>(
    ring: &'r Ring<V>,
    validator: &'r Validator,
    tier: Tier,
    wrong: &[u32],
    name: &'static str,
    prepare: impl Fn(&mut Scratch) + 'r,
) -> Result<Operation<'r>, String> {
    let policy = Policy::standard();
    let mut scratch = validator.scratch();
    let right = |message: Message<'_>, _: &V| {
        let found = validator.all(&message, &policy, &mut validator.scratch());
        found.iter().map(|violation| violation.tag).eq(wrong.iter().map(|tag| RefTag::Number(*tag)))
    };
    let expected = wrong.len();
    reading(
        ring,
        name,
        tier,
        move |message| {
            let mut found = 0;
            prepare(&mut scratch);
            validator.for_each(&message, &policy, &mut scratch, |_| {
                found += 1;
                ControlFlow::Continue(())
            });
            found == expected
        },
        right,
    )
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

fn typed_six<'r, V>(
    ring: &'r Ring<V>,
    validator: &Validator,
    tier: Tier,
    six: impl for<'m> Fn(Message<'m>) -> Option<Six<'m>> + Copy + 'static,
    expected: fn(&V) -> Six<'_>,
) -> Result<Operation<'r>, String> {
    reading_placed(
        ring,
        validator,
        "typed-six",
        tier,
        move |message| {
            black_box(six(message));
        },
        |message, value| six(message) == Some(expected(value)),
    )
}

/// The same function is timed and compared.
fn typed_all<'r, V>(
    ring: &'r Ring<V>,
    validator: &Validator,
    tier: Tier,
    used: impl for<'m> Fn(Message<'m>, &mut Used) -> Option<()> + 'static,
    kept: impl for<'m> Fn(Message<'m>, &mut Kept) -> Option<()>,
) -> Result<Operation<'r>, String> {
    reading_placed(
        ring,
        validator,
        "typed-all",
        tier,
        move |message| used(message, &mut Used),
        |message, _| {
            let mut values = Kept::default();
            kept(message, &mut values).is_some() && values.0 == Kept::of(&message).0
        },
    )
}

/// How the messages of a ring are sealed.
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
        let encoder = encoder.ok_or("a ring's parties are not CompIDs")?.with_precision(precision);
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
    let rounds = Box::new(move |rounds: usize| {
        for value in around(&ring.values, rounds) {
            black_box(encode(&mut sealing, &mut slot, black_box(value)));
        }
    });
    Ok(Operation { message: ring.name, name: "encode", tier: None, rounds })
}

/// Writes the whole message from typed values with the generated writers; the header's fields are
/// in the order in which an engine writes them.
fn write_typed(
    ring: &Ring<u64>,
    write: impl Fn(&mut write_typed::Session, u64) -> Option<&[u8]> + 'static,
) -> Result<Operation<'_>, String> {
    let mut session = write_typed::Session::new().ok_or("the parties of the messages are not CompIDs")?;
    let sorted = |bytes: &[u8]| {
        let mut fields: Vec<Vec<u8>> = bytes.split(|byte| *byte == 1).map(<[u8]>::to_vec).collect();
        fields[3..7].sort();
        fields
    };
    for (n, (bytes, value)) in ring.bytes.iter().zip(&ring.values).enumerate() {
        if write(&mut session, *value).map(sorted) != Some(sorted(bytes)) {
            return Err(ring.wrong("write-typed", n));
        }
    }
    let rounds = Box::new(move |rounds: usize| {
        for value in around(&ring.values, rounds) {
            black_box(write(&mut session, black_box(*value)));
        }
    });
    Ok(Operation { message: ring.name, name: "write-typed", tier: None, rounds })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_operation_gives_what_it_should_and_a_figure_in_every_tier() {
        let rows = run(1, &Control::default()).unwrap();
        let tiers = Tier::available().count();
        let of = |message: &str, operation: &str| {
            rows.iter()
                .filter(|row| (row.message.as_str(), row.operation.as_str()) == (message, operation))
                .count()
        };
        for message in [
            "NOS-222",
            "AIM-158",
            "ER-235",
            "MarketDataRequest",
            "QuoteStatusRequest-nested",
            "NewOrderMultileg",
        ] {
            for operation in ["index", "validate", "typed-all"] {
                assert_eq!(of(message, operation), tiers, "{message} {operation}");
            }
        }
        assert_eq!(
            (of("AIM-97", "index"), of("ER-235", "typed-six"), of("NOS-222", "encode")),
            (tiers, tiers, 1)
        );
        assert_eq!(of("QuoteStatusRequest", "write-typed"), 1);
        assert!(
            rows.iter().all(|row| row.figure().0 > 0.0 && row.floor_ns.is_none() && row.published.is_none())
        );
        assert_eq!(once().unwrap().len(), rows.len());
    }

    #[test]
    fn a_wrong_answer_is_told_and_nothing_is_timed() {
        let mut ring = Ring::new("NOS-222", (0..RING as u64).map(Nos222::new).collect(), Nos222::bytes);
        ring.values[9].price = Decimal::from_parts(1, 0);
        let validator = Validator::new(fix44());
        let error = typed_six(&ring, &validator, Tier::SCALAR, read_nos, six_of_nos).err();
        assert_eq!(error.as_deref(), Some("NOS-222 typed-six: message 9 of the ring has a wrong result"));
        let sealing = Sealing::new(
            Nos222::VERSION.begin_string(),
            Nos222::PARTIES,
            NEW_ORDER_SINGLE,
            Precision::Millis,
        )
        .unwrap();
        let error = encode(&ring, sealing, |order| (order.seq, order.sending_time), Nos222::write).err();
        assert_eq!(error.as_deref(), Some("NOS-222 encode: message 9 of the ring has a wrong result"));
        ring.bytes[3][100] ^= 1;
        assert!(
            index(&ring, Tier::best()).is_err() && validate(&ring, &validator, Tier::best(), &[]).is_err()
        );
        // It reads fewer than all.
        let aim = Ring::numbered("AIM-158", more_messages::valid_aim_158);
        assert!(typed_all(&aim, &validator, Tier::best(), |_, _| Some(()), |_, _| Some(())).is_err());
    }
}
