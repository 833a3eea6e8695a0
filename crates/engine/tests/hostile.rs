//! Unknown and misbehaving counterparties: their connections are closed after a bounded number of
//! bytes and a bounded time, without an answer.

mod support;

use std::io::Write;
use std::time::Duration;

use fixbolt::session::SessionSettings;
use fixbolt::{Acceptance, Engine};
use support::*;

fn venue() -> (Engine<Recorder>, Log) {
    let (app, log) = Recorder::venue();
    (Engine::builder().accept(anywhere(), acceptor()).start(app).unwrap(), log)
}

#[test]
fn garbage_before_the_logon_is_closed() {
    let (venue, _log) = venue();
    for garbage in [&b"GET / HTTP/1.1\r\n\r\n"[..], b"\0\0\0\0\0\0\0\0", b"8=FIX.4.4\x019=99999999999\x01"] {
        let mut peer = Peer::connect(venue.addresses()[0]);
        peer.stream.write_all(garbage).unwrap();
        peer.closed_silently();
    }
    let mut peer = Peer::connect(venue.addresses()[0]);
    peer.send("D", "11=too early");
    peer.closed_silently();
    venue.stop().unwrap();
}

#[test]
fn a_first_message_that_never_ends_is_closed_within_bounded_bytes() {
    let (venue, _log) = venue();
    let mut peer = Peer::connect(venue.addresses()[0]);
    peer.stream.write_all(b"8=FIX.4.4\x019=8000\x0135=A\x01").unwrap();
    let mut sent = 0;
    // Writing fails once the other side has closed: long before this much.
    while sent < 64 << 20 && peer.stream.write_all(&[b'x'; 1024]).is_ok() {
        sent += 1024;
    }
    assert!(sent < 64 << 20, "{sent} bytes were accepted");
    venue.stop().unwrap();
}

#[test]
fn a_logon_that_arrives_too_slowly_is_closed_although_bytes_keep_arriving() {
    let (app, _log) = Recorder::venue();
    let venue = Engine::builder()
        .accept(anywhere(), acceptor())
        .pending_time(Duration::from_millis(300))
        .start(app)
        .unwrap();
    let mut peer = Peer::connect(venue.addresses()[0]);
    let logon = peer.message("A", &format!("98=0|108=30|58={}", "x".repeat(4000)));
    let mut whole = true;
    for byte in logon {
        if peer.stream.write_all(&[byte]).is_err() {
            whole = false;
            break;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    assert!(!whole, "the whole Logon was accepted");
    venue.stop().unwrap();
}

#[test]
fn a_second_connection_of_the_same_session_is_closed_and_the_first_goes_on() {
    let (venue, _log) = venue();
    let mut first = Peer::connect(venue.addresses()[0]);
    first.log_on();
    let mut second = Peer::connect(venue.addresses()[0]);
    second.send("A", "98=0|108=30");
    second.closed_silently();
    first.send("D", "11=still here");
    assert!(first.receive().contains("|11=still here|"));
    venue.stop().unwrap();
}

#[test]
fn an_unknown_session_and_an_address_that_is_not_allowed_get_no_answer() {
    let (app, _log) = Recorder::venue();
    let mut session = Acceptance::from(acceptor());
    session.allowed_remote_addresses = vec!["192.0.2.1".parse().unwrap()];
    let venue = Engine::builder().accept(anywhere(), session).start(app).unwrap();
    let mut unknown = Peer::connect(venue.addresses()[0]).named("MALLORY", "VENUE");
    unknown.send("A", "98=0|108=30");
    unknown.closed_silently();
    let mut elsewhere = Peer::connect(venue.addresses()[0]);
    elsewhere.send("A", "98=0|108=30");
    elsewhere.closed_silently();
    venue.stop().unwrap();
}

#[test]
fn a_garbled_message_is_ignored_and_the_next_one_processed() {
    let (venue, log) = venue();
    let mut peer = Peer::connect(venue.addresses()[0]);
    peer.log_on();
    let mut bytes = peer.message("D", "11=garbled");
    peer.seq -= 1;
    let last = bytes.len() - 2;
    bytes[last] ^= 1;
    bytes.extend(peer.message("D", "11=whole"));
    peer.stream.write_all(&bytes).unwrap();
    assert_eq!(log.message(), "whole");
    assert!(peer.receive().contains("|11=whole|"));
    venue.stop().unwrap();
}

#[test]
fn a_logon_with_a_wrong_checksum_is_closed_unless_its_session_does_not_check_it() {
    let log_on = |address, name: &'static str| {
        let mut peer = Peer::connect(address).named(name, "VENUE");
        let mut logon = peer.message("A", "98=0|108=30");
        let last = logon.len() - 2;
        logon[last] ^= 1;
        peer.stream.write_all(&logon).unwrap();
        peer
    };
    let (app, _log) = Recorder::venue();
    // A template is asked for sessions that are not configured.
    let venue = Engine::builder()
        .accept(anywhere(), acceptor())
        .accept_any(anywhere(), |id| {
            let validates = id.target_comp_id() == "STRICT";
            let change =
                |s: &mut SessionSettings| (s.id, s.validation.validate_checksum) = (id.clone(), validates);
            Some(acceptor().with(change).into())
        })
        .start(app)
        .unwrap();
    let address = venue.addresses()[0];
    log_on(address, "TRADER").closed_silently();
    log_on(address, "STRICT").closed_silently();
    assert!(log_on(address, "LAX").receive().contains("|35=A|"));
    venue.stop().unwrap();

    let (app, _log) = Recorder::venue();
    let lax = acceptor().with(|s| s.validation.validate_checksum = false);
    let venue = Engine::builder().accept(anywhere(), lax).start(app).unwrap();
    assert!(log_on(venue.addresses()[0], "TRADER").receive().contains("|35=A|"));
    venue.stop().unwrap();
}

#[test]
fn a_message_that_comes_byte_by_byte_is_one_message() {
    let (venue, log) = venue();
    let mut peer = Peer::connect(venue.addresses()[0]);
    for byte in peer.message("A", "98=0|108=30") {
        peer.stream.write_all(&[byte]).unwrap();
    }
    assert!(peer.receive().contains("|35=A|"));
    for byte in peer.message("D", "11=slow") {
        peer.stream.write_all(&[byte]).unwrap();
    }
    assert_eq!(log.message(), "slow");
    venue.stop().unwrap();
}

#[test]
fn a_counterparty_that_vanishes_may_come_back_at_once() {
    let (venue, log) = venue();
    let mut seq = 1;
    for _ in 0..50 {
        let mut peer = Peer::connect(venue.addresses()[0]);
        peer.seq = seq;
        peer.log_on();
        seq = peer.seq;
        drop(peer);
        assert_eq!(log.ended(), "ConnectionLost");
    }
    venue.stop().unwrap();
}

#[test]
fn a_refused_counterparty_of_a_template_uses_no_session() {
    let (app, _log) = Recorder::venue();
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    let venue = Engine::builder()
        .accept_any(anywhere(), |id| {
            assert_ne!(id.target_comp_id(), "PANIC", "a template's mistake");
            let settings = acceptor().with(|s| s.id = id.clone());
            let elsewhere = "192.0.2.1".parse().unwrap();
            let allowed = if id.target_comp_id() == "FRIEND" { Vec::new() } else { vec![elsewhere] };
            let mut acceptance = Acceptance::from(settings);
            acceptance.allowed_remote_addresses = allowed;
            Some(acceptance)
        })
        .start(app)
        .unwrap();
    for name in ["STRANGER", "PANIC"] {
        let mut stranger = Peer::connect(venue.addresses()[0]).named(name, "VENUE");
        stranger.send("A", "98=0|108=30");
        stranger.closed_silently();
        assert!(venue.session(&id(&format!("FIX.4.4:VENUE->{name}"))).is_none());
    }
    // A BeginString for which no header has room.
    let mut odd = Peer::connect(venue.addresses()[0]).named("FRIEND", "VENUE");
    let logon = odd.message("A", "98=0|108=30");
    let logon = String::from_utf8(logon).unwrap();
    let fields = &logon[logon.find("35=").unwrap()..logon.rfind("10=").unwrap()];
    odd.stream.write_all(&message("FIX.1234567.1", fields)).unwrap();
    odd.closed_silently();
    std::panic::set_hook(hook);
    let mut friend = Peer::connect(venue.addresses()[0]).named("FRIEND", "VENUE");
    friend.log_on();
    venue.stop().unwrap();
}
