//! What a store keeps for each of its sessions, and which of them a turn has touched: the same for
//! every store.

use fixbolt_session::SessionId;
use fixbolt_session::store::{Position, SessionKey};

/// What is kept for one session.
pub(crate) trait Kept {
    /// Prepares the open turn, before any session's part of it becomes visible.
    fn finish(&mut self) {}
    /// Makes the open turn visible. This cannot fail.
    fn publish(&mut self);
    /// Discards the open turn.
    fn rollback(&mut self);
    /// Checks what holds between two turns, in builds with debug assertions.
    ///
    /// # Panics
    /// Panics if it does not hold.
    fn check(&self) {}
}

/// The open sessions of a store.
#[derive(Debug)]
pub(crate) struct PerSession<T> {
    /// Indexed by the sessions' keys.
    entries: Vec<Option<Entry<T>>>,
    /// Indices of the sessions that the open turn has touched, in this order.
    touched: Vec<usize>,
    in_turn: bool,
    /// The number of the open turn, or of the last one.
    turn: u64,
    position: u64,
}

/// An open session.
#[derive(Debug)]
pub(crate) struct Entry<T> {
    pub(crate) key: SessionKey,
    pub(crate) id: SessionId,
    in_turn: bool,
    pub(crate) kept: T,
}

impl<T> Default for PerSession<T> {
    fn default() -> Self {
        Self { entries: Vec::new(), touched: Vec::new(), in_turn: false, turn: 0, position: 0 }
    }
}

impl<T: Kept> PerSession<T> {
    /// Returns whether a session is open.
    pub(crate) fn has(&self, id: &SessionId) -> bool {
        self.iter().any(|open| open.id == *id)
    }

    /// Keeps something for a session that is open from now on, so that no turn of it allocates.
    pub(crate) fn open(&mut self, key: SessionKey, id: &SessionId, kept: T) {
        if self.entries.len() <= key.index() {
            self.entries.resize_with(key.index() + 1, || None);
        }
        self.touched.reserve(self.entries.len());
        self.entries[key.index()] = Some(Entry { key, id: id.clone(), in_turn: false, kept });
    }

    /// Takes what is kept for a session, if it is open: it is closed.
    ///
    /// # Panics
    /// Panics inside a turn.
    pub(crate) fn close(&mut self, key: SessionKey) -> Option<Entry<T>> {
        assert!(!self.in_turn, "close inside a turn");
        self.entries.get_mut(key.index())?.take()
    }

    /// Takes what is kept for all sessions, after a turn that is rolled back if one is open.
    pub(crate) fn close_all(&mut self) -> impl Iterator<Item = Entry<T>> {
        if self.in_turn {
            self.rollback();
        }
        self.entries.drain(..).flatten()
    }

    /// Takes what is kept for all sessions as it is, whether a turn is open or not.
    #[cfg(test)]
    pub(crate) fn abandon(&mut self) -> impl Iterator<Item = Entry<T>> {
        self.in_turn = false;
        self.touched.clear();
        self.entries.drain(..).flatten()
    }

    /// Returns the sessions, in the order of their indices.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Entry<T>> {
        self.entries.iter().flatten()
    }

    /// Returns the number of places for sessions.
    pub(crate) fn places(&self) -> usize {
        self.entries.len()
    }

    /// Returns the session at an index.
    #[inline]
    pub(crate) fn at(&self, index: usize) -> Option<&Entry<T>> {
        self.entries.get(index)?.as_ref()
    }

    /// Returns the session at an index.
    #[inline]
    pub(crate) fn at_mut(&mut self, index: usize) -> Option<&mut Entry<T>> {
        self.entries.get_mut(index)?.as_mut()
    }

    /// Returns what is kept for a session.
    ///
    /// # Panics
    /// Panics if it is closed.
    #[inline]
    pub(crate) fn kept(&mut self, key: SessionKey) -> &mut T {
        &mut self.entries[key.index()].as_mut().expect("the session is open").kept
    }

    /// Begins a turn.
    ///
    /// # Panics
    /// Panics inside a turn.
    #[inline]
    pub(crate) fn begin(&mut self) {
        assert!(!self.in_turn, "begin inside a turn");
        self.in_turn = true;
        self.turn += 1;
    }

    /// Returns what is kept for a session, which the turn touches from now on, and the turn's
    /// number.
    ///
    /// # Panics
    /// Panics outside a turn, and if the session is closed.
    #[inline]
    pub(crate) fn touch(&mut self, key: SessionKey) -> (&mut T, u64) {
        assert!(self.in_turn, "append outside a turn");
        let open = self.entries[key.index()].as_mut().expect("the session is open");
        if !open.in_turn {
            open.in_turn = true;
            self.touched.push(key.index());
        }
        (&mut open.kept, self.turn)
    }

    /// Returns the indices of the sessions that the open turn has touched, in this order.
    #[inline]
    pub(crate) fn touched(&self) -> &[usize] {
        &self.touched
    }

    /// Has turns be numbered from above `turn`.
    pub(crate) fn number_above(&mut self, turn: u64) {
        self.turn = self.turn.max(turn);
    }

    /// Makes the turn visible in all of its sessions. `published` is called for each.
    ///
    /// # Panics
    /// Panics outside a turn.
    #[inline]
    pub(crate) fn commit(&mut self, published: impl FnMut(usize, &mut T)) -> Position {
        assert!(self.in_turn, "commit outside a turn");
        self.in_turn = false;
        if !self.touched.is_empty() {
            for n in &self.touched {
                if let Some(open) = &mut self.entries[*n] {
                    open.kept.finish();
                }
            }
            self.publish(usize::MAX, published);
            self.position += 1;
        }
        self.position()
    }

    /// Publishes the turn in at most this many of its sessions.
    ///
    /// The session that was touched first, with the inbound message, comes last. If the process
    /// dies in between, that message is processed again, and the messages of the other sessions
    /// show that it was processed before.
    #[inline]
    pub(crate) fn publish(&mut self, sessions: usize, mut published: impl FnMut(usize, &mut T)) {
        for _ in 0..sessions {
            let Some(n) = self.touched.pop() else { return };
            if let Some(open) = &mut self.entries[n] {
                open.in_turn = false;
                open.kept.publish();
                published(n, &mut open.kept);
                open.check();
            }
        }
    }

    /// Discards the turn in all of its sessions.
    pub(crate) fn rollback(&mut self) {
        self.in_turn = false;
        while let Some(n) = self.touched.pop() {
            if let Some(open) = &mut self.entries[n] {
                open.in_turn = false;
                open.kept.rollback();
                open.check();
            }
        }
    }

    /// Returns the position of the last turn.
    #[inline]
    pub(crate) const fn position(&self) -> Position {
        Position(self.position)
    }
}

impl<T: Kept> Entry<T> {
    #[inline]
    fn check(&self) {
        if cfg!(debug_assertions) {
            assert!(!self.in_turn, "{} is in a turn that has ended", self.id);
            self.kept.check();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{key, session};

    /// What has happened to a session, in order.
    #[derive(Default)]
    struct Seen(String);

    impl Kept for Seen {
        fn finish(&mut self) {
            self.0.push('f');
        }
        fn publish(&mut self) {
            self.0.push('p');
        }
        fn rollback(&mut self) {
            self.0.push('r');
        }
    }

    fn opened() -> PerSession<Seen> {
        let mut sessions = PerSession::default();
        for (n, name) in ["A", "B", "C"].into_iter().enumerate() {
            sessions.open(key(n as u32), &session(name), Seen::default());
        }
        sessions
    }

    fn seen(sessions: &PerSession<Seen>) -> Vec<&str> {
        sessions.iter().map(|open| &*open.kept.0).collect()
    }

    #[test]
    fn a_turn_ends_in_each_session_that_it_has_touched_and_in_the_first_one_last() {
        let mut sessions = opened();
        sessions.begin();
        assert_eq!(sessions.commit(|_, _| panic!("none is touched")), Position(0));
        sessions.begin();
        for n in [2, 0, 2] {
            assert_eq!(sessions.touch(key(n)).1, 2);
        }
        assert_eq!(sessions.touched(), [2, 0]);
        let mut order = Vec::new();
        assert_eq!(sessions.commit(|n, _| order.push(n)), Position(1));
        assert_eq!((seen(&sessions), order), (vec!["fp", "", "fp"], vec![0, 2]));
        sessions.begin();
        sessions.touch(key(1));
        sessions.rollback();
        assert_eq!(seen(&sessions), ["fp", "r", "fp"]);
        assert!(sessions.touched().is_empty());
        sessions.number_above(7);
        sessions.begin();
        assert_eq!(sessions.touch(key(1)).1, 8);
        assert_eq!(sessions.close_all().map(|open| open.kept.0).collect::<Vec<_>>(), ["fp", "rr", "fp"]);
        assert!(!sessions.has(&session("A")));
    }

    #[test]
    #[should_panic(expected = "is in a turn that has ended")]
    fn a_turn_that_goes_on_after_its_commit_is_noticed() {
        let mut sessions = opened();
        let open = sessions.at_mut(0).unwrap();
        open.check();
        open.in_turn = true;
        open.check();
    }

    #[test]
    #[should_panic(expected = "close inside a turn")]
    fn a_session_is_not_closed_inside_a_turn() {
        let mut sessions = opened();
        sessions.begin();
        sessions.close(key(0));
    }
}
