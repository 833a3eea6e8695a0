//! A semaphore with one permit, which may be handed to another thread, and for which a thread
//! waits for a limited time.

use core::time::Duration;
use std::sync::{Arc, Condvar, Mutex, PoisonError};

/// Has one permit.
#[derive(Debug, Default)]
pub(crate) struct Semaphore {
    taken: Mutex<bool>,
    returned: Condvar,
}

/// The permit, which is returned when it is dropped.
#[derive(Debug)]
pub(crate) struct Permit(Arc<Semaphore>);

impl Semaphore {
    /// Waits for the permit for at most `limit`.
    pub(crate) fn acquire(self: &Arc<Self>, limit: Duration) -> Option<Permit> {
        let taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.returned.wait_timeout_while(taken, limit, |taken| *taken);
        let (mut taken, _) = waited.unwrap_or_else(PoisonError::into_inner);
        if *taken {
            return None;
        }
        *taken = true;
        Some(Permit(Arc::clone(self)))
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        *self.0.taken.lock().unwrap_or_else(PoisonError::into_inner) = false;
        self.0.returned.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_permit_is_waited_for_until_it_is_returned_or_the_time_has_passed() {
        let semaphore = Arc::new(Semaphore::default());
        let permit = semaphore.acquire(Duration::ZERO).unwrap();
        assert!(semaphore.acquire(Duration::from_millis(1)).is_none());
        let waiting = {
            let semaphore = Arc::clone(&semaphore);
            std::thread::spawn(move || semaphore.acquire(Duration::MAX).is_some())
        };
        drop(permit);
        assert!(waiting.join().unwrap());
        assert!(semaphore.acquire(Duration::ZERO).is_some());
    }
}
