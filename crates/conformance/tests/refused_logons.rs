//! An initiator whose Logon is refused with a Logout, then refused silently, then accepted, against
//! our own acceptor in virtual time.

use core::time::Duration;
use std::collections::VecDeque;

use fixbolt_codec::{BodySink, Key, Message, MsgType, NewBody, SeqNum, Version};
use fixbolt_conformance::Echo;
use fixbolt_journal::MemoryStore;
use fixbolt_session::store::SessionKey;
use fixbolt_session::{
    Application, Delivery, Event, Failure, LogonDecision, Mono, Now, Phase, Role, SessionDictionary,
    SessionEnd, SessionId, SessionSettings, Sessions, Turn, Utc,
};

/// The venue's application: echoes messages, and refuses a given number of Logons.
struct Doorman {
    echo: Echo,
    refusals: VecDeque<&'static str>,
    ends: Vec<SessionEnd>,
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
        self.echo.on_event(event, turn)?;
        if let Event::Ended(end) = event {
            self.ends.push((*end).clone());
        }
        Ok(())
    }
}

/// The trader's application: counts what it receives.
#[derive(Default)]
struct Trader {
    echoed: usize,
    ends: Vec<SessionEnd>,
}

impl Application for Trader {
    fn on_message(&mut self, _: Message<'_>, _: &mut Turn<'_>) -> Result<Delivery, Failure> {
        self.echoed += 1;
        Ok(Delivery::Done)
    }

    fn on_event(&mut self, event: &Event<'_>, _: &mut Turn<'_>) -> Result<(), Failure> {
        if let Event::Ended(end) = event {
            self.ends.push((*end).clone());
        }
        Ok(())
    }
}

struct Side<A> {
    sessions: Sessions,
    key: SessionKey,
    app: A,
    inbox: Vec<u8>,
}

impl<A: Application> Side<A> {
    fn new(now: Now, id: SessionId, role: Role, mut app: A) -> Self {
        let mut sessions = Sessions::new(Box::new(MemoryStore::new()), 64 * 1024);
        let settings = SessionSettings::new(id, role).with(|s| s.dictionary = SessionDictionary::None);
        let key = sessions.open(now, settings, &mut app).unwrap();
        Self { sessions, key, app, inbox: Vec::new() }
    }

    /// Passes received bytes to the session and takes the bytes that it sends.
    fn go_on(&mut self, now: Now) -> Vec<u8> {
        let used = self.sessions.receive(now, self.key, &self.inbox, &mut self.app);
        self.inbox.drain(..used);
        let out = self.sessions.writable(self.key).to_vec();
        self.sessions.written(now, self.key, out.len());
        out
    }

    /// Returns NextNumIn and NextNumOut.
    fn numbers(&self) -> (u64, u64) {
        let (next_in, next_out) = self.sessions.numbers(self.key).unwrap();
        (next_in.0, next_out.0)
    }
}

struct Pair {
    now: Now,
    trader: Side<Trader>,
    venue: Side<Doorman>,
}

impl Pair {
    fn new(refusals: &[&'static str]) -> Self {
        let now = Now { mono: Mono(1_000_000_000), utc: Utc(1_795_000_000_000_000_000) };
        let id = |ours, theirs| SessionId::new(Version::Fix44, ours, theirs).unwrap();
        let refusals = refusals.iter().copied().collect();
        let doorman = Doorman { echo: Echo::new(), refusals, ends: Vec::new() };
        Self {
            now,
            trader: Side::new(now, id("TRADER", "VENUE"), Role::Initiator, Trader::default()),
            venue: Side::new(now, id("VENUE", "TRADER"), Role::Acceptor, doorman),
        }
    }

    /// Moves bytes until both sides are quiet, and closes connections that a session wants closed.
    /// Returns who (t, v) sent which MsgType.
    fn settle(&mut self) -> String {
        let mut said = String::new();
        loop {
            let from_trader = self.trader.go_on(self.now);
            let from_venue = self.venue.go_on(self.now);
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
        if self.venue.sessions.wants_close(self.venue.key)
            || self.trader.sessions.wants_close(self.trader.key)
        {
            self.disconnect();
        }
        said
    }

    fn connect(&mut self) -> String {
        self.venue.sessions.connected(self.now, self.venue.key, &mut self.venue.app);
        self.trader.sessions.connected(self.now, self.trader.key, &mut self.trader.app);
        self.settle()
    }

    fn disconnect(&mut self) {
        self.trader.inbox.clear();
        self.venue.inbox.clear();
        self.trader.sessions.disconnected(self.now, self.trader.key, &mut self.trader.app);
        self.venue.sessions.disconnected(self.now, self.venue.key, &mut self.venue.app);
        let mono = self.now.mono + Duration::from_secs(5);
        self.now = Now { mono, utc: self.now.utc + Duration::from_secs(5) };
    }

    fn order(&mut self) -> SeqNum {
        let Side { sessions, key, app, .. } = &mut self.trader;
        let sent = sessions.act(self.now, *key, app, |turn| {
            let mut draft = turn.reply().draft(MsgType::new(b"D"));
            draft.writer().bytes(Key::new(11), b"an order");
            draft.send()
        });
        sent.unwrap()
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
    assert_eq!((&pair.venue.app.ends[..], pair.trader.app.ends.len()), (&refused[..], 2));
    let refused = SessionEnd::LogonRefusedByPeer { text: "password expired".to_owned() };
    assert_eq!(pair.trader.app.ends[0], refused);
    // Accepted: the acceptor requests the two Logons that it did not count, and the initiator fills
    // the gap.
    assert_eq!(pair.connect(), "tAvAv2t4");
    for (sessions, key) in [(&pair.trader.sessions, pair.trader.key), (&pair.venue.sessions, pair.venue.key)]
    {
        assert_eq!(sessions.phase(key), Phase::LoggedOn);
    }
    assert_eq!((pair.trader.numbers(), pair.venue.numbers()), ((4, 4), (4, 4)));
    assert_eq!(pair.order(), SeqNum(4));
    assert_eq!(pair.settle(), "tDvD");
    assert_eq!(pair.trader.app.echoed, 1);
    assert_eq!((pair.trader.numbers(), pair.venue.numbers()), ((5, 5), (5, 5)));
}

#[test]
fn refusals_in_any_order_leave_both_sides_with_sequence_numbers_that_agree() {
    for refusals in 0..16_usize {
        let texts: Vec<_> = (0..4).map(|n| ["", "not today"][refusals >> n & 1]).collect();
        let mut pair = Pair::new(&texts);
        for _ in &texts {
            pair.connect();
            assert_eq!(pair.venue.sessions.phase(pair.venue.key), Phase::Disconnected);
        }
        pair.connect();
        pair.order();
        pair.settle();
        assert_eq!(pair.trader.app.echoed, 1, "{texts:?}");
        let (trader, venue) = (pair.trader.numbers(), pair.venue.numbers());
        assert_eq!(trader, (venue.1, venue.0), "{texts:?}");
    }
}
