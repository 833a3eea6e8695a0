//! Recorded messages as bytes: their fields, and the parts that the session wrote.

use fixbolt_codec::{Frame, Framer, FromField, Index, Message, SeqNum, Span, UtcTimestamp};
use fixbolt_session::{SessionId, Utc};

const SOH: u8 = 1;

/// Returns the value of the first field with this tag. Only for fields before any data field, and
/// for messages of the session layer.
pub(super) fn value(message: &[u8], tag: u32) -> Option<&[u8]> {
    let tag = tag.to_string();
    let fields = message.split(|byte| *byte == SOH);
    fields.into_iter().find_map(|field| field.strip_prefix(tag.as_bytes())?.strip_prefix(b"="))
}

/// Returns the value of a field as a number.
pub(super) fn number(message: &[u8], tag: u32) -> Option<u64> {
    u64::from_field(value(message, tag)?).ok()
}

/// Returns the value of a field as a time.
pub(super) fn time(message: &[u8], tag: u32) -> Option<Utc> {
    UtcTimestamp::from_field(value(message, tag)?).ok()?.to_unix_nanos().map(Utc)
}

/// Returns the value of a field as text; empty if it is missing.
pub(super) fn text(message: &[u8], tag: u32) -> String {
    String::from_utf8_lossy(value(message, tag).unwrap_or_default()).into_owned()
}

/// Returns MsgType (35); empty if it is missing.
pub(super) fn msg_type(message: &[u8]) -> &[u8] {
    value(message, 35).unwrap_or_default()
}

/// Returns whether the message belongs to the session layer.
pub(super) fn is_session_layer(message: &[u8]) -> bool {
    matches!(msg_type(message), [b'0'..=b'5' | b'A'])
}

/// Returns a whole message of `fields`, which begin with MsgType.
pub(super) fn sealed(begin_string: &[u8], fields: &[u8]) -> Vec<u8> {
    let length = format!("\u{1}9={}\u{1}", fields.len());
    let mut message = [b"8=", begin_string, length.as_bytes(), fields].concat();
    let sum = message.iter().fold(0u8, |sum, byte| sum.wrapping_add(*byte));
    message.extend_from_slice(format!("10={sum:03}\u{1}").as_bytes());
    message
}

/// Returns the message with another MsgSeqNum (34).
pub(super) fn renumbered(message: &[u8], seq: SeqNum) -> Vec<u8> {
    let fields: Vec<_> = message.split(|byte| *byte == SOH).collect();
    let mut body = Vec::with_capacity(message.len() + 20);
    let mut is_done = false;
    // BeginString and BodyLength before them, CheckSum and nothing after them.
    for field in fields.iter().take(fields.len().saturating_sub(2)).skip(2) {
        if !is_done && field.starts_with(b"34=") {
            is_done = true;
            body.extend_from_slice(format!("34={seq}").as_bytes());
        } else {
            body.extend_from_slice(field);
        }
        body.push(SOH);
    }
    sealed(value(message, 8).unwrap_or_default(), &body)
}

/// Returns what the application wrote of a message: everything after the header that the session
/// writes, without CheckSum.
pub(super) fn written_by_application<'m>(message: &'m [u8], id: &SessionId) -> &'m [u8] {
    let (sender, target) = (id.sender(), id.target());
    let of_session = |tag: &[u8]| match tag {
        b"8" | b"9" | b"35" | b"49" | b"56" | b"34" | b"43" | b"52" | b"122" | b"369" => true,
        b"50" => sender.sub_id().is_some(),
        b"142" => sender.location_id().is_some(),
        b"57" => target.sub_id().is_some(),
        b"143" => target.location_id().is_some(),
        _ => false,
    };
    let mut at = 0;
    while let Some(length) = message[at..].iter().position(|byte| *byte == SOH)
        && let Some(tag) = message[at..at + length].split(|byte| *byte == b'=').next()
        && of_session(tag)
    {
        at += length + 1;
    }
    const CHECK_SUM: usize = b"10=000\x01".len();
    message.get(at..message.len().saturating_sub(CHECK_SUM)).unwrap_or_default()
}

/// Reads a whole message; `None` if the bytes are not one. A wrong CheckSum is not looked at.
pub(super) fn with_message<R>(bytes: &[u8], look: impl FnOnce(Message<'_>) -> R) -> Option<R> {
    let Frame::Message(framed) = Framer::new(bytes.len()).next(bytes) else { return None };
    let most = bytes.iter().filter(|byte| **byte == SOH).count() + 1;
    let (mut tags, mut spans) = (vec![0; most], vec![Span::default(); most]);
    let mut index = Index::new(&mut tags, &mut spans).with_checksum_verified(false);
    index.build(framed).ok().map(look)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_part_of_the_application_begins_after_the_header_of_the_session() {
        let id: SessionId = "FIX.4.4:US/DESK->THEM".parse().unwrap();
        let fields =
            b"35=D\x0149=US\x0156=THEM\x0134=7\x0150=DESK\x0152=20260105-09:00:00\x0157=X\x0111=a\x01";
        let message = sealed(b"FIX.4.4", fields);
        assert_eq!(written_by_application(&message, &id), b"57=X\x0111=a\x01");
        let other = renumbered(&message, SeqNum(123));
        assert_eq!(number(&other, 34), Some(123));
        assert_eq!(renumbered(&other, SeqNum(7)), message);
        assert_eq!(with_message(&other, |message| message.msg_type().to_vec()), Some(b"D".to_vec()));
    }
}
