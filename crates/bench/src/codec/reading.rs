//! The operations that begin with bytes.

use std::hint::black_box;
use std::ops::{ControlFlow, Range};

use fixbolt_codec::{Decimal, EncodeError, Index, Key, Message, Precision, SeqNum, Tag, Tier, UtcTimestamp};
use fixbolt_dictionary::{Policy, RefTag, Scratch, Validator};
use fixbolt_messages::fix42::ExecutionReport;
use fixbolt_messages::fix44::NewOrderSingle;
use fixbolt_messages::fix44::components::{Instrument as _, OrderQtyData as _};
use fixbolt_workloads::wire::{Encoder, Outgoing, read};

use super::ring::{Ring, Storage, around};
use crate::batches::Work;
use crate::messages::{Er235, Nos222, message as message_of};
use crate::read_all::{Kept, Used};
use crate::results::Row;

fn row<V>(ring: &Ring<V>, operation: &str, tier: Tier) -> Row {
    #[expect(clippy::cast_precision_loss, reason = "a ring has few fields")]
    let fields = ring.fields.iter().sum::<usize>() as f64 / ring.fields.len() as f64;
    Row::of_ns("codec", ring.name, operation, 0.0).tier(tier.name()).with("fields", fields)
}

/// Returns a reading operation, which checks each message of the ring and then times the same.
pub(crate) fn reading<'r, V, R: 'r>(
    ring: &'r Ring<V>,
    name: &str,
    tier: Tier,
    mut work: impl for<'m> FnMut(Message<'m>) -> R + 'r,
    right: impl for<'m> Fn(Message<'m>, &V) -> bool,
) -> Result<Work<'r>, String> {
    let mut storage = Storage::new(tier);
    for (n, (bytes, value)) in ring.bytes.iter().zip(&ring.values).enumerate() {
        if !read(&mut storage.index(), bytes).is_some_and(|message| right(message, value)) {
            return Err(ring.wrong(name, n));
        }
    }
    let rounds = move |rounds: usize| {
        let mut index = storage.index();
        for bytes in around(&ring.bytes, rounds) {
            black_box(read(&mut index, black_box(bytes)).map(&mut work));
        }
    };
    Ok(Work::new(row(ring, name, tier), ring.bytes.len(), rounds))
}

/// Returns two reading operations: for messages with the places that validation found before, and
/// with `-unplaced` at the end of its name for the same messages without them. Both check each
/// message of the ring and then time the same.
pub(crate) fn reading_placed<'r, V, R: 'r>(
    ring: &'r Ring<V>,
    validator: &Validator,
    name: &str,
    tier: Tier,
    work: impl for<'m> Fn(Message<'m>) -> R + Copy + 'r,
    right: impl for<'m> Fn(Message<'m>, &V) -> bool,
) -> Result<[Work<'r>; 2], String> {
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
    let rounds = move |rounds: usize| {
        let mut index = storage.index();
        for (bytes, places) in around(&all, rounds) {
            let message = read(&mut index, black_box(bytes));
            black_box(message.map(|message| work(message.with_places(places))));
        }
    };
    let placed = Work::new(row(ring, name, tier), ring.bytes.len(), rounds);
    Ok([placed, reading(ring, &format!("{name}-unplaced"), tier, work, right)?])
}

pub(crate) fn index<V>(ring: &Ring<V>, tier: Tier) -> Result<Work<'_>, String> {
    index_by(ring, tier, |index| index)
}

/// Returns the operation that frames and indexes messages with what `prepare` returns. It must
/// refuse those whose CheckSum or BodyLength is wrong.
pub(crate) fn index_by<V>(
    ring: &Ring<V>,
    tier: Tier,
    prepare: for<'s> fn(Index<'s>) -> Index<'s>,
) -> Result<Work<'_>, String> {
    let mut storage = Storage::new(tier);
    let mut index = prepare(storage.index());
    for (n, (bytes, fields)) in ring.bytes.iter().zip(&ring.fields).enumerate() {
        let right = read(&mut index, bytes)
            .is_some_and(|message| message.len() == *fields && message.fault().is_none());
        if !right || broken(bytes).iter().any(|wrong| read(&mut index, wrong).is_some()) {
            return Err(ring.wrong("index", n));
        }
    }
    let rounds = move |rounds: usize| {
        let mut index = prepare(storage.index());
        for bytes in around(&ring.bytes, rounds) {
            black_box(read(&mut index, black_box(bytes)));
        }
    };
    Ok(Work::new(row(ring, "index", tier), ring.bytes.len(), rounds))
}

/// Returns a message in four versions with one mistake each: another last byte of its body, another
/// CheckSum, and a BodyLength that is one too high or one too low, with the CheckSum of its bytes.
pub(crate) fn broken(message: &[u8]) -> [Vec<u8>; 4] {
    let (all, trailer) = message.split_at(message.len() - "10=000|".len());
    let changed = |at: usize| {
        let mut changed = message.to_vec();
        changed[at] = if changed[at] == b'0' { b'1' } else { b'0' };
        changed
    };
    let announced = |difference: isize| {
        let mut fields = all.splitn(3, |byte| *byte == 1).map(<[u8]>::to_vec);
        let [begin_string, length, body] = [(); 3].map(|()| fields.next().unwrap_or_default());
        let length =
            length.iter().skip("9=".len()).fold(0, |number, digit| number * 10 + usize::from(digit - b'0'));
        let length = format!("9={}", length.wrapping_add_signed(difference)).into_bytes();
        let mut wrong = [begin_string, length, body].join(&1);
        let sum = wrong.iter().fold(0u8, |sum, byte| sum.wrapping_add(*byte));
        wrong.extend(format!("10={sum:03}\x01").into_bytes());
        wrong
    };
    // Before the last SOH of each.
    let (last_of_body, last_digit) = (all.len() - 2, all.len() + trailer.len() - 2);
    [changed(last_of_body), changed(last_digit), announced(1), announced(-1)]
}

/// Returns two operations that read an order and send it again, with a new header: as it is, and
/// enriched: with OnBehalfOfCompID (115) and a field of a dialect inserted, ClOrdID (11) replaced,
/// and Text (58) removed.
pub(crate) fn forward(ring: &Ring<Nos222>, tier: Tier) -> Result<[Work<'_>; 2], String> {
    const CL_ORD_ID: Key = Key::new(11);
    let copy = |message: &Message<'_>, outgoing: Outgoing<'_, '_>| message.forward(outgoing, &[], |_| ());
    let enrich = |message: &Message<'_>, outgoing: Outgoing<'_, '_>| {
        message.forward(outgoing, &[CL_ORD_ID.tag(), Tag::new(58)], |body| {
            body.bytes(const { Key::new(115) }, message.get(Tag::new(49)).unwrap_or_default())
                .bytes(CL_ORD_ID, b"GATEWAY-17")
                .bytes(const { Key::new(5001) }, b"desk");
        })
    };
    let body_from = |text: &str| {
        let (_, body) = text.split_once("\x0160=").unwrap_or_default();
        let (body, _) = body.rsplit_once("10=").unwrap_or_default();
        format!("60={body}")
    };
    let enriched = move |text: &str| {
        let kept = body_from(text);
        let kept = kept
            .split_inclusive('\x01')
            .filter(|field| !field.starts_with("11=") && !field.starts_with("58="));
        format!("115=A12345B\x0111=GATEWAY-17\x015001=desk\x01{}", kept.collect::<String>())
    };
    Ok([
        forward_by(ring, "forward", tier, copy, body_from)?,
        forward_by(ring, "enrich", tier, enrich, enriched)?,
    ])
}

fn forward_by<'r>(
    ring: &'r Ring<Nos222>,
    name: &str,
    tier: Tier,
    work: impl Fn(&Message<'_>, Outgoing<'_, '_>) -> Result<Range<usize>, EncodeError> + 'r,
    body: impl Fn(&str) -> String,
) -> Result<Work<'r>, String> {
    let (mut storage, mut slot) = (Storage::new(tier), vec![0; 1024]);
    let encoder = Encoder::new(b"FIX.4.4", b"GATEWAY", b"VENUE").ok_or("the parties are not CompIDs")?;
    let mut encoder = encoder.with_precision(Precision::Millis);
    for (n, (bytes, order)) in ring.bytes.iter().zip(&ring.values).enumerate() {
        let mut index = storage.index();
        let message = read(&mut index, bytes).ok_or_else(|| ring.wrong(name, n))?;
        let outgoing = encoder.message(&mut slot, SeqNum(order.seq), order.sending_time);
        let place = work(&message, outgoing).map_err(|error| format!("{}: {error}", ring.wrong(name, n)))?;
        let millis = order.sending_time / 1_000_000 % 1000;
        let header = format!("35=D|49=GATEWAY|56=VENUE|34={}|52=20261121-09:00:00.{millis:03}|", order.seq);
        let body = body(&String::from_utf8_lossy(bytes));
        if slot[place] != message_of("FIX.4.4", &format!("{header}{body}")) {
            return Err(ring.wrong(name, n));
        }
    }
    let rounds = move |rounds: usize| {
        let mut index = storage.index();
        for (bytes, order) in around(&ring.bytes, rounds).zip(ring.values.iter().cycle()) {
            let message = read(&mut index, black_box(bytes));
            let outgoing = encoder.message(&mut slot, SeqNum(order.seq), order.sending_time);
            black_box(message.as_ref().map(|message| work(message, outgoing)).is_some());
        }
    };
    Ok(Work::new(row(ring, name, tier), ring.bytes.len(), rounds))
}

/// For rings whose messages all have the same layout. `wrong` are the fields that validation must
/// find wrong, and no others.
pub(crate) fn validate<'r, V>(
    ring: &'r Ring<V>,
    validator: &'r Validator,
    tier: Tier,
    wrong: &[u32],
) -> Result<Work<'r>, String> {
    validation(ring, validator, tier, wrong, "validate", |_| ())
}

/// Validates with no layout known, so that one is learned for every message.
pub(crate) fn validate_miss<'r, V>(
    ring: &'r Ring<V>,
    validator: &'r Validator,
    tier: Tier,
) -> Result<Work<'r>, String> {
    validation(ring, validator, tier, &[], "validate-miss", Scratch::forget)
}

fn validation<'r, V>(
    ring: &'r Ring<V>,
    validator: &'r Validator,
    tier: Tier,
    wrong: &[u32],
    name: &'static str,
    prepare: impl Fn(&mut Scratch) + 'r,
) -> Result<Work<'r>, String> {
    let policy = Policy::standard();
    let hits = layout_hits(ring, validator, &prepare)?;
    let mut scratch = validator.scratch();
    let right = |message: Message<'_>, _: &V| {
        let found = validator.all(&message, &policy, &mut validator.scratch());
        found.iter().map(|violation| violation.tag).eq(wrong.iter().map(|tag| RefTag::Number(*tag)))
    };
    let expected = wrong.len();
    let mut work = reading(
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
    )?;
    work.row = work.row.with("layout_hits", hits);
    Ok(work)
}

/// Returns how many messages in a hundred have a layout that is known, after two rounds of the
/// ring. It is counted apart from what is timed, and is the same there: what a scratch learns
/// depends on nothing but the messages before.
fn layout_hits<V>(
    ring: &Ring<V>,
    validator: &Validator,
    prepare: impl Fn(&mut Scratch),
) -> Result<f64, String> {
    let (policy, mut scratch, mut storage) =
        (Policy::standard(), validator.scratch(), Storage::new(Tier::best()));
    let mut hits = 0u32;
    for round in 0..3 {
        for (n, bytes) in ring.bytes.iter().enumerate() {
            let mut index = storage.index();
            let message = read(&mut index, bytes).ok_or_else(|| ring.wrong("validate", n))?;
            prepare(&mut scratch);
            hits += u32::from(round == 2 && validator.knows(&message, &policy, &scratch));
            validator.for_each(&message, &policy, &mut scratch, |_| ControlFlow::Continue(()));
        }
    }
    #[expect(clippy::cast_precision_loss, reason = "a ring has 64 messages")]
    Ok(100.0 * f64::from(hits) / ring.bytes.len() as f64)
}

/// Six typed values of a message.
pub(crate) type Six<'m> = (&'m [u8], &'m [u8], u8, Decimal, Decimal, UtcTimestamp);

/// 11, 55, 54, 38, 44, 60: not in the order of the wire.
pub(crate) fn read_nos<'m>(message: Message<'m>) -> Option<Six<'m>> {
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

pub(crate) fn six_of_nos(order: &Nos222) -> Six<'_> {
    let quantity = Decimal::from_parts(order.quantity.cast_signed(), 0);
    let (id, symbol) = (order.cl_ord_id.as_bytes(), order.symbol.as_bytes());
    (id, symbol, order.side as u8, quantity, order.price, order.transact_time)
}

/// 11, 17, 39, 151, 44, 60.
pub(crate) fn read_er<'m>(message: Message<'m>) -> Option<Six<'m>> {
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

pub(crate) fn six_of_er(report: &Er235) -> Six<'_> {
    let quantity = Decimal::from_parts(report.quantity.cast_signed(), 0);
    let (id, exec_id) = (report.cl_ord_id.as_bytes(), report.order_id.as_bytes());
    (id, exec_id, b'0', quantity, report.price, report.transact_time)
}

pub(crate) fn typed_six<'r, V>(
    ring: &'r Ring<V>,
    validator: &Validator,
    tier: Tier,
    six: impl for<'m> Fn(Message<'m>) -> Option<Six<'m>> + Copy + 'static,
    expected: fn(&V) -> Six<'_>,
) -> Result<[Work<'r>; 2], String> {
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

/// Returns the operations that read every field as its type. `used`, which is timed, and `kept`,
/// whose values are compared with the message, are one generic function.
pub(crate) fn typed_all<'r, V>(
    ring: &'r Ring<V>,
    validator: &Validator,
    tier: Tier,
    used: impl for<'m> Fn(Message<'m>, &mut Used) -> Option<()> + Copy + 'static,
    kept: impl for<'m> Fn(Message<'m>, &mut Kept) -> Option<()>,
) -> Result<[Work<'r>; 2], String> {
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
