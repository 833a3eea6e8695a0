//! What a counterparty receives in reply to a Logon that the application refuses, to a message that
//! the application does not handle, and to one whose answer does not fit.

mod support;

use std::io::Write;
use std::time::Duration;

use fixbolt::codec::{BodySink, Key, MsgType, NewBody, Tag};
use fixbolt::session::{Application, Delivery, Event, Failure, LogonDecision, Turn};
use fixbolt::{Engine, Initiation};
use support::*;

fn with_password(text: &'static str) -> (Engine<Scripted>, Log) {
    let (mut app, log) = Scripted::venue();
    app.logon = Box::new(move |logon| match logon.get(Tag::new(554)) {
        Some(b"right") => LogonDecision::Accept,
        _ if text.is_empty() => LogonDecision::RefuseSilently,
        _ => LogonDecision::refuse(text),
    });
    (Engine::builder().accept(anywhere(), acceptor()).start(app).unwrap(), log)
}

#[test]
fn a_logon_refused_with_a_text_gets_a_logout_and_uses_no_inbound_sequence_number() {
    let (venue, log) = with_password("wrong password");
    for attempt in 1..=5 {
        let mut peer = Peer::connect(venue.addresses()[0]);
        peer.send("A", "98=0|108=30|554=wrong");
        let logout = peer.receive();
        assert!(logout.contains("|35=5|") && logout.contains("|58=wrong password|"), "{logout}");
        assert!(
            logout.contains(&format!("|34={attempt}|")),
            "a counterparty that saw it counts it: {logout}"
        );
        assert_eq!(peer.try_receive(), None);
        assert_eq!(log.ended(), "LogonRefused");
    }
    let mut peer = Peer::connect(venue.addresses()[0]);
    peer.send("A", "98=0|108=30|554=right");
    let answer = peer.receive();
    assert!(answer.contains("|35=A|") && answer.contains("|34=6|"), "{answer}");
    peer.send("D", "11=1");
    assert!(peer.receive().contains("|11=1|"), "the Logon had number 1 and the order has 2");
    venue.stop().unwrap();
}

#[test]
fn a_logon_refused_without_a_text_gets_no_answer_and_uses_no_sequence_number() {
    let (venue, log) = with_password("");
    for _ in 0..50 {
        let mut peer = Peer::connect(venue.addresses()[0]);
        peer.send("A", "98=0|108=30|141=Y|554=wrong");
        peer.closed_silently();
        assert_eq!(log.ended(), "LogonRefused");
    }
    let mut peer = Peer::connect(venue.addresses()[0]);
    peer.send("A", "98=0|108=30|554=right");
    let answer = peer.receive();
    assert!(answer.contains("|35=A|") && answer.contains("|34=1|"), "{answer}");
    peer.send("D", "11=1");
    assert!(peer.receive().contains("|11=1|"));
    venue.stop().unwrap();
}

#[test]
fn an_engine_that_connects_again_after_a_refusal_logs_on_with_matching_sequence_numbers() {
    let (mut app, venue_log) = Scripted::venue();
    let mut refusals = 3;
    app.logon = Box::new(move |_| {
        if refusals == 0 {
            return LogonDecision::Accept;
        }
        refusals -= 1;
        LogonDecision::refuse("not yet")
    });
    let venue = Engine::builder().accept(anywhere(), acceptor()).start(app).unwrap();
    let (app, log) = Recorder::trader();
    let mut session = Initiation::new(initiator(), "127.0.0.1", venue.addresses()[0].port());
    session.reconnect_interval = Duration::from_millis(20);
    let trader = Engine::builder().connect(session).start(app).unwrap();
    for _ in 0..3 {
        assert_eq!(venue_log.ended(), "LogonRefused");
    }
    log.logged_on();
    let mut sender = trader.session(&initiator().id).unwrap().sender();
    let mut draft = sender.draft(MsgType::new(b"D"));
    draft.writer().bytes(Key::new(11), b"1");
    draft.send().unwrap();
    assert_eq!(venue_log.message(), "1");
    assert_eq!(log.message(), "1");
    trader.stop().unwrap();
    venue.stop().unwrap();
}

/// README's pattern for messages that an application does not handle.
struct Unsupporting(Recorder);

impl Application for Unsupporting {
    fn on_message(
        &mut self,
        message: fixbolt::codec::Message<'_>,
        turn: &mut Turn<'_>,
    ) -> Result<Delivery, Failure> {
        self.0.on_message(message, turn)?;
        Ok(Delivery::UNSUPPORTED)
    }

    fn on_event(&mut self, event: &Event<'_>, turn: &mut Turn<'_>) -> Result<(), Failure> {
        self.0.on_event(event, turn)
    }
}

#[test]
fn two_sides_that_support_nothing_exchange_one_business_message_reject_an_order() {
    let (app, venue_log) = Recorder::trader();
    let venue = Engine::builder().accept(anywhere(), acceptor()).start(Unsupporting(app)).unwrap();
    let (app, log) = Recorder::trader();
    let session = Initiation::new(initiator(), "127.0.0.1", venue.addresses()[0].port());
    let trader = Engine::builder().connect(session).start(Unsupporting(app)).unwrap();
    venue_log.logged_on();
    log.logged_on();
    let mut sender = trader.session(&initiator().id).unwrap().sender();
    let mut venue_sender = venue.session(&acceptor().id).unwrap().sender();
    for n in 1..=20 {
        let mut draft = sender.draft(MsgType::new(b"D"));
        draft.writer().bytes(Key::new(11), b"order");
        draft.send().unwrap();
        // If a reject had been answered, the sequence numbers would be higher.
        assert_eq!(log.next(), Seen::Sent(n, 2 * n));
        assert_eq!(venue_log.next(), Seen::Message("order".to_owned()));
        assert!(matches!(venue_log.next(), Seen::Other(text) if text.starts_with("Rejected")));
        assert_eq!(log.next(), Seen::Message("?".to_owned()));
        let Seen::Other(told) = log.next() else { panic!("the reject was not reported") };
        assert!(told.contains("refused message ") && told.contains("Unsupported Message Type"), "{told}");
        // The same in the other direction.
        let mut draft = venue_sender.draft(MsgType::new(b"8"));
        draft.writer().bytes(Key::new(11), b"report");
        draft.send().unwrap();
        assert_eq!(venue_log.next(), Seen::Sent(n, 2 * n + 1));
        assert_eq!(log.next(), Seen::Message("report".to_owned()));
        assert!(matches!(log.next(), Seen::Other(text) if text.starts_with("Rejected")));
        assert_eq!(venue_log.next(), Seen::Message("?".to_owned()));
        assert!(matches!(venue_log.next(), Seen::Other(text) if text.contains("is not answered")));
    }
    trader.stop().unwrap();
    venue.stop().unwrap();
}

/// A venue that sends each Text (58) back, unchanged or longer.
fn echo(more: usize) -> (Engine<Scripted>, Log) {
    let (app, log) = Scripted::on_message(move |message, turn| {
        let mut text = message.get(Tag::new(58)).unwrap_or(b"").to_vec();
        text.resize(text.len() + more, b'y');
        let mut report = turn.session().draft(MsgType::new(b"8"));
        report.writer().bytes(Key::new(11), message.get(Tag::new(11)).unwrap_or(b"?"));
        report.writer().bytes(Key::new(58), &text);
        Some(report.send().map(|_| Delivery::Done).map_err(Failure::from))
    });
    (Engine::builder().accept(anywhere(), acceptor()).start(app).unwrap(), log)
}

#[test]
fn no_order_that_is_accepted_stops_its_session_by_being_echoed() {
    for more in [0, 100, 1000, 70_000] {
        let (venue, log) = echo(more);
        let mut peer = Peer::connect(venue.addresses()[0]);
        peer.log_on();
        log.logged_on();
        let mut answers = Vec::new();
        for bytes in [60_000, 65_000, 65_400, 65_475, 65_500, 65_520, 65_530, 65_535, 65_536] {
            let order = peer.order_of(bytes);
            peer.stream.write_all(&order).unwrap();
            let answer = peer.receive();
            let kind = if answer.contains("|35=8|") { "echo" } else { "reject" };
            assert!(kind == "echo" || answer.contains("|35=j|"), "{bytes}: {}", &answer[..200]);
            answers.push((bytes, kind));
            peer.send("0", "");
            peer.send("1", "112=alive");
            assert!(peer.receive().contains("|112=alive|"), "after {bytes}");
        }
        assert_eq!(answers[0], (60_000, if more == 70_000 { "reject" } else { "echo" }), "{more}");
        assert!(more == 0 || answers[8].1 == "reject", "{more}: an answer that does not fit");
        drop(peer);
        venue.stop().unwrap();
    }
}
