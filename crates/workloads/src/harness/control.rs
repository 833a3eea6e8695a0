//! What a measurement tells while it runs, and how it is stopped.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// Shared by the thread that measures and one that displays progress or watches for an interrupt.
#[derive(Clone, Debug, Default)]
pub struct Control(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    stopped: AtomicBool,
    done: AtomicU64,
    all: AtomicU64,
    what: Mutex<String>,
}

impl Control {
    /// Ends the measurement: the current run ends after its current piece and is marked as
    /// interrupted, and no other begins.
    pub fn stop(&self) {
        self.0.stopped.store(true, Ordering::Relaxed);
    }

    /// Returns whether the measurement was asked to end.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        self.0.stopped.load(Ordering::Relaxed)
    }

    /// Says what begins now, and how many pieces it has.
    pub fn begin(&self, what: impl Into<String>, pieces: u64) {
        self.0.done.store(0, Ordering::Relaxed);
        self.0.all.store(pieces, Ordering::Relaxed);
        *self.0.what.lock().unwrap_or_else(PoisonError::into_inner) = what.into();
    }

    /// Says how many pieces have begun.
    pub fn progress(&self, done: u64) {
        self.0.done.store(done, Ordering::Relaxed);
    }

    /// Returns what runs now, how many of its pieces have begun, and how many it has.
    #[must_use]
    pub fn status(&self) -> (String, u64, u64) {
        let what = self.0.what.lock().unwrap_or_else(PoisonError::into_inner).clone();
        (what, self.0.done.load(Ordering::Relaxed), self.0.all.load(Ordering::Relaxed))
    }
}
