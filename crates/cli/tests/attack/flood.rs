//! A session that sends more than anyone needs, or what nobody can read.

use std::io::Write;
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
