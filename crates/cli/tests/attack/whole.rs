//! The whole attacks, with what they cost: memory, descriptors, disk, and the time that another
//! session's orders take. `.ci/long` runs these tests in a release build and copies their table.
//!
//! `FIXBOLT_ATTACK` chooses those whose names contain it.
//!
//! The attacker has half a core. What its own work costs a machine with two cores is not the
//! server's fault, so the latency during an attack is compared with that beside a plain burner of
//! half a core.

use std::io::{ErrorKind, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use crate::latency::{Times, Typical, ratio};
use crate::message;
use crate::names::{OPEN, visit};
use crate::peer::{Peer, connect_from};
use crate::server::Setup;
use crate::share::{HalfACore, burn};
use crate::tls::hello;

/// One kind of attack: a step that is repeated.
struct Attack {
    name: &'static str,
    setup: fn() -> Setup,
    /// The most that the journals may grow, in MiB.
    disk: u64,
    step: fn(&mut Attacker),
}

/// The state of an attack.
struct Attacker {
    address: String,
    peer: Option<Peer>,
    held: Vec<TcpStream>,
    steps: u64,
}

impl Attacker {
    /// Makes one of so many connections a second, and sends these bytes.
    fn begin(&mut self, rate: u32, bytes: &[u8]) {
        let began = Instant::now();
        let stream = connect_from([127, 0, 1, 1], &self.address);
        self.held.extend(stream.and_then(|mut stream| stream.write_all(bytes).map(|()| stream)));
        if self.held.len() > 300 {
            self.held.remove(0);
        }
        std::thread::sleep((Duration::from_secs(1) / rate).saturating_sub(began.elapsed()));
    }

    /// Logs on again if the connection has ended, and sends; reads what has come.
    fn press(&mut self, next: impl FnOnce(&mut Peer) -> Vec<u8>) {
        let mut peer = match self.peer.take() {
            Some(peer) => peer,
            None => {
                let mut peer = Peer::connect(&self.address, "EVIL");
                if peer.log_on("98=0|108=30|141=Y").is_none_or(|answer| answer.kind() != "A") {
                    return;
                }
                peer
            }
        };
        let bytes = next(&mut peer);
        let sent = peer.stream.write_all(&bytes);
        if sent.is_ok() && peer.drain() {
            self.peer = Some(peer);
        }
    }
}

/// In place of a limit for what the session is for: limits on orders are the application's, so
/// their cost is shown and not judged.
const ORDERS: u64 = u64::MAX >> 20;

/// Journals are created and closed by a thread of its own. On two cores it takes turns with the
/// worker, and the file system decides for how long: the p99 is shown, not judged. Each name has
/// its journal and its lines in the log.
const NEW_NAMES: &str = "Logons under one new name after the other";

const ATTACKS: &[Attack] = &[
    Attack {
        name: "garbled pieces of 17 bytes",
        setup: Setup::new,
        disk: 256,
        step: |attacker| attacker.press(|_| b"8=FIX.4.4|9=60000|".repeat(2000)),
    },
    Attack {
        name: "messages that are cut into single bytes",
        setup: Setup::new,
        disk: 256,
        step: |attacker| {
            attacker.press(|peer| {
                let message = peer.message("35=0");
                for byte in &message[..message.len() - 1] {
                    if peer.stream.write_all(&[*byte]).is_err() {
                        break;
                    }
                }
                message[message.len() - 1..].to_vec()
            });
        },
    },
    Attack {
        name: "orders as fast as they are read",
        setup: Setup::new,
        disk: ORDERS,
        step: |attacker| {
            attacker.press(|peer| {
                let order = format!("35=D|11=e|55=IBM|54=1|60={}|38=1|40=1", message::time(0));
                (0..64).flat_map(|_| peer.message(&order)).collect()
            });
        },
    },
    Attack {
        name: "TestRequests as fast as they are read",
        setup: Setup::new,
        disk: 256,
        step: |attacker| {
            attacker.press(|peer| (0..64).flat_map(|_| peer.message("35=1|112=again")).collect());
        },
    },
    Attack {
        name: "TestRequests of 60 KB",
        setup: Setup::new,
        disk: 256,
        step: |attacker| {
            attacker.press(|peer| peer.message(&format!("35=1|112={}", "x".repeat(60_000))));
        },
    },
    Attack {
        name: "ResendRequests for everything",
        setup: Setup::new,
        disk: 256,
        step: |attacker| {
            attacker.press(|peer| {
                if peer.next < 300 {
                    let order = format!("35=D|11=e|55=IBM|54=1|60={}|38=1|40=1", message::time(0));
                    (0..20).flat_map(|_| peer.message(&order)).collect()
                } else {
                    peer.message("35=2|7=1|16=0")
                }
            });
        },
    },
    Attack {
        name: "SequenceResets, Heartbeats and Rejects",
        setup: Setup::new,
        disk: 256,
        step: |attacker| {
            attacker.press(|peer| {
                let mut bytes = Vec::new();
                for _ in 0..20 {
                    let next = peer.next + 1;
                    bytes.extend(peer.message(&format!("35=4|123=Y|36={next}")));
                    bytes.extend(peer.message("35=0"));
                    bytes.extend(peer.message("35=3|45=1|58=no"));
                }
                bytes
            });
        },
    },
    Attack {
        name: "replies that are never read",
        setup: || Setup::new().default("SendTimeout=2"),
        disk: 1024,
        step: |attacker| {
            let mut peer = match attacker.peer.take() {
                Some(peer) => peer,
                None => {
                    let mut peer = Peer::connect(&attacker.address, "EVIL");
                    if peer.log_on("98=0|108=30|141=Y").is_none_or(|answer| answer.kind() != "A") {
                        return;
                    }
                    let _ = peer.stream.set_write_timeout(Some(Duration::from_millis(20)));
                    peer
                }
            };
            let sent = peer.order("never-read", &"x".repeat(4000));
            // A write that did not end in time leaves a part of a message behind: it is as good.
            if sent.is_ok() || sent.is_err_and(|error| error.kind() == ErrorKind::WouldBlock) {
                attacker.peer = Some(peer);
            }
        },
    },
    Attack {
        name: "Logons with a reset, and Logouts",
        setup: Setup::new,
        disk: 256,
        step: |attacker| {
            attacker.press(|peer| peer.message("35=5"));
            attacker.peer = None;
        },
    },
    Attack {
        name: "Logons that are refused",
        setup: Setup::new,
        disk: 256,
        step: |attacker| {
            let mut peer = Peer::connect(&attacker.address, "EVIL");
            peer.log_on("98=0|108=-5");
            visit_as(&attacker.address, &format!("NOBODY{}", attacker.steps));
        },
    },
    Attack {
        name: NEW_NAMES,
        setup: || Setup::with_sessions(OPEN).default("MaxDynamicSessions=64"),
        disk: 256,
        step: |attacker| visit_as(&attacker.address, &format!("NAME{}", attacker.steps)),
    },
    Attack {
        name: "connections that are reset, dropped, or cut off in a Logon",
        setup: Setup::new,
        disk: 256,
        step: |attacker| {
            let mut peer = Peer::connect(&attacker.address, "EVIL");
            let logon = peer.message("35=A|98=0|108=30");
            let part = &logon[..logon.len() / 2];
            match attacker.steps % 3 {
                0 => peer.reset(),
                1 => {
                    let _ = peer.stream.write_all(part);
                    peer.reset();
                }
                _ => {
                    let _ = peer.stream.write_all(part);
                    let _ = peer.stream.shutdown(Shutdown::Write);
                }
            }
        },
    },
    Attack {
        name: "idle connections from 200 addresses, always 400",
        setup: || Setup::new().descriptors(512),
        disk: 256,
        step: |attacker| {
            let host = u8::try_from(attacker.steps % 200).unwrap_or(0) + 1;
            attacker.held.extend(connect_from([127, 0, 1, host], &attacker.address));
            if attacker.held.len() > 400 {
                attacker.held.remove(0);
            }
        },
    },
    Attack {
        name: "a byte a connection at a port with TLS, 700 a second",
        setup: || Setup::with_tls(&["EVIL"]),
        disk: 256,
        step: |attacker| attacker.begin(700, &[22]),
    },
    Attack {
        name: "hellos for a signature with ECDSA (P-256), 700 a second",
        setup: || Setup::with_tls(&["EVIL"]),
        disk: 256,
        step: |attacker| attacker.begin(700, &hello()),
    },
    Attack {
        name: "hellos for a signature with RSA-4096, 100 a second",
        setup: || Setup::with_rsa(&["EVIL"], 4096),
        disk: 256,
        step: |attacker| attacker.begin(100, &hello()),
    },
];

fn visit_as(address: &str, name: &str) {
    Peer::connect(address, name).log_on("98=0|108=30");
}

/// What an attack cost.
struct Cost {
    memory: (u64, u64),
    descriptors: (usize, usize),
    disk: u64,
    lines: u64,
    burner: Typical,
    attack: Typical,
    /// Of the 99th percentiles, over pairs of slices.
    ratio: f64,
    steps: u64,
}

/// The most that an attack may make of another session's 99th percentile.
const MAX_RATIO: f64 = 2.0;
const SLICES: usize = 7;
const SLICE: Duration = Duration::from_millis(1500);

/// Alternates slices beside a burner and beside the attack.
fn suffer(attack: &Attack) -> Cost {
    let server = (attack.setup)().start();
    let mut good = server.good();
    // Both learn the machine: caches, buffers, the journal's first segments.
    Times::measure(&mut good, Instant::now() + Duration::from_millis(300));
    let (memory, disk) = (server.process.memory(), server.disk().bytes);
    let descriptors = server.process.descriptors();
    let most = AtomicUsize::new(descriptors);
    let is_over = AtomicBool::new(false);
    let mut attacker = Attacker { address: server.attacked.clone(), peer: None, held: Vec::new(), steps: 0 };
    let (mut beside_burner, mut beside_attack) = (Vec::new(), Vec::new());
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                most.fetch_max(server.process.descriptors(), Ordering::Relaxed);
                std::thread::sleep(Duration::from_millis(20));
            }
        });
        for _ in 0..SLICES {
            beside_burner.push(Times::beside(&mut good, SLICE, burn));
            beside_attack.push(Times::beside(&mut good, SLICE, |until| {
                let share = HalfACore::begin();
                while Instant::now() < until {
                    (attack.step)(&mut attacker);
                    attacker.steps += 1;
                    share.rest();
                }
            }));
        }
        is_over.store(true, Ordering::Relaxed);
    });
    Cost {
        memory: (memory, server.process.peak()),
        descriptors: (descriptors, most.into_inner()),
        disk: server.disk().bytes.saturating_sub(disk),
        lines: server.lines.count(),
        burner: Typical::of(&beside_burner),
        attack: Typical::of(&beside_attack),
        ratio: ratio(&beside_burner, &beside_attack),
        steps: attacker.steps,
    }
}

fn mib(bytes: u64) -> f64 {
    bytes as f64 / f64::from(1 << 20)
}

/// Whether the environment names this attack, or none.
pub(crate) fn is_chosen(name: &str) -> bool {
    std::env::var("FIXBOLT_ATTACK").map_or(true, |part| name.contains(&part))
}

/// Prints a row of the table.
fn row(name: &str, cost: &Cost) {
    let micros = |time: Duration| time.as_micros();
    println!(
        "| {name} | {} | {:.1} / {:.1} | {} / {} | {:.1} | {} | {} / {} | {} / {} | {:.1} |",
        cost.steps,
        mib(cost.memory.0),
        mib(cost.memory.1),
        cost.descriptors.0,
        cost.descriptors.1,
        mib(cost.disk),
        cost.lines,
        micros(cost.burner.p50),
        micros(cost.burner.p99),
        micros(cost.attack.p50),
        micros(cost.attack.p99),
        cost.ratio,
    );
}

#[test]
#[ignore = "takes minutes, and needs a release build on a machine that does little else"]
fn another_session_is_served_beside_every_attack() {
    println!(
        "\n| attack | steps | memory before / peak, MiB | descriptors before / most | disk, MiB | lines \
         | p50 / p99 beside a burner, us | p50 / p99 during the attack, us \
         | ratio of p99 |"
    );
    println!("|---|---|---|---|---|---|---|---|---|");
    let mut broken = Vec::new();
    for attack in ATTACKS.iter().filter(|attack| is_chosen(attack.name)) {
        let is_shown_only = attack.disk == ORDERS || attack.name == NEW_NAMES;
        let is_slow = |cost: &Cost| cost.ratio > MAX_RATIO && !is_shown_only;
        let mut cost = suffer(attack);
        row(attack.name, &cost);
        // Whatever else the machine does shows, too, but not every time.
        for _ in 0..2 {
            if is_slow(&cost) {
                cost = suffer(attack);
                row(&format!("{}, again", attack.name), &cost);
            }
        }
        let mut judge = |is_kept: bool, what: &str| {
            if !is_kept {
                broken.push(format!("{}: {what}", attack.name));
            }
        };
        judge(cost.steps > 0, "nothing was tried");
        // Of ever new names, 64 sessions are open with an outbox of 1 MiB each, and 64 journals may
        // be on their way to the disk or from there.
        let memory = if attack.name == NEW_NAMES { 192 } else { 96 };
        judge(cost.memory.1 < cost.memory.0 + (memory << 20), "memory");
        // Each of those sessions has a connection and a journal of five files, and so has each
        // journal on its way.
        let descriptors = if attack.name == NEW_NAMES { 16 + 64 * 6 + 64 * 6 } else { 512 };
        judge(cost.descriptors.1 < descriptors, "descriptors");
        let names = if attack.name == NEW_NAMES { cost.steps } else { 0 };
        judge(cost.disk >> 20 < attack.disk + names / 8, "disk");
        judge(cost.lines < 10_000 + 6 * names, "lines");
        judge(!is_slow(&cost), "p99 more than twice that beside a burner, three times");
    }
    assert_eq!(broken, Vec::<String>::new());
}

#[test]
#[ignore = "takes minutes"]
fn a_thousand_names_cost_bounded_memory_and_disk() {
    let server = Setup::with_sessions(OPEN).start();
    let mut good = server.good();
    good.round_trip("before");
    let memory = server.process.memory();
    for name in 0..1000 {
        assert!(visit(&server, &format!("NAME{name}")), "name {name}");
        if name % 100 == 0 {
            good.round_trip(&format!("at{name}"));
        }
    }
    good.round_trip("after");
    let disk = server.disk();
    println!(
        "\n| attack | memory before / peak, MiB | descriptors | disk, MiB |\n|---|---|---|---|\n\
         | 1,000 names | {:.1} / {:.1} | {} | {:.1} |",
        mib(memory),
        mib(server.process.peak()),
        server.process.descriptors(),
        mib(disk.bytes),
    );
    // 256 sessions are open at most, with 1 MiB each for what their counterparties do not read.
    assert!(server.process.peak() < memory + (384 << 20));
    assert!(disk.bytes < 1000 * (256 << 10), "{disk:?}");
    assert!(server.process.descriptors() < 4096);
}
