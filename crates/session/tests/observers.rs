//! Observers of the wire: what they are shown, without secrets, and what becomes of one that
//! panics.

use std::sync::Arc;

use fixbolt_codec::{BodySink as _, Key, MsgType, NewBody as _};
use fixbolt_conformance::testing::{App, Capture, Side, order, settings};
use fixbolt_session::{
    Delivery, Direction, Role, SessionEnd, SessionReject, SessionRejectCode, WireMessage, WireObserver,
};

#[test]
fn an_observer_sees_the_wire_in_order_with_secrets_masked() {
    let capture = Arc::new(Capture::default());
    let app = App { message: Box::new(|_, turn| order(turn, "x").map(|_| Delivery::Done)), ..App::default() };
    let mut settings = settings("A", Role::Acceptor);
    settings.logon.password = "ours".into();
    let mut side = Side::with_app(app, vec![settings]).observed_by(capture.clone());
    side.connect(0);
    side.say(0, "35=A|34=1|98=0|108=30|554=theirs|");
    // A message that was first answered with "not now" is seen once.
    let mut put_off = true;
    side.app.message = Box::new(move |_, turn| {
        if std::mem::replace(&mut put_off, false) {
            return Ok(Delivery::NotNow);
        }
        order(turn, "x").map(|_| Delivery::Done)
    });
    let bytes = side.wire(0, "35=D|34=2|11=a|");
    assert_eq!(side.receive(0, &bytes), 0);
    assert_eq!(side.receive(0, &bytes), bytes.len());
    side.take(0);
    side.say(0, "35=2|34=3|7=2|16=2|");
    let mut broken = side.wire(0, "35=D|34=4|11=b|554=lost|");
    let end = broken.len() - 2;
    broken[end] = if broken[end] == b'0' { b'1' } else { b'0' };
    side.receive(0, &broken);
    let seen = capture.take();
    let line = |(direction, garbled, text): &(Direction, bool, String)| {
        let kind = text.split("|35=").nth(1).unwrap().chars().next().unwrap();
        format!("{direction} {kind}{}", if *garbled { " garbled" } else { "" })
    };
    let lines: Vec<_> = seen.iter().map(line).collect();
    assert_eq!(lines, ["in A", "out A", "in D", "out D", "in 2", "out D", "in D garbled"]);
    let all: String = seen.iter().map(|(_, _, text)| text.as_str()).collect();
    for secret in ["theirs", "ours", "lost"] {
        assert!(!all.contains(&format!("={secret}")), "{all}");
    }
    assert!(all.contains("|554=******|") && all.contains("|554=****|"), "{all}");
}

#[test]
fn a_secret_outside_of_a_logon_is_masked_for_an_observer_whatever_is_sent_with_it() {
    let capture = Arc::new(Capture::default());
    let mut own = settings("A", Role::Acceptor);
    own.masked_tags.push(5000);
    let mut side = Side::with_app(App::default(), vec![own]).observed_by(capture.clone());
    side.connect(0);
    side.say(0, "35=A|34=1|98=0|108=30|");
    side.app.message = Box::new(|_, turn| {
        order(turn, "before")?;
        let mut draft = turn.session().draft(MsgType::new(b"D"));
        draft.writer().bytes(Key::new(11), b"answer").bytes(Key::new(5000), b"ours");
        draft.send()?;
        order(turn, "after").map(|_| Delivery::Done)
    });
    let _ = capture.take();
    side.say(0, "35=D|34=2|11=a|5000=theirs|");
    let shown = |secret: bool| {
        let seen = capture.take();
        seen.iter()
            .map(|(_, _, text)| {
                assert!(!text.contains("5000=ours") && !text.contains("5000=theirs"), "{text}");
                assert!(secret || !text.contains('*'), "{text}");
                text.matches("|5000=****").count()
            })
            .collect::<Vec<_>>()
    };
    assert_eq!(shown(true), [1, 0, 1, 0]);
    // It is not sent again; the others are, without anything masked.
    side.app.message = Box::new(|_, turn| order(turn, "x").map(|_| Delivery::Done));
    side.say(0, "35=2|34=3|7=2|16=4|");
    assert_eq!(shown(false), [0, 0, 0, 0]);
    side.say(0, "35=D|34=4|11=b|");
    assert_eq!(shown(false), [0, 0]);
}

struct Clumsy;

impl WireObserver for Clumsy {
    fn on_wire(&self, message: &WireMessage<'_>) {
        assert!(message.direction == Direction::Inbound, "application bug");
    }
}

#[test]
fn an_observer_that_panics_ends_the_connection_and_not_the_worker() {
    let all = vec![settings("A", Role::Acceptor)];
    let mut side = Side::with_app(App::default(), all).observed_by(Arc::new(Clumsy));
    side.connect(0);
    side.say(0, "35=A|34=1|98=0|108=30|");
    assert!(side.next(0).close);
    side.disconnect(0);
    assert_eq!(side.ends, [SessionEnd::CallbackFailed { callback: "on_wire", why: "panic".to_owned() }]);
}

#[test]
fn no_broken_bytes_show_an_observer_a_secret() {
    let capture = Arc::new(Capture::default());
    let own = settings("A", Role::Acceptor);
    let wire = |fields: &str| Side::new(vec![own.clone()]).wire(0, fields);
    let logon = wire("35=A|34=1|98=0|108=30|554=swordfish|");
    let cut = |at: &str| {
        let at = logon.windows(at.len()).position(|w| w == at.as_bytes()).unwrap() + at.len();
        (logon[..at].to_vec(), logon[at..].to_vec())
    };
    let mut streams: Vec<Vec<Vec<u8>>> = vec![
        // A field without `=` in front of the secret; a whole message.
        vec![wire("35=A|34=1|98=0|108=30|junk|554=swordfish|")],
        // A wrong checksum, and no `=` before the secret.
        vec![b"8=FIX.4.4\x019=19\x01junk\x01554=swordfish\x0110=000\x01".to_vec()],
        // Length fields of other fields, whose length covers the secret.
        vec![wire("35=A|34=1|93=40|89=a|554=swordfish|x|")],
        vec![b"93=400\x0189=a\x01554=swordfish\x0195=3\x0196=swordfish\x01".to_vec()],
        vec![b"8=FIX.4.4\x019=9\x0195=1\x0196=swordfish\x01".to_vec()],
    ];
    // Cut at every position at which the reader may drop the bytes received so far.
    for at in ["55", "554", "554=", "554=sword"] {
        let (head, tail) = cut(at);
        streams.push(vec![[b"x".to_vec(), head].concat(), tail]);
    }
    for stream in streams {
        let mut side = Side::with_app(App::default(), vec![own.clone()]).observed_by(capture.clone());
        side.connect(0);
        let mut buffered = Vec::new();
        for bytes in &stream {
            buffered.extend_from_slice(bytes);
            let taken = side.receive(0, &buffered);
            buffered.drain(..taken);
        }
        let seen = capture.take();
        let all: String = seen.iter().map(|(_, _, text)| format!("{text}\n")).collect();
        assert!(!all.is_empty() && !all.contains("sword") && !all.contains("fish"), "{stream:?}: {all}");
    }
}

#[test]
fn an_observer_sees_exactly_the_bytes_of_the_socket() {
    let capture = Arc::new(Capture::default());
    let mut own = settings("A", Role::Acceptor);
    own.limits.outbound_buffer_size = 16 * 1024;
    own.limits.max_message_size = 8 * 1024;
    let mut side = Side::with_app(App::default(), vec![own]).observed_by(capture.clone());
    side.connect(0);
    let mut attempt = 0;
    side.app.message = Box::new(move |_, turn| {
        attempt += 1;
        order(turn, &"o".repeat(700))?;
        match attempt % 5 {
            0 => Ok(Delivery::NotNow),
            1 => Err(SessionReject::new(SessionRejectCode::OTHER).into()),
            2 => Ok(Delivery::Reject(SessionReject::new(SessionRejectCode::OTHER))),
            _ => Ok(Delivery::Done),
        }
    });
    let mut inbound = side.wire(0, "35=A|34=1|98=0|108=30|");
    // Two arrive too early; then everything is requested again, twice.
    for (seq, fields) in [(2, "11=a"), (4, "11=c"), (5, "11=d"), (3, "11=b")] {
        inbound.extend(side.wire(0, &format!("35=D|34={seq}|{fields}|")));
    }
    for seq in 6..40 {
        inbound.extend(side.wire(0, &format!("35=D|34={seq}|11=x|")));
    }
    inbound.extend(side.wire(0, "35=2|34=40|7=1|16=0|"));
    inbound.extend(side.wire(0, "35=D|34=41|11=z|"));
    inbound.extend(side.wire(0, "35=2|34=42|7=3|16=0|"));
    let (mut written, mut buffered) = (Vec::new(), inbound);
    for round in 0..2000 {
        let taken = side.wake(0, &buffered);
        buffered.drain(..taken);
        // A socket that accepts a few bytes at a time.
        written.extend(side.write(0, 100 + round % 1000));
    }
    assert!(buffered.is_empty() && !side.next(0).output, "{}", buffered.len());
    let seen = capture.take();
    let out: String = seen
        .iter()
        .filter(|(direction, ..)| *direction == Direction::Outbound)
        .map(|(.., text)| text.as_str())
        .collect();
    let written = String::from_utf8(written).unwrap().replace('\x01', "|");
    assert!(written.matches("|43=Y|").count() > 40, "it was replayed");
    assert_eq!(out, written);
    let inbound: Vec<_> = seen.iter().filter(|(direction, ..)| *direction == Direction::Inbound).collect();
    assert_eq!(inbound.len(), 42, "each once");
}
