//! Messages that do not reach the counterparty are reported to the application.

use std::sync::{Arc, Mutex};

use fixbolt_codec::SeqNum;
use fixbolt_conformance::store::{Intercept, Intercepted};
use fixbolt_conformance::testing::{Side, kinds, settings};
use fixbolt_journal::MemoryStore;
use fixbolt_session::store::{Generation, Record, Recovered, Store, StoreError};
use fixbolt_session::{
    Halt, OpenError, Role, SessionId, SessionKey, SessionSettings, Unreached, WhileLoggedOff,
};

fn over(store: Box<dyn Store>, change: fn(&mut SessionSettings)) -> Side {
    let mut settings = settings("PEER", Role::Acceptor);
    change(&mut settings);
    Side::on_store(store, vec![settings])
}

const RESET: &str = "35=A|34=1|98=0|108=30|141=Y|";

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

const A: SessionKey = SessionKey::new(0, 0, 0);

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

fn logged_on(change: fn(&mut SessionSettings)) -> Side {
    Side::new(vec![settings("PEER", Role::Acceptor).with(change)]).logged_on()
}

fn keep(settings: &mut SessionSettings) {
    settings.while_logged_off = WhileLoggedOff::Keep;
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
