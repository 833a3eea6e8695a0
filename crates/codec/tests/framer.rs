//! What the framer returns for complete, broken and hostile streams.

use std::ops::Range;

use fixbolt_codec::{Frame, FrameError, Framed, Framer, Recovery};
use proptest::prelude::*;

const HEARTBEAT: &[u8] = b"8=FIX.4.2\x019=5\x0135=0\x0110=161\x01";

fn message(frame: Frame<'_>) -> &[u8] {
    match frame {
        Frame::Message(m) => m.bytes(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn bytes_are_one_framed_message_only_as_a_framer_would_return_them() {
    let Frame::Message(framed) = Framer::new(100).next(HEARTBEAT) else { panic!("no message") };
    assert_eq!(Framed::try_new(HEARTBEAT), Ok(framed));
    let end = HEARTBEAT.len();
    for (bytes, error) in [
        (&b""[..], FrameError::NoBeginString),
        (&HEARTBEAT[1..], FrameError::NoBeginString),
        (&HEARTBEAT[..8], FrameError::BodyLength { announced_end: 8 }),
        (&HEARTBEAT[..end - 1], FrameError::CheckSumField { at: end - 7 }),
        (&[HEARTBEAT, HEARTBEAT].concat(), FrameError::BytesAfter { end }),
        // They begin and end like a message, and were one for a look at their ends alone.
        (b"8=FIX.4.2\x0135=0\x0110=161\x01", FrameError::BodyLengthField { at: 10 }),
        (b"8=FIX\x019=5\x0135=0\x0110=161\x01", FrameError::BeginString),
        (b"8=FIX.4.2\x019=6\x0135=0\x0110=161\x01", FrameError::BodyLength { announced_end: 20 }),
        (b"8=FIX.4.2\x019=5\x0135=0\x01\x0110=161\x01", FrameError::BodyLength { announced_end: 19 }),
    ] {
        assert_eq!(Framed::try_new(bytes), Err(error), "{}", bytes.escape_ascii());
    }
}

#[test]
fn a_length_that_is_too_long_swallows_the_next_message_only_when_asked_to() {
    let stream = b"8=FIX.4.2\x019=20\x0135=0\x0110=161\x018=FIX.4.2\x019=5\x0135=0\x0110=161\x01".as_slice();
    let dropped = |recovery| match Framer::new(100).with_recovery(recovery).next(stream) {
        Frame::Garbled { bytes, .. } => bytes.len(),
        other => panic!("{other:?}"),
    };
    assert_eq!(dropped(Recovery::NextMessage), 27);
    assert_eq!(dropped(Recovery::NextCheckSum), stream.len());
}

#[test]
fn a_message_is_complete_only_with_its_last_byte() {
    for n in 0..HEARTBEAT.len() {
        let mut framer = Framer::new(1000);
        let Frame::Incomplete { at_least } = framer.next(&HEARTBEAT[..n]) else { panic!("at {n}") };
        assert!(at_least >= 1 && at_least <= HEARTBEAT.len() - n, "at {n}: {at_least}");
    }
    assert_eq!(message(Framer::new(1000).next(HEARTBEAT)), HEARTBEAT);
}

#[test]
fn a_length_too_long_costs_one_message_when_more_follows() {
    let mut stream = b"8=FIX.4.2\x019=20\x0135=0\x0110=161\x01".to_vec();
    let broken = stream.len();
    stream.extend_from_slice(HEARTBEAT);
    let mut framer = Framer::new(1000);
    let Frame::Garbled { bytes, error } = framer.next(&stream) else { panic!() };
    assert_eq!((bytes.len(), error), (broken, Some(FrameError::BodyLength { announced_end: 35 })));
    assert_eq!(message(framer.next(&stream[bytes.len()..])), HEARTBEAT);
}

#[test]
fn a_length_too_short_costs_one_message() {
    let mut stream = b"8=FIX.4.2\x019=4\x0135=0\x0110=161\x01".to_vec();
    let broken = stream.len();
    stream.extend_from_slice(HEARTBEAT);
    let mut framer = Framer::new(1000);
    let Frame::Garbled { bytes, .. } = framer.next(&stream) else { panic!() };
    assert_eq!(bytes.len(), broken);
    assert_eq!(message(framer.next(&stream[broken..])), HEARTBEAT);
}

#[test]
fn a_message_that_lacks_check_sum_or_its_last_two_bytes_costs_one_message() {
    for cut in [1, 2, 7] {
        let stream = [&HEARTBEAT[..HEARTBEAT.len() - cut], HEARTBEAT].concat();
        let mut framer = Framer::new(1000);
        let Frame::Garbled { bytes, .. } = framer.next(&stream) else { panic!("{cut}") };
        assert_eq!(bytes.len(), HEARTBEAT.len() - cut);
        assert_eq!(message(framer.next(&stream[bytes.len()..])), HEARTBEAT, "{cut}");
    }
}

#[test]
fn a_body_that_does_not_end_with_soh_is_broken() {
    let mut framer = Framer::new(1000);
    let frame = framer.next(b"8=FIX.4.2\x019=8\x0135=0\x0158=10=161\x01");
    assert!(matches!(frame, Frame::Garbled { error: Some(FrameError::BodyLength { .. }), .. }), "{frame:?}");
}

#[test]
fn an_enormous_length_is_refused_at_once() {
    let mut framer = Framer::new(1000);
    let frame = framer.next(b"8=FIX.4.2\x019=1000000000000");
    assert!(matches!(frame, Frame::Garbled { error: Some(FrameError::TooLarge { limit: 1000 }), .. }));
}

#[test]
fn a_silent_peer_inside_a_message_loses_only_that_message() {
    let mut framer = Framer::new(1000);
    let stream = b"8=FIX.4.2\x019=500\x0135=0\x0110=161\x018=FIX.4.2\x019=5\x0135=0\x0110=161\x01";
    assert!(matches!(framer.next(stream), Frame::Incomplete { .. }));
    let Frame::Garbled { bytes, .. } = framer.give_up(stream) else { panic!() };
    assert_eq!(message(framer.next(&stream[bytes.len()..])), HEARTBEAT);
}

#[test]
fn endless_garbage_is_dropped_as_it_arrives_and_reported_once() {
    let mut framer = Framer::new(1000);
    let Frame::Garbled { bytes, error } = framer.next(b"GET / HTTP/1.1\r\n\x018=") else { panic!() };
    assert_eq!((bytes.len(), error), (16, Some(FrameError::NoBeginString)));
    assert!(matches!(framer.next(b"\x018="), Frame::Incomplete { .. }));
    let Frame::Garbled { bytes, error } = framer.next(b"\x018=XXX") else { panic!() };
    assert_eq!((bytes, error), (&b"\x018=XXX"[..], None));
    let Frame::Garbled { bytes, .. } = framer.next(b"x\x018=FIX") else { panic!() };
    assert_eq!(bytes.len(), 2);
    assert_eq!(message(framer.next(HEARTBEAT)), HEARTBEAT);
}

#[test]
fn zeros_in_front_of_body_length_are_accepted() {
    let bytes = b"8=FIX.4.2\x019=00005\x0135=0\x0110=161\x01";
    assert_eq!(message(Framer::new(1000).next(bytes)), bytes);
}

#[test]
fn prefixes_are_skipped_on_request_only_and_each_is_told_once() {
    let log = [b"09:00:00 IN  ", HEARTBEAT, b"\r\n09:00:30 8=F", HEARTBEAT, b"\n"].concat();
    let found = |framer| frames(framer, &log, |_| log.len());
    let second = 13 + HEARTBEAT.len() + 14;
    let messages = vec![13..13 + HEARTBEAT.len(), second..second + HEARTBEAT.len()];
    let no_begin_string = Some(FrameError::NoBeginString);
    assert_eq!(found(Framer::new(1000).with_prefixes()), (messages, vec![no_begin_string; 3]));
    // The line breaks are no SOH, so that nothing is found.
    assert_eq!(found(Framer::new(1000)), (vec![], vec![no_begin_string]));
}

#[test]
fn a_peer_that_falls_silent_after_a_prefix_costs_the_message_that_it_began() {
    let mut framer = Framer::new(1000).with_prefixes();
    let log = b"09:00:00 8=FIX.4.2\x019=500\x0135=0\x01";
    assert!(matches!(framer.next(&log[..12]), Frame::Garbled { bytes: b"09:00:00 ", .. }));
    assert!(matches!(framer.next(&log[9..12]), Frame::Incomplete { .. }));
    let Frame::Garbled { bytes, error } = framer.give_up(&log[9..]) else { panic!() };
    assert_eq!((bytes, error), (&log[9..], Some(FrameError::BodyLength { announced_end: 516 })));
}

/// Returns where the messages of a stream are, and the errors, if it arrives in pieces of these
/// lengths. At its end, what is incomplete is given up.
fn frames(
    mut framer: Framer,
    stream: &[u8],
    mut length: impl FnMut(usize) -> usize,
) -> (Vec<Range<usize>>, Vec<Option<FrameError>>) {
    let (mut messages, mut errors, mut at, mut end) = (Vec::new(), Vec::new(), 0, 0);
    loop {
        let frame = match framer.next(&stream[at..end]) {
            Frame::Incomplete { .. } if end == stream.len() => framer.give_up(&stream[at..]),
            frame => frame,
        };
        match frame {
            Frame::Message(framed) => {
                messages.push(at..at + framed.bytes().len());
                at += framed.bytes().len();
            }
            Frame::Garbled { bytes, error } => {
                errors.extend(error.is_some().then_some(error));
                at += bytes.len();
            }
            Frame::Incomplete { at_least } => {
                assert!(at_least > 0);
                if end == stream.len() {
                    return (messages, errors);
                }
                end = (end + length(end).max(1)).min(stream.len());
            }
        }
    }
}

/// What a log may have between two messages: no beginning of one.
fn prefix() -> impl Strategy<Value = Vec<u8>> {
    let byte = prop_oneof![Just(b'8'), Just(b'='), Just(b'F'), Just(b'I'), Just(1), Just(b'\n'), any::<u8>()];
    prop::collection::vec(byte, 0..12)
        .prop_filter("no message begins in it", |bytes| !bytes.windows(5).any(|five| five == b"8=FIX"))
}

/// A message, or one that is cut off or whose BodyLength or CheckSum is wrong.
fn message_or_none() -> impl Strategy<Value = Vec<u8>> {
    let text = prop::collection::vec(prop_oneof![Just(b'8'), Just(b'='), b'A'..=b'Z'], 1..20);
    (text, 0..20_usize, any::<prop::sample::Index>(), any::<u8>()).prop_map(|(text, wrong, at, byte)| {
        let body = [b"35=B\x0158=", &*text, b"\x01"].concat();
        let mut message = format!("8=FIX.4.2\x019={}\x01", body.len()).into_bytes();
        message.extend([&*body, b"10=161\x01"].concat());
        match wrong {
            0..3 => message.truncate(at.index(message.len())),
            3..6 => {
                let at = at.index(message.len());
                message[at] = byte;
            }
            _ => {}
        }
        message
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 5_000, failure_persistence: None, ..ProptestConfig::default() })]

    /// The oracle is a framer that does not skip, which is shown only the bytes of one message.
    #[test]
    fn no_message_that_is_found_after_a_clean_prefix_is_lost_if_the_framer_skips_it(
        pieces in prop::collection::vec((prefix(), message_or_none()), 1..8),
        chunk in 1..40_usize,
    ) {
        let (mut stream, mut expected) = (Vec::new(), Vec::new());
        for (prefix, message) in &pieces {
            stream.extend_from_slice(prefix);
            if Framed::try_new(message).is_ok() {
                expected.push(stream.len()..stream.len() + message.len());
            }
            stream.extend_from_slice(message);
        }
        let skipping = || Framer::new(1000).with_prefixes();
        let (found, _) = frames(skipping(), &stream, |_| stream.len());
        prop_assert_eq!(&frames(skipping(), &stream, |_| chunk).0, &found);
        for message in expected {
            // A broken message before it may announce the very end of this one, and is one then.
            let is_in = |found: &Range<usize>| found.start <= message.start && message.end <= found.end;
            prop_assert!(found.iter().any(is_in), "{:?} of {}", message, stream.escape_ascii());
        }
    }
}
