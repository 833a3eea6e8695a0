//! The application's callbacks: what each one knows, and what becomes of their errors outside a
//! message.

use std::sync::{Arc, Mutex};

use fixbolt_codec::{BodySink, Key, Message, MsgType, NewBody, SeqNum, Tag};
use fixbolt_conformance::testing::{App, Side, kinds, order, settings, settings_of};
use fixbolt_session::{
    Application, Delivery, Event, Failure, Halt, LogonDecision, LogonFields, Phase, Resend, Role, SessionEnd,
    SessionKey, SessionSettings, Turn, WhileLoggedOff, WorkerWaker,
};

/// An acceptor of this version that is logged on.
fn logged_on(begin_string: &str) -> Side<App> {
    let settings = settings_of(&format!("{begin_string}:US->A"), Role::Acceptor);
    Side::with_app(App::default(), vec![settings]).logged_on()
}

#[test]
fn any_other_error_is_the_applications_failure_and_is_reported_with_its_reason() {
    let mut side = logged_on("FIX.4.4");
    side.app.message = Box::new(|_, _| {
        let _: u32 = "a hundred".parse()?;
        Ok(Delivery::Done)
    });
    assert!(side.say(0, "35=D|34=2|11=a|").is_empty());
    side.disconnect(0);
    let why = "invalid digit found in string".to_owned();
    assert_eq!(side.ends, [SessionEnd::ApplicationFailed { seq: SeqNum(2), why }]);
    let (ended, told) = (side.app.events.pop().unwrap(), &side.app.events);
    assert!(ended.ends_with("the application failed on message 2: invalid digit found in string"), "{ended}");
    assert!(told.iter().any(|e| e.contains("(attempt 1): invalid digit found in string")), "{told:?}");
}

#[test]
fn an_initiator_sends_its_first_order_in_the_logged_on_event() {
    let app = App {
        event: Box::new(|event, turn| {
            if matches!(event, Event::LoggedOn) {
                assert_eq!((turn.phase(), turn.role()), (Phase::LoggedOn, Role::Initiator));
                assert_eq!((turn.next_in(), turn.next_out()), (SeqNum(2), SeqNum(2)));
                order(turn, "first")?;
            }
            Ok(())
        }),
        ..App::default()
    };
    let mut side = Side::with_app(app, vec![settings("A", Role::Initiator)]);
    side.connect(0);
    assert_eq!(kinds(&side.take(0)), "A");
    let sent = side.say(0, "35=A|34=1|98=0|108=30|");
    assert!(sent.len() == 1 && sent[0].contains("|35=D|") && sent[0].contains("|11=first|"), "{sent:?}");
}

#[test]
fn what_a_failing_event_callback_wrote_is_rolled_back_in_every_session_and_its_connection_ends() {
    for (panics, why) in [(false, "no desk takes this"), (true, "panic")] {
        let both = ["A", "B"].map(|target| settings(target, Role::Acceptor));
        let mut side = Side::with_app(App::default(), both.to_vec());
        for n in [0, 1] {
            side.connect(n);
            side.say(n, "35=A|34=1|98=0|108=30|");
        }
        let other = side.id(1).clone();
        side.app.event = Box::new(move |event, turn| {
            if !matches!(event, Event::RejectReceived { .. }) {
                return Ok(());
            }
            order(turn, "own")?;
            let other = turn.find(&other).ok_or_else(|| Failure::new("closed"))?;
            let mut copy = turn.to(other).ok_or_else(|| Failure::new("closed"))?.draft(MsgType::new(b"B"));
            copy.writer().bytes(Key::new(148), b"copy");
            copy.send()?;
            assert!(!panics, "application bug");
            Err(Failure::new(why))
        });
        assert!(side.say(0, "35=3|34=2|45=1|58=no|").is_empty());
        assert!(side.take(1).is_empty());
        assert_eq!(side.numbers(0), Some((SeqNum(3), SeqNum(2))));
        assert_eq!(side.numbers(1), Some((SeqNum(2), SeqNum(2))));
        side.disconnect(0);
        let end = SessionEnd::CallbackFailed { callback: "on_event", why: why.to_owned() };
        assert_eq!(side.ends, [end]);
        assert_eq!(side.say(1, "35=1|34=2|112=t|").len(), 1, "the other session continues");
    }
}

#[test]
fn a_callback_that_fails_without_a_connection_is_reported() {
    let mut side = logged_on("FIX.4.4");
    side.app.event = Box::new(|event, _| match event {
        Event::Ended(_) => Err(Failure::new("cannot write the end of day")),
        _ => Ok(()),
    });
    side.disconnect(0);
    let last = side.app.events.last().unwrap();
    assert_eq!(last, "FIX.4.4:US->A: the application failed in on_event: cannot write the end of day");
}

#[test]
fn on_logon_and_on_resend_can_write_to_other_sessions() {
    let both = vec![settings("A", Role::Acceptor), settings("B", Role::Acceptor)];
    let mut side = Side::with_app(App::default(), both);
    side.connect(1);
    side.say(1, "35=A|34=1|98=0|108=30|");
    let drop_copy = side.key(1);
    let news = move |turn: &mut Turn<'_>, text: &[u8]| -> Result<(), Failure> {
        let mut copy = turn.to(drop_copy).ok_or_else(|| Failure::new("closed"))?.draft(MsgType::new(b"B"));
        copy.writer().bytes(Key::new(148), text);
        copy.send()?;
        Ok(())
    };
    side.app.logon = Box::new(move |_, turn| news(turn, b"logon").map(|()| LogonDecision::Accept));
    side.app.resend = Box::new(move |_, turn| news(turn, b"resend").map(|()| Resend::Send));
    side.app.message = Box::new(|_, turn| order(turn, "x").map(|_| Delivery::Done));
    side.connect(0);
    side.say(0, "35=A|34=1|98=0|108=30|");
    assert!(side.take(1)[0].contains("|148=logon|"));
    side.say(0, "35=D|34=2|11=a|");
    let replayed = side.say(0, "35=2|34=3|7=2|16=2|");
    assert!(replayed[0].contains("|34=2|") && replayed[0].contains("|43=Y|"), "{replayed:?}");
    assert!(side.take(1)[0].contains("|148=resend|"));
}

// R-RESEND-5
#[test]
fn a_message_that_the_application_does_not_want_to_be_sent_again_joins_the_gap_fill() {
    let mut side = logged_on("FIX.4.4");
    side.app.message = Box::new(|_, turn| order(turn, "x").map(|_| Delivery::Done));
    for seq in 2..=4 {
        side.say(0, &format!("35=D|34={seq}|11=a|"));
    }
    side.app.resend = Box::new(|message, _| {
        let is_wanted = message.windows(6).any(|field| field == b"\x0134=4\x01");
        Ok(if is_wanted { Resend::Send } else { Resend::GapFill })
    });
    let again = side.say(0, "35=2|34=5|7=1|16=0|");
    assert_eq!(kinds(&again), "4D", "{again:?}");
    assert!(again[0].contains("|34=1|") && again[0].contains("|36=4|123=Y|"), "{again:?}");
    assert!(again[1].contains("|34=4|") && again[1].contains("|43=Y|"), "{again:?}");
}

#[test]
fn a_logon_carries_the_settings_fields_and_the_applications_own_in_both_roles() {
    for role in [Role::Initiator, Role::Acceptor] {
        let mut logon = LogonFields::default();
        logon.username = "desk".into();
        logon.password = "secret".into();
        logon.new_password = "changed".into();
        logon.raw_data = "a=b".into();
        let app = App {
            sending_logon: Box::new(|logon, turn| {
                logon.bytes(Key::new(1137), b"9");
                logon.bytes(Key::new(5001), turn.session_id().sender_comp_id().as_bytes());
                Ok(())
            }),
            ..App::default()
        };
        let settings = settings("A", role).with(|s| s.logon = logon);
        let mut side = Side::with_app(app, vec![settings]);
        side.connect(0);
        let sent = match role {
            Role::Initiator => side.take(0),
            Role::Acceptor => side.say(0, "35=A|34=1|98=0|108=30|"),
        };
        let fields = "|98=0|108=30|383=65536|95=3|96=a=b|553=desk|554=secret|925=changed|1137=9|5001=US|10=";
        assert!(sent[0].contains(fields), "{sent:?}");
    }
}

#[test]
fn a_field_that_the_logon_already_has_keeps_it_from_being_sent() {
    let app = App {
        sending_logon: Box::new(|logon, _| {
            logon.bytes(Key::new(108), b"1");
            Ok(())
        }),
        ..App::default()
    };
    let mut side = Side::with_app(app, vec![settings("A", Role::Initiator)]);
    side.connect(0);
    assert!(side.take(0).is_empty());
    assert!(side.next(0).close);
    assert_eq!(side.numbers(0), Some((SeqNum(1), SeqNum(1))));
}

#[test]
fn an_initiator_reads_the_answer_to_its_logon_and_may_refuse_it() {
    let app = App {
        logon: Box::new(|logon, turn| {
            assert_eq!(turn.role(), Role::Initiator);
            Ok(match logon.get(Tag::new(553)) {
                Some(b"venue") => LogonDecision::Accept,
                Some(_) => LogonDecision::refuse("you are not the venue"),
                None => LogonDecision::RefuseSilently,
            })
        }),
        ..App::default()
    };
    let mut side = Side::with_app(app, vec![settings("A", Role::Initiator)]);
    let answer = |side: &mut Side<App>, fields: &str| {
        side.connect(0);
        side.take(0);
        let said = side.say(0, fields);
        side.disconnect(0);
        said
    };
    assert!(answer(&mut side, "35=A|34=1|98=0|108=30|").is_empty());
    let said = answer(&mut side, "35=A|34=1|98=0|108=30|553=other|");
    assert!(said[0].contains("|58=you are not the venue|"), "{said:?}");
    assert_eq!(side.ends, [SessionEnd::LogonRefused, SessionEnd::LogonRefused]);
    answer(&mut side, "35=A|34=1|98=0|108=30|553=venue|");
    assert!(side.app.events.contains(&"FIX.4.4:US->A: logged on".to_owned()));
}

#[test]
fn the_text_of_a_logout_and_of_a_reject_reaches_the_events() {
    let mut side = logged_on("FIX.4.4");
    side.say(0, "35=3|34=2|45=1|58=bad tag|");
    side.say(0, "35=5|34=3|58=see you tomorrow|");
    let wanted = [
        "FIX.4.4:US->A: the counterparty rejected message 1: bad tag",
        "FIX.4.4:US->A: the counterparty sent a Logout: see you tomorrow",
    ];
    for wanted in wanted {
        assert!(side.app.events.iter().any(|event| event == wanted), "{:?}", side.app.events);
    }
}

#[test]
fn an_application_that_fails_at_its_store_halts_the_session() {
    let app = App {
        resume: Box::new(|resume| {
            resume.messages(|_| Ok(()))?;
            Err(Failure::new("the book does not add up"))
        }),
        ..App::default()
    };
    let side = Side::with_app(app, vec![settings("A", Role::Acceptor)]);
    let why = "the book does not add up".to_owned();
    let halt = Halt::CallbackFailed { callback: "on_resume", why };
    assert_eq!(side.halted(0), Some(&halt));
}

#[test]
fn messages_written_in_on_resume_wait_for_the_logon() {
    let app = App { resume: Box::new(|resume| order(resume.turn(), "morning").map(drop)), ..App::default() };
    let settings = settings("A", Role::Acceptor).with(|s| s.resend.while_logged_off = WhileLoggedOff::Keep);
    let mut side = Side::with_app(app, vec![settings]);
    side.connect(0);
    side.say(0, "35=A|34=1|98=0|108=30|");
    let asked = side.say(0, "35=2|34=2|7=1|16=0|");
    assert!(asked[0].contains("|11=morning|"), "{asked:?}");
}

#[test]
fn an_event_reads_as_a_sentence_and_a_debug_text_has_no_password() {
    let mut side = Side::with_app(App::default(), vec![settings("A", Role::Acceptor)]);
    side.connect(0);
    let debug = Arc::new(Mutex::new(String::new()));
    let kept = Arc::clone(&debug);
    side.app.logon = Box::new(move |logon, turn| {
        *kept.lock().unwrap() = format!("{logon:?} {turn:?}");
        Ok(LogonDecision::Accept)
    });
    side.say(0, "35=A|34=1|98=0|108=30|554=swordfish|");
    let debug = debug.lock().unwrap();
    assert!(debug.contains("FIX.4.4:US->A") && !debug.contains("swordfish"), "{debug}");
}

// R-LOGON-6
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

/// A waker that records its calls.
#[derive(Default)]
struct Bell(Mutex<Vec<SessionKey>>);

impl WorkerWaker for Bell {
    fn session_ready(&self, session: SessionKey) {
        self.0.lock().unwrap().push(session);
    }

    fn store_advanced(&self) {}
}

/// Answers "not now" and passes the session's waker to another thread.
#[derive(Default)]
struct Later(bool);

impl Application for Later {
    fn on_message(&mut self, _: Message<'_>, turn: &mut Turn<'_>) -> Result<Delivery, Failure> {
        if std::mem::replace(&mut self.0, true) {
            return Ok(Delivery::Done);
        }
        let waker = turn.waker();
        std::thread::spawn(move || waker.wake()).join().unwrap();
        Ok(Delivery::NotNow)
    }
}

#[test]
fn an_application_that_answered_not_now_can_call_the_waker_from_any_thread() {
    let bell = Arc::new(Bell::default());
    let waker = Arc::clone(&bell) as Arc<dyn WorkerWaker>;
    let mut side = Side::with_app(Later::default(), vec![]).on_worker(7, waker);
    let key = side.open(settings("PEER", Role::Acceptor)).unwrap();
    assert_eq!(key.worker(), 7);
    side.log_on(0, 1, "");
    let order = side.wire(0, "35=D|34=2|11=a|");
    assert_eq!(side.receive(0, &order), 0);
    assert_eq!(*bell.0.lock().unwrap(), [key]);
    assert_eq!(side.wake(0, &order), order.len());
}

fn of_desk(change: fn(&mut SessionSettings)) -> Side {
    Side::new(vec![settings("PEER", Role::Acceptor).with(change)]).logged_on()
}

#[test]
fn a_session_whose_application_panics_outside_its_own_calls_is_reported_to_the_driver() {
    let mut side = of_desk(|_| {});
    side.take(0);
    side.polled();
    let _: Result<(), _> = side.act(0, |_| panic!("application bug"));
    assert!(side.next(0).close);
    assert_eq!(side.polled(), [side.key(0)]);
    let mut side = of_desk(|_| {});
    side.take(0);
    side.polled();
    side.app.panic_in = "on_event";
    side.notify(0, &Event::Resumed);
    assert!(side.next(0).close);
    assert_eq!(side.polled(), [side.key(0)]);
}
