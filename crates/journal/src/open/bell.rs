//! How the threads that have to do with a journal get each other's attention.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::Thread;
use std::time::Duration;

/// What a thread of the store does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Task {
    Prepare,
    Sync,
    Archive,
}

impl Task {
    pub(crate) const ALL: [Self; 3] = [Self::Prepare, Self::Sync, Self::Archive];

    /// Returns the bit that stands for it.
    pub(crate) const fn bit(self) -> u8 {
        1 << self as u8
    }
}

/// The bells of the threads, by their tasks.
#[derive(Default)]
pub(crate) struct Bells([Bell; 3]);

impl Bells {
    /// Wakes a thread, which then looks for the sessions that have asked for it.
    pub(crate) fn ring(&self, task: Task) {
        self.of(task).ring();
    }

    /// Returns the bell of the thread with this task.
    pub(crate) fn of(&self, task: Task) -> &Bell {
        &self.0[task as usize]
    }
}

/// How others get a thread's attention. It costs a system call if the thread sleeps.
#[derive(Default)]
pub(crate) struct Bell {
    rung: AtomicBool,
    pub(crate) ended: AtomicBool,
    pub(crate) thread: OnceLock<Thread>,
}

impl Bell {
    pub(crate) fn ring(&self) {
        if !self.rung.swap(true, Ordering::AcqRel)
            && let Some(thread) = self.thread.get()
        {
            thread.unpark();
        }
    }

    /// Returns whether somebody has rung since the last call.
    pub(crate) fn take(&self) -> bool {
        self.rung.swap(false, Ordering::AcqRel)
    }

    /// Sleeps until somebody rings, or for so long, and not at all if the thread is to end.
    pub(crate) fn wait(&self, time: Option<Duration>) {
        // Whoever rings after this leaves a token, with which parking ends at once.
        if !self.rung.load(Ordering::Acquire) && !self.ended.load(Ordering::Acquire) {
            match time {
                Some(time) => std::thread::park_timeout(time),
                None => std::thread::park(),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_that_is_to_end_does_not_sleep_although_it_was_rung_for_before_and_has_taken_that() {
        let bell = Bell::default();
        bell.ring();
        bell.ended.store(true, Ordering::Release);
        bell.ring();
        assert!(bell.take());
        bell.wait(None);
    }
}
