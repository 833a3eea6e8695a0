//! The name of a session within its process.

use core::fmt;

/// The name of an open session within its process.
///
/// A key is opaque: it names a session in the worker that opened it. It is never reused for another
/// session, not even after the session was closed.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SessionKey {
    worker: u16,
    index: u32,
    serial: u32,
}

impl SessionKey {
    /// Creates the key of the session that `worker` opened as number `serial` and keeps at `index`.
    pub(crate) const fn new(worker: u16, index: u32, serial: u32) -> Self {
        Self { worker, index, serial }
    }

    /// Returns the worker that the session belongs to.
    #[must_use]
    pub const fn worker(self) -> u16 {
        self.worker
    }

    /// Returns the session's index in tables of its worker, which is below the largest number of
    /// sessions that were open at once. The index, unlike the key, is reused after the session was
    /// closed.
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
