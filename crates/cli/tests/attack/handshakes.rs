//! Strangers at a port with TLS: connections that send a byte, a hello, or a goodbye. Real
//! counterparties log on meanwhile, from a hundred milliseconds away.

use std::io::{self, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::peer::{connect_from, is_closed};
use crate::process::wait_for;
use crate::server::Setup;
use crate::tls::{CLOSE_NOTIFY, hello, log_on};

const CLIENTS: [&str; 8] = ["C1", "C2", "C3", "C4", "C5", "C6", "C7", "C8"];
/// The round trip of a real client.
const AWAY: Duration = Duration::from_millis(100);
/// The most connections that an attacker holds.
const HELD: usize = 600;

/// Where an attacker's connection comes from.
type Source = fn(u32) -> [u8; 4];

fn one_address(_: u32) -> [u8; 4] {
    [127, 0, 0, 1]
}

fn another_address(_: u32) -> [u8; 4] {
    [127, 0, 1, 1]
}

/// A new one for each of 64,000 connections.
fn new_addresses(n: u32) -> [u8; 4] {
    let [.., high, low] = (n % 64_000).to_be_bytes();
    [127, 7, high, low.clamp(1, 254)]
}

/// Makes this many connections a second until the time is over, and sends the bytes on each.
/// Returns how many there were.
fn flood(address: &str, (rate, source): (u32, Source), bytes: &[u8], is_over: &AtomicBool) -> u32 {
    let (began, mut made, mut held) = (Instant::now(), 0, std::collections::VecDeque::new());
    while !is_over.load(Ordering::Relaxed) {
        while f64::from(made) < began.elapsed().as_secs_f64() * f64::from(rate) {
            made += 1;
            // The server may have closed it before.
            if let Ok(mut stream) = connect_from(source(made), address) {
                let _ = stream.write_all(bytes);
                held.push_back(stream);
            }
            if held.len() > HELD {
                held.pop_front();
            }
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    made
}

/// Lets eight clients log on beside a flood, and returns how many did at their first try, and how
/// many connections the flood had.
fn log_on_beside(flooded: (u32, Source), bytes: &[u8]) -> (usize, u32) {
    let server = Setup::with_tls(&CLIENTS).descriptors(1024).start();
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let attacker = scope.spawn(|| flood(&server.attacked, flooded, bytes, &is_over));
        // It has filled what there is to fill.
        std::thread::sleep(Duration::from_secs(1));
        let clients: Vec<_> = (0..)
            .zip(CLIENTS)
            .map(|(n, name)| {
                let server = &server;
                std::thread::sleep(Duration::from_millis(50));
                scope.spawn(move || log_on(server, name, AWAY, n % 2 == 0))
            })
            .collect();
        let results: Vec<io::Result<()>> =
            clients.into_iter().map(|client| client.join().expect("it does not panic")).collect();
        is_over.store(true, Ordering::Relaxed);
        let made = attacker.join().expect("it does not panic");
        (results.iter().filter(|result| result.is_ok()).count(), made)
    })
}

#[test]
fn a_byte_a_connection_shuts_no_tls_client_out() {
    for flooded in [(700, one_address as Source), (1000, new_addresses)] {
        let (logons, made) = log_on_beside(flooded, &[22]);
        assert_eq!(logons, CLIENTS.len(), "beside {made} connections");
    }
}

#[test]
fn a_goodbye_in_place_of_a_hello_ends_the_connection_at_once() {
    // Much longer than the test waits.
    let server = Setup::with_tls(&["C1"]).default("LogonTimeout=120").start();
    let mut stream = TcpStream::connect(&server.attacked).expect("the server listens");
    stream.write_all(&CLOSE_NOTIFY).expect("it is open");
    wait_for("the connection is closed", 20, || is_closed(&stream).then_some(()));
    server.lines.wait_for(&["closed before logon", "CloseNotify"]);
}

#[test]
#[ignore = "takes a minute"]
fn tls_clients_log_on_beside_strangers_handshakes() {
    println!("\n| strangers at a port with TLS | connections a second | of 8 clients at 100 ms, logged on |");
    println!("|---|---|---|");
    let (byte, hello) = (vec![22], hello());
    let mut shut_out = Vec::new();
    for (what, rate, source, bytes) in [
        ("a byte each, from the clients' address", 700, one_address as Source, &byte),
        ("a byte each, from new addresses", 1000, new_addresses, &byte),
        ("a hello each, from another address", 700, another_address, &hello),
        ("a hello each, from new addresses", 300, new_addresses, &hello),
    ] {
        let (logons, _) = log_on_beside((rate, source), bytes);
        println!("| {what} | {rate} | {logons} |");
        if logons < CLIENTS.len() {
            shut_out.push(what);
        }
    }
    assert_eq!(shut_out, Vec::<&str>::new());
}
