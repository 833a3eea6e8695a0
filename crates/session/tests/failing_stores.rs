//! Calls in an unusual order, stores that fail at an unusual moment, counterparties that send
//! unusual messages: faults found in a review of the session core.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use fixbolt_codec::SeqNum;
use fixbolt_conformance::store::{Intercept, Intercepted};
use fixbolt_conformance::testing::{Mood, Side, kinds, report, settings};
use fixbolt_journal::{MemoryStore, NoStore};
use fixbolt_session::store::{Generation, Record, Recovered, Store, StoreError};
use fixbolt_session::{
    Halt, OpenError, Phase, Role, SendError, SessionEnd, SessionId, SessionKey, SessionSettings, Unreached,
    WhileLoggedOff,
};

const A: SessionKey = SessionKey::new(0, 0, 0);
const B: SessionKey = SessionKey::new(0, 1, 1);

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

fn keep(settings: &mut SessionSettings) {
    settings.while_logged_off = WhileLoggedOff::Keep;
}

/// The answer to a Logout is awaited for LogoutTimeout, whatever else the counterparty asks
/// meanwhile.
#[test]
fn a_counterparty_that_keeps_sending_does_not_delay_the_end_of_a_logout() {
    let mut side = logged_on(|_| {});
    side.log_out(0, "").unwrap();
    assert_eq!(kinds(&side.take(0)), "5");
    for seq in 2..=5 {
        side.pass(Duration::from_secs(1));
        side.say(0, &format!("35=1|34={seq}|112=still there|"));
    }
    assert!(side.next(0).close, "four seconds after a Logout that was not answered");
    assert_eq!(side.disconnect(0), Some(SessionEnd::LogoutTimedOut));
}

#[test]
fn a_logout_after_a_replay_is_sent_even_if_the_store_keeps_nothing() {
    let mut side = over(Box::new(NoStore::new()), |settings| settings.outbox_size = 16 * 1024);
    side.log_on(0, 1, "");
    while side.send(0, "x", 900).is_ok() {}
    let bytes = side.wire(0, "35=2|34=2|7=1|16=0|");
    side.hear(0, &bytes);
    side.log_out(0, "").unwrap();
    let out = side.take(0);
    assert!(out.last().unwrap().contains("|35=5|"), "{:?}", out.last());
}

#[test]
fn a_resent_logout_is_not_answered_when_its_sequence_number_is_due() {
    let mut side = logged_on(|_| {});
    let time = side.time();
    assert_eq!(kinds(&side.say(0, &format!("35=5|34=3|43=Y|122={time}|"))), "2");
    assert_eq!(kinds(&side.say(0, "35=0|34=2|")), "");
    assert_eq!(side.phase(0), Phase::LoggedOn);
    assert_eq!(side.numbers(0).unwrap().0, SeqNum(4));
}

#[test]
fn a_sequence_number_that_cannot_be_set_halts_nothing() {
    let mut side = logged_on(|_| {});
    for numbers in [(None, Some(SeqNum::MAX)), (Some(SeqNum::MAX), None), (Some(SeqNum::ZERO), None)] {
        let set = side.set_numbers(0, numbers, "typing error");
        assert!(matches!(set, Err(SendError::Application(_))), "{set:?}");
        assert_eq!((side.halted(0), side.next(0).close), (None, false));
    }
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
fn skipping_a_poison_message_does_not_undo_what_an_operator_has_set() {
    let (mut side, _) = faulty(|_| {});
    poisoned(&mut side);
    side.set_numbers(0, (Some(SeqNum(10)), None), "by hand").unwrap();
    side.skip(0, "desk: seen").unwrap();
    assert_eq!(side.numbers(0).unwrap().0, SeqNum(10));
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
        assert_eq!(set, Err(SendError::Unavailable));
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

/// Both sides log out at the same time, and our Logout still waits for a replay: the counterparty
/// receives it before the connection ends.
#[test]
fn logouts_that_cross_during_a_replay_are_both_sent() {
    let mut side = logged_on(|settings| settings.outbox_size = 16 * 1024);
    for _ in 0..100 {
        side.send(0, "x", 900).unwrap();
        side.take(0);
    }
    let bytes = side.wire(0, "35=2|34=2|7=1|16=0|");
    side.hear(0, &bytes);
    side.log_out(0, "").unwrap();
    let bytes = side.wire(0, "35=5|34=3|");
    side.hear(0, &bytes);
    let out = kinds(&side.take(0));
    assert!(out.ends_with('5') && out.matches('5').count() == 1, "{out}");
    assert_eq!(side.phase(0), Phase::LogoutAnswered);
    assert_eq!(side.disconnect(0), Some(SessionEnd::LoggedOutByPeer));
}

#[test]
fn a_session_whose_application_panics_outside_its_own_calls_is_reported_to_the_driver() {
    let mut side = logged_on(|_| {});
    side.take(0);
    side.polled();
    let _: Result<(), _> = side.act(0, |_| panic!("application bug"));
    assert!(side.next(0).close);
    assert_eq!(side.polled(), [A]);
    let mut side = logged_on(|_| {});
    side.take(0);
    side.polled();
    side.app.panic_in = "on_event";
    side.notify(0, &fixbolt_session::Event::Resumed);
    assert!(side.next(0).close);
    assert_eq!(side.polled(), [A]);
}

#[test]
fn messages_that_no_socket_accepted_are_reported_as_not_reached_after_a_reset() {
    let mut side = logged_on(|settings| settings.reset_on_disconnect = true);
    side.take(0);
    side.send(0, "a", 1).unwrap();
    side.take(0);
    for id in ["b", "c"] {
        side.send(0, id, 1).unwrap();
    }
    side.disconnect(0);
    assert_eq!(side.app.unreached, [(SeqNum(3), SeqNum(4), Unreached::Reset)]);
}
