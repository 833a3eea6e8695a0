//! How other threads get a worker's attention: an application that can take a message again, a store that has advanced.

use core::fmt;
use std::sync::Arc;

use crate::key::SessionKey;

/// The bell of a worker. It may be rung from any thread and never blocks.
pub trait WorkerWaker: Send + Sync {
    /// The application can take the message that it put off: [`Sessions::wake`](crate::Sessions::wake) is to be called for
    /// the session.
    fn session_ready(&self, session: SessionKey);

    /// The store has something to say: [`Sessions::store_advanced`](crate::Sessions::store_advanced) is to be called.
    fn store_advanced(&self);
}

/// A bell that nobody hears.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Unheard;

impl WorkerWaker for Unheard {
    fn session_ready(&self, _: SessionKey) {}
    fn store_advanced(&self) {}
}

/// Asks for a message that was put off with [`Delivery::NotNow`](crate::Delivery::NotNow) to be offered again. Can be sent
/// to any thread; [`Turn::waker`](crate::Turn::waker) returns it.
#[derive(Clone)]
pub struct SessionWaker {
    waker: Arc<dyn WorkerWaker>,
    session: SessionKey,
}

impl SessionWaker {
    pub(crate) const fn new(waker: Arc<dyn WorkerWaker>, session: SessionKey) -> Self {
        Self { waker, session }
    }

    /// The session whose message waits.
    #[must_use]
    pub const fn session(&self) -> SessionKey {
        self.session
    }

    /// Has the message offered again at once. Does nothing when none waits.
    pub fn wake(&self) {
        self.waker.session_ready(self.session);
    }
}

impl fmt::Debug for SessionWaker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SessionWaker").field("session", &self.session).finish_non_exhaustive()
    }
}
