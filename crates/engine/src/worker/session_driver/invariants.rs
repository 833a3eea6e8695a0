//! What always holds between two cycles of the sessions of a worker and their connections.

use core::ops::Range;

use fixbolt_session::{Phase, SessionKey};

use super::SessionDriver;
use crate::worker::connection::Stage;
use crate::worker::cycle::Cycle;
use crate::worker::session_table::{Dynamic, Side};

impl SessionDriver {
    /// Checks what holds at the end of a cycle, of the sessions and connections in these places:
    /// all of them would be too many for each cycle.
    ///
    /// # Panics
    /// Panics if it does not hold.
    pub(crate) fn check(&self, places: Range<usize>, cycle: &Cycle) {
        let lists = [
            (self.ended_initiators.len(), "ended"),
            (self.hastened_initiators.len(), "hastened"),
            (self.removed_initiators.len(), "removed"),
            (self.ends.len(), "connections' ends"),
        ];
        for (left, what) in lists {
            assert!(left == 0, "{left} {what} were not followed up");
        }
        let within = |end: usize| places.start.min(end)..places.end.min(end);
        let slots = within(self.connections.slots().end);
        self.connections.check(slots.clone());
        for slot in slots {
            let stage = self.connections.get(slot).map(|connection| connection.stage);
            if let Some(key) = stage.and_then(session_of) {
                let of_session = self.table.get(key).and_then(|entry| entry.connection);
                assert!(of_session == Some(slot), "slot {slot} has {key:?}, whose slot is {of_session:?}");
            }
        }
        for key in within(self.table.places()).filter_map(|place| self.table.key(place)) {
            self.check_session(key, cycle);
        }
    }

    fn check_session(&self, key: SessionKey, cycle: &Cycle) {
        let entry = &self.table[key];
        let id = &entry.id;
        let opened = self.sessions.settings(key).map(|settings| &settings.id);
        assert!(opened == Some(id), "{id} is in the table, and the core has {opened:?}");
        match entry.connection {
            Some(slot) => {
                let stage = self.connections.get(slot).map(|connection| connection.stage);
                let of_slot = stage.and_then(session_of);
                assert!(of_slot == Some(key), "{id} has slot {slot}, which is {stage:?}");
            }
            None => {
                let phase = self.sessions.phase(key);
                assert!(phase == Phase::Disconnected, "{id} is in {phase:?}, without a connection");
            }
        }
        if let Side::Acceptor { dynamic: Some(Dynamic { idle_since: Some(_), .. }), .. } = entry.side {
            assert!(entry.connection.is_none(), "{id} is idle, and has a connection");
        }
        if let Some(deadline) = entry.next.deadline
            && !entry.has_output
        {
            assert!(cycle.wakes_by(deadline), "{id} is due at {deadline}, and the worker sleeps for longer");
        }
        let (has_output, listed) = (entry.has_output, self.outputs.contains(&key));
        assert!(has_output == listed, "{id} has output: {has_output}, and is listed: {listed}");
    }
}

/// Returns the session whose connection is in this stage.
fn session_of(stage: Stage) -> Option<SessionKey> {
    match stage {
        Stage::Session(key) | Stage::Closing { session: key, .. } => Some(key),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;
    use std::sync::Arc;

    use fixbolt_codec::Message;
    use fixbolt_journal::MemoryStore;
    use fixbolt_session::runtime::{mono, session_key};
    use fixbolt_session::{
        Application, Delivery, Failure, Now, Role, SessionDictionary, SessionEnd, SessionSettings, Sessions,
        Turn, Utc,
    };
    use mio::net::TcpStream;
    use mio::{Poll, Token, Waker};

    use super::*;
    use crate::damage::said;
    use crate::limits::Limits;
    use crate::ports::Port;
    use crate::session_registry::SessionRegistry;
    use crate::socket_options::SocketOptions;
    use crate::worker::connection::Connection;
    use crate::worker::initiator::ConnectionEnd;
    use crate::worker::session_table::SessionEntry;
    use crate::worker_signal::WorkerSignal;

    struct Quiet;

    impl Application for Quiet {
        fn on_message(&mut self, _: Message<'_>, _: &mut Turn<'_>) -> Result<Delivery, Failure> {
            Ok(Delivery::Done)
        }
    }

    /// The sessions of a worker: the one in place 0 has the connection in slot 0, the one in place
    /// 1 has none.
    struct Scene {
        driver: SessionDriver,
        cycle: Cycle,
        keys: Vec<SessionKey>,
        /// What ends with the test.
        _others: (Poll, std::net::TcpStream),
    }

    impl Scene {
        fn new() -> Self {
            let poll = Poll::new().unwrap();
            let waker = Waker::new(poll.registry(), Token(usize::MAX)).unwrap();
            let (limits, now) = (Limits::default(), Now { mono: mono(1), utc: Utc(1) });
            let registry = Arc::new(SessionRegistry::new(limits.sessions, 1 << 16, 1 << 20));
            let signal = Arc::new(WorkerSignal::new(waker, 4));
            let sessions = Sessions::new(Box::new(MemoryStore::new()), 8192);
            let mut driver = SessionDriver::new(sessions, registry, signal, limits, now.mono);
            let mut cycle = Cycle::new(now);
            let keys = ["A", "B"].map(|target| {
                let id = format!("FIX.4.4:US->{target}").parse().unwrap();
                let mut settings = SessionSettings::new(id, Role::Acceptor);
                settings.dictionary = SessionDictionary::None;
                let dynamic = Some(Dynamic::new(0));
                let side = Side::Acceptor { port: Port::default(), allowed: Arc::default(), dynamic };
                let entry = SessionEntry::new(&settings, side, SocketOptions::default(), None);
                driver.open(settings, entry, &mut cycle, &mut Quiet).unwrap()
            });
            let listener = TcpListener::bind("127.0.0.1:0").unwrap();
            let peer = std::net::TcpStream::connect(listener.local_addr().unwrap()).unwrap();
            let (stream, address) = listener.accept().unwrap();
            stream.set_nonblocking(true).unwrap();
            let stage = Stage::Pending { port: Port::default(), until: mono(2) };
            let connection = Connection::new(TcpStream::from_std(stream), address, stage);
            let slot = driver.connections.insert(now.mono, connection, poll.registry()).unwrap();
            driver.attach(slot, keys[0], &mut cycle, &mut Quiet);
            Self { driver, cycle, keys: keys.into(), _others: (poll, peer) }
        }

        fn check(&self) {
            self.driver.check(0..64, &self.cycle);
        }
    }

    /// Changes the scene, and what `check` says then.
    type Damage = (fn(&mut Scene), &'static str);

    const DAMAGES: [Damage; 13] = [
        (
            |it| it.driver.ended_initiators.push((0, ConnectionEnd::AfterLogon)),
            "1 ended were not followed up",
        ),
        (|it| it.driver.removed_initiators.push(0), "1 removed were not followed up"),
        (
            |it| it.driver.ends.push((it.keys[0], SessionEnd::ConnectionLost)),
            "1 connections' ends were not followed up",
        ),
        (|it| it.driver.connections.close(0), "the connections in slots [0] are closed"),
        (|it| it.driver.table[it.keys[0]].connection = None, "whose slot is None"),
        (
            |it| it.driver.connections.get_mut(0).unwrap().stage = Stage::Session(session_key(0, 7, 7)),
            "whose slot is None",
        ),
        (
            |it| it.driver.table[it.keys[1]].connection = Some(0),
            "FIX.4.4:US->B has slot 0, which is Some(Session(",
        ),
        (|it| it.driver.table[it.keys[1]].connection = Some(7), "FIX.4.4:US->B has slot 7, which is None"),
        (
            |it| {
                let now = it.cycle.now;
                it.driver.sessions.connected(now, it.keys[1], &mut Quiet);
            },
            "FIX.4.4:US->B is in AwaitingLogon, without a connection",
        ),
        (
            |it| {
                let dynamic = it.driver.table[it.keys[0]].dynamic().unwrap();
                dynamic.idle_since = Some(mono(1));
            },
            "FIX.4.4:US->A is idle, and has a connection",
        ),
        (|it| it.cycle.clear_timers(), "FIX.4.4:US->A is due at"),
        (
            |it| it.driver.outputs.push_back(it.keys[1]),
            "FIX.4.4:US->B has output: false, and is listed: true",
        ),
        (
            |it| it.driver.sessions.close(it.keys[1]).unwrap(),
            "FIX.4.4:US->B is in the table, and the core has None",
        ),
    ];

    /// A connection is attached in the cycle in which the window of its session ends, before the
    /// session has looked at the clock.
    #[test]
    fn a_connection_that_its_session_does_not_begin_is_closed() {
        use fixbolt_session::schedule::{Edge, Schedule, TimeOfDay, Weekdays, Window, Zone};

        const SECOND: u64 = 1_000_000_000;
        // 2026-01-05 08:59:59, a Monday.
        const BEFORE: u64 = (1_767_603_600 - 1) * SECOND;
        let mut scene = Scene::new();
        let edge = |hour| Edge::new(TimeOfDay::new(hour, 0, 0).unwrap(), Zone::utc());
        let mut settings = SessionSettings::new("FIX.4.4:US->C".parse().unwrap(), Role::Initiator);
        settings.dictionary = SessionDictionary::None;
        settings.schedule = Some(Arc::new(Schedule::new([Window::daily(Weekdays::ALL, edge(8), edge(9))])));
        let entry =
            SessionEntry::new(&settings, Side::Initiator { initiator: 0 }, SocketOptions::default(), None);
        let Scene { driver, cycle, _others: others, .. } = &mut scene;
        cycle.begin(Now { mono: mono(SECOND), utc: Utc(BEFORE) });
        let key = driver.open(settings, entry, cycle, &mut Quiet).unwrap();
        assert!(driver.can_connect(key));
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let stream = std::net::TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let address = stream.peer_addr().unwrap();
        stream.set_nonblocking(true).unwrap();
        let stage = Stage::Connecting { initiator: 0, until: mono(20 * SECOND) };
        let connection = Connection::new(TcpStream::from_std(stream), address, stage);
        let slot = driver.connections.insert(mono(SECOND), connection, others.0.registry()).unwrap();
        // The connection is established in the cycle that begins as the window ends.
        cycle.begin(Now { mono: mono(2 * SECOND), utc: Utc(BEFORE + SECOND) });
        assert!(driver.can_connect(key), "by the last look, at which the worker decides");
        driver.attach(slot, key, cycle, &mut Quiet);
        assert_eq!(driver.peer_of(key), None);
    }

    #[test]
    fn each_condition_is_seen_to_fail() {
        for (damage, says) in DAMAGES {
            let mut scene = Scene::new();
            scene.check();
            damage(&mut scene);
            let said = said(|| scene.check());
            assert!(said.contains(says), "{said}, not {says}");
        }
    }
}
