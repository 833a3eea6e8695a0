//! Judges what happens in a world: every outcome has its cause in what the world did.

use core::num::NonZeroU64;
use std::collections::BTreeMap;

use fixbolt_session::{
    MatrixState, Misbehavior, OutboundThrottle, Phase, Read, ResendOverLimit, SessionEnd, Unreached,
};

use super::app::{Heard, NOT_NOW, order_of};
use super::faults::Faults;
use super::habits::{LogoutAnswer, MILLI};
use super::text::{self, SECOND, Text};
use super::world::{Stop, World};
use fixbolt_session::ReplayInterleave;
use fixbolt_session::store::RecordKind;

/// How late a planned end, and the answer to a TestRequest, may be because of the network.
const SLACK: u64 = 1500 * MILLI;
/// How many messages may wait for a throttle without stopping the session from reading.
const MOST_WAIT: u32 = 10;

impl World {
    pub(super) fn judge(&mut self) -> Result<(), Stop> {
        if self.faults.several && self.sessions.is_some() && self.link.next.read == Read::Nothing {
            self.link.diary.now.held = true;
        }
        for one in self.app.take_heard(self.link.place) {
            self.note(|| format!("   {one:?}"));
            self.judge_one(one)?;
        }
        self.link.just_reset = false;
        if !self.link.attached && self.link.diary.open_reset.is_some_and(|open| !open.told) {
            return Err(Stop("a reset was not answered, and nobody was told".to_owned()));
        }
        self.judge_the_leave()?;
        if self.faults.hostile {
            self.judge_attacks()?;
            self.judge_memory()?;
        }
        self.judge_answers()
    }

    /// What was told before the process died counts as told.
    pub(super) fn hear_the_last(&mut self) {
        for heard in self.app.take_heard(self.link.place) {
            match heard {
                Heard::Rejected { seq, .. } | Heard::NotTaken { seq } => {
                    self.link.rejected.push((self.link.peer_series, seq));
                }
                Heard::Unreached { begin, end, .. } => {
                    self.link.unreached.push((self.link.generation, begin, end))
                }
                Heard::Left { ticket, .. } => drop(self.link.left.insert(ticket)),
                _ => {}
            }
        }
    }

    fn judge_one(&mut self, heard: Heard) -> Result<(), Stop> {
        match heard {
            Heard::LoggedOn => {
                self.link.diary.now.logged_on = true;
                if let Some(what) = self.link.peer.attacks.no_logon {
                    return Err(Stop(format!("logged on after {what}")));
                }
            }
            Heard::Ended(end) => self.judge_end(&end)?,
            // Its number is used again.
            Heard::Left { ticket, is_lost: true, .. } => drop(self.link.lost_waiting.insert(ticket)),
            Heard::Left { ticket, seq, .. } => self.judge_left(ticket, seq)?,
            Heard::Delivered { id, seq, twice, utc, after_reset } => {
                self.judge_inbound_rate(seq)?;
                if twice && !self.link.just_reset {
                    return Err(Stop(format!("message {seq} was processed twice without redelivered")));
                }
                if after_reset {
                    let why =
                        format!("message {seq} (ID {id}) belongs to the numbers before a SequenceReset");
                    return Err(Stop(why));
                }
                let edge = self.window_has_ended().filter(|_| self.link.plan.resets_at().is_some());
                if let Some(edge) = edge
                    && utc >= edge
                    && self.link.diary.now.began_utc < edge
                    && self.clock_is_right()
                {
                    let late = (utc - edge) / MILLI;
                    let why =
                        format!("message {seq} (ID {id}) was executed {late} ms after the window's end");
                    return Err(Stop(why));
                }
            }
            Heard::NotTaken { seq } => {
                self.link.rejected.push((self.link.peer_series, seq));
                if !self.resets_next() {
                    let why = format!("message {seq} was not taken, and its window has not ended");
                    return Err(Stop(why));
                }
            }
            Heard::Rejected { seq, reason, text } => {
                self.link.rejected.push((self.link.peer_series, seq));
                let is_limited = self.limits_requests(&text);
                self.totals.limited += u64::from(is_limited);
                let has_cause = text.contains("hrottle")
                    || is_limited
                    || self.link.peer.attacks.may_be_rejected(seq)
                    || text.contains("Application not available")
                        && self.link.settings.validation.reject_message_on_unhandled_exception
                    || reason == 10 && (self.faults.clock || self.faults.pauses)
                    || self.link.settings.validation.reject_garbled_message
                        && (self.faults.hostile || self.link.diary.now.lost_in > 0)
                    || reason == 5 && (self.totals.resets > 0 || self.link.diary.disturbed)
                    || text == "session end" && self.resets_next();
                if !has_cause {
                    let why = format!("message {seq} of a legal counterparty is rejected: {reason} {text}");
                    return Err(Stop(why));
                }
            }
            Heard::RejectReceived(message) => {
                let faults_reset = self.faults.resets || self.faults.hostile;
                if self.totals.resets == 0 && !self.link.diary.disturbed && !faults_reset {
                    return Err(Stop(format!("the counterparty rejects {message}")));
                }
            }
            Heard::Unreached { begin, end, why } => {
                let has_cause = match why {
                    Unreached::NotStored => {
                        self.faults.operators
                            || self.faults.deaths
                            || self.faults.restored
                            || self.faults.store
                    }
                    Unreached::BeyondHorizon { .. } => self.link.settings.resend.resend_horizon.is_some(),
                    // The newest are sent again: so many come after the others.
                    Unreached::BeyondRange { most } => {
                        self.link.settings.resend.max_resend_range.map(NonZeroU64::get) == Some(most)
                            && end + most <= self.link.most_out.max(self.next_out())
                    }
                    Unreached::SentBefore { .. } => self.link.settings.resend.max_resends.is_some(),
                    Unreached::ByApplication => self.app.has_withheld,
                    _ => true,
                };
                if !has_cause {
                    return Err(Stop(format!("{begin} to {end} do not reach the counterparty: {why}")));
                }
                self.totals.limited += u64::from(matches!(
                    why,
                    Unreached::BeyondRange { .. } | Unreached::SentBefore { .. } | Unreached::ByApplication
                ));
                self.link.unreached.push((self.link.generation, begin, end));
            }
            Heard::ResetAbandoned => self.link.diary.reset_ordered = false,
            Heard::GapDetected => {
                self.link.diary.now.gap = true;
                self.link.delivered_at.clear();
            }
            Heard::Note(note) => self.link.diary.now.dropped |= note.ends_with("the reorder buffer is full"),
            Heard::Changed { .. } => {
                if let Some(open) = &mut self.link.diary.open_reset {
                    open.told = true;
                }
            }
        }
        Ok(())
    }

    /// Returns the NextNumOut that the store has.
    fn next_out(&self) -> u64 {
        self.disk.platter().numbers(self.link.stored()).1.0
    }

    /// Returns whether this is the Text of a Reject with which a limit or the application has
    /// refused a request for messages again.
    fn limits_requests(&self, text: &str) -> bool {
        let settings = &self.link.settings;
        let refuses = settings.resend.resend_over_limit == ResendOverLimit::Refuse;
        let by_range = text.ends_with("are sent again at once") && settings.resend.max_resend_range.is_some();
        let by_times = text.contains("were sent again") && settings.resend.max_resends.is_some();
        refuses && (by_range || by_times) || text == NOT_NOW && self.app.has_withheld
    }

    /// Every end of a connection has its cause.
    fn judge_end(&mut self, end: &SessionEnd) -> Result<(), Stop> {
        use SessionEnd as E;
        let it = self.link.diary.now;
        let faults = self.faults;
        if self.is_by_attack(end) {
            return Ok(());
        }
        let rough = it.is_rough() || it.jumped;
        let refused = self.app.has_withheld || self.totals.limited > 0;
        let planned = it.leave.is_some() || self.window_has_ended().is_some() || faults.operators;
        let has_cause = match end {
            E::ConnectionLost | E::LogonUnanswered => it.cut || it.peer_left || rough,
            E::LoggedOutByPeer => it.peer_left || self.link.peer.left,
            E::LoggedOutByUs => planned || it.peer_left,
            // The counterparty may wait for the rest of a slow replay before it answers, or for
            // what the application or a limit has refused to send again.
            E::LogoutTimedOut => {
                let slow = self.link.settings.resend.max_replay_rate.is_some() || faults.throttles;
                planned && (rough || it.peer_left || slow || refused || self.reset_has_crossed())
                    || faults.application
                    || self.link.peer.habits.logout_answer != LogoutAnswer::AtOnce
            }
            E::PeerDidNotClose => self.link.peer.left || it.peer_left,
            E::LogonTimedOut => rough,
            // A counterparty with a longer HeartBtInt has longer to answer by its own clock, and it
            // does not answer what it does not process, behind what was refused.
            E::HeartbeatTimedOut => rough || refused || self.link.settings.timing.heart_bt_int_override,
            E::PeerDidNotRead | E::SlowConsumer => it.stalled || faults.slow,
            E::ResetUnanswered => rough || it.peer_left || self.link.peer.left,
            E::ScheduleEnded { .. } | E::OutsideSchedule { .. } => self.window_has_ended().is_some(),
            E::ApplicationFailed { .. } | E::CallbackFailed { .. } => self.app.has_failed(self.link.place),
            E::Halted(_) => faults.application || faults.store,
            // Its answer to our Logon was lost before it logged out.
            E::LogonRefusedByPeer(why) if !why.text.contains("too low") && self.link.peer.left => true,
            E::LogonRefusedByPeer(_) | E::PeerExpectsMore { .. } => {
                return self.judge_numbers(format!("the counterparty refuses the session's numbers: {end}"));
            }
            E::PeerMisbehaved(Misbehavior::MsgSeqNumTooLow { .. }) => {
                return self
                    .judge_numbers(format!("the session refuses a legal counterparty's number: {end}"));
            }
            E::PeerMisbehaved(Misbehavior::GapNeverFilled) => {
                let lost = self.link.diary.most_lost();
                let times = if self.link.diary.gave_up {
                    1
                } else {
                    self.link.settings.resend.max_resend_requests.get()
                };
                if lost < times && !it.cut && !it.paused && !it.dropped && !it.stalled {
                    let why = format!("no number was lost more than {lost} times, yet: {end}");
                    return Err(Stop(why));
                }
                self.link.diary.gave_up = true;
                true
            }
            E::PeerMisbehaved(Misbehavior::SendingTime { .. }) => {
                self.link.diary.clock_jumped || faults.pauses
            }
            E::PeerMisbehaved(Misbehavior::InvalidMessage { .. }) => {
                self.link.settings.validation.disconnect_on_error || self.link.settings.reset.reset_on_error
            }
            E::PeerMisbehaved(Misbehavior::Garbled { .. }) => it.lost_in > 0,
            E::PeerMisbehaved(Misbehavior::MessageRate { .. }) => faults.throttles,
            // Its limit may be low in a hostile world, and each loss makes it ask again.
            E::PeerMisbehaved(Misbehavior::SessionMessageRate { .. }) if faults.hostile => true,
            // Gap fills one by one, of everything that it has sent, for each loss within an answer.
            E::PeerMisbehaved(Misbehavior::SessionMessageRate { limit })
                if self.link.peer.requests * self.link.peer.next_out > 5 * u64::from(*limit) =>
            {
                true
            }
            // Each message from after a gap makes the session ask for all of it once more.
            E::PeerMisbehaved(Misbehavior::SessionMessageRate { .. } | Misbehavior::JournalGrowth { .. })
                if self.link.settings.resend.send_redundant_resend_requests =>
            {
                true
            }
            E::PeerMisbehaved(Misbehavior::SessionMessageRate { .. } | Misbehavior::JournalGrowth { .. })
                if it.lost_in > 0 || it.gap =>
            {
                let why =
                    format!("what was requested again and again counts against the counterparty: {end}");
                return Err(Stop(why));
            }
            E::PeerMisbehaved(Misbehavior::FirstMessageNotLogon | Misbehavior::InvalidLogon(_)) => {
                it.lost_in > 0
            }
            _ => false,
        };
        if has_cause { Ok(()) } else { Err(Stop(format!("an end without a cause: {end}"))) }
    }

    /// Returns whether the session's window has ended, and its numbers are reset before the next.
    fn resets_next(&self) -> bool {
        let settings = &self.link.settings;
        let resets = self.link.plan.resets_at().is_some()
            || settings.reset.reset_on_logon
            || settings.reset.reset_on_logout
            || settings.reset.reset_on_disconnect;
        resets && self.window_has_ended().is_some()
    }

    /// A planned end comes by its deadline, and sends a Logout.
    fn judge_the_leave(&mut self) -> Result<(), Stop> {
        if self.link.attached
            && self.link.diary.now.logged_on
            && let Some(ends) = self.window_has_ended()
            && self.link.diary.now.began_utc < ends
            && self.clock_is_right()
        {
            if self.link.diary.now.leave.is_none() {
                self.totals.edges += 1;
            }
            self.leave("the window of the schedule ends");
        }
        let Some(leave) = self.link.diary.now.leave else { return Ok(()) };
        let it = self.link.diary.now;
        let disturbed = it.paused || it.stalled || it.failed || it.held || !self.clock_is_right();
        if disturbed || self.disk.platter().is_late() {
            return Ok(());
        }
        let timeout = self.link.settings.timing.logout_timeout.as_nanos() as u64;
        if self.link.attached && self.mono > leave.since + timeout + SLACK {
            let late = (self.mono - leave.since) / MILLI;
            let why = format!(
                "{}: {late} ms later the session is still connected: {}",
                leave.reason,
                self.describe()
            );
            return Err(Stop(why));
        }
        // An attack may end the connection while the Logout waits.
        let failed = self.app.has_failed(self.link.place) || self.faults.hostile;
        let other_end = it.cut || it.peer_left || self.link.peer.left || it.lost_in > 0 || failed;
        if !self.link.attached && !it.logout_written && !other_end {
            return Err(Stop(format!("{}: no Logout was sent", leave.reason)));
        }
        Ok(())
    }

    /// A message that has waited is told once, and has the number that the application hears.
    fn judge_left(&mut self, ticket: u64, seq: Option<u64>) -> Result<(), Stop> {
        if !self.link.left.insert(ticket) && self.totals.restored == 0 {
            return Err(Stop(format!("what has become of waiting message {ticket} was told twice")));
        }
        let Some(seq) = seq else { return Ok(()) };
        let platter = self.disk.platter();
        let stored = self.link.stored();
        let waited = platter.waited(stored, ticket).and_then(id_of);
        let sent = platter.sent_after_waiting(stored, seq).and_then(id_of);
        if waited == sent && waited.is_some() {
            return Ok(());
        }
        Err(Stop(format!("waiting message {ticket} has ID {waited:?}, message {seq} has {sent:?}")))
    }

    /// Whoever has sent a message that no longer waits was told what has become of it, unless the
    /// process died at that moment.
    fn judge_waiting(&mut self) -> Result<(), Stop> {
        let waiting = self.disk.platter().waiting(self.link.stored());
        let told = |number: &u64| {
            [&self.link.left, &self.link.lost_waiting].iter().any(|told| told.contains(number))
        };
        let untold = (1..waiting.first()).find(|number| !told(number));
        match untold {
            Some(number) if self.totals.deaths == 0 => {
                Err(Stop(format!("waiting message {number} has left, and nobody was told")))
            }
            _ => Ok(()),
        }
    }

    /// A TestRequest is answered while messages of the application wait for a limit.
    fn judge_answers(&mut self) -> Result<(), Stop> {
        let Faults { slow, store, application, pauses, hostile, .. } = self.faults;
        // A hostile one sends half a message before its TestRequest.
        let quiet = slow || store || application || pauses || hostile;
        let other = self.link.settings.throttle.max_inbound_rate.is_some()
            || self.link.settings.resend.max_replay_rate.is_some();
        // An application that is refused has its messages offered again.
        let refuses = self.link.settings.throttle.outbound_throttle == OutboundThrottle::Refuse;
        if !self.faults.throttles || quiet || other || refuses {
            self.link.peer.tested.clear();
            return Ok(());
        }
        let mono = self.mono;
        let tested = std::mem::take(&mut self.link.peer.tested);
        self.link.pending_tests.extend(tested.into_iter().map(|(id, seq)| (id, seq, u64::MAX)));
        let Some(sessions) = &self.sessions else { return Ok(()) };
        if !self.link.attached
            || sessions.phase(self.link.key) != Phase::LoggedOn
            || sessions.matrix_state(self.link.key) == Some(MatrixState::HandlingResendRequest)
            // A TestRequest that was lost is not sent again but gap-filled.
            || self.link.diary.now.is_rough()
            || self.link.diary.now.gap
            // No more answers may wait.
            || self.disk.platter().waiting(self.link.stored()).count >= MOST_WAIT
        {
            self.link.pending_tests.clear();
            return Ok(());
        }
        for (id, seq, since) in &mut self.link.pending_tests {
            if self.link.arrived.next > *seq && *since == u64::MAX {
                *since = mono;
            }
            if since.saturating_add(SLACK) < mono {
                let why = format!("TestRequest T{id} ({seq}) has waited {} ms", (mono - *since) / MILLI);
                return Err(Stop(why));
            }
        }
        Ok(())
    }

    pub(super) fn judge_the_peer(&mut self) -> Result<(), Stop> {
        if let Some(why) = self.link.peer.complaint.take() {
            return Err(Stop(format!("the session sent what it may not: {why}")));
        }
        if let Some(why) = self.link.peer.refused.take() {
            return self.judge_numbers(format!("the counterparty: {why}"));
        }
        if std::mem::take(&mut self.link.peer.timed_out) {
            let it = self.link.diary.now;
            let rough =
                it.is_rough() || self.sessions.is_none() || self.faults.application || self.faults.store;
            // One that goes by a shorter HeartBtInt does not wait until the session asks once more.
            let heart = u64::from(self.link.settings.timing.heart_bt_int) * SECOND;
            let hasty = self.link.settings.timing.heart_bt_int_override && self.link.peer.heart < heart;
            let next_in = self
                .sessions
                .as_ref()
                .and_then(|s| s.numbers(self.link.key))
                .map_or(0, |(next_in, _)| next_in.0);
            // What was requested is read no faster than the rate allows.
            let paced = self.link.settings.throttle.max_inbound_rate.is_some();
            if !rough && !hasty && !paced && it.gap && next_in < self.link.arrived.next {
                let why = format!("a TestRequest waits for messages that have arrived: {}", self.describe());
                return Err(Stop(why));
            }
            if !rough && !hasty && !self.faults.throttles {
                return Err(Stop(format!("the session was silent: {}", self.describe())));
            }
        }
        Ok(())
    }

    /// Numbers move only for what has arrived, and are reset only for a cause.
    pub(super) fn watch_numbers(&mut self) -> Result<(), Stop> {
        let Some(sessions) = &self.sessions else { return Ok(()) };
        sessions.check();
        let Some((next_in, next_out)) = sessions.numbers(self.link.key) else { return Ok(()) };
        let phase = sessions.phase(self.link.key);
        let platter = self.disk.platter();
        let generation = platter.generation(self.link.stored());
        let stored = platter.numbers(self.link.stored());
        if generation != self.link.generation {
            // Numbers that were used and reset in the same call are written all the same.
            self.link.most_out = self.link.most_out.max(platter.most_out(self.link.stored()));
        }
        drop(platter);
        let halted = sessions.halted(self.link.key).is_some();
        if !halted && stored != (next_in, next_out) {
            return Err(Stop(format!("the session has {next_in} and {next_out}, its store {stored:?}")));
        }
        if generation != self.link.generation {
            let resets = generation.saturating_sub(self.link.generation);
            self.link.generation = generation;
            self.totals.resets += 1;
            self.link.just_reset = true;
            self.app.forget_numbers(self.link.place);
            self.link.arrived.begin(next_in.0);
            return self.judge_reset(phase, resets);
        }
        if next_in.0 > 1 && self.link.diary.open_reset.take().is_some() {
            // It was answered, perhaps by a reset that the counterparty has begun at the same time.
            self.link.peer_resets = self.link.peer.own_resets;
        }
        self.link.most_out = self.link.most_out.max(next_out.0);
        if next_in.0 > self.link.arrived.next && !halted {
            return Err(Stop(format!(
                "NextNumIn is {next_in}, but {} has not arrived",
                self.link.arrived.next
            )));
        }
        Ok(())
    }

    /// Checks a message that the session has handed to the network.
    pub(super) fn check_written(&mut self, bytes: &[u8]) -> Result<(), Stop> {
        let fail = |why: String| Err(Stop(format!("{why}: {}", text::readable(bytes))));
        let Some(message) = Text::read(bytes.to_vec()) else {
            return fail("garbled on the wire".to_owned());
        };
        let seq = message.seq();
        let platter = self.disk.platter();
        let fills = message.msg_type() == b"4" && message.is_yes(123);
        self.link.most_out = self.link.most_out.max(platter.numbers(self.link.stored()).1.0);
        // Numbers that were used and reset at this moment are not known.
        let known = platter.generation(self.link.stored()) == self.link.generation;
        if fills && known && message.number(36).unwrap_or(0) > self.link.most_out {
            let next_out = platter.numbers(self.link.stored()).1;
            return fail(format!("NextNumOut is {next_out}: it fills numbers that were not used"));
        }
        if fills || message.is_yes(43) {
            if !fills {
                let id = message.get(11);
                let stored = platter
                    .durably_sent(self.link.stored(), seq, |kept| text::value_in(&kept.body, 11) == id);
                let Some(generation) = stored.map(|kept| kept.generation.0) else {
                    return fail("sent again, and not in the store".to_owned());
                };
                drop(platter);
                return self.check_resends((generation, seq));
            }
            return Ok(());
        }
        let Some(kept) = platter.durably_sent(self.link.stored(), seq, |kept| kept.body == bytes) else {
            return fail("on the wire, but not durable in the store".to_owned());
        };
        let number = (kept.generation.0, seq);
        drop(platter);
        let before = self.link.wire.entry(number).or_insert_with(|| bytes.to_vec());
        if before != bytes {
            return fail(format!(
                "generation and number {number:?} have two bodies, the first {}",
                text::readable(before)
            ));
        }
        let interleaves = self.link.settings.resend.replay_interleave != ReplayInterleave::None;
        if number <= self.link.last_new && !interleaves {
            return fail(format!("after {:?}", self.link.last_new));
        }
        self.link.last_new = number;
        match message.msg_type() {
            b"5" => self.link.diary.now.logout_written = true,
            b"0" => {
                if let Some(id) = message.get(112).and_then(|id| text::digits(id.get(1..)?)) {
                    self.link.pending_tests.retain(|(test, ..)| *test != id);
                }
            }
            b"D" | b"8" => self.check_rates(message.msg_type() == b"D")?,
            _ => {}
        }
        Ok(())
    }

    /// A message is sent again as often as the session allows in a period, and in one that begins
    /// anywhere at most twice as often.
    fn check_resends(&mut self, number: (u32, u64)) -> Result<(), Stop> {
        let Faults { slow, store, pauses, throttles, .. } = self.faults;
        let Some(most) = self.link.settings.resend.max_resends else { return Ok(()) };
        // What is written and waits is on the wire together with what is written later.
        if slow || store || pauses || throttles || self.link.diary.now.stalled {
            return Ok(());
        }
        let times = self.link.again_at.entry(number).or_default();
        times.push(self.mono);
        let period = self.link.settings.resend.resend_period.as_nanos() as u64;
        let first = times.iter().rev().nth(2 * most.get() as usize);
        if first.is_some_and(|first| self.mono - first < period.saturating_sub(SLACK)) {
            return Err(Stop(format!("{number:?} is sent again more often than {most} times")));
        }
        Ok(())
    }

    /// No window of a rate limit has more messages than it may, however it begins.
    fn check_rates(&mut self, is_order: bool) -> Result<(), Stop> {
        let s = &self.link.settings;
        if s.throttle.max_outbound_rate.is_none() && s.throttle.max_order_rate.is_none() {
            return Ok(());
        }
        self.link.written_at.push((self.mono, is_order));
        for (rate, orders) in [(s.throttle.max_outbound_rate, false), (s.throttle.max_order_rate, true)] {
            let Some(rate) = rate.filter(|_| is_order || !orders) else { continue };
            let counted = self.link.written_at.iter().rev().filter(|(_, order)| *order || !orders);
            let first = counted.map(|(at, _)| *at).nth(rate.messages() as usize);
            if first.is_some_and(|first| self.mono - first < rate.window().as_nanos() as u64) {
                return Err(Stop(format!("more than {rate} were sent")));
            }
        }
        Ok(())
    }

    /// A ResendRequest that is lost counts for what it asks for.
    pub(super) fn note_lost_request(&mut self, bytes: &[u8]) {
        if text::value_in(bytes, 35) == Some(b"2") {
            let number = |tag| text::value_in(bytes, tag).and_then(text::digits).unwrap_or(0);
            let last =
                if matches!(number(16), 0 | 999_999) { self.link.peer.next_out } else { number(16) + 1 };
            self.link.diary.lost_numbers((number(7), last));
        }
    }

    /// Returns why the session at hand has not come to agree with its counterparty, if it has not.
    pub(super) fn judge_the_healing(&mut self) -> Result<(), Stop> {
        if self.agrees(&self.link) {
            return Ok(());
        }
        Err(Stop(format!("the two sides do not agree long after the last fault: {}", self.describe())))
    }

    /// Every message that was accepted has arrived once and in order, or its loss has a cause.
    pub(super) fn judge_the_end(&mut self) -> Result<(), Stop> {
        self.judge_turns()?;
        self.judge_waiting()?;
        match self.judge_messages() {
            // Only the counterparty has reset at the edge, and the numbers of before were used on.
            Err(Stop(_)) if self.link.diary.edge_while_wrong => Ok(()),
            judged => judged,
        }
    }

    fn judge_messages(&mut self) -> Result<(), Stop> {
        let platter = self.disk.platter();
        let sent = platter.application(self.link.stored(), RecordKind::Outbound, id_of);
        let came = platter.application(self.link.stored(), RecordKind::Inbound, id_of);
        // The counterparty was told, even if our application was not: the process died first.
        let refused: Vec<u64> = platter
            .log
            .iter()
            .filter(|kept| kept.session == self.link.stored() && kept.kind == RecordKind::Outbound)
            .filter(|kept| kept.generation.0 == self.link.generation)
            .filter(|kept| matches!(text::value_in(&kept.body, 35), Some(b"3" | b"j")))
            .filter_map(|kept| text::digits(text::value_in(&kept.body, 45)?))
            .collect();
        drop(platter);
        if self.totals.restored == 0 {
            let missing = missing("sent", sent.iter().map(|(.., id)| *id), &self.link.peer.received)?;
            for at in missing {
                let (generation, seq, id) = sent[at];
                let told = self
                    .link
                    .unreached
                    .iter()
                    .any(|(of, begin, end)| *of == generation && (*begin..=*end).contains(&seq));
                if generation == self.link.generation && !told {
                    return Err(Stop(format!(
                        "{seq} (ID {id}) was sent and never arrived, and nobody was told"
                    )));
                }
            }
            let mut numbers: Vec<_> = came.iter().map(|(generation, seq, _)| (*generation, *seq)).collect();
            numbers.sort_unstable();
            if let Some(twice) = numbers.windows(2).find(|pair| pair[0] == pair[1]) {
                return Err(Stop(format!("{:?} was processed twice", twice[0])));
            }
            let ids: Vec<u64> = came.iter().map(|(.., id)| *id).collect();
            for at in self::missing("received", self.link.peer.sent_ids.iter().map(|sent| sent.id), &ids)? {
                let one = self.link.peer.sent_ids[at];
                let excused = one.series != self.link.peer.series
                    || self.link.peer.filled.contains(&one.id)
                    || self.link.rejected.contains(&(one.series, one.seq))
                    || refused.contains(&one.seq)
                    || self.link.diary.is_skipped(one.seq)
                    || self.link.settings.validation.reject_garbled_message
                        && self.link.diary.was_lost(one.seq);
                if !excused {
                    return Err(Stop(format!(
                        "message {} (ID {}) of the counterparty was never processed",
                        one.seq, one.id
                    )));
                }
            }
        }
        self.judge_requests()
    }

    /// An order is there with all that the application has written because of it, in every session,
    /// or nothing of it is.
    fn judge_turns(&mut self) -> Result<(), Stop> {
        let place = self.link.place;
        let platter = self.disk.platter();
        let orders = platter.application(self.link.stored(), RecordKind::Inbound, |body| {
            id_of(body).filter(|_| text::value_in(body, 35) == Some(b"D"))
        });
        let mut stored: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
        for other in 0..self.sessions_there() {
            let written = platter.written(other as u32, id_of);
            for (origin, order) in written.into_iter().filter_map(order_of) {
                if origin == place {
                    stored.entry(order).or_default().push(other);
                }
            }
        }
        drop(platter);
        let mut counts: BTreeMap<u64, u32> = BTreeMap::new();
        for (.., order) in orders {
            *counts.entry(order).or_default() += 1;
        }
        for (order, count) in counts {
            let mut wanted = self.app.of(place).answered.get(&order).cloned().unwrap_or_default();
            let there = stored.remove(&order).unwrap_or_default();
            // Whether there is a cause for an order that was processed twice is judged elsewhere.
            if count > 1 {
                continue;
            }
            wanted.sort_unstable();
            if there != wanted {
                return Err(Stop(format!(
                    "order {order} of session {place} was answered in the sessions {wanted:?}, \
                     and the store has it in {there:?}"
                )));
            }
            if self.app.answers {
                let copies = there.iter().filter(|other| **other != place).count();
                self.totals.copies += copies as u64;
                self.totals.not_copied += (self.sessions_there() - 1 - copies) as u64;
            }
        }
        match stored.pop_first() {
            None => Ok(()),
            Some((order, there)) => Err(Stop(format!(
                "order {order} of session {place} was not processed, \
                 and the store has its answer in the sessions {there:?}"
            ))),
        }
    }

    /// With default keys and losses only on the way to the session, it asks once for each run that
    /// is lost.
    fn judge_requests(&self) -> Result<(), Stop> {
        let Faults { inbound, several, .. } = self.faults;
        let only = Faults { inbound, several, ..Faults::default() };
        if self.faults != only
            || self.link.diary.most_lost() >= self.link.settings.resend.max_resend_requests.get()
        {
            return Ok(());
        }
        // A request that is answered behind a gap is followed by ours for that (R-GAP-6).
        let most = self.link.diary.runs + 1 + self.link.peer.idle_requests;
        if self.link.peer.requests > most {
            let why =
                format!("{} ResendRequests for {} lost runs", self.link.peer.requests, self.link.diary.runs);
            return Err(Stop(why));
        }
        Ok(())
    }
}

fn id_of(body: &[u8]) -> Option<u64> {
    text::value_in(body, 11).and_then(text::digits)
}

/// Returns the places in `sent` of what is not in `came`.
fn missing(what: &str, sent: impl Iterator<Item = u64>, came: &[u64]) -> Result<Vec<usize>, Stop> {
    let mut missing = Vec::new();
    let mut came = came.iter().peekable();
    for (at, id) in sent.enumerate() {
        if came.next_if(|next| **next == id).is_none() {
            missing.push(at);
        }
    }
    match came.next() {
        Some(id) => Err(Stop(format!("{what}: ID {id} came twice, or out of order"))),
        None => Ok(missing),
    }
}
