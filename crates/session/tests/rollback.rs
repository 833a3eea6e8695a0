//! A turn is one commit (property 4): a failed turn leaves every session that it touched unchanged,
//! and only the session at fault is affected.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use fixbolt_codec::SeqNum;
use fixbolt_conformance::testing::{App, BEGIN, Mood, Side, kinds, report, settings};
use fixbolt_journal::MemoryStore;
use fixbolt_session::runtime::session_key;
use fixbolt_session::store::{Intercept, Intercepted, Position, Record, RecordKind, Store, StoreError};
use fixbolt_session::{
    Delivery, Halt, Phase, Role, SendError, SessionEnd, SessionKey, SessionReject, SessionRejectCode,
    SessionSettings, TooLowAtLogon,
};

const A: SessionKey = session_key(0, 0, 0);
const B: SessionKey = session_key(0, 1, 1);

/// Counts the records of a store, and refuses those of one session when told to.
struct Refusing {
    refuses: Arc<Mutex<Option<SessionKey>>>,
    committed: Arc<Mutex<Vec<(SessionKey, RecordKind)>>>,
    turn: Vec<(SessionKey, RecordKind)>,
}

fn full() -> StoreError {
    StoreError::Full { place: "test".into() }
}

impl<S: Store> Intercept<S> for Refusing {
    fn begin(&mut self, store: &mut S) {
        self.turn.clear();
        store.begin();
    }
    fn append(&mut self, store: &mut S, session: SessionKey, record: &Record<'_>) -> Result<(), StoreError> {
        if *self.refuses.lock().unwrap() == Some(session) {
            return Err(full());
        }
        self.turn.push((session, record.kind));
        store.append(session, record)
    }
    fn commit(&mut self, store: &mut S) -> Result<Position, StoreError> {
        self.committed.lock().unwrap().append(&mut self.turn);
        Ok(store.commit()?.position)
    }
}

struct Bench {
    side: Side,
    refuses: Arc<Mutex<Option<SessionKey>>>,
    committed: Arc<Mutex<Vec<(SessionKey, RecordKind)>>>,
}

impl Bench {
    /// Two sessions that are logged on, with a TestRequest outstanding and bytes queued in the
    /// first.
    fn new() -> Self {
        Self::with(|_| {})
    }

    /// Two such sessions, the first with other settings.
    fn with(change: impl FnOnce(&mut SessionSettings)) -> Self {
        let (refuses, committed) = (Arc::default(), Arc::default());
        let refusing =
            Refusing { refuses: Arc::clone(&refuses), committed: Arc::clone(&committed), turn: Vec::new() };
        let store = Intercepted::new(MemoryStore::new(), refusing);
        let mut all = ["A", "B"].map(|name| settings(name, Role::Acceptor)).to_vec();
        change(&mut all[0]);
        let mut side = Side::on_store(Box::new(store), all);
        side.app.copies_to = Some(B);
        side.log_on(0, 1, "");
        side.log_on(1, 1, "");
        side.pass(Duration::from_secs(37));
        side.wake(0, &[]);
        side.wake(1, &[]);
        assert!(!side.writable(0).is_empty(), "a TestRequest waits for the socket");
        Self { side, refuses, committed }
    }

    fn snapshot(&self) -> (String, String, usize) {
        let [a, b] = [A, B].map(|key| self.side.sessions().snapshot(key));
        (a, b, self.committed.lock().unwrap().len())
    }

    fn order(&mut self) {
        let bytes = self.side.wire(0, "35=D|34=3|11=a|");
        self.side.hear(0, &bytes);
    }
}

// R-SEQ-3
#[test]
fn a_failed_message_leaves_both_sessions_unchanged_except_for_the_attempt() {
    for mood in [Mood::Fails, Mood::Panics] {
        let mut bench = Bench::new();
        // Any message answers a TestRequest; afterwards only the turn could change anything.
        bench.side.say(0, "35=0|34=2|");
        let (a, b, records) = bench.snapshot();
        bench.side.app.mood = mood;
        bench.order();
        let (a_after, b_after, records_after) = bench.snapshot();
        assert_eq!(a_after, a.replace("attempts: 0", "attempts: 1"), "{mood:?}");
        assert_eq!(b_after, b, "{mood:?}");
        assert_eq!(records_after, records + 1);
        assert_eq!(bench.committed.lock().unwrap().last(), Some(&(A, RecordKind::Attempt)));
        assert!(bench.side.next(0).close && !bench.side.next(1).close);
        let end = bench.side.disconnect(0);
        assert!(matches!(end, Some(SessionEnd::ApplicationFailed { seq: SeqNum(3), .. })), "{end:?}");
        assert_eq!(kinds(&bench.side.say(1, "35=1|34=2|112=still there|")), "10");
    }
}

#[test]
fn a_message_answered_with_not_now_counts_only_as_a_sign_of_life() {
    for mood in [Mood::NotNow, Mood::Full] {
        let mut bench = Bench::new();
        // Any message answers a TestRequest; afterwards only the turn could change anything.
        bench.side.say(0, "35=0|34=2|");
        let before = bench.snapshot();
        bench.side.app.mood = mood;
        let bytes = bench.side.wire(0, "35=D|34=3|11=a|");
        assert_eq!(bench.side.hear(0, &bytes), 0, "the message is offered again");
        assert_eq!(bench.snapshot(), before, "{mood:?}");
        bench.side.app.mood = Mood::Done;
        assert_eq!(bench.side.hear(0, &bytes), bytes.len());
        assert_eq!(bench.side.app.got, ["a"]);
    }
}

#[test]
fn a_failed_or_panicking_act_leaves_both_sessions_unchanged() {
    let mut bench = Bench::new();
    let before = bench.snapshot();
    let failed = bench.side.act(0, |turn| {
        report(turn.session(), b"x")?;
        report(turn.to(B).unwrap(), b"x")?;
        Err::<(), _>(SendError::Application("changed its mind"))
    });
    assert_eq!(failed, Err(SendError::Application("changed its mind")));
    assert_eq!(bench.snapshot(), before);
    let panicked: Result<(), _> = bench.side.act(0, |turn| {
        report(turn.to(B).unwrap(), b"x")?;
        panic!("application bug")
    });
    assert!(panicked.is_err());
    assert_eq!(bench.snapshot(), before);
    assert!(bench.side.next(0).close && !bench.side.next(1).close);
}

// R-STORE-1
#[test]
fn a_store_that_refuses_leaves_the_session_unchanged_and_halts_it() {
    let mut bench = Bench::new();
    bench.side.say(0, "35=0|34=2|");
    bench.side.pass(Duration::from_secs(37));
    let before = bench.snapshot();
    *bench.refuses.lock().unwrap() = Some(A);
    // The clock's turn: a TestRequest that cannot be stored is not outstanding.
    bench.side.wake(0, &[]);
    assert_eq!(bench.snapshot(), before);
    assert_eq!(bench.side.halted(0), Some(&Halt::StoreFailed(full())));
    assert!(!bench.side.next(1).close);
}

#[test]
fn another_sessions_store_failure_halts_only_that_one_and_the_message_is_processed_without_it() {
    for mood in [Mood::Done, Mood::Careless] {
        let mut bench = Bench::new();
        bench.side.say(0, "35=0|34=2|");
        bench.side.app.mood = mood;
        *bench.refuses.lock().unwrap() = Some(B);
        let before = bench.snapshot();
        let bytes = bench.side.wire(0, "35=D|34=3|11=a|");
        assert_eq!(bench.side.hear(0, &bytes), 0, "the turn could not be committed");
        assert_eq!(bench.snapshot(), before, "{mood:?}");
        assert_eq!(bench.side.halted(0), None);
        assert_eq!(bench.side.halted(1), Some(&Halt::StoreFailed(full())));
        bench.side.app.mood = Mood::Careless;
        assert_eq!(bench.side.hear(0, &bytes), bytes.len());
        assert_eq!(kinds(&bench.side.take(0)), "8");
        assert_eq!(bench.side.app.redelivered, [SeqNum(3)], "{mood:?}: the application has seen it");
    }
}

/// What the application makes of a message whose copy another session's store refuses: whether it
/// was told each time that it may have seen the message before.
fn offered(delivers: fn() -> Delivery) -> Vec<bool> {
    let (refuses, seen) = (Arc::default(), Arc::new(Mutex::new(Vec::new())));
    let store = Refusing { refuses: Arc::clone(&refuses), committed: Arc::default(), turn: Vec::new() };
    let store = Box::new(Intercepted::new(MemoryStore::new(), store));
    let mut app = App::default();
    let told = Arc::clone(&seen);
    app.message = Box::new(move |_, turn| {
        told.lock().unwrap().push(turn.redelivered());
        if let Some(copy) = turn.to(B) {
            let _ = report(copy, b"copy");
        }
        Ok(delivers())
    });
    let all = ["A", "B"].map(|name| settings(name, Role::Acceptor));
    let mut side = Side::begin(BEGIN, app, store, all.to_vec()).logged_on();
    *refuses.lock().unwrap() = Some(B);
    let bytes = side.wire(0, "35=D|34=2|11=a|");
    assert_eq!(side.hear(0, &bytes), 0, "the turn could not be committed");
    assert_eq!(side.hear(0, &bytes), bytes.len());
    assert!(side.halted(1).is_some() && side.halted(0).is_none());
    let seen = seen.lock().unwrap();
    seen.clone()
}

#[test]
fn a_message_that_the_application_has_seen_is_offered_again_as_such_whatever_became_of_it() {
    let reject = || Delivery::Reject(SessionReject::new(SessionRejectCode::OTHER));
    for delivers in [|| Delivery::Done, reject, || Delivery::UNSUPPORTED] {
        assert_eq!(offered(delivers), [false, true], "{:?}", delivers());
    }
}

#[test]
fn a_reset_that_fails_keeps_sequence_numbers_and_the_messages_after_the_gap() {
    let mut bench = Bench::new();
    bench.side.say(0, "35=D|34=4|11=early|");
    let (a, _, records) = bench.snapshot();
    *bench.refuses.lock().unwrap() = Some(A);
    bench.side.hear(0, &bench.side.wire(0, "35=A|34=1|98=0|108=30|141=Y|"));
    let (a_after, _, records_after) = bench.snapshot();
    assert_eq!(a_after, a);
    assert_eq!(records_after, records);
}

#[test]
fn a_panic_in_any_callback_ends_the_connection_and_not_the_worker() {
    for callback in ["on_logon", "on_event", "on_resend"] {
        let mut bench = Bench::new();
        bench.side.send(0, "x", 1).unwrap();
        bench.side.app.panic_in = callback;
        match callback {
            "on_logon" => {
                bench.side.disconnect(0);
                bench.side.log_on(0, 2, "");
            }
            "on_resend" => drop(bench.side.say(0, "35=2|34=2|7=1|16=0|")),
            _ => drop(bench.side.say(0, "35=3|34=2|45=1|")),
        }
        assert!(bench.side.next(0).close, "{callback}");
        assert_eq!(
            bench.side.disconnect(0),
            Some(SessionEnd::CallbackFailed { callback, why: "panic".into() })
        );
        bench.side.app.panic_in = "";
        assert_eq!(kinds(&bench.side.say(1, "35=1|34=2|112=still there|")), "10");
        assert_eq!(bench.side.phase(1), Phase::LoggedOn);
    }
}

#[test]
fn a_change_of_numbers_that_the_store_refuses_grants_no_tolerance_again() {
    let mut bench = Bench::with(|a| a.reset.tolerate_low_msg_seq_num_at_logon = TooLowAtLogon::AcceptedOnce);
    let set = |bench: &mut Bench, next_in| {
        let side = &mut bench.side;
        side.set_numbers(0, (Some(SeqNum(next_in)), None), "agreed")
    };
    bench.side.disconnect(0);
    set(&mut bench, 7).unwrap();
    assert_eq!(kinds(&bench.side.log_on(0, 3, "")), "A");
    bench.side.disconnect(0);
    let before = bench.snapshot();
    *bench.refuses.lock().unwrap() = Some(A);
    set(&mut bench, 7).unwrap_err();
    assert_eq!(bench.snapshot(), before);
    *bench.refuses.lock().unwrap() = None;
    let side = &mut bench.side;
    let _ = side.resume(0, "room again");
    assert_eq!(kinds(&side.log_on(0, 2, "")), "5", "one Logon was accepted already");
}
