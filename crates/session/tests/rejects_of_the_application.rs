//! What the counterparty receives when the application rejects a message or fails on it.

use std::sync::Arc;

use fixbolt_codec::{
    BodySink, Decimal, FieldError, FieldErrorKind, Key, Message, MsgType, NewBody, SeqNum, Tag, ValueError,
};
use fixbolt_conformance::testing::{App, Mood, Side, kinds, order, settings, settings_of};
use fixbolt_session::{
    Application, BusinessReject, BusinessRejectCode, Delivery, Failure, Phase, Role, SessionDictionary,
    SessionReject, SessionRejectCode, SessionSettings, Turn,
};

/// An acceptor of this version that is logged on.
fn logged_on(begin_string: &str) -> Side<App> {
    let settings = settings_of(&format!("{begin_string}:US->A"), Role::Acceptor);
    Side::with_app(App::default(), vec![settings]).logged_on()
}

fn field_error(tag: u32, kind: FieldErrorKind) -> FieldError {
    FieldError::new(Tag::new(tag), kind)
}

/// Returns what the counterparty of a session of this version receives when the application fails
/// with this error.
fn answer_to(fails: impl Fn() -> Failure + Clone + 'static, begin_string: &str) -> Vec<String> {
    let mut side = logged_on(begin_string);
    side.app.message = Box::new(move |_, turn| {
        order(turn, "rolled back")?;
        Err(fails())
    });
    let answers = side.say(0, "35=D|34=2|11=a|");
    side.app.message = Box::new(|_, _| Ok(Delivery::Done));
    assert_eq!(side.say(0, "35=1|34=3|112=t|").len(), 1, "the session continues");
    answers
}

// R-BUSINESS-3
#[test]
fn a_missing_field_is_a_business_message_reject_5_that_names_it() {
    let fails = || Failure::from(field_error(55, FieldErrorKind::Missing));
    let [answer] = &answer_to(fails, "FIX.4.4")[..] else { panic!("one answer") };
    assert!(answer.contains("|35=j|"), "{answer}");
    assert!(answer.contains("|45=2|372=D|380=5|58=Conditionally required field missing (55)|"), "{answer}");
    let [answer] = &answer_to(fails, "FIX.4.0")[..] else { panic!("one answer") };
    assert!(answer.contains("|35=3|") && answer.contains("(55)|"), "{answer}");
}

#[test]
fn a_malformed_value_is_a_reject_6_and_one_outside_its_values_a_reject_5() {
    for (error, reason) in [(ValueError::Format, 6), (ValueError::OutOfRange, 5), (ValueError::Empty, 4)] {
        let fails = move || Failure::from(field_error(38, FieldErrorKind::Value(error)));
        let [answer] = &answer_to(fails, "FIX.4.4")[..] else { panic!("one answer") };
        assert!(answer.contains("|35=3|"), "{answer}");
        assert!(answer.contains(&format!("|45=2|371=38|372=D|373={reason}|")), "{answer}");
    }
    let [answer] = &answer_to(|| field_error(453, FieldErrorKind::Count).into(), "FIX.4.4")[..] else {
        panic!("one answer")
    };
    assert!(answer.contains("|371=453|372=D|373=16|"), "{answer}");
    // A value that the application parsed itself has no tag.
    let fails = || Failure::from(Decimal::parse(b"1O0").unwrap_err());
    let [answer] = &answer_to(fails, "FIX.4.4")[..] else { panic!("one answer") };
    assert!(answer.contains("|35=3|") && answer.contains("|373=6|") && !answer.contains("|371="), "{answer}");
}

#[test]
fn the_applications_rejects_can_have_texts_made_at_run_time() {
    let limit = 100;
    let fails = move || {
        SessionReject::new(SessionRejectCode::VALUE_IS_INCORRECT)
            .tag(38)
            .text(format!("OrderQty above {limit}"))
            .into()
    };
    let [answer] = &answer_to(fails, "FIX.4.4")[..] else { panic!("one answer") };
    assert!(answer.contains("|371=38|372=D|373=5|58=OrderQty above 100|"), "{answer}");
    let fails = || {
        let reject = BusinessReject::new(BusinessRejectCode::UNKNOWN_SECURITY);
        reject.ref_id(String::from("a")).text("no such symbol").into()
    };
    let [answer] = &answer_to(fails, "FIX.4.4")[..] else { panic!("one answer") };
    assert!(answer.contains("|45=2|372=D|379=a|380=2|58=no such symbol|"), "{answer}");
}

#[test]
fn a_reject_by_value_keeps_what_was_written_and_one_by_error_rolls_it_back() {
    let mut side = logged_on("FIX.4.4");
    side.app.message = Box::new(|_, turn| {
        order(turn, "kept")?;
        Ok(Delivery::Reject(SessionReject::new(SessionRejectCode::OTHER)))
    });
    assert_eq!(kinds(&side.say(0, "35=D|34=2|11=a|")), "D3");
    side.app.message = Box::new(|_, turn| {
        order(turn, "gone")?;
        Err(SessionReject::new(SessionRejectCode::OTHER).into())
    });
    assert_eq!(kinds(&side.say(0, "35=D|34=3|11=b|")), "3");
    assert_eq!(side.numbers(0), Some((SeqNum(4), SeqNum(5))));
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
                        let session = SessionReject::new(SessionRejectCode::OTHER).text(text.clone());
                        let business = BusinessReject::new(BusinessRejectCode::from_value(7))
                            .text(text.clone())
                            .ref_id(text.clone());
                        match kind {
                            0 => Ok(Delivery::Reject(session)),
                            1 => Err(session.tag(38).into()),
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
            let reject = BusinessReject::new(BusinessRejectCode::OTHER);
            if by_value { Ok(Delivery::BusinessReject(reject)) } else { Err(reject.into()) }
        });
        let said = side.say(0, "35=j|34=2|45=1|372=D|380=0|");
        assert_eq!(kinds(&said), if by_value { "D" } else { "" });
        assert_eq!(side.numbers(0).unwrap().0, SeqNum(3));
    }
}

fn of_desk(change: fn(&mut SessionSettings)) -> Side {
    Side::new(vec![settings("PEER", Role::Acceptor).with(change)]).logged_on()
}

fn numbers(side: &Side) -> (u64, u64) {
    let (next_in, next_out) = side.numbers(0).unwrap();
    (next_in.0, next_out.0)
}

// R-BUSINESS-2
#[test]
fn a_business_message_reject_is_never_answered_with_another_one() {
    let mut side = of_desk(|_| {});
    side.app.mood = Mood::Unsupported;
    assert_eq!(kinds(&side.say(0, "35=D|34=2|11=a|")), "j");
    assert_eq!(kinds(&side.say(0, "35=j|34=3|45=2|372=8|380=3|")), "");
    assert_eq!(numbers(&side).0, 4);
}

#[test]
fn a_malformed_business_message_reject_gets_its_reject() {
    let validator = fixbolt_dictionary::Validator::new(fixbolt_dictionary::fix44());
    let mut settings = settings("PEER", Role::Acceptor);
    settings.dictionary = SessionDictionary::Own(Arc::new(validator));
    let mut side = Side::new(vec![settings]);
    side.log_on(0, 1, "");
    let out = side.say(0, "35=j|34=2|45=2|");
    assert_eq!(kinds(&out), "3");
    assert!(out[0].contains("|371=372|"), "{out:?}");
}

/// Answers each message with everything that it contained, and a little more.
struct Echo;

impl Application for Echo {
    fn on_message(&mut self, message: Message<'_>, turn: &mut Turn<'_>) -> Result<Delivery, Failure> {
        let text = message.get(Tag::new(58)).unwrap_or(b"?");
        let mut draft = turn.session().draft(MsgType::new(b"8"));
        draft.writer().bytes(Key::new(37), b"a little more").bytes(Key::new(58), text);
        draft.send()?;
        Ok(Delivery::Done)
    }
}

#[test]
fn a_message_of_any_size_that_is_accepted_can_be_answered() {
    let mut side = of_desk(|_| {}).handed_to(Echo);
    for (n, size) in [65_300, 65_400, 65_475, 65_536, 100].into_iter().enumerate() {
        let text = |len: usize| "x".repeat(len);
        let message = |side: &Side<Echo>, len| side.wire(0, &format!("35=D|34={}|58={}|", n + 2, text(len)));
        let around = message(&side, size).len() - size;
        let bytes = message(&side, size - around);
        assert!(bytes.len().abs_diff(size) <= 1, "BodyLength may have one digit less");
        assert_eq!(side.receive(0, &bytes), bytes.len(), "{size}");
        let out = side.take(0);
        assert_eq!(out.len(), 1, "{size}");
        let kind = kinds(&out);
        assert!(
            kind == "8" || kind == "j" && out[0].contains("the answer is larger than 65536 bytes"),
            "{size}"
        );
    }
    assert_eq!((side.phase(0), side.halted(0)), (Phase::LoggedOn, None));
}

// R-BUSINESS-4
#[test]
fn a_message_on_which_the_application_fails_is_rejected_if_the_session_says_so() {
    for mood in [Mood::Fails, Mood::Panics] {
        let settings = settings("PEER", Role::Acceptor)
            .with(|s| s.validation.reject_message_on_unhandled_exception = true);
        let mut side = Side::new(vec![settings]);
        side.log_on(0, 1, "");
        side.app.mood = mood;
        let answer = side.say(0, "35=D|34=2|11=bad|");
        assert_eq!(kinds(&answer), "j", "what it wrote is rolled back");
        let fields = "|45=2|372=D|380=4|58=Application not available|";
        assert!(answer[0].contains("|34=2|") && answer[0].contains(fields), "{answer:?}");
        let note = side.app.notes.last().unwrap();
        assert!(note.contains("the application failed on message 2, which is rejected: "), "{note}");
        // It counts as processed, and the session goes on.
        side.app.mood = Mood::Done;
        assert_eq!(kinds(&side.say(0, "35=D|34=3|11=good|")), "8");
        assert_eq!((&side.app.got[..], numbers(&side)), (&["good".to_owned()][..], (4, 4)));
        // A BusinessMessageReject is not answered with another one.
        side.app.mood = mood;
        assert_eq!(kinds(&side.say(0, "35=j|34=4|45=3|372=8|380=0|")), "");
        assert_eq!(numbers(&side), (5, 4));
    }
}
