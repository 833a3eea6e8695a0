//! The framer: the messages of a stream do not depend on how it arrives, no byte is lost or
//! invented, and after any bytes valid messages are found again after at most the length of one
//! message.

use fixbolt_codec::{Frame, FrameError, Framer};

use super::messages;
use crate::random::Random;

const LIMIT: usize = 2048;
const HEARTBEAT: &[u8] = b"8=FIX.4.2\x019=5\x0135=0\x0110=161\x01";

pub(super) fn seeds() -> Vec<Vec<u8>> {
    let mut seeds = messages();
    seeds.push(messages().concat());
    seeds.push([HEARTBEAT, b"garbage\x01", HEARTBEAT, HEARTBEAT].concat());
    seeds.push([b"8=FIX.4.2\x019=500\x0135=0\x0110=161\x01", HEARTBEAT, HEARTBEAT].concat());
    seeds.push([&b"8=FIX.4.2\x019=1000000000000\x01"[..], HEARTBEAT].concat());
    seeds
}

pub(super) fn run(data: &[u8]) {
    let framer = Framer::new(LIMIT);
    for framer in [&framer.clone().with_prefixes(), &framer] {
        let whole = cut(framer, data, |_| data.len());
        let single = cut(framer, data, |_| 1);
        assert_eq!(whole, single, "other messages when the stream arrives byte by byte");
        let mut random = Random::of_bytes(data);
        let pieces = cut(framer, data, |_| 1 + random.below(64));
        assert_eq!(whole, pieces, "other messages when the stream arrives in pieces");
    }

    // One broken message costs one message: after LIMIT bytes of valid ones every further one is
    // found.
    let lost = LIMIT / HEARTBEAT.len() + 2;
    let mut healed = data.to_vec();
    for _ in 0..lost + 20 {
        healed.extend_from_slice(HEARTBEAT);
    }
    let found = cut(&framer, &healed, |_| LIMIT);
    assert!(found.len() >= 20, "{} messages found", found.len());
    assert!(
        found[found.len() - 20..].iter().all(|m| m == HEARTBEAT),
        "valid messages after bad bytes are not found"
    );
}

/// Returns the messages of a stream that arrives in pieces.
fn cut(framer: &Framer, data: &[u8], mut stretch: impl FnMut(usize) -> usize) -> Vec<Vec<u8>> {
    let mut framer = framer.clone();
    let (mut messages, mut arrived, mut consumed) = (Vec::new(), 0, 0);
    // No message may come before the stream has this many bytes.
    let mut not_before = 0;
    let mut told = false;
    while arrived < data.len() {
        arrived = (arrived + stretch(arrived).max(1)).min(data.len());
        loop {
            let buffer = &data[consumed..arrived];
            match framer.next(buffer) {
                Frame::Message(framed) => {
                    let bytes = framed.bytes();
                    assert_eq!(bytes, &buffer[..bytes.len()], "a message that does not begin the buffer");
                    assert!(arrived >= not_before, "a message before as many bytes as were requested");
                    assert!(bytes.len() <= LIMIT, "a message longer than the limit");
                    check_length(bytes);
                    messages.push(bytes.to_vec());
                    consumed += bytes.len();
                }
                Frame::Garbled { bytes, error } => {
                    // What may begin a message stays in the buffer; then only the error is
                    // returned, and only once.
                    assert!(
                        !bytes.is_empty() || (error.is_some() && !told),
                        "garbled, but nothing to drop: an endless loop"
                    );
                    told = bytes.is_empty();
                    assert_eq!(bytes, &buffer[..bytes.len()], "garbled bytes that do not begin the buffer");
                    if let Some(FrameError::TooLarge { limit }) = error {
                        assert_eq!(limit, LIMIT);
                    }
                    consumed += bytes.len();
                }
                Frame::Incomplete { at_least } => {
                    assert!(at_least >= 1, "incomplete, but no more bytes needed");
                    assert!(buffer.len() + at_least <= LIMIT, "waits for more bytes than a message may have");
                    not_before = arrived + at_least;
                    break;
                }
            }
        }
    }
    messages
}

/// Computes BodyLength again, independently.
fn check_length(bytes: &[u8]) {
    let mut fields = bytes.split(|b| *b == 1);
    let (begin, length) = (fields.next().unwrap_or_default(), fields.next().unwrap_or_default());
    assert!(begin.starts_with(b"8=FIX"), "a message that does not begin with 8=FIX");
    let announced: usize = std::str::from_utf8(length)
        .ok()
        .and_then(|text| text.strip_prefix("9="))
        .and_then(|digits| digits.parse().ok())
        .expect("the second field is a BodyLength");
    assert_eq!(
        begin.len() + 1 + length.len() + 1 + announced + 7,
        bytes.len(),
        "BodyLength is not the length of the body"
    );
    assert!(bytes.ends_with(b"\x01") && bytes[..bytes.len() - 7].ends_with(b"\x01") | (announced == 0));
    assert!(bytes[bytes.len() - 7..].starts_with(b"10="), "no CheckSum at the end");
}
