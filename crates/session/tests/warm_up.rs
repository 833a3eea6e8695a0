//! A session that is warmed up does exactly what it does otherwise.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use fixbolt_conformance::testing::{Side, kinds, settings};
use fixbolt_journal::{DirectoryStore, MemoryStore};
use fixbolt_session::runtime::{mono, session_key};
use fixbolt_session::store::{Intercept, Intercepted, Record, SessionKey, Store, StoreError};
use fixbolt_session::{CodecClock, Rate, Role, SessionSettings, WireMessage, WireObserver};

const KEY: SessionKey = session_key(0, 0, 0);

/// Counts the records of rehearsals, and refuses those after the first `room` records.
struct Counting {
    rehearsals: Arc<AtomicUsize>,
    room: usize,
}

impl<S: Store> Intercept<S> for Counting {
    fn append(&mut self, store: &mut S, session: SessionKey, record: &Record<'_>) -> Result<(), StoreError> {
        if record.body.windows(9).any(|bytes| bytes == b"REHEARSAL") {
            self.rehearsals.fetch_add(1, Ordering::Relaxed);
        }
        let full = StoreError::Full { place: "test disk".to_owned() };
        self.room = self.room.checked_sub(1).ok_or(full)?;
        store.append(session, record)
    }
}

/// Keeps every message that it is shown.
#[derive(Default)]
struct Shown(Mutex<Vec<String>>);

impl WireObserver for Shown {
    fn on_wire(&self, message: &WireMessage<'_>) {
        self.0.lock().unwrap().push(format!("{message:?}"));
    }
}

fn acceptor(change: impl FnOnce(&mut SessionSettings)) -> Vec<SessionSettings> {
    vec![settings("PEER", Role::Acceptor).with(change)]
}

/// Runs two connections with a resend. Returns everything that can be seen of it.
fn exchange(warms_up: bool, rehearsals: &Arc<AtomicUsize>) -> Vec<String> {
    let counting = Counting { rehearsals: Arc::clone(rehearsals), room: usize::MAX };
    let store = Intercepted::new(MemoryStore::new(), counting);
    let shown = Arc::new(Shown::default());
    let clock = CodecClock::new(|| mono(0));
    let mut side = Side::on_store(Box::new(store), acceptor(|s| s.timing.codec_timing = Some(clock)));
    if warms_up {
        side = side.warmed_up(None);
    }
    side = side.observed_by(Arc::clone(&shown) as Arc<dyn WireObserver>);
    let mut seen = side.log_on(0, 1, "");
    seen.extend(side.say(0, "35=D|34=2|11=a|"));
    seen.extend(side.say(0, "35=1|34=3|112=x|"));
    side.disconnect(0);
    seen.extend(side.log_on(0, 4, ""));
    seen.extend(side.say(0, "35=D|34=5|11=b|"));
    // In the middle of a connection, too.
    let before = side.sessions().snapshot(KEY);
    assert!(!warms_up || side.warm_up(0));
    assert_eq!(side.sessions().snapshot(KEY), before);
    assert_eq!(side.writable(0), b"");
    seen.extend(side.say(0, "35=2|34=6|7=1|16=0|"));
    side.disconnect(0);
    seen.extend(side.app.got.clone());
    seen.extend(side.app.notes.clone());
    seen.extend(side.app.codec_times.iter().map(|times| format!("{times:?}")));
    seen.extend(shown.0.lock().unwrap().iter().cloned());
    seen
}

#[test]
fn a_warm_up_leaves_no_trace_in_what_a_session_sends_stores_and_tells() {
    let rehearsals = Arc::new(AtomicUsize::new(0));
    let expected = exchange(false, &rehearsals);
    assert_eq!(rehearsals.load(Ordering::Relaxed), 0);
    assert_eq!(exchange(true, &rehearsals), expected);
    // One for each connection, before the Logon, and the one in between.
    assert_eq!(rehearsals.load(Ordering::Relaxed), 3);
}

#[test]
fn a_warm_up_leaves_no_trace_in_a_journal() {
    let dir = std::env::temp_dir().join(format!("fixbolt-warm-up-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&dir);
    for first in [1, 3] {
        let mut side =
            Side::on_store(Box::new(DirectoryStore::new(dir.clone())), acceptor(|_| {})).warmed_up(None);
        assert!(side.warm_up(0));
        let answer = side.log_on(0, first, "").concat();
        assert!(answer.contains(&format!("34={first}|")), "{answer}");
        side.say(0, &format!("35=D|34={}|11=a|", first + 1));
        side.disconnect(0);
        side.close_all().unwrap();
    }
    let mut segments = 0;
    for journal in std::fs::read_dir(&dir).unwrap() {
        for file in std::fs::read_dir(journal.unwrap().path()).unwrap() {
            let file = file.unwrap();
            if file.file_name().to_string_lossy().starts_with("segment-") {
                let bytes = std::fs::read(file.path()).unwrap();
                assert!(bytes.windows(5).any(|bytes| bytes == b"\x0135=8") || segments > 0);
                assert!(!bytes.windows(9).any(|bytes| bytes == b"REHEARSAL"));
                segments += 1;
            }
        }
    }
    assert_ne!(segments, 0);
    std::fs::remove_dir_all(&dir).unwrap();
}

#[test]
fn a_store_that_refuses_a_warm_up_does_not_halt_the_session() {
    let counting = Counting { rehearsals: Arc::default(), room: 0 };
    let store = Intercepted::new(MemoryStore::new(), counting);
    let mut side = Side::on_store(Box::new(store), acceptor(|_| {}));
    assert!(!side.warm_up(0));
    assert_eq!(side.halted(0), None);
    // The Logon meets the same store.
    side.log_on(0, 1, "");
    assert!(side.halted(0).is_some());
    assert!(!side.warm_up(0));
}

#[test]
fn a_warm_up_of_a_session_whose_throttle_is_full_leaves_no_timer() {
    let mut side = Side::new(acceptor(|s| s.throttle.max_outbound_rate = Rate::per_second(1))).logged_on();
    side.send(0, "one", 1).unwrap();
    assert_eq!(kinds(&side.take(0)), "D");
    side.wake(0, &[]);
    let before = side.next(0);
    assert!(!side.warm_up(0), "no permit is left");
    assert_eq!(side.next(0), before);
}

#[test]
fn sessions_that_are_logged_on_are_warmed_up_again_and_again_sixteen_at_a_time() {
    const EVERY: Duration = Duration::from_millis(10);
    let rehearsals: Arc<AtomicUsize> = Arc::default();
    let counting = Counting { rehearsals: Arc::clone(&rehearsals), room: usize::MAX };
    let all = (0..20).map(|n| settings(&format!("PEER{n}"), Role::Acceptor)).collect();
    let mut side = Side::on_store(Box::new(Intercepted::new(MemoryStore::new(), counting)), all);
    assert_eq!(side.warm_up_due(), None);
    side = side.warmed_up(Some(EVERY));
    let warmed = |side: &mut Side| {
        let before = rehearsals.load(Ordering::Relaxed);
        let next = side.warm_up_due().unwrap();
        (rehearsals.load(Ordering::Relaxed) - before, next)
    };
    // The first time is noted only, and sessions without a logon are left out.
    assert_eq!(warmed(&mut side), (0, side.now.mono + EVERY));
    side.pass(EVERY);
    assert_eq!(warmed(&mut side), (0, side.now.mono + EVERY));
    for n in 0..20 {
        side.log_on(n, 1, "");
    }
    assert_eq!(warmed(&mut side), (0, side.now.mono + EVERY));
    for expected in [16, 16] {
        side.pass(EVERY);
        assert_eq!(warmed(&mut side), (expected, side.now.mono + EVERY));
    }
    for n in 1..20 {
        side.disconnect(n);
    }
    side.pass(EVERY);
    assert_eq!(warmed(&mut side).0, 1);
}
