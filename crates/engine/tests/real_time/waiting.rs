//! An engine that has to wait: for an application that answers "not now", or for a store that has
//! not acknowledged yet.

use std::io::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use crate::support::*;
use fixbolt::Engine;
use fixbolt::session::{Compatibility, Delivery, Role, SessionWaker};

/// Whether the application accepts messages, and the wakers of those it does not.
struct Gate {
    open: Arc<AtomicBool>,
    /// How often a message was offered.
    offers: Arc<AtomicU64>,
    wakers: Receiver<SessionWaker>,
}

/// A venue that accepts no order while the gate is closed.
fn gated() -> (Scripted, Log, Gate) {
    let (open, offers) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
    let (send, wakers) = channel();
    let gate = Gate { open: Arc::clone(&open), offers: Arc::clone(&offers), wakers };
    let (app, log) = Scripted::on_message(move |_, turn| {
        offers.fetch_add(1, Ordering::SeqCst);
        let _ = send.send(turn.waker());
        (!open.load(Ordering::SeqCst)).then_some(Ok(Delivery::NotNow))
    });
    (app, log, gate)
}

impl Gate {
    fn waker(&self) -> SessionWaker {
        self.wakers.recv_timeout(Duration::from_secs(20)).expect("a message should have been offered")
    }

    fn open(&self) {
        self.open.store(true, Ordering::SeqCst);
    }
}

#[test]
fn a_session_answered_with_not_now_continues_when_another_thread_calls_its_waker() {
    // Without a waker each message would wait for a quarter of a second; together that is longer
    // than this test waits.
    const ORDERS: usize = 200;
    let (send, wakers) = channel::<SessionWaker>();
    let mut put_off = false;
    let (app, _log) = Scripted::on_message(move |_, turn| {
        put_off = !put_off;
        put_off.then(|| {
            send.send(turn.waker()).unwrap();
            Ok(Delivery::NotNow)
        })
    });
    let venue = Engine::builder().accept(anywhere(), acceptor()).start(app).unwrap();
    let waking = std::thread::spawn(move || {
        for waker in wakers {
            waker.clone().wake();
        }
    });
    let mut peer = Peer::connect(venue.addresses()[0]);
    peer.log_on();
    let give_up = Instant::now() + Duration::from_secs(20);
    for n in 0..ORDERS {
        peer.send("D", &format!("11={n}"));
        assert!(peer.receive().contains(&format!("|11={n}|")));
        assert!(Instant::now() < give_up, "the waker had no effect: {n} of {ORDERS} orders");
    }
    drop(venue.stop().unwrap());
    waking.join().unwrap();
}

#[test]
fn many_blocked_sessions_do_not_make_the_loop_spin() {
    const SESSIONS: u64 = 50;
    let (app, log, gate) = gated();
    let template = |id: &fixbolt::session::SessionId| Some(acceptor().with(|s| s.id = id.clone()).into());
    let venue = Engine::builder().accept_any(anywhere(), template).start(app).unwrap();
    let mut peers: Vec<Peer> = (0..SESSIONS)
        .map(|n| {
            let name: &'static str = format!("PEER{n}").leak();
            let mut peer = Peer::connect(venue.addresses()[0]).named(name, "VENUE");
            peer.log_on();
            log.logged_on();
            peer.send("D", "11=1");
            gate.waker();
            peer
        })
        .collect();
    let (cycles, offers) = (venue.cycles()[0], gate.offers.load(Ordering::SeqCst));
    std::thread::sleep(Duration::from_secs(1));
    let (cycles, offers) = (venue.cycles()[0] - cycles, gate.offers.load(Ordering::SeqCst) - offers);
    // Each is offered four times a second.
    assert!(cycles < SESSIONS * 6 + 100, "{cycles} cycles");
    assert!(offers < SESSIONS * 6, "{offers} offers");
    assert!(offers > 0, "no message was offered again");
    gate.open();
    for peer in &mut peers {
        assert!(peer.receive().contains("|11=1|"));
    }
    venue.stop().unwrap();
}

#[test]
fn an_application_that_keeps_waking_itself_delays_neither_other_sessions_nor_the_stop() {
    let (app, _log) = Scripted::on_message(|message, turn| {
        (message.get(fixbolt::codec::Tag::new(11)) == Some(b"never")).then(|| {
            turn.waker().wake();
            Ok(Delivery::NotNow)
        })
    });
    let other = of("FIX.4.4:VENUE->OTHER", Role::Acceptor);
    let mut settings = acceptor();
    settings.timing.logout_timeout = Duration::from_millis(50);
    let venue = Engine::builder().accept(anywhere(), settings).accept(anywhere(), other).start(app).unwrap();
    let mut bystander = Peer::connect(venue.addresses()[0]).named("OTHER", "VENUE");
    bystander.log_on();
    let mut peer = Peer::connect(venue.addresses()[0]);
    peer.log_on();
    peer.send("D", "11=never");
    for n in 0..100 {
        bystander.send("D", &format!("11={n}"));
        assert!(bystander.receive().contains(&format!("|11={n}|")));
    }
    bystander.send("5", "");
    assert!(bystander.receive().contains("|35=5|"));
    venue.stop().unwrap();
}

#[test]
fn a_waker_may_be_called_any_number_of_times_by_any_number_of_threads() {
    let (app, _log, gate) = gated();
    // A queue with one place: almost every call overflows it.
    let builder = Engine::builder().accept(anywhere(), acceptor()).max_sessions(1);
    let venue = builder.start(app).unwrap();
    let mut peer = Peer::connect(venue.addresses()[0]);
    peer.log_on();
    peer.send("D", "11=1");
    let waker = gate.waker();
    let stopped = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                while !stopped.load(Ordering::SeqCst) {
                    for _ in 0..1000 {
                        waker.wake();
                    }
                    std::thread::yield_now();
                }
            });
        }
        gate.open();
        assert!(peer.receive().contains("|11=1|"));
        for n in 2..100 {
            peer.send("D", &format!("11={n}"));
            assert!(peer.receive().contains(&format!("|11={n}|")));
        }
        peer.send("5", "");
        assert!(peer.receive().contains("|35=5|"));
        stopped.store(true, Ordering::SeqCst);
    });
    venue.stop().unwrap();
    // Its session and the engine are gone.
    for _ in 0..10_000 {
        waker.wake();
    }
}

#[test]
fn wakeups_that_overflow_the_queue_reach_every_waiting_session() {
    const SESSIONS: usize = 8;
    let (app, log, gate) = gated();
    let mut builder = Engine::builder().max_sessions(SESSIONS);
    for n in 0..SESSIONS {
        let id = id(&format!("FIX.4.4:VENUE->PEER{n}"));
        builder = builder.accept(anywhere(), acceptor().with(|s| s.id = id));
    }
    let venue = builder.start(app).unwrap();
    let mut peers = Vec::new();
    let mut wakers = Vec::new();
    for n in 0..SESSIONS {
        let name: &'static str = format!("PEER{n}").leak();
        let mut peer = Peer::connect(venue.addresses()[0]).named(name, "VENUE");
        peer.log_on();
        log.logged_on();
        peer.send("D", "11=1");
        wakers.push(gate.waker());
        peers.push(peer);
    }
    gate.open();
    // The first one's calls fill the queue.
    for _ in 0..100 {
        wakers[0].wake();
    }
    for waker in &wakers {
        waker.wake();
    }
    for peer in &mut peers {
        assert!(peer.receive().contains("|11=1|"));
    }
    venue.stop().unwrap();
}

#[test]
fn a_blocked_session_whose_connection_was_reset_ends_and_is_free_for_the_next_one() {
    let (app, log, gate) = gated();
    let venue = Engine::builder().accept(anywhere(), acceptor()).start(app).unwrap();
    let mut peer = Peer::connect(venue.addresses()[0]);
    // No heartbeat will detect it.
    peer.send("A", "98=0|108=0");
    peer.send("D", "11=1");
    let waker = gate.waker();
    // Closing a socket that has unread bytes resets the connection.
    eventually(|| peer.stream.peek(&mut [0; 1]).is_ok_and(|n| n == 1));
    drop(peer);
    assert_eq!(log.ended(), "ConnectionLost");
    // The waker has no effect any more.
    waker.wake();
    gate.open();
    let mut peer = Peer::connect(venue.addresses()[0]);
    peer.seq = 3;
    peer.log_on();
    assert!(peer.receive().contains("|35=2|"), "the order was not accepted: it is requested again");
    let fields = format!("35=D|49=TRADER|56=VENUE|34=2|43=Y|52={0}|122={0}|11=1", timestamp());
    peer.stream.write_all(&message("FIX.4.4", &fields)).unwrap();
    assert!(peer.receive().contains("|11=1|"));
    venue.stop().unwrap();
}

#[test]
fn a_blocked_session_does_not_keep_the_engine_from_stopping() {
    let (app, log, gate) = gated();
    let mut settings = acceptor();
    settings.timing.logout_timeout = Duration::from_millis(50);
    let venue = Engine::builder().accept(anywhere(), settings).start(app).unwrap();
    let mut peer = Peer::connect(venue.addresses()[0]);
    peer.log_on();
    peer.send("D", "11=1");
    let waker = gate.waker();
    venue.stop().unwrap();
    assert_eq!(log.ended(), "LogoutTimedOut");
    waker.wake();
    assert!(peer.receive().contains("|35=5|"));
}

/// Only a read that returns less than it could, or nothing, shows that no bytes are left. Silence
/// is measured from then on.
#[test]
fn a_counterparty_that_falls_silent_during_a_wait_is_detected() {
    // One read takes 64 KiB.
    for more in [None, Some(64 * 1024)] {
        for compatibility in [Compatibility::Standard, Compatibility::QuickFix] {
            let (app, log, gate) = gated();
            let mut settings = acceptor();
            settings.compatibility = compatibility;
            let venue = Engine::builder().accept(anywhere(), settings).start(app).unwrap();
            let mut peer = Peer::connect(venue.addresses()[0]);
            peer.send("A", "98=0|108=1");
            log.logged_on();
            peer.send("D", "11=small");
            let waker = gate.waker();
            if let Some(bytes) = more {
                let large = peer.order_of(bytes);
                peer.stream.write_all(&large).unwrap();
            }
            // It receives a TestRequest and does not answer.
            while !peer.receive().contains("|35=1|") {}
            gate.open();
            waker.wake();
            assert_eq!(log.message(), "small");
            assert!(more.is_none() || log.message() == "large");
            assert_eq!(log.ended(), "HeartbeatTimedOut", "{more:?}, {compatibility:?}");
            drop(peer);
            venue.stop().unwrap();
        }
    }
}

#[test]
fn a_store_that_acknowledges_from_another_thread_wakes_the_loop() {
    // Without the store's waker the loop would check the store once a second: longer than this test
    // waits.
    const ORDERS: usize = 100;
    let (store, _steering) = late_steered_store();
    let (app, _log) = Recorder::venue();
    let venue = Engine::builder().accept(anywhere(), acceptor()).store(Box::new(store)).start(app).unwrap();
    let mut peer = Peer::connect(venue.addresses()[0]);
    peer.log_on();
    let give_up = Instant::now() + Duration::from_secs(20);
    for n in 0..ORDERS {
        peer.send("D", &format!("11={n}"));
        assert!(peer.receive().contains(&format!("|11={n}|")));
        assert!(Instant::now() < give_up, "the store's waker had no effect: {n} of {ORDERS} orders");
    }
    venue.stop().unwrap();
}

#[test]
fn nothing_goes_out_before_the_store_has_acknowledged_it() {
    let (store, steering) = late_steered_store();
    let (app, log) = Recorder::venue();
    let venue = Engine::builder().accept(anywhere(), acceptor()).store(Box::new(store)).start(app).unwrap();
    let mut peer = Peer::connect(venue.addresses()[0]);
    peer.log_on();
    steering.holds.store(true, Ordering::SeqCst);
    for n in 0..10 {
        peer.send("D", &format!("11={n}"));
        assert_eq!(log.message(), n.to_string());
    }
    let cycles = venue.cycles()[0];
    // The loop only checks the store meanwhile, and wakes up for nothing else.
    eventually(|| venue.cycles()[0] > cycles + 1);
    peer.hears_nothing();
    assert!(venue.cycles()[0] < cycles + 50, "the loop spins while the store has not acknowledged");
    steering.holds.store(false, Ordering::SeqCst);
    for n in 0..10 {
        assert!(peer.receive().contains(&format!("|11={n}|")));
    }
    venue.stop().unwrap();
}
