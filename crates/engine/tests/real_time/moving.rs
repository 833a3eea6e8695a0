//! Connections that move from worker to worker while counterparties, strangers and workers do what
//! they should not.

use std::io::{ErrorKind, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::ThreadId;
use std::time::Duration;

use crate::support::*;
use fixbolt::Engine;
use fixbolt::codec::Tag;
use fixbolt::session::{Role, SessionId, SessionKey, SessionSettings, SessionState};
use fixbolt::store::{Intercept, Intercepted, MemoryStore, Recovered, Store, StoreError};

/// The most connections that are on their way to a worker.
const MOST_COMING: usize = 64;

fn named(name: &str) -> SessionSettings {
    of(&format!("FIX.4.4:VENUE->{name}"), Role::Acceptor)
}

fn named_id(name: &str) -> SessionId {
    named(name).id
}

fn lasting(name: impl Into<String>) -> &'static str {
    Box::leak(name.into().into_boxed_str())
}

/// A venue whose first worker listens and has FIRST, and whose second one has `others` and is busy
/// from an order of the first of these on until the flag is cleared.
fn busy_second(others: &[&'static str], pending: usize) -> (Engine<Scripted>, Peer, Arc<AtomicBool>) {
    let busy = Arc::new(AtomicBool::new(true));
    let flag = Arc::clone(&busy);
    let mut builder = Engine::builder().max_pending_connections(pending).accept(anywhere(), named("FIRST"));
    for name in others {
        builder = builder.accept(anywhere(), named(name));
    }
    let venue = builder
        .together(others.iter().map(|name| named_id(name)))
        .start_with(2, |_| {
            let flag = Arc::clone(&flag);
            let (app, _log) = Scripted::on_message(move |_, _| {
                while flag.load(Ordering::SeqCst) {
                    std::thread::sleep(Duration::from_millis(1));
                }
                None
            });
            app
        })
        .unwrap();
    let mut first = Peer::connect(venue.addresses()[0]).named(others[0], "VENUE");
    first.log_on();
    first.send("D", "11=busy");
    let cycles = venue.cycles()[1];
    std::thread::sleep(Duration::from_millis(100));
    assert!(venue.cycles()[1] <= cycles + 1, "it should be busy");
    (venue, first, busy)
}

#[test]
fn counterparties_behind_one_address_that_come_while_their_worker_is_busy_all_log_on() {
    let names: Vec<&str> = (0..100).map(|n| lasting(format!("N{n}"))).collect();
    let (venue, _first, busy) = busy_second(&names, 256);
    let address = venue.addresses()[0];
    let mut peers: Vec<Peer> = names[1..]
        .iter()
        .map(|name| {
            let mut peer = Peer::connect(address).named(name, "VENUE");
            peer.send("A", "98=0|108=30");
            peer
        })
        .collect();
    // All of them are on their way, or wait for that.
    let cycles = venue.cycles()[0];
    eventually(|| venue.cycles()[0] > cycles + 200);
    busy.store(false, Ordering::SeqCst);
    for peer in &mut peers {
        assert!(peer.receive().contains("|35=A|"));
    }
    venue.stop().unwrap();
}

/// Returns how many connections the other end has not closed.
fn open(streams: &[TcpStream]) -> usize {
    let is_open = |stream: &&TcpStream| {
        stream.set_nonblocking(true).unwrap();
        matches!(stream.peek(&mut [0]), Err(error) if error.kind() == ErrorKind::WouldBlock)
    };
    streams.iter().filter(is_open).count()
}

#[test]
fn a_worker_that_is_busy_for_long_has_a_bounded_number_of_connections_waiting_for_it() {
    let pending = 8;
    let (venue, first, busy) = busy_second(&["N0", "N1"], pending);
    let streams: Vec<TcpStream> = (0..200)
        .map(|_| {
            let mut peer = Peer::connect(venue.addresses()[0]).named("N1", "VENUE");
            peer.send("A", "98=0|108=30");
            peer.stream
        })
        .collect();
    eventually(|| open(&streams) <= MOST_COMING + pending);
    // The listening worker serves its own sessions meanwhile.
    let mut other = Peer::connect(venue.addresses()[0]).named("FIRST", "VENUE");
    other.log_on();
    busy.store(false, Ordering::SeqCst);
    // One of them has the session; the others are refused, as they would be without the wait.
    eventually(|| venue.session(&named_id("N1")).unwrap().state() == SessionState::LoggedOn);
    drop((streams, first));
    venue.stop().unwrap();
}

/// A store that takes its time to open a session.
struct Slow(Duration);

impl<S: Store> Intercept<S> for Slow {
    fn open(&mut self, store: &mut S, key: SessionKey, session: &SessionId) -> Result<Recovered, StoreError> {
        std::thread::sleep(self.0);
        store.open(key, session)
    }
}

#[test]
fn a_counterparty_that_connects_again_while_its_session_is_being_opened_waits_for_it() {
    for gone in [true, false] {
        let venue = Engine::builder()
            .accept_any(anywhere(), |id| Some(of(&id.to_string(), Role::Acceptor).into()))
            .stores(|_| Box::new(Intercepted::new(MemoryStore::new(), Slow(Duration::from_millis(300)))))
            .start_with(2, |_| Scripted::venue().0)
            .unwrap();
        let connect = || {
            let peer = Peer::connect(venue.addresses()[0]).named("A", "VENUE");
            // Long enough for the worker to count it, so that the next one is another worker's.
            std::thread::sleep(Duration::from_millis(50));
            peer
        };
        let (mut first, mut second) = (connect(), connect());
        first.send("A", "98=0|108=30|141=Y");
        std::thread::sleep(Duration::from_millis(100));
        second.send("A", "98=0|108=30|141=Y");
        if gone {
            drop(first);
            assert!(second.receive().contains("|35=A|"));
        } else {
            assert!(first.receive().contains("|35=A|"));
            second.closed_silently();
        }
        venue.stop().unwrap();
    }
}

#[test]
fn a_session_that_many_counterparties_ask_for_at_once_is_opened_once_at_a_time() {
    let opened = Arc::new(AtomicU64::new(0));
    let counted = Arc::clone(&opened);
    let venue = Engine::builder()
        .accept_any(anywhere(), |id| Some(resetting(id).into()))
        .dynamic_session_idle_time(Duration::ZERO)
        .stores(move |_| {
            Box::new(Intercepted::new(MemoryStore::new(), Once { open: false, count: Arc::clone(&counted) }))
        })
        .start_with(2, |_| Scripted::venue().0)
        .unwrap();
    let address = venue.addresses()[0];
    std::thread::scope(|s| {
        for _ in 0..4 {
            s.spawn(|| {
                for _ in 0..50 {
                    let mut peer = Peer::connect(address).named("A", "VENUE");
                    peer.send("A", "98=0|108=30|141=Y");
                    // Only that it is answered or closed matters.
                    let _ = peer.try_receive();
                }
            });
        }
    });
    assert_eq!(opened.load(Ordering::SeqCst) & TWICE, 0, "it was open twice");
    let mut peer = Peer::connect(address).named("A", "VENUE");
    peer.send("A", "98=0|108=30|141=Y");
    assert!(peer.receive().contains("|35=A|"));
    venue.stop().unwrap();
}

/// A session that may be closed without a journal.
fn resetting(id: &SessionId) -> SessionSettings {
    of(&id.to_string(), Role::Acceptor).with(|s| s.reset.reset_on_logon = true)
}

/// Set once a session is opened that is open.
const TWICE: u64 = 1 << 32;

/// A store that counts how often the session is open, over all workers' stores.
struct Once {
    open: bool,
    count: Arc<AtomicU64>,
}

impl<S: Store> Intercept<S> for Once {
    fn open(&mut self, store: &mut S, key: SessionKey, session: &SessionId) -> Result<Recovered, StoreError> {
        if self.count.fetch_add(1, Ordering::SeqCst) & !TWICE > 0 {
            self.count.fetch_or(TWICE, Ordering::SeqCst);
        }
        self.open = true;
        std::thread::sleep(Duration::from_millis(1));
        store.open(key, session)
    }

    fn close(&mut self, store: &mut S, session: SessionKey) -> Result<(), StoreError> {
        if core::mem::take(&mut self.open) {
            self.count.fetch_sub(1, Ordering::SeqCst);
        }
        store.close(session)
    }
}

#[test]
fn a_session_of_a_dedicated_worker_is_accepted_although_every_shared_worker_has_died() {
    let venue = Engine::builder()
        .accept(anywhere(), named("A"))
        .accept(anywhere(), named("B"))
        .accept_any(anywhere(), |id| Some(of(&id.to_string(), Role::Acceptor).into()))
        .dedicated_worker(named_id("B"), fixbolt::WorkerOptions::default())
        .stores(|worker| match worker {
            0 => Box::new(Intercepted::new(MemoryStore::new(), Dying)),
            _ => Box::new(MemoryStore::new()),
        })
        .start_with(1, |_| Scripted::venue().0)
        .unwrap();
    let connect = |name| Peer::connect(venue.addresses()[0]).named(name, "VENUE");
    let mut a = connect("A");
    a.send("A", "98=0|108=30");
    a.closed_silently();
    let mut b = connect("B");
    b.log_on();
    // Nobody has these.
    for name in ["A", "ANYBODY"] {
        let mut peer = connect(name);
        peer.send("A", "98=0|108=30");
        peer.closed_silently();
    }
    drop(venue);
    assert!(b.receive().contains("|35=5|"));
}

/// A store that panics when it is to keep a record, which ends the worker's thread.
struct Dying;

impl<S: Store> Intercept<S> for Dying {
    fn begin(&mut self, _: &mut S) {
        panic!("a store's mistake");
    }
}

/// A generator of numbers below `most`.
struct Random(u64);

impl Random {
    fn below(&mut self, most: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % most
    }
}

/// Connects and breaks off, at any point of a logon to any session.
fn storm(address: SocketAddr, seed: u64) {
    let mut random = Random(seed);
    for round in 0..150 {
        let name = ["A", "B", "C", "D"][random.below(4) as usize];
        let name = if random.below(3) == 0 { lasting(format!("X{seed}-{round}")) } else { name };
        let mut peer = Peer::connect(address).named(name, "VENUE");
        let mut bytes = peer.message("A", "98=0|108=30|141=Y");
        for n in 0..random.below(100) {
            bytes.extend(peer.message("D", &format!("11=order{n}")));
        }
        let first = random.below(bytes.len() as u64 + 1) as usize;
        let _ = peer.stream.write_all(&bytes[..first]);
        match random.below(4) {
            0 => {
                let _ = peer.stream.write_all(&bytes[first..]);
                // Closing it with unread bytes resets it.
                let _ = peer.stream.peek(&mut [0]);
            }
            1 => {
                std::thread::sleep(Duration::from_micros(random.below(2000)));
                let _ = peer.stream.write_all(&bytes[first..]);
            }
            2 => std::thread::sleep(Duration::from_micros(random.below(2000))),
            _ => {}
        }
    }
}

#[test]
fn a_storm_of_connections_that_break_off_leaves_no_trace_in_sessions_and_loads() {
    let threads: Arc<Mutex<Vec<(String, ThreadId)>>> = Arc::default();
    let mut builder = Engine::builder()
        .accept_any(anywhere(), |id| Some(resetting(id).into()))
        .max_connections_per_address(1000)
        .dynamic_session_idle_time(Duration::ZERO);
    for name in ["A", "B", "C", "D"] {
        builder = builder.accept(anywhere(), named(name));
    }
    let venue = builder
        .start_with(2, |_| {
            let threads = Arc::clone(&threads);
            let (app, _log) = Scripted::on_message(move |message, _| {
                let name = String::from_utf8(message.get(Tag::new(49)).unwrap().to_vec()).unwrap();
                threads.lock().unwrap().push((name, std::thread::current().id()));
                None
            });
            app
        })
        .unwrap();
    let address = venue.addresses()[0];
    std::thread::scope(|s| {
        for seed in 1..=4 {
            s.spawn(move || storm(address, seed));
        }
    });
    for name in ["A", "B", "C", "D"] {
        eventually(|| venue.session(&named_id(name)).unwrap().state() == SessionState::Disconnected);
        let mut peer = Peer::connect(address).named(name, "VENUE");
        peer.send("A", "98=0|108=30|141=Y");
        assert!(peer.receive().contains("|35=A|"), "{name}");
        peer.send("5", "");
        assert!(peer.receive().contains("|35=5|"), "{name}");
    }
    // Both workers count none now, so each gets half.
    let linger = Duration::from_millis(1500);
    std::thread::sleep(linger);
    threads.lock().unwrap().clear();
    let names: Vec<&str> = (0..8).map(|n| lasting(format!("LAST{n}"))).collect();
    let mut peers = Vec::new();
    for name in &names {
        let mut peer = Peer::connect(address).named(name, "VENUE");
        peer.log_on();
        peer.send("D", "11=last");
        assert!(peer.receive().contains("|35=8|"));
        peers.push(peer);
    }
    let threads = threads.lock().unwrap();
    let first = threads[0].1;
    assert_eq!(threads.iter().filter(|(_, thread)| *thread == first).count(), 4, "{threads:?}");
    drop(threads);
    drop(venue);
}
