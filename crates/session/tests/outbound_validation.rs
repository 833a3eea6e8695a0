//! If the settings ask for it, what the application sends is validated against the dictionary,
//! before it gets a sequence number.

use std::sync::Arc;
use std::time::Duration;

use fixbolt_codec::{BodySink, Key, Message, MsgType, NewBody, SeqNum};
use fixbolt_conformance::testing::{Mood, Side, settings};
use fixbolt_dictionary::{Action, Check, Policy, RefTag, SessionRejectCode, Validator, fix44};
use fixbolt_session::runtime::{session_key, waiting};
use fixbolt_session::{
    Accepted, Application, Delivery, Event, Failure, Role, SendError, SessionDictionary, SessionKey,
    SessionSettings, Turn, WhileLoggedOff,
};

const A: SessionKey = session_key(0, 0, 0);

/// A session that is logged on; NextNumOut is 2.
fn side(outbound_policy: Option<Policy>) -> Side<Listener> {
    of_desk(outbound_policy).handed_to(Listener::default())
}

/// Returns a session of a [`Desk`](fixbolt_conformance::testing::Desk) that validates so.
fn of_desk(outbound_policy: Option<Policy>) -> Side {
    changed(outbound_policy, |_| ())
}

/// Returns a session that validates so, and whose settings are changed.
fn changed(outbound_policy: Option<Policy>, change: impl FnOnce(&mut SessionSettings)) -> Side {
    let dictionary = SessionDictionary::Own(Arc::new(Validator::new(fix44())));
    let settings = settings("A", Role::Acceptor).with(|s| {
        s.dictionary = dictionary;
        // The handwritten counterparty's orders have only an id.
        s.validation.incoming = Policy::ignoring();
        s.validation.outgoing = outbound_policy;
        s.resend.while_logged_off = WhileLoggedOff::Keep;
        change(s);
    });
    let mut side = Side::new(vec![settings]);
    side.log_on(0, 1, "");
    side.write(0, usize::MAX);
    side
}

#[test]
fn a_message_that_waits_for_a_throttle_is_refused_at_once_and_warned_of_under_its_number() {
    let policy = Policy::standard().with(Check::EnumValue, Action::Warn);
    let throttled = |s: &mut SessionSettings| s.throttle.max_outbound_rate = Some("1/1000".parse().unwrap());
    let mut side = changed(Some(policy), throttled).handed_to(Listener::default());
    side.act(0, |turn| send(turn, Some(b"a"), b"0")).unwrap();
    let waits = side.act(0, |turn| send(turn, Some(b"b"), b"~"));
    assert_eq!(waits, Ok(Accepted::Waits(waiting(1))));
    let (check, reason) = (Check::RequiredField, SessionRejectCode::REQUIRED_TAG_MISSING);
    let refused = side.act(0, |turn| send(turn, None, b"0"));
    assert_eq!(refused, Err(SendError::Invalid { check, reason, tag: 262, order: None }));
    side.tell(0, "35=1|34=2|112=passes|");
    assert_eq!(side.app.0, []);
    side.write(0, usize::MAX);
    side.pass(Duration::from_secs(1));
    side.wake(0, &[]);
    assert_eq!(side.app.0, [(SeqNum(4), Check::EnumValue, RefTag::Number(281))]);
}

/// An application that records warnings.
#[derive(Default)]
struct Listener(Vec<(SeqNum, Check, RefTag<'static>)>);

impl Application for Listener {
    fn on_message(&mut self, _: Message<'_>, _: &mut Turn<'_>) -> Result<Delivery, Failure> {
        Ok(Delivery::Done)
    }

    fn on_event(&mut self, event: &Event<'_>, _: &mut Turn<'_>) -> Result<(), Failure> {
        if let Event::WarnedOutbound { seq, violation } = event {
            let RefTag::Number(tag) = violation.tag else { panic!("a writer's tags are numbers") };
            self.0.push((*seq, violation.check, RefTag::Number(tag)));
        }
        Ok(())
    }
}

/// Sends a MarketDataRequestReject with this MDReqID, if any, and this reason.
fn send(turn: &mut Turn<'_>, id: Option<&[u8]>, reason: &[u8]) -> Result<Accepted, SendError> {
    let mut draft = turn.to(A).expect("it is open").draft(MsgType::new(b"Y"));
    if let Some(id) = id {
        draft.writer().bytes(Key::new(262), id);
    }
    draft.writer().bytes(Key::new(281), reason);
    draft.send()
}

#[test]
fn an_invalid_message_is_not_sent_and_uses_no_sequence_number() {
    let mut side = side(Some(Policy::standard()));
    let missing = side.act(0, |turn| send(turn, None, b"0"));
    let (check, reason) = (Check::RequiredField, SessionRejectCode::REQUIRED_TAG_MISSING);
    assert_eq!(missing, Err(SendError::Invalid { check, reason, tag: 262, order: None }));
    assert_eq!(missing.unwrap_err().to_string(), "not valid: Required tag missing, tag 262");
    // If the application ignores the error, nothing is sent, and the next message gets the sequence
    // number.
    let sent = side.act(0, |turn| {
        let (check, reason) = (Check::EnumValue, SessionRejectCode::VALUE_IS_INCORRECT);
        assert_eq!(
            send(turn, Some(b"x"), b"~"),
            Err(SendError::Invalid { check, reason, tag: 281, order: None })
        );
        send(turn, Some(b"x"), b"0")
    });
    assert_eq!(sent, Ok(Accepted::Numbered(SeqNum(2))));
    let text = String::from_utf8_lossy(side.writable(0)).replace('\x01', "|");
    assert!(text.contains("|34=2|") && text.contains("|262=x|281=0|"), "{text}");
    assert_eq!(text.matches("8=FIX").count(), 1);
    assert_eq!(side.numbers(0).unwrap().1, SeqNum(3));
    assert_eq!(side.app.0, []);
}

#[test]
fn without_an_outbound_policy_nothing_is_validated() {
    let mut side = side(None);
    let sent = side.act(0, |turn| send(turn, None, b"~"));
    assert_eq!(sent, Ok(Accepted::Numbered(SeqNum(2))));
}

#[test]
fn a_warning_is_reported_once_the_turn_is_committed() {
    let warned =
        Policy::standard().with(Check::RequiredField, Action::Warn).with(Check::EnumValue, Action::Warn);
    let mut side = side(Some(warned));
    let undone = side.act(0, |turn| {
        send(turn, None, b"0")?;
        Err::<(), _>(SendError::Application("changed my mind"))
    });
    assert!(undone.is_err());
    assert_eq!(side.app.0, []);
    let both = side.act(0, |turn| {
        send(turn, Some(b"x"), b"~")?;
        send(turn, None, b"0")
    });
    assert_eq!(both, Ok(Accepted::Numbered(SeqNum(3))));
    let expected = [
        (SeqNum(2), Check::EnumValue, RefTag::Number(281)),
        (SeqNum(3), Check::RequiredField, RefTag::Number(262)),
    ];
    assert_eq!(side.app.0, expected);
}

#[test]
fn a_warning_of_a_message_that_is_rejected_is_not_reported() {
    let warned = Policy::standard().with(Check::EnumValue, Action::Warn);
    let mut side = side(Some(warned));
    let sent = side.act(0, |turn| {
        assert!(send(turn, None, b"~").is_err());
        send(turn, Some(b"x"), b"0")
    });
    assert_eq!((sent, side.app.0), (Ok(Accepted::Numbered(SeqNum(2))), vec![]));
}

#[test]
fn the_session_layers_own_messages_are_not_validated() {
    // An ExecutionReport with only an id is invalid and is not sent; the session layer's own answer
    // is.
    let mut side = of_desk(Some(Policy::standard()));
    side.app.mood = Mood::Careless;
    assert_eq!(side.say(0, "35=D|34=2|11=a|"), Vec::<String>::new());
    let answer = side.say(0, "35=1|34=3|112=hello|");
    assert!(answer[0].contains("35=0|") && answer[0].contains("|34=2|"), "{answer:?}");
}
