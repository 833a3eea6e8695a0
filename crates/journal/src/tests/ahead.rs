//! What is done ahead of records, by the worker and by the threads of the store, and that nothing
//! is done for sessions that write nothing. Segments are small: they are in memory, and allocated.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use fixbolt_session::store::{Prepares, Reports, StoreError};

use super::*;
use crate::open::bell::Task;
use crate::open::look_ahead::{AHEAD, FIRST};
use crate::testing::{Hook, Operation, TempDir, head_in, key, outbound, reset, wait_for_creation};
use crate::threads::set::StoreThreads;
use crate::threads::work::{Next, Work, on_grid};
use crate::values::reserve::RESERVE;

/// Returns a store with segments of these sizes, and a session in it whose first pages are ready.
fn opened_with(dir: &TempDir, smallest: u64, largest: u64) -> (DirectoryStore, SessionKey) {
    let mut store = DirectoryStore::new(dir.path()).with_segments(smallest, largest);
    let (key, _) = open(&mut store);
    wait_until_prepared(&store, key);
    (store, key)
}

fn wait_until_prepared(store: &DirectoryStore, key: SessionKey) {
    eventually(|| !store.log(key).shared.segments.helps.load(Ordering::Acquire));
}

fn eventually(mut happens: impl FnMut() -> bool) {
    let give_up = Instant::now() + Duration::from_secs(60);
    while !happens() {
        assert!(Instant::now() < give_up, "it never happened");
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Returns how many bytes are ready to be written.
fn ready(store: &DirectoryStore, key: SessionKey) -> usize {
    let shared = &store.log(key).shared;
    let (number, offset) = shared.position.reached();
    shared.segments.ready_in(number).saturating_sub(offset)
}

/// Has the store prepare until it has nothing left to do. Returns in how many steps.
fn prepare_all(store: &mut DirectoryStore) -> usize {
    let steps = (1..).find(|_| !store.prepare());
    steps.unwrap()
}

#[test]
fn an_idle_worker_makes_pages_ready_a_few_at_a_time_for_the_sessions_that_write() {
    let dir = TempDir::new("ahead");
    let (mut store, a) = opened_with(&dir, 64 << 10, 4 << 20);
    for n in 1..200 {
        store.open(key(n), &session(&format!("N{n}"))).unwrap();
    }
    assert!(!store.prepare(), "nobody has written");
    let body = vec![b'x'; 1000];
    for n in 1..=700 {
        turn(&mut store, a, &[outbound(n, &body)]);
        let steps = prepare_all(&mut store);
        assert!(steps <= AHEAD / 4096 + 2, "{steps}");
        let log = store.log_mut(a);
        let left = log.segments[log.end.segment].mapping.len() - log.end.offset;
        // On a machine that is busy, a page may be slow, and is then a thread's part.
        if !log.leaves_pages() && !log.shared.segments.helps.load(Ordering::Acquire) {
            let ready = ready(&store, a);
            assert!(ready >= left.min(FIRST / 2), "{ready} bytes of {left} are ready after {n} messages");
        }
    }
    eventually(|| {
        prepare_all(&mut store);
        ready(&store, a) > AHEAD / 2
    });
    let others = (1..200).map(|n| ready(&store, key(n)));
    assert_eq!(others.filter(|ready| *ready > FIRST + 4096).count(), 0, "they have written nothing");
}

#[test]
fn sessions_take_turns_and_a_closed_one_wants_nothing() {
    let dir = TempDir::new("ahead-turns");
    let (mut store, a) = opened_with(&dir, 4 << 20, 4 << 20);
    let b = key(1);
    store.open(b, &session("B")).unwrap();
    wait_for_creation(&dir.path().join(session("B").file_name()));
    wait_until_prepared(&store, b);
    let large = vec![b'x'; 100_000];
    let mut n = 0;
    // On a machine that is busy, a page may be slow, and is then a thread's part for a while.
    eventually(|| {
        prepare_all(&mut store);
        n += 1;
        for key in [a, b] {
            turn(&mut store, key, &[outbound(n, &large)]);
        }
        if store.wanting != [a.index(), b.index()] {
            return false;
        }
        store.prepare();
        store.wanting == [b.index(), a.index()]
    });
    store.close(b).unwrap();
    assert_eq!(store.wanting, [a.index()]);
    eventually(|| {
        prepare_all(&mut store);
        ready(&store, a) > AHEAD / 2
    });
}

#[test]
fn pages_are_made_ready_by_a_thread_if_the_worker_is_never_idle_and_later_by_the_worker_again() {
    let dir = TempDir::new("ahead-never");
    let (mut store, key) = opened_with(&dir, 4 << 20, 4 << 20);
    let shared = Arc::clone(&store.log(key).shared);
    let body = vec![b'x'; 1000];
    let mut n = 0;
    eventually(|| {
        n += 1;
        turn(&mut store, key, &[outbound(n, &body)]);
        shared.segments.helps.load(Ordering::Acquire) && ready(&store, key) > AHEAD / 2
    });
    eventually(|| {
        prepare_all(&mut store);
        !shared.segments.helps.load(Ordering::Acquire)
    });
    assert_eq!(read_body(&mut store, key, 0, n), Some(body));
}

#[test]
fn a_thread_that_has_helped_sleeps_again_where_a_segment_has_no_more_pages() {
    for (n, smallest, length) in [(1, 64 << 10, 30_000), (2, 512 << 10, 500_000)] {
        let dir = TempDir::new(&format!("ahead-end-{n}"));
        let (mut store, key) = opened_with(&dir, smallest, smallest);
        turn(&mut store, key, &[outbound(1, &vec![b'x'; length])]);
        let shared = Arc::clone(&store.log(key).shared);
        eventually(|| ready(&store, key) > 0 && !shared.segments.is_behind.load(Ordering::Acquire));
        eventually(|| !shared.segments.helps.load(Ordering::Acquire));
    }
}

#[test]
fn a_worker_that_is_never_idle_makes_the_pages_of_its_next_records_ready_if_no_thread_does() {
    let dir = TempDir::new("ahead-alone");
    let (mut store, key) = opened_with(&dir, 4 << 20, 4 << 20);
    for (n, length) in (1..).zip([10, 1000, 70_000, 20, 4096].into_iter().cycle().take(300)) {
        turn(&mut store, key, &[outbound(n, &vec![b'x'; length])]);
        let log = store.log_mut(key);
        // Where it had to wait for one, the thread makes them.
        if !log.leaves_pages() {
            let ready = log.shared.segments.ready_in(log.segments[log.end.segment].number);
            assert!(ready >= log.end.offset, "message {n} ends at {}, behind {ready}", log.end.offset);
        }
    }
}

#[test]
fn records_are_read_back_as_they_were_written_however_pages_are_made_ready() {
    for largest in [64 << 10, 4 << 20] {
        let dir = TempDir::new(&format!("ahead-bytes-{largest}"));
        let (mut store, key) = opened_with(&dir, 64 << 10, largest);
        let body = |n: u64| (0..n * 7919 % 9000).map(|k| (k ^ n) as u8 | 1).collect::<Vec<u8>>();
        for n in 1..=600 {
            turn(&mut store, key, &[outbound(n, &body(n))]);
            if n % 7 == 0 {
                store.begin();
                store.append(key, &outbound(n + 1, &body(n + 1))).unwrap();
                store.rollback();
            }
            for _ in 0..n % 5 {
                store.prepare();
            }
            if n == 300 {
                store.close(key).unwrap();
                store.open(key, &session("A")).unwrap();
            }
        }
        for n in 1..=600 {
            assert_eq!(read_body(&mut store, key, 0, n), Some(body(n)), "message {n}");
        }
    }
}

#[test]
fn a_file_is_kept_open_only_of_the_large_segment_that_is_written() {
    let dir = TempDir::new("ahead-open");
    let (mut store, key) = opened_with(&dir, 64 << 10, 1 << 20);
    let open = |store: &DirectoryStore| {
        store.log(key).segments.iter().map(|segment| segment.mapping.keeps_file()).collect::<Vec<_>>()
    };
    assert_eq!(open(&store), [false]);
    let mut n = 0;
    while store.log(key).end.segment < 2 {
        n += 1;
        turn(&mut store, key, &[outbound(n, &[b'x'; 10_000])]);
        prepare_all(&mut store);
    }
    assert_eq!(open(&store), [false, false, true]);
    store.close(key).unwrap();
    store.open(key, &session("A")).unwrap();
    assert_eq!(open(&store), [false, false, true]);
}

#[test]
fn a_worker_whom_the_system_lets_wait_for_a_page_leaves_pages_to_the_thread() {
    let dir = TempDir::new("ahead-slow");
    let (mut store, key) = opened_with(&dir, 4 << 20, 4 << 20);
    turn(&mut store, key, &[outbound(1, &[b'x'; 20_000])]);
    prepare_all(&mut store);
    let ready_before = ready(&store, key);
    let log = store.log_mut(key);
    log.leave_pages(Instant::now());
    assert!(!store.prepare());
    turn(&mut store, key, &[outbound(2, &[b'x'; 200_000])]);
    while store.prepare() {
        assert!(
            ready(&store, key) < ready_before || store.log(key).shared.segments.helps.load(Ordering::Acquire)
        );
    }
    eventually(|| ready(&store, key) > AHEAD / 2);
}

#[test]
fn the_mark_is_asked_for_when_half_of_the_reserve_is_used_and_at_once_if_the_worker_is_not_idle() {
    let dir = TempDir::new("ahead-mark");
    for idle in [true, false] {
        let mut log = crate::open::invariants::tests::opened(&dir, if idle { "idle" } else { "busy" });
        let rung = |log: &crate::open::log::Log| {
            log.shared.calls.rings.load(Ordering::Acquire) & Task::Sync.bit() != 0
        };
        let mut asked = None;
        for n in 1..RESERVE {
            log.append(n, &outbound(n, b"x")).unwrap();
            log.finish();
            log.publish();
            if idle {
                while log.prepare() {}
            }
            if rung(&log) {
                asked = Some(n);
                break;
            }
        }
        // A worker that is not idle notes it at half of the reserve, and rings at half of the rest.
        let expected = if idle { RESERVE / 2 } else { RESERVE / 4 * 3 };
        assert!(asked.unwrap().abs_diff(expected) < 4, "{asked:?}");
    }
}

#[test]
fn pages_are_given_back_every_8_mib_however_fast_a_session_stores() {
    let dir = TempDir::new("ahead-given-back");
    let body = [b'x'; 50_000];
    for largest in [256 << 10, 32 << 20] {
        let name = format!("segments-of-{largest}");
        let mut log = crate::open::invariants::tests::opened_with(&dir, &name, (64 << 10, largest));
        let (mut stored, mut since, mut longest) = (0, 0, 0);
        for n in 1..1500 {
            log.append(n, &outbound(n, &body)).unwrap();
            log.finish();
            log.publish();
            stored += body.len();
            since += body.len();
            let rings = log.shared.calls.rings.fetch_and(!Task::Sync.bit(), Ordering::AcqRel);
            if rings & Task::Sync.bit() != 0 {
                (longest, since) = (longest.max(since), 0);
            }
        }
        assert!(stored > 64 << 20 && longest.max(since) < 9 << 20, "{longest} and {since} of {stored} bytes");
    }
}

#[test]
fn a_worker_that_is_idle_now_and_then_never_waits_for_a_mark() {
    let dir = TempDir::new("ahead-marks");
    let (mut store, key) = opened_with(&dir, 4 << 20, 4 << 20);
    let directory = directory(dir.path());
    let mut n = 0;
    for _ in 0..20 {
        // Half of the reserve, after which the thread is woken.
        for _ in 0..RESERVE / 2 {
            n += 1;
            turn(&mut store, key, &[outbound(n, b"x")]);
        }
        while store.prepare() {}
        eventually(|| head_in(&directory).mark > SeqNum(n + RESERVE / 4));
    }
}

#[test]
fn a_reset_has_the_new_mark_written_without_another_message() {
    let dir = TempDir::new("ahead-reset");
    let (mut store, key) = opened_with(&dir, 64 << 10, 64 << 10);
    turn(&mut store, key, &[outbound(5_000, b"x")]);
    turn(&mut store, key, &[reset(1, 1)]);
    while store.prepare() {}
    let directory = directory(dir.path());
    eventually(|| head_in(&directory).generation == Generation(1));
    assert!(head_in(&directory).mark >= SeqNum(RESERVE));
}

#[test]
fn threads_have_nothing_to_do_for_an_idle_session_but_to_look_at_its_directory_once_a_second() {
    let dir = TempDir::new("ahead-idle");
    let (mut store, key) = opened_with(&dir, 64 << 10, 64 << 10);
    turn(&mut store, key, &[outbound(1, b"x")]);
    while store.prepare() {}
    let shared = Arc::clone(&store.log(key).shared);
    let begin = Instant::now();
    let mut preparation = crate::threads::preparation::Preparation::new(Arc::clone(&shared), begin);
    assert_eq!(preparation.round(begin), Ok(Next::WhenRung));
    let mut history = crate::threads::history::History::new(Arc::clone(&shared), begin);
    // It looks once, as a move to the archive may have been interrupted.
    let later = begin + Duration::from_secs(2 << 20);
    assert_eq!(history.round(later), Ok(Next::WhenRung));
    let mut syncing = crate::threads::syncing::Syncing::new(Arc::clone(&shared), begin);
    let mut now = begin;
    let mut rounds = 0;
    while now < begin + Duration::from_secs(100) {
        rounds += 1;
        now = match syncing.round(now).unwrap() {
            Next::AtOnce => now,
            Next::Exactly(at) => at,
            // Where the grid has it.
            Next::At(at) => on_grid(begin, crate::threads::syncing::Syncing::PACE.grid, at),
            Next::WhenRung => panic!("nobody would look"),
        };
    }
    assert!((100..110).contains(&rounds), "{rounds}");
}

#[test]
fn threads_forget_sessions_that_are_closed_although_others_are_open() {
    let dir = TempDir::new("ahead-forget");
    let (mut store, _) = opened_with(&dir, 64 << 10, 64 << 10);
    let mut closed = Vec::new();
    for n in 1..20 {
        store.open(key(n), &session(&format!("N{n}"))).unwrap();
        closed.push(Arc::downgrade(&store.log(key(n)).shared));
        store.close(key(n)).unwrap();
    }
    store.open(key(20), &session("LAST")).unwrap();
    eventually(|| closed.iter().all(|shared| shared.strong_count() == 0));
    drop(store);
}

/// Panics when a session's directory is synced, once it is told to.
#[derive(Default)]
struct Panicking(AtomicBool);

impl Hook for Panicking {
    fn before(&self, _: Operation, path: &Path) -> io::Result<()> {
        let panics = path.ends_with(session("A").file_name()) && self.0.load(Ordering::Acquire);
        assert!(!panics, "a fault of the journal");
        Ok(())
    }
}

#[test]
fn a_panic_of_a_thread_ends_the_session_that_it_was_about_and_no_other() {
    let dir = TempDir::new("ahead-panic");
    let backend = Arc::new(Panicking::default());
    let mut store = DirectoryStore::over(dir.path().to_owned(), Arc::clone(&backend) as _)
        .with_segments(64 << 10, 64 << 10);
    let (a, _) = open(&mut store);
    let b = key(1);
    store.open(b, &session("B")).unwrap();
    wait_until_prepared(&store, a);
    wait_until_prepared(&store, b);
    backend.0.store(true, Ordering::Release);
    // The next segment is made when half of this one is used.
    let half = vec![b'x'; 40_000];
    for key in [a, b] {
        turn(&mut store, key, &[outbound(1, &half)]);
    }
    prepare_all(&mut store);
    let mut failed = None;
    eventually(|| {
        failed = store.take_failure();
        failed.is_some()
    });
    let StoreError::Io { doing, reason } = failed.unwrap().1 else { panic!("another error") };
    assert!(doing.ends_with("FIX.4.4-VENUE-A") && reason == "the thread fixbolt-store has panicked");
    eventually(|| dir.path().join(session("B").file_name()).join("segment-000002").exists());
    assert_eq!(store.take_failure(), None);
    turn(&mut store, b, &[outbound(2, &half)]);
}

#[test]
fn a_process_that_was_forked_has_no_threads_and_waits_for_none() {
    let mut threads = StoreThreads::start().unwrap();
    assert!(threads.serve_here());
    threads.is_of_process(std::process::id() + 1);
    assert!(!threads.serve_here());
    drop(threads);
}

#[test]
fn a_copy_of_a_journal_in_a_process_that_was_forked_is_closed_without_a_clean_mark() {
    let dir = TempDir::new("ahead-fork");
    let mut log = crate::open::invariants::tests::opened(&dir, "journal");
    log.append(1, &outbound(1, b"x")).unwrap();
    log.finish();
    log.publish();
    let head = dir.path().join("journal").join("head");
    let before = std::fs::read(&head).unwrap();
    Arc::get_mut(&mut log.shared).unwrap().process += 1;
    let shared = Arc::clone(&log.shared);
    let error = log.close().unwrap_err();
    assert!(error.to_string().ends_with("it is open in the process from which this one was forked"));
    assert_eq!(std::fs::read(&head).unwrap(), before);
    assert!(
        crate::values::mutex::lock(&shared.head.file).is_closed(),
        "what the threads share would keep the lock"
    );
}
