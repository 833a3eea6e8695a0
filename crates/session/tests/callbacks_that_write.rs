//! Callbacks that write messages at unexpected moments: in events that they cause themselves,
//! before the logon is complete, during a replay, and to a session that is halted.

use std::num::NonZeroU32;
use std::sync::Arc;

use fixbolt_codec::plumbing::BodyPlumbing as _;
use fixbolt_codec::{BodySink, BodyWriter, EncodeError, EncodeErrorKind, Key, MsgType, NewBody, SeqNum, Tag};
use fixbolt_conformance::testing::{App, Side, kinds, order, settings, settings_of};
use fixbolt_dictionary::{Action, Check, Policy, Validator, fix44};
use fixbolt_session::{
    Accepted, Delivery, Event, Failure, Halt, LogonDecision, Resend, Role, SendError, SessionDictionary,
    SessionEnd, SessionKey, SessionSettings, Turn, WhileLoggedOff,
};

/// An acceptor of this version that is logged on.
fn logged_on(begin_string: &str) -> Side<App> {
    let settings = settings_of(&format!("{begin_string}:US->A"), Role::Acceptor);
    Side::with_app(App::default(), vec![settings]).logged_on()
}

fn keeping(settings: SessionSettings) -> SessionSettings {
    settings.with(|s| s.resend.while_logged_off = WhileLoggedOff::Keep)
}

/// Adds a policy that warns of each sent message without a field that the dictionary requires.
fn warning(settings: SessionSettings) -> SessionSettings {
    settings.with(|s| {
        s.dictionary = SessionDictionary::Own(Arc::new(Validator::new(fix44())));
        s.validation.incoming = Policy::ignoring();
        s.validation.outgoing = Some(Policy::ignoring().with(Check::RequiredField, Action::Warn));
    })
}

fn order_to(turn: &mut Turn<'_>, session: SessionKey, id: &str) -> Result<Accepted, Failure> {
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
fn no_callback_can_write_to_a_halted_session() {
    let app = App { message: Box::new(|_, _| Err(Failure::new("bug"))), ..App::default() };
    let own =
        keeping(settings("A", Role::Acceptor)).with(|s| s.limits.max_delivery_attempts = NonZeroU32::MIN);
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
        let own = settings("A", Role::Acceptor).with(|s| s.limits.outbound_buffer_size = outbox * 1024);
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
            let mut draft = turn.session().draft(MsgType::new(b"D"));
            replace(draft.writer(), MsgType::new(b"D"));
            draft.send()
        });
        let replaced = EncodeError::new(Tag::new(35), EncodeErrorKind::Replaced);
        assert_eq!(sent, Err(SendError::Encode(replaced)));
        assert_eq!(side.writable(0).len(), queued);
    }
}
