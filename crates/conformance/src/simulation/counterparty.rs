//! A legal counterparty that is not our core: written from the rules of the session layer, without
//! a line of the session crate. Where the rules leave it free, its [`Habits`] decide.
//!
//! It also judges what it receives: what no session may send is a complaint.

mod attacking;
mod receiving;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::io::Write as _;

use fixbolt_codec::Version;

pub(super) use attacking::Attack;
use attacking::Attacks;

use super::dialect::{Dialect, Kind};
use super::habits::{Habits, Interleave, LogoutAnswer};
use super::random::Random;
use super::text::{self, Header, SECOND, Text};

/// The two clocks of a moment: nanoseconds since the world began, and since 1970.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Moment {
    pub(super) mono: u64,
    pub(super) utc: u64,
}

/// A message for the network.
#[derive(Clone, Debug)]
pub(super) struct Emission {
    pub(super) bytes: Vec<u8>,
    /// The numbers that it brings, without the last.
    pub(super) covers: (u64, u64),
    /// Whether it may not be lost alone: the operators of both sides agreed on it.
    pub(super) essential: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Phase {
    Down,
    AwaitingLogon,
    LogonSent,
    LoggedOn,
    LogoutSent,
    LogoutAnswered,
}

/// A message that it has sent in this series of numbers.
#[derive(Clone, Debug)]
struct Sent {
    msg_type: &'static str,
    body: Vec<u8>,
    at: u64,
    id: Option<u64>,
    poss_resend: bool,
}

/// An application message that it has sent, over all series.
#[derive(Clone, Copy, Debug)]
pub(super) struct SentId {
    pub(super) id: u64,
    pub(super) seq: u64,
    pub(super) series: u32,
}

#[derive(Clone, Copy, Debug)]
struct Replay {
    next: u64,
    end: u64,
    at: u64,
    begun: bool,
}

#[derive(Clone, Copy, Debug)]
struct Asked {
    begin: u64,
    end: u64,
    /// The last number of the part that it has asked for.
    to: u64,
    at: u64,
}

/// What it does later.
#[derive(Clone, Debug)]
enum Job {
    Heartbeat(Vec<u8>),
    AnswerLogout,
}

/// A reset in the session that it has begun.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Resetting {
    Testing,
    LogonSent,
}

pub(super) struct Counterparty {
    pub(super) dialect: Dialect,
    pub(super) connects: bool,
    pub(super) habits: Habits,
    pub(super) attacks: Attacks,
    random: Random,
    pub(super) own: &'static str,
    other: &'static str,
    pub(super) phase: Phase,
    pub(super) next_in: u64,
    pub(super) next_out: u64,
    /// Counts the resets of its outbound numbers: the series that it is in.
    pub(super) series: u32,
    /// Counts the resets of both numbers that it has begun itself.
    pub(super) own_resets: u32,
    /// Counts the resets of both numbers in which it has followed the session's Logon.
    pub(super) followed: u32,
    sent: Vec<Option<Sent>>,
    kept: BTreeMap<u64, Text>,
    asked: Option<Asked>,
    /// The most numbers that it asks for at once, since a larger request was refused.
    part: Option<u64>,
    /// The number of a Logout that is answered once the gap before it is filled, even by a gap fill
    /// that covers it.
    logout_waits: Option<u64>,
    replays: VecDeque<Replay>,
    jobs: Vec<(u64, Job)>,
    out: Vec<Emission>,
    pub(super) heart: u64,
    last_sent: u64,
    last_received: u64,
    test: Option<(u64, u64)>,
    tests: u64,
    deadline: u64,
    resetting: Option<Resetting>,
    /// Whether its next Logon has ResetSeqNumFlag=Y.
    pub(super) reset_next: bool,
    reset_asked: bool,
    sent_789: bool,
    ids: u64,
    pub(super) next_order: u64,
    pub(super) next_poke: u64,
    pub(super) connect_at: u64,
    waiting_orders: u64,
    pub(super) closing: bool,
    /// Whether it trades and pokes, or only answers.
    pub(super) active: bool,
    pub(super) sent_ids: Vec<SentId>,
    pub(super) filled: BTreeSet<u64>,
    /// The application messages that it has processed, in order.
    pub(super) received: Vec<u64>,
    /// What the session may not have done.
    pub(super) complaint: Option<String>,
    /// The Text of the Logout with which it refused the session's numbers.
    pub(super) refused: Option<String>,
    /// Whether it closed because it heard nothing.
    pub(super) timed_out: bool,
    /// Whether it has sent messages again in this connection.
    pub(super) replayed: bool,
    /// ResendRequests that it has received.
    pub(super) requests: u64,
    /// ResendRequests that it has sent for nothing.
    pub(super) idle_requests: u64,
    /// Logons of which each told the other side what it misses.
    pub(super) expected: u64,
    pub(super) tested: Vec<(u64, u64)>,
    pub(super) rejects: u64,
    pub(super) logouts_received: u64,
    /// Whether it has logged out, answered a Logout or closed in this connection.
    pub(super) left: bool,
    /// The new number of a SequenceReset to one that it had used, and its last ID before.
    pub(super) overtaking: Vec<(u64, u64)>,
}

const NEVER: u64 = u64::MAX;
/// How long it waits for a Logon or its answer, for the answer to a Logout, and for the other side
/// to close.
const LOGON_TIMEOUT: u64 = 10 * SECOND;
const LOGOUT_TIMEOUT: u64 = 10 * SECOND;

impl Counterparty {
    pub(super) fn new(
        name: &'static str,
        dialect: Dialect,
        connects: bool,
        habits: Habits,
        random: Random,
    ) -> Self {
        Self {
            dialect,
            connects,
            heart: habits.heart_bt_int * SECOND,
            habits,
            attacks: Attacks::default(),
            random,
            own: name,
            other: "US",
            phase: Phase::Down,
            next_in: 1,
            next_out: 1,
            series: 0,
            own_resets: 0,
            followed: 0,
            sent: Vec::new(),
            kept: BTreeMap::new(),
            asked: None,
            part: None,
            logout_waits: None,
            replays: VecDeque::new(),
            jobs: Vec::new(),
            out: Vec::new(),
            last_sent: 0,
            last_received: 0,
            test: None,
            tests: 0,
            deadline: NEVER,
            resetting: None,
            reset_next: false,
            reset_asked: false,
            sent_789: false,
            ids: 0,
            next_order: 0,
            next_poke: 0,
            connect_at: 0,
            waiting_orders: 0,
            closing: false,
            active: true,
            sent_ids: Vec::new(),
            filled: BTreeSet::new(),
            received: Vec::new(),
            complaint: None,
            refused: None,
            timed_out: false,
            replayed: false,
            requests: 0,
            idle_requests: 0,
            expected: 0,
            tested: Vec::new(),
            rejects: 0,
            logouts_received: 0,
            left: false,
            overtaking: Vec::new(),
        }
    }

    pub(super) fn take_output(&mut self) -> std::vec::Drain<'_, Emission> {
        self.out.drain(..)
    }

    /// Returns whether it has nothing left to send or to wait for.
    pub(super) fn is_quiet(&self) -> bool {
        self.phase == Phase::LoggedOn
            && self.replays.is_empty()
            && self.jobs.is_empty()
            && self.kept.is_empty()
            && self.resetting.is_none()
    }

    /// Returns when to call [`Counterparty::wake`].
    pub(super) fn next_deadline(&self) -> u64 {
        if self.phase == Phase::Down {
            return NEVER;
        }
        if self.attacks.is_mute() {
            return self.attacks.mute_until;
        }
        let mut next = self.deadline;
        for (at, _) in &self.jobs {
            next = next.min(*at);
        }
        if let Some(replay) = self.replays.front() {
            next = next.min(replay.at);
        }
        if matches!(self.phase, Phase::LoggedOn | Phase::LogoutSent) {
            next = next.min(self.last_sent + self.heart).min(self.silence_ends());
            if !self.kept.is_empty() {
                next = next.min(self.asked.map_or(0, |asked| asked.at + self.habits.patience));
            }
        }
        if self.active && self.phase == Phase::LoggedOn {
            next = next.min(self.next_order).min(self.next_poke);
        }
        next
    }

    fn silence_ends(&self) -> u64 {
        match self.test {
            Some((_, at)) => at.max(self.last_received) + self.heart * 3 / 2,
            None => self.last_received + self.heart * 3 / 2,
        }
    }

    /// Begins a connection.
    pub(super) fn connected(&mut self, now: Moment) {
        self.kept.clear();
        self.asked = None;
        self.logout_waits = None;
        self.replays.clear();
        self.jobs.clear();
        self.out.clear();
        self.test = None;
        self.resetting = None;
        self.closing = false;
        self.reset_asked = false;
        self.sent_789 = false;
        self.waiting_orders = 0;
        self.left = false;
        self.replayed = false;
        self.attacks.connected();
        (self.last_sent, self.last_received) = (now.mono, now.mono);
        self.deadline = now.mono + LOGON_TIMEOUT;
        self.phase = Phase::AwaitingLogon;
        if self.connects {
            self.phase = Phase::LogonSent;
            self.reset_asked = self.reset_next || self.habits.resets_on_logon;
            if self.reset_asked {
                self.reset();
                self.own_resets += 1;
                // Until the other side has answered with its own.
                self.reset_next = true;
            }
            let expected = self.next_in;
            self.send_logon(now, self.reset_asked, expected);
        }
    }

    pub(super) fn disconnected(&mut self, now: Moment) {
        self.phase = Phase::Down;
        self.out.clear();
        self.connect_at = now.mono + self.habits.reconnect + self.random.within(0, SECOND);
    }

    /// Both numbers begin again at 1.
    pub(super) fn reset(&mut self) {
        self.reset_next = false;
        (self.next_in, self.next_out) = (1, 1);
        self.series += 1;
        self.sent.clear();
        self.kept.clear();
        self.asked = None;
        self.replays.clear();
        self.attacks.series_began();
    }

    fn send_logon(&mut self, now: Moment, resets: bool, expected: u64) {
        let mut body = Vec::new();
        let _ = write!(body, "98=0\x01108={}\x01", self.heart / SECOND);
        if resets {
            body.extend_from_slice(b"141=Y\x01");
        }
        self.sent_789 = self.habits.next_expected && self.dialect.since(Version::Fix44);
        if self.sent_789 {
            let _ = write!(body, "789={expected}\x01");
        }
        if let Some(id) = self.dialect.appl_ver_id() {
            let _ = write!(body, "1137={id}\x01");
        }
        if resets || !self.starts_falsely(now, &body) {
            self.send(now, "A", body, None, false);
        }
    }

    fn header(&self, msg_type: &'static str, seq: u64, utc: u64) -> Header<'static> {
        Header {
            begin_string: self.dialect.begin_string(),
            msg_type,
            seq,
            sender: self.own,
            target: self.other,
            sending_time: utc,
            original: None,
            poss_resend: false,
            whole_seconds: self.dialect.whole_seconds(),
        }
    }

    fn send(
        &mut self,
        now: Moment,
        msg_type: &'static str,
        body: Vec<u8>,
        id: Option<u64>,
        poss_resend: bool,
    ) {
        let seq = self.next_out;
        self.next_out += 1;
        let header = Header { poss_resend, ..self.header(msg_type, seq, now.utc) };
        let bytes = text::compose(&header, &body);
        self.sent.resize(seq as usize - 1, None);
        self.sent.push(Some(Sent { msg_type, body, at: now.utc, id, poss_resend }));
        if let Some(id) = id {
            self.sent_ids.push(SentId { id, seq, series: self.series });
        }
        self.last_sent = now.mono;
        self.out.push(Emission { bytes, covers: (seq, seq + 1), essential: false });
    }

    /// Sends an application message; returns whether it may.
    fn order(&mut self, now: Moment) {
        if self.phase != Phase::LoggedOn || self.resetting.is_some() {
            return;
        }
        if !self.replays.is_empty() && self.habits.interleave != Interleave::Between {
            self.waiting_orders = (self.waiting_orders + 1).min(20);
            return;
        }
        let again = self.random.once_in(25);
        self.ids += 1;
        let id = self.ids;
        let kind = if self.random.once_in(2) { Kind::Order } else { Kind::Report };
        let body = self.dialect.body(kind, &id.to_string());
        let msg_type = if kind == Kind::Order { "D" } else { "8" };
        self.send(now, msg_type, body, Some(id), again);
    }

    fn test_request(&mut self, now: Moment) {
        self.tests += 1;
        if self.test.is_none() {
            self.test = Some((self.tests, now.mono));
        }
        let id = self.tests;
        self.tested.push((id, self.next_out));
        self.send(now, "1", format!("112=T{id}\x01").into_bytes(), None, false);
    }

    pub(super) fn log_out(&mut self, now: Moment, why: &str) {
        if self.phase != Phase::LoggedOn || self.resetting.is_some() {
            return;
        }
        let body = if why.is_empty() { Vec::new() } else { format!("58={why}\x01").into_bytes() };
        self.send(now, "5", body, None, false);
        self.left = true;
        self.phase = Phase::LogoutSent;
        self.deadline = now.mono + LOGOUT_TIMEOUT;
    }

    /// Ends the connection with a Logout that says why.
    fn refuse(&mut self, now: Moment, why: String) {
        self.send(now, "5", format!("58={why}\x01").into_bytes(), None, false);
        self.refused = Some(why);
        self.left = true;
        self.closing = true;
    }

    pub(super) fn close(&mut self) {
        self.left = true;
        self.closing = true;
    }

    /// Begins a reset of both numbers in the session, if it may.
    pub(super) fn begin_reset(&mut self, now: Moment) {
        let at_rest = self.is_quiet() && self.test.is_none() && self.asked.is_none();
        if at_rest && self.connects && self.dialect.since(Version::Fix41) {
            self.test_request(now);
            self.resetting = Some(Resetting::Testing);
            self.deadline = now.mono + LOGON_TIMEOUT;
        }
    }

    /// Resets both numbers in the session at once, if it may, without a TestRequest.
    pub(super) fn reset_now(&mut self, now: Moment) {
        if self.is_quiet() && self.connects && self.dialect.since(Version::Fix41) {
            self.send_reset(now);
        }
    }

    fn send_reset(&mut self, now: Moment) {
        self.reset();
        self.own_resets += 1;
        self.resetting = Some(Resetting::LogonSent);
        self.reset_asked = true;
        // Until the other side has answered with its own.
        self.reset_next = true;
        self.deadline = now.mono + LOGON_TIMEOUT;
        self.send_logon(now, true, 1);
    }

    /// Sends SequenceReset-Reset to a number above all that it has used.
    pub(super) fn jump(&mut self, now: Moment) {
        if self.phase != Phase::LoggedOn || self.resetting.is_some() || !self.replays.is_empty() {
            return;
        }
        let to = self.next_out + self.random.within(1, 30);
        // What the other side misses now, it never gets.
        self.series += 1;
        self.sequence_reset(now, to);
    }

    fn sequence_reset(&mut self, now: Moment, to: u64) {
        let seq = self.next_out;
        let bytes = text::compose(&self.header("4", seq, now.utc), format!("36={to}\x01").as_bytes());
        self.last_sent = now.mono;
        self.out.push(Emission { bytes, covers: (0, to), essential: true });
        self.sent.resize(to as usize - 1, None);
        self.next_out = to;
        self.replays.clear();
    }

    /// Answers a ResendRequest that it has not begun to answer by a SequenceReset-Reset to a number
    /// that it has used after the gap: its store was put back, and both operators agreed.
    /// `above` is the number that the session expects.
    pub(super) fn overtake(&mut self, now: Moment, above: u64) -> bool {
        let Some(Replay { next, begun: false, .. }) = self.replays.front().copied() else { return false };
        let above = above.max(next) + 1;
        if self.replays.len() > 1 || above >= self.next_out || self.phase != Phase::LoggedOn {
            return false;
        }
        let to = self.random.within(above, self.next_out);
        self.series += 1;
        self.overtaking.push((to, self.ids));
        self.sequence_reset(now, to);
        true
    }

    fn ask(&mut self, now: Moment, end: u64) {
        let begin = self.next_in;
        let part = self.part.map(|part| begin + part - 1).filter(|to| *to < end);
        self.asked = Some(Asked { begin, end, to: part.unwrap_or(end), at: now.mono });
        // What it asks for without an end may be more than a part.
        let is_closed = self.habits.closed_requests || self.part.is_some();
        let to = part.unwrap_or(if is_closed { end } else { self.dialect.infinity() });
        self.send(now, "2", format!("7={begin}\x0116={to}\x01").into_bytes(), None, false);
    }

    fn replay(&mut self, now: Moment, begin: u64, end: u64) {
        self.replayed = true;
        if self.habits.restarts {
            self.replays.clear();
        }
        let delay =
            if self.habits.replay_delay == 0 { 0 } else { self.random.within(0, self.habits.replay_delay) };
        self.replays.push_back(Replay { next: begin, end, at: now.mono + delay, begun: false });
    }

    fn answer_logout(&mut self, now: Moment) {
        self.send(now, "5", Vec::new(), None, false);
        self.left = true;
        self.phase = Phase::LogoutAnswered;
        self.deadline = now.mono + LOGOUT_TIMEOUT;
        if self.habits.closes && self.random.once_in(2) {
            self.closing = true;
        }
    }

    /// Does what is due.
    pub(super) fn wake(&mut self, now: Moment) {
        if self.phase == Phase::Down || self.closing {
            return;
        }
        if self.attacks.is_mute() && self.attacks.mute_until > now.mono {
            return;
        }
        if self.deadline <= now.mono || self.attacks.is_mute() {
            self.left = true;
            self.closing = true;
            return;
        }
        while let Some(at) = self.jobs.iter().position(|(at, _)| *at <= now.mono) {
            match self.jobs.swap_remove(at).1 {
                Job::Heartbeat(body) if self.may_send() => self.send(now, "0", body, None, false),
                Job::AnswerLogout if self.phase == Phase::LoggedOn => self.answer_logout(now),
                _ => {}
            }
        }
        self.go_on_with_replay(now);
        if !matches!(self.phase, Phase::LoggedOn | Phase::LogoutSent) {
            return;
        }
        if self.silence_ends() <= now.mono {
            if self.test.is_some() && self.phase == Phase::LoggedOn {
                self.timed_out = true;
                self.left = true;
                self.closing = true;
                return;
            }
            if self.may_send() {
                self.test = None;
                self.test_request(now);
            } else {
                self.last_received = now.mono;
            }
        }
        if self.last_sent + self.heart <= now.mono {
            if self.may_send() {
                self.send(now, "0", Vec::new(), None, false);
            } else {
                self.last_sent = now.mono;
            }
        }
        let waits = self.asked.is_some_and(|asked| now.mono < asked.at + self.habits.patience);
        if let Some((first, _)) = self.kept.first_key_value()
            && !waits
        {
            let end = first - 1;
            self.ask(now, end);
        }
        if self.active && self.phase == Phase::LoggedOn {
            if self.next_order <= now.mono {
                self.next_order = now.mono + self.random.within(1, self.habits.order_interval * 2);
                self.order(now);
            }
            if self.next_poke <= now.mono {
                self.next_poke = now.mono + self.random.within(1, self.habits.poke_interval * 2);
                self.poke(now);
            }
        }
    }

    /// Returns whether it may send a new message of the session layer now.
    fn may_send(&self) -> bool {
        self.phase == Phase::LoggedOn && self.resetting != Some(Resetting::LogonSent)
    }

    /// Sends something that nobody asked for.
    fn poke(&mut self, now: Moment) {
        if self.resetting.is_some() {
            return;
        }
        match self.random.within(0, 5) {
            0 => self.send(now, "0", Vec::new(), None, false),
            1 if self.next_in > 1 => {
                // It asks for what it has already received.
                let begin = self.random.within(1, self.next_in);
                let end = if self.random.once_in(2) {
                    self.dialect.infinity()
                } else {
                    self.random.within(begin, self.next_in)
                };
                self.idle_requests += 1;
                self.send(now, "2", format!("7={begin}\x0116={end}\x01").into_bytes(), None, false);
            }
            2 => {
                for _ in 0..self.random.within(2, 20) {
                    self.order(now);
                }
            }
            _ => self.test_request(now),
        }
    }

    fn go_on_with_replay(&mut self, now: Moment) {
        let Some(mut replay) = self.replays.front().copied() else { return };
        if replay.at > now.mono {
            return;
        }
        let mut left = self.habits.part;
        while replay.next <= replay.end && left > 0 {
            replay.begun = true;
            left -= 1;
            let seq = replay.next;
            let sent = self.sent.get(seq as usize - 1).cloned().flatten();
            if let Some(sent) = sent.filter(|sent| self.is_sent_again(sent)) {
                let header = Header {
                    original: Some(sent.at),
                    poss_resend: sent.poss_resend,
                    ..self.header(sent.msg_type, seq, now.utc)
                };
                let bytes = text::compose(&header, &sent.body);
                self.out.push(Emission { bytes, covers: (seq, seq + 1), essential: false });
                replay.next += 1;
            } else {
                let mut to = seq + 1;
                while self.habits.merges_fills
                    && to <= replay.end
                    && !self
                        .sent
                        .get(to as usize - 1)
                        .cloned()
                        .flatten()
                        .is_some_and(|sent| self.is_sent_again(&sent))
                {
                    to += 1;
                }
                let header = Header { original: Some(now.utc), ..self.header("4", seq, now.utc) };
                let bytes = text::compose(&header, format!("123=Y\x0136={to}\x01").as_bytes());
                self.out.push(Emission { bytes, covers: (seq, to), essential: false });
                // A session that had no room to keep what is wrong never reads it.
                self.attacks.wrong.retain(|wrong| !(seq..to).contains(&wrong.seq));
                replay.next = to;
            }
            self.last_sent = now.mono;
        }
        self.replays.pop_front();
        if replay.next <= replay.end {
            replay.at = now.mono + self.habits.part_pause;
            self.replays.push_front(replay);
        } else if self.replays.is_empty() && self.phase == Phase::LoggedOn {
            for _ in 0..std::mem::take(&mut self.waiting_orders) {
                self.order(now);
            }
        }
    }

    /// Returns whether a message is sent again or filled; once filled, it stays so.
    fn is_sent_again(&mut self, sent: &Sent) -> bool {
        let Some(id) = sent.id else { return false };
        if self.filled.contains(&id) {
            return false;
        }
        if self.random.chance(self.habits.fills) {
            self.filled.insert(id);
            return false;
        }
        true
    }
}
