//! Sessions whose journals are created with their first record, while others go on.

use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use fixbolt_codec::SeqNum;
use fixbolt_session::WorkerWaker;
use fixbolt_session::runtime::session_key;
use fixbolt_session::store::{
    Abilities, Acknowledges, Forgets, Intercept, Intercepted, OpensLater, Position, Recovered, Reports,
    Store, StoreError,
};

use super::*;
use crate::store::pending::MOST;
use crate::testing::{Hook, Operation, TempDir, inbound, key, outbound, reset, wait_for_creation};
use crate::values::mutex::lock;

/// A file system on which no directory of session A, B or C is created as long as the gate is held.
#[derive(Default)]
struct Gate(Mutex<Option<io::ErrorKind>>);

impl Hook for Gate {
    fn before(&self, operation: Operation, path: &Path) -> io::Result<()> {
        if operation == Operation::CreateDir && !path.ends_with(session("LIVE").file_name()) {
            return lock(&self.0).map_or(Ok(()), |kind| Err(kind.into()));
        }
        Ok(())
    }
}

/// Counts how often it is called.
#[derive(Default)]
struct Bell(AtomicUsize);

impl WorkerWaker for Bell {
    fn session_ready(&self, _: SessionKey) {}
    fn store_advanced(&self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

const A: SessionKey = session_key(0, 0, 0);
const LIVE: SessionKey = session_key(0, 1, 1);

/// Returns a store behind a gate, with session A open lazily and session LIVE open.
fn gated(dir: &TempDir, gate: &Arc<Gate>) -> (DirectoryStore, Arc<Bell>) {
    let mut store = DirectoryStore::over(dir.path().to_owned(), Arc::clone(gate) as _);
    let bell = Arc::new(Bell::default());
    store.set_waker(Arc::clone(&bell) as _);
    store.open(LIVE, &session("LIVE")).unwrap();
    assert_eq!(store.open_lazily(A, &session("A")).unwrap(), Recovered::default());
    (store, bell)
}

fn commit(store: &mut DirectoryStore, key: SessionKey, records: &[Record<'_>]) -> Position {
    store.begin();
    for record in records {
        store.append(key, record).unwrap();
    }
    store.commit().unwrap().position
}

fn wait_until_durable(store: &mut DirectoryStore, key: SessionKey, position: Position) {
    while store.durable(key) < position {
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn bodies(store: &mut DirectoryStore, key: SessionKey) -> Vec<Vec<u8>> {
    let mut bodies = Vec::new();
    let mut visit = |record: Record<'_>| {
        bodies.push(record.body.to_vec());
        ControlFlow::Continue(())
    };
    store.replay(key, &mut visit).unwrap();
    bodies
}

const ALL: std::ops::RangeInclusive<SeqNum> = SeqNum(1)..=SeqNum::MAX;

#[test]
fn a_journal_that_is_opened_lazily_is_created_with_its_first_committed_record() {
    let dir = TempDir::new("lazy");
    let mut store = DirectoryStore::new(dir.path());
    let place = directory(dir.path());
    for n in 0..3 {
        let key = key(n);
        assert_eq!(store.open_lazily(key, &session("A")).unwrap(), Recovered::default());
        assert!(matches!(store.open_lazily(key, &session("A")), Err(StoreError::Locked { .. })));
        assert!(matches!(store.open(key, &session("A")), Err(StoreError::Locked { .. })));
        store.set_resend_horizon(key, 7);
        store.begin();
        store.append(key, &outbound(1, b"first")).unwrap();
        store.rollback();
        assert_eq!(store.read(key, Generation(0), ALL).unwrap(), None);
        store.replay(key, &mut |_| panic!("a record")).unwrap();
        assert_eq!(store.take_failure(), None);
        store.close(key).unwrap();
        assert!(!place.exists(), "nothing was stored");
    }
    store.open_lazily(key(3), &session("A")).unwrap();
    store.set_resend_horizon(key(3), 7);
    let position = commit(&mut store, key(3), &[outbound(1, b"first")]);
    wait_until_durable(&mut store, key(3), position);
    assert_eq!(read_body(&mut store, key(3), 0, 1).unwrap(), b"first");
    assert_eq!(store.horizon(key(3)), 7);
    store.close(key(3)).unwrap();
    assert_eq!(store.open_lazily(key(4), &session("A")).unwrap().next_out, SeqNum(2));
    assert_eq!(read_body(&mut store, key(4), 0, 1).unwrap(), b"first");
}

#[test]
fn a_session_whose_journal_is_not_there_yet_waits_and_no_other_one_does() {
    let (dir, gate) = (TempDir::new("pending"), Arc::new(Gate::default()));
    let (mut store, bell) = gated(&dir, &gate);
    let held = lock(&gate.0);
    let first = commit(&mut store, A, &[inbound(1, b"logon"), outbound(1, b"answer")]);
    let live = commit(&mut store, LIVE, &[outbound(1, b"live")]);
    assert!(live > first);
    commit(&mut store, A, &[reset(1, 1), outbound(1, b"again")]);
    let second = commit(&mut store, A, &[outbound(2, b"second")]);
    store.begin();
    store.append(A, &outbound(3, b"undone")).unwrap();
    assert!(matches!(store.append(A, &outbound(2, b"reused")), Err(StoreError::NumberReused { .. })));
    store.rollback();
    for _ in 0..3 {
        assert_eq!(store.durable(A), Position(0));
        assert!(store.durable(LIVE) >= live);
        assert_eq!(store.take_failure(), None);
    }
    // It reads as it will from the journal.
    let check = |store: &mut DirectoryStore| {
        assert_eq!(bodies(store, A), [&b"test: reset"[..], b"again", b"second"]);
        assert_eq!(read_body(store, A, 1, 2).unwrap(), b"second");
        assert_eq!(store.read(A, Generation(1), ALL).unwrap().unwrap().seq, SeqNum(1));
        assert_eq!(read_body(store, A, 1, 3), None);
    };
    check(&mut store);
    let before = bell.0.load(Ordering::SeqCst);
    drop(held);
    while bell.0.load(Ordering::SeqCst) == before {
        std::thread::sleep(Duration::from_millis(1));
    }
    assert!(store.durable(A) >= second, "the waker was called before it was there");
    check(&mut store);
    let third = commit(&mut store, A, &[outbound(3, b"third")]);
    assert!(store.durable(A) >= third);
    store.crash();
    let recovered = store.open(A, &session("A")).unwrap();
    assert_eq!((recovered.generation, recovered.next_out), (Generation(1), SeqNum(4)));
    assert_eq!(recovered.damage, None);
    assert_eq!(read_body(&mut store, A, 1, 3).unwrap(), b"third");
}

#[test]
fn what_was_not_durable_is_not_there_after_the_death_of_the_process() {
    let (dir, gate) = (TempDir::new("pending-death"), Arc::new(Gate::default()));
    let (mut store, _) = gated(&dir, &gate);
    let held = lock(&gate.0);
    commit(&mut store, A, &[inbound(1, b"logon"), outbound(1, b"answer")]);
    assert_eq!(store.durable(A), Position(0));
    store.crash();
    drop(held);
    drop(store);
    let mut store = DirectoryStore::new(dir.path());
    assert_eq!(store.open(A, &session("A")).unwrap(), Recovered::default());
}

#[test]
fn a_turn_of_several_sessions_waits_for_their_journals() {
    for resets in [false, true] {
        let (dir, gate) = (TempDir::new("pending-both"), Arc::new(Gate::default()));
        let (mut store, _) = gated(&dir, &gate);
        let held = lock(&gate.0);
        if resets {
            // The journal is on its way already.
            commit(&mut store, A, &[inbound(1, b"logon"), outbound(1, b"answer"), reset(1, 1)]);
        }
        std::thread::scope(|scope| {
            let both = scope.spawn(|| {
                store.begin();
                store.append(LIVE, &inbound(1, b"in")).unwrap();
                store.append(A, &outbound(1, b"a")).unwrap();
                store.append(LIVE, &outbound(1, b"out")).unwrap();
                store.commit().unwrap();
            });
            std::thread::sleep(Duration::from_millis(30));
            assert!(!both.is_finished());
            drop(held);
        });
        store.crash();
        let generation = u32::from(resets);
        for (key, name, body) in [(A, "A", &b"a"[..]), (LIVE, "LIVE", b"out")] {
            assert_eq!(store.open(key, &session(name)).unwrap().damage, None);
            let generation = if key == A { generation } else { 0 };
            assert_eq!(read_body(&mut store, key, generation, 1).unwrap(), body);
        }
    }
}

#[test]
fn memory_for_a_session_whose_journal_is_not_there_is_bounded() {
    let (dir, gate) = (TempDir::new("pending-most"), Arc::new(Gate::default()));
    let (mut store, _) = gated(&dir, &gate);
    let held = lock(&gate.0);
    let large = vec![b'x'; MOST / 4];
    for n in 1..=4 {
        commit(&mut store, A, &[inbound(n, &large)]);
    }
    std::thread::scope(|scope| {
        let fifth = scope.spawn(|| commit(&mut store, A, &[inbound(5, &large)]));
        std::thread::sleep(Duration::from_millis(30));
        assert!(!fifth.is_finished());
        drop(held);
    });
    assert_eq!(bodies(&mut store, A), vec![large; 5]);
    store.close(A).unwrap();
    assert_eq!(store.open(A, &session("A")).unwrap().next_in, SeqNum(6));
    // Nor does a first record count that is larger than that.
    store.open_lazily(key(2), &session("C")).unwrap();
    commit(&mut store, key(2), &[inbound(1, &vec![b'x'; MOST + 1])]);
    assert_eq!(bodies(&mut store, key(2))[0].len(), MOST + 1);
}

#[test]
fn a_journal_that_cannot_be_created_is_a_failure_of_its_session_only() {
    let (dir, gate) = (TempDir::new("pending-full"), Arc::new(Gate::default()));
    let (mut store, bell) = gated(&dir, &gate);
    *lock(&gate.0) = Some(io::ErrorKind::StorageFull);
    let before = bell.0.load(Ordering::SeqCst);
    let position = commit(&mut store, A, &[outbound(1, b"answer")]);
    while bell.0.load(Ordering::SeqCst) == before {
        std::thread::sleep(Duration::from_millis(1));
    }
    assert!(matches!(store.take_failure(), Some((A, StoreError::Full { .. }))));
    assert_eq!(store.take_failure(), None);
    assert!(store.durable(A) < position);
    store.begin();
    assert!(matches!(store.append(A, &outbound(2, b"x")), Err(StoreError::Full { .. })));
    store.rollback();
    let live = commit(&mut store, LIVE, &[outbound(1, b"live")]);
    assert!(store.durable(LIVE) >= live);
    // Where several sessions take part, nothing becomes visible.
    store.open_lazily(key(2), &session("C")).unwrap();
    store.begin();
    store.append(LIVE, &outbound(2, b"both")).unwrap();
    // It is the other session that fails, not the one whose message is processed.
    assert!(matches!(store.append(key(2), &outbound(1, b"both")), Err(StoreError::Full { .. })));
    store.rollback();
    assert_eq!(read_body(&mut store, LIVE, 0, 2), None);
    store.close_later(key(2)).unwrap();
    assert_eq!(store.open_lazily(key(2), &session("C")).unwrap(), Recovered::default());
    store.begin();
    store.append(key(2), &outbound(1, b"both")).unwrap();
    store.append(LIVE, &outbound(2, b"both")).unwrap();
    assert!(matches!(store.commit(), Err(StoreError::Full { .. })));
    assert_eq!(read_body(&mut store, LIVE, 0, 2), None);
    assert!(matches!(store.close(A), Err(StoreError::Full { .. })));
    // The operator has made room.
    *lock(&gate.0) = None;
    assert_eq!(store.open(A, &session("A")).unwrap(), Recovered::default());
    let position = commit(&mut store, A, &[outbound(1, b"answer")]);
    assert!(store.durable(A) >= position);
}

#[test]
fn a_session_that_is_closed_before_its_journal_is_there_keeps_its_numbers() {
    let (dir, gate) = (TempDir::new("pending-close"), Arc::new(Gate::default()));
    for drops in [false, true] {
        let (mut store, _) = gated(&dir, &gate);
        let held = lock(&gate.0);
        commit(&mut store, A, &[outbound(1, b"answer"), inbound(1, b"logon")]);
        std::thread::scope(|scope| {
            let closed = scope.spawn(|| if drops { drop(store) } else { store.close(A).unwrap() });
            std::thread::sleep(Duration::from_millis(10));
            assert!(!closed.is_finished());
            drop(held);
        });
        let mut store = DirectoryStore::new(dir.path());
        let recovered = store.open(A, &session("A")).unwrap();
        assert_eq!((recovered.next_in, recovered.next_out), (SeqNum(2), SeqNum(2)));
        std::fs::remove_dir_all(directory(dir.path())).unwrap();
        crate::testing::forget(&directory(dir.path()));
    }
}

#[test]
fn a_journal_that_another_process_has_created_meanwhile_is_not_appended_to() {
    let dir = TempDir::new("lazy-race");
    let [mut late, mut early] = [(); 2].map(|()| DirectoryStore::new(dir.path()));
    early.open(A, &session("A")).unwrap();
    commit(&mut early, A, &[outbound(1, b"x")]);
    for expects_lock in [true, false] {
        let place = directory(dir.path());
        let aside = dir.path().join("aside");
        std::fs::rename(&place, &aside).unwrap();
        crate::testing::forget(&place);
        late.open_lazily(A, &session("A")).unwrap();
        std::fs::rename(&aside, &place).unwrap();
        commit(&mut late, A, &[outbound(1, b"x")]);
        let failure = std::iter::repeat_with(|| late.take_failure()).flatten().next();
        let Some((A, error)) = failure else { panic!("{failure:?}") };
        assert_eq!(matches!(error, StoreError::Locked { .. }), expects_lock, "{error}");
        assert_eq!(late.durable(A), Position(0));
        // The session is halted, and its store is closed.
        assert_eq!(late.close(A), Err(error));
        if expects_lock {
            // Its threads may have missed the directory while it was away.
            let _ = early.close(A);
        }
    }
    assert_eq!(late.open(A, &session("A")).unwrap().next_out, SeqNum(2));
}

#[test]
fn a_session_is_closed_later_while_others_go_on_and_opened_again_once_it_is() {
    let (dir, gate) = (TempDir::new("close-later"), Arc::new(Gate::default()));
    let (mut store, bell) = gated(&dir, &gate);
    let held = lock(&gate.0);
    commit(&mut store, A, &[outbound(1, b"answer"), inbound(1, b"logon")]);
    store.close_later(A).unwrap();
    assert!(!store.may_open(&session("A")) && store.may_open(&session("B")));
    assert_eq!(store.take_unclean(), None);
    let live = commit(&mut store, LIVE, &[outbound(1, b"live")]);
    assert!(store.durable(LIVE) >= live);
    std::thread::scope(|scope| {
        let opened = scope.spawn(|| store.open_lazily(A, &session("A")).unwrap());
        std::thread::sleep(Duration::from_millis(10));
        assert!(!opened.is_finished());
        drop(held);
        let recovered = opened.join().unwrap();
        assert_eq!((recovered.next_in, recovered.next_out), (SeqNum(2), SeqNum(2)));
    });
    commit(&mut store, A, &[outbound(2, b"second")]);
    let before = bell.0.load(Ordering::SeqCst);
    store.close_later(A).unwrap();
    while bell.0.load(Ordering::SeqCst) == before {
        std::thread::sleep(Duration::from_millis(1));
    }
    assert_eq!(store.take_unclean(), None);
    assert!(store.may_open(&session("A")));
    assert_eq!(store.open(A, &session("A")).unwrap().next_out, SeqNum(3));
}

#[test]
fn a_session_that_cannot_be_closed_cleanly_later_is_told_once() {
    let (dir, gate) = (TempDir::new("close-later-fails"), Arc::new(Gate::default()));
    let (mut store, _) = gated(&dir, &gate);
    *lock(&gate.0) = Some(io::ErrorKind::StorageFull);
    commit(&mut store, A, &[outbound(1, b"answer")]);
    store.close_later(A).unwrap();
    let unclean = std::iter::repeat_with(|| store.take_unclean()).flatten().next();
    assert!(matches!(unclean, Some((id, StoreError::Full { .. })) if id == session("A")));
    assert_eq!(store.take_unclean(), None);
    assert!(store.may_open(&session("A")));
}

#[test]
fn no_session_should_be_opened_while_64_journals_are_being_created() {
    let (dir, gate) = (TempDir::new("busy"), Arc::new(Gate::default()));
    let (mut store, _) = gated(&dir, &gate);
    let held = lock(&gate.0);
    for n in 2..66 {
        assert!(store.may_open(&session("B")), "{n}");
        store.open_lazily(key(n), &session(&format!("N{n}"))).unwrap();
        commit(&mut store, key(n), &[outbound(1, b"answer")]);
    }
    assert!(!store.may_open(&session("B")));
    drop(held);
    while !store.may_open(&session("B")) {
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// A file system on which whoever creates a directory after the first one dies, once the gate is
/// open.
#[derive(Default)]
struct Deadly(Mutex<bool>);

impl Hook for Deadly {
    fn before(&self, operation: Operation, path: &Path) -> io::Result<()> {
        if operation == Operation::CreateDir && !path.ends_with(session("LIVE").file_name()) {
            let deadly = *lock(&self.0);
            assert!(!deadly, "a mistake in the thread");
        }
        Ok(())
    }
}

#[test]
fn after_the_death_of_the_thread_its_sessions_have_failed_and_others_may_be_opened() {
    let (dir, gate) = (TempDir::new("dead-thread"), Arc::new(Deadly::default()));
    let mut store = DirectoryStore::over(dir.path().to_owned(), Arc::clone(&gate) as _);
    store.open(LIVE, &session("LIVE")).unwrap();
    let mut held = lock(&gate.0);
    for n in 2..66 {
        store.open_lazily(key(n), &session(&format!("N{n}"))).unwrap();
        commit(&mut store, key(n), &[outbound(1, b"answer")]);
    }
    store.close_later(key(65)).unwrap();
    assert!(!store.may_open(&session("B")));
    *held = true;
    drop(held);
    let again = || std::thread::sleep(Duration::from_millis(1));
    assert!((0..20_000).any(|_| store.may_open(&session("B")) || (again(), false).1));
    let mut failed = 0;
    assert!((0..20_000).any(|_| {
        failed += usize::from(store.take_failure().is_some());
        again();
        failed == 63
    }));
    assert!((0..1000).any(|_| store.take_unclean().is_some() || (again(), false).1), "nobody was told");
    assert!(store.may_open(&session("N65")));
    *lock(&gate.0) = false;
    assert_eq!(store.open_lazily(A, &session("A")).unwrap(), Recovered::default());
    let position = commit(&mut store, A, &[outbound(1, b"answer")]);
    wait_until_durable(&mut store, A, position);
}

#[test]
fn a_store_around_this_one_has_all_of_its_abilities() {
    struct Nothing;
    impl<S: Store> Intercept<S> for Nothing {}

    let (dir, gate) = (TempDir::new("lazy-around"), Arc::new(Gate::default()));
    let inner = DirectoryStore::over(dir.path().to_owned(), Arc::clone(&gate) as _);
    let mut around = Intercepted::new(inner, Nothing);
    let store: &mut dyn Store = &mut around;
    let bell = Arc::new(Bell::default());
    store.set_waker(Arc::clone(&bell) as _);
    store.open_lazily(A, &session("A")).unwrap();
    assert!(!directory(dir.path()).exists(), "it is made on the worker");
    let held = lock(&gate.0);
    store.begin();
    store.append(A, &outbound(1, b"first")).unwrap();
    let committed = store.commit().unwrap();
    assert!(!committed.is_durable);
    assert_eq!(store.durable(A), Some(Position(0)));
    assert!(!store.prepare());
    drop(held);
    while store.durable(A) < Some(committed.position) {
        std::thread::sleep(Duration::from_millis(1));
    }
    assert!(bell.0.load(Ordering::SeqCst) > 0);
    store.set_resend_horizon(A, 7);
    std::fs::rename(directory(dir.path()), dir.path().join("away")).unwrap();
    let failure = std::iter::repeat_with(|| store.take_failure()).flatten().next();
    assert!(matches!(failure, Some((A, StoreError::Io { .. }))), "{failure:?}");
    assert_eq!(store.take_warning(), None);
    store.close_later(A).unwrap();
    let mut told = None;
    while !store.may_open(&session("A")) {
        told = told.or_else(|| store.take_unclean());
        std::thread::sleep(Duration::from_millis(1));
    }
    assert_eq!(told.or_else(|| store.take_unclean()), None, "what had failed before is told as a failure");
}

#[test]
fn a_journal_that_a_process_has_created_that_died_meanwhile_is_opened_like_one() {
    let dir = TempDir::new("lazy-race-death");
    let [mut late, mut early] = [(); 2].map(|()| DirectoryStore::new(dir.path()));
    late.open_lazily(A, &session("A")).unwrap();
    early.open(A, &session("A")).unwrap();
    wait_for_creation(&directory(dir.path()));
    early.crash();
    drop(early);
    commit(&mut late, A, &[outbound(1, b"x")]);
    let failure = std::iter::repeat_with(|| {
        late.take_failure().or_else(|| {
            assert_eq!(late.durable(A), Position(0), "with the numbers of turns that were used before");
            None
        })
    })
    .flatten()
    .next();
    assert!(matches!(failure, Some((A, StoreError::Io { .. }))), "{failure:?}");
    late.close(A).unwrap_err();
    assert_eq!(late.open(A, &session("A")).unwrap().next_out, SeqNum(1));
    commit(&mut late, A, &[outbound(1, b"x")]);
}
