//! How the threads that have to do with a journal get each other's attention.

use std::mem;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, OnceLock};
use std::thread::Thread;
use std::time::Duration;

use crate::values::mutex::lock;

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

/// Which of the sessions that the threads look after has rung. Those that came earlier have lower
/// numbers.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Caller(pub(crate) u64);

/// The bells of the threads, by their tasks.
#[derive(Default)]
pub(crate) struct Bells([Bell; 3]);

impl Bells {
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
    callers: Mutex<Callers>,
}

/// The sessions that have rung, in this order.
#[derive(Default)]
struct Callers {
    waiting: Vec<Caller>,
    /// How many sessions there are, for which there is room: ringing allocates nothing.
    all: usize,
}

impl Bell {
    /// Makes room for another session.
    pub(crate) fn expect_one_more(&self) {
        let mut callers = lock(&self.callers);
        callers.all += 1;
        let room = callers.all.saturating_sub(callers.waiting.len());
        callers.waiting.reserve(room);
    }

    /// One session less may ring.
    pub(crate) fn expect_one_less(&self) {
        lock(&self.callers).all -= 1;
    }

    /// Has the thread look at a session.
    pub(crate) fn ring_for(&self, caller: Caller) {
        lock(&self.callers).waiting.push(caller);
        self.ring();
    }

    /// Replaces `taken` by the sessions that have rung since the last call.
    pub(crate) fn take_callers(&self, taken: &mut Vec<Caller>) {
        taken.clear();
        let mut callers = lock(&self.callers);
        taken.reserve(callers.all);
        mem::swap(&mut callers.waiting, taken);
    }

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
    fn sessions_are_looked_at_in_the_order_in_which_they_ring_and_ringing_allocates_nothing() {
        let bell = Bell::default();
        let callers = (0..100).map(Caller).collect::<Vec<_>>();
        callers.iter().for_each(|_| bell.expect_one_more());
        let mut taken = Vec::new();
        for _ in 0..3 {
            let room = lock(&bell.callers).waiting.capacity();
            assert!(room >= callers.len());
            callers.iter().rev().for_each(|caller| bell.ring_for(*caller));
            assert_eq!(lock(&bell.callers).waiting.capacity(), room);
            assert!(bell.take());
            bell.take_callers(&mut taken);
            assert!(taken.iter().eq(callers.iter().rev()));
        }
        callers.iter().for_each(|_| bell.expect_one_less());
        bell.take_callers(&mut taken);
        assert_eq!(taken, []);
    }

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
