//! Messages as bytes: what the checks and the printed traces read of them.

use fixbolt_codec::{Frame, Framer};

const SOH: u8 = 1;

/// Returns the value of the first field that begins with `tag`, which ends with `=`.
pub(crate) fn field<'m>(message: &'m [u8], tag: &[u8]) -> Option<&'m [u8]> {
    message.split(|byte| *byte == SOH).find_map(|field| field.strip_prefix(tag))
}

/// Returns MsgSeqNum (34).
pub(crate) fn seq(message: &[u8]) -> u64 {
    number(field(message, b"34=").unwrap_or_default())
}

/// Returns ClOrdID (11), or nothing.
pub(crate) fn id(message: &[u8]) -> &[u8] {
    field(message, b"11=").unwrap_or_default()
}

pub(crate) fn is_poss_dup(message: &[u8]) -> bool {
    field(message, b"43=") == Some(b"Y")
}

pub(crate) fn number(digits: &[u8]) -> u64 {
    std::str::from_utf8(digits).ok().and_then(|text| text.parse().ok()).unwrap_or_default()
}

/// Returns the message as text, with `|` for SOH.
pub(crate) fn readable(message: &[u8]) -> String {
    String::from_utf8_lossy(message).replace('\x01', "|")
}

/// Splits bytes into whole messages.
pub(crate) fn messages(mut bytes: &[u8]) -> Vec<Vec<u8>> {
    let mut found = Vec::new();
    while !bytes.is_empty() {
        let Frame::Message(framed) = Framer::new(1 << 20).next(bytes) else {
            panic!("not a message on the wire: {}", readable(bytes))
        };
        found.push(framed.bytes().to_vec());
        bytes = &bytes[framed.bytes().len()..];
    }
    found
}

/// Writes the message to `to` without its times, and without its checksum, which depends on them.
pub(crate) fn without_times(message: &[u8], to: &mut Vec<u8>) {
    for field in message.split_inclusive(|byte| *byte == SOH) {
        if ![&b"52="[..], b"122=", b"10="].iter().any(|tag| field.starts_with(tag)) {
            to.extend_from_slice(field);
        }
    }
}

/// Returns the message without PossDupFlag (43), with the right BodyLength and CheckSum.
pub(crate) fn without_poss_dup(message: &[u8]) -> Vec<u8> {
    let fields = message.split_inclusive(|byte| *byte == SOH);
    let mut begin = Vec::new();
    let mut body = Vec::new();
    for field in fields {
        if field.starts_with(b"8=") {
            begin = field.to_vec();
        } else if ![&b"9="[..], b"10=", b"43="].iter().any(|tag| field.starts_with(tag)) {
            body.extend_from_slice(field);
        }
    }
    begin.extend_from_slice(format!("9={}\x01", body.len()).as_bytes());
    begin.extend_from_slice(&body);
    let sum = begin.iter().fold(0_u8, |sum, byte| sum.wrapping_add(*byte));
    begin.extend_from_slice(format!("10={sum:03}\x01").as_bytes());
    begin
}
