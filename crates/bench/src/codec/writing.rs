//! The operations that end with bytes.

use std::hint::black_box;

use fixbolt_codec::{MsgType, Precision, SeqNum};
use fixbolt_workloads::wire::Encoder;

use super::ring::{Ring, around};
use crate::batches::Work;
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
    stamp: fn(&V) -> (u64, u64),
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
