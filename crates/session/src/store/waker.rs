//! How other threads notify a worker: the application can take a message again, or the store has
//! advanced.

use core::fmt;
use std::sync::Arc;

use crate::values::key::SessionKey;

/// Notifies a worker. It may be called from any thread and never blocks.
pub trait WorkerWaker: Send + Sync {
    /// Tells the worker that the application can take the message that it put off; the worker calls
    /// [`Sessions::wake`](crate::Sessions::wake) for the session.
    fn session_ready(&self, session: SessionKey);

    /// Tells the worker that the store has news; the worker calls
    /// [`Sessions::store_advanced`](crate::Sessions::store_advanced).
    fn store_advanced(&self);
}

/// A waker without a worker.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Unheard;

impl WorkerWaker for Unheard {
    fn session_ready(&self, _: SessionKey) {}
    fn store_advanced(&self) {}
}

/// Has a message that was put off with [`Delivery::NotNow`](crate::Delivery::NotNow) offered again.
/// It can be moved to any thread; [`Turn::waker`](crate::Turn::waker) returns it.
#[derive(Clone)]
pub struct SessionWaker {
    waker: Arc<dyn WorkerWaker>,
    session: SessionKey,
}

impl SessionWaker {
    pub(crate) const fn new(waker: Arc<dyn WorkerWaker>, session: SessionKey) -> Self {
        Self { waker, session }
    }

    /// Returns the session whose message waits.
    #[must_use]
    pub const fn session(&self) -> SessionKey {
        self.session
    }

    /// Has the message offered again at once. Does nothing if no message waits.
    pub fn wake(&self) {
        self.waker.session_ready(self.session);
    }
}

impl fmt::Debug for SessionWaker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SessionWaker").field("session", &self.session).finish_non_exhaustive()
    }
}
