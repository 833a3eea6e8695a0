//! Two sides that are connected to each other, and the steps that every pairing has to pass. Each
//! step returns its counts, or why it failed.

use crate::side::{Engine, Event, Numbers, Plan, Role, Side};
use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// An initiator and an acceptor on one port of this machine.
pub(crate) struct Pairing {
    pub(crate) initiator: Side,
    pub(crate) acceptor: Side,
}

/// Which engines are connected, and how they are set.
#[derive(Clone, Debug)]
pub(crate) struct Setup {
    pub(crate) initiator: Engine,
    pub(crate) acceptor: Engine,
    pub(crate) version: &'static str,
    /// For QuickFIX C++.
    pub(crate) dictionary: Option<PathBuf>,
    /// For Fixbolt: the point at which it kills itself, and on which visit.
    pub(crate) kill_at: Option<(&'static str, u32)>,
    /// Fixbolt's settings.
    pub(crate) ours: &'static [&'static str],
    /// The peer's settings.
    pub(crate) theirs: &'static [&'static str],
}

/// The result of a step: its counts, or why it failed.
pub(crate) type Outcome = Result<String, String>;

/// One named step.
#[derive(Clone, Copy)]
pub(crate) struct Step {
    pub(crate) name: &'static str,
    pub(crate) run: fn(&mut Pairing) -> Outcome,
}

/// The steps of every pairing, in order; each builds on the one before.
pub(crate) const STEPS: &[Step] = &[
    Step { name: "logon", run: logon },
    Step { name: "orders with reports", run: orders },
    Step { name: "idle heartbeats", run: heartbeats },
    Step { name: "TestRequest each way", run: test_requests },
    Step { name: "gap of the initiator healed by resend", run: gap_of_initiator },
    Step { name: "gap of the acceptor healed by resend", run: gap_of_acceptor },
    Step { name: "logout", run: logout },
    Step { name: "logon with continued numbers", run: logon_continued },
    Step { name: "restart of both, numbers continued", run: restart_continued },
    Step { name: "logon with ResetSeqNumFlag=Y", run: logon_reset },
];

/// A step of FIX.4.4, for a peer that has its dictionary.
pub(crate) const GROUP_STEP: Step =
    Step { name: "order with a repeating group and its report", run: group_order };

impl Setup {
    /// Two engines without particular settings.
    pub(crate) fn new(initiator: Engine, acceptor: Engine, version: &'static str) -> Setup {
        Setup { initiator, acceptor, version, dictionary: None, kill_at: None, ours: &[], theirs: &[] }
    }
}

impl Pairing {
    /// Starts the acceptor, then the initiator, each with its own folder under `folder`.
    pub(crate) fn start(setup: &Setup, folder: &Path) -> Result<Pairing, String> {
        let port = free_port()?;
        let plan = |engine: Engine, role: Role| Plan {
            engine,
            role,
            version: setup.version,
            port,
            folder: folder.join(role.name()),
            dictionary: setup.dictionary.clone().filter(|_| engine == Engine::QuickFixCpp),
            settings: if engine == Engine::Fixbolt { setup.ours } else { setup.theirs },
            kill_at: setup.kill_at.filter(|_| engine == Engine::Fixbolt),
        };
        Ok(Pairing {
            acceptor: Side::start(plan(setup.acceptor, Role::Acceptor))?,
            initiator: Side::start(plan(setup.initiator, Role::Initiator))?,
        })
    }

    /// Returns the sequence numbers of both sides. Waits until they agree, because a heartbeat may
    /// be in flight.
    pub(crate) fn agreed_numbers(&mut self) -> Result<(Numbers, Numbers), String> {
        let mut seen = None;
        for _ in 0..100 {
            let (i, a) = (self.initiator.numbers()?, self.acceptor.numbers()?);
            if i.next_out == a.next_in && i.next_in == a.next_out {
                return Ok((i, a));
            }
            seen = Some((i, a));
            std::thread::sleep(Duration::from_millis(100));
        }
        Err(format!("sequence numbers do not agree: {seen:?}"))
    }

    /// Waits until both sides have printed event `name` after their marks.
    pub(crate) fn both(&mut self, marks: (usize, usize), name: &str) -> Result<(), String> {
        self.initiator.wait(marks.0, name, |e| e.is(name))?;
        self.acceptor.wait(marks.1, name, |e| e.is(name))?;
        Ok(())
    }

    /// Waits until both are logged on, with Logons that have these sequence numbers.
    pub(crate) fn logged_on(
        &mut self,
        marks: (usize, usize),
        at: Numbers,
        reset: bool,
    ) -> Result<(), String> {
        self.both(marks, "logon")?;
        for (side, mark, seq) in
            [(&self.initiator, marks.0, at.next_in), (&self.acceptor, marks.1, at.next_out)]
        {
            let logon = side.wait(mark, "the Logon", |e| e.is_message("in", "A"))?;
            if logon.number("seq") != seq || logon.holds("141=Y") != reset {
                return Err(format!("{} expected Logon {seq}, got {}", side.name(), logon.text("raw")));
            }
        }
        Ok(())
    }

    /// Stops both, the initiator first.
    pub(crate) fn stop(mut self) -> Result<(), String> {
        self.initiator.stop()?;
        self.acceptor.stop()
    }

    /// Returns the role of the side that is not Fixbolt, or the acceptor if neither is.
    pub(crate) fn peer_role(&self) -> Role {
        if self.acceptor.plan.engine == Engine::Fixbolt { Role::Initiator } else { Role::Acceptor }
    }

    /// Returns the side that is not Fixbolt, or the acceptor if neither is.
    pub(crate) fn peer(&mut self) -> &mut Side {
        let role = self.peer_role();
        self.side(role)
    }

    /// Returns the side that is Fixbolt, or the initiator if neither is.
    pub(crate) fn ours(&mut self) -> &mut Side {
        let role = self.peer_role().other();
        self.side(role)
    }

    pub(crate) fn side(&mut self, role: Role) -> &mut Side {
        match role {
            Role::Initiator => &mut self.initiator,
            Role::Acceptor => &mut self.acceptor,
        }
    }

    pub(crate) fn marks(&self) -> (usize, usize) {
        (self.initiator.mark(), self.acceptor.mark())
    }

    /// Sends `count` orders PREFIX-1, PREFIX-2, ... from the initiator; each must be delivered once
    /// and reported once.
    pub(crate) fn order_flow(&mut self, count: usize, prefix: &str) -> Result<(), String> {
        let marks = self.marks();
        self.initiator.tell(&format!("orders {count} {prefix}"))?;
        self.acceptor.wait_for(marks.1, count, "each order", |e| e.is_delivered("D"))?;
        self.initiator.wait_for(marks.0, count, "a report for each order", |e| e.is_delivered("8"))?;
        let head = format!("{prefix}-");
        for (side, mark, msg_type) in [(&self.acceptor, marks.1, "D"), (&self.initiator, marks.0, "8")] {
            let mut ids = side.cl_ord_ids(mark, msg_type);
            let all = ids.len();
            ids.sort();
            ids.dedup();
            if all != count || ids.len() != count || !ids.iter().all(|id| id.starts_with(&head)) {
                return Err(format!(
                    "{}: {all} messages of type {msg_type}, {} distinct",
                    side.name(),
                    ids.len()
                ));
            }
        }
        Ok(())
    }
}

/// The sequence numbers of a new session.
pub(crate) const FRESH: Numbers = Numbers { next_out: 1, next_in: 1 };

pub(crate) fn logon(pair: &mut Pairing) -> Outcome {
    pair.logged_on((0, 0), FRESH, false)?;
    let (i, _) = pair.agreed_numbers()?;
    Ok(format!("from 1/1 to {}/{}", i.next_out, i.next_in))
}

fn orders(pair: &mut Pairing) -> Outcome {
    // The peers other than QuickFIX C++ check each message against their dictionaries.
    let count = if pair.peer().plan.engine == Engine::QuickFixCpp { 10_000 } else { 5_000 };
    pair.order_flow(count, "RUN")?;
    let (i, _) = pair.agreed_numbers()?;
    Ok(format!("{count} orders, {count} reports, numbers {}/{}", i.next_out, i.next_in))
}

fn heartbeats(pair: &mut Pairing) -> Outcome {
    let marks = pair.marks();
    pair.initiator.wait_for(marks.0, 3, "heartbeats in", |e| e.is_message("in", "0"))?;
    pair.acceptor.wait_for(marks.1, 3, "heartbeats in", |e| e.is_message("in", "0"))?;
    pair.agreed_numbers()?;
    Ok("3 each way".into())
}

/// A peer sends a TestRequest on command. Fixbolt sends one when it has received nothing for a
/// while, so its counterparty is suspended until it does.
fn test_requests(pair: &mut Pairing) -> Outcome {
    for asks in [Role::Initiator, Role::Acceptor] {
        let mark = pair.side(asks).mark();
        if pair.side(asks).plan.engine != Engine::Fixbolt {
            pair.side(asks).tell("testrequest WHO-IS-THERE")?;
        } else {
            pair.side(asks.other()).freeze(true)?;
        }
        let asked = pair.side(asks).wait(mark, "a TestRequest", |e| e.is_message("out", "1"));
        pair.side(asks.other()).freeze(false)?;
        let id = asked?.field(112).map(|id| format!("112={id}")).ok_or("a TestRequest without TestReqID")?;
        let answers = |e: &Event| e.is_message("in", "0") && e.holds(&id);
        pair.side(asks).wait(mark, "the Heartbeat that answers a TestRequest", answers)?;
    }
    pair.agreed_numbers()?;
    Ok("1 each way answered".into())
}

fn gap_of_initiator(pair: &mut Pairing) -> Outcome {
    gap(pair, Role::Initiator)
}

fn gap_of_acceptor(pair: &mut Pairing) -> Outcome {
    gap(pair, Role::Acceptor)
}

/// Makes messages of `sender` missing at the other side, which has to request them. Only a peer
/// can be told to do this: as the receiver it forgets messages, and as the sender it numbers and
/// stores orders that it does not send. If neither side is Fixbolt, both ways are used.
fn gap(pair: &mut Pairing, sender: Role) -> Outcome {
    let tag = if sender == Role::Initiator { "I" } else { "A" };
    // The last messages of both sides are then new application messages.
    pair.order_flow(LOST, &format!("BEFORE-{tag}"))?;
    pair.agreed_numbers()?;
    let mut done = Vec::new();
    if pair.side(sender.other()).plan.engine != Engine::Fixbolt {
        let receiver = pair.side(sender.other());
        // An order that arrives a second time must not be answered a second time.
        receiver.tell("report off")?;
        receiver.tell(&format!("gap-in {LOST}"))?;
        // One may be a heartbeat that arrived meanwhile, and one the gap fill that covers it.
        done.push(format!("{LOST} forgotten: {}", heal(pair, sender, LOST - 2)?.1));
        pair.side(sender.other()).tell("report on")?;
    }
    if pair.side(sender).plan.engine != Engine::Fixbolt {
        pair.side(sender).tell(&format!("lost-orders {LOST} LOST-{tag}"))?;
        done.push(format!("{LOST} never sent: {}", heal(pair, sender, LOST)?.1));
    }
    pair.order_flow(1, &format!("AFTER-{tag}"))?;
    Ok(done.join("; "))
}

const LOST: usize = 5;

/// Waits until the gap is filled. The sender's next message, at the latest a heartbeat, reveals it.
/// Returns the number of ResendRequests, and the counts in words.
pub(crate) fn heal(pair: &mut Pairing, sender: Role, at_least: usize) -> Result<(usize, String), String> {
    let (sender_mark, receiver_mark) = (pair.side(sender).mark(), pair.side(sender.other()).mark());
    pair.side(sender).wait(sender_mark, "a ResendRequest", |e| e.is_message("in", "2"))?;
    let resent = |e: &Event| e.is("delivered") && e.flag("poss_dup");
    let receiver = pair.side(sender.other());
    receiver.wait_for(receiver_mark, at_least, "application messages with PossDupFlag", resent)?;
    pair.agreed_numbers()?;
    let receiver = pair.side(sender.other());
    let asked = receiver.count(receiver_mark, |e| e.is_message("out", "2"));
    let counts = format!("{asked} ResendRequest, {} messages resent", receiver.count(receiver_mark, resent));
    Ok((asked, counts))
}

pub(crate) fn logout(pair: &mut Pairing) -> Outcome {
    let marks = pair.marks();
    pair.initiator.tell("logout")?;
    pair.both(marks, "logout")?;
    pair.initiator.wait(marks.0, "the Logout that answers", |e| e.is_message("in", "5"))?;
    // Told to log on at once, QuickFIX C++ sends the Logon to the connection that it is closing.
    std::thread::sleep(Duration::from_millis(300));
    let (i, _) = pair.agreed_numbers()?;
    Ok(format!("numbers {}/{}", i.next_out, i.next_in))
}

fn logon_continued(pair: &mut Pairing) -> Outcome {
    let (before, _) = pair.agreed_numbers()?;
    let marks = pair.marks();
    pair.initiator.tell("logon")?;
    pair.logged_on(marks, before, false)?;
    pair.order_flow(10, "AGAIN")?;
    let (i, _) = pair.agreed_numbers()?;
    Ok(format!("from {}/{}, 10 orders, to {}/{}", before.next_out, before.next_in, i.next_out, i.next_in))
}

fn restart_continued(pair: &mut Pairing) -> Outcome {
    logout(pair)?;
    let (before, _) = pair.agreed_numbers()?;
    for side in [&mut pair.acceptor, &mut pair.initiator] {
        let plan = side.plan.clone();
        side.stop()?;
        *side = Side::start(plan)?;
    }
    pair.logged_on((0, 0), before, false)?;
    pair.order_flow(10, "RESTARTED")?;
    let (i, _) = pair.agreed_numbers()?;
    Ok(format!("from {}/{}, 10 orders, to {}/{}", before.next_out, before.next_in, i.next_out, i.next_in))
}

fn logon_reset(pair: &mut Pairing) -> Outcome {
    logout(pair)?;
    let marks = pair.marks();
    pair.initiator.tell("reset-logon")?;
    pair.logged_on(marks, FRESH, true)?;
    pair.order_flow(10, "RESET")?;
    let (i, _) = pair.agreed_numbers()?;
    Ok(format!("from 1/1, 10 orders, to {}/{}", i.next_out, i.next_in))
}

fn group_order(pair: &mut Pairing) -> Outcome {
    const PARTIES: &str = "DEUTDEFF/D/1,TRADER7/D/11";
    pair.both((0, 0), "logon")?;
    pair.initiator.tell("group-order GROUP-1")?;
    for (side, msg_type) in [(&pair.acceptor, "D"), (&pair.initiator, "8")] {
        let message = side.wait(0, "the message with parties", |e| e.is_delivered(msg_type))?;
        if message.text("parties") != PARTIES {
            return Err(format!("{} read parties {:?}", side.name(), message.text("parties")));
        }
    }
    pair.agreed_numbers()?;
    Ok(format!("both read {PARTIES}"))
}

/// Returns a port that was free on every address of this machine a moment ago, since QuickFIX C++
/// listens on all of them. It is below those that the system gives to connections, so that none
/// takes it in the meantime.
pub(crate) fn free_port() -> Result<u16, String> {
    const PORTS: u32 = 10_000;
    static NEXT: AtomicU32 = AtomicU32::new(0);
    for _ in 0..PORTS {
        let next = NEXT.fetch_add(1, Ordering::Relaxed);
        let port = 20_000 + (std::process::id().wrapping_mul(97).wrapping_add(next)) % PORTS;
        let port = u16::try_from(port).unwrap_or(u16::MAX);
        if TcpListener::bind((Ipv4Addr::UNSPECIFIED, port)).is_ok() {
            return Ok(port);
        }
    }
    Err("no free port".into())
}
