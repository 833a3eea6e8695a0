//! The open sessions of a worker, by place.

use core::ops::{Index, IndexMut};

use crate::state::session::Session;
use crate::values::id::SessionId;
use crate::values::key::SessionKey;

/// A place for each session, free or taken. [`Index`] returns the session at a place and panics if
/// it is free: only an open session is ever used.
#[derive(Default)]
pub(crate) struct Slots {
    places: Vec<Option<Session>>,
}

impl Slots {
    /// Returns the place of the open session with this key.
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
        self.places.get_mut(key.index())?.as_mut().filter(|session| session.fixed.key == key)
    }

    /// Returns the session at a place; `None` if that is free or does not exist.
    #[inline]
    pub(crate) fn at(&self, place: usize) -> Option<&Session> {
        self.places.get(place)?.as_ref()
    }

    /// Returns the session at a place; `None` if that is free or does not exist.
    #[inline]
    pub(crate) fn at_mut(&mut self, place: usize) -> Option<&mut Session> {
        self.places.get_mut(place)?.as_mut()
    }

    /// Returns the open session with this identity.
    pub(crate) fn find_id(&self, id: &SessionId) -> Option<SessionKey> {
        self.iter().find(|session| session.fixed.settings.id == *id).map(|session| session.fixed.key)
    }

    /// Returns the open sessions in the order of their places.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Session> {
        self.places.iter().flatten()
    }

    /// Returns the number of places.
    pub(crate) const fn len(&self) -> usize {
        self.places.len()
    }

    /// Returns the first free place; the number of places if all are taken.
    pub(crate) fn first_free(&self) -> usize {
        self.places.iter().position(Option::is_none).unwrap_or(self.places.len())
    }

    /// Puts a session into a free place, which is at most one after the last.
    pub(crate) fn put(&mut self, place: usize, session: Session) {
        if place == self.places.len() {
            self.places.push(None);
        }
        self.places[place] = Some(session);
    }

    /// Frees a place.
    pub(crate) fn free(&mut self, place: usize) {
        self.places[place] = None;
    }
}

impl Index<usize> for Slots {
    type Output = Session;

    #[inline]
    fn index(&self, place: usize) -> &Session {
        self.places[place].as_ref().expect("a session at work is open")
    }
}

impl IndexMut<usize> for Slots {
    #[inline]
    fn index_mut(&mut self, place: usize) -> &mut Session {
        self.places[place].as_mut().expect("a session at work is open")
    }
}
