//! An engine of several workers: each has its thread, its application and its sessions.

mod support;

use std::io::Write;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::thread::ThreadId;
use std::time::Duration;

use fixbolt::codec::{BodySink, Key, Memory, MsgType, NewBody, Tag};
use fixbolt::session::{Role, SessionKey, SessionSettings, SessionState};
use fixbolt::store::{Intercept, Intercepted, MemoryStore, Store};
use fixbolt::{
    Engine, EngineBuilder, EngineError, PostError, SettingsError, Waiting, WorkerOptions, WorkersError,
};
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
fn each_session_goes_to_the_worker_with_the_fewest_whatever_its_address() {
    let threads = Threads::default();
    let mut made = Vec::new();
    let venue = Engine::builder()
        .accept(local(1), named("A"))
        .accept(local(1), named("B"))
        .accept(local(2), named("C"))
        .accept(local(1), named("D"))
        .start_with(2, |worker| {
            made.push(worker);
            noting(&threads)
        })
        .unwrap();
    // The Logon is read by the worker that listens, and the connection moves on.
    let mut peers =
        [log_on(&venue, 0, "A"), log_on(&venue, 0, "B"), log_on(&venue, 1, "C"), log_on(&venue, 0, "D")];
    peers.iter_mut().for_each(trade);
    let [a, b, c, d] = ["A", "B", "C", "D"].map(|name| thread_of(&threads, name));
    assert!(a == c && b == d && a != b, "{threads:?}");
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
fn what_follows_a_logon_at_once_moves_to_the_worker_of_its_session() {
    let threads = Threads::default();
    let venue = Engine::builder()
        .accept(local(1), named("A"))
        .accept(local(1), named("B"))
        .start_with(2, |_| noting(&threads))
        .unwrap();
    for name in ["A", "B"] {
        let mut peer = Peer::connect(venue.addresses()[0]).named(name, "VENUE");
        // In pieces, so that the Logon is complete only after a second read, and with an order
        // behind it.
        let mut bytes = peer.message("A", "98=0|108=30");
        bytes.extend(peer.message("D", "11=early"));
        for piece in [&bytes[..10], &bytes[10..]] {
            peer.stream.write_all(piece).unwrap();
            std::thread::sleep(Duration::from_millis(20));
        }
        assert!(peer.receive().contains("|35=A|"));
        assert!(peer.receive().contains("|11=early|"));
        // A second connection is closed, whichever worker reads its Logon.
        let mut second = Peer::connect(venue.addresses()[0]).named(name, "VENUE");
        second.send("A", "98=0|108=30");
        second.closed_silently();
        trade(&mut peer);
    }
    venue.stop().unwrap();
}

#[test]
fn a_counterparty_that_connects_again_at_once_gets_its_session_whichever_worker_knows_first() {
    let venue = Engine::builder()
        .accept(local(1), named("A"))
        .accept(local(1), named("B"))
        .start_with(2, |_| Scripted::venue().0)
        .unwrap();
    for name in ["A", "B"] {
        let mut seq = 1;
        for _ in 0..50 {
            let mut peer = Peer::connect(venue.addresses()[0]).named(name, "VENUE");
            peer.seq = seq;
            peer.log_on();
            // Something to read stands before the end.
            peer.send("0", "");
            seq = peer.seq;
        }
    }
    venue.stop().unwrap();
}

#[test]
fn a_dedicated_worker_has_its_session_and_those_that_belong_with_it_only() {
    for waiting in [Waiting::Blocking, Waiting::Spinning, Waiting::SpinningFor(Duration::from_millis(1))] {
        let threads = Threads::default();
        let mut options = WorkerOptions::default();
        options.waiting = waiting;
        let mut made = Vec::new();
        let venue = Engine::builder()
            .accept(local(1), named("A"))
            .accept(local(1), named("B"))
            .accept(local(1), named("C"))
            .accept_any(local(1), |id| Some(of(&id.to_string(), Role::Acceptor).into()))
            .together([named("A").id, named("C").id])
            .dedicated_worker(named("C").id, options)
            .start_with(1, |worker| {
                made.push(worker);
                noting(&threads)
            })
            .unwrap();
        assert_eq!(made, [0, 1]);
        for name in ["A", "B", "C", "ANYBODY"] {
            trade(&mut log_on(&venue, 0, name));
        }
        let [a, b, c, any] = ["A", "B", "C", "ANYBODY"].map(|name| thread_of(&threads, name));
        assert!(a == c && b == any && a != b, "{threads:?}");
        venue.stop().unwrap();
    }
    let one = |session| {
        let builder = Engine::builder().accept(local(1), named("A"));
        builder.dedicated_worker(named(session).id, WorkerOptions::default())
    };
    let error = refused(one("NOBODY"));
    let said = "workers: `dedicated` names FIX.4.4:VENUE->NOBODY, and there is no such session";
    assert_eq!(error.to_string(), said);
    let error = refused(one("A").dedicated_worker(named("A").id, WorkerOptions::default()));
    assert!(error.to_string().contains("it has one already"), "{error}");
    let error = one("A").start(Recorder::venue().0).unwrap_err();
    assert_eq!(error.to_string(), "workers: a session has a dedicated worker: use `start_with`");
}

#[test]
fn dynamic_sessions_go_to_the_worker_with_the_fewest_connections() {
    let threads = Threads::default();
    let venue = Engine::builder()
        .accept_any(local(1), |id| Some(of(&id.to_string(), Role::Acceptor).into()))
        .start_with(2, |_| noting(&threads))
        .unwrap();
    let names = ["A", "B", "C", "D", "E", "F"];
    let mut peers: Vec<Peer> = names.iter().map(|name| log_on(&venue, 0, name)).collect();
    peers.iter_mut().for_each(trade);
    let on_first = names.iter().filter(|name| thread_of(&threads, name) == thread_of(&threads, "A")).count();
    assert_eq!(on_first, 3, "{threads:?}");
    // A session that is open keeps its worker, whichever one its next connection begins on.
    let before = threads.lock().unwrap().clone();
    drop(peers);
    let idle = |name: &&str| venue.session(&named(name).id).unwrap().state() == SessionState::Disconnected;
    eventually(|| names.iter().all(idle));
    threads.lock().unwrap().clear();
    for name in names.iter().rev() {
        let mut peer = Peer::connect(venue.addresses()[0]).named(name, "VENUE");
        peer.send("A", "98=0|108=30|141=Y");
        assert!(peer.receive().contains("|35=A|"));
        trade(&mut peer);
        let (_, thread) = before.iter().find(|(of, _)| of == name).unwrap();
        assert_eq!(thread_of(&threads, name), *thread, "{name}");
    }
    venue.stop().unwrap();
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
    assert_eq!(error, EngineError::Workers(WorkersError::OneStore));
    assert_eq!(error.to_string(), "workers: each of several needs a store of its own: use `stores`");
    // A session is open once, on whichever worker.
    let error = refused(builder().accept(local(2), named("A")));
    assert!(matches!(error, EngineError::Settings { error: SettingsError::Twice, .. }), "{error}");
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
fn a_session_that_is_added_goes_to_the_worker_with_the_fewest() {
    let threads = Threads::default();
    let venue = Engine::builder()
        .accept(local(1), named("A"))
        .accept(local(2), named("B"))
        .accept(local(2), named("C"))
        .start_with(2, |_| noting(&threads))
        .unwrap();
    venue.accept(venue.addresses()[1], named("D"), LIMIT).unwrap();
    venue.accept(local(3), named("E"), LIMIT).unwrap();
    for (address, name) in [(0, "A"), (1, "B"), (1, "C"), (1, "D"), (2, "E")] {
        trade(&mut log_on(&venue, address, name));
    }
    let [a, b, c, d, e] = ["A", "B", "C", "D", "E"].map(|name| thread_of(&threads, name));
    assert!(a == c && a == e && b == d && a != b, "{threads:?}");
    // What cannot be opened leaves no address behind.
    let error = venue.accept(local(4), named("A"), LIMIT).unwrap_err();
    assert!(error.to_string().contains("FIX.4.4:VENUE->A"), "{error}");
    assert_eq!(venue.addresses().len(), 3);
    venue.stop().unwrap();
}

#[test]
fn a_worker_that_dies_ends_its_own_sessions_only() {
    let threads = Threads::default();
    let venue = Engine::builder()
        .accept(local(1), named("B"))
        .accept(local(1), named("A"))
        .accept(local(2), named("C"))
        .stores(|worker| {
            let panics = worker == 0;
            let store = MemoryStore::new();
            if panics { Box::new(Intercepted::new(store, Dying)) } else { Box::new(store) }
        })
        .start_with(2, |_| noting(&threads))
        .unwrap();
    let mut bystander = log_on(&venue, 0, "A");
    trade(&mut bystander);
    let mut peer = Peer::connect(venue.addresses()[0]).named("B", "VENUE");
    peer.send("A", "98=0|108=30");
    peer.closed_silently();
    let session = venue.session(&named("B").id).unwrap();
    eventually(|| session.state() == SessionState::Closed);
    let mut sender = session.sender();
    let mut memory = [0; 64];
    let mut draft = Memory(&mut memory).draft(MsgType::new(b"8"));
    draft.writer().bytes(Key::new(11), b"late");
    let body = draft.send().unwrap();
    eventually(|| sender.try_send(&body) == Err(PostError::Stopped));
    drop(sender.draft(MsgType::new(b"8")));
    // The other worker goes on, and accepts connections for both.
    assert!(venue.is_running());
    trade(&mut bystander);
    let mut again = Peer::connect(venue.addresses()[0]).named("B", "VENUE");
    again.send("A", "98=0|108=30");
    again.closed_silently();
    drop(bystander);
    let other = venue.session(&named("A").id).unwrap();
    eventually(|| other.state() == SessionState::Disconnected);
    let mut bystander = Peer::connect(venue.addresses()[0]).named("A", "VENUE");
    bystander.seq = 4;
    bystander.log_on();
    trade(&mut bystander);
    // New sessions are the living worker's.
    venue.accept(local(3), named("D"), LIMIT).unwrap();
    trade(&mut log_on(&venue, 2, "D"));
    venue.stopper().stop();
    assert!(bystander.receive().contains("|35=5|"));
    bystander.send("5", "");
    assert!(venue.wait_for(LIMIT));
    assert_eq!(venue.wait().map(drop), Err(EngineError::Panicked));
}

/// A store that panics when it is to keep a record, which ends the worker's thread.
struct Dying;

impl<S: Store> Intercept<S> for Dying {
    fn begin(&mut self, _: &mut S) {
        panic!("a store's mistake");
    }
}
