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
