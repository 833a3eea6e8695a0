//! Kills our side with SIGKILL during a run of orders and restarts it with only its journal.
//! Afterwards the peer must have every message exactly once, apart from PossDup messages, with no
//! sequence number missing and none used twice.

use crate::pairing::{Outcome, Pairing, Setup};
use crate::side::{Engine, Numbers, Role, Side};
use fixbolt_journal::inspect;
use std::path::Path;
use std::time::Duration;

/// A run: the version, and the role of the side that is killed.
pub(crate) struct Run<'r> {
    pub(crate) role: Role,
    pub(crate) peer: Engine,
    pub(crate) version: &'static str,
    /// The folder for the files of both sides.
    pub(crate) folder: &'r Path,
}

/// The prefix of all ClOrdIDs: KILL-1 and so on, continued across restarts.
const PREFIX: &str = "KILL";

/// The points of a turn at which our side can kill itself.
pub(crate) const PHASES: [&str; 5] = ["encode", "append", "commit", "send", "idle"];

impl Run<'_> {
    /// 20,000 orders, `kills` kills from outside; `seed` decides when.
    pub(crate) fn at_random(&self, kills: usize, seed: u64) -> Outcome {
        const ORDERS: usize = 20_000;
        let mut pair = self.start(ORDERS, None)?;
        let mut random = Random(seed | 1);
        let mut soon = 0;
        for kill in 0..kills {
            if random.below(4) == 0 {
                soon += 1; // while starting, logging on or catching up
                std::thread::sleep(Duration::from_millis(random.below(400)));
            } else {
                let span = ORDERS / (kills + 1);
                let goal = kill * span + 1 + random.below(span as u64) as usize;
                let peer = pair.side(self.role.other());
                peer.wait_for(0, goal, "messages before the kill", |e| e.is_delivered(self.sent_type()))?;
                std::thread::sleep(Duration::from_micros(random.below(30_000)));
            }
            pair.side(self.role).kill();
            self.restart(&mut pair, ORDERS)?;
        }
        let counts = self.judge(pair, ORDERS)?;
        Ok(format!("{kills} kills ({soon} soon after a start), seed {seed}: {counts}"))
    }

    /// 2,000 orders; our side kills itself when it reaches `phase` for the n-th time.
    pub(crate) fn at_phase(&self, phase: &'static str, nth: u32) -> Outcome {
        const ORDERS: usize = 2_000;
        let mut pair = self.start(ORDERS, Some((phase, nth)))?;
        pair.side(self.role).gone()?;
        let journal = self.journal()?;
        self.restart(&mut pair, ORDERS)?;
        let counts = self.judge(pair, ORDERS)?;
        Ok(format!("at its {nth}th {phase}; journal then: {journal}; {counts}"))
    }

    fn start(&self, orders: usize, kill_at: Option<(&'static str, u32)>) -> Result<Pairing, String> {
        let (initiator, acceptor) = match self.role {
            Role::Initiator => (Engine::Fixbolt, self.peer),
            Role::Acceptor => (self.peer, Engine::Fixbolt),
        };
        let setup = Setup { kill_at, ..Setup::new(initiator, acceptor, self.version) };
        let mut pair = Pairing::start(&setup, self.folder)?;
        tell_orders(&mut pair.initiator, orders)?;
        Ok(pair)
    }

    fn restart(&self, pair: &mut Pairing, orders: usize) -> Result<(), String> {
        let side = pair.side(self.role);
        let mut plan = side.plan.clone();
        plan.kill_at = None;
        *side = Side::start(plan)?;
        if self.role == Role::Initiator {
            tell_orders(side, orders)?;
        }
        Ok(())
    }

    /// Returns the MsgType that the peer receives from our side: orders from a trader, reports from
    /// a venue.
    fn sent_type(&self) -> &'static str {
        if self.role == Role::Initiator { "D" } else { "8" }
    }

    /// Waits for the end of the run, checks the counts of both sides, and stops both.
    fn judge(&self, mut pair: Pairing, orders: usize) -> Outcome {
        let peer = pair.side(self.role.other());
        peer.wait_for(0, orders, "every message", |e| e.is_delivered(self.sent_type()))?;
        pair.side(self.role).wait(0, "logon", |e| e.is("logon"))?;
        let (numbers, _) = pair.agreed_numbers()?;
        let repeats = judge_peer(pair.side(self.role.other()), self.sent_type(), orders as u64)?;
        let got = if self.role == Role::Initiator { "8" } else { "D" };
        judge_ours(pair.side(self.role), got, orders as u64)?;
        pair.stop()?;
        let journal = self.journal()?;
        let Numbers { next_out, next_in } = numbers;
        Ok(format!(
            "{orders} of {orders} once, {repeats} PossDup repeats, numbers {next_out}/{next_in}; journal: {journal}"
        ))
    }

    /// Returns the contents of our journal, read by the same code as `fixbolt journal verify`.
    fn journal(&self) -> Outcome {
        let folder = self.folder.join(self.role.name()).join("store");
        let reports = inspect::verify(&folder).map_err(|e| e.to_string())?;
        let [report] = &reports[..] else { return Err(format!("{} journals instead of one", reports.len())) };
        if !report.damage.is_empty() {
            return Err(format!("our journal is damaged: {}", report.damage.join(", ")));
        }
        let tail = if report.torn_tail.is_some() { ", torn tail" } else { "" };
        Ok(format!(
            "{} records, next {}/{}, {} bytes{tail}",
            report.records.total(),
            report.next_out,
            report.next_in,
            report.bytes_used
        ))
    }
}

/// Sends orders at 2,000 per second, slowly enough that every kill happens during the run.
fn tell_orders(side: &mut Side, orders: usize) -> Result<(), String> {
    side.tell(&format!("orders {orders} {PREFIX} 2000"))
}

/// Compares the peer's tally of one message type with the expected one. Returns the number of
/// PossDup messages.
fn judge_peer(peer: &mut Side, msg_type: &str, orders: u64) -> Result<u64, String> {
    let mark = peer.mark();
    peer.tell("tally")?;
    let reused = peer.wait(mark, "tally", |e| e.is("tally-numbers"))?.number("reused");
    let tally = peer.wait(mark, "tally", |e| e.is("tally") && e.text("msg_type") == msg_type)?;
    let wrong = ["duplicates_without_possdup", "delivered_again", "undelivered", "missing"];
    let wrong = wrong.iter().filter(|key| tally.number(key) != 0);
    let wrong: Vec<_> = wrong.map(|key| format!("{key} {}", tally.number(key))).collect();
    let distinct = tally.number("distinct");
    if !wrong.is_empty() || distinct != orders || reused != 0 {
        return Err(format!(
            "{distinct} of {orders}, {reused} sequence numbers used twice, {}",
            wrong.join(", ")
        ));
    }
    Ok(tally.number("copies") - orders)
}

/// Checks in our journal that each of the peer's messages was delivered exactly once.
fn judge_ours(side: &mut Side, msg_type: &str, orders: u64) -> Result<(), String> {
    let mark = side.mark();
    side.tell("tally")?;
    let tally = side.wait(mark, "tally", |e| e.is("tally") && e.text("msg_type") == msg_type)?;
    let (distinct, again) = (tally.number("distinct"), tally.number("delivered_again"));
    if distinct != orders || again != 0 {
        return Err(format!("our journal: {distinct} of {orders} delivered, {again} of them more than once"));
    }
    Ok(())
}

/// Xorshift: good enough to choose the moments of the kills.
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 16) % end
    }
}
