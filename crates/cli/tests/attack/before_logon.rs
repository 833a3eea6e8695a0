//! Connections that never log on: idle, slow, half open, reset, and from addresses that have no
//! session here. A real counterparty is served meanwhile.

use std::io::Write;
use std::net::{Shutdown, TcpStream};
use std::time::Duration;

use crate::message;
use crate::peer::{Peer, connect_from, is_closed};
use crate::process::wait_for;
use crate::server::{Server, Setup};

/// Opens connections that send nothing; a refused one is left out.
fn idle(server: &Server, count: usize) -> Vec<TcpStream> {
    let address = server.address.parse().expect("it is an address");
    (0..count).filter_map(|_| TcpStream::connect_timeout(&address, Duration::from_secs(1)).ok()).collect()
}

#[test]
fn idle_connections_take_no_descriptor_that_a_live_session_needs() {
    let server = Setup::new().descriptors(64).start();
    let mut good = server.good();
    let mut pressing = idle(&server, 100);
    // The journal needs further segments, which are files.
    let text = "x".repeat(20_000);
    for order in 0..150 {
        good.order(&format!("o{order}"), &text).expect("the connection is open");
        let report = good.next_of("8").expect("the session is not halted");
        assert!(report.is_some(), "order {order}: {:?}", server.lines.first(40));
        if order % 10 == 0 {
            pressing.retain(|stream| !is_closed(stream));
            pressing.extend(idle(&server, 5));
        }
    }
    assert!(server.process.descriptors() <= 64);
    assert_eq!(server.lines.with(&["halted"]), Vec::<String>::new());
    // Another counterparty gets in, too.
    let mut evil = Peer::logged_on(&server.address, "EVIL");
    evil.round_trip("in");
    good.round_trip("last");
    assert!(server.lines.count() < 500, "{:?}", server.lines.first(30));
}

#[test]
fn idle_connections_do_not_shut_out_a_logon() {
    let server = Setup::new().descriptors(1024).start();
    let mut pressing = Vec::new();
    for host in 1..=20 {
        for _ in 0..20 {
            pressing.extend(connect_from([127, 0, 1, host], &server.address));
        }
    }
    // At the first try, and again while they stay.
    for id in ["one", "two"] {
        let mut good = server.good();
        good.round_trip(id);
        good.send("35=5").expect("the connection is open");
        assert_eq!(good.next_of("5").expect("it answers").map(|logout| logout.kind()).as_deref(), Some("5"));
    }
    assert!(server.process.descriptors() < 400, "{}", server.process.descriptors());
    let open = pressing.iter().filter(|stream| !is_closed(stream)).count();
    assert!((200..=256).contains(&open), "{open} of 400 stay open");
}

#[test]
fn one_address_takes_no_more_than_its_share() {
    let server = Setup::new().default("MaxConnectionsPerAddress=8").start();
    let other = connect_from([127, 0, 1, 2], &server.address).expect("the server listens");
    let pressing: Vec<_> =
        (0..50).filter_map(|_| connect_from([127, 0, 1, 1], &server.address).ok()).collect();
    wait_for("the oldest ones have given way", 10, || {
        (pressing.iter().filter(|stream| !is_closed(stream)).count() <= 8).then_some(())
    });
    assert!(!is_closed(&other), "another address keeps its connection");
    server.good().round_trip("in");
}

#[test]
fn an_address_that_no_session_allows_is_closed_before_it_has_sent_anything() {
    // Much longer than the test waits.
    let server = Setup::new().default("AllowedRemoteAddresses=127.0.1.9\nLogonTimeout=120").start();
    let refused = connect_from([127, 0, 1, 1], &server.address).expect("the server listens");
    wait_for("the connection is closed", 20, || is_closed(&refused).then_some(()));
    let allowed = connect_from([127, 0, 1, 9], &server.address).expect("the server listens");
    let mut good = Peer::new(allowed, "GOOD", "VENUE");
    assert_eq!(good.log_on("98=0|108=30").map(|answer| answer.kind()).as_deref(), Some("A"));
    good.round_trip("in");
}

#[test]
fn a_logon_that_comes_byte_by_byte_is_cut_off_in_time() {
    let server = Setup::new().default("LogonTimeout=1").start();
    let mut slow = Peer::connect(&server.address, "GOOD");
    let logon = slow.message("35=A|98=0|108=30|58=slow slow slow slow slow slow slow slow slow slow");
    // It would take 20 s.
    let mut bytes = logon.iter().cycle();
    wait_for("the connection is closed", 15, || {
        std::thread::sleep(Duration::from_millis(100));
        let sent = slow.stream.write_all(&[*bytes.next().expect("it is a cycle")]);
        (sent.is_err() || is_closed(&slow.stream)).then_some(())
    });
    assert_eq!(server.lines.with(&["logged on"]), Vec::<String>::new());
    server.good().round_trip("in");
}

#[test]
fn what_is_not_a_logon_ends_the_connection_and_costs_no_memory() {
    let server = Setup::new().start();
    server.good().round_trip("warm");
    let before = server.process.memory();
    let logon = |fields: &str| Peer::connect(&server.address, "EVIL").message(fields);
    let garbage = [
        logon(&format!("35=A|98=0|108=30|58={}", "x".repeat(9000))),
        logon("35=D|11=1|55=IBM"),
        logon("35=A|98=0|108=-1"),
        logon("35=A|98=0|108=99999999999999999999999"),
        message::whole("FIX.9.9", "35=A|49=EVIL|56=VENUE|34=1"),
        b"GET / HTTP/1.1\r\nHost: venue\r\n\r\n".to_vec(),
        b"8=FIX.4.4\x019=99999999999\x0135=A\x01".to_vec(),
        vec![0; 100_000],
        b"8=FIX.4.4\x019=5\x01".repeat(5000),
    ];
    for (at, bytes) in garbage.iter().enumerate() {
        for _ in 0..10 {
            let mut evil = Peer::connect(&server.address, "EVIL");
            // The server may close it before it has everything.
            let _ = evil.stream.write_all(bytes);
            let _ = evil.stream.shutdown(Shutdown::Write);
            let answers = evil.until_end(Duration::from_secs(20)).expect("the connection ends");
            assert!(answers.iter().all(|answer| answer.kind() == "5"), "{at}: {answers:?}");
        }
    }
    assert!(server.process.memory() < before + (8 << 20), "from {before} to {}", server.process.memory());
    server.good().round_trip("in");
}

#[test]
fn connections_that_are_opened_and_dropped_leave_nothing() {
    let server = Setup::new().start();
    let mut good = server.good();
    good.round_trip("before");
    let descriptors = server.process.descriptors();
    for at in 0..600 {
        let mut evil = Peer::connect(&server.address, "EVIL");
        let logon = evil.message("35=A|98=0|108=30");
        match at % 4 {
            0 => evil.reset(),
            1 => drop(evil),
            2 => {
                let _ = evil.stream.write_all(&logon[..logon.len() / 2]);
                evil.reset();
            }
            _ => {
                let _ = evil.stream.write_all(&logon[..40]);
                let _ = evil.stream.shutdown(Shutdown::Write);
            }
        }
        if at % 100 == 0 {
            good.round_trip(&format!("storm{at}"));
        }
    }
    wait_for("all descriptors are given back", 20, || {
        (server.process.descriptors() <= descriptors).then_some(())
    });
    good.round_trip("after");
}
