//! How the framer and the index handle the bytes of a broken or hostile counterparty, case by case.

mod support;

use fixbolt_codec::{FaultKind, Frame, FrameError, Framer, Index, IndexError, Span, Tag};
use support::messages::{own, seal, seal_bytes};
use support::{Broken, Contents, Event, Garbled, drive, oracle};

const MAX_MESSAGE_SIZE: usize = 4096;

/// The message after every broken one.
fn next() -> Vec<u8> {
    seal("FIX.4.2", b"35=0|34=9|49=A|56=B|52=20240229-12:00:00|")
}

/// Returns the events of `bytes` followed by a valid message, however the stream is split; the
/// event of the valid message is omitted.
#[track_caller]
fn outcome(bytes: &[u8]) -> Vec<Event> {
    let stream = [bytes, &next()].concat();
    let mut events = drive(&stream, MAX_MESSAGE_SIZE, stream.len());
    for piece in 1..stream.len().min(40) {
        assert_eq!(drive(&stream, MAX_MESSAGE_SIZE, piece), events, "in pieces of {piece}");
    }
    assert_eq!(oracle::events(&stream, MAX_MESSAGE_SIZE), events, "the oracle");
    let Some(Event::Message(range, Ok(_))) = events.pop() else {
        panic!("the next message is lost: {events:?}")
    };
    assert_eq!(range, bytes.len()..stream.len(), "the next message");
    events
}

#[track_caller]
fn dropped(bytes: &[u8], why: Broken) {
    assert_eq!(outcome(bytes), [Event::Dropped(0..bytes.len(), why)], "{}", bytes.escape_ascii());
}

#[track_caller]
fn garbled(bytes: &[u8], why: Garbled) {
    assert_eq!(outcome(bytes), [Event::Message(0..bytes.len(), Err(why))], "{}", bytes.escape_ascii());
}

#[track_caller]
fn indexed(bytes: &[u8]) -> Contents {
    match outcome(bytes).as_slice() {
        [Event::Message(range, Ok(contents))] if *range == (0..bytes.len()) => contents.clone(),
        other => panic!("{}: {other:?}", bytes.escape_ascii()),
    }
}

/// Returns a message with a wrong BodyLength.
fn with_body_length(length: &str) -> Vec<u8> {
    let message = seal("FIX.4.2", b"35=0|34=2|49=A|56=B|52=20240229-12:00:00|");
    let body = message.windows(3).position(|window| window == b"35=").unwrap();
    [b"8=FIX.4.2\x019=", length.as_bytes(), b"\x01", &message[body..]].concat()
}

#[test]
fn a_body_length_of_10_to_the_12_is_refused_at_its_digits() {
    let huge = with_body_length("1000000000000");
    dropped(&huge, Broken::Header);
    // Even before its SOH has arrived.
    let Frame::Garbled { error, .. } = Framer::new(MAX_MESSAGE_SIZE).next(&huge[..20]) else { panic!() };
    assert_eq!(error, Some(FrameError::TooLarge { limit: MAX_MESSAGE_SIZE }));
    dropped(&with_body_length("18446744073709551617"), Broken::Header);
    dropped(&with_body_length("99999999999999999999999999999999999999999999"), Broken::Header);
}

#[test]
fn a_length_beyond_the_limit_is_refused_even_if_the_peer_sends_that_many_bytes() {
    let limit = next().len();
    assert!(matches!(Framer::new(limit).next(&next()), Frame::Message(_)));
    let Frame::Garbled { error, .. } = Framer::new(limit - 1).next(&next()) else { panic!() };
    assert_eq!(error, Some(FrameError::TooLarge { limit: limit - 1 }));
}

#[test]
fn a_length_too_long_costs_one_message_when_more_follows() {
    let broken = with_body_length("60");
    let stream = [broken.clone(), next(), next(), next()].concat();
    let events = drive(&stream, MAX_MESSAGE_SIZE, stream.len());
    assert_eq!(events[0], Event::Dropped(0..broken.len(), Broken::Length));
    assert_eq!(events.len(), 4);
    // Nothing is decided before the announced end has arrived.
    let announced = b"8=FIX.4.2\x019=60\x01".len() + 60 + 7;
    let mut framer = Framer::new(MAX_MESSAGE_SIZE);
    for arrived in 0..announced {
        assert!(matches!(framer.next(&stream[..arrived]), Frame::Incomplete { .. }), "at {arrived}");
    }
    assert!(matches!(
        framer.next(&stream[..announced]),
        Frame::Garbled { error: Some(FrameError::BodyLength { .. }), .. }
    ));
}

#[test]
fn a_length_too_long_costs_one_message_when_the_peer_falls_silent() {
    let broken = with_body_length("4000");
    let mut framer = Framer::new(MAX_MESSAGE_SIZE);
    assert!(matches!(framer.next(&broken), Frame::Incomplete { .. }));
    let Frame::Garbled { bytes, error } = framer.give_up(&broken) else { panic!() };
    assert!(matches!(error, Some(FrameError::BodyLength { .. })));
    // Its last SOH may directly precede the next message.
    assert_eq!(bytes.len(), broken.len() - 1);
    let rest = [&broken[bytes.len()..], &next()].concat();
    let Frame::Garbled { bytes, error: None } = framer.next(&rest) else { panic!() };
    assert_eq!(bytes.len(), 1);
    assert!(matches!(framer.next(&rest[1..]), Frame::Message(_)));
    dropped(&broken, Broken::Length);
}

#[test]
fn giving_up_twice_reports_one_broken_message() {
    let broken = with_body_length("4000");
    let mut framer = Framer::new(MAX_MESSAGE_SIZE);
    let Frame::Garbled { bytes, .. } = framer.give_up(&broken) else { panic!() };
    assert_eq!(framer.give_up(&broken[bytes.len()..]), Frame::Incomplete { at_least: 5 });
    assert_eq!(framer.give_up(b""), Frame::Incomplete { at_least: 6 });
}

#[test]
fn a_length_too_short_or_not_a_number_costs_one_message() {
    for length in ["1", "40", "42"] {
        dropped(&with_body_length(length), Broken::Length);
    }
    for length in ["", "0", "000", "-5", "+5", "5 ", "4x", "0x2A", "41.0", "00000000000000041"] {
        dropped(&with_body_length(length), Broken::Header);
    }
}

#[test]
fn zeros_in_front_of_body_length_are_accepted() {
    for length in ["41", "041", "0000000000000041"] {
        let padded = with_body_length(length);
        let mut message = padded[..padded.len() - 7].to_vec();
        let sum = message.iter().fold(0_u8, |sum, byte| sum.wrapping_add(*byte));
        message.extend_from_slice(format!("10={sum:03}\x01").as_bytes());
        assert_eq!(indexed(&message).fields[1].0, 9);
    }
}

#[test]
fn check_sum_is_three_digits_and_the_right_ones() {
    let message = next();
    let sum: u32 =
        std::str::from_utf8(&message[message.len() - 4..message.len() - 1]).unwrap().parse().unwrap();
    let other = |text: &str| [&message[..message.len() - 4], text.as_bytes(), b"\x01"].concat();
    for wrong in [(sum + 1) % 256, sum + 256, 999] {
        garbled(&other(&format!("{wrong:03}")), Garbled::CheckSum);
    }
    for form in ["7", "0", "12", "", "-12", "1x2", " 12"] {
        dropped(&other(form), Broken::CheckSum);
    }
    // The message ends after three digits and another byte instead of SOH.
    let stream = [&other("1234")[..], &next()].concat();
    let events = drive(&stream, MAX_MESSAGE_SIZE, 1);
    assert_eq!(events[0], Event::Dropped(0..message.len(), Broken::CheckSum));
    assert!(matches!(events.last(), Some(Event::Message(_, Ok(_)))));
}

#[test]
fn begin_string_and_body_length_are_the_first_two_fields() {
    for start in [
        "8=FIX4.2|9=5|35=0|10=000|",
        "8=FIX.4|9=5|35=0|10=000|",
        "8=FIX.4.2.1|9=5|35=0|10=000|",
        "8=FIXX.4.2|9=5|35=0|10=000|",
        "8=FIX.4.a|9=5|35=0|10=000|",
        "8=FIX|9=5|35=0|10=000|",
        "8=FIX.4.4000000000000000|9=5|35=0|10=000|",
        "8=FIX.4.2|35=0|9=5|10=000|",
        "8=FIX.4.2|99=5|35=0|10=000|",
        "8=FIX.4.2||9=5|35=0|10=000|",
    ] {
        dropped(start.replace('|', "\x01").as_bytes(), Broken::Header);
    }
    for start in [
        "GET / HTTP/1.1\r\n\r\n\x01",
        "8=FOX.4.2|9=5|",
        "08=FIX.4.2|9=5|",
        "\r\n\x01",
        "\x01",
        "\0\x01",
        "35=0|",
    ] {
        dropped(start.replace('|', "\x01").as_bytes(), Broken::Start);
    }
    // Whether endless garbage begins a message is decided after a few bytes, and the garbage is not
    // kept.
    let mut framer = Framer::new(MAX_MESSAGE_SIZE);
    let Frame::Garbled { bytes, .. } = framer.next(&[b'x'; 10_000]) else { panic!() };
    assert_eq!(bytes.len(), 10_000);
    let Frame::Garbled { bytes, .. } = framer.next(&[1; 10_000]) else { panic!() };
    assert_eq!(bytes.len(), 9_999);
}

#[test]
fn a_message_whose_raw_data_contains_a_whole_message_is_one_message() {
    let inner = next();
    for inner in [inner.clone(), [b"\x01", &inner[..], b"\x01"].concat(), [&inner[..], &inner[..]].concat()] {
        let fields = [&b"35=B|34=2|95="[..], format!("{}|96=", inner.len()).as_bytes()].concat();
        let fields: Vec<u8> = fields.iter().map(|byte| if *byte == b'|' { 1 } else { *byte }).collect();
        let message = seal_bytes(b"FIX.4.2", &[&fields[..], &inner, b"\x0158=x\x01"].concat());
        let contents = indexed(&message);
        assert_eq!(contents.fault, None);
        let tags: Vec<u32> = contents.fields.iter().map(|field| field.0).collect();
        assert_eq!(tags, [8, 9, 35, 34, 95, 96, 58, 10]);
        assert_eq!(&message[contents.fields[5].1.clone()], inner);
    }
}

#[test]
fn a_data_length_that_does_not_fit_is_the_fault_and_the_data_ends_at_its_first_soh() {
    let inner = [b"\x01", &next()[..]].concat();
    let message = |length: usize| {
        let fields =
            [&b"35=B\x0134=2\x0195="[..], format!("{length}\x0196=").as_bytes(), &inner, b"\x01"].concat();
        seal_bytes(b"FIX.4.2", &fields)
    };
    assert_eq!(indexed(&message(inner.len())).fault, None);
    // One too short, one too long, none, to the end of the message, beyond it, beyond memory.
    for length in [inner.len() - 2, inner.len() + 1, 0, inner.len() + 7, inner.len() + 8, 5_000, usize::MAX] {
        let (bytes, contents) = (message(length), indexed(&message(length)));
        let (kind, field, tag) = contents.fault.unwrap();
        if length == 0 {
            // The data begins with SOH here: no data, then fields of the inner message.
            assert_eq!((kind, field), (FaultKind::EmptyValue, 5));
        } else {
            assert_eq!((kind, field, &bytes[tag]), (FaultKind::DataLength, 4, &b"95"[..]), "{length}");
        }
        assert_eq!((contents.fields[5].0, contents.fields[5].1.len(), contents.fields[6].0), (96, 0, 8));
    }
}

#[test]
fn a_data_length_without_data_or_that_is_not_a_number_is_an_ordinary_field() {
    for fields in [
        &b"35=B|95=3|58=abc|96=a|"[..],
        b"35=B|95=x|96=a|",
        b"35=B|96=a|95=1|",
        b"35=B|95=9|",
        b"35=B|95=1|91=abc|",
    ] {
        assert_eq!(indexed(&seal("FIX.4.2", fields)).fault, None);
    }
    let contents = indexed(&seal("FIX.4.2", b"35=B|95=|96=a|"));
    assert_eq!(contents.fault.map(|fault| (fault.0, fault.1)), Some((FaultKind::EmptyValue, 3)));
}

#[test]
fn a_field_that_breaks_the_syntax_is_kept_and_the_first_one_is_the_fault() {
    for (field, kind, tag) in [
        ("0=x", FaultKind::InvalidTag, "0"),
        ("10000000000=x", FaultKind::InvalidTag, "10000000000"),
        ("18446744073709551671=x", FaultKind::InvalidTag, "18446744073709551671"),
        ("2147483648=x", FaultKind::InvalidTag, "2147483648"),
        ("4294967351=x", FaultKind::InvalidTag, "4294967351"),
        ("055=x", FaultKind::InvalidTag, "055"),
        ("-5=x", FaultKind::InvalidTag, "-5"),
        ("+5=x", FaultKind::InvalidTag, "+5"),
        ("5 =x", FaultKind::InvalidTag, "5 "),
        ("five=x", FaultKind::InvalidTag, "five"),
        ("=x", FaultKind::InvalidTag, ""),
        ("=", FaultKind::InvalidTag, ""),
        ("==", FaultKind::InvalidTag, ""),
        ("0=", FaultKind::InvalidTag, "0"),
        ("55", FaultKind::NoEquals, "55"),
        ("\0", FaultKind::NoEquals, "\0"),
        ("", FaultKind::NoEquals, ""),
        ("55=", FaultKind::EmptyValue, "55"),
    ] {
        let message = seal("FIX.4.4", format!("35=D|11=a|{field}|54=|0=0|").as_bytes());
        let contents = indexed(&message);
        let (found, place, bytes) = contents.fault.unwrap();
        assert_eq!((found, place, &message[bytes]), (kind, 4, tag.as_bytes()), "{field}");
        assert_eq!(contents.fields.len(), 8);
        let (tag, value) = &contents.fields[4];
        assert_eq!(*tag != 0, kind == FaultKind::EmptyValue, "{field}");
        assert_eq!(
            &message[value.clone()],
            field.split_once('=').map_or(field, |(_, value)| value).as_bytes()
        );
    }
}

#[test]
fn a_nul_is_a_byte_like_any_other() {
    let message = seal("FIX.4.4", b"35=D|58=a\0b|11=\0|");
    let contents = indexed(&message);
    assert_eq!(contents.fault, None);
    assert_eq!(&message[contents.fields[3].1.clone()], b"a\0b");
}

#[test]
fn a_missing_soh_joins_two_fields_or_costs_the_message() {
    let message = seal("FIX.4.4", b"35=D|55=IBM54=1|11=a|");
    let contents = indexed(&message);
    assert_eq!(&message[contents.fields[3].1.clone()], b"IBM54=1");
    // Before CheckSum, where BodyLength still counts it.
    let whole = next();
    let body_end = whole.len() - 7;
    dropped(&[&whole[..body_end - 1], &whole[body_end..]].concat(), Broken::Length);
    // At the very end.
    let stream = [&whole[..whole.len() - 1], &next(), &next()].concat();
    let events = drive(&stream, MAX_MESSAGE_SIZE, 1);
    assert_eq!(events[0], Event::Dropped(0..whole.len() - 1, Broken::CheckSum));
    assert!(events[1..].iter().all(|event| matches!(event, Event::Message(_, Ok(_)))));
}

#[test]
fn msg_type_is_the_third_field_and_not_empty() {
    for fields in [&b"34=1|35=0|"[..], b"35=|34=1|", b"35|34=1|", b"|35=0|", b"035=0|", b"34=1|"] {
        garbled(&seal("FIX.4.4", fields), Garbled::MsgTypeNotThird);
    }
}

#[test]
fn more_fields_than_the_storage_holds_is_an_error_at_any_size() {
    for message in own() {
        let Frame::Message(framed) = Framer::new(MAX_MESSAGE_SIZE).next(&message) else { panic!() };
        let fields = oracle::contents(&message).unwrap().fields.len();
        for size in 0..=fields {
            let (mut tags, mut spans) = (vec![0; size], vec![Span::default(); size]);
            let built = Index::new(&mut tags, &mut spans).build(framed).map(|message| message.len());
            assert_eq!(
                built,
                if size == fields { Ok(fields) } else { Err(IndexError::TooManyFields { limit: size }) }
            );
        }
    }
    // A message of nothing but SOHs has more fields than a quarter of its bytes.
    let message = seal("FIX.4.4", &[b"35=0|".as_slice(), &[1; 1000]].concat());
    let Frame::Message(framed) = Framer::new(MAX_MESSAGE_SIZE).next(&message) else { panic!() };
    let (mut tags, mut spans) = (vec![0; message.len() / 4], vec![Span::default(); message.len() / 4]);
    let built = Index::new(&mut tags, &mut spans).build(framed).map(|message| message.len());
    assert_eq!(built, Err(IndexError::TooManyFields { limit: message.len() / 4 }));
}

#[test]
fn a_look_up_finds_the_first_field_of_its_tag() {
    let bytes = seal("FIX.4.4", b"35=V|267=2|269=0|269=1|0=x|0=y|");
    let Frame::Message(framed) = Framer::new(MAX_MESSAGE_SIZE).next(&bytes) else { panic!() };
    let (mut tags, mut spans) = ([0; 16], [Span::default(); 16]);
    let mut index = Index::new(&mut tags, &mut spans);
    let message = index.build(framed).unwrap();
    assert_eq!(message.get(Tag::new(269)), Some(&b"0"[..]));
    assert_eq!(message.get(Tag::new(270)), None);
    assert_eq!(
        message.fields().filter(|field| field.tag.is_none()).map(|field| field.value).collect::<Vec<_>>(),
        [b"x", b"y"]
    );
}

#[test]
fn a_last_soh_that_is_missing_or_another_byte_costs_one_message() {
    let one = seal("FIX.4.4", b"35=0|112=a|");
    let next = seal("FIX.4.4", b"35=0|112=b|");
    for last in [&b""[..], b"|", b"\n", b"\0", b"0"] {
        let broken = [&one[..one.len() - 1], last].concat();
        let stream = [&broken[..], &next, &next].concat();
        for arrived in broken.len()..=stream.len() {
            let (mut framer, mut at, mut whole) = (Framer::new(MAX_MESSAGE_SIZE), 0, 0);
            for end in [arrived, stream.len()] {
                loop {
                    match framer.next(&stream[at..end]) {
                        Frame::Message(framed) => {
                            assert_eq!(framed.bytes(), next);
                            whole += 1;
                            at += framed.bytes().len();
                        }
                        Frame::Garbled { bytes, .. } => at += bytes.len(),
                        Frame::Incomplete { .. } => break,
                    }
                }
            }
            assert_eq!((whole, at), (2, stream.len()), "{last:?}, of which {arrived} arrived first");
        }
    }
    // The counterparty stops sending after the broken message, then goes on.
    let (mut framer, broken) = (Framer::new(MAX_MESSAGE_SIZE), &one[..one.len() - 1]);
    assert!(matches!(framer.next(broken), Frame::Incomplete { at_least: 1 }));
    match framer.give_up(broken) {
        Frame::Garbled { bytes, .. } => assert_eq!(bytes, broken),
        other => panic!("{other:?}"),
    }
    assert!(matches!(framer.next(&next), Frame::Message(_)));
}

#[test]
fn no_limit_is_larger_than_what_an_index_can_address() {
    for limit in [1 << 30, 6 << 30, usize::MAX] {
        assert_eq!(Framer::new(limit).max_message_size(), 1 << 30);
    }
    let mut framer = Framer::new(8);
    framer.set_max_message_size(usize::MAX);
    let frame = framer.next(b"8=FIX.4.4\x019=5000000000\x0135=0\x01");
    assert!(matches!(frame, Frame::Garbled { error: Some(FrameError::TooLarge { limit: 0x4000_0000 }), .. }));
}
