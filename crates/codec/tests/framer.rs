//! What the framer returns for complete, broken and hostile streams.

use fixbolt_codec::{Frame, FrameError, Framed, Framer, Recovery};

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
