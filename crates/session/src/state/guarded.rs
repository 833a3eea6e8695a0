//! What no rollback restores is changed in this folder only.

use core::ops::Deref;

/// A value that everybody reads and that only this folder changes: elsewhere a change has a name,
/// which is a method.
///
/// A transaction restores [`State`](crate::state::State) and the outbox. Whatever else a session
/// has keeps what was done to it, so a change of that must not slip into a transaction unseen.
pub(crate) struct Guarded<T>(T);

impl<T> Guarded<T> {
    pub(super) const fn new(value: T) -> Self {
        Self(value)
    }

    #[inline]
    pub(super) const fn change(&mut self) -> &mut T {
        &mut self.0
    }

    /// Returns the value, for tests that put a session into a state.
    #[cfg(test)]
    pub(crate) const fn of_test(&mut self) -> &mut T {
        &mut self.0
    }
}

impl<T> Deref for Guarded<T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        &self.0
    }
}
