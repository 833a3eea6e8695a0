//! Stores that fail: the session halts, opens its store again by itself, loses and repeats no
//! sequence number, and reports the messages that the store has lost.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use fixbolt_codec::SeqNum;
use fixbolt_conformance::testing::{Mood, Side, kinds, report, settings};
use fixbolt_journal::MemoryStore;
use fixbolt_session::runtime::session_key;
use fixbolt_session::store::{
    Generation, Intercept, Intercepted, Position, Record, Recovered, Store, StoreError,
};
use fixbolt_session::{
    ChangeError, Halt, OpenError, Role, SendError, SessionId, SessionKey, SessionSettings, Unreached,
    WhileLoggedOff,
};

const KEY: SessionKey = session_key(0, 0, 0);

fn over(store: Box<dyn Store>, change: fn(&mut SessionSettings)) -> Side {
    let mut settings = settings("PEER", Role::Acceptor);
    change(&mut settings);
    Side::on_store(store, vec![settings])
}

fn numbers(side: &Side) -> (u64, u64) {
    let (next_in, next_out) = side.numbers(0).unwrap();
    (next_in.0, next_out.0)
}

fn orders(side: &mut Side, numbers: std::ops::RangeInclusive<u64>) -> String {
    numbers.map(|seq| kinds(&side.say(0, &format!("35=D|34={seq}|11=ord{seq}|")))).collect()
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

// R-STORE-2
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
    let mut side = over(Box::new(store), |settings| settings.resend.while_logged_off = WhileLoggedOff::Keep);
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
    fn durable(&mut self, _: &mut MemoryStore, _: SessionKey) -> Option<Position> {
        (!self.is_durable).then_some(Position(0))
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

const A: SessionKey = session_key(0, 0, 0);

const B: SessionKey = session_key(0, 1, 1);

/// What a [`Faulty`] store is to do.
#[derive(Default)]
struct Faults {
    /// The session whose records it refuses.
    refuses: Option<SessionKey>,
    /// The sessions that it does not open.
    locked: bool,
    /// Changes what it returns as recovered.
    tells: Option<fn(&mut Recovered)>,
    opened: usize,
    /// A failure that it notices on its own.
    fails: Option<SessionKey>,
}

/// A store with faults.
struct Faulty(Arc<Mutex<Faults>>);

impl<S: Store> Intercept<S> for Faulty {
    fn open(&mut self, store: &mut S, key: SessionKey, session: &SessionId) -> Result<Recovered, StoreError> {
        let mut faults = self.0.lock().unwrap();
        faults.opened += 1;
        if faults.locked {
            return Err(StoreError::Locked { place: "test".into(), holder: "a repair".into() });
        }
        let mut recovered = store.open(key, session)?;
        if let Some(tell) = faults.tells {
            tell(&mut recovered);
        }
        Ok(recovered)
    }
    fn append(&mut self, store: &mut S, session: SessionKey, record: &Record<'_>) -> Result<(), StoreError> {
        if self.0.lock().unwrap().refuses == Some(session) {
            return Err(StoreError::Full { place: "test".into() });
        }
        store.append(session, record)
    }
    fn take_failure(&mut self, _: &mut S) -> Option<(SessionKey, StoreError)> {
        let key = self.0.lock().unwrap().fails.take()?;
        Some((key, StoreError::Full { place: "test".into() }))
    }
}

fn faulty(change: fn(&mut SessionSettings)) -> (Side, Arc<Mutex<Faults>>) {
    let faults = Arc::new(Mutex::new(Faults::default()));
    let all = ["A", "B"].map(|name| {
        let mut settings = settings(name, Role::Acceptor);
        change(&mut settings);
        settings
    });
    let store = Intercepted::new(MemoryStore::new(), Faulty(Arc::clone(&faults)));
    let side = Side::on_store(Box::new(store), all.to_vec());
    (side, faults)
}

fn keep(settings: &mut SessionSettings) {
    settings.resend.while_logged_off = WhileLoggedOff::Keep;
}

fn poisoned(side: &mut Side) {
    side.app.mood = Mood::Fails;
    for _ in 0..3 {
        let (next_in, _) = side.numbers(0).unwrap();
        side.log_on(0, next_in.0 + u64::from(next_in == SeqNum(2)), "");
        side.say(0, "35=D|34=2|11=a|");
        side.disconnect(0);
    }
    side.app.mood = Mood::Done;
    assert!(matches!(side.halted(0), Some(Halt::PoisonMessage { seq: SeqNum(2), .. })));
}

#[test]
fn a_store_that_works_again_does_not_end_the_halt_of_a_poison_message() {
    let (mut side, faults) = faulty(|_| {});
    poisoned(&mut side);
    faults.lock().unwrap().refuses = Some(A);
    assert!(side.skip(0, "desk: seen").is_err());
    assert!(matches!(side.halted(0), Some(Halt::StoreFailed(_))));
    faults.lock().unwrap().refuses = None;
    let resumed = side.resume(0, "desk: repaired");
    assert!(matches!(resumed, Err(OpenError::Halted(Halt::PoisonMessage { .. }))), "{resumed:?}");
    assert_eq!(side.next(0).deadline, None);
    side.skip(0, "desk: seen").unwrap();
    assert!(side.can_connect(0));
}

#[test]
fn a_store_that_is_locked_by_a_repair_is_retried_at_growing_intervals() {
    let (mut side, faults) = faulty(keep);
    side.log_on(0, 1, "");
    faults.lock().unwrap().refuses = Some(A);
    assert!(side.send(0, "a", 1).is_err());
    side.disconnect(0);
    *faults.lock().unwrap() = Faults { locked: true, ..Faults::default() };
    for _ in 0..10 {
        let at = side.next(0).deadline.unwrap();
        side.pass(at - side.now.mono);
        side.wake(0, &[]);
        assert!(side.next(0).deadline.unwrap() > side.now.mono);
        // Meanwhile no call reaches the closed store.
        assert_eq!(side.send(0, "a", 1), Err(SendError::Unavailable));
        assert!(side.log_out(0, "").is_err());
        assert!(side.skip(0, "desk: seen").is_err());
        let set = side.set_numbers(0, (None, Some(SeqNum(9))), "");
        assert_eq!(set, Err(ChangeError::Send(SendError::Unavailable)));
        side.show_store(0);
        side.connect(0);
        assert_eq!(side.disconnect(0), None);
        let to_it = side.act(1, |turn| report(turn.to(A).unwrap(), b"x"));
        assert_eq!(to_it, Err(SendError::Unavailable));
    }
    assert_eq!(faults.lock().unwrap().opened, 10);
    faults.lock().unwrap().locked = false;
    side.resume(0, "desk: repaired").unwrap();
    assert_eq!(side.next(0).deadline, None);
    assert_eq!(kinds(&side.log_on(0, 2, "")), "A");
}

/// A full disk: what is there can be opened, but nothing can be added.
#[test]
fn a_store_that_opens_but_refuses_stays_halted_and_is_retried_at_growing_intervals() {
    let (mut side, faults) = faulty(keep);
    side.log_on(0, 1, "");
    faults.lock().unwrap().refuses = Some(A);
    assert!(side.send(0, "a", 1).is_err());
    side.disconnect(0);
    for wait in [1, 2, 4, 8] {
        let due = side.next(0).deadline.unwrap();
        assert_eq!(due, side.now.mono + Duration::from_secs(wait));
        side.pass(due - side.now.mono);
        side.wake(0, &[]);
        assert!(matches!(side.halted(0), Some(Halt::StoreFailed(_))));
        assert!(!side.can_connect(0));
    }
    faults.lock().unwrap().refuses = None;
    let due = side.next(0).deadline.unwrap();
    side.pass(due - side.now.mono);
    side.wake(0, &[]);
    assert_eq!((side.halted(0), side.next(0).deadline), (None, None));
}

#[test]
fn a_store_that_turns_out_to_be_damaged_at_a_retry_is_reported_with_the_reason() {
    let (mut side, faults) = faulty(keep);
    faults.lock().unwrap().refuses = Some(A);
    assert!(side.send(0, "a", 1).is_err());
    *faults.lock().unwrap() = Faults {
        tells: Some(|recovered| recovered.damage = Some("segment-000002 is missing".to_owned())),
        ..Faults::default()
    };
    let due = side.next(0).deadline.unwrap();
    side.pass(due - side.now.mono);
    side.app.notes.clear();
    side.wake(0, &[]);
    assert!(matches!(side.halted(0), Some(Halt::StoreDamaged { .. })));
    assert!(side.app.notes[0].contains("segment-000002 is missing"), "{:?}", side.app.notes);
    assert_eq!(side.next(0).deadline, None);
}

#[test]
fn waiting_messages_are_reported_as_not_reached_if_the_store_returns_with_new_sequence_numbers() {
    let (mut side, faults) = faulty(keep);
    side.send(0, "a", 1).unwrap();
    side.send(0, "b", 1).unwrap();
    faults.lock().unwrap().refuses = Some(A);
    assert!(side.send(0, "c", 1).is_err());
    // It was reset meanwhile.
    *faults.lock().unwrap() = Faults {
        tells: Some(|recovered| {
            *recovered = Recovered { generation: Generation(1), ..Recovered::default() };
        }),
        ..Faults::default()
    };
    // The store below only pretends to have been reset, and refuses the record of the resumption.
    let resumed = side.resume(0, "desk: repaired");
    assert!(matches!(resumed, Err(OpenError::Halted(Halt::StoreFailed(_)))), "{resumed:?}");
    assert_eq!(side.app.unreached, [(SeqNum(1), SeqNum(2), Unreached::Reset)]);
}

#[test]
fn a_session_halted_by_another_ones_transaction_is_reported_to_the_driver() {
    let (mut side, faults) = faulty(keep);
    side.log_on(0, 1, "");
    side.log_on(1, 1, "");
    side.take(0);
    side.take(1);
    side.polled();
    faults.lock().unwrap().refuses = Some(B);
    let both = |side: &mut Side| side.act(0, |turn| report(turn.to(B).unwrap(), b"x"));
    assert!(both(&mut side).is_err());
    assert!(side.next(1).close);
    assert_eq!(side.polled(), [A, B], "its connection must be closed");
    side.disconnect(1);
    faults.lock().unwrap().refuses = None;
    side.resume(1, "desk: repaired").unwrap();
    // Without a connection it has a deadline that it did not have before.
    faults.lock().unwrap().refuses = Some(B);
    side.polled();
    assert!(both(&mut side).is_err());
    assert!(side.next(1).deadline.is_some());
    assert_eq!(side.polled(), [A, B]);
}

#[test]
fn a_store_that_fails_on_its_own_is_retried_even_without_a_connection() {
    let (mut side, faults) = faulty(keep);
    faults.lock().unwrap().fails = Some(B);
    side.polled();
    side.store_advanced();
    assert_eq!(side.polled(), [B]);
    assert!(!side.can_connect(1));
    let at = side.next(1).deadline.unwrap();
    side.pass(at - side.now.mono);
    side.wake(1, &[]);
    assert!(side.can_connect(1));
    assert_eq!(side.next(1).deadline, None);
}

/// Forgets what it had each time it is opened, and is damaged then, and fails, if it is told to.
#[derive(Clone, Default)]
struct Forgetful(Arc<Mutex<(bool, Option<SessionKey>)>>);

impl Intercept<MemoryStore> for Forgetful {
    fn open(
        &mut self,
        store: &mut MemoryStore,
        key: SessionKey,
        id: &SessionId,
    ) -> Result<Recovered, StoreError> {
        *store = MemoryStore::new();
        let found = store.open(key, id)?;
        let damage = self.0.lock().unwrap().0.then(|| "broken".to_owned());
        Ok(Recovered { damage, ..found })
    }
    fn durable(&mut self, _: &mut MemoryStore, _: SessionKey) -> Option<Position> {
        Some(Position::default())
    }
    fn take_failure(&mut self, _: &mut MemoryStore) -> Option<(SessionKey, StoreError)> {
        let key = self.0.lock().unwrap().1.take()?;
        Some((key, StoreError::Full { place: "test".into() }))
    }
}

/// What a store has lost is told, whatever else is wrong with it.
// R-RESEND-5
#[test]
fn messages_that_a_damaged_store_has_lost_are_told() {
    for damaged in [false, true] {
        let forgetful = Forgetful::default();
        let store = Intercepted::new(MemoryStore::new(), forgetful.clone());
        let all =
            vec![settings("A", Role::Acceptor).with(|s| s.resend.while_logged_off = WhileLoggedOff::Keep)];
        let mut side = Side::on_store(Box::new(store), all);
        side.send(0, "a", 1).unwrap();
        side.send(0, "b", 1).unwrap();
        *forgetful.0.lock().unwrap() = (damaged, Some(side.key(0)));
        side.store_advanced();
        assert!(side.halted(0).is_some());
        side.pass(Duration::from_secs(1));
        side.wake(0, &[]);
        forgetful.0.lock().unwrap().0 = false;
        drop(side.resume(0, "repaired"));
        assert_eq!(side.app.unreached, [(SeqNum(1), SeqNum(2), Unreached::NotStored)], "damaged: {damaged}");
    }
}
