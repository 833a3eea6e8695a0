//! Everything is sent again: a counterparty that requests all that it was ever sent, beside another
//! session that is measured.

use std::io::{Read, Write};
use std::time::{Duration, Instant};

use crate::latency::{Times, Typical, ratio};
use crate::message;
use crate::peer::Peer;
use crate::process::wait_for;
use crate::server::{Server, Setup};
use crate::share::{HalfACore, burn};

/// How many messages are sent again in the ordinary test, and in the whole one.
const FEW: u64 = 20_000;
const MANY: u64 = 1_000_000;

/// What a message says of itself.
#[derive(Debug, PartialEq, Eq)]
struct Seen {
    kind: Vec<u8>,
    seq: u64,
    is_again: bool,
    /// NewSeqNo (36) of a gap fill.
    new: Option<u64>,
}

impl Seen {
    fn read(message: &[u8]) -> Self {
        let mut seen = Self { kind: Vec::new(), seq: 0, is_again: false, new: None };
        let number = |value: &[u8]| std::str::from_utf8(value).ok().and_then(|digits| digits.parse().ok());
        for field in message.split(|byte| *byte == 1) {
            match field {
                [b'3', b'5', b'=', kind @ ..] if seen.kind.is_empty() => seen.kind = kind.to_vec(),
                [b'3', b'4', b'=', seq @ ..] if seen.seq == 0 => seen.seq = number(seq).unwrap_or(0),
                b"43=Y" => seen.is_again = true,
                [b'3', b'6', b'=', new @ ..] => seen.new = number(new),
                _ => {}
            }
        }
        seen
    }
}

/// A counterparty that reads as much as it is given time for, and keeps nothing.
struct Reader {
    peer: Peer,
    unread: Vec<u8>,
}

impl Reader {
    fn new(peer: Peer) -> Self {
        peer.stream.set_read_timeout(Some(Duration::from_millis(20))).expect("the time is not zero");
        Self { peer, unread: Vec::new() }
    }

    /// Reads what has come, or waits a moment for it, and passes each message on.
    fn read(&mut self, mut each: impl FnMut(Seen)) {
        let mut chunk = [0; 65536];
        let Ok(count) = self.peer.stream.read(&mut chunk) else { return };
        assert!(count > 0, "the connection has ended");
        self.unread.extend_from_slice(&chunk[..count]);
        let mut at = 0;
        while let Some(end) = end_of_message(&self.unread[at..]) {
            each(Seen::read(&self.unread[at..at + end]));
            at += end;
        }
        self.unread.drain(..at);
    }

    /// Has the venue send this number of reports, a few hundred orders ahead of what has come.
    fn trade(&mut self, count: u64) {
        let (mut sent, mut came) = (0, 0);
        let order = format!("35=D|11=e|55=IBM|54=1|60={}|38=1|40=1", message::time(0));
        while came < count {
            if sent < count && sent < came + 512 {
                let bytes: Vec<u8> = (0..64).flat_map(|_| self.peer.message(&order)).collect();
                self.peer.stream.write_all(&bytes).expect("the connection is open");
                sent += 64;
            }
            self.read(|seen| came += u64::from(seen.kind == b"8"));
        }
    }

    fn say(&mut self, fields: &str) {
        self.peer.send(fields).expect("the connection is open");
    }
}

/// Returns the length of the first message, if it is complete. No value in this test contains
/// something like a CheckSum.
fn end_of_message(bytes: &[u8]) -> Option<usize> {
    let trailer = bytes.windows(4).position(|window| window == b"\x0110=")?;
    (bytes.len() >= trailer + 8).then_some(trailer + 8)
}

/// How far a replay has come: what must come next, and what has come besides.
struct Progress {
    next: u64,
    others: Vec<Seen>,
}

impl Progress {
    const BEGIN: Self = Self { next: 1, others: Vec::new() };

    /// Takes a message, which is the next one of the replay or none of it.
    fn take(&mut self, seen: Seen) {
        if !seen.is_again {
            return self.others.push(seen);
        }
        assert_eq!(seen.seq, self.next, "{seen:?}");
        self.next = seen.new.unwrap_or(self.next + 1);
    }
}

/// Returns a server, its two counterparties, and the number after that of the last report.
fn served(count: u64) -> (Server, Peer, Reader, u64) {
    let server = Setup::new().default("ReplayInterleave=heartbeats").start();
    let good = server.good();
    let mut evil = Reader::new(Peer::logged_on(&server.address, "EVIL"));
    let count = count.next_multiple_of(64);
    evil.trade(count);
    (server, good, evil, count + 2)
}

#[test]
fn everything_is_sent_again_while_all_else_goes_on_and_ends_with_the_connection() {
    let (server, mut good, mut evil, end) = served(FEW);
    let memory = server.process.private_memory();
    evil.say("35=2|7=1|16=0");
    let mut replay = Progress::BEGIN;
    while replay.next < end / 4 {
        evil.read(|seen| replay.take(seen));
    }
    // Its TestRequest is answered before the replay has ended, its order is processed and the
    // report follows, and the other session is served.
    evil.say("35=1|112=during");
    evil.say(&format!("35=D|11=during|55=IBM|54=1|60={}|38=1|40=1", message::time(0)));
    let mut heartbeat_at = None;
    while replay.next < end || replay.others.len() < 2 {
        evil.read(|seen| replay.take(seen));
        if !replay.others.is_empty() && heartbeat_at.is_none() {
            heartbeat_at = Some(replay.next);
            good.round_trip("during");
        }
    }
    let kinds: Vec<_> = replay.others.iter().map(|seen| (seen.kind.as_slice(), seen.seq)).collect();
    assert_eq!(kinds, [(&b"0"[..], end), (b"8", end + 1)]);
    assert!(heartbeat_at.is_some_and(|at| at < end), "{heartbeat_at:?} of {end}");
    assert!(server.process.private_memory() < memory + (8 << 20));

    // A connection that ends takes its replay with it: the next one gets what it requests.
    evil.say("35=2|7=1|16=0");
    let mut replay = Progress::BEGIN;
    while replay.next < end / 4 {
        evil.read(|seen| replay.take(seen));
    }
    let next = evil.peer.next;
    evil.peer.reset();
    let mut again = wait_for("the session can log on again", 20, || {
        let mut peer = Peer::connect(&server.address, "EVIL");
        peer.next = next;
        let answer = peer.log_on("98=0|108=30");
        answer.filter(|answer| answer.kind() == "A").map(|_| Reader::new(peer))
    });
    again.say(&format!("35=2|7={}|16={}", end - 10, end - 1));
    let mut replay = Progress { next: end - 10, others: Vec::new() };
    while replay.next < end {
        again.read(|seen| replay.take(seen));
    }
    again.say("35=1|112=after");
    while replay.others.is_empty() {
        again.read(|seen| replay.take(seen));
    }
    assert_eq!((replay.next, replay.others[0].kind.as_slice()), (end, &b"0"[..]));
    good.round_trip("after");
}

#[test]
#[ignore = "takes minutes, and needs a release build on a machine that does little else"]
fn a_million_messages_are_sent_again_beside_another_session() {
    // What else the machine does for a while only adds to a measurement.
    const TRIES: usize = 3;
    let (server, good, evil, end) = served(MANY);
    let memory = server.process.private_memory();
    let mut replayed = Replayed { server, good, evil, end, progress: Progress::BEGIN, memory, most: memory };
    Times::measure(&mut replayed.good, Instant::now() + Duration::from_millis(300));
    replayed.evil.say("35=2|7=1|16=0");
    println!(
        "\n| replay | messages a second | memory before / most, MiB | p50 / p99 beside a burner, us \
         | p50 / p99 during the replay, us | ratio of p99 |\n|---|---|---|---|---|---|"
    );
    let mut ratios = Vec::new();
    while ratios.len() < TRIES && ratios.iter().all(|ratio| *ratio > 2.0) {
        ratios.push(replayed.measure());
    }
    let most = replayed.most;
    assert!(most < memory + (8 << 20), "from {memory} to {most} bytes");
    assert!(
        ratios.iter().any(|ratio| *ratio <= 2.0),
        "p99 more than twice that beside a burner: {ratios:.1?}"
    );
}

/// A venue that sends everything again to one counterparty while another one's round trips are
/// measured.
struct Replayed {
    server: Server,
    good: Peer,
    evil: Reader,
    /// The number after that of the last message.
    end: u64,
    progress: Progress,
    /// The venue's memory before, and the most that it had, in bytes.
    memory: u64,
    most: u64,
}

impl Replayed {
    /// Measures over one replay at least, and prints what was found as a row. Returns how much
    /// longer round trips take than beside a program that only computes, by the p99.
    fn measure(&mut self) -> f64 {
        const SLICE: Duration = Duration::from_millis(1500);
        let Self { server, good, evil, end, progress, .. } = self;
        let (mut beside_burner, mut beside_replay) = (Vec::new(), Vec::new());
        let (mut replays, mut reading, began) = (0, Duration::ZERO, progress.next);
        while replays < 1 || beside_replay.len() < 7 {
            beside_burner.push(Times::beside(good, SLICE, burn));
            beside_replay.push(Times::beside(good, SLICE, |until| {
                let share = HalfACore::begin();
                while Instant::now() < until {
                    evil.read(|seen| progress.take(seen));
                    if progress.next == *end {
                        (*progress, replays) = (Progress::BEGIN, replays + 1);
                        evil.say("35=2|7=1|16=0");
                    }
                    share.rest();
                }
            }));
            reading += SLICE;
            self.most = self.most.max(server.process.private_memory());
        }
        let (burner, during) = (Typical::of(&beside_burner), Typical::of(&beside_replay));
        let ratio = ratio(&beside_burner, &beside_replay);
        let mib = |bytes: u64| bytes as f64 / f64::from(1 << 20);
        println!(
            "| {} messages, requested by a counterparty with half a core | {:.0} | {:.1} / {:.1} | {} / {} | {} / {} | {ratio:.1} |",
            *end - 1,
            (replays * *end + progress.next - began) as f64 / reading.as_secs_f64(),
            mib(self.memory),
            mib(self.most),
            burner.p50.as_micros(),
            burner.p99.as_micros(),
            during.p50.as_micros(),
            during.p99.as_micros(),
        );
        ratio
    }
}
