//! The connections of a worker, and which of them need attention.
//!
//! What is known of each connection's sender is in [`admission`](super::admission).
//!
//! A connection has a slot, which its events name. The slot of a closed connection becomes free at
//! the end of the cycle: an event of this cycle must not reach a newer connection in the same slot.

use core::ops::Range;

use fixbolt_session::{Mono, SessionKey};
use mio::Registry;
use mio::event::Event;

use super::admission::Admission;
use super::connection::{Connection, Stage};
use super::refusal::Refusals;
use crate::limits::ConnectionLimits;

/// So few connections are checked completely after each cycle.
const FEW: usize = 64;

/// The connections of one worker.
#[derive(Debug)]
pub(crate) struct Connections {
    slots: Vec<Option<Connection>>,
    free: Vec<usize>,
    closed: Vec<usize>,
    /// Connections that need attention, and the list that is being processed.
    ready: Vec<usize>,
    serving: Vec<usize>,
    pub(crate) admission: Admission,
    pub(crate) refusals: Refusals,
}

impl Connections {
    pub(crate) fn new(limits: ConnectionLimits) -> Self {
        Self {
            slots: Vec::new(),
            free: Vec::new(),
            closed: Vec::with_capacity(64),
            ready: Vec::with_capacity(256),
            serving: Vec::with_capacity(256),
            admission: Admission::new(limits),
            refusals: Refusals::new(),
        }
    }

    /// Returns the number of connections, with those that were closed in this cycle.
    pub(crate) fn count(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.slots.iter().all(Option::is_none)
    }

    /// Returns whether there are some connections, at most `most`, and all of them are sessions'
    /// and may be written to: no event is awaited but bytes.
    pub(crate) fn are_few_sessions(&self, most: usize) -> bool {
        let count = self.count();
        let is_quiet =
            |connection: &Connection| matches!(connection.stage, Stage::Session(_)) && connection.writable;
        (1..=most).contains(&count) && self.slots.iter().flatten().all(is_quiet)
    }

    /// Returns all slots, including free ones.
    pub(crate) fn slots(&self) -> Range<usize> {
        0..self.slots.len()
    }

    pub(crate) fn get(&self, slot: usize) -> Option<&Connection> {
        self.slots.get(slot)?.as_ref()
    }

    pub(crate) fn get_mut(&mut self, slot: usize) -> Option<&mut Connection> {
        self.slots.get_mut(slot)?.as_mut()
    }

    /// Adds a connection and returns its slot; `None` if the system cannot watch it.
    pub(crate) fn insert(
        &mut self,
        now: Mono,
        mut connection: Connection,
        registry: &Registry,
    ) -> Option<usize> {
        let slot = self.free.last().copied().unwrap_or(self.slots.len());
        if let Err(error) = connection.register(slot, registry) {
            tracing::error!(%error, "the connection cannot be watched");
            return None;
        }
        if connection.stage.is_pending() {
            self.admission.arrive(slot, connection.peer.ip(), now);
            // One that another worker has passed on is as far as it was there.
            if connection.has_logon {
                self.admission.talk(slot);
            }
            if connection.transport.has_tls() && !connection.transport.is_handshaking() {
                self.admission.trust(slot, now);
            }
        }
        if self.free.pop().is_some() {
            self.slots[slot] = Some(connection);
        } else {
            self.slots.push(Some(connection));
        }
        Some(slot)
    }

    /// Records what the system reported about a connection.
    pub(crate) fn note_event(&mut self, slot: usize, event: &Event) {
        let Some(connection) = self.get_mut(slot) else { return };
        connection.readable |= event.is_readable() || event.is_read_closed() || event.is_error();
        connection.read_closed |= event.is_read_closed() || event.is_error();
        connection.broken |= event.is_error();
        connection.writable |= event.is_writable();
        if connection.readable {
            self.admission.talk(slot);
        }
        self.mark_ready(slot);
    }

    /// Makes [`Connections::next_ready`] return the connection in the next round.
    pub(crate) fn mark_ready(&mut self, slot: usize) {
        if let Some(Some(connection)) = self.slots.get_mut(slot)
            && !connection.queued
        {
            connection.queued = true;
            self.ready.push(slot);
        }
    }

    pub(crate) fn has_ready(&self) -> bool {
        !self.ready.is_empty()
    }

    /// Begins a round over the connections that are ready now; those marked meanwhile are in the
    /// next one.
    pub(crate) fn begin_round(&mut self) {
        core::mem::swap(&mut self.ready, &mut self.serving);
    }

    /// Returns the next connection of the round.
    pub(crate) fn next_ready(&mut self) -> Option<usize> {
        loop {
            let slot = self.serving.pop()?;
            if let Some(connection) = self.get_mut(slot) {
                connection.queued = false;
                return Some(slot);
            }
        }
    }

    /// Assigns the connection to a session, dynamic or not, with messages of up to
    /// `max_message_size` bytes.
    pub(crate) fn assign(
        &mut self,
        slot: usize,
        session: SessionKey,
        dynamic: bool,
        max_message_size: usize,
    ) {
        let Some(Some(connection)) = self.slots.get_mut(slot) else { return };
        self.admission.identify(slot, dynamic);
        connection.assign(session, max_message_size);
    }

    /// Closes our direction and discards further input, until `until` at the latest. While file
    /// descriptors are short the connection is closed at once: counterparties whose Logon is
    /// refused would otherwise keep as many as they like.
    pub(crate) fn begin_draining(&mut self, slot: usize, until: Mono) {
        if self.admission.is_short() {
            return self.close(slot);
        }
        self.admission.keep_no_longer(slot);
        let Some(connection) = self.get_mut(slot) else { return };
        match connection.begin_draining(until) {
            Ok(()) => self.mark_ready(slot),
            // The counterparty has reset it.
            Err(_) => self.close(slot),
        }
    }

    /// Discards the input of a connection that is being drained, and closes it at its end.
    pub(crate) fn drain(&mut self, slot: usize) {
        let Some(connection) = self.get_mut(slot) else { return };
        if !connection.drain() {
            self.close(slot);
        } else if connection.readable {
            self.mark_ready(slot);
        }
    }

    /// Closes a connection; its slot is free at the end of the cycle.
    pub(crate) fn close(&mut self, slot: usize) {
        if let Some(Some(connection)) = self.slots.get_mut(slot)
            && connection.stage != Stage::Closed
        {
            self.admission.leave(slot);
            connection.transport.say_goodbye();
            connection.stage = Stage::Closed;
            self.closed.push(slot);
        }
    }

    /// Takes a connection out, for another worker; `None` if the system does not let go of it. Its
    /// slot is free at the end of the cycle.
    pub(crate) fn take(&mut self, slot: usize, registry: &Registry) -> Option<Connection> {
        let connection = self.slots.get_mut(slot)?;
        registry.deregister(connection.as_mut()?.transport.socket_mut()).ok()?;
        let connection = connection.take();
        self.admission.leave(slot);
        self.closed.push(slot);
        connection
    }

    /// Checks what holds between two cycles: of each of these slots, and, if there are few, that
    /// the lists have what they must.
    ///
    /// # Panics
    /// Panics if it does not hold.
    pub(crate) fn check(&self, slots: Range<usize>) {
        let Self { slots: all, free, closed, ready, serving, admission, .. } = self;
        assert!(closed.is_empty(), "the connections in slots {closed:?} are closed, and were not removed");
        assert!(serving.is_empty(), "the connections in slots {serving:?} were to be served");
        assert!(free.len() <= all.len(), "{} slots are free of {}", free.len(), all.len());
        for slot in slots {
            let Some(connection) = &all[slot] else {
                assert!(!admission.knows(slot), "slot {slot} is free, and has a place");
                continue;
            };
            assert!(connection.stage != Stage::Closed, "slot {slot} has a closed connection");
            let is_pending = connection.stage.is_pending();
            assert!(!is_pending || admission.knows(slot), "slot {slot} is pending, and has no place");
        }
        if all.len() > FEW {
            return;
        }
        let once = |list: &[usize]| list.iter().enumerate().all(|(n, slot)| !list[..n].contains(slot));
        assert!(once(free), "a slot is free twice: {free:?}");
        assert!(once(ready), "a connection is ready twice: {ready:?}");
        for (slot, connection) in all.iter().enumerate() {
            let (is_free, is_ready) = (free.contains(&slot), ready.contains(&slot));
            assert!(
                is_free == connection.is_none(),
                "slot {slot} is free: {is_free}, and has {connection:?}"
            );
            let is_queued = connection.as_ref().is_some_and(|connection| connection.queued);
            assert!(is_ready == is_queued, "slot {slot} is queued: {is_queued}, and is ready: {is_ready}");
        }
        admission.check();
    }

    /// Removes closed connections, at the end of a cycle.
    pub(crate) fn remove_closed(&mut self, registry: &Registry) {
        for slot in self.closed.drain(..) {
            if let Some(connection) = &mut self.slots[slot] {
                // Closing the socket removes it from the event queue, whatever this returns.
                let _ = registry.deregister(connection.transport.socket_mut());
            }
            self.slots[slot] = None;
            self.free.push(slot);
        }
        // A closed connection may still be marked, and its slot may hold a newer connection in the
        // next cycle.
        if !self.ready.is_empty() {
            let slots = &self.slots;
            self.ready.retain(|slot| slots[*slot].is_some());
        }
    }
}

#[cfg(test)]
mod tests {
    use fixbolt_session::runtime::{mono, session_key};
    use std::io::{Read, Write};
    use std::net::TcpListener;

    use mio::Poll;
    use mio::net::TcpStream;

    use super::*;
    use crate::damage::said;
    use crate::ports::Port;

    const LIMITS: ConnectionLimits = ConnectionLimits { pending: 9, per_address: 9 };

    /// A connection and its other end.
    fn pair() -> (Connection, std::net::TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let stream = std::net::TcpStream::connect(address).unwrap();
        let (peer, _) = listener.accept().unwrap();
        stream.set_nonblocking(true).unwrap();
        let stage = Stage::Pending { port: Port::default(), until: mono(0) };
        (Connection::new(TcpStream::from_std(stream), address, stage), peer)
    }

    /// Changes connections of which slot 0 is pending and ready, slot 1 a session's and slot 2
    /// free; and what `check` says then.
    type Damage = (fn(&mut Connections), &'static str);

    const DAMAGES: [Damage; 11] = [
        (|it| it.close(0), "the connections in slots [0] are closed, and were not removed"),
        (Connections::begin_round, "the connections in slots [0] were to be served"),
        (|it| it.free = vec![2; 4], "4 slots are free of 3"),
        (|it| it.admission.arrive(2, [127, 0, 0, 1].into(), mono(0)), "slot 2 is free, and has a place"),
        (|it| it.get_mut(1).unwrap().stage = Stage::Closed, "slot 1 has a closed connection"),
        (|it| it.admission.leave(0), "slot 0 is pending, and has no place"),
        (|it| it.free.push(2), "a slot is free twice: [2, 2]"),
        (|it| it.ready.push(0), "a connection is ready twice: [0, 0]"),
        (|it| it.free.clear(), "slot 2 is free: false, and has None"),
        (|it| it.ready.push(1), "slot 1 is queued: false, and is ready: true"),
        (|it| it.ready.clear(), "slot 0 is queued: true, and is ready: false"),
    ];

    #[test]
    fn each_condition_is_seen_to_fail() {
        let poll = Poll::new().unwrap();
        for (damage, says) in DAMAGES {
            let mut connections = Connections::new(LIMITS);
            let peers = [0, 1, 2].map(|slot| {
                let (connection, peer) = pair();
                assert_eq!(connections.insert(mono(0), connection, poll.registry()), Some(slot));
                peer
            });
            connections.assign(1, session_key(0, 0, 0), false, 8192);
            connections.mark_ready(0);
            connections.close(2);
            connections.remove_closed(poll.registry());
            connections.check(connections.slots());
            damage(&mut connections);
            let said = said(|| connections.check(connections.slots()));
            assert!(said.contains(says), "{said}, not {says}");
            drop(peers);
        }
    }

    #[test]
    fn a_slot_is_not_used_again_in_the_cycle_in_which_its_connection_is_closed() {
        let poll = Poll::new().unwrap();
        let mut connections = Connections::new(LIMITS);
        let (first, _peer) = pair();
        assert_eq!(connections.insert(mono(0), first, poll.registry()), Some(0));
        connections.mark_ready(0);
        connections.close(0);
        connections.close(0);
        let (second, _peer) = pair();
        assert_eq!(connections.insert(mono(0), second, poll.registry()), Some(1));
        connections.remove_closed(poll.registry());
        assert!(!connections.has_ready(), "a mark of the closed connection is left");
        let (third, _peer) = pair();
        assert_eq!(connections.insert(mono(0), third, poll.registry()), Some(0));
    }

    #[test]
    fn a_connection_that_is_taken_out_can_be_watched_by_another_worker() {
        let (first, second) = (Poll::new().unwrap(), Poll::new().unwrap());
        let (mut giving, mut taking) = (Connections::new(LIMITS), Connections::new(LIMITS));
        let (connection, _peer) = pair();
        let slot = giving.insert(mono(0), connection, first.registry()).unwrap();
        giving.mark_ready(slot);
        let connection = giving.take(slot, first.registry()).unwrap();
        assert!(giving.take(slot, first.registry()).is_none());
        giving.close(slot);
        giving.remove_closed(first.registry());
        assert!(giving.is_empty() && !giving.has_ready());
        assert_eq!(giving.count(), 0);
        assert_eq!(taking.insert(mono(0), connection, second.registry()), Some(0));
    }

    #[test]
    fn a_connection_that_the_counterparty_has_reset_is_closed_instead_of_drained() {
        let poll = Poll::new().unwrap();
        let mut connections = Connections::new(LIMITS);
        let (mut connection, peer) = pair();
        // Closing a socket that has unread bytes resets the connection.
        assert_eq!(connection.send(b"unread").unwrap(), 6);
        while peer.peek(&mut [0]).unwrap() == 0 {}
        drop(peer);
        while matches!(connection.transport.socket_mut().read(&mut [0]), Err(error) if error.kind() == std::io::ErrorKind::WouldBlock)
        {
        }
        assert!(connection.transport.socket_mut().write(b"x").is_err());
        let slot = connections.insert(mono(0), connection, poll.registry()).unwrap();
        connections.assign(slot, session_key(0, 0, 0), false, 8192);
        connections.begin_draining(slot, mono(1));
        connections.remove_closed(poll.registry());
        assert!(connections.is_empty());
    }

    #[test]
    fn a_connection_that_is_refused_keeps_its_place_no_longer() {
        let poll = Poll::new().unwrap();
        let mut connections = Connections::new(ConnectionLimits { pending: 2, per_address: 9 });
        let (greeting, _peer) = pair();
        let (talking, _other) = pair();
        connections.insert(mono(0), greeting, poll.registry()).unwrap();
        connections.insert(mono(0), talking, poll.registry()).unwrap();
        connections.admission.greet(0, mono(0));
        connections.admission.talk(1);
        let stranger = "192.0.2.1".parse().unwrap();
        assert_eq!(connections.admission.gives_way(stranger, mono(0)), Some(1));
        connections.begin_draining(0, mono(1));
        assert_eq!(connections.admission.gives_way(stranger, mono(0)), Some(0));
    }

    #[test]
    fn a_connection_that_another_worker_has_passed_on_is_as_far_as_it_was_there() {
        let poll = Poll::new().unwrap();
        let mut connections = Connections::new(ConnectionLimits { pending: 2, per_address: 9 });
        let (mut passed_on, _peer) = pair();
        passed_on.has_logon = true;
        let (silent, _other) = pair();
        connections.insert(mono(0), passed_on, poll.registry()).unwrap();
        connections.insert(mono(0), silent, poll.registry()).unwrap();
        let stranger = "192.0.2.1".parse().unwrap();
        assert_eq!(connections.admission.gives_way(stranger, mono(0)), Some(1));
    }

    #[cfg(feature = "tls")]
    #[test]
    fn a_handshake_that_was_done_before_a_connection_was_passed_on_keeps_its_place() {
        let poll = Poll::new().unwrap();
        let mut connections = Connections::new(ConnectionLimits { pending: 2, per_address: 9 });
        let (mut passed_on, _peer) = pair();
        passed_on.transport.encrypt(crate::tls::shaken());
        passed_on.has_logon = true;
        let (talking, _other) = pair();
        connections.insert(mono(0), passed_on, poll.registry()).unwrap();
        connections.insert(mono(0), talking, poll.registry()).unwrap();
        connections.admission.talk(1);
        let stranger = "192.0.2.1".parse().unwrap();
        assert_eq!(connections.admission.gives_way(stranger, mono(0)), Some(1));
    }

    #[test]
    fn a_connection_is_drained_only_while_there_are_descriptors_enough() {
        let poll = Poll::new().unwrap();
        let mut connections = Connections::new(LIMITS);
        for short in [false, true] {
            let (connection, _peer) = pair();
            let slot = connections.insert(mono(0), connection, poll.registry()).unwrap();
            connections.assign(slot, session_key(0, 0, 0), false, 8192);
            if short {
                connections.admission.refused(mono(0));
            }
            connections.begin_draining(slot, mono(1));
            connections.remove_closed(poll.registry());
            assert_eq!(connections.get(slot).is_none(), short);
        }
    }
}
