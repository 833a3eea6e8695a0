//! What the world does to a session: operators, faults of the machine, and a counterparty that
//! wants something.

use fixbolt_codec::SeqNum;
use fixbolt_session::{Halt, Phase};

use super::diary::Leave;
use super::edges::Plan;
use super::habits::MILLI;
use super::link::Link;
use super::text::SECOND;
use super::world::{NEVER, World};

impl World {
    /// Does the next thing, and what is due of earlier ones.
    pub(super) fn act(&mut self) {
        self.next_act = self.mono + self.random.within(50, 12_000) * MILLI;
        self.end_what_is_over();
        if !self.wild {
            self.next_act = self.mono + SECOND;
            return;
        }
        let faults = self.faults;
        let mut choices: Vec<fn(&mut Self)> = Vec::with_capacity(16);
        let mut may = |on: bool, act: fn(&mut Self)| {
            if on {
                choices.push(act);
            }
        };
        may(faults.cuts, |w| {
            w.any_one(|w| {
                if w.link.attached || w.link.peer_attached {
                    w.cut();
                }
            });
        });
        may(faults.logouts, |w| w.any_one(Self::let_peer_leave));
        may(faults.resets, |w| w.any_one(Self::let_peer_reset));
        may(faults.operators, |w| w.any_one(Self::operate));
        may(faults.operators, |w| w.any_one(Self::operate));
        may(faults.clock, Self::jump);
        may(faults.pauses, Self::pause);
        may(faults.operators, Self::stop);
        may(faults.deaths, Self::kill);
        may(faults.store, Self::refuse);
        may(faults.restored, Self::put_back);
        may(faults.slow, |w| w.any_one(Self::stall));
        may(faults.hostile, |w| w.any_one(Self::attack));
        may(faults.hostile, |w| w.any_one(Self::attack));
        if choices.is_empty() || self.random.once_in(4) {
            return;
        }
        let choice = *self.random.pick(&choices);
        choice(self);
    }

    /// Ends what lasts for a while, and repairs what an operator repairs.
    fn end_what_is_over(&mut self) {
        if self.clock_back_at <= self.mono {
            self.right_the_clock();
            self.each_one(|w| w.link.diary.now.jumped = true);
            self.note(|| "-- the clock is right again".to_owned());
        }
        if self.stops_at <= self.mono {
            self.process_stopped();
        }
        if self.store_well_at <= self.mono {
            self.store_well_at = NEVER;
            let mut platter = self.disk.platter();
            (platter.refuses, platter.refuses_in) = (false, None);
            drop(platter);
            self.note(|| "-- the store takes records again".to_owned());
        }
        self.each_one(Self::repair);
    }

    /// What an operator does about a session that is disabled or halted.
    fn repair(&mut self) {
        let now = self.now();
        let refuses = self.disk.platter().refuses;
        let Self { sessions: Some(sessions), app, link: Link { key, .. }, .. } = self else { return };
        if self.link.enable_at <= self.mono && self.paused_until <= self.mono {
            let enabled = sessions.set_enabled(now, *key, true, "the operator: enable", app);
            // A store that is full refuses the record of it.
            self.link.enable_at = if enabled.is_ok() { NEVER } else { self.mono + SECOND };
        }
        match sessions.halted(*key) {
            Some(Halt::PoisonMessage { .. }) => {
                let _ = sessions.retry(now, *key, "the operator: again", app);
            }
            Some(Halt::StoreFailed(_) | Halt::CallbackFailed { .. }) if !refuses && !self.link.attached => {
                let _ = sessions.resume(now, *key, "the operator: resume", app);
            }
            _ => {}
        }
    }

    fn let_peer_leave(&mut self) {
        let moment = self.moment();
        if self.random.once_in(3) {
            self.note(|| "-- the counterparty closes".to_owned());
            self.link.peer.close();
        } else {
            self.link.peer.log_out(moment, "good night");
        }
    }

    fn let_peer_reset(&mut self) {
        let moment = self.moment();
        match self.random.within(0, 4) {
            0 if self.link.peer.connects && self.link.dialect.begin_string() != "FIX.4.0" => {
                self.link.peer.reset_next = true
            }
            1 => self.link.peer.jump(moment),
            2 => self.link.peer.begin_reset(moment),
            _ => {
                let Some(sessions) = &self.sessions else { return };
                let expected = sessions.numbers(self.link.key).map_or(NEVER / 2, |(next_in, _)| next_in.0);
                if self.link.to_us.is_empty()
                    && self.link.attached
                    && self.link.peer.overtake(moment, expected)
                {
                    self.note(|| {
                        "-- both operators agree on a SequenceReset that overtakes messages".to_owned()
                    });
                }
            }
        }
    }

    fn operate(&mut self) {
        if self.paused_until > self.mono {
            return;
        }
        let (now, mono) = (self.now(), self.mono);
        let draw = self.random.within(0, 8);
        let step = self.random.within(1, 30);
        let soon = self.random.within(0, 20) * SECOND;
        let edge = self.edge_has_come() && !self.link.diary.peer_edge_reset;
        let cut_off = !self.link.attached && self.link.diary.open_reset.is_some();
        if self.link.must_reset_peer || edge || cut_off {
            return;
        }
        let Self { sessions: Some(sessions), app, link: Link { key, .. }, .. } = self else { return };
        let key = *key;
        let mut said = None;
        match draw {
            0 | 1 => {
                let logged_on = sessions.phase(key) == Phase::LoggedOn;
                if sessions.log_out(now, key, "good night", app).is_ok() && logged_on {
                    said = Some("log out");
                }
            }
            2 => {
                let logged_on = sessions.phase(key) == Phase::LoggedOn;
                if sessions.set_enabled(now, key, false, "the operator: disable", app).is_ok() {
                    self.link.enable_at = mono + soon;
                    if sessions.log_out(now, key, "", app).is_ok() && logged_on {
                        said = Some("disable");
                    }
                }
            }
            3 if !self.link.attached && !self.link.peer_attached => {
                if sessions.reset(now, key, "both operators: reset", app).is_ok() {
                    self.numbers_were_reset();
                    self.link.must_reset_peer = true;
                }
            }
            4 => {
                if sessions.reset_in_session(now, key, "both operators: reset in the session", app).is_ok() {
                    self.link.diary.reset_ordered = true;
                }
            }
            5 => {
                let Some((_, next_out)) = sessions.numbers(key) else { return };
                let up = Some(SeqNum(next_out.0 + step));
                let _ = sessions.set_numbers(now, key, (None, up), "the operator: skip numbers", app);
            }
            6 if !self.link.attached && !self.link.peer_attached => {
                let Some((next_in, _)) = sessions.numbers(key) else { return };
                let to = (next_in.0 + step).min(self.link.peer.next_out);
                if to > next_in.0 {
                    // The process may die when the change is recorded and before the call returns.
                    self.link.diary.skipped.push((next_in.0, to));
                    let up = Some(SeqNum(to));
                    if sessions.set_numbers(now, key, (up, None), "both operators: skip", app).is_ok() {
                        self.link.arrived.add((0, to));
                    } else {
                        self.link.diary.skipped.pop();
                    }
                }
            }
            _ if !self.link.attached && !self.link.peer_attached => {
                let closed = sessions.close(key).is_ok();
                let opened = closed.then(|| sessions.open(now, self.link.opened_with(), app));
                match opened {
                    Some(Ok(key)) => self.link.key = key,
                    Some(Err(_)) => self.process_died(),
                    None => {}
                }
                // As with a restart, its limits begin anew.
                self.link.written_at.clear();
                self.link.again_at.clear();
                self.link.delivered_at.clear();
                self.note(|| "-- the operator removes the session and adds it again".to_owned());
            }
            _ => {
                let _ = sessions.test_request(now, key, app);
            }
        }
        self.totals.operators += 1;
        if let Some(reason) = said {
            self.note(|| format!("-- the operator: {reason}"));
            self.leave(reason);
            if self.faults.resets && self.random.once_in(4) {
                let moment = self.moment();
                self.link.peer.reset_now(moment);
            }
        }
    }

    /// From now on the session has until its LogoutTimeout to leave.
    pub(super) fn leave(&mut self, reason: &'static str) {
        if self.link.attached {
            self.link.diary.now.leave.get_or_insert(Leave { since: self.mono, reason });
        }
    }

    fn pause(&mut self) {
        if self.paused_until <= self.mono {
            self.paused_since = self.mono;
        }
        self.paused_until = self.mono + self.random.within(100, 150_000) * MILLI;
        self.each_one(|w| w.link.diary.now.paused = true);
        self.totals.pauses += 1;
        self.note(|| "-- the process stands still".to_owned());
    }

    fn stall(&mut self) {
        self.link.stalled_until = self.mono + self.random.within(200, 45_000) * MILLI;
        self.link.diary.now.stalled = true;
        self.note(|| "-- the counterparty reads nothing".to_owned());
    }

    fn refuse(&mut self) {
        let soon = if self.random.once_in(2) { 0 } else { self.random.within(1, 40) as u32 };
        self.disk.platter().refuses_in = Some(soon);
        self.store_well_at = self.mono + self.random.within(0, 20) * SECOND;
        self.each_one(|w| w.link.diary.now.failed = true);
        self.totals.refusals += 1;
        self.note(|| format!("-- the store is full after {soon} more calls"));
    }

    /// The process dies: at once, or at one of the next calls of its store.
    fn kill(&mut self) {
        if self.sessions.is_none() {
            return;
        }
        if self.random.once_in(3) {
            self.process_died();
        } else {
            let calls = self.random.within(1, 40) as u32;
            self.disk.platter().dies_in = Some(calls);
        }
    }

    /// The operator stops the process: every session logs out, and has its LogoutTimeout for it.
    fn stop(&mut self) {
        if self.paused_until > self.mono || self.sessions.is_none() || self.stops_at != NEVER {
            return;
        }
        self.note(|| "-- the operator: stop".to_owned());
        self.totals.stops += 1;
        let mut longest = 0;
        self.each_one(|world| {
            let now = world.now();
            longest = longest.max(world.link.settings.timing.logout_timeout.as_nanos() as u64);
            let World { sessions: Some(sessions), app, link: Link { key, .. }, .. } = world else { return };
            let logged_on = sessions.phase(*key) == Phase::LoggedOn;
            if sessions.log_out(now, *key, "stop", app).is_ok() && logged_on {
                world.leave("stop");
            }
        });
        self.stops_at = self.mono + longest + 2 * SECOND;
    }

    /// The process has stopped: what has not logged out by now is cut off.
    fn process_stopped(&mut self) {
        self.stops_at = NEVER;
        if self.sessions.is_none() {
            return;
        }
        self.note(|| "-- the process has stopped".to_owned());
        self.each_one(Self::disconnect);
        self.process_ended(false);
    }

    pub(super) fn process_died(&mut self) {
        let power = self.random.once_in(2);
        self.note(|| {
            format!("-- the process dies{}", if power { ", and its machine loses power" } else { "" })
        });
        self.totals.deaths += 1;
        self.totals.power_losses += u64::from(power);
        self.process_ended(power);
    }

    fn process_ended(&mut self, power: bool) {
        self.stops_at = NEVER;
        self.sessions = None;
        self.disk.platter().die(power);
        self.restart_at = self.mono + self.random.within(0, 30) * SECOND;
        self.each_one(|w| w.session_died(power));
    }

    fn session_died(&mut self, power: bool) {
        self.hear_the_last();
        if power {
            // Its application knows nothing either.
            self.app.forget_numbers(self.link.place);
        }
        self.link.written_at.clear();
        self.link.again_at.clear();
        self.link.delivered_at.clear();
        self.link.attached = false;
        self.link.end_at = NEVER;
        self.link.to_us.clear();
        if self.link.peer_attached {
            self.link.peer_end_at =
                self.link.peer_end_at.min(self.mono + self.random.within(1, 2000) * MILLI);
        }
        // What the disk has not kept has not been told either.
        let waiting = self.disk.platter().waiting(self.link.stored());
        self.link.left.retain(|ticket| *ticket < waiting.first());
        let generation = self.disk.platter().generation(self.link.stored());
        if generation != self.link.generation {
            // The process may have died before it told its application of the reset.
            self.app.forget_numbers(self.link.place);
        }
        // A reset that the operators had agreed on was not durable: their numbers differ.
        self.link.diary.disturbed |= generation < self.link.agreed;
        self.link.agreed = self.link.agreed.min(generation);
        if let Some(open) = &mut self.link.diary.open_reset {
            // There is nobody to tell.
            open.told = true;
        }
        if generation < self.link.generation {
            self.link.diary.open_reset = None;
        }
        // A reset that was not durable has not been, and one that nobody has seen has.
        self.link.must_reset_peer &= generation >= self.link.generation;
        self.link.must_reset_peer |=
            generation > self.link.generation && self.link.peer.own_resets == self.link.peer_resets;
        self.link.generation = generation;
        let wire_keeps = |(kept, _): &(u32, u64)| *kept <= generation;
        self.link.wire.retain(|number, _| wire_keeps(number));
        let (next_in, _) = self.disk.platter().numbers(self.link.stored());
        // What was processed and not durable has to come again.
        self.link.arrived.begin(next_in.0);
        self.link.diary.now.failed = true;
    }

    /// The process dies, and its store is put back to an older state.
    fn put_back(&mut self) {
        if !self.disk.platter().remembers() || self.random.once_in(3) {
            self.disk.platter().remember();
            return;
        }
        if self.sessions.is_none() {
            return;
        }
        self.process_died();
        let mut platter = self.disk.platter();
        platter.return_to_remembered();
        let position = platter.position();
        platter.sync(position);
        drop(platter);
        self.note(|| "-- its store is put back to an older state".to_owned());
        self.totals.restored += 1;
        self.each_one(Self::session_was_put_back);
    }

    fn session_was_put_back(&mut self) {
        self.link.diary.disturbed = true;
        self.link.diary.open_reset = None;
        let platter = self.disk.platter();
        let (next_in, next_out) = platter.numbers(self.link.stored());
        self.link.must_reset_peer &= platter.generation(self.link.stored()) >= self.link.generation;
        self.link.generation = platter.generation(self.link.stored());
        drop(platter);
        let used = (self.link.generation, next_out.0);
        self.link.wire.retain(|number, _| *number < used);
        self.link.arrived.begin(next_in.0);
    }

    /// What the operators of both sides do between two connections, by telephone: after a reset on
    /// one side the other resets, too, and so do both once their numbers are known to differ.
    pub(super) fn agree_on_numbers(&mut self) {
        let now = self.now();
        let edge = self.edge_has_come() && !self.link.diary.peer_edge_reset;
        self.link.diary.peer_edge_reset |= edge;
        // Nothing on the wire tells the session whether its Logon was lost, or the answer.
        self.link.must_reset_peer |= self.reset_is_unheard();
        self.totals.unanswered += u64::from(self.link.diary.open_reset.take().is_some());
        if std::mem::take(&mut self.link.must_reset_peer) || edge {
            self.note(|| "-- the counterparty resets its numbers, too".to_owned());
            self.link.peer.reset();
            self.link.peer_resets = self.link.peer.own_resets;
            self.link.agreed = self.link.generation;
        }
        if !self.link.diary.disturbed || self.paused_until > self.mono {
            return;
        }
        let Self { sessions: Some(sessions), app, link: Link { key, .. }, .. } = self else { return };
        if sessions.reset(now, *key, "both operators: reset", app).is_ok() {
            self.numbers_were_reset();
            self.link.peer.reset();
            self.link.peer_resets = self.link.peer.own_resets;
            self.link.agreed = self.link.generation;
            self.link.diary.disturbed = false;
            self.link.peer.refused = None;
        }
    }

    /// An operator has reset the session's numbers between two connections.
    fn numbers_were_reset(&mut self) {
        self.totals.resets += 1;
        self.link.diary.open_reset = None;
        self.link.generation = self.disk.platter().generation(self.link.stored());
        self.link.arrived.begin(1);
    }

    /// Returns whether the time of the schedule's reset has come, by the right clock.
    pub(super) fn edge_has_come(&self) -> bool {
        self.link.plan.resets_at().is_some_and(|at| at <= self.moment().utc)
    }

    /// Returns the end of the session's window, if it has come.
    pub(super) fn window_has_ended(&self) -> Option<u64> {
        match self.link.plan {
            Plan::Window { ends, .. } => Some(ends).filter(|ends| *ends <= self.moment().utc),
            _ => None,
        }
    }
}
