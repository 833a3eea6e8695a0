//! Counterparties that do not read what was sent to them.

mod support;

use std::io::{ErrorKind, Read, Write};
use std::time::Duration;

use fixbolt::Engine;
use fixbolt::codec::Tag;
use fixbolt::session::Role;
use support::*;

const TIMEOUT: Duration = Duration::from_secs(3);

/// Sends TestRequests until the other side no longer reads, because its answers are not read.
/// Returns the rest of the last one.
fn stuff(peer: &mut Peer) -> Vec<u8> {
    peer.stream.set_nonblocking(true).unwrap();
    let id = "x".repeat(50_000);
    loop {
        let mut bytes = peer.message("1", &format!("112={id}"));
        while !bytes.is_empty() {
            match peer.stream.write(&bytes) {
                Ok(n) => drop(bytes.drain(..n)),
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    std::thread::sleep(Duration::from_millis(50));
                    // What was read meanwhile makes room; if nothing was, nothing is read.
                    match peer.stream.write(&bytes) {
                        Ok(n) => drop(bytes.drain(..n)),
                        Err(_) => return bytes,
                    }
                }
                Err(error) => panic!("writing: {error}"),
            }
        }
    }
}

/// Reads everything that arrives within half a second.
fn read_all(peer: &mut Peer) {
    peer.stream.set_nonblocking(false).unwrap();
    peer.stream.set_read_timeout(Some(Duration::from_millis(500))).unwrap();
    let mut bytes = vec![0; 1 << 20];
    while peer.stream.read(&mut bytes).is_ok_and(|n| n > 0) {}
    peer.stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
}

fn venue() -> (Engine<Scripted>, Log) {
    let (app, log) = Scripted::on_message(|message, _| {
        if message.get(Tag::new(11)) == Some(b"stall") {
            std::thread::sleep(2 * TIMEOUT);
        }
        None
    });
    let engine = Engine::builder()
        .accept(anywhere(), acceptor().with(|s| s.send_timeout = TIMEOUT))
        .accept(anywhere(), of("FIX.4.4:VENUE->OTHER", Role::Acceptor))
        .start(app)
        .unwrap();
    (engine, log)
}

#[test]
fn a_counterparty_that_reads_nothing_is_disconnected_for_that_reason() {
    let (venue, log) = venue();
    let mut peer = Peer::connect(venue.addresses()[0]);
    peer.log_on();
    stuff(&mut peer);
    assert_eq!(log.ended(), "PeerDidNotRead");
    venue.stop().unwrap();
}

#[test]
fn a_counterparty_is_not_blamed_for_the_time_in_which_the_worker_was_kept() {
    let (venue, log) = venue();
    let mut other = Peer::connect(venue.addresses()[0]).named("OTHER", "VENUE");
    other.log_on();
    let mut peer = Peer::connect(venue.addresses()[0]);
    peer.log_on();
    let rest = stuff(&mut peer);
    other.send("D", "11=stall");
    // It reads while the worker cannot write.
    read_all(&mut peer);
    assert!(other.receive().contains("|11=stall|"));
    read_all(&mut peer);
    peer.stream.write_all(&rest).unwrap();
    peer.send("1", "112=alive");
    while !peer.receive().contains("|112=alive|") {}
    while let Some(seen) = log.now() {
        assert!(!matches!(seen, Seen::Ended(_)), "{seen:?}");
    }
    venue.stop().unwrap();
}
