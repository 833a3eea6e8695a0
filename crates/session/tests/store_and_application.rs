//! What the application sees of a store: one that is new, refuses a record, is damaged where it is
//! read, or holds passwords, or larger messages than the session accepts now.

use std::ops::ControlFlow;
use std::sync::{Arc, Mutex};

use fixbolt_codec::SeqNum;
use fixbolt_conformance::testing::{App, BEGIN, Side, kinds, order, settings};
use fixbolt_journal::{DirectoryStore, MemoryStore};
use fixbolt_session::store::{Intercept, Intercepted, Record, RecordKind, Store, StoreError};
use fixbolt_session::{
    ChangeError, Direction, Failure, Halt, Role, SendError, SessionKey, SessionReject, SessionRejectCode,
    SessionSettings,
};

#[test]
fn a_store_with_passwords_in_its_logons_can_be_shown() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let mut own = settings("A", Role::Acceptor);
    own.logon.password = "ours".into();
    own.logon.new_password = "changed".into();
    own.logon.raw_data = "s\x01554=t".into();
    let mut side = Side::with_app(App::default(), vec![own]);
    side.connect(0);
    assert_eq!(kinds(&side.say(0, "35=A|34=1|98=0|108=30|554=theirs|")), "A");
    let kept = Arc::clone(&seen);
    side.app.resume = Box::new(move |resume| {
        resume.messages(|stored| {
            let text = String::from_utf8_lossy(stored.message.bytes()).replace('\x01', "|");
            kept.lock().unwrap().push((stored.direction, text));
            Ok(())
        })
    });
    side.show_store(0);
    assert_eq!(side.halted(0), None);
    let seen = seen.lock().unwrap();
    let [(Direction::Inbound, theirs), (Direction::Outbound, ours)] = &seen[..] else { panic!("{seen:?}") };
    assert!(theirs.contains("|554=******|"), "{theirs}");
    assert!(ours.contains("|95=7|96=*******|554=****|925=*******|"), "{ours}");
}

/// A store in memory that refuses records of one session, or reading from it, when told to.
struct Frail(Arc<Mutex<Option<Fault>>>);

#[derive(Clone, PartialEq)]
enum Fault {
    Append,
    Replay,
}

impl Frail {
    fn fails(&self, with: Fault) -> bool {
        *self.0.lock().unwrap() == Some(with)
    }
}

impl Intercept<MemoryStore> for Frail {
    fn append(
        &mut self,
        store: &mut MemoryStore,
        session: SessionKey,
        record: &Record<'_>,
    ) -> Result<(), StoreError> {
        if record.kind == RecordKind::Outbound && self.fails(Fault::Append) {
            // Once.
            *self.0.lock().unwrap() = None;
            return Err(StoreError::Full { place: "test".into() });
        }
        store.append(session, record)
    }
    fn replay(
        &mut self,
        store: &mut MemoryStore,
        session: SessionKey,
        visit: &mut dyn FnMut(Record<'_>) -> ControlFlow<()>,
    ) -> Result<(), StoreError> {
        if self.fails(Fault::Replay) {
            return Err(StoreError::Damaged { place: "file 1".into(), reason: "checksum".into() });
        }
        store.replay(session, visit)
    }
}

fn on_store(app: App, store: impl Store + 'static, settings: SessionSettings) -> Side<App> {
    Side::begin(BEGIN, app, Box::new(store), vec![settings])
}

fn frail(settings: SessionSettings) -> (Side<App>, Arc<Mutex<Option<Fault>>>) {
    let fault = Arc::new(Mutex::new(None));
    let store = Intercepted::new(MemoryStore::new(), Frail(Arc::clone(&fault)));
    (on_store(App::default(), store, settings), fault)
}

#[test]
fn a_store_that_refuses_an_answer_halts_the_session_even_if_the_application_rejects_the_message() {
    let (mut side, fault) = frail(settings("A", Role::Acceptor));
    side.connect(0);
    side.say(0, "35=A|34=1|98=0|108=30|");
    *fault.lock().unwrap() = Some(Fault::Append);
    side.app.message = Box::new(|_, turn| {
        let refused = order(turn, "x");
        assert!(matches!(refused, Err(Failure::Send(SendError::Store(_)))));
        Err(SessionReject::new(SessionRejectCode::OTHER).into())
    });
    assert!(side.say(0, "35=D|34=2|11=a|").is_empty());
    assert!(matches!(side.halted(0), Some(Halt::StoreFailed(_))));
    assert_eq!(side.numbers(0), Some((SeqNum(2), SeqNum(2))), "it is delivered again");
}

#[test]
fn a_store_that_is_damaged_where_the_application_reads_it_halts_as_damaged_and_is_closed_for_repair() {
    let (mut side, fault) = frail(settings("A", Role::Acceptor));
    side.app.resume = Box::new(|resume| {
        resume.messages(|_| Ok(())).map_err(|_| Failure::new("in its own words"))?;
        Ok(())
    });
    *fault.lock().unwrap() = Some(Fault::Replay);
    side.show_store(0);
    let halt = Halt::StoreDamaged { reason: "file 1: checksum".to_owned() };
    assert_eq!(side.halted(0), Some(&halt));
    // The store is closed for this session: no call reaches it any more.
    let set = side.set_numbers(0, (None, Some(SeqNum(9))), "");
    assert_eq!(set, Err(ChangeError::Send(SendError::Unavailable)));
    // Repaired.
    *fault.lock().unwrap() = None;
    assert_eq!(side.resume(0, "a test"), Ok(()));
}

#[test]
fn a_store_with_larger_messages_than_the_session_accepts_now_can_be_shown() {
    let own = settings("A", Role::Acceptor);
    let directory = std::env::temp_dir().join(format!("fixbolt-larger-messages-{}", std::process::id()));
    let store = || DirectoryStore::new(&directory);
    let mut side = on_store(App::default(), store(), own.clone());
    side.connect(0);
    side.say(0, "35=A|34=1|98=0|108=30|");
    let many: String = (0..6000).map(|n| format!("{}=1|", 10_000 + n)).collect();
    side.say(0, &format!("35=D|34=2|{many}"));
    assert_eq!(side.numbers(0).unwrap().0, SeqNum(3));
    let mut app = side.close_all().unwrap();
    let fields = Arc::new(Mutex::new(0));
    let seen = Arc::clone(&fields);
    app.resume = Box::new(move |resume| {
        resume.messages(|stored| {
            *seen.lock().unwrap() = stored.message.len();
            Ok(())
        })
    });
    let small = own.with(|s| s.limits.max_message_size = 8 * 1024);
    let side = on_store(app, store(), small);
    assert_eq!(side.halted(0), None);
    side.close_all().unwrap();
    std::fs::remove_dir_all(&directory).unwrap();
    assert!(*fields.lock().unwrap() > 6000);
}

#[test]
fn a_new_store_is_an_event_and_one_that_was_used_is_not() {
    let own = settings("A", Role::Acceptor);
    let directory = std::env::temp_dir().join(format!("fixbolt-new-store-{}", std::process::id()));
    let store = || DirectoryStore::new(&directory);
    let is_new = |side: &Side<App>| side.app.events.iter().any(|e| e.contains("the store is new"));
    let mut side = on_store(App::default(), store(), own.clone());
    assert!(is_new(&side));
    side.connect(0);
    side.say(0, "35=A|34=1|98=0|108=30|");
    side.close_all().unwrap();
    let side = on_store(App::default(), store(), own);
    assert!(!is_new(&side));
    drop(side);
    std::fs::remove_dir_all(&directory).unwrap();
}
