//! Calls for the store's threads.

use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex};

use crate::open::bell::{Bells, Caller, Task};
use crate::values::mutex::lock;

/// Which threads are asked to look at a session, and how to wake them.
#[derive(Default)]
pub(crate) struct Calls {
    /// By [`Task::bit`].
    pub(crate) rings: AtomicU8,
    /// `None` before they look after the session.
    bells: Mutex<Option<(Arc<Bells>, Caller)>>,
}

impl Calls {
    /// Has a thread of the store look at the session. It costs one atomic operation if the thread
    /// was asked before and has not looked yet.
    pub(crate) fn ring(&self, task: Task) {
        if self.rings.fetch_or(task.bit(), Ordering::AcqRel) & task.bit() == 0
            && let Some((bells, caller)) = &*lock(&self.bells)
        {
            bells.of(task).ring_for(*caller);
        }
    }

    /// Returns whether the thread was asked to look at the session and has not looked yet.
    pub(crate) fn is_rung(&self, task: Task) -> bool {
        self.rings.load(Ordering::Acquire) & task.bit() != 0
    }

    /// Notes that the thread looks now: whoever changes something from now on must ring again.
    pub(crate) fn take_ring(&self, task: Task) {
        if self.is_rung(task) {
            self.rings.fetch_and(!task.bit(), Ordering::AcqRel);
        }
    }

    /// Has the threads of `bells` look after the session, to which `hand_over` makes it known. Each
    /// looks at it for a first time then, which answers what was asked for before.
    pub(crate) fn answered_by(&self, bells: &Arc<Bells>, caller: Caller, hand_over: impl FnOnce()) {
        let mut answered = lock(&self.bells);
        self.rings.swap(0, Ordering::AcqRel);
        hand_over();
        *answered = Some((Arc::clone(bells), caller));
    }
}
