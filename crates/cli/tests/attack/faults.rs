//! Attacks while the system refuses what the server asks for, by strace's fault injection.
//!
//! After each run the process is alive, another session is answered, and every order that was ever
//! answered is still there to be sent again.

use std::collections::BTreeSet;
use std::io::Write;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::message::{self, Message};
use crate::names::OPEN;
use crate::peer::Peer;
use crate::process::wait_for;
use crate::server::{Server, Setup};
use crate::whole::is_chosen;

/// A fault: the system calls, and strace's words for what happens to them.
struct Fault {
    calls: &'static str,
    inject: &'static str,
    /// Whether sessions may halt for a while.
    halts: bool,
}

/// The first calls are left alone, so that the server starts.
const FAULTS: &[Fault] = &[
    Fault { calls: "accept4", inject: "accept4:error=EMFILE:when=3+3", halts: false },
    Fault { calls: "accept4", inject: "accept4:error=ENFILE:when=2..40", halts: false },
    Fault { calls: "accept4", inject: "accept4:error=ECONNABORTED:when=2+2", halts: false },
    Fault { calls: "accept4", inject: "accept4:error=ENOBUFS:when=5+5", halts: false },
    Fault {
        calls: "epoll_wait,epoll_pwait",
        inject: "epoll_wait,epoll_pwait:error=EINTR:when=5+3",
        halts: false,
    },
    Fault { calls: "recvfrom,read", inject: "recvfrom:error=EINTR:when=5+3", halts: false },
    Fault { calls: "sendto", inject: "sendto:error=EINTR:when=5+3", halts: false },
    Fault { calls: "recvfrom", inject: "recvfrom:error=ECONNRESET:when=40+60", halts: false },
    Fault { calls: "sendto", inject: "sendto:error=EPIPE:when=40+60", halts: false },
    Fault { calls: "sendto", inject: "sendto:error=ETIMEDOUT:when=40+60", halts: false },
    Fault {
        calls: "setsockopt,getsockopt,getpeername",
        inject: "setsockopt:error=EINVAL:when=4+2",
        halts: false,
    },
    Fault { calls: "fallocate", inject: "fallocate:error=ENOSPC:when=3..30", halts: true },
    Fault { calls: "pwrite64", inject: "pwrite64:error=ENOSPC:when=13..20", halts: true },
    Fault { calls: "fdatasync", inject: "fdatasync:error=EIO:when=3..8", halts: true },
    Fault { calls: "fsync", inject: "fsync:error=EIO:when=3..6", halts: true },
    Fault { calls: "openat", inject: "openat:error=EMFILE:when=40..60", halts: true },
    Fault { calls: "rename", inject: "rename:error=ENOSPC:when=2..5", halts: true },
    Fault { calls: "mmap", inject: "mmap:error=ENOMEM:when=50..70", halts: true },
    Fault { calls: "write", inject: "write:error=EPIPE:when=20+3", halts: false },
];

/// Attacks of every kind, briefly. What they are answered does not matter.
fn press(address: &str, round: u32) {
    let mut steps: Vec<Vec<u8>> = vec![
        b"8=FIX.4.4|9=60000|".repeat(50),
        vec![0; 3000],
        message::whole("FIX.4.4", "35=A|49=EVIL|56=VENUE|34=1|108=-1"),
    ];
    let mut evil = Peer::connect(address, "EVIL");
    steps.push(evil.message("35=A|98=0|108=30|141=Y"));
    for bytes in steps {
        let mut peer = Peer::connect(address, "EVIL");
        let _ = peer.stream.write_all(&bytes[..bytes.len() / 2]);
        peer.reset();
        let mut peer = Peer::connect(address, "EVIL");
        let _ = peer.stream.write_all(&bytes);
        peer.drain();
    }
    let mut evil = Peer::connect(address, "EVIL");
    let _ = evil.send("35=A|98=0|108=30|141=Y");
    let _ = evil.stream.set_read_timeout(Some(Duration::from_secs(2)));
    if matches!(evil.receive(), Ok(Some(answer)) if answer.kind() == "A") {
        for at in 0..20 {
            let _ = evil.send("35=1|112=again");
            let _ = evil.order(&format!("e{at}"), &"x".repeat(3000));
            let _ = evil.send("35=2|7=1|16=0");
            evil.drain();
        }
    }
    let mut named = Peer::connect(address, &format!("NAME{round}"));
    let _ = named.send("35=A|98=0|108=30");
    let _ = named.stream.set_read_timeout(Some(Duration::from_millis(300)));
    let _ = named.receive();
}

/// The session GOOD, which logs on again whenever its connection ends.
struct Good<'s> {
    server: &'s Server,
    peer: Option<Peer>,
    /// The MsgSeqNum of its next message.
    next: u64,
    answered: BTreeSet<String>,
    orders: u32,
}

impl Good<'_> {
    /// Logs on if it is not logged on. Returns nothing if that fails now.
    fn logged_on(&mut self) -> Option<&mut Peer> {
        if self.peer.is_none() {
            let mut peer = Peer::connect(&self.server.address, "GOOD");
            peer.next = self.next;
            let _ = peer.stream.set_read_timeout(Some(Duration::from_secs(2)));
            let sent = peer.send("35=A|98=0|108=30");
            let mut answer = sent.ok().and_then(|()| peer.receive().ok().flatten());
            // What was lost on the way is requested, or what is expected is named.
            if let Some(logout) = answer.as_ref().filter(|answer| answer.kind() == "5") {
                let expected = logout.get("58").unwrap_or_default();
                let numbers: Vec<u64> = expected
                    .split(|c: char| !c.is_ascii_digit())
                    .filter_map(|word| word.parse().ok())
                    .collect();
                if let Some(expected) = numbers.into_iter().max() {
                    self.next = self.next.max(expected);
                }
                answer = None;
            }
            answer.filter(|answer| answer.kind() == "A")?;
            self.next = peer.next;
            self.peer = Some(peer);
        }
        self.peer.as_mut()
    }

    /// Sends an order; a failure ends the connection.
    fn order(&mut self) -> bool {
        self.orders += 1;
        let id = format!("good{}", self.orders);
        let Some(peer) = self.logged_on() else { return false };
        let sent = peer.order(&id, &"x".repeat(60_000));
        let mut is_answered = false;
        if sent.is_ok() {
            let until = Instant::now() + Duration::from_secs(2);
            while Instant::now() < until {
                match peer.receive() {
                    Ok(Some(message)) if message.kind() == "2" => {
                        fill(peer, &message);
                        let again = peer.order(&id, "again");
                        if again.is_err() {
                            break;
                        }
                    }
                    Ok(Some(message)) if message.kind() == "8" && message.get("11").as_ref() == Some(&id) => {
                        is_answered = true;
                        break;
                    }
                    Ok(Some(message)) if message.kind() != "5" => {}
                    _ => break,
                }
            }
        }
        self.next = peer.next;
        if is_answered {
            self.answered.insert(id);
        } else {
            self.peer = None;
        }
        is_answered
    }

    /// Returns the ids of all reports that are sent again. The calls go on failing, so that a
    /// connection may end before all have come.
    fn sent_again(&mut self) -> BTreeSet<String> {
        (0..10).find_map(|_| self.sent_again_at_once()).expect("one of ten connections lasts")
    }

    /// Returns the ids of all reports that are sent again over one connection; `None` if it ends.
    fn sent_again_at_once(&mut self) -> Option<BTreeSet<String>> {
        let mut ids = BTreeSet::new();
        let peer = self.logged_on()?;
        let _ = peer.stream.set_read_timeout(Some(Duration::from_secs(20)));
        let asked = peer.send("35=2|7=1|16=0").and_then(|()| peer.send("35=1|112=the-end"));
        while asked.is_ok()
            && let Ok(Some(message)) = peer.receive()
        {
            if message.kind() == "2" {
                fill(peer, &message);
            } else if message.kind() == "8" {
                ids.extend(message.get("11"));
            } else if message.get("112").as_deref() == Some("the-end") {
                return Some(ids);
            }
        }
        (self.next, self.peer) = (peer.next, None);
        None
    }
}

/// Answers a ResendRequest: every message of ours that the server misses may be skipped.
fn fill(peer: &mut Peer, request: &Message) {
    let from = request.get("7").and_then(|from| from.parse().ok()).unwrap_or(1);
    let next = std::mem::replace(&mut peer.next, from);
    let _ = peer.send(&format!("35=4|43=Y|122={}|123=Y|36={next}", message::time(0)));
    peer.next = next;
}

#[test]
#[ignore = "takes minutes, and needs strace"]
fn every_attack_is_survived_while_the_system_refuses_its_calls() {
    println!(
        "\n| fault | times | orders answered | orders not answered at once | halts |\n|---|---|---|---|---|"
    );
    for fault in FAULTS.iter().filter(|fault| is_chosen(fault.inject)) {
        let setup = Setup::with_sessions(OPEN);
        let (calls, inject) = (format!("trace={}", fault.calls), format!("inject={}", fault.inject));
        let log = setup.journal().with_file_name("calls");
        let log = log.to_str().expect("the path is text");
        let server = setup.under(&["strace", "-f", "-qq", "-o", log, "-e", &calls, "-e", &inject]).start();
        let mut good = Good { server: &server, peer: None, next: 1, answered: BTreeSet::new(), orders: 0 };
        let mut failures = 0;
        for round in 0..25 {
            press(&server.address, round);
            for _ in 0..10 {
                if !good.order() {
                    failures += 1;
                    // A halted session is opened again after a second.
                    std::thread::sleep(Duration::from_millis(20));
                }
            }
        }
        assert!(server.process.is_running(), "{}: {:?}", fault.inject, server.lines.first(40));
        // The fault may still be there for some calls.
        wait_for(&format!("{}: an order is answered", fault.inject), 90, || good.order().then_some(()));
        let halts = server.lines.with(&["halted", "GOOD"]).len();
        assert!(fault.halts || halts == 0, "{}: {:?}", fault.inject, server.lines.with(&["halted"]));
        let answered = good.answered.clone();
        let again = good.sent_again();
        let lost: Vec<_> = answered.difference(&again).collect();
        assert!(lost.is_empty(), "{}: {lost:?} of {}", fault.inject, answered.len());
        let injected = std::fs::read_to_string(log).unwrap_or_default().matches("(INJECTED)").count();
        println!("| {} | {injected} | {} | {failures} | {halts} |", fault.inject, answered.len());
        assert!(injected > 0, "{}: never happened", fault.inject);
        drop(good);
        let (_, setup) = server.stop();
        let verified = Command::new(env!("CARGO_BIN_EXE_fixbolt"))
            .args(["journal", "verify"])
            .arg(setup.journal())
            .stdin(Stdio::null())
            .output()
            .expect("the command runs");
        assert!(verified.status.success(), "{}: {}", fault.inject, String::from_utf8_lossy(&verified.stdout));
    }
}
