//! An engine with few file descriptors: connections that only wait take none that a session or its
//! journal needs.
#![cfg(target_os = "linux")]

mod support;

use std::io::{BufRead, BufReader, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use fixbolt::Engine;
use fixbolt::session::Role;
use support::lines::Lines;
use support::*;

/// The variable that makes the test the engine's process; its value is the journals' directory.
const CHILD: &str = "FIXBOLT_TEST_FEW_DESCRIPTORS";

/// The engine's process: prints its address, and ends with what the log said when it is told to.
fn serve(base: &str) -> ! {
    let lines = Lines::collect();
    let said = |text| lines.with(&[text]).len();
    let (app, _log) = Recorder::venue();
    let venue = Engine::builder()
        .accept(anywhere(), acceptor())
        .accept_any(anywhere(), |id| Some(acceptor().with(|s| s.id = id.clone()).into()))
        .journal(base)
        // Only the descriptors limit the connections.
        .max_pending_connections(1000)
        .max_connections_per_address(1000)
        .pending_time(Duration::from_secs(3600))
        .start(app)
        .unwrap();
    let address = venue.addresses()[0];
    venue.accept(address, of("FIX.4.4:VENUE->LATECOMER", Role::Acceptor), LIMIT).unwrap();
    println!("\naddress {address}");
    for line in std::io::stdin().lines() {
        line.unwrap();
        println!("said {} {}", said("descriptors are short: "), said("no longer short"));
    }
    venue.stop().unwrap();
    std::process::exit(0);
}

struct Served {
    child: Child,
    lines: std::io::Lines<BufReader<std::process::ChildStdout>>,
    address: SocketAddr,
}

impl Served {
    fn start(limit: usize, base: &Path) -> Self {
        let mut child = Command::new("sh")
            .args(["-c", &format!("ulimit -n {limit} && exec \"$0\" \"$@\"")])
            .arg(std::env::current_exe().unwrap())
            .args(["--exact", "idle_connections_take_no_descriptor_that_a_session_needs", "--nocapture"])
            .env(CHILD, base)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut found = lines.by_ref().map(Result::unwrap);
        let address = found.find_map(|line| line.strip_prefix("address ")?.parse().ok()).unwrap();
        Self { child, lines, address }
    }

    /// Returns how often the log has said that descriptors are short, and that they no longer are.
    fn said(&mut self) -> (usize, usize) {
        self.child.stdin.as_mut().unwrap().write_all(b"say\n").unwrap();
        let line = self.lines.next().unwrap().unwrap();
        let mut numbers = line.strip_prefix("said ").unwrap().split(' ').map(|n| n.parse().unwrap());
        (numbers.next().unwrap(), numbers.next().unwrap())
    }
}

/// Keeps 100 idle connections open, and replaces those that are closed, until told to stop.
fn press(address: SocketAddr, stop: &AtomicBool) {
    let mut idle: Vec<TcpStream> = Vec::new();
    while !stop.load(Ordering::SeqCst) {
        idle.retain(|stream| {
            let read = std::io::Read::read(&mut { stream }, &mut [0]);
            matches!(read, Err(error) if error.kind() == std::io::ErrorKind::WouldBlock)
        });
        while idle.len() < 100
            && let Ok(stream) = TcpStream::connect_timeout(&address, Duration::from_secs(1))
        {
            stream.set_nonblocking(true).unwrap();
            idle.push(stream);
        }
        thread::sleep(Duration::from_millis(1));
    }
}

/// Sends an order of 1,000 bytes and receives its report.
fn trade(peer: &mut Peer) {
    let order = peer.order_of(1000);
    peer.stream.write_all(&order).unwrap();
    assert!(peer.receive().contains("|11=large|"));
}

#[test]
fn idle_connections_take_no_descriptor_that_a_session_needs() {
    if let Ok(base) = std::env::var(CHILD) {
        serve(&base);
    }
    let scratch = Scratch::new("descriptors");
    let mut venue = Served::start(64, &scratch.0);
    let address = venue.address;
    let mut trader = Peer::connect(address);
    trader.log_on();
    let journal = scratch.0.join("FIX.4.4-VENUE-TRADER");
    let segments = || {
        let names = std::fs::read_dir(&journal).unwrap().map(|entry| entry.unwrap().file_name());
        names.filter(|name| name.to_string_lossy().starts_with("segment-")).count()
    };
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| press(address, &stop));
        struct Stop<'s>(&'s AtomicBool);
        impl Drop for Stop<'_> {
            fn drop(&mut self) {
                self.0.store(true, Ordering::SeqCst);
            }
        }
        let _stop = Stop(&stop);
        eventually(|| venue.said().0 > 0);
        let before = segments();
        // Each segment is as large as all before it: several changes.
        for _ in 0..600 {
            trade(&mut trader);
        }
        assert!(segments() >= before + 2, "{before} segments, then {}", segments());
        // Who comes now is accepted at the first attempt.
        let mut latecomer = Peer::connect(address).named("LATECOMER", "VENUE");
        latecomer.log_on();
        trade(&mut latecomer);
        trade(&mut trader);
    });
    let (short, _) = venue.said();
    assert!(short <= 5, "the log says {short} times that descriptors are short");
    // The idle connections are gone.
    eventually(|| venue.said().1 == venue.said().0);
    trade(&mut trader);
    // The journals of dynamic sessions that nobody uses take none either.
    for n in 0..60 {
        Peer::connect(address).named(format!("N{n}").leak(), "VENUE").log_on();
    }
    trade(&mut trader);
    drop(venue.child.stdin.take());
    assert!(venue.child.wait().unwrap().success());
}
