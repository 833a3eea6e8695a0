//! The open sessions of a worker, by index.

use core::ops::{Index, IndexMut};

use crate::state::session::Session;
use crate::values::id::SessionId;
use crate::values::key::SessionKey;

/// A slot for each session, free or taken. [`Index`] returns the session in a slot and panics if
/// the slot is free: only an open session is ever used.
#[derive(Default)]
pub(crate) struct Slots {
    slots: Vec<Option<Session>>,
}

impl Slots {
    /// Returns the index of the slot of the open session with this key.
    #[inline]
    pub(crate) fn find(&self, key: SessionKey) -> Option<usize> {
        self.get(key).map(|session| session.fixed.key.index())
    }

    /// Returns the open session with this key.
    #[inline]
    pub(crate) fn get(&self, key: SessionKey) -> Option<&Session> {
        self.at(key.index()).filter(|session| session.fixed.key == key)
    }

    /// Returns the open session with this key.
    #[inline]
    pub(crate) fn get_mut(&mut self, key: SessionKey) -> Option<&mut Session> {
        self.slots.get_mut(key.index())?.as_mut().filter(|session| session.fixed.key == key)
    }

    /// Returns the session in a slot; `None` if that is free or does not exist.
    #[inline]
    pub(crate) fn at(&self, index: usize) -> Option<&Session> {
        self.slots.get(index)?.as_ref()
    }

    /// Returns the session in a slot; `None` if that is free or does not exist.
    #[inline]
    pub(crate) fn at_mut(&mut self, index: usize) -> Option<&mut Session> {
        self.slots.get_mut(index)?.as_mut()
    }

    /// Returns the open session with this identity.
    pub(crate) fn find_id(&self, id: &SessionId) -> Option<SessionKey> {
        self.iter().find(|session| session.fixed.settings.id == *id).map(|session| session.fixed.key)
    }

    /// Returns the open sessions in the order of their slots.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Session> {
        self.slots.iter().flatten()
    }

    /// Returns the sessions, to change them.
    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Session> {
        self.slots.iter_mut().flatten()
    }

    /// Returns the number of slots.
    pub(crate) const fn len(&self) -> usize {
        self.slots.len()
    }

    /// Returns the index of the first free slot; the number of slots if all are taken.
    pub(crate) fn first_free(&self) -> usize {
        self.slots.iter().position(Option::is_none).unwrap_or(self.slots.len())
    }

    /// Puts a session into a free slot, which is at most one after the last.
    pub(crate) fn put(&mut self, index: usize, session: Session) {
        if index == self.slots.len() {
            self.slots.push(None);
        }
        self.slots[index] = Some(session);
    }

    /// Frees a slot.
    pub(crate) fn free(&mut self, index: usize) {
        self.slots[index] = None;
    }
}

impl Index<usize> for Slots {
    type Output = Session;

    #[inline]
    fn index(&self, index: usize) -> &Session {
        self.slots[index].as_ref().expect("a session at work is open")
    }
}

impl IndexMut<usize> for Slots {
    #[inline]
    fn index_mut(&mut self, index: usize) -> &mut Session {
        self.slots[index].as_mut().expect("a session at work is open")
    }
}
