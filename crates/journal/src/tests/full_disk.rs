//! A file system that fails at the n-th operation, for every n: the store reports it and loses
//! nothing.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use fixbolt_codec::SeqNum;
use fixbolt_session::store::{Store, StoreError};

use super::*;
use crate::layout::head_copy::HeadState;
use crate::testing::{Hook, Operation, TempDir, head_in, opened, outbound, reboot};

/// A backend that works for a number of operations, then fails until it is repaired.
struct Failing {
    left: AtomicUsize,
    full: bool,
    mended: AtomicBool,
    failures: AtomicUsize,
}

impl Failing {
    fn after(operations: usize, full: bool) -> Arc<Self> {
        Arc::new(Self {
            left: AtomicUsize::new(operations),
            full,
            mended: AtomicBool::new(false),
            failures: AtomicUsize::new(0),
        })
    }

    fn check(&self) -> io::Result<()> {
        let spend = |n: usize| n.checked_sub(1);
        if self.mended.load(Ordering::Relaxed)
            || self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, spend).is_ok()
        {
            return Ok(());
        }
        self.failures.fetch_add(1, Ordering::Relaxed);
        Err(if self.full { io::ErrorKind::StorageFull.into() } else { io::Error::other("broken") })
    }
}

impl Hook for Failing {
    fn before(&self, operation: Operation, _: &Path) -> io::Result<()> {
        // Removing files works even on a full disk.
        if self.full && operation == Operation::Remove { Ok(()) } else { self.check() }
    }
}

/// Opens the store, appends until something fails, closes it, repairs the backend and opens the
/// store again. Returns the number of committed messages.
fn run(operations: usize, full: bool) -> (u64, bool) {
    let dir = TempDir::new("full");
    let backend = Failing::after(operations, full);
    let mut store = DirectoryStore::over(dir.path().to_owned(), Arc::clone(&backend) as _)
        .with_segments(4096, 8192)
        .looking_every(NEVER);
    let mut committed = 0;
    let mut error = None;
    match opened(&mut store, "A") {
        Err(e) => error = Some(e),
        Ok((key, _)) => {
            while committed < 400 && error.is_none() {
                store.begin();
                let bytes = body(committed + 1);
                match store.append(key, &outbound(committed + 1, &bytes)) {
                    Ok(()) => {
                        store.commit().unwrap();
                        committed += 1;
                    }
                    Err(e) => {
                        store.rollback();
                        error = Some(e);
                    }
                }
            }
            for n in 1..=committed {
                assert_eq!(read_body(&mut store, key, 0, n), Some(body(n)));
            }
            let closed = store.close(key);
            error = error.or(closed.err());
        }
    }
    if let Some(error) = &error {
        assert_eq!(matches!(error, StoreError::Full { .. }), full, "{error}");
        assert!(error.to_string().contains("fixbolt-journal-full"), "the file is not named: {error}");
    }
    assert!(error.is_none() || backend.failures.load(Ordering::Relaxed) > 0);
    backend.mended.store(true, Ordering::Relaxed);
    let (key, recovered) = open(&mut store);
    assert_eq!(recovered.damage, None, "after {operations}");
    assert_eq!((recovered.next_out, recovered.given_up), (SeqNum(committed + 1), None), "after {operations}");
    for n in 1..=committed {
        assert_eq!(read_body(&mut store, key, 0, n), Some(body(n)));
    }
    for n in committed + 1..committed + 100 {
        let bytes = body(n);
        turn(&mut store, key, &[outbound(n, &bytes)]);
    }
    store.close(key).unwrap();
    assert_eq!(open(&mut store).1.next_out, SeqNum(committed + 100));
    (committed, error.is_some())
}

#[test]
fn a_torn_tail_is_given_up_however_often_its_removal_is_interrupted() {
    let mut interrupted = 0;
    for operations in 0.. {
        let dir = TempDir::new("full-cut");
        let directory = directory(dir.path());
        let mut store = small(dir.path());
        let (key, _) = open(&mut store);
        turn(&mut store, key, &[outbound(1, b"whole")]);
        turn(&mut store, key, &[outbound(2, b"torn")]);
        store.crash();
        let path = directory.join("segment-000001");
        let mut bytes = std::fs::read(&path).unwrap();
        bytes[512 + 88 + 80] ^= 1;
        std::fs::write(&path, bytes).unwrap();
        reboot(&directory);
        let backend = Failing::after(operations, false);
        let mut failing = DirectoryStore::over(dir.path().to_owned(), Arc::clone(&backend) as _)
            .with_segments(4096, 8192)
            .looking_every(NEVER);
        let mark = SeqNum(1 + crate::values::reserve::RESERVE);
        if opened(&mut failing, "A").is_ok() {
            failing.crash();
            assert_eq!(open(&mut store).1.next_out, mark);
            break;
        }
        interrupted += usize::from(head_in(&directory).state == HeadState::Cut);
        let recovered = open(&mut store).1;
        assert_eq!((recovered.next_out, recovered.damage), (mark, None), "after {operations}");
    }
    assert!(interrupted > 3, "{interrupted}");
}

#[test]
fn a_disk_that_fills_at_any_operation_loses_no_committed_message() {
    every_operation(true);
}

#[test]
fn a_disk_that_breaks_at_any_operation_loses_no_committed_message() {
    every_operation(false);
}

fn every_operation(full: bool) {
    let mut partly = 0;
    for operations in 0.. {
        let (committed, failed) = run(operations, full);
        if !failed {
            assert_eq!(committed, 400);
            break;
        }
        partly += usize::from(committed > 0 && committed < 400);
    }
    assert!(partly > 10, "failures hit between messages: {partly}");
}
