//! The operations that end with bytes.

use std::hint::black_box;

use fixbolt_codec::{BodyWriter, EncodeError, Hole, Key, MsgType, Precision, SeqNum, Template};
use fixbolt_workloads::wire::Encoder;

use super::ring::{Ring, around};
use crate::batches::Work;
use crate::messages::Nos222;
use crate::results::Row;
use crate::write_typed;

const SLOT: usize = 1024;

/// How the messages of a ring are sealed.
pub(crate) struct Sealing {
    encoder: Encoder,
    msg_type: MsgType,
}

impl Sealing {
    pub(crate) fn new(
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

pub(crate) fn encode<V>(
    ring: &Ring<V>,
    mut sealing: Sealing,
    stamp: impl Fn(&V) -> (u64, u64) + Copy + 'static,
    write: impl Fn(&V, &mut fixbolt_codec::BodyWriter<'_>) + 'static,
) -> Result<Work<'_>, String> {
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
    let rounds = move |rounds: usize| {
        for value in around(&ring.values, rounds) {
            black_box(encode(&mut sealing, &mut slot, black_box(value)));
        }
    };
    Ok(Work::new(Row::of_ns("codec", ring.name, "encode", 0.0), ring.bytes.len(), rounds))
}

/// Writes the whole message from a template of each order's account, side and symbol, in which
/// time, quantity, price and ClOrdID are holes.
pub(crate) fn template(ring: &Ring<Nos222>, mut sealing: Sealing) -> Result<Work<'_>, String> {
    const TRANSACT_TIME: Key = Key::new(60);
    const ORDER_QTY: Key = Key::new(38);
    const PRICE: Key = Key::new(44);
    const CL_ORD_ID: Key = Key::new(11);
    let of = |order: &Nos222| {
        let mut memory = [0; SLOT];
        let mut example = BodyWriter::new(sealing.msg_type, &mut memory);
        order.write(&mut example);
        let holes = [TRANSACT_TIME, ORDER_QTY, PRICE, CL_ORD_ID].map(|key| Hole::Variable(key.tag()));
        Template::<192, 4>::new(&example.finish()?, &holes)
    };
    let templates: Result<Vec<_>, EncodeError> = ring.values.iter().map(of).collect();
    let templates = templates.map_err(|error| error.to_string())?;
    let write = move |sealing: &mut Sealing, slot: &mut [u8], template: &Template<192, 4>, order: &Nos222| {
        let outgoing = sealing.encoder.message(slot, SeqNum(order.seq), order.sending_time);
        let sent = template.send(outgoing, |holes| {
            holes
                .field(TRANSACT_TIME, &order.transact_time)
                .field(ORDER_QTY, &order.quantity)
                .field(PRICE, &order.price)
                .bytes(CL_ORD_ID, order.cl_ord_id.as_bytes());
        });
        sent.ok()
    };
    let mut slot = vec![0; SLOT];
    for (n, (bytes, order)) in ring.bytes.iter().zip(&ring.values).enumerate() {
        let place = write(&mut sealing, &mut slot, &templates[n], order);
        if place.is_none_or(|place| slot[place] != bytes[..]) {
            return Err(ring.wrong("template", n));
        }
    }
    let rounds = move |rounds: usize| {
        for (template, order) in around(&templates, rounds).zip(ring.values.iter().cycle()) {
            black_box(write(&mut sealing, &mut slot, black_box(template), black_box(order)));
        }
    };
    Ok(Work::new(Row::of_ns("codec", ring.name, "template", 0.0), ring.bytes.len(), rounds))
}

/// Writes the whole message from typed values with the generated writers; the header's fields are
/// in the order in which an engine writes them.
pub(crate) fn write_typed(
    ring: &Ring<u64>,
    write: impl Fn(&mut write_typed::Session, u64) -> Option<&[u8]> + 'static,
) -> Result<Work<'_>, String> {
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
    let rounds = move |rounds: usize| {
        for value in around(&ring.values, rounds) {
            black_box(write(&mut session, black_box(*value)));
        }
    };
    Ok(Work::new(Row::of_ns("codec", ring.name, "write-typed", 0.0), ring.bytes.len(), rounds))
}
