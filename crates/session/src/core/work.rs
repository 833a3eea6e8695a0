//! Which sessions of a worker have something to do that their driver does not know about.

use std::collections::VecDeque;

use crate::core::slots::Slots;
use crate::state::session::Session;

/// Indices of sessions, each at most once in a list.
#[derive(Debug, Default)]
pub(crate) struct WorkLists {
    /// Sessions that have something to write since they were last returned.
    output: VecDeque<usize>,
    /// Sessions with bytes that the store has not released.
    awaiting_store: Vec<usize>,
    /// Sessions that wait for room in another session's outbox.
    awaiting_room: Vec<usize>,
    /// Sessions that can continue without bytes or the clock.
    ready: Vec<usize>,
}

impl WorkLists {
    pub(crate) fn with_capacity(sessions: usize) -> Self {
        let list = || Vec::with_capacity(sessions);
        let output = VecDeque::with_capacity(sessions);
        Self { output, awaiting_store: list(), awaiting_room: list(), ready: list() }
    }

    /// Makes room for this many sessions, so that nothing is allocated while messages flow.
    pub(crate) fn reserve(&mut self, sessions: usize) {
        self.output.reserve(sessions.saturating_sub(self.output.len()));
        for list in [&mut self.awaiting_store, &mut self.awaiting_room, &mut self.ready] {
            list.reserve(sessions.saturating_sub(list.len()));
        }
    }

    /// Records that the session at index `place` may have something to write.
    pub(crate) fn note_output(&mut self, place: usize, session: &mut Session) {
        if !session.standing.has_output {
            session.standing.has_output = true;
            self.output.push_back(place);
        }
    }

    /// Takes the index of the session that has had output for the longest time.
    pub(crate) fn next_output(&mut self) -> Option<usize> {
        self.output.pop_front()
    }

    /// Returns the number of sessions with output.
    pub(crate) fn outputs(&self) -> usize {
        self.output.len()
    }

    /// Records that the session at index `place` has committed a transaction.
    pub(crate) fn note_commit(&mut self, place: usize, session: &mut Session) {
        session.publish();
        if !session.outbox.is_empty() {
            self.note_output(place, session);
        }
        if session.outbox.waits_for_store() && !session.standing.awaits_store {
            session.standing.awaits_store = true;
            self.awaiting_store.push(place);
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

    /// Records that a call for another session may have halted the session at index `place`, or
    /// requested that its connection be closed. Its driver learns of it as it learns of output, or
    /// of a session that can continue.
    pub(crate) fn note_end(&mut self, place: usize, session: &mut Session) {
        match &session.state.connection {
            Some(connection) if connection.end.is_some() => self.note_output(place, session),
            None if session.standing.halted.is_some() && !self.ready.contains(&place) => {
                self.ready.push(place)
            }
            _ => {}
        }
    }

    /// Records that the session at index `place` waits for room in another session's outbox.
    pub(crate) fn note_awaiting_room(&mut self, place: usize) {
        if !self.awaiting_room.contains(&place) {
            self.awaiting_room.push(place);
        }
    }

    /// Moves the sessions that wait for room to those that can continue, because a socket has
    /// accepted bytes.
    pub(crate) fn room_made(&mut self) {
        for place in self.awaiting_room.drain(..) {
            if !self.ready.contains(&place) {
                self.ready.push(place);
            }
        }
    }

    pub(crate) fn next_ready(&mut self) -> Option<usize> {
        self.ready.pop()
    }

    /// Checks what holds between two calls: each list has open sessions, each once, and a session
    /// knows that it is in one.
    ///
    /// # Panics
    /// Panics if it does not hold.
    pub(crate) fn check(&self, sessions: &Slots) {
        let Self { output, awaiting_store, awaiting_room, ready } = self;
        let output: Vec<usize> = output.iter().copied().collect();
        for (list, name) in [
            (&output, "that have output"),
            (awaiting_store, "that await the store"),
            (awaiting_room, "that await room"),
            (ready, "that are ready"),
        ] {
            let mut places = list.clone();
            places.sort_unstable();
            let twice = places.windows(2).find(|pair| pair[0] == pair[1]);
            assert!(twice.is_none(), "a session is twice among those {name}: {twice:?}");
            let closed = places.iter().find(|place| sessions.at(**place).is_none());
            assert!(closed.is_none(), "a closed session is among those {name}: {closed:?}");
        }
        for session in sessions.iter() {
            let place = session.fixed.key.index();
            let (has_output, awaits_store) = (session.standing.has_output, session.standing.awaits_store);
            let listed = output.contains(&place);
            assert!(
                listed == has_output,
                "session {place} has output: {has_output}, and is listed: {listed}"
            );
            let listed = awaiting_store.contains(&place);
            assert!(
                listed == awaits_store,
                "session {place} awaits the store: {awaits_store}, and is listed: {listed}"
            );
        }
    }

    /// Removes the session at index `place`, which is closed.
    pub(crate) fn forget(&mut self, place: usize) {
        self.output.retain(|other| *other != place);
        for list in [&mut self.awaiting_store, &mut self.awaiting_room, &mut self.ready] {
            list.retain(|other| *other != place);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::invariants::{said, session};

    /// Changes the lists, or the session at place 0; place 1 is free. And what `check` says then.
    type Damage = (fn(&mut WorkLists, &mut Session), &'static str);

    const DAMAGES: [Damage; 7] = [
        (|it, _| it.ready = vec![0, 0], "a session is twice among those that are ready: Some([0, 0])"),
        (|it, _| it.ready = vec![1], "a closed session is among those that are ready: Some(1)"),
        (|it, _| it.awaiting_room = vec![2], "a closed session is among those that await room: Some(2)"),
        (|it, _| it.output.clear(), "session 0 has output: true, and is listed: false"),
        (
            |_, session| session.standing.has_output = false,
            "session 0 has output: false, and is listed: true",
        ),
        (|it, _| it.awaiting_store.clear(), "session 0 awaits the store: true, and is listed: false"),
        (
            |_, session| session.standing.awaits_store = false,
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
            (session.standing.has_output, session.standing.awaits_store) = (false, true);
            lists.note_output(0, session);
            lists.awaiting_store.push(0);
            lists.check(&sessions);
            damage(&mut lists, &mut sessions[0]);
            let said = said(|| lists.check(&sessions));
            assert!(said.contains(says), "{said}, not {says}");
        }
    }
}
