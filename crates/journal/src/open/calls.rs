//! Calls for the store's threads.

use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex};

use crate::open::bell::{Bells, Task};
use crate::values::mutex::lock;

/// Which threads are asked to look at a session, and how to wake them.
#[derive(Default)]
pub(crate) struct Calls {
    /// By [`Task::bit`].
    pub(crate) rings: AtomicU8,
    /// `None` before they look after the session.
    pub(crate) bells: Mutex<Option<Arc<Bells>>>,
}

impl Calls {
    /// Has a thread of the store look at the session.
    pub(crate) fn ring(&self, task: Task) {
        self.rings.fetch_or(task.bit(), Ordering::AcqRel);
        if let Some(bells) = &*lock(&self.bells) {
            bells.ring(task);
        }
    }

    /// Returns whether the thread was asked to look at the session since the last call.
    pub(crate) fn take_ring(&self, task: Task) -> bool {
        self.rings.load(Ordering::Acquire) & task.bit() != 0
            && self.rings.fetch_and(!task.bit(), Ordering::AcqRel) & task.bit() != 0
    }
}
