//! Workers that never sleep, and those that are pinned to a core.

mod support;

use std::net::TcpListener;
use std::time::Duration;

use fixbolt::codec::{BodySink, Key, MsgType, NewBody};
use fixbolt::session::{Role, SessionSettings};
use fixbolt::{Change, Engine, EngineBuilder, Initiation, Waiting};
#[cfg(target_os = "linux")]
use fixbolt_conformance::testing::ThreadStatus;
use support::*;

fn named(name: &str) -> SessionSettings {
    of(&format!("FIX.4.4:VENUE->{name}"), Role::Acceptor)
}

fn spinning() -> EngineBuilder {
    Engine::builder().worker_waiting(Waiting::Spinning)
}

fn trade(peer: &mut Peer, order: &str) {
    peer.send("D", &format!("11={order}"));
    let report = peer.receive();
    assert!(report.contains("|35=8|") && report.contains(&format!("|11={order}|")), "{report}");
}

#[test]
fn a_spinning_worker_trades_with_one_counterparty_and_with_many() {
    // More than it reads from without asking the event queue.
    let names = ["A", "B", "C", "D", "E", "F", "G", "H"];
    let (app, log) = Recorder::venue();
    let builder = names.iter().fold(spinning(), |builder, name| builder.accept(anywhere(), named(name)));
    let venue = builder.start(app).unwrap();
    let mut peers: Vec<Peer> = Vec::new();
    for name in names {
        let mut peer = Peer::connect(venue.addresses()[0]).named(name, "VENUE");
        peer.log_on();
        peers.push(peer);
        for peer in &mut peers {
            for order in ["1", "2", "3"] {
                trade(peer, order);
            }
        }
    }
    // Connections that end are noticed, and their sessions log on again.
    for (name, peer) in names.into_iter().zip(peers) {
        drop(peer);
        assert_eq!(log.ended(), "ConnectionLost");
        let mut peer = Peer::connect(venue.addresses()[0]).named(name, "VENUE");
        peer.send("A", "98=0|108=30|141=Y");
        assert!(peer.receive().contains("|35=A|"));
    }
    venue.stop().unwrap();
}

#[test]
fn a_spinning_worker_keeps_the_time_and_sends_what_other_threads_send() {
    let (app, _log) = Recorder::venue();
    let venue = spinning().accept(anywhere(), named("A")).start(app).unwrap();
    let mut peer = Peer::connect(venue.addresses()[0]).named("A", "VENUE");
    peer.send("A", "98=0|108=1");
    assert!(peer.receive().contains("|35=A|"));
    let heartbeat = peer.receive();
    assert!(heartbeat.contains("|35=0|"), "{heartbeat}");
    let session = venue.session(&named("A").id).unwrap();
    let mut sender = session.sender();
    let mut draft = sender.draft(MsgType::new(b"8"));
    draft.writer().bytes(Key::new(11), b"from outside");
    draft.send().unwrap();
    let sent = std::iter::repeat_with(|| peer.receive()).find(|message| !message.contains("|35=0|"));
    assert!(sent.as_ref().is_some_and(|message| message.contains("|11=from outside|")), "{sent:?}");
    // The peer is silent: it is asked, and then logged out.
    let text = std::iter::from_fn(|| peer.try_receive()).collect::<String>();
    assert!(text.contains("|35=1|") && text.contains("|58=Timed out waiting for heartbeat|"), "{text}");
    venue.stop().unwrap();
}

#[test]
fn a_spinning_initiator_connects_trades_and_logs_out_at_the_stop() {
    let (app, venues) = Recorder::venue();
    let venue = spinning().accept(anywhere(), acceptor()).start(app).unwrap();
    let (app, traders) = Recorder::trader();
    let port = venue.addresses()[0].port();
    let initiation = Initiation::new(initiator(), "localhost", port);
    let trader = spinning().connect(initiation).start(app).unwrap();
    traders.logged_on();
    let session = trader.session(&initiator().id).unwrap();
    let mut sender = session.sender();
    for n in 0..100 {
        let order = format!("order {n}");
        let mut draft = sender.draft(MsgType::new(b"D"));
        draft.writer().bytes(Key::new(11), order.as_bytes());
        draft.send().unwrap();
        assert_eq!(venues.message(), order);
        assert_eq!(traders.message(), order);
    }
    trader.stop().unwrap();
    assert_eq!(venues.ended(), "LoggedOutByPeer");
    // It goes on while nobody is connected.
    let cycles = venue.cycles()[0];
    eventually(|| venue.cycles()[0] > cycles + 10_000);
    venue.stop().unwrap();
}

#[test]
fn a_spinning_worker_obeys_commands_connects_again_and_stops_although_nobody_answers() {
    let host = TcpListener::bind("127.0.0.1:0").unwrap();
    let quick = Duration::from_secs(1);
    let (app, log) = Recorder::trader();
    let engine = spinning().accept(anywhere(), acceptor()).start(app).unwrap();
    // A session that is added while it runs.
    let settings = initiator().with(|s| {
        s.reset.reset_on_logon = true;
        (s.timing.logon_timeout, s.timing.logout_timeout) = (quick, quick);
    });
    let mut initiation = Initiation::new(settings, "127.0.0.1", host.local_addr().unwrap().port());
    initiation.reconnect_interval = Duration::from_millis(1);
    let session = engine.connect(initiation, LIMIT).unwrap();
    let logon = || {
        let mut peer = Peer::on(host.accept().unwrap().0).named("VENUE", "TRADER");
        let logon = peer.receive();
        assert!(logon.contains("|35=A|"), "{logon}");
        peer
    };
    // Nobody answers the first Logon.
    logon().closed_silently();
    let mut peer = logon();
    peer.send("A", "98=0|108=30|141=Y");
    log.logged_on();
    session.send_test_request(LIMIT).unwrap();
    assert!(peer.receive().contains("|35=1|"));
    // Nobody answers the Logout, neither the operator's nor that of the stop.
    let change = Change::new("jane", "a test");
    session.disable(change, "for today", Duration::from_secs(20)).unwrap();
    assert_eq!(log.ended(), "LogoutTimedOut");
    assert!(peer.receive().contains("|58=for today|"));
    let mut other = Peer::connect(engine.addresses()[0]);
    other.log_on();
    session.enable(change, LIMIT).unwrap();
    let mut peer = logon();
    peer.send("A", "98=0|108=30|141=Y");
    log.wait(|seen| *seen == Seen::LoggedOn);
    log.wait(|seen| *seen == Seen::LoggedOn);
    drop(other);
    engine.stop().unwrap();
    assert!(peer.receive().contains("|35=5|"));
}

#[test]
fn an_engine_whose_workers_cannot_be_pinned_does_not_start() {
    let refused = |cores: &[usize]| {
        let (app, _log) = Recorder::venue();
        let builder = Engine::builder().accept(anywhere(), acceptor()).worker_cores(cores.iter().copied());
        builder.start(app).unwrap_err().to_string()
    };
    assert_eq!(
        refused(&[0, 1]),
        "workers: 1 start, but 2 cores are named; name one for each worker, or none"
    );
    let error = refused(&[100_000]);
    assert!(error.starts_with("workers: "), "{error}");
    #[cfg(target_os = "linux")]
    assert!(error.contains(" core 100000 does not exist, or this process may not use it"), "{error}");
}

/// The threads of this process with a name, and the cores that each may run on.
#[cfg(target_os = "linux")]
fn threads(name: &str) -> Vec<String> {
    let threads = ThreadStatus::of_process(std::process::id()).into_iter();
    let named = threads.filter(|thread| thread.name() == name);
    named.map(|thread| thread.field("Cpus_allowed_list").to_owned()).collect()
}

#[cfg(target_os = "linux")]
#[test]
fn workers_run_on_their_cores_and_the_threads_that_they_start_on_all() {
    use rustix::thread::{CpuSet, sched_getaffinity};
    use std::sync::{Arc, Mutex};

    let all = sched_getaffinity(None).unwrap();
    let cores: Vec<usize> = (0..CpuSet::MAX_CPU).filter(|core| all.is_set(*core)).take(2).collect();
    let everywhere = std::fs::read_to_string("/proc/self/status").unwrap();
    let everywhere = everywhere.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:")).unwrap();
    let scratch = Scratch::new("pinned");
    let ran: Arc<Mutex<Vec<CpuSet>>> = Arc::default();
    let builder =
        Engine::builder().accept_any(anywhere(), |id| Some(of(&id.to_string(), Role::Acceptor).into()));
    let venue =
        builder.worker_cores(cores.iter().copied()).journal(&scratch.0).start_with(cores.len(), |_| {
            let ran = Arc::clone(&ran);
            let (app, _log) = Scripted::on_message(move |_, _| {
                ran.lock().unwrap().push(sched_getaffinity(None).unwrap());
                None
            });
            app
        });
    let venue = venue.unwrap();
    let mut connected = Vec::new();
    for (n, core) in cores.iter().enumerate() {
        // Each goes to the worker that has no connection yet.
        let mut peer = Peer::connect(venue.addresses()[0]).named(["A", "B"][n], "VENUE");
        peer.log_on();
        trade(&mut peer, "1");
        let on = ran.lock().unwrap().pop().unwrap();
        assert!(on.is_set(*core) && on.count() == 1, "{on:?}");
        let workers = threads(&format!("fixbolt-{n}"));
        assert!(workers.contains(&core.to_string()), "{workers:?}");
        connected.push(peer);
    }
    // The journals of new counterparties were opened by the workers. A thread has its name before
    // it leaves the core of the worker that started it.
    for name in ["fixbolt-files", "fixbolt-store", "fixbolt-sync", "fixbolt-history"] {
        eventually(|| {
            let threads = threads(name);
            !threads.is_empty() && threads.iter().all(|cores| cores == everywhere.trim())
        });
    }
    venue.stop().unwrap();
}
