//! The harness for users' own tests: sessions in virtual time, without sockets.

use std::time::Duration;

use fixbolt::codec::{BodySink, Decimal, Key, Message, MsgType, NewBody, SeqNum};
use fixbolt::messages::fix44::prelude::*;
use fixbolt::messages::fix44::{NewOrderSingle, TestRequest};
use fixbolt::session::{
    Application, Delivery, Direction, Event, Failure, Phase, Resume, Role, SessionDictionary,
    SessionSettings, Turn,
};
use fixbolt::store::DirectoryStore;
use fixbolt::testing::{Pair, TestSession};

/// Adds up the quantities of the orders that it receives, including those from before a restart.
#[derive(Default)]
struct Book {
    quantity: i64,
    events: Vec<String>,
    busy: bool,
}

impl Application for Book {
    fn on_message(&mut self, message: Message<'_>, turn: &mut Turn<'_>) -> Result<Delivery, Failure> {
        if std::mem::take(&mut self.busy) {
            return Ok(Delivery::NotNow);
        }
        let order = NewOrderSingle::read(message)?;
        let quantity = order.need(|order| order.order_qty())?;
        let mut report = turn.session().draft(MsgType::new(b"8"));
        report.writer().bytes(Key::new(11), order.cl_ord_id()?).field(Key::new(38), &quantity);
        report.send()?;
        self.quantity += quantity.mantissa();
        Ok(Delivery::Done)
    }

    fn on_resume(&mut self, resume: &mut Resume<'_>) -> Result<(), Failure> {
        resume.messages(|stored| {
            if stored.direction == Direction::Inbound
                && let Ok(order) = NewOrderSingle::read(stored.message)
            {
                self.quantity += order.need(|order| order.order_qty())?.mantissa();
            }
            Ok(())
        })
    }

    fn on_event(&mut self, event: &Event<'_>, _: &mut Turn<'_>) -> Result<(), Failure> {
        self.events.push(event.to_string());
        Ok(())
    }
}

fn settings(role: Role) -> SessionSettings {
    let id = if role == Role::Acceptor { "FIX.4.4:VENUE->TRADER" } else { "FIX.4.4:TRADER->VENUE" };
    SessionSettings::new(id.parse().unwrap(), role).with(|s| s.dictionary = SessionDictionary::None)
}

#[test]
fn a_handwritten_message_is_answered_and_the_answer_is_read_by_field_name() {
    let mut venue = TestSession::new(settings(Role::Acceptor), Book::default()).unwrap();
    assert_eq!(venue.log_on()[0].msg_type(), "A");
    let reports = venue.receive("35=D|11=one|38=57|");
    assert_eq!((reports[0].get(11), reports[0].value::<Decimal>(38)), (Some("one"), Some(57.into())));
    assert_eq!(venue.numbers(), (SeqNum(3), SeqNum(3)));
    let rejects = venue.receive("35=D|11=two|38=many|");
    assert_eq!((rejects[0].msg_type(), rejects[0].get(371)), ("3", Some("38")));
    assert_eq!(venue.app().quantity, 57);
}

#[test]
fn the_clock_moves_only_when_told_to_and_timers_fire_on_the_way() {
    let mut venue = TestSession::new(settings(Role::Acceptor), Book::default()).unwrap();
    venue.log_on();
    assert!(venue.advance(Duration::from_secs(29)).is_empty());
    assert_eq!(venue.advance(Duration::from_secs(1))[0].msg_type(), "0");
    let asked = venue.advance(Duration::from_secs(6));
    let id = asked[0].read(|message| TestRequest::read(message).unwrap().test_req_id().unwrap().to_vec());
    assert_eq!((asked[0].msg_type(), id.as_slice()), ("1", &b"1"[..]));
    venue.advance(Duration::from_secs(60));
    assert!(venue.wants_close());
    venue.disconnect();
    assert_eq!(venue.phase(), Phase::Disconnected);
    let last = venue.app().events.pop().unwrap();
    assert!(last.contains("fell silent"), "{last}");
}

#[test]
fn a_message_that_was_put_off_is_offered_again_as_time_passes() {
    let mut venue =
        TestSession::new(settings(Role::Acceptor), Book { busy: true, ..Book::default() }).unwrap();
    venue.log_on();
    assert!(venue.receive("35=D|11=one|38=5|").is_empty());
    assert_eq!(venue.advance(Duration::from_secs(1)).len(), 1);
}

#[test]
fn a_restart_continues_with_the_numbers_and_the_journal() {
    let directory = std::env::temp_dir().join(format!("fixbolt-testing-{}", std::process::id()));
    let store = Box::new(DirectoryStore::new(directory.clone()));
    // A message with masked secrets in the store is still a valid message.
    let settings = settings(Role::Acceptor).with(|s| s.logon.password = "secret".into());
    let mut venue = TestSession::on_store(settings, store, Book::default()).unwrap();
    venue.log_on();
    venue.receive("35=D|11=one|38=40|");
    venue.receive("35=D|11=two|38=2|");
    let before = venue.restart(Book::default()).unwrap();
    assert_eq!((before.quantity, venue.app().quantity), (42, 42));
    assert_eq!(venue.numbers(), (SeqNum(4), SeqNum(4)));
    assert_eq!(venue.log_on()[0].get(34), Some("4"));
    drop(venue);
    std::fs::remove_dir_all(directory).unwrap();
}

#[test]
fn an_initiator_that_resets_is_logged_on_by_its_counterparty() {
    let settings = settings(Role::Initiator).with(|s| s.reset.reset_on_logon = true);
    let mut trader = TestSession::new(settings, Book::default()).unwrap();
    for _ in 0..2 {
        trader.log_on();
        assert_eq!(trader.phase(), Phase::LoggedOn);
        assert_eq!(trader.numbers(), (SeqNum(2), SeqNum(2)));
        trader.disconnect();
    }
}

#[test]
fn two_sides_talk_until_neither_has_more_to_say() {
    let mut pair =
        Pair::new((settings(Role::Initiator), Book::default()), (settings(Role::Acceptor), Book::default()))
            .unwrap();
    pair.connect();
    assert_eq!((pair.initiator.phase(), pair.acceptor.phase()), (Phase::LoggedOn, Phase::LoggedOn));
    pair.advance(Duration::from_secs(3600));
    assert_eq!((pair.initiator.phase(), pair.acceptor.phase()), (Phase::LoggedOn, Phase::LoggedOn));
    let (next_in, _) = pair.acceptor.numbers();
    assert!(next_in >= SeqNum(120), "an hour of heartbeats every 30 s: {next_in}");
    pair.disconnect();
    assert_eq!(pair.acceptor.phase(), Phase::Disconnected);
}

#[test]
fn a_session_that_resets_its_sequence_numbers_can_log_on_again_and_again() {
    for role in [Role::Acceptor, Role::Initiator] {
        for when in ["logon", "logout", "disconnect"] {
            let settings = settings(role).with(|s| {
                s.reset.reset_on_logon = when == "logon";
                s.reset.reset_on_logout = when == "logout";
                s.reset.reset_on_disconnect = when == "disconnect";
            });
            let mut side = TestSession::new(settings, Book::default()).unwrap();
            for _ in 0..3 {
                let sent = side.log_on();
                let kinds: Vec<_> = sent.iter().map(|m| m.msg_type().to_owned()).collect();
                assert_eq!(kinds, ["A"], "{role:?}, {when}: {sent:?}");
                assert_eq!(side.receive("35=D|11=a|38=1|")[0].get(34), Some("2"));
                assert_eq!(side.receive("35=5|")[0].msg_type(), "5");
                side.disconnect();
            }
        }
    }
}

#[test]
fn a_handwritten_reset_restarts_the_counterpartys_sequence_numbers() {
    let mut side = TestSession::new(settings(Role::Acceptor), Book::default()).unwrap();
    side.log_on();
    side.receive("35=D|11=a|38=1|");
    let answer = side.receive("35=A|98=0|108=30|141=Y|");
    assert_eq!((answer[0].msg_type(), answer[0].get(34)), ("A", Some("1")));
    assert_eq!(side.receive("35=D|11=b|38=1|")[0].get(34), Some("2"));
    assert_eq!(side.numbers(), (SeqNum(3), SeqNum(3)));
}
