//! Counterparties that do not read what was sent to them.

use std::collections::BTreeMap;
use std::io::{ErrorKind, Read, Write};
use std::time::Duration;

use crate::support::*;
use fixbolt::codec::{BodySink, Key, MsgType, NewBody, Tag};
use fixbolt::session::Role;
use fixbolt::{Engine, Sender};

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
        .accept(anywhere(), acceptor().with(|s| s.timing.send_timeout = TIMEOUT))
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

/// Posts reports from another thread until the queue is full. Returns how many were accepted.
fn post(sender: &mut Sender, from: usize) -> usize {
    for n in from.. {
        let mut report = sender.draft(MsgType::new(b"8"));
        report.writer().bytes(Key::new(11), format!("o{n}").as_bytes()).bytes(Key::new(58), &[b'x'; 4000]);
        if report.send().is_err() {
            return n;
        }
    }
    unreachable!()
}

#[test]
fn a_slow_counterparty_is_reported_and_then_disconnected_and_loses_no_message() {
    let (app, log) = Recorder::trader();
    let settings = acceptor().with(|s| s.limits.slow_consumer_timeout = Some(Duration::from_secs(1)));
    let venue = Engine::builder().accept(anywhere(), settings).start(app).unwrap();
    let mut peer = Peer::connect(venue.addresses()[0]);
    peer.log_on();
    let mut sender = venue.session(&acceptor().id).unwrap().sender();
    let mut posted = 0;
    // What became of each; none is reported as sent twice.
    let mut sent: BTreeMap<u64, u64> = BTreeMap::new();
    let mut not_sent = 0;
    let mut note = |seen: Seen| {
        match seen {
            Seen::Sent(ticket, seq) => assert_eq!(sent.insert(seq, ticket), None),
            Seen::NotSent(..) => not_sent += 1,
            _ => {}
        }
        sent.len() + not_sent
    };
    // Nothing reads them: the socket, the outbox and the queue are full in turn.
    let mut is_slow = false;
    loop {
        posted = post(&mut sender, posted);
        let seen = log.next();
        if let Seen::Other(event) = &seen
            && event.starts_with("SlowConsumer {")
        {
            assert!(event.contains("size: 1048576"), "{event}");
            assert!(!std::mem::replace(&mut is_slow, true), "it is reported once");
        }
        if let Seen::Ended(end) = &seen {
            assert!(is_slow && end == "SlowConsumer", "{end}");
            break;
        }
        note(seen);
    }
    let mut peer = Peer::connect(venue.addresses()[0]);
    peer.seq = 2;
    peer.log_on();
    while note(log.next()) < posted {}
    peer.send("2", "7=2|16=0");
    while !sent.is_empty() {
        let message = peer.receive();
        let value = |tag: &str| message.split(tag).nth(1).and_then(|rest| rest.split('|').next());
        if message.contains("|35=8|")
            && let Some(ticket) = sent.remove(&value("|34=").unwrap().parse().unwrap())
        {
            assert_eq!(value("|11=o").unwrap().parse(), Ok(ticket - 1));
        }
    }
    drop(peer);
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
