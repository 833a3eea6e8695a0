//! An initiator and an acceptor connected to each other, in virtual time.

use std::time::Duration;

use fixbolt_codec::{
    BodySink, Frame, Framer, Index, Key, Message, MsgType, NewBody, Precision, SecondCache, SeqNum, Span,
    Tag, Version,
};
use fixbolt_conformance::testing::{Side, message, settings_of};
use fixbolt_journal::MemoryStore;
use fixbolt_session::runtime::mono;
use fixbolt_session::{
    Accepted, Application, Delivery, Direction, Event, Failure, Halt, Handle, Mono, Now, Phase, Read, Role,
    SendError, SessionDictionary, SessionEnd, SessionId, SessionKey, SessionReject, SessionRejectCode,
    SessionSettings, Turn, Utc,
};

const NOW: Now = Now { mono: mono(1_000_000_000), utc: Utc(1_795_000_000_000_000_000) };

/// The application of a side: what it does with an order, and what it has seen.
#[derive(Default)]
struct Probe {
    orders: Vec<String>,
    redelivered: Vec<String>,
    events: Vec<String>,
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
                SessionReject::new(SessionRejectCode::VALUE_IS_INCORRECT).tag(11).text("no"),
            ));
        }
        if self.not_now > 0 {
            self.not_now -= 1;
            report(turn.session(), id)?;
            return Ok(Delivery::NotNow);
        }
        if turn.redelivered() {
            self.redelivered.push(String::from_utf8_lossy(id).into_owned());
        }
        for _ in 0..self.flood {
            let mut draft = turn.session().draft(MsgType::new(b"8"));
            draft.writer().bytes(Key::new(58), b"x");
            match draft.send() {
                Err(error) if self.minds => return Err(error.into()),
                Err(_) => break,
                Ok(_) => {}
            }
        }
        if message.msg_type() == b"D" && self.flood == 0 {
            report(turn.session(), id)?;
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
        self.events.push(format!("{event:?}"));
        Ok(())
    }
}

fn report(to: Handle<'_>, id: &[u8]) -> Result<Accepted, SendError> {
    let mut draft = to.draft(MsgType::new(b"8"));
    draft.writer().bytes(Key::new(11), id).bytes(Key::new(39), b"2");
    draft.send()
}

/// A side, and what it has received and sent.
struct End {
    side: Side<Probe>,
    inbox: Vec<u8>,
    sent: Vec<String>,
}

struct Pair {
    initiator: End,
    acceptor: End,
}

fn settings(role: Role) -> SessionSettings {
    match role {
        Role::Initiator => settings_of("FIX.4.4:TRADER->VENUE", role),
        Role::Acceptor => settings_of("FIX.4.4:VENUE->TRADER", role),
    }
}

impl End {
    fn new(settings: SessionSettings) -> Self {
        let mut end = Self::without_session();
        end.side.open(settings).unwrap();
        end
    }

    /// A side without a session. Until it has one, it has room for the smallest messages only.
    fn without_session() -> Self {
        let side = Side::begin(NOW, Probe::default(), Box::new(MemoryStore::new()), vec![]);
        Self { side, inbox: Vec::new(), sent: Vec::new() }
    }
}

impl Pair {
    fn new() -> Self {
        Self::of(settings(Role::Initiator), settings(Role::Acceptor))
    }

    fn of(initiator: SessionSettings, acceptor: SessionSettings) -> Self {
        Self { initiator: End::new(initiator), acceptor: End::new(acceptor) }
    }

    fn connect(&mut self) {
        for end in [&mut self.acceptor, &mut self.initiator] {
            end.side.connect(0);
        }
        self.settle();
    }

    /// Moves bytes until both sides are quiet.
    fn settle(&mut self) {
        for _ in 0..10_000 {
            let there = carry(&mut self.initiator, &mut self.acceptor);
            let back = carry(&mut self.acceptor, &mut self.initiator);
            if !there && !back {
                break;
            }
        }
        if [&self.initiator, &self.acceptor].iter().any(|end| end.side.next(0).close) {
            self.disconnect();
        }
    }

    fn disconnect(&mut self) {
        for end in [&mut self.initiator, &mut self.acceptor] {
            end.inbox.clear();
            end.side.disconnect(0);
        }
    }

    fn pass(&mut self, time: Duration) {
        let end = self.now().mono + time;
        while self.now().mono < end {
            let now = self.now().mono;
            let next = [&self.initiator, &self.acceptor]
                .into_iter()
                .filter_map(|end| end.side.next(0).deadline)
                .fold(end, Mono::min)
                .max(now);
            for end in [&mut self.initiator, &mut self.acceptor] {
                end.side.pass(next - now);
                let bytes = std::mem::take(&mut end.inbox);
                let used = end.side.wake(0, &bytes);
                end.inbox = bytes[used..].to_vec();
            }
            self.settle();
        }
    }

    fn now(&self) -> Now {
        self.initiator.side.now
    }

    fn order(&mut self, id: &str) -> Result<Accepted, SendError> {
        self.initiator.side.act(0, |turn| {
            let mut draft = turn.session().draft(MsgType::new(b"D"));
            draft.writer().bytes(Key::new(11), id.as_bytes());
            draft.send()
        })
    }

    fn numbers_agree(&self) {
        let (in_i, out_i) = self.initiator.side.numbers(0).unwrap();
        let (in_a, out_a) = self.acceptor.side.numbers(0).unwrap();
        assert_eq!((in_i, out_i), (out_a, in_a));
    }
}

/// Moves what `from` may write to `to`. Returns whether anything moved.
fn carry(from: &mut End, to: &mut End) -> bool {
    let bytes = from.side.write(0, usize::MAX);
    from.sent.extend(messages(&bytes));
    if from.side.is_replaying(0) {
        from.side.wake(0, &[]);
    }
    to.inbox.extend_from_slice(&bytes);
    let used = to.side.receive(0, &to.inbox);
    to.inbox.drain(..used);
    !bytes.is_empty() || used > 0 || to.side.next(0).read == Read::Again
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

// R-SEQ-1
#[test]
fn orders_and_reports_flow_and_sequence_numbers_agree() {
    let mut pair = Pair::new();
    pair.connect();
    assert_eq!(pair.initiator.side.phase(0), Phase::LoggedOn);
    for n in 0..100 {
        pair.order(&format!("ord{n}")).unwrap();
    }
    pair.settle();
    assert_eq!(pair.acceptor.side.app.orders.len(), 100);
    assert_eq!(pair.initiator.side.app.orders.len(), 100);
    pair.numbers_agree();
}

#[test]
fn idle_sessions_exchange_heartbeats_and_stay_logged_on() {
    let mut pair = Pair::new();
    pair.connect();
    pair.pass(Duration::from_secs(100));
    assert_eq!(pair.acceptor.sent.iter().filter(|m| m.contains("|35=0|")).count(), 3);
    assert_eq!(pair.initiator.side.phase(0), Phase::LoggedOn);
    pair.numbers_agree();
}

#[test]
fn a_silent_counterparty_gets_a_test_request_and_then_a_logout() {
    let mut pair = Pair::new();
    pair.connect();
    pair.initiator.sent.clear();
    // The acceptor's bytes are lost from now on.
    let end = pair.now().mono + Duration::from_secs(100);
    while pair.now().mono < end && !pair.initiator.side.next(0).close {
        let End { side, sent, .. } = &mut pair.initiator;
        side.pass(side.next(0).deadline.unwrap() - side.now.mono);
        side.wake(0, &[]);
        sent.extend(messages(&side.write(0, usize::MAX)));
    }
    let kinds: Vec<_> =
        pair.initiator.sent.iter().map(|m| m.split("|35=").nth(1).unwrap().as_bytes()[0]).collect();
    assert_eq!(kinds, *b"0105");
    assert!(pair.initiator.sent.last().unwrap().contains("58=Timed out waiting for heartbeat"));
}

// R-GAP-1
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
    pair.initiator.side.write(0, usize::MAX);
    pair.order("e").unwrap();
    pair.settle();
    assert_eq!(pair.acceptor.side.app.orders, ["a", "b", "c", "d", "e"]);
    let again: Vec<_> = pair.initiator.sent.iter().filter(|m| m.contains("|43=Y|")).collect();
    assert!(again.iter().all(|m| m.contains("|122=")), "{again:?}");
    pair.numbers_agree();
}

// R-RESEND-7
#[test]
fn new_messages_follow_a_replay_on_the_wire() {
    let mut pair = Pair::new();
    pair.connect();
    for n in 0..500 {
        pair.order(&format!("lost{n}")).unwrap();
    }
    pair.initiator.side.write(0, usize::MAX);
    pair.order("trigger").unwrap();
    carry(&mut pair.initiator, &mut pair.acceptor);
    carry(&mut pair.acceptor, &mut pair.initiator);
    assert!(pair.initiator.side.is_replaying(0));
    pair.order("live").unwrap();
    pair.settle();
    assert_eq!(pair.acceptor.side.app.orders.len(), 502);
    assert_eq!(pair.acceptor.side.app.orders.last().unwrap(), "live");
    assert!(pair.initiator.sent.iter().any(|m| m.contains("11=live") && !m.contains("43=Y")));
    pair.numbers_agree();
}

#[test]
fn logging_out_is_answered_and_sequence_numbers_continue_after_the_next_logon() {
    let mut pair = Pair::new();
    pair.connect();
    pair.order("a").unwrap();
    pair.settle();
    pair.initiator.side.log_out(0, "done").unwrap();
    pair.settle();
    assert_eq!(pair.initiator.side.ends, [SessionEnd::LoggedOutByUs]);
    assert_eq!(pair.acceptor.side.ends, [SessionEnd::LoggedOutByPeer]);
    pair.connect();
    pair.order("b").unwrap();
    pair.settle();
    assert_eq!(pair.acceptor.side.app.orders, ["a", "b"]);
    assert_eq!(pair.initiator.side.numbers(0).unwrap().1, SeqNum(6));
    pair.numbers_agree();
}

#[test]
fn a_failing_application_leaves_no_trace_of_its_turn() {
    let mut pair = Pair::new();
    pair.connect();
    pair.acceptor.side.app.panic_on = Some(b"boom");
    std::panic::set_hook(Box::new(|_| {}));
    let before = pair.acceptor.side.numbers(0).unwrap();
    pair.order("boom").unwrap();
    pair.settle();
    assert_eq!(pair.acceptor.side.numbers(0).unwrap(), before);
    assert!(!pair.acceptor.sent.iter().any(|m| m.contains("|35=8|")));
    let panicked = SessionEnd::ApplicationFailed { seq: SeqNum(2), why: "panic".to_owned() };
    assert_eq!(pair.acceptor.side.ends, [panicked]);
}

// R-STORE-3
#[test]
fn the_third_failure_on_a_message_halts_the_session_until_it_is_skipped() {
    let mut pair = Pair::new();
    pair.connect();
    pair.acceptor.side.app.fail_on = Some(b"bad");
    pair.order("bad").unwrap();
    pair.order("good").unwrap();
    for _ in 0..3 {
        pair.settle();
        if pair.acceptor.side.can_connect(0) {
            pair.connect();
        }
    }
    let halted = pair.acceptor.side.halted(0).cloned();
    assert_eq!(halted, Some(Halt::PoisonMessage { seq: SeqNum(2), attempts: 3 }));
    assert!(!pair.acceptor.side.can_connect(0));
    pair.acceptor.side.skip(0, "desk: seen").unwrap();
    pair.connect();
    assert_eq!(pair.acceptor.side.app.orders, ["good"]);
    pair.numbers_agree();
}

#[test]
fn not_now_offers_the_message_again_and_keeps_nothing_of_the_turn() {
    let mut pair = Pair::new();
    pair.connect();
    pair.acceptor.side.app.not_now = 3;
    pair.order("a").unwrap();
    pair.settle();
    pair.pass(Duration::from_millis(50));
    assert_eq!(pair.acceptor.side.app.orders, ["a"]);
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
    pair.initiator = End::new(settings(Role::Initiator).with(|s| s.reset.reset_on_logon = true));
    pair.connect();
    assert_eq!(pair.acceptor.side.numbers(0).unwrap(), (SeqNum(2), SeqNum(2)));
    pair.numbers_agree();
}

// R-SEND-5
#[test]
fn a_body_that_is_not_a_message_is_refused_and_uses_no_sequence_number() {
    let mut pair = Pair::new();
    pair.connect();
    let before = pair.initiator.side.numbers(0).unwrap();
    assert!(matches!(pair.order("a\x0144=1"), Err(SendError::Encode(_))));
    assert!(matches!(pair.order(""), Err(SendError::Encode(_))));
    let side = &mut pair.initiator.side;
    let admin = side.act(0, |turn| turn.session().draft(MsgType::new(b"5")).send());
    assert_eq!(admin, Err(SendError::SessionMessage));
    let dropped = side.act(0, |turn| {
        let _ = turn.session().draft(MsgType::new(b"D"));
        Ok(())
    });
    assert_eq!(dropped, Ok(()));
    assert_eq!(pair.initiator.side.numbers(0).unwrap(), before);
    assert!(pair.initiator.side.writable(0).is_empty());
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
    let mut reader = pair.initiator.side.handed_to(Reader(Vec::new()));
    reader.show_store(0);
    use Direction::{Inbound, Outbound};
    assert_eq!(reader.app.0, [(Outbound, 1), (Inbound, 1), (Outbound, 2), (Inbound, 2)]);
}

/// Returns a message of the acceptor's counterparty that our engine would not send.
fn raw(number: &str, kind: &str, body: &str) -> Vec<u8> {
    let head = format!("35={kind}|49=TRADER|56=VENUE|34={number}|52=20261118-11:06:40|");
    message("FIX.4.4", &(head + body))
}

/// Passes these messages to an acceptor without an initiator, and returns its answers.
fn answers(settings: SessionSettings, stream: &[Vec<u8>]) -> (Vec<String>, (SeqNum, SeqNum)) {
    let End { mut side, .. } = End::new(settings);
    side.connect(0);
    side.receive(0, &stream.concat());
    (messages(side.writable(0)), side.numbers(0).unwrap())
}

// R-CHECK-2
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

// R-RESET-11
#[test]
fn after_a_reset_at_logout_the_rest_of_the_connection_uses_no_sequence_number() {
    let settings = settings(Role::Acceptor).with(|s| s.reset.reset_on_logout = true);
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
    let acceptor = settings(Role::Acceptor).with(|s| s.limits.outbound_buffer_size = 16 * 1024);
    Pair::of(settings(Role::Initiator), acceptor)
}

#[test]
fn an_answer_that_fits_into_no_outbox_is_rejected_and_halts_nothing() {
    let mut pair = pair_with_a_small_outbox();
    pair.connect();
    (pair.acceptor.side.app.flood, pair.acceptor.side.app.minds) = (1000, true);
    pair.order("a").unwrap();
    pair.settle();
    assert_eq!(pair.acceptor.side.ends, []);
    let last = pair.acceptor.sent.last().unwrap();
    assert!(last.contains("|35=j|") && last.contains("|45=2|") && last.contains("|380=0|"), "{last}");
    pair.acceptor.side.app.flood = 0;
    pair.order("b").unwrap();
    pair.settle();
    assert_eq!(pair.acceptor.side.app.orders, ["b"]);
    pair.numbers_agree();
}

#[test]
fn a_processed_message_is_not_delivered_again_if_the_next_step_has_to_wait() {
    let mut pair = pair_with_a_small_outbox();
    pair.connect();
    let now = pair.now();
    let side = &mut pair.acceptor.side;
    let receive = |side: &mut Side<Probe>, bytes: &[u8]| {
        assert_eq!(side.receive(0, bytes), bytes.len());
    };
    // 2 and 3 are missing before a gap fill; 5 is missing, too.
    receive(side, &by_hand(now, "4", 4, "123=Y|36=5|"));
    receive(side, &by_hand(now, "D", 6, "11=six|"));
    receive(side, &by_hand(now, "D", 2, "11=two|"));
    // The answers to 3 leave no room to request 4 and 5.
    side.app.flood = 1000;
    receive(side, &by_hand(now, "D", 3, "11=three|"));
    assert!(side.next(0).read == Read::Nothing);
    side.app.flood = 0;
    side.write(0, usize::MAX);
    receive(side, &by_hand(now, "4", 4, "123=Y|36=5|"));
    receive(side, &by_hand(now, "D", 5, "11=five|"));
    assert_eq!(side.app.orders, ["two", "three", "five", "six"]);
    assert_eq!(side.phase(0), Phase::LoggedOn);
}

#[test]
fn a_session_whose_settings_are_refused_uses_no_place() {
    let mut side = Pair::new().acceptor.side;
    let other = SessionId::new(Version::Fix44, "VENUE", "OTHER").unwrap();
    let settings = settings(Role::Acceptor).with(|s| s.id = other.clone());
    let wrong = settings.clone().with(|s| s.limits.outbound_buffer_size = 0);
    assert!(side.open(wrong).is_err());
    let unresolved = settings.clone().with(|s| s.dictionary = SessionDictionary::Shipped);
    let error = side.open(unresolved).unwrap_err().to_string();
    assert!(error.starts_with("SessionDictionary::Shipped is filled in by an engine"), "{error}");
    let key = side.open(settings).unwrap();
    assert_eq!(side.sessions().settings(key).unwrap().id, other);
}

#[test]
fn an_application_that_panics_in_on_resume_halts_its_session() {
    let mut side = Pair::new().acceptor.side;
    side.app.panic_at_resume = true;
    let other = SessionId::new(Version::Fix44, "VENUE", "OTHER").unwrap();
    side.open(settings(Role::Acceptor).with(|s| s.id = other)).unwrap();
    assert_eq!(side.halted(1), Some(&Halt::CallbackFailed { callback: "on_resume", why: "panic".into() }));
}

#[test]
fn a_session_that_accepts_larger_messages_than_the_others_has_room_for_their_fields() {
    let mut pair = Pair::new();
    pair.acceptor = End::without_session();
    let larger = settings(Role::Acceptor).with(|s| s.limits.max_message_size = 256 * 1024);
    pair.acceptor.side.open(larger).unwrap();
    pair.connect();
    let order = by_hand(pair.now(), "D", 2, &format!("11=large|{}", "58=x|".repeat(20_000)));
    pair.acceptor.side.receive(0, &order);
    assert_eq!(pair.acceptor.side.numbers(0).unwrap().0, SeqNum(3));
}

#[test]
fn the_application_is_notified_which_field_of_which_message_was_rejected() {
    let mut pair = Pair::new();
    pair.connect();
    pair.order("refuse").unwrap();
    pair.settle();
    let wanted = "Rejected { seq: SeqNum(2), reason: 5, tag: 11, text: \"no\", order: None }".to_owned();
    assert!(pair.acceptor.side.app.events.contains(&wanted), "{:?}", pair.acceptor.side.app.events);
}

#[test]
fn an_initiator_is_notified_of_a_heart_bt_int_other_than_it_proposed() {
    let mut side = Pair::new().initiator.side;
    side.connect(0);
    let mut clock = SecondCache::new();
    let time = str::from_utf8(clock.render(side.now.utc.0, Precision::Seconds)).unwrap();
    let answer = message("FIX.4.4", &format!("35=A|49=VENUE|56=TRADER|34=1|52={time}|98=0|108=60|"));
    assert_eq!(side.receive(0, &answer), answer.len());
    assert_eq!(side.phase(0), Phase::LoggedOn);
    assert!(side.app.events.iter().any(|e| e.contains("HeartBtInt is 60 s")), "{:?}", side.app.events);
}

// R-RESET-11
#[test]
fn a_reset_at_the_end_of_a_connection_is_reported() {
    for (on_logout, reason) in [(true, "ResetOnLogout"), (false, "ResetOnDisconnect")] {
        let of = |role| {
            settings(role)
                .with(|s| (s.reset.reset_on_logout, s.reset.reset_on_disconnect) = (on_logout, !on_logout))
        };
        let mut pair = Pair::of(of(Role::Initiator), of(Role::Acceptor));
        pair.connect();
        pair.initiator.side.log_out(0, "").unwrap();
        pair.settle();
        let told =
            format!("SequenceChanged {{ next_in: SeqNum(1), next_out: SeqNum(1), reason: \"{reason}\" }}");
        for End { side, .. } in [&pair.initiator, &pair.acceptor] {
            assert!(side.app.events.contains(&told), "{reason}: {:?}", side.app.events);
            assert_eq!(side.numbers(0).unwrap(), (SeqNum(1), SeqNum(1)));
        }
    }
}
