//! The lines that the server writes: nobody waits for who does not read them, a counterparty
//! neither causes many nor forges one, and each says when.

use std::io::Write;
use std::time::{Duration, Instant};

use crate::peer::Peer;
use crate::server::{Server, Setup};

/// Garbled pieces, which a server reports and a session ignores.
const GARBLED: &[u8] = b"8=FIX.4.4\x019=5\x0135=0\x0110=000\x01";

/// Logs on, sends garbled pieces until the connection ends or the time is over, and begins again.
fn garble(server: &Server, time: Duration) {
    let began = Instant::now();
    let pieces = GARBLED.repeat(200);
    while began.elapsed() < time {
        let mut evil = Peer::connect(&server.address, "EVIL");
        if evil.log_on("98=0|108=30|141=Y").is_none() {
            continue;
        }
        for _ in 0..20 {
            if evil.stream.write_all(&pieces).is_err() || !evil.drain() {
                break;
            }
        }
    }
}

/// Whether a line begins with a time such as `2026-11-23T02:30:00.123Z`.
fn begins_with_a_time(line: &str) -> bool {
    let form = "0000-00-00T00:00:00.000Z";
    line.len() > form.len()
        && line.bytes().zip(form.bytes()).all(|(byte, like)| match like {
            b'0' => byte.is_ascii_digit(),
            _ => byte == like,
        })
}

#[test]
fn nobody_waits_for_who_does_not_read_the_lines() {
    let server = Setup::new().unread().start();
    let mut good = server.good();
    for round in 0..3 {
        garble(&server, Duration::from_millis(500));
        // More than a pipe holds even if each line says it briefly.
        for name in 0..400 {
            Peer::connect(&server.address, &format!("STRANGER-{name}-{}", "x".repeat(40)))
                .log_on("98=0|108=30");
        }
        good.round_trip(&format!("round{round}"));
    }
    let (status, _) = server.stop();
    assert_eq!(status.code(), Some(0));
}

#[test]
fn a_counterparty_causes_few_lines_and_each_has_its_time() {
    let server = Setup::new().start();
    let mut good = server.good();
    let began = Instant::now();
    garble(&server, Duration::from_secs(2));
    let seconds = began.elapsed().as_secs() + 1;
    good.round_trip("in");
    // Ten a second of each kind of line, and the kinds are few.
    let most = 200 * seconds;
    assert!(server.lines.count() < most, "{} lines", server.lines.count());
    for line in server.lines.first(1000) {
        assert!(begins_with_a_time(&line), "{line}");
    }
    server.lines.wait_for(&["EVIL", "MaxGarbledMessages"]);
}

#[test]
fn a_counterparty_cannot_forge_a_line() {
    let server = Setup::new().start();
    let mut good = server.good();
    let forged = "bye\n2026-01-01T00:00:00.000Z FIX.4.4:VENUE->GOOD: forged\r\u{1b}[2J";
    let mut evil = Peer::logged_on(&server.address, "EVIL");
    evil.send(&format!("35=5|58={forged}")).expect("the connection is open");
    evil.next_of("5").expect("the Logout is answered");
    drop(evil);
    Peer::connect(&server.address, &format!("NAME{forged}")).log_on("98=0|108=30");
    Peer::connect(&server.address, "EVIL").log_on(&format!("98=0|108=30|141=Y|58={forged}"));
    good.round_trip("in");
    for line in server.lines.first(1000) {
        assert!(!line.starts_with("2026-01-01") && !line.contains(['\r', '\u{1b}']), "{line:?}");
    }
}

#[test]
fn lines_are_json_if_that_is_asked_for() {
    let server = Setup::new().arguments(&["-o", "json"]).start();
    server.good().round_trip("in");
    let mut evil = Peer::logged_on(&server.address, "EVIL");
    evil.send("35=5|58=\"quoted\"\n\\and broken").expect("the connection is open");
    evil.next_of("5").expect("the Logout is answered");
    drop(evil);
    server.lines.wait_for(&["EVIL", "quoted"]);
    for line in server.lines.first(1000) {
        assert!(line.starts_with('{') && line.ends_with('}'), "{line}");
        assert!(line.contains("\"time\":\"20"), "{line}");
    }
}
