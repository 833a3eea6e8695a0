//! What has gone wrong with a journal, as the store's threads find it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use fixbolt_session::WorkerWaker;
use fixbolt_session::store::StoreError;

use crate::values::mutex::lock;

/// What has gone wrong. Any thread may write it.
#[derive(Default)]
pub(crate) struct Failure {
    /// Whether one of the store's threads has noticed a failure; `why` has it.
    pub(crate) failed: AtomicBool,
    pub(crate) why: Mutex<Option<StoreError>>,
    /// Damage in earlier segments, which does not stop the session.
    pub(crate) found: Mutex<Found>,
    /// Whether some of it was not taken yet.
    pub(crate) has_found: AtomicBool,
    /// The waker of the worker, called at a failure.
    pub(crate) waker: OnceLock<Arc<dyn WorkerWaker>>,
}

/// Damage that was found, and how much of it was taken.
#[derive(Default)]
pub(crate) struct Found {
    pub(crate) known: Vec<String>,
    pub(crate) taken: usize,
}

/// Damages that are reported at most; a repair lists all.
pub(crate) const MOST_FINDINGS: usize = 64;

impl Failure {
    /// Reports a failure to the store and wakes its worker. Only the first failure is kept.
    pub(crate) fn fail(&self, error: StoreError) {
        lock(&self.why).get_or_insert(error);
        self.failed.store(true, Ordering::Release);
        self.wake();
    }

    /// Reports damage to messages of the past.
    pub(crate) fn report_damage(&self, damage: &str) {
        self.report(format!("{damage}; messages that are lost are gap-filled when they are requested"));
    }

    /// Reports what does not stop the session. The same is reported once.
    pub(crate) fn report(&self, what: String) {
        let mut found = lock(&self.found);
        if !found.known.contains(&what) && found.known.len() < MOST_FINDINGS {
            found.known.push(what);
            self.has_found.store(true, Ordering::Release);
            self.wake();
        }
    }

    /// Takes the next damage that was reported and not taken yet.
    pub(crate) fn take_found(&self) -> Option<String> {
        let mut found = lock(&self.found);
        let next = found.known.get(found.taken).cloned();
        found.taken += usize::from(next.is_some());
        self.has_found.store(found.taken < found.known.len(), Ordering::Release);
        next
    }

    fn wake(&self) {
        if let Some(waker) = self.waker.get() {
            waker.store_advanced();
        }
    }
}
