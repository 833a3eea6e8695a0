//! The worker threads that have not ended, and waiting for their end without joining them.

use core::time::Duration;
use std::sync::{Arc, Condvar, Mutex, PoisonError};

/// Counts the threads that are running.
#[derive(Debug, Default)]
pub(crate) struct RunningThreads {
    count: Mutex<usize>,
    all_ended: Condvar,
}

/// A thread that counts as running until this is dropped.
#[derive(Debug)]
pub(crate) struct RunningThread(Arc<RunningThreads>);

impl RunningThreads {
    /// Counts a thread, which keeps what is returned.
    pub(crate) fn add(self: &Arc<Self>) -> RunningThread {
        *self.count.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        RunningThread(Arc::clone(self))
    }

    /// Returns whether a thread is running.
    pub(crate) fn any(&self) -> bool {
        *self.count.lock().unwrap_or_else(PoisonError::into_inner) > 0
    }

    /// Waits until no thread is running, for at most `limit`. Returns whether none is.
    pub(crate) fn wait_for_none(&self, limit: Duration) -> bool {
        let count = self.count.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.all_ended.wait_timeout_while(count, limit, |count| *count > 0);
        *waited.unwrap_or_else(PoisonError::into_inner).0 == 0
    }
}

impl Drop for RunningThread {
    fn drop(&mut self) {
        let mut count = self.0.count.lock().unwrap_or_else(PoisonError::into_inner);
        *count -= 1;
        if *count == 0 {
            self.0.all_ended.notify_all();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_all_threads_is_waited_for_or_the_time_has_passed() {
        let threads = Arc::new(RunningThreads::default());
        assert!(!threads.any() && threads.wait_for_none(Duration::ZERO));
        let [first, second] = [threads.add(), threads.add()];
        drop(first);
        assert!(threads.any() && !threads.wait_for_none(Duration::from_millis(1)));
        let waiting = {
            let threads = Arc::clone(&threads);
            std::thread::spawn(move || threads.wait_for_none(Duration::MAX))
        };
        drop(second);
        assert!(waiting.join().unwrap());
        assert!(!threads.any() && threads.wait_for_none(Duration::ZERO));
    }
}
