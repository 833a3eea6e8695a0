//! A session that sends more than anyone needs, or what nobody can read.

use std::io::{ErrorKind, Write};
use std::time::{Duration, Instant};

use crate::peer::Peer;
use crate::server::{Server, Setup};

/// Sends what `next` returns, as fast as it is read, until the connection ends; reads what
/// comes.
///
/// # Panics
///
/// If it does not end.
fn until_ended(server: &Server, mut next: impl FnMut(&mut Peer) -> Vec<u8>) {
    let mut evil = Peer::logged_on(&server.address, "EVIL");
    let deadline = Instant::now() + Duration::from_secs(30);
    loop {
        let bytes = next(&mut evil);
        if evil.stream.write_all(&bytes).is_err() || !evil.drain() {
            return;
        }
        assert!(Instant::now() < deadline, "the connection stays open; {:?}", server.lines.first(20));
    }
}

#[test]
fn a_hundred_garbled_messages_in_a_row_end_the_connection_and_fewer_do_not() {
    let server = Setup::new().start();
    let mut good = server.good();
    let garbled = b"8=FIX.4.4\x019=5\x0135=0\x0110=000\x01";
    let mut evil = Peer::logged_on(&server.address, "EVIL");
    for round in 0..3 {
        evil.stream.write_all(&garbled.repeat(90)).expect("the connection is open");
        evil.round_trip(&format!("between{round}"));
    }
    evil.stream.write_all(&garbled.repeat(150)).expect("the connection is open");
    evil.until_end(Duration::from_secs(20)).expect("the connection is closed");
    server.lines.wait_for(&["EVIL", "MaxGarbledMessages"]);
    until_ended(&server, |_| b"8=FIX.4.4|9=60000|".repeat(100));
    good.round_trip("in");
}

#[test]
fn a_flood_of_session_messages_ends_the_connection_and_names_the_setting() {
    let server =
        Setup::new().default("MaxSessionMessageRate=100\nMaxSessionJournalGrowth=1000000000").start();
    let mut good = server.good();
    until_ended(&server, |evil| {
        std::thread::sleep(Duration::from_millis(20));
        (0..20).flat_map(|_| evil.message("35=1|112=again")).collect()
    });
    server.lines.wait_for(&["EVIL", "MaxSessionMessageRate"]);
    good.round_trip("in");
}

#[test]
fn a_flood_of_orders_is_rejected_beyond_the_rate_and_ends_if_the_session_does_that() {
    let server = Setup::new().default("MaxInboundRate=5/200\nInboundThrottle=disconnect").start();
    let mut good = server.good();
    until_ended(&server, |evil| {
        let order = format!("35=D|11=x|55=IBM|54=1|60={}|38=100|40=1", crate::message::time(0));
        (0..20).flat_map(|_| evil.message(&order)).collect()
    });
    server.lines.wait_for(&["EVIL", "Throttle limit exceeded: at most 5 messages in 200ms"]);
    server.lines.wait_for(&["EVIL", "MaxInboundRate"]);
    good.round_trip("in");
}

#[test]
fn a_counterparty_that_does_not_read_is_told_of_and_ended_in_the_time_that_it_has() {
    let server =
        Setup::new().default("SlowConsumerTimeout=1\nSendTimeout=3600\nOutboundBufferSize=300000").start();
    let mut good = server.good();
    let mut evil = Peer::logged_on(&server.address, "EVIL");
    evil.stream.set_nonblocking(true).expect("the socket is a TCP socket");
    let order =
        format!("35=D|11=x|55=IBM|54=1|60={}|38=100|40=1|58={}", crate::message::time(0), "x".repeat(4000));
    let deadline = Instant::now() + Duration::from_secs(30);
    // A part of an order is not followed by another one.
    let mut rest = evil.message(&order);
    loop {
        match evil.stream.write(&rest) {
            Ok(n) => drop(rest.drain(..n)),
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                std::thread::sleep(Duration::from_millis(5))
            }
            Err(_) => break,
        }
        if rest.is_empty() {
            rest = evil.message(&order);
        }
        assert!(Instant::now() < deadline, "the connection stays open; {:?}", server.lines.first(20));
    }
    server.lines.wait_for(&["EVIL", "reads too slowly"]);
    server.lines.wait_for(&["EVIL", "SlowConsumerTimeout"]);
    good.round_trip("in");
}

#[test]
fn messages_cut_into_single_bytes_are_put_together() {
    let server = Setup::new().start();
    let mut evil = Peer::logged_on(&server.address, "EVIL");
    for order in 0..10 {
        let id = format!("cut{order}");
        let order = format!("35=D|11={id}|55=IBM|54=1|60={}|38=100|40=1", crate::message::time(0));
        for byte in evil.message(&order) {
            evil.stream.write_all(&[byte]).expect("the connection is open");
        }
        let report = evil.next_of("8").expect("a report comes").expect("the connection is open");
        assert_eq!(report.get("11"), Some(id));
    }
}

#[test]
fn a_group_that_announces_millions_of_entries_is_rejected_and_costs_nothing() {
    let server = Setup::new().start();
    let mut evil = Peer::logged_on(&server.address, "EVIL");
    evil.round_trip("warm");
    let before = server.process.peak();
    for count in ["4000000000", "99999999999999999999", "-1", "65535"] {
        let order = format!(
            "35=D|11=g|453={count}|448=a|447=D|452=1|55=IBM|54=1|60={}|38=100|40=1",
            crate::message::time(0)
        );
        evil.send(&order).expect("the connection is open");
        let answer = evil.next_of("3").expect("a Reject comes").expect("the connection is open");
        assert_eq!(answer.get("371").as_deref(), Some("453"), "{answer:?}");
    }
    evil.round_trip("in");
    assert!(server.process.peak() < before + (4 << 20));
}

#[test]
fn requests_for_everything_over_and_over_neither_grow_nor_stop_anything() {
    let server = Setup::new().start();
    let (mut good, mut evil) = (server.good(), Peer::logged_on(&server.address, "EVIL"));
    let text = "x".repeat(2000);
    for order in 0..200 {
        evil.order(&format!("o{order}"), &text).expect("the connection is open");
        evil.next_of("8").expect("a report comes");
    }
    let (memory, disk) = (server.process.memory(), server.disk().bytes);
    // It reads one replay in ten.
    for round in 0..50 {
        if evil.send("35=2|7=1|16=0").is_err() {
            break;
        }
        if round % 10 == 0 {
            good.round_trip(&format!("round{round}"));
            evil.drain();
        }
    }
    good.round_trip("in");
    let after = server.process.memory();
    assert!(after < memory + (16 << 20), "from {memory} to {after} bytes");
    assert!(server.disk().bytes <= disk + (40 << 20), "{disk}: {:?}", server.disk());
}

#[test]
fn a_peer_that_does_not_read_is_dropped() {
    let server = Setup::new().default("SendTimeout=1").start();
    let mut good = server.good();
    let mut evil = Peer::logged_on(&server.address, "EVIL");
    evil.stream.set_write_timeout(Some(Duration::from_millis(200))).expect("the time is not zero");
    let memory = server.process.memory();
    let deadline = Instant::now() + Duration::from_secs(20);
    let text = "x".repeat(8000);
    // Until even the system's buffers are full in both directions.
    while evil.order("never-read", &text).is_ok() {
        assert!(Instant::now() < deadline, "everything is accepted");
    }
    server.lines.wait_for(&["EVIL", "SendTimeout"]);
    assert!(server.process.memory() < memory + (64 << 20));
    good.round_trip("in");
    let mut next = Peer::connect(&server.address, "EVIL");
    assert_eq!(next.log_on("98=0|108=30|141=Y").map(|answer| answer.kind()).as_deref(), Some("A"));
}
