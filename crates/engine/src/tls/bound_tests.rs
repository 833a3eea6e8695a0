//! What a counterparty can make us keep, however much it sends and however little it reads.

use std::collections::VecDeque;
use std::io::{self, Write};
use std::sync::Arc;

use super::context::TlsContexts;
use super::handshake_tests::{Authority, BEGIN, Clock, HOUR, connected, record, shaken};
use super::stream::TlsStream;

/// A socket that takes nothing.
struct Full;

impl Write for Full {
    fn write(&mut self, _: &[u8]) -> io::Result<usize> {
        Err(io::ErrorKind::WouldBlock.into())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn of_what_a_counterparty_does_not_read_at_most_64_kib_are_encrypted() {
    let mut ours = shaken();
    let bytes = vec![b'x'; 1 << 20];
    let mut encrypted = 0;
    for _ in 0..10 {
        let (count, goes_on) = ours.send(&mut Full, &bytes).unwrap();
        assert!(!goes_on);
        encrypted += count;
    }
    assert_eq!(encrypted, 64 * 1024);
}

#[test]
fn of_a_record_that_is_not_complete_at_most_17_kib_are_read() {
    let authority = Authority::new();
    let contexts = Arc::new(TlsContexts::by(Clock::new()));
    let port = contexts.of_port(&authority.tls(&authority.issue("VENUE", 1, BEGIN + HOUR))).unwrap();
    let mut ours = port.accept().unwrap();
    // The longest record that a handshake may have, and as much again.
    let sent = [&[22, 3, 1, 0x42, 0][..], &[0; 32 * 1024]].concat();
    let mut socket = &sent[..];
    for _ in 0..10 {
        ours.fill(&mut socket, false);
    }
    assert_eq!(sent.len() - socket.len(), 17 * 1024);
}

#[test]
fn of_a_hello_in_many_records_at_most_80_kib_are_taken() {
    let authority = Authority::new();
    let contexts = Arc::new(TlsContexts::by(Clock::new()));
    let port = contexts.of_port(&authority.tls(&authority.issue("VENUE", 1, BEGIN + HOUR))).unwrap();
    // Its length is that of the longest that is taken, a longer one's, and the greatest that it can
    // name.
    for length in [[0, 0xff, 0xff], [0x10, 0, 0], [0xff; 3]] {
        let mut hello = vec![0; 1 << 20];
        hello[0] = 1;
        hello[1..4].copy_from_slice(&length);
        let mut ours = port.accept().unwrap();
        let mut pieces = hello.chunks(16 * 1024);
        let mut taken = 0;
        while ours.failure().is_none() {
            let piece = pieces.next().expect("all of it was taken");
            ours.fill(&mut &record(piece)[..], false);
            ours.step();
            taken += piece.len();
        }
        assert!(taken <= 80 * 1024, "{length:?}: {taken}");
    }
}

#[test]
fn of_what_was_read_and_not_delivered_at_most_51_kib_are_kept() {
    let (mut ours, mut theirs) = connected();
    theirs.set_buffer_limit(None);
    let (mut socket, sent) = (VecDeque::new(), 512 * 1024);
    theirs.writer().write_all(&vec![b'x'; sent]).unwrap();
    while theirs.wants_write() {
        theirs.write_tls(&mut socket).unwrap();
    }
    let (all, mut delivered) = (socket.len(), 0);
    while delivered < sent {
        let count = ours.receive(&mut socket, &mut [0; 64], false).count;
        assert!(count > 0, "{delivered}");
        delivered += count;
        let kept = (all - socket.len()).saturating_sub(delivered);
        // What was read, a record that is not complete, and what was decrypted.
        assert!(kept <= (17 + 18 + 16) * 1024, "{kept}");
    }
}

#[test]
fn of_many_requests_for_new_keys_one_is_answered_and_32_without_a_message_are_the_most() {
    let (mut ours, mut theirs) = connected();
    let mut request = |ours: &mut TlsStream, bytes: &[u8]| {
        theirs.refresh_traffic_keys().unwrap();
        theirs.writer().write_all(bytes).unwrap();
        let mut sent = VecDeque::new();
        while theirs.wants_write() {
            theirs.write_tls(&mut sent).unwrap();
        }
        ours.receive(&mut sent, &mut [0; 64], false).count
    };
    for _ in 0..1000 {
        assert_eq!(request(&mut ours, b"x"), 1, "{:?}", ours.failure());
    }
    // The answer goes with what is sent next: a message of five bytes and one, each with a header,
    // its kind and a tag.
    let mut sent = Vec::new();
    ours.send(&mut sent, b"y").unwrap();
    assert_eq!(sent.len(), (5 + 5 + 1 + 16) + (5 + 1 + 1 + 16));
    for _ in 0..32 {
        request(&mut ours, b"");
        assert_eq!(ours.failure(), None);
    }
    request(&mut ours, b"");
    assert!(ours.failure().is_some());
}
