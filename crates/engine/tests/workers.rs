//! An engine of several workers: each has its thread, its application and its sessions.

mod support;

use std::collections::HashSet;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::thread::ThreadId;

use fixbolt::codec::{BodySink, Key, Memory, MsgType, NewBody, Tag};
use fixbolt::session::{Role, SessionKey, SessionSettings, SessionState};
use fixbolt::store::{MemoryStore, Store};
use fixbolt::{Engine, EngineBuilder, EngineError, PostError};
use fixbolt_conformance::store::{Intercept, Intercepted};
use support::*;

fn named(name: &str) -> SessionSettings {
    of(&format!("FIX.4.4:VENUE->{name}"), Role::Acceptor)
}

/// Loopback addresses, each with a port that the system chooses.
fn local(n: u8) -> SocketAddr {
    SocketAddr::from(([127, 0, 0, n], 0))
}

fn log_on(venue: &Engine<Scripted>, address: usize, name: &'static str) -> Peer {
    let mut peer = Peer::connect(venue.addresses()[address]).named(name, "VENUE");
    peer.log_on();
    peer
}

type Threads = Arc<Mutex<Vec<(String, ThreadId)>>>;

/// An application that records which thread receives each order.
fn noting(threads: &Threads) -> Scripted {
    let threads = Arc::clone(threads);
    let (app, _log) = Scripted::on_message(move |message, _| {
        let name = message.get(Tag::new(49)).unwrap();
        let name = String::from_utf8(name.to_vec()).unwrap();
        threads.lock().unwrap().push((name, std::thread::current().id()));
        None
    });
    app
}

fn trade(peer: &mut Peer) {
    peer.send("D", "11=ord");
    assert!(peer.receive().contains("|11=ord|"));
}

fn thread_of(threads: &Threads, name: &str) -> ThreadId {
    threads.lock().unwrap().iter().find(|(of, _)| of == name).unwrap().1
}

#[test]
fn sessions_are_assigned_to_workers_in_rotation_and_those_of_an_address_stay_together() {
    let threads = Threads::default();
    let mut made = Vec::new();
    let venue = Engine::builder()
        .accept(local(1), named("A"))
        .accept(local(2), named("B"))
        .accept(local(1), named("C"))
        .accept(local(3), named("D"))
        .start_with(2, |worker| {
            made.push(worker);
            noting(&threads)
        })
        .unwrap();
    let mut peers =
        [log_on(&venue, 0, "A"), log_on(&venue, 1, "B"), log_on(&venue, 0, "C"), log_on(&venue, 2, "D")];
    peers.iter_mut().for_each(trade);
    let [a, b, c, d] = ["A", "B", "C", "D"].map(|name| thread_of(&threads, name));
    assert!(a == c && a == d && a != b, "{threads:?}");
    assert_eq!(venue.cycles().len(), 2);
    // Each is reached through its handle, whichever worker owns it.
    for (peer, name) in peers.iter_mut().zip(["A", "B", "C", "D"]) {
        let mut sender = venue.session(&named(name).id).unwrap().sender();
        let mut draft = sender.draft(MsgType::new(b"8"));
        draft.writer().bytes(Key::new(11), name.as_bytes());
        draft.send().unwrap();
        assert!(peer.receive().contains(&format!("|11={name}|")));
    }
    let apps = venue.stop().unwrap();
    assert_eq!(apps.len(), 2);
    assert_eq!(made, [0, 1]);
}

#[test]
fn sessions_that_write_to_each_other_in_a_turn_belong_to_one_worker() {
    let turned: Arc<Mutex<Vec<SessionKey>>> = Arc::default();
    let app = || {
        let turned = Arc::clone(&turned);
        Scripted::on_message(move |_, turn| {
            let mut known = turned.lock().unwrap();
            if known.is_empty() {
                known.push(turn.key());
                return None;
            }
            // An order of any other session is passed on to the first one.
            let mut copy = turn.to(known[0]).expect("it belongs to this worker").draft(MsgType::new(b"8"));
            copy.writer().bytes(Key::new(11), b"copy");
            copy.send().unwrap();
            None
        })
        .0
    };
    let venue = Engine::builder()
        .accept(local(1), named("A"))
        .accept(local(2), named("B"))
        .accept(local(3), named("C"))
        .together([named("A").id, named("B").id])
        .start_with(2, |_| app())
        .unwrap();
    let (mut a, mut b) = (log_on(&venue, 0, "A"), log_on(&venue, 1, "B"));
    trade(&mut a);
    trade(&mut b);
    assert!(a.receive().contains("|11=copy|"));
    venue.stop().unwrap();
}

fn refused(builder: EngineBuilder) -> EngineError {
    builder.start_with(2, |_| Recorder::venue().0).unwrap_err()
}

#[test]
fn what_cannot_be_distributed_is_an_error_of_one_line() {
    let builder = || Engine::builder().accept(local(1), named("A")).accept(local(2), named("B"));
    let error = refused(builder().together([named("A").id, named("NOBODY").id]));
    assert_eq!(
        error.to_string(),
        "workers: `together` names FIX.4.4:VENUE->NOBODY, and there is no such session"
    );
    let error = refused(builder().store(Box::new(MemoryStore::new())));
    assert!(matches!(error, EngineError::Workers { .. }), "{error}");
    // A session is open once, on whichever worker.
    let error = refused(builder().accept(local(2), named("A")));
    assert!(error.to_string().contains("configured twice"), "{error}");
}

#[test]
fn each_worker_has_its_own_store_and_finds_the_journals_after_a_restart() {
    let mut workers = Vec::new();
    let stores = Arc::new(Mutex::new(Vec::new()));
    let made = Arc::clone(&stores);
    let venue = Engine::builder()
        .accept(local(1), named("A"))
        .accept(local(2), named("B"))
        .stores(move |worker| {
            made.lock().unwrap().push(worker);
            Box::new(MemoryStore::new())
        })
        .start_with(2, |worker| {
            workers.push(worker);
            Recorder::venue().0
        })
        .unwrap();
    venue.stop().unwrap();
    assert_eq!(*stores.lock().unwrap(), [0, 1]);

    let scratch = Scratch::new("workers");
    for (first, workers) in [(1, 2), (3, 1)] {
        let venue = Engine::builder()
            .accept(local(1), named("A"))
            .accept(local(2), named("B"))
            .journal(&scratch.0)
            .start_with(workers, |_| Scripted::venue().0)
            .unwrap();
        for (address, name) in ["A", "B"].into_iter().enumerate() {
            let session = venue.session(&named(name).id).unwrap();
            assert_eq!(session.next_in().0, first, "{name}");
            let mut peer = Peer::connect(venue.addresses()[address]).named(name, "VENUE");
            peer.seq = first;
            peer.log_on();
            peer.send("5", "");
            assert!(peer.receive().contains("|35=5|"));
            drop(peer);
            eventually(|| session.state() == SessionState::Disconnected);
        }
        venue.stop().unwrap();
    }
}

#[test]
fn a_session_that_is_added_goes_to_the_worker_of_its_address() {
    let threads = Threads::default();
    let venue = Engine::builder()
        .accept(local(1), named("A"))
        .accept(local(2), named("B"))
        .start_with(2, |_| noting(&threads))
        .unwrap();
    for name in ["C", "D", "E"] {
        venue.accept(venue.addresses()[1], named(name)).unwrap();
    }
    for (address, name) in [(0, "A"), (1, "B"), (1, "C"), (1, "D"), (1, "E")] {
        trade(&mut log_on(&venue, address, name));
    }
    let ids: HashSet<ThreadId> = ["B", "C", "D", "E"].iter().map(|name| thread_of(&threads, name)).collect();
    assert_eq!(ids.len(), 1);
    assert!(!ids.contains(&thread_of(&threads, "A")));
    venue.stop().unwrap();
}

#[test]
fn a_worker_that_dies_ends_the_engine() {
    let venue = Engine::builder()
        .accept(local(1), named("A"))
        .accept(local(2), named("B"))
        .stores(|worker| {
            let panics = worker == 1;
            let store = MemoryStore::new();
            if panics { Box::new(Intercepted::new(store, Dying)) } else { Box::new(store) }
        })
        .start_with(2, |_| Scripted::venue().0)
        .unwrap();
    let mut bystander = log_on(&venue, 0, "A");
    let mut peer = Peer::connect(venue.addresses()[1]).named("B", "VENUE");
    peer.send("A", "98=0|108=30");
    assert!(bystander.receive().contains("|35=5|"), "the other worker logs out");
    bystander.send("5", "");
    let mut sender = venue.session(&named("B").id).unwrap().sender();
    let mut memory = [0; 64];
    let mut draft = Memory(&mut memory).draft(MsgType::new(b"8"));
    draft.writer().bytes(Key::new(11), b"late");
    let body = draft.send().unwrap();
    eventually(|| sender.try_send(&body) == Err(PostError::Stopped));
    drop(sender.draft(MsgType::new(b"8")));
    assert_eq!(venue.wait().map(drop), Err(EngineError::Panicked));
}

/// A store that panics when it is to keep a record, which ends the worker's thread.
struct Dying;

impl<S: Store> Intercept<S> for Dying {
    fn begin(&mut self, _: &mut S) {
        panic!("a store's mistake");
    }
}
