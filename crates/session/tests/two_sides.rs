//! An initiator and an acceptor connected to each other, in virtual time.

use std::time::Duration;

use fixbolt_codec::{
    BodySink, Frame, Framer, Index, Key, Message, MsgType, NewBody, Precision, SecondCache, SeqNum, Span,
    Tag, Version,
};
use fixbolt_conformance::wire::message;
use fixbolt_journal::MemoryStore;
use fixbolt_session::{
    Application, Delivery, Direction, Event, Failure, Halt, Handle, Mono, Now, Phase, Role, SendError,
    SessionDictionary, SessionEnd, SessionId, SessionKey, SessionReject, SessionRejectReason,
    SessionSettings, Sessions, Turn, Utc,
};

/// The application of a side: what it does with an order, and what it has seen.
#[derive(Default)]
struct Probe {
    orders: Vec<String>,
    redelivered: Vec<String>,
    events: Vec<String>,
    ends: Vec<SessionEnd>,
    fail_on: Option<&'static [u8]>,
    panic_on: Option<&'static [u8]>,
    not_now: u32,
    drop_copy: Option<SessionKey>,
    /// The number of short reports that answer each order, limited by the available room.
    flood: usize,
    /// Whether a report that does not fit is a failure of the application.
    minds: bool,
    panic_at_resume: bool,
}

impl Application for Probe {
    fn on_message(&mut self, message: Message<'_>, turn: &mut Turn<'_>) -> Result<Delivery, Failure> {
        let id = message.get(Tag::new(11)).unwrap_or(b"?");
        if id == b"refuse" {
            return Ok(Delivery::Reject(
                SessionReject::new(SessionRejectReason::ValueIsIncorrect).tag(Tag::new(11)).text("no"),
            ));
        }
        if self.not_now > 0 {
            self.not_now -= 1;
            report(turn.reply(), id)?;
            return Ok(Delivery::NotNow);
        }
        if turn.redelivered() {
            self.redelivered.push(String::from_utf8_lossy(id).into_owned());
        }
        for _ in 0..self.flood {
            let mut draft = turn.reply().draft(MsgType::new(b"8"));
            draft.writer().bytes(Key::new(58), b"x");
            match draft.send() {
                Err(error) if self.minds => return Err(error.into()),
                Err(_) => break,
                Ok(_) => {}
            }
        }
        if message.msg_type() == b"D" && self.flood == 0 {
            report(turn.reply(), id)?;
            if let Some(other) = self.drop_copy.and_then(|key| turn.to(key)) {
                report(other, id)?;
            }
        }
        assert_ne!(self.panic_on, Some(id), "application bug");
        if self.fail_on == Some(id) {
            return Err(Failure::new("cannot"));
        }
        self.orders.push(String::from_utf8_lossy(id).into_owned());
        Ok(Delivery::Done)
    }

    fn on_resume(&mut self, _: &mut fixbolt_session::Resume<'_>) -> Result<(), Failure> {
        assert!(!self.panic_at_resume, "application bug");
        Ok(())
    }

    fn on_event(&mut self, event: &Event<'_>, _: &mut Turn<'_>) -> Result<(), Failure> {
        if let Event::Ended(end) = event {
            self.ends.push((*end).clone());
        }
        self.events.push(format!("{event:?}"));
        Ok(())
    }
}

fn report(to: Handle<'_>, id: &[u8]) -> Result<SeqNum, SendError> {
    let mut draft = to.draft(MsgType::new(b"8"));
    draft.writer().bytes(Key::new(11), id).bytes(Key::new(39), b"2");
    draft.send()
}

struct Side {
    sessions: Sessions,
    key: SessionKey,
    app: Probe,
    inbox: Vec<u8>,
    sent: Vec<String>,
}

struct Pair {
    now: Now,
    initiator: Side,
    acceptor: Side,
}

fn settings(role: Role) -> SessionSettings {
    let id = match role {
        Role::Initiator => SessionId::new(Version::Fix44, "TRADER", "VENUE"),
        Role::Acceptor => SessionId::new(Version::Fix44, "VENUE", "TRADER"),
    };
    SessionSettings::new(id.unwrap(), role).with(|s| s.dictionary = SessionDictionary::None)
}

fn side(now: Now, role: Role) -> Side {
    let mut sessions = Sessions::new(Box::new(MemoryStore::new()), 64 * 1024);
    let mut app = Probe::default();
    let key = sessions.open(now, settings(role), &mut app).unwrap();
    Side { sessions, key, app, inbox: Vec::new(), sent: Vec::new() }
}

impl Pair {
    fn new() -> Self {
        let now = Now { mono: Mono(1_000_000_000), utc: Utc(1_795_000_000_000_000_000) };
        Self { now, initiator: side(now, Role::Initiator), acceptor: side(now, Role::Acceptor) }
    }

    fn connect(&mut self) {
        for side in [&mut self.acceptor, &mut self.initiator] {
            side.sessions.connected(self.now, side.key, &mut side.app);
        }
        self.settle();
    }

    /// Moves bytes until both sides are quiet.
    fn settle(&mut self) {
        for _ in 0..10_000 {
            let there = carry(&mut self.initiator, &mut self.acceptor, self.now);
            let back = carry(&mut self.acceptor, &mut self.initiator, self.now);
            if !there && !back {
                break;
            }
        }
        if [&self.initiator, &self.acceptor].iter().any(|side| side.sessions.wants_close(side.key)) {
            self.disconnect();
        }
    }

    fn disconnect(&mut self) {
        for side in [&mut self.initiator, &mut self.acceptor] {
            side.inbox.clear();
            side.sessions.disconnected(self.now, side.key, &mut side.app);
        }
    }

    fn pass(&mut self, time: Duration) {
        let end = self.now.mono + time;
        while self.now.mono < end {
            let next = [&self.initiator, &self.acceptor]
                .into_iter()
                .filter_map(|s| s.sessions.next_deadline(s.key))
                .fold(end, Mono::min)
                .max(self.now.mono);
            let step = next - self.now.mono;
            self.now = Now { mono: next, utc: self.now.utc + step };
            for side in [&mut self.initiator, &mut self.acceptor] {
                let bytes = std::mem::take(&mut side.inbox);
                let used = side.sessions.wake(self.now, side.key, &bytes, &mut side.app);
                side.inbox = bytes[used..].to_vec();
            }
            self.settle();
        }
    }

    fn order(&mut self, id: &str) -> Result<SeqNum, SendError> {
        let Side { sessions, key, app, .. } = &mut self.initiator;
        sessions.act(self.now, *key, app, |turn| {
            let mut draft = turn.reply().draft(MsgType::new(b"D"));
            draft.writer().bytes(Key::new(11), id.as_bytes());
            draft.send()
        })
    }

    fn numbers_agree(&self) {
        let (in_i, out_i) = self.initiator.sessions.numbers(self.initiator.key).unwrap();
        let (in_a, out_a) = self.acceptor.sessions.numbers(self.acceptor.key).unwrap();
        assert_eq!((in_i, out_i), (out_a, in_a));
    }
}

/// Moves what `from` may write to `to`. Returns whether anything moved.
fn carry(from: &mut Side, to: &mut Side, now: Now) -> bool {
    let bytes = from.sessions.writable(from.key).to_vec();
    from.sent.extend(messages(&bytes));
    from.sessions.written(now, from.key, bytes.len());
    if from.sessions.is_replaying(from.key) {
        from.sessions.wake(now, from.key, &[], &mut from.app);
    }
    to.inbox.extend_from_slice(&bytes);
    let used = to.sessions.receive(now, to.key, &to.inbox, &mut to.app);
    to.inbox.drain(..used);
    !bytes.is_empty() || used > 0 || to.sessions.has_more(to.key)
}

/// Returns each message in readable form; all bytes must be messages.
fn messages(bytes: &[u8]) -> Vec<String> {
    let mut list = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let Frame::Message(framed) = Framer::new(1 << 20).next(&bytes[at..]) else { panic!("no message") };
        let (mut tags, mut spans) = ([0; 256], [Span::default(); 256]);
        Index::new(&mut tags, &mut spans).build(framed).expect("the checksum is correct");
        at += framed.bytes().len();
        list.push(String::from_utf8_lossy(framed.bytes()).replace('\x01', "|"));
    }
    list
}

#[test]
fn orders_and_reports_flow_and_sequence_numbers_agree() {
    let mut pair = Pair::new();
    pair.connect();
    assert_eq!(pair.initiator.sessions.phase(pair.initiator.key), Phase::LoggedOn);
    for n in 0..100 {
        pair.order(&format!("ord{n}")).unwrap();
    }
    pair.settle();
    assert_eq!(pair.acceptor.app.orders.len(), 100);
    assert_eq!(pair.initiator.app.orders.len(), 100);
    pair.numbers_agree();
}

#[test]
fn idle_sessions_exchange_heartbeats_and_stay_logged_on() {
    let mut pair = Pair::new();
    pair.connect();
    pair.pass(Duration::from_secs(100));
    assert_eq!(pair.acceptor.sent.iter().filter(|m| m.contains("|35=0|")).count(), 3);
    assert_eq!(pair.initiator.sessions.phase(pair.initiator.key), Phase::LoggedOn);
    pair.numbers_agree();
}

#[test]
fn a_silent_counterparty_gets_a_test_request_and_then_a_logout() {
    let mut pair = Pair::new();
    pair.connect();
    pair.initiator.sent.clear();
    // The acceptor's bytes are lost from now on.
    let end = pair.now.mono + Duration::from_secs(100);
    while pair.now.mono < end && !pair.initiator.sessions.wants_close(pair.initiator.key) {
        let Side { sessions, key, app, sent, .. } = &mut pair.initiator;
        let next = sessions.next_deadline(*key).unwrap();
        pair.now = Now { mono: next, utc: pair.now.utc + (next - pair.now.mono) };
        sessions.wake(pair.now, *key, &[], app);
        sent.extend(messages(sessions.writable(*key)));
        let n = sessions.writable(*key).len();
        sessions.written(pair.now, *key, n);
    }
    let kinds: Vec<_> =
        pair.initiator.sent.iter().map(|m| m.split("|35=").nth(1).unwrap().as_bytes()[0]).collect();
    assert_eq!(kinds, *b"0105");
    assert!(pair.initiator.sent.last().unwrap().contains("58=Timed out waiting for heartbeat"));
}

#[test]
fn lost_messages_are_requested_and_resent_in_order() {
    let mut pair = Pair::new();
    pair.connect();
    pair.order("a").unwrap();
    pair.settle();
    for id in ["b", "c", "d"] {
        pair.order(id).unwrap();
    }
    // The socket accepted them, but the peer never received them.
    let lost = pair.initiator.sessions.writable(pair.initiator.key).len();
    pair.initiator.sessions.written(pair.now, pair.initiator.key, lost);
    pair.order("e").unwrap();
    pair.settle();
    assert_eq!(pair.acceptor.app.orders, ["a", "b", "c", "d", "e"]);
    let again: Vec<_> = pair.initiator.sent.iter().filter(|m| m.contains("|43=Y|")).collect();
    assert!(again.iter().all(|m| m.contains("|122=")), "{again:?}");
    pair.numbers_agree();
}

#[test]
fn new_messages_follow_a_replay_on_the_wire() {
    let mut pair = Pair::new();
    pair.connect();
    for n in 0..500 {
        pair.order(&format!("lost{n}")).unwrap();
    }
    let lost = pair.initiator.sessions.writable(pair.initiator.key).len();
    pair.initiator.sessions.written(pair.now, pair.initiator.key, lost);
    pair.order("trigger").unwrap();
    carry(&mut pair.initiator, &mut pair.acceptor, pair.now);
    carry(&mut pair.acceptor, &mut pair.initiator, pair.now);
    assert!(pair.initiator.sessions.is_replaying(pair.initiator.key));
    pair.order("live").unwrap();
    pair.settle();
    assert_eq!(pair.acceptor.app.orders.len(), 502);
    assert_eq!(pair.acceptor.app.orders.last().unwrap(), "live");
    assert!(pair.initiator.sent.iter().any(|m| m.contains("11=live") && !m.contains("43=Y")));
    pair.numbers_agree();
}

#[test]
fn logging_out_is_answered_and_sequence_numbers_continue_after_the_next_logon() {
    let mut pair = Pair::new();
    pair.connect();
    pair.order("a").unwrap();
    pair.settle();
    let Side { sessions, key, app, .. } = &mut pair.initiator;
    sessions.log_out(pair.now, *key, "done", app).unwrap();
    pair.settle();
    assert_eq!(pair.initiator.app.ends, [SessionEnd::LoggedOutByUs]);
    assert_eq!(pair.acceptor.app.ends, [SessionEnd::LoggedOutByPeer]);
    pair.connect();
    pair.order("b").unwrap();
    pair.settle();
    assert_eq!(pair.acceptor.app.orders, ["a", "b"]);
    assert_eq!(pair.initiator.sessions.numbers(pair.initiator.key).unwrap().1, SeqNum(6));
    pair.numbers_agree();
}

#[test]
fn a_failing_application_leaves_no_trace_of_its_turn() {
    let mut pair = Pair::new();
    pair.connect();
    pair.acceptor.app.panic_on = Some(b"boom");
    std::panic::set_hook(Box::new(|_| {}));
    let before = pair.acceptor.sessions.numbers(pair.acceptor.key).unwrap();
    pair.order("boom").unwrap();
    pair.settle();
    assert_eq!(pair.acceptor.sessions.numbers(pair.acceptor.key).unwrap(), before);
    assert!(!pair.acceptor.sent.iter().any(|m| m.contains("|35=8|")));
    assert_eq!(pair.acceptor.app.ends, [SessionEnd::ApplicationFailed { seq: SeqNum(2) }]);
}

#[test]
fn the_third_failure_on_a_message_halts_the_session_until_it_is_skipped() {
    let mut pair = Pair::new();
    pair.connect();
    pair.acceptor.app.fail_on = Some(b"bad");
    pair.order("bad").unwrap();
    pair.order("good").unwrap();
    for _ in 0..3 {
        pair.settle();
        if pair.acceptor.sessions.can_connect(pair.acceptor.key) {
            pair.connect();
        }
    }
    let halted = pair.acceptor.sessions.halted(pair.acceptor.key).cloned();
    assert_eq!(halted, Some(Halt::PoisonMessage { seq: SeqNum(2), attempts: 3 }));
    assert!(!pair.acceptor.sessions.can_connect(pair.acceptor.key));
    let Side { sessions, key, app, .. } = &mut pair.acceptor;
    sessions.skip(pair.now, *key, "desk: seen", app).unwrap();
    pair.connect();
    assert_eq!(pair.acceptor.app.orders, ["good"]);
    pair.numbers_agree();
}

#[test]
fn not_now_offers_the_message_again_and_keeps_nothing_of_the_turn() {
    let mut pair = Pair::new();
    pair.connect();
    pair.acceptor.app.not_now = 3;
    pair.order("a").unwrap();
    pair.settle();
    pair.pass(Duration::from_millis(50));
    assert_eq!(pair.acceptor.app.orders, ["a"]);
    assert_eq!(pair.acceptor.sent.iter().filter(|m| m.contains("|35=8|")).count(), 1);
    pair.numbers_agree();
}

#[test]
fn a_reset_logon_starts_both_sides_at_one() {
    let mut pair = Pair::new();
    pair.connect();
    pair.order("a").unwrap();
    pair.settle();
    pair.disconnect();
    let mut again = settings(Role::Initiator);
    again.reset_on_logon = true;
    let mut sessions = Sessions::new(Box::new(MemoryStore::new()), 64 * 1024);
    pair.initiator.key = sessions.open(pair.now, again, &mut pair.initiator.app).unwrap();
    pair.initiator.sessions = sessions;
    pair.connect();
    assert_eq!(pair.acceptor.sessions.numbers(pair.acceptor.key).unwrap(), (SeqNum(2), SeqNum(2)));
    pair.numbers_agree();
}

#[test]
fn a_body_that_is_not_a_message_is_refused_and_uses_no_sequence_number() {
    let mut pair = Pair::new();
    pair.connect();
    let before = pair.initiator.sessions.numbers(pair.initiator.key).unwrap();
    assert!(matches!(pair.order("a\x0144=1"), Err(SendError::Encode(_))));
    assert!(matches!(pair.order(""), Err(SendError::Encode(_))));
    let Side { sessions, key, app, .. } = &mut pair.initiator;
    let admin = sessions.act(pair.now, *key, app, |turn| turn.reply().draft(MsgType::new(b"5")).send());
    assert_eq!(admin, Err(SendError::SessionMessage));
    let dropped = sessions.act(pair.now, *key, app, |turn| {
        let _ = turn.reply().draft(MsgType::new(b"D"));
        Ok(())
    });
    assert_eq!(dropped, Ok(()));
    assert_eq!(pair.initiator.sessions.numbers(pair.initiator.key).unwrap(), before);
    assert!(pair.initiator.sessions.writable(pair.initiator.key).is_empty());
}

#[test]
fn an_application_resumes_from_its_own_journal() {
    let mut pair = Pair::new();
    pair.connect();
    pair.order("a").unwrap();
    pair.settle();
    struct Reader(Vec<(Direction, u64)>);
    impl Application for Reader {
        fn on_message(&mut self, _: Message<'_>, _: &mut Turn<'_>) -> Result<Delivery, Failure> {
            Ok(Delivery::Done)
        }
        fn on_resume(&mut self, resume: &mut fixbolt_session::Resume<'_>) -> Result<(), Failure> {
            resume.messages(|stored| {
                self.0.push((stored.direction, stored.seq.0));
                Ok(())
            })
        }
    }
    let mut reader = Reader(Vec::new());
    pair.initiator.sessions.show_store(pair.now, pair.initiator.key, &mut reader);
    use Direction::{Inbound, Outbound};
    assert_eq!(reader.0, [(Outbound, 1), (Inbound, 1), (Outbound, 2), (Inbound, 2)]);
}

/// Returns a message of the acceptor's counterparty that our engine would not send.
fn raw(number: &str, kind: &str, body: &str) -> Vec<u8> {
    let head = format!("35={kind}|49=TRADER|56=VENUE|34={number}|52=20261118-11:06:40|");
    message("FIX.4.4", &(head + body))
}

/// Passes these messages to an acceptor without an initiator, and returns its answers.
fn answers(settings: SessionSettings, stream: &[Vec<u8>]) -> (Vec<String>, (SeqNum, SeqNum)) {
    let now = Now { mono: Mono(1_000_000_000), utc: Utc(1_795_000_000_000_000_000) };
    let mut sessions = Sessions::new(Box::new(MemoryStore::new()), 64 * 1024);
    let mut app = Probe::default();
    let key = sessions.open(now, settings, &mut app).unwrap();
    sessions.connected(now, key, &mut app);
    sessions.receive(now, key, &stream.concat(), &mut app);
    (messages(sessions.writable(key)), sessions.numbers(key).unwrap())
}

#[test]
fn a_message_with_the_largest_sequence_number_counts_as_one_without() {
    let largest = u64::MAX.to_string();
    let stream = [
        raw("1", "A", "98=0|108=30|"),
        raw(&largest, "1", "112=once|"),
        raw("2", "4", &format!("36={largest}|")),
    ];
    // It used to be kept, and was expected again and again after the SequenceReset.
    let (sent, _) = answers(settings(Role::Acceptor), &stream);
    assert_eq!(sent.len(), 2, "{sent:?}");
    assert!(sent[1].contains("|35=5|") && sent[1].contains("MsgSeqNum"), "{sent:?}");
}

#[test]
fn after_a_reset_at_logout_the_rest_of_the_connection_uses_no_sequence_number() {
    let settings = settings(Role::Acceptor).with(|s| s.reset_on_logout = true);
    let stream = [raw("1", "A", "98=0|108=30|"), raw("2", "5", ""), raw("9", "1", "112=late|")];
    let (sent, numbers) = answers(settings, &stream);
    assert_eq!(sent.len(), 2, "{sent:?}");
    assert_eq!(numbers, (SeqNum::ONE, SeqNum::ONE));
}

/// Returns a handwritten message of the initiator with this sequence number.
fn by_hand(now: Now, msg_type: &str, seq: u64, fields: &str) -> Vec<u8> {
    let mut cache = SecondCache::new();
    let time = String::from_utf8(cache.render(now.utc.0, Precision::Millis).to_vec()).unwrap();
    message("FIX.4.4", &format!("35={msg_type}|49=TRADER|56=VENUE|34={seq}|52={time}|{fields}"))
}

/// Returns a pair whose acceptor has the smallest outbox.
fn pair_with_a_small_outbox() -> Pair {
    let mut pair = Pair::new();
    let Side { sessions, key, app, .. } = &mut pair.acceptor;
    *sessions = Sessions::new(Box::new(MemoryStore::new()), 8 * 1024);
    let settings = settings(Role::Acceptor).with(|s| s.outbox_size = 16 * 1024);
    *key = sessions.open(pair.now, settings, app).unwrap();
    pair
}

#[test]
fn an_answer_that_fits_into_no_outbox_is_rejected_and_halts_nothing() {
    let mut pair = pair_with_a_small_outbox();
    pair.connect();
    (pair.acceptor.app.flood, pair.acceptor.app.minds) = (1000, true);
    pair.order("a").unwrap();
    pair.settle();
    assert_eq!(pair.acceptor.app.ends, []);
    let last = pair.acceptor.sent.last().unwrap();
    assert!(last.contains("|35=j|") && last.contains("|45=2|") && last.contains("|380=0|"), "{last}");
    pair.acceptor.app.flood = 0;
    pair.order("b").unwrap();
    pair.settle();
    assert_eq!(pair.acceptor.app.orders, ["b"]);
    pair.numbers_agree();
}

#[test]
fn a_processed_message_is_not_delivered_again_if_the_next_step_has_to_wait() {
    let mut pair = pair_with_a_small_outbox();
    pair.connect();
    let now = pair.now;
    let Side { sessions, key, app, .. } = &mut pair.acceptor;
    let receive = |sessions: &mut Sessions, app: &mut Probe, bytes: &[u8]| {
        assert_eq!(sessions.receive(now, *key, bytes, app), bytes.len());
    };
    // 2 and 3 are missing before a gap fill; 5 is missing, too.
    receive(sessions, app, &by_hand(now, "4", 4, "123=Y|36=5|"));
    receive(sessions, app, &by_hand(now, "D", 6, "11=six|"));
    receive(sessions, app, &by_hand(now, "D", 2, "11=two|"));
    // The answers to 3 leave no room to request 4 and 5.
    app.flood = 1000;
    receive(sessions, app, &by_hand(now, "D", 3, "11=three|"));
    assert!(sessions.is_blocked(*key));
    app.flood = 0;
    let waiting = sessions.writable(*key).len();
    sessions.written(pair.now, *key, waiting);
    receive(sessions, app, &by_hand(now, "4", 4, "123=Y|36=5|"));
    receive(sessions, app, &by_hand(now, "D", 5, "11=five|"));
    assert_eq!(app.orders, ["two", "three", "five", "six"]);
    assert_eq!(sessions.phase(*key), Phase::LoggedOn);
}

#[test]
fn a_session_whose_settings_are_refused_uses_no_place() {
    let mut pair = Pair::new();
    let Side { sessions, app, .. } = &mut pair.acceptor;
    let other = SessionId::new(Version::Fix44, "VENUE", "OTHER").unwrap();
    let settings = settings(Role::Acceptor).with(|s| s.id = other.clone());
    let wrong = settings.clone().with(|s| s.outbox_size = 0);
    assert!(sessions.open(pair.now, wrong, app).is_err());
    let unresolved = settings.clone().with(|s| s.dictionary = SessionDictionary::Shipped);
    let error = sessions.open(pair.now, unresolved, app).unwrap_err().to_string();
    assert!(error.starts_with("SessionDictionary::Shipped is filled in by an engine"), "{error}");
    let key = sessions.open(pair.now, settings, app).unwrap();
    assert_eq!(sessions.settings(key).unwrap().id, other);
}

#[test]
fn an_application_that_panics_in_on_resume_halts_its_session() {
    let mut pair = Pair::new();
    let Side { sessions, app, .. } = &mut pair.acceptor;
    app.panic_at_resume = true;
    let other = SessionId::new(Version::Fix44, "VENUE", "OTHER").unwrap();
    let key = sessions.open(pair.now, settings(Role::Acceptor).with(|s| s.id = other), app).unwrap();
    assert_eq!(
        sessions.halted(key),
        Some(&Halt::CallbackFailed { callback: "on_resume", why: "panic".into() })
    );
}

#[test]
fn a_session_that_accepts_larger_messages_than_the_others_has_room_for_their_fields() {
    let mut pair = Pair::new();
    let Side { sessions, key, app, .. } = &mut pair.acceptor;
    *sessions = Sessions::new(Box::new(MemoryStore::new()), 8 * 1024);
    let larger = settings(Role::Acceptor).with(|s| s.max_message_size = 256 * 1024);
    *key = sessions.open(pair.now, larger, app).unwrap();
    pair.connect();
    let order = by_hand(pair.now, "D", 2, &format!("11=large|{}", "58=x|".repeat(20_000)));
    let Side { sessions, key, app, .. } = &mut pair.acceptor;
    sessions.receive(pair.now, *key, &order, app);
    assert_eq!(sessions.numbers(*key).unwrap().0, SeqNum(3));
}

#[test]
fn the_application_is_notified_which_field_of_which_message_was_rejected() {
    let mut pair = Pair::new();
    pair.connect();
    let Side { sessions, key, app, .. } = &mut pair.initiator;
    sessions
        .act(pair.now, *key, app, |turn| {
            let mut draft = turn.reply().draft(MsgType::new(b"D"));
            draft.writer().bytes(Key::new(11), b"refuse");
            draft.send()
        })
        .unwrap();
    pair.settle();
    let wanted = "Rejected { seq: SeqNum(2), reason: 5, tag: 11, text: \"no\" }".to_owned();
    assert!(pair.acceptor.app.events.contains(&wanted), "{:?}", pair.acceptor.app.events);
}

#[test]
fn an_initiator_is_notified_of_a_heart_bt_int_other_than_it_proposed() {
    let mut pair = Pair::new();
    let Side { sessions, key, app, .. } = &mut pair.initiator;
    sessions.connected(pair.now, *key, app);
    let mut clock = SecondCache::new();
    let time = str::from_utf8(clock.render(pair.now.utc.0, Precision::Seconds)).unwrap();
    let answer = message("FIX.4.4", &format!("35=A|49=VENUE|56=TRADER|34=1|52={time}|98=0|108=60|"));
    assert_eq!(sessions.receive(pair.now, *key, &answer, app), answer.len());
    assert_eq!(sessions.phase(*key), Phase::LoggedOn);
    assert!(app.events.iter().any(|e| e.contains("HeartBtInt is 60 s")), "{:?}", app.events);
}

#[test]
fn a_reset_at_the_end_of_a_connection_is_reported() {
    for (on_logout, reason) in [(true, "ResetOnLogout"), (false, "ResetOnDisconnect")] {
        let mut pair = Pair::new();
        for (side, role) in [(&mut pair.initiator, Role::Initiator), (&mut pair.acceptor, Role::Acceptor)] {
            let mut settings = settings(role);
            settings.reset_on_logout = on_logout;
            settings.reset_on_disconnect = !on_logout;
            side.sessions = Sessions::new(Box::new(MemoryStore::new()), 64 * 1024);
            side.key = side.sessions.open(pair.now, settings, &mut side.app).unwrap();
        }
        pair.connect();
        let Side { sessions, key, app, .. } = &mut pair.initiator;
        sessions.log_out(pair.now, *key, "", app).unwrap();
        pair.settle();
        let told =
            format!("SequenceChanged {{ next_in: SeqNum(1), next_out: SeqNum(1), reason: \"{reason}\" }}");
        for side in [&pair.initiator, &pair.acceptor] {
            assert!(side.app.events.contains(&told), "{reason}: {:?}", side.app.events);
            assert_eq!(side.sessions.numbers(side.key).unwrap(), (SeqNum(1), SeqNum(1)));
        }
    }
}
