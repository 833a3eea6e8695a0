//! Growth of a journal that the other side causes without ordering anything.

use std::io::Write;
use std::time::{Duration, Instant};

use crate::peer::Peer;
use crate::server::Setup;

/// Sends these fields until the connection ends, and again after further Logons.
fn fill(fields: &str) {
    let server = Setup::new().default("MaxSessionJournalGrowth=2097152").start();
    let mut good = server.good();
    let before = server.disk().bytes;
    let mut evil = Peer::logged_on(&server.address, "EVIL");
    let deadline = Instant::now() + Duration::from_secs(30);
    let mut sent = 0;
    while evil.send(fields).is_ok() && evil.drain() {
        sent += 1;
        assert!(Instant::now() < deadline && sent < 2000, "{sent} were accepted");
    }
    server.lines.wait_for(&["EVIL", "MaxSessionJournalGrowth"]);
    // It may come again, as often as it likes, in the same minute.
    for _ in 0..20 {
        let mut evil = Peer::connect(&server.address, "EVIL");
        if evil.log_on("98=0|108=30|141=Y").is_none() {
            continue;
        }
        let bytes = evil.message(fields);
        for _ in 0..20 {
            if evil.stream.write_all(&bytes).is_err() || !evil.drain() {
                break;
            }
        }
    }
    let grown = server.disk().bytes - before;
    // Segments of 32 MiB are prepared ahead.
    assert!(grown < 96 << 20, "{grown} bytes");
    good.round_trip("in");
}

#[test]
fn large_session_messages_end_the_connection_before_they_fill_the_disk() {
    fill(&format!("35=1|112={}", "x".repeat(60_000)));
}

#[test]
fn large_messages_that_the_session_rejects_end_the_connection_before_they_fill_the_disk() {
    // An order without its required fields, which no application sees.
    fill(&format!("35=D|58={}", "x".repeat(60_000)));
}
