//! `fixbolt send` against counterparties that are busy with others, or hostile.

use std::io::Write;
use std::net::TcpListener;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::message;
use crate::peer::Peer;
use crate::process::Process;

/// How the command ended, and the most memory that it used.
struct Ended {
    status: i32,
    out: String,
    err: String,
    peak: u64,
}

/// Runs `send` for an order against what `serve` does with its connection.
fn send(more: &[&str], serve: impl FnOnce(Peer) + Send + 'static) -> Ended {
    let listener = TcpListener::bind("127.0.0.1:0").expect("loopback is there");
    let address = listener.local_addr().expect("it is bound").to_string();
    let counterparty = std::thread::spawn(move || {
        let (stream, _) = listener.accept().expect("the command connects");
        serve(Peer::new(stream, "FIXBOLT", "CLIENT"));
    });
    let mut child = Command::new(env!("CARGO_BIN_EXE_fixbolt"))
        .args(["send", "D", "ClOrdID=mine", "55=IBM", "54=1", "38=100", "40=1", "--to", &address])
        .args(more)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command starts");
    let process = Process(child.id());
    let mut peak = 0;
    while child.try_wait().expect("it is a child").is_none() {
        peak = peak.max(process.peak());
        std::thread::sleep(Duration::from_millis(5));
    }
    let output = child.wait_with_output().expect("it has ended");
    let status = output.status.code().expect("it was not killed");
    // A command that never connects leaves it waiting.
    if status != 2 {
        counterparty.join().expect("the counterparty does not fail");
    }
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Ended { status, out: text(&output.stdout), err: text(&output.stderr), peak }
}

/// Answers the Logon, and waits for the order.
fn take_order(peer: &mut Peer) {
    peer.next_of("A").expect("a Logon comes");
    peer.send("35=A|98=0|108=30|141=Y").expect("the connection is open");
    peer.next_of("D").expect("an order comes");
}

/// A report on an order: ExecType 0, 1, 4 or F, and OrdStatus.
fn report(id: &str, exec_type: char, status: char, more: &str) -> String {
    format!(
        "35=8|37=O{id}|11={id}|17=E{exec_type}{status}|150={exec_type}|39={status}|55=IBM|54=1|151=0|14=100|6=1{more}"
    )
}

/// Answers the Logout, so that the command need not wait.
fn leave(peer: &mut Peer) {
    if let Ok(Some(_)) = peer.next_of("5") {
        // The command may be gone already.
        let _ = peer.send("35=5");
    }
}

#[test]
fn a_refused_logon_shows_the_counterpartys_text_and_is_status_1() {
    let ended = send(&["--timeout", "10"], |mut peer| {
        peer.next_of("A").expect("a Logon comes");
        peer.send("35=5|58=password expired").expect("the connection is open");
    });
    assert_eq!(ended.status, 1, "{}{}", ended.out, ended.err);
    assert!(ended.out.contains("password expired") || ended.err.contains("password expired"));
}
