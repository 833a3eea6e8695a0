//! The store without failures.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use fixbolt_codec::SeqNum;
use fixbolt_session::WorkerWaker;
use fixbolt_session::store::{
    Abilities, Acknowledges, Committed, ConnectionNumber, Generation, Position, Record, RecordFlags,
    RecordKind, Recovered, Reports, Store, StoreError,
};

use super::*;
use crate::testing::{TempDir, attempt, head_in, inbound, key, opened, outbound, reset};

#[test]
fn messages_are_read_back_over_many_segments_and_after_reopening() {
    let dir = TempDir::new("basics");
    let mut store = small(dir.path());
    let (key, recovered) = open(&mut store);
    assert_eq!(recovered, Recovered::default());
    for n in 1..=1000 {
        let cause = Some(SeqNum(n));
        let bytes = body(n);
        turn(
            &mut store,
            key,
            &[inbound(n, b"order"), Record { next_in: SeqNum(n + 1), cause, ..outbound(n, &bytes) }],
        );
    }
    for round in 0..2 {
        for n in (1..=1000).chain([7, 993, 1, 1000, 500]) {
            assert_eq!(read_body(&mut store, key, 0, n), Some(body(n)), "round {round}");
        }
        assert_eq!(read_body(&mut store, key, 0, 1001), None);
        let found = store.read(key, Generation(0), SeqNum(0)..=SeqNum::MAX).unwrap().unwrap();
        assert_eq!((found.seq, found.cause), (SeqNum(1), Some(SeqNum(1))));
        assert_eq!(count(&mut store, key), 2000);
        store.close(key).unwrap();
        let (again, recovered) = open(&mut store);
        assert_eq!(again, key);
        assert_eq!((recovered.next_in, recovered.next_out), (SeqNum(1001), SeqNum(1001)));
        assert_eq!((recovered.given_up, recovered.damage), (None, None));
    }
}

#[test]
fn reading_a_skipped_sequence_number_returns_the_next_message_in_range() {
    let dir = TempDir::new("skipped");
    let mut store = small(dir.path());
    let (key, _) = open(&mut store);
    turn(&mut store, key, &[outbound(1, b"one"), outbound(5, b"five")]);
    let mut first =
        |from, to| store.read(key, Generation(0), SeqNum(from)..=SeqNum(to)).unwrap().map(|r| r.seq.0);
    assert_eq!(first(2, 9), Some(5));
    assert_eq!(first(2, 4), None);
    assert_eq!(first(6, 9), None);
}

#[test]
fn a_turn_over_several_segments_and_sessions_is_rolled_back_to_the_last_byte() {
    let dir = TempDir::new("rollback");
    let mut store = small(dir.path());
    let (a, _) = open(&mut store);
    let (b, _) = opened(&mut store, "B").unwrap();
    turn(&mut store, a, &[outbound(1, b"kept")]);
    let files = |name: &str| {
        let mut all: Vec<_> = std::fs::read_dir(dir.path().join(session(name).file_name()))
            .unwrap()
            .map(|e| e.unwrap().path())
            .filter(|p| p.to_str().unwrap().contains("segment"))
            .map(|p| (std::fs::read(&p).unwrap(), p))
            .collect();
        all.sort_by(|x, y| x.1.cmp(&y.1));
        all
    };
    let before = files("A").remove(0);
    store.begin();
    for n in 2..300 {
        let bytes = body(n);
        store.append(a, &outbound(n, &bytes)).unwrap();
        store.append(b, &outbound(n, &bytes)).unwrap();
    }
    store.rollback();
    let after = files("A");
    assert!(after.len() > 2, "the turn went over several segments");
    assert_eq!(after[0], before);
    for (bytes, path) in &after[1..] {
        assert!(bytes[512..].iter().all(|b| *b == 0), "{}", path.display());
    }
    assert_eq!(count(&mut store, a), 1);
    assert_eq!(count(&mut store, b), 0);
    // The sequence numbers are free again, and the segments that were taken are used.
    for n in 2..200 {
        let bytes = body(n);
        turn(&mut store, a, &[outbound(n, &bytes)]);
    }
    for n in 2..200 {
        assert_eq!(read_body(&mut store, a, 0, n), Some(body(n)));
    }
    drop(store);
    let mut store = small(dir.path());
    assert_eq!(open(&mut store).1.next_out, SeqNum(200));
}

#[test]
fn a_record_too_large_for_what_a_rolled_back_turn_has_left_gets_a_segment_of_its_own() {
    let dir = TempDir::new("rollback-large");
    let mut store = DirectoryStore::new(dir.path()).with_segments(4096, 4096);
    let (key, _) = open(&mut store);
    turn(&mut store, key, &[outbound(1, b"kept")]);
    store.begin();
    for n in 2..40 {
        store.append(key, &outbound(n, &[b'x'; 300])).unwrap();
    }
    store.rollback();
    let large = vec![b'y'; 6000];
    turn(&mut store, key, &[outbound(2, &large)]);
    for n in 3..40 {
        turn(&mut store, key, &[outbound(n, &body(n))]);
    }
    store.crash();
    let (key, recovered) = open(&mut store);
    assert_eq!((recovered.damage, recovered.next_out), (None, SeqNum(40)));
    assert_eq!(read_body(&mut store, key, 0, 2), Some(large));
    assert_eq!(read_body(&mut store, key, 0, 39), Some(body(39)));
}

#[test]
fn everything_about_a_record_survives() {
    let dir = TempDir::new("fields");
    let mut store = small(dir.path());
    let (key, _) = open(&mut store);
    let record = Record {
        flags: RecordFlags::ADMIN.with(RecordFlags::MASKED),
        next_in: SeqNum(77),
        connection: ConnectionNumber(9),
        cause: Some(SeqNum(76)),
        ..outbound(3, b"body")
    };
    turn(&mut store, key, &[record]);
    turn(&mut store, key, &[Record { next_in: SeqNum(77), connection: ConnectionNumber(9), ..attempt(77) }]);
    store.crash();
    let (key, recovered) = open(&mut store);
    assert_eq!(
        (recovered.next_in, recovered.connection, recovered.attempts),
        (SeqNum(77), ConnectionNumber(9), 1)
    );
    let mut first = None;
    store
        .replay(key, &mut |r| {
            assert_eq!(r, record);
            first = Some(r.kind);
            std::ops::ControlFlow::Break(())
        })
        .unwrap();
    assert_eq!(first, Some(RecordKind::Outbound));
}

#[test]
fn a_record_larger_than_the_largest_segment_gets_one_of_its_own_and_there_is_a_limit() {
    let dir = TempDir::new("large");
    let mut store = small(dir.path());
    let (key, _) = open(&mut store);
    store.begin();
    let limit = 256 << 20;
    let refused = store.append(key, &outbound(1, &vec![0; limit + 1]));
    assert_eq!(refused, Err(StoreError::TooLarge { bytes: limit + 1, limit }));
    store.rollback();
    let body = vec![b'y'; 200_000];
    for n in 1..=3 {
        turn(&mut store, key, &[outbound(n, &body)]);
        turn(&mut store, key, &[inbound(n, b"small")]);
    }
    store.crash();
    let (key, recovered) = open(&mut store);
    assert_eq!((recovered.damage, recovered.next_out), (None, SeqNum(4)));
    for n in 1..=3 {
        assert_eq!(read_body(&mut store, key, 0, n), Some(body.clone()));
    }
}

#[test]
fn a_session_is_opened_once_in_a_process_whichever_store_asks() {
    let dir = TempDir::new("twice");
    let mut store = small(dir.path());
    let (key, _) = open(&mut store);
    assert!(matches!(opened(&mut store, "A"), Err(StoreError::Locked { .. })));
    let mut other = small(dir.path());
    let Err(StoreError::Locked { place, holder }) = opened(&mut other, "A") else { panic!("not refused") };
    assert!(place.ends_with("FIX.4.4-VENUE-A"), "{place}");
    assert!(holder.starts_with(&format!("process {} on ", std::process::id())), "{holder}");
    store.close(key).unwrap();
    open(&mut other);
}

#[test]
fn an_empty_turn_is_where_the_last_one_was() {
    let dir = TempDir::new("empty");
    let mut store = small(dir.path());
    let (key, _) = open(&mut store);
    turn(&mut store, key, &[outbound(1, b"x")]);
    store.begin();
    assert_eq!(store.commit().unwrap(), Committed { position: Position(1), is_durable: true });
    assert_eq!(Acknowledges::durable(&mut store, key), Position(1));
    store.begin();
    assert!(matches!(store.append(key, &outbound(1, b"y")), Err(StoreError::NumberReused { .. })));
    store.rollback();
    assert_eq!(count(&mut store, key), 1);
}

#[test]
fn many_sequence_numbers_at_once_wait_for_the_mark_on_disk() {
    let dir = TempDir::new("mark");
    let mut store = DirectoryStore::new(dir.path());
    let (key, _) = open(&mut store);
    let directory = directory(dir.path());
    for n in 1..=100_000 {
        turn(&mut store, key, &[outbound(n, b"x")]);
        if n % 5000 == 0 {
            let mark = head_in(&directory).mark;
            assert!(mark > SeqNum(n), "{mark} at {n}");
        }
    }
    turn(&mut store, key, &[Record { kind: RecordKind::Adjust, ..outbound(10_000_000, b"far") }]);
    assert!(head_in(&directory).mark > SeqNum(10_000_000));
    turn(&mut store, key, &[reset(1, 1)]);
    turn(&mut store, key, &[outbound(1, b"again")]);
    store.crash();
    assert_eq!(open(&mut store).1.next_out, SeqNum(2));
}

/// Counts how often a store wakes it.
#[derive(Default)]
struct Bell(AtomicU32);

impl WorkerWaker for Bell {
    fn session_ready(&self, _: SessionKey) {}

    fn store_advanced(&self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

#[test]
fn a_vanished_directory_is_noticed_without_a_message_being_sent() {
    let dir = TempDir::new("vanished");
    let mut store = small(dir.path());
    let (_, _) = open(&mut store);
    let bell = Arc::new(Bell::default());
    store.set_waker(Arc::clone(&bell) as Arc<dyn WorkerWaker>);
    let (b, _) = opened(&mut store, "B").unwrap();
    assert_eq!((store.take_failure(), bell.0.load(Ordering::SeqCst)), (None, 0));
    // The store's threads may still create a file in it.
    let directory = dir.path().join(session("B").file_name());
    while directory.exists() {
        let _ = std::fs::remove_dir_all(&directory);
    }
    while bell.0.load(Ordering::SeqCst) == 0 {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    let failure = store.take_failure().expect("the store called the waker");
    assert_eq!(failure.0, b);
    assert!(failure.1.to_string().contains("FIX.4.4-VENUE-B"), "{}", failure.1);
    assert_eq!(store.take_failure(), None, "reported once");
    store.begin();
    assert_eq!(store.append(b, &outbound(1, b"x")), Err(failure.1));
    store.rollback();
}

/// Counterparties may come and go faster than the store's threads take notice.
#[test]
#[cfg(target_os = "linux")]
fn a_closed_session_has_no_descriptors_whatever_the_threads_of_the_store_do() {
    let dir = TempDir::new("descriptors");
    let open_below = || {
        let links = std::fs::read_dir("/proc/self/fd").unwrap();
        let files = links.filter_map(|link| std::fs::read_link(link.ok()?.path()).ok());
        files.filter(|file| file.starts_with(dir.path())).count()
    };
    let mut store = DirectoryStore::new(dir.path());
    for n in 0..20 {
        store.open(key(n), &session(&format!("N{n}"))).unwrap();
        assert!(open_below() > 0);
        store.close(key(n)).unwrap();
        assert_eq!(open_below(), 0, "after {n} others");
    }
}
