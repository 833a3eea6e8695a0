//! Regression tests for faults that a session once had, and similar ones, as a counterparty and an
//! application see them.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use fixbolt_codec::{BodySink, Key, Message, MsgType, NewBody, SeqNum, Tag, Version};
use fixbolt_conformance::store::{Intercept, Intercepted};
use fixbolt_conformance::testing::{Mood, Side, kinds, settings};
use fixbolt_journal::{MemoryStore, NoStore};
use fixbolt_session::store::{Position, Record, Recovered, Store, StoreError};
use fixbolt_session::{
    Application, Compatibility, Delivery, Failure, Misbehavior, OpenError, Phase, Role, SendError,
    SessionDictionary, SessionEnd, SessionId, SessionKey, SessionSettings, Turn, Unreached, Utc,
    WhileLoggedOff, WorkerWaker,
};

const KEY: SessionKey = SessionKey::new(0, 0, 0);

fn over(store: Box<dyn Store>, change: fn(&mut SessionSettings)) -> Side {
    let mut settings = settings("PEER", Role::Acceptor);
    change(&mut settings);
    Side::on_store(store, vec![settings])
}

fn logged_on(change: fn(&mut SessionSettings)) -> Side {
    let mut side = over(Box::new(MemoryStore::new()), change);
    assert_eq!(kinds(&side.log_on(0, 1, "")), "A");
    side
}

fn numbers(side: &Side) -> (u64, u64) {
    let (next_in, next_out) = side.numbers(0).unwrap();
    (next_in.0, next_out.0)
}

fn orders(side: &mut Side, numbers: std::ops::RangeInclusive<u64>) -> String {
    numbers.map(|seq| kinds(&side.say(0, &format!("35=D|34={seq}|11=ord{seq}|")))).collect()
}

const RESET: &str = "35=A|34=1|98=0|108=30|141=Y|";

#[test]
fn a_resend_request_answered_before_a_reset_does_not_silence_the_one_after_it() {
    let mut side = logged_on(|_| {});
    assert_eq!(kinds(&side.say(0, "35=2|34=5|7=1|16=0|")), "42");
    assert_eq!(kinds(&side.say(0, RESET)), "A");
    assert_eq!(orders(&mut side, 2..=4), "888");
    assert_eq!(kinds(&side.say(0, "35=2|34=5|7=2|16=0|")), "888");
}

#[test]
fn a_reset_discards_a_logout_that_arrived_too_early() {
    let mut side = logged_on(|_| {});
    assert_eq!(kinds(&side.say(0, "35=5|34=5|")), "2");
    assert_eq!(kinds(&side.say(0, RESET)), "A");
    assert_eq!(orders(&mut side, 2..=6), "88888");
    assert_eq!(side.phase(0), Phase::LoggedOn);
}

#[test]
fn a_gap_and_the_messages_after_it_are_discarded_with_the_connection() {
    let mut side = logged_on(|_| {});
    assert_eq!(kinds(&side.say(0, "35=5|34=5|")), "2");
    side.disconnect(0);
    assert_eq!(kinds(&side.log_on(0, 2, "")), "A");
    assert_eq!(orders(&mut side, 3..=6), "8888");
    assert_eq!(side.phase(0), Phase::LoggedOn);
}

#[test]
fn with_a_store_that_keeps_nothing_a_gap_is_filled_at_once_and_delays_nothing() {
    let mut side = over(Box::new(NoStore::new()), |settings| settings.outbox_size = 16 * 1024);
    side.log_on(0, 1, "");
    // A replay would wait for room: the counterparty reads nothing.
    while side.send(0, "x", 900).is_ok() {}
    let bytes = side.wire(0, "35=2|34=2|7=1|16=0|");
    side.hear(0, &bytes);
    assert!(!side.is_replaying(0));
    assert!(side.send(0, "after", 1).is_ok());
    let out = side.take(0);
    let [.., filled, after] = &out[..] else { panic!("{out:?}") };
    assert!(filled.contains("|35=4|") && after.contains("|11=after|"), "{filled} {after}");
}

#[test]
fn a_store_that_keeps_nothing_cannot_keep_messages_while_logged_off() {
    let mut settings = settings("PEER", Role::Acceptor);
    settings.while_logged_off = WhileLoggedOff::Keep;
    let opened = Side::on_store(Box::new(NoStore::new()), vec![]).open(settings);
    assert!(matches!(opened, Err(OpenError::Setting(_))));
}

#[test]
fn an_answer_after_our_logout_that_the_store_does_not_keep_is_reported_as_not_reached() {
    let mut side = over(Box::new(NoStore::new()), |_| {});
    side.log_on(0, 1, "");
    side.log_out(0, "").unwrap();
    assert_eq!(orders(&mut side, 2..=2), "5");
    assert_eq!(side.app.unreached, [(SeqNum(3), SeqNum(3), Unreached::NotStored)]);
}

#[test]
fn a_kept_message_that_is_larger_than_the_counterparty_accepts_is_reported_as_not_reached() {
    let mut settings = settings("PEER", Role::Initiator);
    settings.while_logged_off = WhileLoggedOff::Keep;
    let mut side = Side::new(vec![settings]);
    side.connect(0);
    side.send(0, "large", 3000).unwrap();
    side.send(0, "small", 1).unwrap();
    assert_eq!(kinds(&side.say(0, "35=A|34=1|98=0|108=30|383=1000|")), "A4D");
    assert_eq!(side.app.unreached, [(SeqNum(2), SeqNum(2), Unreached::TooLarge { limit: 1000 })]);
}

#[test]
fn messages_kept_while_logged_off_that_a_reset_loses_are_reported_as_not_reached() {
    let mut side = over(Box::new(MemoryStore::new()), |settings| {
        settings.while_logged_off = WhileLoggedOff::Keep;
    });
    for _ in 0..3 {
        side.send(0, "kept", 1).unwrap();
    }
    assert_eq!(kinds(&side.log_on(0, 1, "141=Y|")), "A");
    assert_eq!(side.app.unreached, [(SeqNum(1), SeqNum(3), Unreached::Reset)]);
    side.disconnect(0);
    // Messages that the counterparty has requested are not lost.
    side.send(0, "kept", 1).unwrap();
    assert_eq!(kinds(&side.log_on(0, 2, "")), "A");
    assert_eq!(kinds(&side.say(0, "35=2|34=3|7=2|16=0|")), "D4");
    assert_eq!(kinds(&side.say(0, RESET)), "A");
    assert_eq!(side.app.unreached.len(), 1);
}

#[test]
fn a_logout_during_a_replay_is_sent_after_it_and_its_timeout_begins_then() {
    let mut side = logged_on(|settings| settings.outbox_size = 16 * 1024);
    for _ in 0..200 {
        side.send(0, "x", 900).unwrap();
        side.take(0);
    }
    let bytes = side.wire(0, "35=2|34=2|7=1|16=0|");
    side.hear(0, &bytes);
    assert!(side.is_replaying(0));
    side.log_out(0, "").unwrap();
    // A second for each piece that the socket accepts: in total far more than LogoutTimeout.
    let (mut bytes, mut seconds) = (0, 0);
    while side.is_replaying(0) || side.next(0).output {
        let taken = side.writable(0).len().min(4000);
        bytes += taken;
        side.written(0, taken);
        side.pass(Duration::from_secs(1));
        seconds += 1;
        side.wake(0, &[]);
        assert!(!side.next(0).close, "after {bytes} bytes and {seconds} seconds");
    }
    assert!(seconds > 20);
    assert_eq!(side.phase(0), Phase::LogoutSent);
    side.say(0, "35=5|34=3|");
    assert_eq!(side.disconnect(0), Some(SessionEnd::LoggedOutByUs));
}

#[test]
fn a_logout_that_the_counterparty_does_not_read_ends_at_its_timeout() {
    let mut side = logged_on(|_| {});
    side.log_out(0, "").unwrap();
    side.pass(Duration::from_millis(2001));
    side.wake(0, &[]);
    assert_eq!(side.disconnect(0), Some(SessionEnd::LogoutTimedOut));
}

#[test]
fn a_poss_dup_that_arrives_too_early_is_checked_when_its_sequence_number_is_due() {
    let mut side = logged_on(|_| {});
    assert_eq!(kinds(&side.say(0, "35=D|34=4|43=Y|11=early|")), "2");
    assert_eq!(orders(&mut side, 2..=2), "8");
    let out = side.say(0, "35=D|34=3|11=c|");
    assert_eq!(kinds(&out), "83", "the one that arrived early has no OrigSendingTime");
    assert!(out[1].contains("|45=4|") && out[1].contains("|371=122|"), "{out:?}");
    assert_eq!(numbers(&side).0, 5);
}

#[test]
fn a_logon_with_a_low_sequence_number_is_too_low_whatever_its_poss_dup_flag_says() {
    for compatibility in [Compatibility::Standard, Compatibility::QuickFix, Compatibility::QuickFixJ] {
        let mut settings = settings("PEER", Role::Acceptor);
        settings.compatibility = compatibility;
        let mut side = Side::new(vec![settings]);
        side.log_on(0, 1, "");
        side.disconnect(0);
        let before = numbers(&side);
        let time = side.time();
        let out = side.log_on(0, 1, &format!("43=Y|122={time}|"));
        assert_eq!(kinds(&out), "5", "{compatibility:?}");
        assert!(out[0].contains("58=MsgSeqNum too low, expecting 2 but received 1"), "{out:?}");
        let too_low = Misbehavior::MsgSeqNumTooLow { expected: SeqNum(2), received: SeqNum(1) };
        assert_eq!(side.disconnect(0), Some(SessionEnd::PeerMisbehaved(too_low)));
        assert_eq!(numbers(&side), (before.0, before.1 + 1));
    }
}

#[test]
fn the_end_for_a_sending_time_out_of_the_threshold_says_how_far_off_it_was() {
    for (logged_on, offset, told) in [
        (true, 300, "was 300.000 s behind our clock; the limit is 120.000 s"),
        (true, -300, "was 300.000 s ahead of our clock; the limit is 120.000 s"),
        (false, 300, "was 300.000 s behind our clock; the limit is 120.000 s"),
    ] {
        let mut side = over(Box::new(MemoryStore::new()), |_| {});
        let fields = if logged_on {
            side.log_on(0, 1, "");
            "35=0|34=2|"
        } else {
            side.connect(0);
            "35=A|34=1|98=0|108=30|"
        };
        let bytes = side.wire(0, fields);
        side.now.utc = Utc(side.now.utc.0.checked_add_signed(offset * 1_000_000_000).unwrap());
        side.hear(0, &bytes);
        let end = side.disconnect(0).unwrap();
        assert!(matches!(end, SessionEnd::PeerMisbehaved(Misbehavior::SendingTime { .. })), "{end:?}");
        assert!(end.to_string().contains(told), "{end}");
    }
}

#[test]
fn why_the_counterparty_logs_out_is_reported_once_whatever_its_sequence_number() {
    for seq in [1, 2, 5] {
        let mut side = logged_on(|_| {});
        side.say(0, &format!("35=5|34={seq}|58=end of day|"));
        if seq == 5 {
            side.say(0, "35=4|34=2|43=Y|123=Y|36=5|");
        }
        side.disconnect(0);
        let logouts = side.app.notes.iter().filter(|note| note.contains("Logout: end of day"));
        assert_eq!(logouts.count(), 1, "{seq}: {:?}", side.app.notes);
    }
}

#[test]
fn a_refused_logon_is_reported_once_with_what_is_wrong_with_it() {
    let mut side = over(Box::new(MemoryStore::new()), |_| {});
    side.connect(0);
    let out = side.say(0, "35=A|34=1|98=0|108=-1|");
    assert_eq!(kinds(&out), "5");
    side.disconnect(0);
    assert_eq!(side.app.notes, ["the Logon is refused: HeartBtInt must not be negative"]);
}

#[test]
fn a_logon_that_is_refused_with_a_reject_is_reported_by_the_reject_alone() {
    let mut side = over(Box::new(MemoryStore::new()), |_| {});
    side.connect(0);
    let out = side.say(0, "35=A|34=1|98=1|108=30|");
    assert_eq!(kinds(&out), "35");
    side.disconnect(0);
    assert!(!side.app.notes.iter().any(|note| note.contains("is refused")), "{:?}", side.app.notes);
}

#[test]
fn an_orig_sending_time_that_ends_a_session_is_not_blamed_on_the_clocks() {
    let mut side = logged_on(|s| s.compatibility = Compatibility::QuickFixJ);
    let out = side.say(0, "35=0|34=1|43=Y|122=20260105-23:59:59|");
    assert_eq!(kinds(&out), "35");
    let end = side.disconnect(0);
    assert_eq!(end, Some(SessionEnd::PeerMisbehaved(Misbehavior::OrigSendingTime)));
}

#[test]
fn no_refused_logon_moves_next_num_in_or_resets_anything() {
    let refused = [
        "98=1|108=30|",
        "98=1|108=30|141=Y|",
        "98=0|",
        "98=0|108=-1|",
        "98=0|108=x|141=Y|",
        "98=0|108=30|383=3|",
        "98=0|108=30|554=expired|",
        "98=0|108=30|554=expired|141=Y|",
        "98=0|108=30|554=stranger|",
        "98=1|108=30|554=stranger|",
    ];
    for compatibility in [Compatibility::Standard, Compatibility::QuickFix, Compatibility::QuickFixJ] {
        for fields in refused {
            let mut settings = settings("PEER", Role::Acceptor);
            settings.compatibility = compatibility;
            settings.reset_on_logon = fields.contains("expired");
            let mut side = Side::new(vec![settings]);
            side.log_on(0, 1, "");
            assert_eq!(orders(&mut side, 2..=4), "888");
            side.disconnect(0);
            side.connect(0);
            let before = numbers(&side);
            let seq = if fields.contains("141=Y") { 1 } else { 5 };
            let out = side.say(0, &format!("35=A|34={seq}|{fields}"));
            let what = format!("{compatibility:?} {fields}");
            assert!(side.next(0).close, "{what}");
            side.disconnect(0);
            assert_eq!(numbers(&side), (before.0, before.1 + out.len() as u64), "{what}");
            assert!(!fields.contains("stranger") || out.is_empty(), "{what}: {out:?}");
            // The real counterparty can log on.
            assert_eq!(kinds(&side.log_on(0, before.0, "")).chars().next(), Some('A'), "{what}");
            assert_eq!(side.phase(0), Phase::LoggedOn, "{what}");
        }
    }
}

#[test]
fn ten_refusals_are_answered_and_further_ones_closed_silently_for_a_while() {
    let mut side = over(Box::new(MemoryStore::new()), |_| {});
    let mut answered = 0;
    for _ in 0..50 {
        answered += side.log_on(0, 1, "554=expired|").len();
        side.disconnect(0);
    }
    assert_eq!((answered, numbers(&side)), (10, (1, 11)));
    assert_eq!(kinds(&side.log_on(0, 1, "")), "A", "the right one can log on at once");
    side.disconnect(0);
    side.pass(Duration::from_secs(6));
    assert_eq!(kinds(&side.log_on(0, 2, "554=expired|")), "5");
}

/// A trader's application that sends passwords by turns cannot exist yet: both sides are driven by
/// hand.
#[test]
fn an_initiator_counts_the_logout_that_refuses_it_and_logs_on_afterwards() {
    let mut side = Side::new(vec![settings("PEER", Role::Initiator)]);
    side.connect(0);
    assert_eq!(kinds(&side.take(0)), "A");
    side.say(0, "35=5|34=1|58=password expired|");
    let end = SessionEnd::LogonRefusedByPeer { text: "password expired".to_owned() };
    assert_eq!(side.disconnect(0), Some(end));
    assert!(side.app.notes.last().unwrap().contains("password expired"));
    assert_eq!(numbers(&side), (2, 2));
    // Refused silently, then accepted.
    side.connect(0);
    side.take(0);
    side.disconnect(0);
    side.connect(0);
    side.take(0);
    assert_eq!(kinds(&side.say(0, "35=A|34=2|98=0|108=30|")), "");
    assert_eq!((side.phase(0), numbers(&side)), (Phase::LoggedOn, (3, 4)));
    // An answer that we refuse uses no sequence number of the counterparty either.
    side.disconnect(0);
    side.connect(0);
    side.take(0);
    assert_eq!(kinds(&side.say(0, "35=A|34=3|98=7|108=30|")), "35");
    side.disconnect(0);
    assert_eq!(numbers(&side), (3, 7));
}

#[test]
fn a_business_message_reject_is_never_answered_with_another_one() {
    let mut side = logged_on(|_| {});
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
        let mut draft = turn.reply().draft(MsgType::new(b"8"));
        draft.writer().bytes(Key::new(37), b"a little more").bytes(Key::new(58), text);
        draft.send()?;
        Ok(Delivery::Done)
    }
}

#[test]
fn a_message_of_any_size_that_is_accepted_can_be_answered() {
    let mut side = logged_on(|_| {}).handed_to(Echo);
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

#[test]
fn a_key_is_never_given_to_another_session_and_a_closed_session_does_nothing() {
    let mut side = logged_on(|_| {});
    assert_eq!(side.close(0), Err(OpenError::Connected));
    side.disconnect(0);
    assert_eq!(side.close(0), Ok(()));
    assert_eq!(side.close(0), Err(OpenError::NotOpen));
    let again = side.open(settings("OTHER", Role::Acceptor)).unwrap();
    assert_eq!((again.index(), again == KEY), (KEY.index(), false));
    // Calls with the old key do not reach the new session.
    side.connect(0);
    assert_eq!(side.phase(1), Phase::Disconnected);
    assert_eq!(side.receive(0, b"8=FIX"), 5);
    assert_eq!(side.wake(0, b"8=FIX"), 5);
    assert_eq!(side.log_out(0, ""), Err(SendError::Unavailable));
    assert_eq!(side.send(0, "x", 1), Err(SendError::Unavailable));
    assert_eq!((side.numbers(0), side.sessions().settings(KEY).is_none()), (None, true));
    assert_eq!(side.sessions().keys().collect::<Vec<_>>(), [again]);
    // The first one continues where it was, under a new key.
    let third = side.open(settings("PEER", Role::Acceptor)).unwrap();
    assert_eq!(side.numbers(2), Some((SeqNum(2), SeqNum(2))));
    let id = SessionId::new(Version::Fix44, "US", "PEER").unwrap();
    assert_eq!(side.sessions().find(&id), Some(third));
}

/// A store in memory that refuses while it is told to, and forgets everything when it is closed.
struct Frail(Arc<AtomicBool>);

impl Frail {
    fn check(&self) -> Result<(), StoreError> {
        if self.0.load(Ordering::Relaxed) {
            return Err(StoreError::Full { place: "test".into() });
        }
        Ok(())
    }
}

impl Intercept<MemoryStore> for Frail {
    fn open(
        &mut self,
        store: &mut MemoryStore,
        key: SessionKey,
        session: &SessionId,
    ) -> Result<Recovered, StoreError> {
        self.check()?;
        store.open(key, session)
    }
    fn close(&mut self, store: &mut MemoryStore, _: SessionKey) -> Result<(), StoreError> {
        *store = MemoryStore::new();
        Ok(())
    }
    fn append(
        &mut self,
        store: &mut MemoryStore,
        session: SessionKey,
        record: &Record<'_>,
    ) -> Result<(), StoreError> {
        self.check()?;
        store.append(session, record)
    }
}

#[test]
fn a_store_that_failed_is_retried_automatically_and_its_sequence_numbers_never_decrease() {
    let refuses = Arc::new(AtomicBool::new(false));
    let store = Intercepted::new(MemoryStore::new(), Frail(Arc::clone(&refuses)));
    let mut side = over(Box::new(store), |_| {});
    side.log_on(0, 1, "");
    assert_eq!(orders(&mut side, 2..=4), "888");
    refuses.store(true, Ordering::Relaxed);
    side.say(0, "35=D|34=5|11=x|");
    assert!(side.halted(0).is_some() && side.next(0).close);
    side.disconnect(0);
    // Without a connection: after one second, then two, then four.
    for wait in [1, 2, 4] {
        let due = side.next(0).deadline.unwrap();
        assert_eq!(due, side.now.mono + Duration::from_secs(wait));
        side.pass(due - side.now.mono);
        side.wake(0, &[]);
        assert!(side.halted(0).is_some());
    }
    refuses.store(false, Ordering::Relaxed);
    assert_eq!(side.resume(0, "desk: repaired"), Ok(()));
    assert_eq!((side.halted(0), side.next(0).deadline), (None, None));
    assert_eq!(numbers(&side), (5, 5), "the store was empty when it was opened again");
    // The counterparty requests what the store has lost, and receives gap fills.
    assert_eq!(kinds(&side.log_on(0, 5, "")), "A");
    let out = side.say(0, "35=2|34=6|7=2|16=0|");
    assert!(kinds(&out) == "4" && out[0].contains("|34=2|") && out[0].contains("|36=6|"), "{out:?}");
}

/// A store in memory that forgets everything when it is closed. While it is told to, it opens, but
/// refuses records.
struct Full(Arc<AtomicBool>);

impl Intercept<MemoryStore> for Full {
    fn close(&mut self, store: &mut MemoryStore, _: SessionKey) -> Result<(), StoreError> {
        *store = MemoryStore::new();
        Ok(())
    }
    fn append(
        &mut self,
        store: &mut MemoryStore,
        session: SessionKey,
        record: &Record<'_>,
    ) -> Result<(), StoreError> {
        if self.0.load(Ordering::Relaxed) {
            return Err(StoreError::Full { place: "test".into() });
        }
        store.append(session, record)
    }
}

#[test]
fn sequence_numbers_that_could_not_be_raised_at_once_in_a_store_that_lost_them_are_raised_later() {
    let refuses = Arc::new(AtomicBool::new(false));
    let store = Intercepted::new(MemoryStore::new(), Full(Arc::clone(&refuses)));
    let mut side = over(Box::new(store), |settings| settings.while_logged_off = WhileLoggedOff::Keep);
    side.log_on(0, 1, "");
    assert_eq!(orders(&mut side, 2..=4), "888");
    side.disconnect(0);
    side.send(0, "kept", 1).unwrap();
    assert_eq!(numbers(&side), (5, 6));
    refuses.store(true, Ordering::Relaxed);
    assert!(side.send(0, "refused", 1).is_err());
    // The store opens, without what it had, and refuses the record that raises the numbers.
    for _ in 0..2 {
        let due = side.next(0).deadline.unwrap();
        side.pass(due - side.now.mono);
        side.wake(0, &[]);
        assert!(side.halted(0).is_some());
        assert_eq!(numbers(&side), (5, 6), "no number is used twice");
        assert!(!side.sessions().was_never_stored(KEY));
        side.sessions().check();
    }
    refuses.store(false, Ordering::Relaxed);
    assert_eq!(side.resume(0, "desk: repaired"), Ok(()));
    assert_eq!(numbers(&side), (5, 6));
    side.sessions().check();
    assert_eq!(kinds(&side.log_on(0, 5, "")), "A");
}

/// A store of which nothing is durable until it was closed once, when it forgets everything. It
/// fails when it is told to.
struct Unborn {
    fails: Arc<AtomicBool>,
    is_durable: bool,
}

impl Intercept<MemoryStore> for Unborn {
    fn close(&mut self, store: &mut MemoryStore, _: SessionKey) -> Result<(), StoreError> {
        *store = MemoryStore::new();
        self.is_durable = true;
        Ok(())
    }
    fn durable(&mut self, store: &mut MemoryStore, session: SessionKey) -> Position {
        if self.is_durable { store.durable(session) } else { Position(0) }
    }
    fn take_failure(&mut self, _: &mut MemoryStore) -> Option<(SessionKey, StoreError)> {
        let fails = self.fails.swap(false, Ordering::Relaxed);
        fails.then(|| (KEY, StoreError::Full { place: "test".into() }))
    }
}

#[test]
fn a_store_that_begins_anew_finds_no_message_of_an_earlier_connection_after_a_gap() {
    let fails = Arc::new(AtomicBool::new(false));
    let unborn = Unborn { fails: Arc::clone(&fails), is_durable: false };
    let mut side = over(Box::new(Intercepted::new(MemoryStore::new(), unborn)), |_| {});
    assert_eq!(kinds(&side.log_on(0, 1, "")), "", "it waits for the store");
    side.say(0, "35=D|34=3|11=earlier|");
    fails.store(true, Ordering::Relaxed);
    side.store_advanced();
    side.disconnect(0);
    assert!(side.sessions().was_never_stored(KEY));
    assert_eq!(side.resume(0, "desk: repaired"), Ok(()));
    side.sessions().check();
    // Generation and connection have the numbers that they had.
    assert_eq!(kinds(&side.log_on(0, 1, "")), "A");
    side.say(0, "35=D|34=2|11=two|");
    side.say(0, "35=D|34=3|11=three|");
    assert_eq!(side.app.got, ["two", "three"]);
}

#[test]
fn a_message_on_which_the_application_fails_is_rejected_if_the_session_says_so() {
    for mood in [Mood::Fails, Mood::Panics] {
        let settings = settings("PEER", Role::Acceptor).with(|s| s.reject_on_failure = true);
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
