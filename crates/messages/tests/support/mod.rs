//! From a body to a framed and indexed message, as the counterparty would see it.
#![allow(dead_code)] // each test file uses a part

use fixbolt_messages::codec::{
    Body, Envelope, Frame, Framer, Index, Memory, Message, MsgType, SeqNum, Span, Stamp, byte_sum,
};

/// Adds header and trailer of FIX.4.4 to what `write` sends, reads the message back and passes it
/// to `read`.
pub(crate) fn written<'b, R>(
    memory: &'b mut [u8],
    write: impl FnOnce(Memory<'b>) -> Body<'b>,
    read: impl FnOnce(Message<'_>) -> R,
) -> R {
    written_in("FIX.4.4", memory, write, read)
}

/// Adds header and trailer of a version to what `write` sends, reads the message back and passes it
/// to `read`.
pub(crate) fn written_in<'b, R>(
    begin_string: &str,
    memory: &'b mut [u8],
    write: impl FnOnce(Memory<'b>) -> Body<'b>,
    read: impl FnOnce(Message<'_>) -> R,
) -> R {
    let body = write(Memory(memory));
    received_in(begin_string, body.msg_type, body.bytes, read)
}

/// Adds header and trailer of FIX.4.4 to a body, reads the message back and passes it to `read`.
pub(crate) fn received<R>(msg_type: MsgType, body: &[u8], read: impl FnOnce(Message<'_>) -> R) -> R {
    received_in("FIX.4.4", msg_type, body, read)
}

/// Adds header and trailer of a version to a body, reads the message back and passes it to `read`.
pub(crate) fn received_in<R>(
    begin_string: &str,
    msg_type: MsgType,
    body: &[u8],
    read: impl FnOnce(Message<'_>) -> R,
) -> R {
    let envelope = Envelope::new(begin_string.as_bytes(), b"TRADER", b"VENUE").unwrap();
    let mut memory = vec![0; body.len() + 400];
    memory[300..300 + body.len()].copy_from_slice(body);
    let stamp = Stamp {
        seq: SeqNum(7),
        sending_time: b"20261121-10:00:00.000",
        original: None,
        last_processed: None,
    };
    let whole = envelope.seal(&mut memory, 300..300 + body.len(), msg_type, byte_sum(body), &stamp).unwrap();
    let Frame::Message(framed) = Framer::new(1 << 16).next(&memory[whole]) else { panic!("no message") };
    let (mut tags, mut spans) = ([0; 256], [Span::default(); 256]);
    let mut index = Index::new(&mut tags, &mut spans);
    read(index.build(framed).unwrap())
}

/// Adds header and trailer of FIX.4.4 to a body, given as text with `|` for SOH, reads the message
/// back and passes it to `read`.
pub(crate) fn text<R>(msg_type: &[u8], body: &str, read: impl FnOnce(Message<'_>) -> R) -> R {
    received(MsgType::new(msg_type), body.replace('|', "\x01").as_bytes(), read)
}

/// Adds header and trailer of a version to a body, given as text with `|` for SOH, reads the
/// message back and passes it to `read`.
pub(crate) fn text_in<R>(
    begin_string: &str,
    msg_type: &[u8],
    body: &str,
    read: impl FnOnce(Message<'_>) -> R,
) -> R {
    received_in(begin_string, MsgType::new(msg_type), body.replace('|', "\x01").as_bytes(), read)
}

/// Returns the bytes of a body with `|` for SOH.
pub(crate) fn shown(body: &Body<'_>) -> String {
    String::from_utf8(body.bytes.to_vec()).unwrap().replace('\x01', "|")
}
