//! Mutexes that nobody's panic poisons.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks a mutex. Poisoning is ignored, as the values are only ever replaced as a whole.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
