//! What a session is called inside its process.

use core::fmt;

/// The name of an open session within its process.
///
/// A key is opaque: it is used to name a session again, in the worker that opened it. It is never given to another session,
/// also after the session was closed.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SessionKey {
    worker: u16,
    index: u32,
    serial: u32,
}

impl SessionKey {
    /// The key of the session that `worker` opened as number `serial` (counted from 0) and keeps in place `index`.
    ///
    /// Keys are made by [`Sessions`](crate::Sessions); this is for tests of stores.
    #[must_use]
    pub const fn new(worker: u16, index: u32, serial: u32) -> Self {
        Self { worker, index, serial }
    }

    /// The worker that the session belongs to.
    #[must_use]
    pub const fn worker(self) -> u16 {
        self.worker
    }

    /// The session's place in tables of its worker: below the largest number of sessions that were open at once. The place,
    /// but not the key, is used again after the session was closed.
    #[must_use]
    pub const fn index(self) -> usize {
        self.index as usize
    }
}

impl fmt::Debug for SessionKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SessionKey({}.{}#{})", self.worker, self.index, self.serial)
    }
}
