//! Sessions that cannot run, because their journal is damaged.

use std::path::Path;

use crate::peer::Peer;
use crate::server::Setup;

/// Lets a session of these write a journal, stops the server, and changes a byte in an order.
fn damaged(sessions: &str, name: &str) -> Setup {
    let server = Setup::with_sessions(sessions).start();
    let mut peer = Peer::connect(&server.address, name);
    peer.log_on("98=0|108=30").expect("the Logon is answered");
    peer.round_trip("kept");
    peer.round_trip("kept too");
    drop(peer);
    let (status, setup) = server.stop();
    assert_eq!(status.code(), Some(0));
    let segment = setup.journal().join(format!("FIX.4.4-VENUE-{name}/segment-000001"));
    flip(&segment);
    setup
}

fn flip(segment: &Path) {
    let mut bytes = std::fs::read(segment).expect("it can be read");
    let at = bytes.windows(7).position(|bytes| bytes == b"55=IBM\x01").expect("the order is in it");
    bytes[at] ^= 1;
    std::fs::write(segment, bytes).expect("it can be written");
}

#[test]
fn a_server_whose_sessions_are_all_halted_says_so_and_ends_with_1() {
    let setup = damaged("[SESSION]\nTargetCompID=GOOD\n", "GOOD");
    let ended = setup.under(&["timeout", "20"]).command().output().expect("the command runs");
    let said = String::from_utf8_lossy(&ended.stderr).into_owned();
    assert_eq!(ended.status.code(), Some(1), "{said}");
    assert!(said.contains("halted") && said.contains("FIX.4.4:VENUE->GOOD"), "{said}");
    assert!(said.contains("fixbolt journal"), "it says what to do: {said}");
}

#[test]
fn a_server_with_one_halted_session_serves_the_others() {
    let setup = damaged("[SESSION]\nTargetCompID=GOOD\n[SESSION]\nTargetCompID=EVIL\n", "EVIL");
    let server = setup.start();
    server.lines.wait_for(&["EVIL", "halted"]);
    server.good().round_trip("in");
    let answer = Peer::connect(&server.address, "EVIL").log_on("98=0|108=30");
    assert!(answer.as_ref().is_none_or(|answer| answer.kind() == "5"), "{answer:?}");
    server.good().round_trip("in");
}
