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
fn only_the_report_on_our_order_is_the_answer() {
    let ended = send(&["--timeout", "10"], |mut peer| {
        take_order(&mut peer);
        peer.send(&report("somebody-else", 'F', '2', "|58=not ours")).expect("the connection is open");
        let next = std::mem::replace(&mut peer.next, 1);
        let sent = message::time(-60);
        let copy = report("mine", 'F', '2', "|58=a copy").replacen('|', &format!("|43=Y|122={sent}|"), 1);
        peer.send(&copy).expect("the connection is open");
        peer.next = next;
        peer.send(&report("mine", '8', '8', "|58=the answer")).expect("the connection is open");
        leave(&mut peer);
    });
    assert_eq!(ended.status, 1, "the order was rejected: {}{}", ended.out, ended.err);
    assert!(ended.out.contains("the answer"), "{}", ended.out);
    assert!(!ended.out.contains("not ours") && !ended.out.contains("a copy"), "{}", ended.out);
    let ended = send(&["--timeout", "1"], |mut peer| {
        take_order(&mut peer);
        peer.send(&report("somebody-else", 'F', '2', "")).expect("the connection is open");
        leave(&mut peer);
    });
    assert_eq!(ended.status, 3, "nobody answered: {}", ended.out);
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

#[test]
fn a_flood_while_it_waits_is_not_kept() {
    let ended = send(&["--timeout", "2"], |mut peer| {
        take_order(&mut peer);
        let text = format!("|58={}", "x".repeat(8000));
        let until = Instant::now() + Duration::from_secs(6);
        // It ends when the command does.
        while Instant::now() < until {
            let bytes: Vec<u8> =
                (0..64).flat_map(|_| peer.message(&report("somebody-else", 'F', '2', &text))).collect();
            if peer.stream.write_all(&bytes).is_err() {
                break;
            }
        }
    });
    assert_eq!(ended.status, 3, "{}", ended.err);
    assert!(ended.peak < 64 << 20, "{} bytes", ended.peak);
    assert!(ended.out.len() < 100_000, "{} bytes are shown", ended.out.len());
}

#[test]
fn it_waits_for_the_final_state_if_asked() {
    for (last, status) in
        [(report("mine", 'F', '2', "|58=done"), 0), (report("mine", '4', '4', "|58=done"), 1)]
    {
        let ended = send(&["--wait", "filled", "--timeout", "10"], move |mut peer| {
            take_order(&mut peer);
            for step in [report("mine", '0', '0', ""), report("mine", 'F', '1', ""), last] {
                peer.send(&step).expect("the connection is open");
            }
            leave(&mut peer);
        });
        assert_eq!(ended.status, status, "{}{}", ended.out, ended.err);
        assert!(ended.out.contains("done"), "{}", ended.out);
    }
}
