//! Waiting for room in a ring: threads that send with a time limit wait here, and a worker that has
//! made room wakes them.
//!
//! While no thread waits, making room costs the worker two atomic operations: no lock and no system
//! call.

use std::time::Instant;

use crate::sync::{AtomicU32, AtomicU64, Condvar, Mutex, MutexGuard, Ordering, fence, lock};

/// A place where threads wait for room. One is enough for an engine, because waiting is the
/// exception.
#[derive(Debug)]
pub(crate) struct Room {
    /// How often room was made.
    made: AtomicU64,
    waiting: AtomicU32,
    lock: Mutex<()>,
    changed: Condvar,
}

impl Room {
    pub(crate) fn new() -> Self {
        Self {
            made: AtomicU64::new(0),
            waiting: AtomicU32::new(0),
            lock: Mutex::new(()),
            changed: Condvar::new(),
        }
    }

    /// Wakes every waiting thread. Called after room was made, or after something else that ends
    /// the wait.
    pub(crate) fn made(&self) {
        self.made.fetch_add(1, Ordering::SeqCst);
        fence(Ordering::SeqCst);
        if self.waiting.load(Ordering::SeqCst) > 0 {
            // A thread that has seen the old count has either begun to wait, or does not hold the
            // lock yet.
            drop(lock(&self.lock));
            self.changed.notify_all();
        }
    }

    /// Calls `attempt` each time that room was made until it returns something; `None` if the time
    /// is over.
    pub(crate) fn wait_until<T>(&self, until: Instant, attempt: impl FnMut() -> Option<T>) -> Option<T> {
        self.wait(attempt, |guard| {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return None;
            }
            let waited = self.changed.wait_timeout(guard, left);
            Some(waited.unwrap_or_else(std::sync::PoisonError::into_inner).0)
        })
    }

    /// Calls `attempt` until it returns something, or `sleep` reports that the time is over.
    fn wait<'r, T>(
        &'r self,
        mut attempt: impl FnMut() -> Option<T>,
        mut sleep: impl FnMut(MutexGuard<'r, ()>) -> Option<MutexGuard<'r, ()>>,
    ) -> Option<T> {
        self.waiting.fetch_add(1, Ordering::SeqCst);
        let result = 'tries: loop {
            let made = self.made.load(Ordering::SeqCst);
            fence(Ordering::SeqCst);
            if let Some(result) = attempt() {
                break Some(result);
            }
            let mut guard = lock(&self.lock);
            while self.made.load(Ordering::SeqCst) == made {
                match sleep(guard) {
                    Some(again) => guard = again,
                    // The last attempt is made after the time is over.
                    None => break 'tries attempt(),
                }
            }
        };
        self.waiting.fetch_sub(1, Ordering::SeqCst);
        result
    }
}

#[cfg(all(loom, test))]
mod loom_tests {
    use std::sync::Arc;

    use super::*;
    use crate::sync::AtomicBool;

    #[test]
    fn loom_nobody_waits_for_room_that_is_there() {
        loom::model(|| {
            let shared = Arc::new((Room::new(), AtomicBool::new(false)));
            let worker = {
                let shared = Arc::clone(&shared);
                loom::thread::spawn(move || {
                    shared.1.store(true, Ordering::Relaxed);
                    shared.0.made();
                })
            };
            let (room, there) = &*shared;
            let taken = room.wait(
                || there.load(Ordering::Relaxed).then_some(()),
                |guard| Some(room.changed.wait(guard).unwrap()),
            );
            assert_eq!(taken, Some(()));
            worker.join().unwrap();
        });
    }
}
