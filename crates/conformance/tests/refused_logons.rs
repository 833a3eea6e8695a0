//! An initiator whose Logon is refused with a Logout, then refused silently, then accepted, against
//! our own acceptor in virtual time.

use core::time::Duration;
use std::collections::VecDeque;

use fixbolt_codec::{BodySink, Key, Message, MsgType, NewBody, SeqNum};
use fixbolt_conformance::Echo;
use fixbolt_conformance::testing::{Side, settings_of};
use fixbolt_session::{Application, Delivery, Event, Failure, LogonDecision, Phase, Role, SessionEnd, Turn};

/// The venue's application: echoes messages, and refuses a given number of Logons.
struct Doorman {
    echo: Echo,
    refusals: VecDeque<&'static str>,
}

impl Application for Doorman {
    fn on_message(&mut self, message: Message<'_>, turn: &mut Turn<'_>) -> Result<Delivery, Failure> {
        self.echo.on_message(message, turn)
    }

    fn on_logon(&mut self, logon: Message<'_>, turn: &mut Turn<'_>) -> Result<LogonDecision, Failure> {
        match self.refusals.pop_front() {
            Some("") => Ok(LogonDecision::RefuseSilently),
            Some(text) => Ok(LogonDecision::refuse(text)),
            None => self.echo.on_logon(logon, turn),
        }
    }

    fn on_event(&mut self, event: &Event<'_>, turn: &mut Turn<'_>) -> Result<(), Failure> {
        self.echo.on_event(event, turn)
    }
}

/// The trader's application: counts what it receives.
#[derive(Default)]
struct Trader {
    echoed: usize,
}

impl Application for Trader {
    fn on_message(&mut self, _: Message<'_>, _: &mut Turn<'_>) -> Result<Delivery, Failure> {
        self.echoed += 1;
        Ok(Delivery::Done)
    }
}

/// A side, and the bytes that it has received.
struct End<A> {
    side: Side<A>,
    inbox: Vec<u8>,
}

impl<A: Application> End<A> {
    fn new(id: &str, role: Role, app: A) -> Self {
        Self { side: Side::with_app(app, vec![settings_of(id, role)]), inbox: Vec::new() }
    }

    /// Passes received bytes to the session and takes the bytes that it sends.
    fn go_on(&mut self) -> Vec<u8> {
        let used = self.side.receive(0, &self.inbox);
        self.inbox.drain(..used);
        self.side.write(0, usize::MAX)
    }

    fn disconnect(&mut self) {
        self.inbox.clear();
        self.side.disconnect(0);
        self.side.pass(Duration::from_secs(5));
    }

    /// Returns NextNumIn and NextNumOut.
    fn numbers(&self) -> (u64, u64) {
        let (next_in, next_out) = self.side.numbers(0).unwrap();
        (next_in.0, next_out.0)
    }
}

struct Pair {
    trader: End<Trader>,
    venue: End<Doorman>,
}

impl Pair {
    fn new(refusals: &[&'static str]) -> Self {
        let refusals = refusals.iter().copied().collect();
        let doorman = Doorman { echo: Echo::new(), refusals };
        Self {
            trader: End::new("FIX.4.4:TRADER->VENUE", Role::Initiator, Trader::default()),
            venue: End::new("FIX.4.4:VENUE->TRADER", Role::Acceptor, doorman),
        }
    }

    /// Moves bytes until both sides are quiet, and closes connections that a session wants closed.
    /// Returns who (t, v) sent which MsgType.
    fn settle(&mut self) -> String {
        let mut said = String::new();
        loop {
            let from_trader = self.trader.go_on();
            let from_venue = self.venue.go_on();
            for (who, bytes) in [("t", &from_trader), ("v", &from_venue)] {
                for message in String::from_utf8_lossy(bytes).split("\x0135=").skip(1) {
                    said.push_str(who);
                    said.extend(message.chars().next());
                }
            }
            if from_trader.is_empty() && from_venue.is_empty() {
                break;
            }
            self.venue.inbox.extend(from_trader);
            self.trader.inbox.extend(from_venue);
        }
        if self.venue.side.next(0).close || self.trader.side.next(0).close {
            self.disconnect();
        }
        said
    }

    fn connect(&mut self) -> String {
        self.venue.side.connect(0);
        self.trader.side.connect(0);
        self.settle()
    }

    fn disconnect(&mut self) {
        self.trader.disconnect();
        self.venue.disconnect();
    }

    fn order(&mut self) -> SeqNum {
        let sent = self.trader.side.act(0, |turn| {
            let mut draft = turn.session().draft(MsgType::new(b"D"));
            draft.writer().bytes(Key::new(11), b"an order");
            draft.send()
        });
        sent.unwrap().seq().unwrap()
    }
}

#[test]
fn an_initiator_refused_twice_then_logs_on_with_its_next_sequence_number_and_loses_no_order() {
    let mut pair = Pair::new(&["password expired", ""]);
    // With a Logout: both sides count it, the acceptor does not count the Logon.
    assert_eq!(pair.connect(), "tAv5");
    assert_eq!((pair.trader.numbers(), pair.venue.numbers()), ((2, 2), (1, 2)));
    // Silently.
    assert_eq!(pair.connect(), "tA");
    assert_eq!((pair.trader.numbers(), pair.venue.numbers()), ((2, 3), (1, 2)));
    let refused = [SessionEnd::LogonRefused, SessionEnd::LogonRefused];
    assert_eq!((&pair.venue.side.ends[..], pair.trader.side.ends.len()), (&refused[..], 2));
    let refused = pair.trader.side.ends[0].to_string();
    assert_eq!(refused, "the counterparty refused the logon: password expired");
    // Accepted: the acceptor requests the two Logons that it did not count, and the initiator fills
    // the gap.
    assert_eq!(pair.connect(), "tAvAv2t4");
    for phase in [pair.trader.side.phase(0), pair.venue.side.phase(0)] {
        assert_eq!(phase, Phase::LoggedOn);
    }
    assert_eq!((pair.trader.numbers(), pair.venue.numbers()), ((4, 4), (4, 4)));
    assert_eq!(pair.order(), SeqNum(4));
    assert_eq!(pair.settle(), "tDvD");
    assert_eq!(pair.trader.side.app.echoed, 1);
    assert_eq!((pair.trader.numbers(), pair.venue.numbers()), ((5, 5), (5, 5)));
}

#[test]
fn refusals_in_any_order_leave_both_sides_with_sequence_numbers_that_agree() {
    for refusals in 0..16_usize {
        let texts: Vec<_> = (0..4).map(|n| ["", "not today"][refusals >> n & 1]).collect();
        let mut pair = Pair::new(&texts);
        for _ in &texts {
            pair.connect();
            assert_eq!(pair.venue.side.phase(0), Phase::Disconnected);
        }
        pair.connect();
        pair.order();
        pair.settle();
        assert_eq!(pair.trader.side.app.echoed, 1, "{texts:?}");
        let (trader, venue) = (pair.trader.numbers(), pair.venue.numbers());
        assert_eq!(trader, (venue.1, venue.0), "{texts:?}");
    }
}
