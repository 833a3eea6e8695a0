//! Which sessions of a worker have something to do that their driver does not know about, and which
//! wait for the store or for each other.

use std::collections::VecDeque;

use crate::core::slots::Slots;
use crate::state::session::Session;

/// Indices of sessions, each at most once in a list.
#[derive(Debug, Default)]
pub(crate) struct WorkLists {
    /// Sessions that may ask their driver for something new since it was last told.
    changed: VecDeque<usize>,
    /// Sessions with bytes that the store has not released.
    awaiting_store: Vec<usize>,
    /// Sessions that wait for room in another session's outbox.
    awaiting_room: Vec<usize>,
}

impl WorkLists {
    pub(crate) fn with_capacity(sessions: usize) -> Self {
        Self {
            changed: VecDeque::with_capacity(sessions),
            awaiting_store: Vec::with_capacity(sessions),
            awaiting_room: Vec::with_capacity(sessions),
        }
    }

    /// Makes room for this many sessions, so that nothing is allocated while messages flow.
    pub(crate) fn reserve(&mut self, sessions: usize) {
        self.changed.reserve(sessions.saturating_sub(self.changed.len()));
        for list in [&mut self.awaiting_store, &mut self.awaiting_room] {
            list.reserve(sessions.saturating_sub(list.len()));
        }
    }

    /// Records that the session at `index` may ask its driver for something new.
    pub(crate) fn note_change(&mut self, index: usize, session: &mut Session) {
        if session.standing.note_change() {
            self.changed.push_back(index);
        }
    }

    /// Takes the index of the session that has been in the list for longest.
    pub(crate) fn next_changed(&mut self) -> Option<usize> {
        self.changed.pop_front()
    }

    /// Records that the session at `index` has committed a transaction.
    pub(crate) fn note_commit(&mut self, index: usize, session: &mut Session) {
        session.publish();
        self.note_change(index, session);
        if session.outbox.waits_for_store() && !session.standing.set_awaits_store(true) {
            self.awaiting_store.push(index);
        }
    }

    /// Takes the list of sessions that wait for the store; the caller puts it back with those that
    /// still do.
    pub(crate) fn take_awaiting_store(&mut self) -> Vec<usize> {
        core::mem::take(&mut self.awaiting_store)
    }

    pub(crate) fn put_awaiting_store(&mut self, list: Vec<usize>) {
        self.awaiting_store = list;
    }

    /// Records that the session at `index` waits for room in another session's outbox.
    pub(crate) fn note_awaiting_room(&mut self, index: usize) {
        if !self.awaiting_room.contains(&index) {
            self.awaiting_room.push(index);
        }
    }

    /// Has the sessions that wait for room continue, because a socket has accepted bytes.
    #[inline]
    pub(crate) fn room_made(&mut self, sessions: &mut Slots) {
        while let Some(index) = self.awaiting_room.pop() {
            let session = &mut sessions[index];
            session.standing.set_can_go_on(true);
            self.note_change(index, session);
        }
    }

    /// Checks what holds between two calls: each list has open sessions, each once, and a session
    /// knows that it is in one.
    ///
    /// # Panics
    /// Panics if it does not hold.
    pub(crate) fn check(&self, sessions: &Slots) {
        let Self { changed, awaiting_store, awaiting_room } = self;
        let changed: Vec<usize> = changed.iter().copied().collect();
        for (list, name) in [
            (&changed, "that have changed"),
            (awaiting_store, "that await the store"),
            (awaiting_room, "that await room"),
        ] {
            let twice = list.iter().enumerate().find(|(n, index)| list[..*n].contains(index));
            let twice = twice.map(|(_, index)| index);
            assert!(twice.is_none(), "a session is twice among those {name}: {twice:?}");
            let closed = list.iter().find(|index| sessions.at(**index).is_none());
            assert!(closed.is_none(), "a closed session is among those {name}: {closed:?}");
        }
        for session in sessions.iter() {
            let index = session.fixed.key.index();
            let (is_changed, awaits_store) = (session.standing.is_changed, session.standing.awaits_store);
            let listed = changed.contains(&index);
            assert!(
                listed == is_changed,
                "session {index} has changed: {is_changed}, and is listed: {listed}"
            );
            let listed = awaiting_store.contains(&index);
            assert!(
                listed == awaits_store,
                "session {index} awaits the store: {awaits_store}, and is listed: {listed}"
            );
        }
    }

    /// Removes the session at `index`, which is closed.
    pub(crate) fn forget(&mut self, index: usize) {
        self.changed.retain(|other| *other != index);
        for list in [&mut self.awaiting_store, &mut self.awaiting_room] {
            list.retain(|other| *other != index);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::invariants::{said, session};

    /// Changes the lists, or the session at index 0; index 1 is free. And what `check` says then.
    type Damage = (fn(&mut WorkLists, &mut Session), &'static str);

    const DAMAGES: [Damage; 7] = [
        (|it, _| it.awaiting_room = vec![0, 0], "a session is twice among those that await room: Some(0)"),
        (|it, _| it.changed.push_back(1), "a closed session is among those that have changed: Some(1)"),
        (|it, _| it.awaiting_room = vec![2], "a closed session is among those that await room: Some(2)"),
        (|it, _| it.changed.clear(), "session 0 has changed: true, and is listed: false"),
        (
            |_, session| session.standing.of_test().is_changed = false,
            "session 0 has changed: false, and is listed: true",
        ),
        (|it, _| it.awaiting_store.clear(), "session 0 awaits the store: true, and is listed: false"),
        (
            |_, session| session.standing.of_test().awaits_store = false,
            "session 0 awaits the store: false, and is listed: true",
        ),
    ];

    #[test]
    fn each_condition_is_seen_to_fail() {
        let mut sessions = Slots::default();
        sessions.put(0, session());
        for (damage, says) in DAMAGES {
            let mut lists = WorkLists::with_capacity(2);
            let session = &mut sessions[0];
            let standing = session.standing.of_test();
            (standing.is_changed, standing.awaits_store) = (false, true);
            lists.note_change(0, session);
            lists.awaiting_store.push(0);
            lists.check(&sessions);
            damage(&mut lists, &mut sessions[0]);
            let said = said(|| lists.check(&sessions));
            assert!(said.contains(says), "{said}, not {says}");
        }
    }
}
