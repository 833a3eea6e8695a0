//! Strangers that log on, or try to, under one name after the other.

use crate::peer::Peer;
use crate::process::wait_for;
use crate::server::{Server, Setup};

/// A session that is configured, and one for anyone else.
pub(crate) const OPEN: &str =
    "[SESSION]\nTargetCompID=GOOD\n[SESSION]\nDynamicSession=Y\nTargetCompID=*\nSenderCompID=VENUE\n";

/// Logs on under a new name and closes the connection. Returns whether the Logon was answered by
/// one.
pub(crate) fn visit(server: &Server, name: &str) -> bool {
    let mut peer = Peer::connect(&server.address, name);
    peer.log_on("98=0|108=30").is_some_and(|answer| answer.kind() == "A")
}

#[test]
fn names_without_end_cost_bounded_memory_and_do_not_use_up_the_sessions() {
    let server = Setup::with_sessions(OPEN)
        .default("MaxSessions=40\nMaxDynamicSessions=16\nDynamicSessionIdleTime=1")
        .start();
    let mut good = server.good();
    for name in 0..30 {
        assert!(visit(&server, &format!("WARM{name}")), "name {name}");
    }
    let (memory, descriptors) = (server.process.memory(), server.process.descriptors());
    for name in 0..80 {
        assert!(visit(&server, &format!("NAME{name}")), "name {name}: {:?}", server.lines.first(50));
    }
    let after = server.process.memory();
    assert!(after < memory + (28 << 20), "from {memory} to {after} bytes");
    // Journals of those who have left are closed by a thread of their own, which may be behind.
    let most = descriptors + 60;
    wait_for("descriptors are closed", 20, || (server.process.descriptors() <= most).then_some(()));
    let disk = server.disk();
    assert!(disk.bytes / disk.folders < 256 << 10, "{disk:?}");
    good.round_trip("in");
    // A name that comes again finds its sequence numbers.
    let mut again = Peer::connect(&server.address, "NAME7");
    again.next = 2;
    assert_eq!(again.log_on("98=0|108=30").and_then(|answer| answer.get("34")).as_deref(), Some("2"));
}

#[test]
fn live_dynamic_sessions_have_a_limit_that_leaves_configured_ones_alone() {
    let server = Setup::with_sessions(OPEN).default("MaxDynamicSessions=8\nDynamicSessionIdleTime=1").start();
    let mut live = Vec::new();
    for name in 0..8 {
        live.push(Peer::logged_on(&server.address, &format!("NAME{name}")));
    }
    let mut late = Peer::connect(&server.address, "LATE");
    let answer = late.log_on("98=0|108=30");
    assert!(answer.as_ref().is_none_or(|answer| answer.kind() == "5"), "{answer:?}");
    server.lines.wait_for(&["LATE", "MaxDynamicSessions"]);
    server.good().round_trip("in");
    for peer in &mut live {
        peer.round_trip("still");
    }
    // One that leaves makes room.
    live.pop();
    wait_for("there is room", 20, || visit(&server, "LATE").then_some(()));
}

#[test]
fn names_that_are_refused_silently_leave_no_journals() {
    // This behavior refuses without a Logout, which would be in a journal.
    let server = Setup::with_sessions(OPEN).default("Compatibility=quickfix").start();
    server.good().round_trip("warm");
    let before = server.disk();
    for name in 0..200 {
        let mut peer = Peer::connect(&server.address, &format!("NAME{name}"));
        assert_eq!(peer.log_on("98=0|108=-5"), None);
    }
    assert_eq!(server.disk(), before);
    server.good().round_trip("in");
}

#[test]
fn a_name_is_never_a_path() {
    let server = Setup::with_sessions(OPEN).start();
    let journal = server.journal();
    let outside = journal.parent().expect("it is in a folder").to_owned();
    let entries = || {
        let names = std::fs::read_dir(&outside).expect("it is there").flatten();
        names.map(|entry| entry.file_name()).collect::<std::collections::BTreeSet<_>>()
    };
    let before = entries();
    for name in ["../../up", "..", ".", "/tmp/fixbolt-attack", "a/b", "a\\b", "%2E%2E%2F", "~", "*", "$(id)"]
    {
        // Whether it may log on is not the question.
        visit(&server, name);
    }
    assert!(!visit(&server, &"long".repeat(50)), "64 characters are allowed");
    assert_eq!(entries(), before);
    assert!(!std::path::Path::new("/tmp/fixbolt-attack").exists());
    for folder in std::fs::read_dir(&journal).expect("it is there").flatten() {
        let name = folder.file_name().into_string().expect("it is text");
        assert!(name.starts_with("FIX.4.4-VENUE-"), "{name}");
    }
    server.good().round_trip("in");
}

#[test]
fn sub_ids_leave_journals_only_where_a_session_asks_for_them_and_are_never_a_path() {
    let names = ["../../up", "..", "a/b", "+", "-", "%2F", "->", &"long".repeat(16), &"long".repeat(17)];
    for (keys, journals) in [("", 1), ("TargetSubID=*\n", 9)] {
        let server = Setup::with_sessions(&format!("{OPEN}{keys}")).start();
        server.good().round_trip("warm");
        let journal = server.journal();
        let entries =
            || std::fs::read_dir(&journal).expect("it is there").flatten().map(|entry| entry.path());
        let before = entries().count();
        for name in names {
            // If the names are of one session, it may still have the connection of the last one.
            wait_for("it logs on", 20, || {
                let mut peer = Peer::connect(&server.address, "TRADER");
                let answer = peer.log_on(&format!("50={name}|98=0|108=30|141=Y"));
                answer.filter(|answer| answer.kind() == "A")
            });
        }
        assert_eq!(entries().count() - before, journals, "{keys}");
        assert!(entries().all(|path| path.parent() == Some(&journal) && path.is_dir()));
        server.good().round_trip("in");
    }
}

#[test]
fn refused_logons_of_a_configured_session_do_not_fill_its_journal_or_the_log() {
    let server = Setup::new().start();
    server.good().round_trip("warm");
    let (before, lines) = (server.disk(), server.lines.count());
    for _ in 0..500 {
        let mut peer = Peer::connect(&server.address, "EVIL");
        peer.log_on("98=0|108=-5");
        let mut stranger = Peer::connect(&server.address, "NOBODY");
        stranger.log_on("98=0|108=30");
    }
    let after = server.disk();
    assert!(after.bytes <= before.bytes + (2 << 20), "{before:?}, {after:?}");
    let written = server.lines.count() - lines;
    assert!(written < 500, "{written} lines: {:#?}", server.lines.first(20));
    server.good().round_trip("in");
}
