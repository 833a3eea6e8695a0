//! The application's callbacks under attack: callbacks that write at unexpected moments, texts that
//! cannot be sent, and secrets in broken bytes.

use std::sync::{Arc, Mutex};

use fixbolt_codec::{BodySink, BodyWriter, EncodeError, EncodeErrorKind, Key, MsgType, NewBody, SeqNum, Tag};
use fixbolt_conformance::testing::{App, Capture, Side, kinds, order, settings, settings_of};
use fixbolt_dictionary::{Action, Check, Policy, Validator, fix44};
use fixbolt_session::{
    BusinessReject, BusinessRejectReason, Delivery, Direction, Event, Failure, Halt, LogonDecision,
    LogonFields, Resend, Role, SendError, SessionDictionary, SessionEnd, SessionKey, SessionReject,
    SessionRejectReason, SessionSettings, Turn, WhileLoggedOff,
};

/// An acceptor of this version that is logged on.
fn logged_on(begin_string: &str) -> Side<App> {
    let settings = settings_of(&format!("{begin_string}:US->A"), Role::Acceptor);
    Side::with_app(App::default(), vec![settings]).logged_on()
}

fn keeping(settings: SessionSettings) -> SessionSettings {
    settings.with(|s| s.while_logged_off = WhileLoggedOff::Keep)
}

/// Adds a policy that warns of each sent message without a field that the dictionary requires.
fn warning(settings: SessionSettings) -> SessionSettings {
    settings.with(|s| {
        s.dictionary = SessionDictionary::Own(Arc::new(Validator::new(fix44())));
        s.policy = Policy::ignoring();
        s.outbound_policy = Some(Policy::ignoring().with(Check::RequiredField, Action::Warn));
    })
}

fn order_to(turn: &mut Turn<'_>, session: SessionKey, id: &str) -> Result<SeqNum, Failure> {
    let mut draft =
        turn.to(session).ok_or_else(|| Failure::new("no such session"))?.draft(MsgType::new(b"D"));
    draft.writer().bytes(Key::new(11), id.as_bytes());
    Ok(draft.send()?)
}

/// Two sessions of one worker, both logged on.
fn two(of: impl Fn(&str) -> SessionSettings) -> Side<App> {
    Side::with_app(App::default(), vec![of("A"), of("B")]).logged_on()
}

#[test]
fn an_event_callback_that_causes_its_own_event_ends_the_connection_and_not_the_process() {
    for logged_on in [true, false] {
        let mut side = Side::with_app(App::default(), vec![keeping(warning(settings("A", Role::Acceptor)))]);
        if logged_on {
            side.connect(0);
            side.say(0, "35=A|34=1|98=0|108=30|");
        }
        side.app.event = Box::new(|event, turn| match event {
            Event::WarnedOutbound { .. } => order(turn, "again").map(drop),
            _ => Ok(()),
        });
        let first = side.act(0, |turn| order(turn, "first").map_err(|_| SendError::Unavailable));
        assert!(first.is_ok(), "committed messages are kept");
        assert_eq!(side.next(0).close, logged_on);
        let warned = side.app.events.iter().filter(|event| event.contains("of ours is not valid")).count();
        // Each message that was sent was warned of, for each of three fields.
        let sent = side.numbers(0).unwrap().1.0 - 1 - u64::from(logged_on);
        assert_eq!((sent, warned), (1 + 3 + 9, 39));
        if logged_on {
            side.disconnect(0);
            assert!(
                matches!(&side.ends[..], [SessionEnd::CallbackFailed { callback: "on_event", .. }]),
                "{:?}",
                side.ends
            );
        } else {
            let last = side.app.events.last().unwrap();
            assert!(last.contains("the application failed in on_event: "), "{last}");
        }
    }
}

#[test]
fn a_callback_that_writes_or_fails_at_one_warning_still_receives_the_others() {
    for fails in [false, true] {
        let mut side = two(|target| warning(settings(target, Role::Acceptor)));
        let [a, b] = [side.key(0), side.key(1)];
        let mut first = true;
        side.app.event = Box::new(move |event, turn| {
            if matches!(event, Event::WarnedOutbound { .. }) && std::mem::take(&mut first) {
                // A transaction that touches both sessions.
                order_to(turn, a, "a2")?;
                order_to(turn, b, "b2")?;
                if fails {
                    return Err(Failure::new("no"));
                }
            }
            Ok(())
        });
        side.act(0, |turn| {
            order_to(turn, a, "a").and_then(|_| order_to(turn, b, "b")).map_err(|_| SendError::Unavailable)
        })
        .unwrap();
        let warned: Vec<_> =
            side.app.events.iter().filter(|event| event.contains("of ours is not valid")).cloned().collect();
        let count = |what: &str| warned.iter().filter(|event| event.starts_with(what)).count();
        let both = if fails { 1 } else { 2 };
        assert_eq!(
            (count("FIX.4.4:US->A: message 2 "), count("FIX.4.4:US->B: message 2 ")),
            (3, 3),
            "{warned:?}"
        );
        assert_eq!(warned.len(), 6 * both, "{warned:?}");
    }
}

#[test]
fn what_on_sending_logon_writes_to_its_own_session_is_sent_once_after_the_logon() {
    let app = App {
        sending_logon: Box::new(|_, turn| order(turn, "before").map(drop)),
        logon: Box::new(|_, turn| order(turn, "meanwhile").map(|_| LogonDecision::Accept)),
        ..App::default()
    };
    let mut own = keeping(settings("A", Role::Initiator));
    own.logon.password = "secret".into();
    let mut side = Side::with_app(app, vec![own]);
    side.connect(0);
    let logon = side.take(0);
    assert!(
        logon.len() == 1 && logon[0].contains("|34=2|") && logon[0].contains("|554=secret|"),
        "{logon:?}"
    );
    let sent = side.say(0, "35=A|34=1|98=0|108=30|");
    assert_eq!(kinds(&sent), "D", "{sent:?}");
    assert!(sent[0].contains("|34=3|") && sent[0].contains("|11=meanwhile|"), "{sent:?}");
    // The counterparty detects that 1 is missing, as after any kept message.
    let sent = side.say(0, "35=2|34=2|7=1|16=1|");
    assert!(sent.len() == 1 && sent[0].contains("|34=1|") && sent[0].contains("|11=before|"), "{sent:?}");
}

#[test]
fn messages_written_before_the_logged_on_event_do_not_overtake_kept_ones() {
    let app = App {
        logon: Box::new(|_, turn| order(turn, "kept").map(|_| LogonDecision::Accept)),
        event: Box::new(|event, turn| match event {
            Event::Note(_) => order(turn, "noted").map(drop),
            Event::LoggedOn => order(turn, "logged on").map(drop),
            _ => Ok(()),
        }),
        ..App::default()
    };
    let mut side = Side::with_app(app, vec![keeping(settings("A", Role::Initiator))]);
    side.connect(0);
    side.take(0);
    // A HeartBtInt that differs from ours causes a note.
    let sent = side.say(0, "35=A|34=1|98=0|108=20|");
    let ids: Vec<_> =
        sent.iter().map(|m| m.split("|11=").nth(1).unwrap_or("").split('|').next().unwrap()).collect();
    assert_eq!(ids, ["kept", "noted", "logged on"], "{sent:?}");
    for (n, message) in sent.iter().enumerate() {
        assert!(message.contains(&format!("|34={}|", n + 2)), "{sent:?}");
    }
}

#[test]
fn on_logon_writes_to_its_own_session_only_where_messages_are_kept() {
    let app = App {
        logon: Box::new(|_, turn| order(turn, "early").map(|_| LogonDecision::Accept)),
        ..App::default()
    };
    let mut side = Side::with_app(app, vec![settings("A", Role::Acceptor)]);
    side.connect(0);
    assert!(side.say(0, "35=A|34=1|98=0|108=30|").is_empty());
    assert_eq!(side.numbers(0), Some((SeqNum(1), SeqNum(1))));
    side.disconnect(0);
    let why = "the session is not logged on".to_owned();
    assert_eq!(side.ends, [SessionEnd::CallbackFailed { callback: "on_logon", why }]);

    // Kept, and requested by a counterparty for which the Logon's sequence number is too high.
    let mut side = Side::with_app(side.app, vec![keeping(settings("A", Role::Acceptor))]);
    side.connect(0);
    let sent = side.say(0, "35=A|34=1|98=0|108=30|");
    assert!(kinds(&sent) == "A" && sent[0].contains("|34=2|"), "{sent:?}");
    let sent = side.say(0, "35=2|34=2|7=1|16=0|");
    assert_eq!(kinds(&sent), "D4", "{sent:?}");
    assert!(sent[0].contains("|34=1|") && sent[0].contains("|11=early|"), "{sent:?}");
}

#[test]
fn what_on_logon_wrote_is_reported_as_lost_if_the_same_logon_resets_the_sequence_numbers() {
    let app = App {
        logon: Box::new(|_, turn| order(turn, "early").map(|_| LogonDecision::Accept)),
        event: Box::new(|event, turn| match event {
            Event::Unreached { .. } => order(turn, "once more").map(drop),
            _ => Ok(()),
        }),
        ..App::default()
    };
    let mut side = Side::with_app(app, vec![keeping(settings("A", Role::Acceptor))]);
    side.connect(0);
    let sent = side.say(0, "35=A|34=1|98=0|108=30|141=Y|");
    assert_eq!(kinds(&sent), "AD", "{sent:?}");
    assert!(sent[0].contains("|34=1|") && sent[1].contains("|34=2|"), "{sent:?}");
    let lost: Vec<_> = side.app.events.iter().filter(|event| event.contains("do not reach")).collect();
    assert_eq!(lost.len(), 1, "{lost:?}");
    assert_eq!(side.numbers(0), Some((SeqNum(2), SeqNum(3))));
}

#[test]
fn what_on_logon_wrote_waits_for_the_next_logon_if_this_one_is_refused() {
    let app = App {
        logon: Box::new(|_, turn| order(turn, "early").map(|_| LogonDecision::refuse("not today"))),
        ..App::default()
    };
    let mut side = Side::with_app(app, vec![keeping(settings("A", Role::Acceptor))]);
    side.connect(0);
    let sent = side.say(0, "35=A|34=1|98=0|108=30|");
    assert!(kinds(&sent) == "5" && sent[0].contains("|34=2|"), "{sent:?}");
    side.disconnect(0);
    side.app.logon = Box::new(|_, _| Ok(LogonDecision::Accept));
    side.connect(0);
    assert!(side.say(0, "35=A|34=1|98=0|108=30|")[0].contains("|34=3|"));
    let sent = side.say(0, "35=2|34=2|7=1|16=0|");
    assert_eq!(kinds(&sent), "D4", "{sent:?}");
}

#[test]
fn a_logon_is_not_answered_when_what_on_logon_caused_has_closed_the_connection() {
    let mut side = Side::with_app(App::default(), vec![keeping(warning(settings("A", Role::Acceptor)))]);
    side.app.logon = Box::new(|_, turn| order(turn, "early").map(|_| LogonDecision::Accept));
    side.app.event = Box::new(|event, _| match event {
        Event::WarnedOutbound { .. } => Err(Failure::new("an order without a symbol")),
        _ => Ok(()),
    });
    side.connect(0);
    assert!(side.say(0, "35=A|34=1|98=0|108=30|").is_empty());
    assert!(side.next(0).close);
    assert!(!side.app.events.iter().any(|event| event.ends_with(": logged on")), "{:?}", side.app.events);
}

#[test]
fn a_refused_answer_to_an_initiators_logon_leaves_sequence_numbers_that_both_can_log_on_with() {
    for says_why in [true, false] {
        let mut side = Side::with_app(App::default(), vec![settings("A", Role::Initiator)]);
        side.app.logon = Box::new(move |_, _| {
            Ok(if says_why { LogonDecision::refuse("no") } else { LogonDecision::RefuseSilently })
        });
        side.connect(0);
        side.take(0);
        let said = side.say(0, "35=A|34=1|98=0|108=30|");
        assert_eq!(kinds(&said), if says_why { "5" } else { "" });
        side.disconnect(0);
        side.app.logon = Box::new(|_, _| Ok(LogonDecision::Accept));
        side.connect(0);
        let expected = if says_why { "|34=3|" } else { "|34=2|" };
        assert!(side.take(0)[0].contains(expected));
        // The counterparty has used its sequence numbers: they are requested and gap-filled.
        let asked = side.say(0, "35=A|34=3|98=0|108=30|");
        assert!(kinds(&asked) == "2" && asked[0].contains("|7=1|16=0|"), "{asked:?}");
        let done = side.say(0, "35=4|34=1|43=Y|122=20260105-09:00:00|36=4|123=Y|");
        assert!(done.is_empty(), "{done:?}");
        assert_eq!(side.numbers(0).unwrap().0, SeqNum(4));
        assert!(!side.next(0).close);
    }
}

#[test]
fn no_text_of_the_application_ends_or_poisons_a_session() {
    let texts = [
        "a\x01b=c".to_owned(),
        String::new(),
        "größer als 5 €".to_owned(),
        "x".repeat(100_000),
        "y".repeat(600),
    ];
    for begin_string in ["FIX.4.0", "FIX.4.2", "FIX.4.4"] {
        for most in ["", "383=512|"] {
            for text in &texts {
                for kind in 0..4 {
                    let mut side = Side::with_app(
                        App::default(),
                        vec![settings_of(&format!("{begin_string}:US->A"), Role::Acceptor)],
                    );
                    side.connect(0);
                    side.say(0, &format!("35=A|34=1|98=0|108=30|{most}"));
                    let text = text.clone();
                    side.app.message = Box::new(move |_, turn| {
                        order(turn, "x")?;
                        let session = SessionReject::new(SessionRejectReason::Other).text(text.clone());
                        let business = BusinessReject::new(BusinessRejectReason::from_number(7))
                            .text(text.clone())
                            .ref_id(text.clone());
                        match kind {
                            0 => Ok(Delivery::Reject(session)),
                            1 => Err(session.tag(Tag::new(38)).into()),
                            2 => Ok(Delivery::BusinessReject(business)),
                            _ => Err(business.into()),
                        }
                    });
                    let what = format!("{begin_string} {most} {kind}");
                    let said = side.say(0, "35=D|34=2|11=a|115=SOMEBODY|");
                    let reject = if kind < 2 || begin_string == "FIX.4.0" { "3" } else { "j" };
                    let by_value = if kind % 2 == 0 { "D" } else { "" };
                    assert_eq!(kinds(&said), format!("{by_value}{reject}"), "{what}");
                    assert!(most.is_empty() || said.iter().all(|m| m.len() <= 512), "{what}: {said:?}");
                    side.app.message = Box::new(|_, _| Ok(Delivery::Done));
                    assert_eq!(kinds(&side.say(0, "35=1|34=3|112=t|")), "0", "{what}");
                    assert!(side.halted(0).is_none());
                }
            }
        }
    }
}

#[test]
fn a_business_message_reject_is_not_answered_with_another_and_is_delivered_once() {
    for by_value in [true, false] {
        let mut side = logged_on("FIX.4.4");
        side.app.message = Box::new(move |_, turn| {
            order(turn, "x")?;
            let reject = BusinessReject::new(BusinessRejectReason::OTHER);
            if by_value { Ok(Delivery::BusinessReject(reject)) } else { Err(reject.into()) }
        });
        let said = side.say(0, "35=j|34=2|45=1|372=D|380=0|");
        assert_eq!(kinds(&said), if by_value { "D" } else { "" });
        assert_eq!(side.numbers(0).unwrap().0, SeqNum(3));
    }
}

#[test]
fn a_refusal_with_any_text_logs_out() {
    for text in ["a\x01b".to_owned(), String::new(), "x".repeat(100_000)] {
        let mut side = Side::with_app(App::default(), vec![settings("A", Role::Acceptor)]);
        side.app.logon = Box::new(move |_, _| Ok(LogonDecision::refuse(&text)));
        side.connect(0);
        assert_eq!(kinds(&side.say(0, "35=A|34=1|98=0|108=30|")), "5");
        side.disconnect(0);
        assert_eq!(side.ends, [SessionEnd::LogonRefused]);
    }
}

#[test]
fn a_store_with_passwords_in_its_logons_can_be_shown() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let mut own = settings("A", Role::Acceptor);
    own.logon.password = "ours".into();
    own.logon.new_password = "changed".into();
    own.logon.raw_data = "s\x01554=t".into();
    let mut side = Side::with_app(App::default(), vec![own]);
    side.connect(0);
    assert_eq!(kinds(&side.say(0, "35=A|34=1|98=0|108=30|554=theirs|")), "A");
    let kept = Arc::clone(&seen);
    side.app.resume = Box::new(move |resume| {
        resume.messages(|stored| {
            let text = String::from_utf8_lossy(stored.message.bytes()).replace('\x01', "|");
            kept.lock().unwrap().push((stored.direction, text));
            Ok(())
        })
    });
    side.show_store(0);
    assert_eq!(side.halted(0), None);
    let seen = seen.lock().unwrap();
    let [(Direction::Inbound, theirs), (Direction::Outbound, ours)] = &seen[..] else { panic!("{seen:?}") };
    assert!(theirs.contains("|554=******|"), "{theirs}");
    assert!(ours.contains("|95=7|96=*******|554=****|925=*******|"), "{ours}");
}

#[test]
fn settings_with_a_logon_value_that_no_field_can_have_are_refused_when_the_session_is_opened() {
    type Wrong = fn(&mut LogonFields);
    let wrong: [Wrong; 3] = [
        |logon| logon.username = "a\x01b".into(),
        |logon| logon.password = "a\x01b".into(),
        |logon| logon.new_password = "a\x01b".into(),
    ];
    for wrong in wrong {
        let settings = settings("A", Role::Initiator).with(|s| wrong(&mut s.logon));
        let error = Side::new(vec![]).open(settings).unwrap_err();
        assert!(error.to_string().contains("SOH"), "{error}");
    }
}

#[test]
fn fields_that_no_logon_can_have_close_the_connection_and_use_no_sequence_number() {
    type Write = fn(&mut fixbolt_codec::BodyWriter<'_>);
    let wrong: [Write; 5] = [
        |logon| _ = logon.bytes(Key::new(5001), &[b'x'; 10_000]),
        |logon| _ = logon.bytes(Key::new(5001), b"1").bytes(Key::new(5001), b"2"),
        |logon| _ = logon.bytes(Key::new(34), b"7"),
        |logon| _ = logon.bytes(Key::new(50), b"DESK"),
        |logon| _ = logon.bytes(Key::new(5001), b"a\x01b"),
    ];
    for role in [Role::Acceptor, Role::Initiator] {
        for write in wrong {
            let app = App {
                sending_logon: Box::new(move |logon, _| {
                    write(logon);
                    Ok(())
                }),
                ..App::default()
            };
            let mut side = Side::with_app(app, vec![settings("A", role)]);
            side.connect(0);
            if role == Role::Acceptor {
                assert!(side.say(0, "35=A|34=1|98=0|108=30|").is_empty());
            }
            assert!(side.take(0).is_empty() && side.next(0).close);
            assert_eq!(side.numbers(0), Some((SeqNum(1), SeqNum(1))));
        }
    }
}

#[test]
fn a_reset_in_the_session_calls_on_sending_logon_again() {
    let app = App {
        sending_logon: Box::new(|logon, _| {
            logon.bytes(Key::new(5001), b"own");
            Ok(())
        }),
        ..App::default()
    };
    let mut own = settings("A", Role::Acceptor);
    own.logon.username = "desk".into();
    let mut side = Side::with_app(app, vec![own]);
    side.connect(0);
    side.say(0, "35=A|34=1|98=0|108=30|");
    side.say(0, "35=0|34=2|");
    let answer = side.say(0, "35=A|34=1|98=0|108=30|141=Y|");
    assert!(
        answer[0].contains("|34=1|") && answer[0].contains("|141=Y|383=65536|553=desk|5001=own|10="),
        "{answer:?}"
    );
    assert_eq!(side.numbers(0), Some((SeqNum(2), SeqNum(2))));
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
    own.outbox_size = 16 * 1024;
    own.max_message_size = 8 * 1024;
    let mut side = Side::with_app(App::default(), vec![own]).observed_by(capture.clone());
    side.connect(0);
    let mut attempt = 0;
    side.app.message = Box::new(move |_, turn| {
        attempt += 1;
        order(turn, &"o".repeat(700))?;
        match attempt % 5 {
            0 => Ok(Delivery::NotNow),
            1 => Err(SessionReject::new(SessionRejectReason::Other).into()),
            2 => Ok(Delivery::Reject(SessionReject::new(SessionRejectReason::Other))),
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

#[test]
fn no_callback_can_write_to_a_halted_session() {
    let app = App { message: Box::new(|_, _| Err(Failure::new("bug"))), ..App::default() };
    let own = keeping(settings("A", Role::Acceptor)).with(|s| s.poison_attempts = 1);
    let mut side = Side::with_app(app, vec![own]);
    side.connect(0);
    side.say(0, "35=A|34=1|98=0|108=30|");
    side.say(0, "35=D|34=2|11=a|");
    assert!(matches!(side.halted(0), Some(Halt::PoisonMessage { .. })));
    side.app.event = Box::new(|event, turn| match event {
        Event::Ended(_) => {
            assert!(turn.halted().is_some());
            order(turn, "x").map(drop)
        }
        _ => Ok(()),
    });
    let before = side.numbers(0);
    side.disconnect(0);
    assert_eq!(side.numbers(0), before);
    assert!(
        side.app.events.last().unwrap().contains("failed in on_event: the session is halted"),
        "{:?}",
        side.app.events
    );
}

#[test]
fn what_on_resend_writes_follows_the_replay_once() {
    let app = App { message: Box::new(|_, turn| order(turn, "x").map(|_| Delivery::Done)), ..App::default() };
    let mut side = Side::with_app(app, vec![settings("A", Role::Acceptor)]).logged_on();
    for seq in 2..6 {
        side.say(0, &format!("35=D|34={seq}|11=a|"));
    }
    side.app.resend = Box::new(|_, turn| order(turn, "resent").map(|_| Resend::Send));
    let sent = side.say(0, "35=2|34=6|7=2|16=0|");
    assert_eq!(kinds(&sent), "DDDDDDDD");
    for (n, message) in sent.iter().enumerate() {
        assert!(message.contains(&format!("|34={}|", n + 2)), "{sent:?}");
        assert_eq!(message.contains("|43=Y|"), n < 4, "{sent:?}");
    }
    side.app.resend = Box::new(|_, turn| {
        order(turn, "gone")?;
        Err(Failure::new("no"))
    });
    let before = side.numbers(0).unwrap().1;
    assert!(side.say(0, "35=2|34=7|7=2|16=0|").is_empty());
    assert_eq!(side.numbers(0).unwrap().1, before);
    assert!(side.next(0).close);
}

#[test]
fn back_pressure_and_too_large_outside_a_message_are_the_callbacks_failure() {
    for (size, outbox, why) in [(7_000, 16, "the outbox is full"), (70_000, 1024, "larger than ")] {
        let own = settings("A", Role::Acceptor).with(|s| s.outbox_size = outbox * 1024);
        let mut side = Side::with_app(App::default(), vec![own]);
        side.connect(0);
        side.app.event = Box::new(move |event, turn| {
            if matches!(event, Event::LoggedOn) {
                for _ in 0..4 {
                    order(turn, &"x".repeat(size))?;
                }
            }
            Ok(())
        });
        let sent = side.say(0, "35=A|34=1|98=0|108=30|");
        assert_eq!(kinds(&sent), "A");
        assert_eq!(side.numbers(0), Some((SeqNum(2), SeqNum(2))));
        side.disconnect(0);
        let [SessionEnd::CallbackFailed { callback: "on_event", why: told }] = &side.ends[..] else {
            panic!("{:?}", side.ends)
        };
        assert!(told.starts_with(why), "{told}");
    }
}

#[test]
fn a_draft_whose_writer_was_replaced_is_not_sent() {
    let mut side = logged_on("FIX.4.4");
    let queued = side.writable(0).len();
    // Other memory, a type of the session layer, and the draft's memory with another beginning.
    let replace = [
        |writer: &mut BodyWriter<'_>, _| {
            *writer = BodyWriter::within(MsgType::new(b"D"), Vec::leak(vec![b'#'; 600]), 300, 500);
        },
        |writer: &mut BodyWriter<'_>, _| {
            *writer = BodyWriter::new(MsgType::new(b"D"), &mut []);
        },
        |writer: &mut BodyWriter<'_>, own: MsgType| {
            let old = std::mem::replace(writer, BodyWriter::new(own, &mut []));
            let (memory, body) = old.into_memory().unwrap();
            *writer = BodyWriter::within(MsgType::new(b"A"), memory, body.start, body.start + 100);
        },
        |writer: &mut BodyWriter<'_>, own: MsgType| {
            let old = std::mem::replace(writer, BodyWriter::new(own, &mut []));
            *writer = BodyWriter::new(own, old.into_memory().unwrap().0);
        },
        |writer: &mut BodyWriter<'_>, own: MsgType| {
            let old = std::mem::replace(writer, BodyWriter::new(own, &mut []));
            let (memory, body) = old.into_memory().unwrap();
            let limit = memory.len();
            *writer = BodyWriter::within(own, memory, body.start, limit);
            // To the end of the memory: no room is left for CheckSum.
            writer.bytes(Key::new(11), b"a").bytes(Key::new(58), &vec![b'x'; limit - body.start - 10]);
        },
    ];
    for replace in replace {
        let sent = side.act(0, |turn| {
            let mut draft = turn.reply().draft(MsgType::new(b"D"));
            replace(draft.writer(), MsgType::new(b"D"));
            draft.send()
        });
        let replaced = EncodeError::new(Tag::new(35), EncodeErrorKind::Replaced);
        assert_eq!(sent, Err(SendError::Encode(replaced)));
        assert_eq!(side.writable(0).len(), queued);
    }
}
