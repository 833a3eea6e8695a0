//! Two processes, one connection at a time, and everything that can happen to them.
//!
//! The clock stands still except in [`Plain::Wait`]. Whatever a side may write is in flight at
//! once: that it waits in the process instead makes no difference to the counterparty.

use std::collections::VecDeque;
use std::time::Duration;

use fixbolt_codec::SeqNum;
use fixbolt_session::runtime::mono;
use fixbolt_session::{Now, Phase, Read, Socket, Utc};

use crate::bytes;
use crate::event::{Event, Plain, name};
use crate::invariants;
use crate::setup::{Budget, Defect, SIDES, Setup};
use crate::side::{KEY, Order, Side};

/// About 2026-11-18T00:00:00Z.
const EPOCH: u64 = 1_795_000_000_000_000_000;
/// How often a side may write or continue in one event.
const STEPS: u32 = 100;

/// A world at one point of a path.
pub(crate) struct World<'s> {
    pub(crate) setup: &'s Setup,
    pub(crate) now: Now,
    pub(crate) sides: [Side; 2],
    pub(crate) link: Link,
    /// What may still happen.
    pub(crate) left: Budget,
    pub(crate) causes: Causes,
    /// The difference of the two generations when both sides last began at 1 together.
    pub(crate) settled_at: i64,
    pub(crate) generations: [u32; 2],
    /// The side whose process is about to die: nothing that it writes is sent.
    dying: Option<usize>,
    /// What is wrong, if something is.
    pub(crate) broken: Option<String>,
    /// What was sent and received, if the trace is to be shown.
    pub(crate) diary: Option<Vec<String>>,
}

/// The connection: messages in flight to each side.
#[derive(Default)]
pub(crate) struct Link {
    pub(crate) to: [VecDeque<Vec<u8>>; 2],
    /// Whether the end of the connection follows the messages to a side.
    pub(crate) ended: [bool; 2],
    /// Whether nothing gets through any more.
    pub(crate) cut: bool,
}

/// What happened to the present connection that may make it end.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub(crate) struct Causes {
    /// It broke, or a process died.
    pub(crate) cut: bool,
    /// The end that one side has decided on has reached the other one.
    pub(crate) closed: bool,
    pub(crate) logout: bool,
    pub(crate) waited: bool,
    /// One side began its sequence numbers again, and the other one had not.
    pub(crate) unsettled: bool,
}

impl<'s> World<'s> {
    pub(crate) fn new(setup: &'s Setup) -> Self {
        let now = Now { mono: mono(1_000_000_000), utc: Utc(EPOCH) };
        Self {
            setup,
            now,
            sides: SIDES.map(|side| Side::new(setup, side, now)),
            link: Link::default(),
            left: setup.budget,
            causes: Causes::default(),
            settled_at: 0,
            generations: [0, 0],
            dying: None,
            broken: None,
            diary: None,
        }
    }

    /// Returns every event that may happen now, without deaths within events.
    pub(crate) fn options(&self) -> Vec<Plain> {
        let left = &self.left;
        let mut options = Vec::new();
        let attached = SIDES.map(|side| self.sides[side].attached);
        for side in SIDES {
            let n = side as u8;
            let mut add = |may: bool, event: Plain| {
                if may {
                    options.push(event);
                }
            };
            let Side { sessions, disk, .. } = &self.sides[side];
            let is_logged_on = sessions.phase(KEY) == Phase::LoggedOn;
            add(left.orders[side] > 0, Plain::Order(n));
            add(self.delivers(side), Plain::Deliver(n));
            add(self.link.cut && attached[side], Plain::Notice(n));
            add(left.deaths > 0, Plain::Die(n));
            add(left.resets > 0 && (!attached[side] || is_logged_on), Plain::Reset(n));
            add(left.logouts > 0 && attached[side], Plain::LogOut(n));
            add(left.waits > 0 && self.is_next(side), Plain::Wait(n));
            let platter = disk.platter();
            add(self.setup.late && platter.durable() < platter.position(), Plain::Acknowledge(n));
        }
        if left.cuts > 0 && !self.link.cut && attached != [false, false] {
            options.push(Plain::Cut);
        }
        if left.connects > 0 && self.may_connect() {
            options.push(Plain::Connect);
        }
        options
    }

    pub(crate) fn may_connect(&self) -> bool {
        self.sides.iter().all(|side| !side.attached && side.sessions.can_connect(KEY))
    }

    /// Returns whether something can reach the side.
    pub(crate) fn delivers(&self, to: usize) -> bool {
        self.sides[to].attached
            && self.sides[to].sessions.next(KEY).read != Read::Nothing
            && (!self.link.to[to].is_empty() || self.link.ended[to])
    }

    /// Returns whether the next deadline is one of this side.
    fn is_next(&self, side: usize) -> bool {
        let [ours, theirs] = [side, 1 - side].map(|n| self.sides[n].sessions.next(KEY).deadline);
        ours.is_some_and(|ours| theirs.is_none_or(|theirs| ours <= theirs))
    }

    /// Lets an event happen. Returns whether it has changed anything.
    pub(crate) fn apply(&mut self, event: Event) -> bool {
        self.note(|| format!("* {event}"));
        match event {
            Event::Plain(plain) => self.happen(plain),
            Event::Dies { within, side, calls } => {
                let side = usize::from(side);
                self.left.deaths -= 1;
                self.sides[side].disk.platter().remember_after(calls.into());
                self.dying = Some(side);
                let orders = self.sides[side].sent.len();
                self.happen(within);
                self.dying = None;
                assert!(self.sides[side].disk.platter().return_to_remembered(), "as many calls as before");
                for order in &mut self.sides[side].sent[orders..] {
                    order.told = false;
                }
                self.die(side);
                self.follow_generations();
                true
            }
        }
    }

    fn happen(&mut self, event: Plain) -> bool {
        let changed = match event {
            Plain::Order(side) => self.order(usize::from(side)),
            Plain::Deliver(side) => self.deliver(usize::from(side)),
            Plain::Cut => {
                self.left.cuts -= 1;
                self.cut();
                true
            }
            Plain::Notice(side) => {
                self.disconnect(usize::from(side));
                true
            }
            Plain::Connect => {
                self.left.connects -= 1;
                self.connect();
                true
            }
            Plain::Die(side) => {
                self.left.deaths -= 1;
                self.die(usize::from(side));
                true
            }
            Plain::Reset(side) => self.reset(usize::from(side)),
            Plain::LogOut(side) => {
                self.left.logouts -= 1;
                self.causes.logout = true;
                let Side { sessions, app, .. } = &mut self.sides[usize::from(side)];
                sessions.log_out(self.now, KEY, "", app).is_ok()
            }
            Plain::Wait(side) => {
                self.left.waits -= 1;
                self.causes.waited = true;
                self.wake(usize::from(side));
                true
            }
            Plain::Acknowledge(side) => {
                let Side { sessions, app, disk, .. } = &mut self.sides[usize::from(side)];
                let mut platter = disk.platter();
                let next = platter.durable() + 1;
                platter.sync(next);
                drop(platter);
                sessions.store_advanced(self.now, app);
                true
            }
        };
        for side in SIDES {
            self.settle(side);
        }
        self.follow_generations();
        changed
    }

    pub(crate) fn order(&mut self, side: usize) -> bool {
        let number = self.sides[side].sent.len() + 1;
        let id = format!("{}{number}", ["i", "a"][side]).into_bytes();
        let order = Order { id, generations: self.generations, unsettled: self.is_unsettled(), told: true };
        self.left.orders[side] = self.left.orders[side].saturating_sub(1);
        let taken = self.sides[side].order(self.now, &order.id);
        if taken {
            self.sides[side].sent.push(order);
        }
        taken
    }

    pub(crate) fn deliver(&mut self, to: usize) -> bool {
        let Some(message) = self.link.to[to].pop_front() else {
            self.causes.closed = true;
            self.disconnect(to);
            return true;
        };
        self.note(|| format!("    {} receives {}", name(to), bytes::readable(&message)));
        let side = &mut self.sides[to];
        side.inbox.extend_from_slice(&message);
        let used = side.sessions.receive(self.now, KEY, &side.inbox, &mut side.app);
        side.inbox.drain(..used);
        true
    }

    pub(crate) fn cut(&mut self) {
        let attached = self.sides.iter().any(|side| side.attached);
        self.link = Link { cut: attached, ..Link::default() };
        self.causes.cut = true;
    }

    pub(crate) fn connect(&mut self) {
        self.link = Link::default();
        self.causes = Causes { unsettled: self.is_unsettled(), ..Causes::default() };
        for side in [1, 0] {
            let Side { sessions, app, attached, .. } = &mut self.sides[side];
            *attached = true;
            sessions.connected(self.now, KEY, app);
        }
    }

    /// Ends the process of a side and starts it again. Its connection breaks.
    fn die(&mut self, side: usize) {
        let Side { disk, attached, .. } = &mut self.sides[side];
        let mut platter = disk.platter();
        platter.die(self.setup.late);
        let position = platter.position();
        if self.setup.defect == Some(Defect::ForgetsLastCommit) && position > 0 {
            platter.lose_after(position - 1);
        }
        drop(platter);
        *attached = false;
        self.cut();
        self.sides[side].restart(self.setup, side, self.now);
    }

    pub(crate) fn reset(&mut self, side: usize) -> bool {
        self.left.resets = self.left.resets.saturating_sub(1);
        let Side { sessions, app, attached, .. } = &mut self.sides[side];
        if *attached {
            sessions.reset_in_session(self.now, KEY, "the world", app).is_ok()
        } else {
            sessions.reset(self.now, KEY, "the world", app).is_ok()
        }
    }

    /// Lets time pass until the next deadline of a side.
    pub(crate) fn wake(&mut self, side: usize) {
        let Side { sessions, app, inbox, .. } = &mut self.sides[side];
        let Some(at) = sessions.next(KEY).deadline else { return };
        let passed = at - self.now.mono;
        self.now = Now { mono: self.now.mono + passed, utc: self.now.utc + passed };
        let used = sessions.wake(self.now, KEY, inbox, app);
        inbox.drain(..used);
    }

    /// Ends the connection as one side sees it.
    pub(crate) fn disconnect(&mut self, side: usize) {
        let Side { sessions, app, attached, inbox, .. } = &mut self.sides[side];
        *attached = false;
        inbox.clear();
        sessions.disconnected(self.now, KEY, app);
        self.link.to[side].clear();
        self.link.ended[side] = false;
        if self.sides[1 - side].attached && !self.link.cut {
            self.link.ended[1 - side] = true;
        }
    }

    /// Sends what a side may write, and closes the connection if it wants that.
    pub(crate) fn settle(&mut self, side: usize) {
        for _ in 0..STEPS {
            let wrote = self.write(side);
            let Side { sessions, app, inbox, attached, .. } = &mut self.sides[side];
            while sessions.poll().is_some() {}
            if *attached
                && (sessions.next(KEY).read == Read::Again
                    || (wrote && sessions.next(KEY).deadline == Some(mono(0))))
            {
                let used = sessions.wake(self.now, KEY, inbox, app);
                inbox.drain(..used);
            } else if !wrote {
                if *attached && sessions.next(KEY).close && !sessions.next(KEY).output {
                    self.disconnect(side);
                }
                return self.hear(side);
            }
        }
        self.fail(format!("{} does not come to rest", name(side)));
    }

    fn write(&mut self, side: usize) -> bool {
        let Side { sessions, attached, .. } = &mut self.sides[side];
        let written = sessions.writable(KEY).bytes.to_vec();
        if written.is_empty() || !*attached {
            return false;
        }
        sessions.wrote(self.now, KEY, written.len(), Socket::Full);
        if self.dying == Some(side) {
            return true;
        }
        for message in bytes::messages(&written) {
            self.note(|| format!("    {} sends {}", name(side), bytes::readable(&message)));
            if let Err(why) = invariants::on_wire(&mut self.sides[side], &message) {
                self.fail(format!("{}: {why}: {}", name(side), bytes::readable(&message)));
            }
            if !self.link.cut && self.sides[1 - side].attached {
                let drops = self.setup.defect == Some(Defect::DropsPossDup);
                let message = if drops { bytes::without_poss_dup(&message) } else { message };
                self.link.to[1 - side].push_back(message);
            }
        }
        true
    }

    /// Judges what the application was told.
    fn hear(&mut self, side: usize) {
        let ends = std::mem::take(&mut self.sides[side].app.ends);
        let surprises = std::mem::take(&mut self.sides[side].app.surprises);
        if self.dying == Some(side) {
            return;
        }
        self.follow_generations();
        for end in ends {
            self.note(|| format!("    {}: {end}", name(side)));
            if !invariants::is_caused(&end, self.causes) {
                self.fail(format!("{}: an end without a cause: {end}", name(side)));
            }
        }
        if let Some(surprise) = surprises.into_iter().next() {
            self.fail(format!("{}: {surprise}", name(side)));
        }
    }

    /// Returns whether one side has begun its sequence numbers again, and the other one has not.
    pub(crate) fn is_unsettled(&self) -> bool {
        i64::from(self.generations[0]) - i64::from(self.generations[1]) != self.settled_at
    }

    /// Notes resets of the sequence numbers.
    pub(crate) fn follow_generations(&mut self) {
        self.generations = SIDES.map(|side| self.sides[side].disk.platter().generation(0));
        // What is in flight belongs to the numbers of before.
        let begin =
            |side: &Side| !side.attached && side.disk.platter().numbers(0) == (SeqNum::ONE, SeqNum::ONE);
        if self.sides.iter().all(begin) {
            self.settled_at = i64::from(self.generations[0]) - i64::from(self.generations[1]);
        }
        self.causes.unsettled |= self.is_unsettled();
    }

    /// Returns whether an operator has reset sequence numbers on this path.
    pub(crate) fn was_reset(&self) -> bool {
        self.left.resets < self.setup.budget.resets
    }

    pub(crate) fn fail(&mut self, why: String) {
        self.broken.get_or_insert(why);
    }

    pub(crate) fn note(&mut self, what: impl FnOnce() -> String) {
        if let Some(diary) = &mut self.diary {
            diary.push(what());
        }
    }

    /// Returns the time since the world began.
    pub(crate) fn age(&self) -> Duration {
        self.now.mono - mono(0)
    }
}
