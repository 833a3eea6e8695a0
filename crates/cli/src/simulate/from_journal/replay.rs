//! Replays the turns of one journal into a session, in their order and at their times, and compares
//! what the session sends.

use std::collections::{BTreeSet, HashMap};
use std::time::Duration;

use fixbolt_codec::{Precision, SeqNum, UtcTimestamp};
use fixbolt_session::runtime::mono;
use fixbolt_session::store::{ConnectionNumber, Record, RecordFlags, RecordKind, Recovered};
use fixbolt_session::{
    MatrixState, Mono, Next, Now, OpenError, Read, SessionKey, SessionSettings, Sessions, Socket, Utc,
};

use super::application::{Part, Recorded};
use super::comparison::Comparison;
use super::outcome::{Outcome, limit};
use super::recorder::{Made, Recorder, Written};
use super::turn::Turn;
use super::wire::{msg_type, number, sealed};

/// How late a timer may be: what the journal has until then may have come first.
const LATE: Duration = Duration::from_secs(1);

/// The most calls for one message or one timer.
const ROUNDS: usize = 10_000;

/// A session into which a journal is replayed.
pub(super) struct Replay<'t, 'j> {
    pub(super) turns: &'t [Turn<'j>],
    /// The last turn of each connection that shows that it is still there.
    alive_until: HashMap<ConnectionNumber, usize>,
    pub(super) sessions: Sessions,
    pub(super) key: SessionKey,
    /// What the session asks for.
    next: Next,
    pub(super) begin_string: &'static str,
    /// The CompIDs of the counterparty and of us, as the counterparty writes them.
    pub(super) comp_ids: String,
    pub(super) app: Recorded,
    committed: Written,
    /// What the session has processed without being given it in that turn: it waited for others.
    processed: Vec<Made>,
    /// MsgSeqNums of the messages that it was given before their turn.
    given: BTreeSet<SeqNum>,
    /// The first of the missing messages after which everything that waits was given to it.
    pub(super) missing: Option<SeqNum>,
    /// Number of resets that the session has made, counted from the journal's first generation.
    pub(super) generation: u32,
    clock: Clock,
    connection: Option<ConnectionNumber>,
    /// Whether the session has a connection.
    pub(super) is_connected: bool,
    /// HeartBtInt (108) of the last Logon.
    heart_bt_int: Duration,
    /// Whether nothing was given to the session since it has sent a TestRequest.
    pub(super) is_tested: bool,
    /// When the turn before was.
    before: Now,
    pub(super) comparison: Comparison,
}

/// The clocks of a journal. That of timers begins anew when the machine does.
#[derive(Default)]
struct Clock {
    now: Now,
    recorded: Mono,
    offset: i128,
}

impl Clock {
    fn at(&mut self, record: &Record<'_>) -> Now {
        if record.mono < self.recorded {
            let passed = record.utc.0.saturating_sub(self.now.utc.0);
            self.offset =
                i128::from(self.now.mono.nanos()) + i128::from(passed) - i128::from(record.mono.nanos());
        }
        self.recorded = record.mono;
        let nanos = u64::try_from(i128::from(record.mono.nanos()) + self.offset).unwrap_or(u64::MAX);
        self.now = Now { mono: mono(nanos), utc: record.utc };
        self.now
    }

    /// Returns the time of a timer that is due since the last record.
    fn due(&self, mono: Mono) -> Now {
        Now { mono: mono.max(self.now.mono), utc: self.now.utc + (mono - self.now.mono) }
    }
}

/// Replays the turns. They end with the one after which the replay is to stop.
pub(super) fn replay(turns: &[Turn<'_>], settings: SessionSettings) -> Result<Outcome, OpenError> {
    let Some(first) = turns.iter().position(Turn::has_logon) else {
        let records = turns.iter().map(|turn| turn.records().len() as u64).sum();
        let mut outcome = Outcome::default();
        if records > 0 {
            outcome.limits.insert(limit::BEFORE, records);
        }
        return Ok(outcome);
    };
    // What precedes the first connection of a session can be repeated.
    let is_whole = turns[0].connection() == ConnectionNumber(0);
    let (skipped, turns) = turns.split_at(if is_whole { 0 } else { first });
    let mut replay = Replay::open(turns, settings)?;
    let before = skipped.iter().map(|turn| turn.records().len() as u64).sum();
    replay.comparison.count(limit::BEFORE, before);
    for at in 0..turns.len() {
        replay.turn(at);
    }
    replay.leave_rest();
    Ok(replay.comparison.outcome)
}

impl<'t, 'j> Replay<'t, 'j> {
    fn open(turns: &'t [Turn<'j>], settings: SessionSettings) -> Result<Self, OpenError> {
        let first = turns[0].first();
        let generation = turns[0].generation;
        let of_first = || turns.iter().take_while(|turn| turn.generation == generation);
        let next_out = of_first().flat_map(Turn::outbound).next().map_or(SeqNum::ONE, |record| record.seq);
        let next_in = turns[0].next_in_before().unwrap_or(SeqNum::ONE);
        let is_new = (next_in, next_out) == (SeqNum::ONE, SeqNum::ONE);
        let resets = u32::try_from(turns[0].of(RecordKind::Reset).count()).unwrap_or(u32::MAX);
        let mut start = Recovered { next_in, next_out, ..Recovered::default() };
        start.generation.0 = generation.0.wrapping_sub(resets);
        start.connection.0 = first.connection.0.saturating_sub(1);
        start.since = (!is_new).then_some(first.utc);
        let committed = Written::default();
        let mut alive_until = HashMap::new();
        for (at, turn) in turns.iter().enumerate().filter(|(_, turn)| turn.shows_connection()) {
            alive_until.insert(turn.connection(), at);
        }
        let begin_string = settings.id.version().begin_string();
        let comp_ids =
            format!("49={}\u{1}56={}\u{1}", settings.id.target_comp_id(), settings.id.sender_comp_id());
        let store = Recorder::around_memory(start.clone(), committed.clone());
        let mut sessions = Sessions::new(Box::new(store), settings.limits.max_message_size);
        let (mut app, mut clock) = (Recorded::default(), Clock::default());
        let key = sessions.open(clock.at(first), settings, &mut app)?;
        Ok(Self {
            turns,
            alive_until,
            sessions,
            key,
            next: Next::default(),
            begin_string,
            comp_ids,
            app,
            committed,
            processed: Vec::new(),
            given: BTreeSet::new(),
            missing: None,
            generation: start.generation.0,
            clock,
            connection: None,
            is_connected: false,
            heart_bt_int: Duration::ZERO,
            is_tested: false,
            before: Now::default(),
            comparison: Comparison::default(),
        })
    }

    fn turn(&mut self, at: usize) {
        let turn = &self.turns[at];
        let before = self.clock.now;
        let mut later = Clock { now: before, ..self.clock };
        let now = later.at(turn.first());
        let begins = self.connection != Some(turn.connection()) && turn.has_logon();
        if begins {
            self.end_connection(before);
            self.leave_rest();
        }
        self.pass_time(at, now);
        self.clock = later;
        self.before = before;
        if begins {
            self.begin_connection(at, now);
        }
        if let Some(inbound) = turn.inbound() {
            if !self.processed.iter().any(|made| is_record(made, inbound)) {
                self.leave_rest();
            }
            self.receive(at, inbound, now);
        } else if turn.outbound().next().is_none() {
            self.change(turn, now);
        } else if turn.answers_unread() {
            return self.skip(turn, now);
        } else {
            self.send(at, now);
        }
        let refused = std::mem::take(&mut self.app.refused);
        self.comparison.compare(turn, refused);
        self.give_rest_of_gap(at, now);
        self.follow_generation(at);
        // The acceptor's Logon decides, which is the last one.
        let logon = turn.records().iter().rev().find(|record| msg_type(record.body) == b"A");
        if let Some(seconds) = logon.and_then(|logon| number(logon.body, 108)) {
            self.heart_bt_int = Duration::from_secs(seconds);
        }
    }

    /// Runs the timers that are due before a turn. Those that are a little late may have been
    /// overtaken by it.
    fn pass_time(&mut self, at: usize, now: Now) {
        let turn = &self.turns[at];
        let by_timer = turn.unasked().is_some_and(|record| record.cause.is_none());
        // The message of a timer may be as late as the next one.
        let late = if by_timer { self.heart_bt_int.max(LATE) } else { LATE };
        for _ in 0..ROUNDS {
            let Some(due) = self.next().deadline.filter(|due| *due + late <= now.mono) else { return };
            let is_alive = self
                .connection
                .is_none_or(|number| self.alive_until.get(&number).is_some_and(|last| at <= *last));
            if self.is_connected && !is_alive {
                // Nothing shows that it was still there, and a session that is logged on is not
                // silent for so long.
                self.end_connection(self.clock.due(due));
                continue;
            }
            let time = self.clock.due(due);
            if self.heard_while_missing(time) && self.next().deadline != Some(due) {
                continue;
            }
            self.wake(time);
            // What it has sent is in no turn.
            self.comparison.leave_rest(time.utc);
            if self.next().deadline == Some(due) {
                return;
            }
        }
    }

    /// While messages are missing, gives the session what only counts as a sign of life: a message
    /// that it has had already. What arrives after a gap is recorded once it is processed. Returns
    /// whether that was so.
    pub(super) fn heard_while_missing(&mut self, now: Now) -> bool {
        let next_in = self.sessions.numbers(self.key).map(|(next_in, _)| next_in);
        let Some(next_in) = next_in.filter(|next_in| *next_in > SeqNum::ONE) else { return false };
        if self.sessions.matrix_state(self.key) != Some(MatrixState::AwaitingResend) {
            return false;
        }
        let (seq, time) = (next_in.previous(), sending_time(now.utc));
        let fields = format!("35=0\u{1}{}34={seq}\u{1}43=Y\u{1}52={time}\u{1}122={time}\u{1}", self.comp_ids);
        self.give(&sealed(self.begin_string.as_bytes(), fields.as_bytes()), now);
        self.comparison.count(limit::SIGN, 1);
        true
    }

    /// Returns when the counterparty was last heard of, if the session sends a TestRequest now.
    pub(super) fn silent_since(&self, now: Now) -> Now {
        let percent = self
            .sessions
            .settings(self.key)
            .map_or(120, |settings| settings.timing.test_request_delay_multiplier.whole_percent());
        let silence = self.heart_bt_int * percent / 100;
        let silence = silence.min(now.mono - self.before.mono);
        let earlier = |at: u64| at.saturating_sub(u64::try_from(silence.as_nanos()).unwrap_or_default());
        Now { mono: mono(earlier(now.mono.nanos())), utc: Utc(earlier(now.utc.0)) }
    }

    fn begin_connection(&mut self, at: usize, now: Now) {
        let turn = &self.turns[at];
        let number = turn.connection();
        self.connection = Some(number);
        self.processed.clear();
        self.given.clear();
        self.missing = None;
        self.app.waiting.clear();
        let resets = turn.of(RecordKind::Reset).next().is_some();
        if let Some((next_in, next_out)) = self.sessions.numbers(self.key)
            && !resets
        {
            // What the session was to send next shows in the first message of the connection.
            let first = self.turns[at..]
                .iter()
                .take_while(|other| other.generation == turn.generation)
                .flat_map(Turn::outbound)
                .next()
                .map(|record| record.seq);
            let expected = turn.next_in_before().filter(|expected| *expected != next_in);
            let out = first.filter(|first| *first > next_out);
            if let (Some(out), 0) = (out, self.comparison.shift) {
                self.comparison.count(limit::GIVEN_UP, out.0 - next_out.0);
            }
            if expected.is_some() {
                self.comparison.count(limit::SET, 1);
            }
            if expected.is_some() || out.is_some() {
                let set = self.sessions.set_numbers(now, self.key, (expected, out), "replay", &mut self.app);
                if let Err(error) = set {
                    self.comparison.note(now.utc, format!("the sequence numbers cannot be set: {error}"));
                }
            }
            if let Some(first) = first {
                self.comparison.shift = i128::from(first.0) - i128::from(out.unwrap_or(next_out).0);
            }
        }
        if !self.sessions.can_connect(self.key) {
            let why = self.sessions.halted(self.key).map_or_else(
                || "its settings do not allow a connection at this time".to_owned(),
                ToString::to_string,
            );
            self.comparison.note(now.utc, format!("the replayed session cannot connect: {why}"));
            return;
        }
        self.app.part = Part::of(turn);
        self.sessions.connected(now, self.key, &mut self.app);
        self.is_connected = true;
        self.settle(now);
    }

    pub(super) fn end_connection(&mut self, now: Now) {
        if std::mem::take(&mut self.is_connected) {
            self.sessions.disconnected(now, self.key, &mut self.app);
            self.take_committed();
        }
    }

    /// Ends the connection if the session wants that, although the recorded one went on.
    pub(super) fn end_early(&mut self, now: Now) {
        if self.is_connected && self.next().close {
            self.is_connected = false;
            let end = self.sessions.disconnected(now, self.key, &mut self.app);
            self.take_committed();
            if let Some(end) = end {
                self.comparison
                    .note(now.utc, format!("the replayed session has ended the connection: {end}"));
            }
        }
    }

    /// Gives the session a message of the counterparty.
    fn receive(&mut self, at: usize, inbound: &Record<'_>, now: Now) {
        self.end_early(now);
        if !self.is_connected {
            return self.comparison.count(limit::LEFT, 1);
        }
        let turn = &self.turns[at];
        let mut part = Part::of(turn);
        if turn.has_logon()
            && let Some(next) = self.turns.get(at + 1)
            && next.first().mono == inbound.mono
            && next.inbound().is_none()
            && next.by_application().all(|record| record.cause.is_none())
        {
            part.then(next);
        }
        self.app.part = part;
        // The session has kept a message that it was given before its turn, and goes on with those
        // a little at a time.
        for _ in 0..ROUNDS {
            if self.has_processed(inbound) {
                self.comparison.outcome.inbound += 1;
                return;
            }
            if self.next().read != Read::Again {
                break;
            }
            self.sessions.receive(now, self.key, &[], &mut self.app);
            self.settle(now);
        }
        // A ResendRequest after a gap is recorded when it is answered, and again in its turn.
        self.given.insert(inbound.seq);
        if self.give(inbound.body, now) == inbound.body.len() {
            self.comparison.outcome.inbound += 1;
            self.has_processed(inbound);
        } else {
            self.comparison.count(limit::LEFT, 1);
        }
    }

    /// While messages are missing, gives the session what has arrived after the gap: it is recorded
    /// once it is processed, and may have arrived at any time until then.
    fn give_rest_of_gap(&mut self, at: usize, now: Now) {
        let next_in = self.sessions.numbers(self.key).map(|(next_in, _)| next_in);
        // The ResendRequest may be a turn of its own.
        if next_in == self.missing
            || !self.comparison.is_done()
            || self.sessions.matrix_state(self.key) != Some(MatrixState::AwaitingResend)
            // Each of them has caused a ResendRequest, which says when it arrived.
            || self.sessions.settings(self.key).is_none_or(|s| s.resend.send_redundant_resend_requests)
        {
            return;
        }
        self.missing = next_in;
        for later in self.arrived_after_gap(at) {
            self.give_waiting(later, now);
        }
    }

    /// Returns the turns, after that at `at`, of messages that arrived while others were missing:
    /// they were processed together with the one that was missing last. What was sent again arrived
    /// later, and what was answered at once is recorded twice.
    pub(super) fn arrived_after_gap(&self, at: usize) -> Vec<usize> {
        let Some((next_in, _)) = self.sessions.numbers(self.key) else { return Vec::new() };
        let turn = &self.turns[at];
        let (mut found, mut answered, mut last) = (Vec::new(), BTreeSet::new(), None);
        for (later, place) in self.turns[at + 1..].iter().zip(at + 1..) {
            if later.connection() != turn.connection() || later.generation != turn.generation {
                break;
            }
            let Some(inbound) = later.inbound() else {
                let asks_for = later.unasked().filter(|sent| msg_type(sent.body) == b"2");
                if asks_for.is_some_and(|sent| sent.cause.is_none_or(|seq| !answered.contains(&seq))) {
                    // Another gap, or the same one once more: what comes later arrived after that.
                    break;
                }
                continue;
            };
            if inbound.next_in <= inbound.seq {
                answered.insert(inbound.seq);
                continue;
            }
            let is_after_gap = inbound.seq > next_in && !inbound.flags.contains(RecordFlags::POSS_DUP);
            if is_after_gap && !answered.contains(&inbound.seq) {
                // A ResendRequest would have been answered, and then come those that arrived later.
                if last != Some(inbound.mono) || matches!(msg_type(inbound.body), b"2" | b"4" | b"A") {
                    break;
                }
                if !self.given.contains(&inbound.seq) {
                    found.push(place);
                }
            }
            last = Some(inbound.mono);
        }
        found
    }

    /// Gives the session a message before its turn.
    pub(super) fn give_waiting(&mut self, later: usize, now: Now) {
        let turn = &self.turns[later];
        let Some(inbound) = turn.inbound() else { return };
        self.given.insert(inbound.seq);
        self.app.waiting.insert(inbound.seq, Part::of(turn));
        self.give(inbound.body, now);
    }

    /// Returns whether the session has processed this message, once for each time.
    fn has_processed(&mut self, inbound: &Record<'_>) -> bool {
        let found = self.processed.iter().position(|made| is_record(made, inbound));
        found.map(|at| self.processed.remove(at)).is_some()
    }

    /// Passes bytes to the session until it reads no more of them. Returns how many it has read.
    pub(super) fn give(&mut self, bytes: &[u8], now: Now) -> usize {
        let mut read = 0;
        self.is_tested = false;
        for _ in 0..ROUNDS {
            let before = read;
            read += self.sessions.receive(now, self.key, &bytes[read..], &mut self.app);
            self.settle(now);
            if read == bytes.len() || read == before && self.next().read != Read::Again {
                break;
            }
        }
        read
    }

    /// Runs the timers that are due.
    pub(super) fn wake(&mut self, now: Now) {
        self.sessions.wake(now, self.key, &[], &mut self.app);
        self.settle(now);
    }

    /// Runs the timers that are due, if there are any. Returns whether the session has sent a
    /// message of this type because of that.
    pub(super) fn woke(&mut self, kind: &[u8], now: Now) -> bool {
        let is_due = self.next().deadline.is_some_and(|due| due <= now.mono);
        if is_due {
            self.wake(now);
        }
        self.comparison.has(kind)
    }

    /// Returns what the session asks for.
    pub(super) fn next(&mut self) -> Next {
        while let Some((_, next)) = self.sessions.poll() {
            self.next = next;
        }
        self.next
    }

    /// Has the socket accept everything, and a replay go on.
    pub(super) fn settle(&mut self, now: Now) {
        for _ in 0..ROUNDS {
            let bytes = self.sessions.writable(self.key).bytes.len();
            if bytes > 0 {
                self.sessions.wrote(now, self.key, bytes, Socket::Full);
            }
            let replays = self.sessions.matrix_state(self.key) == Some(MatrixState::HandlingResendRequest);
            if !replays || self.next().read == Read::Nothing {
                break;
            }
            self.sessions.receive(now, self.key, &[], &mut self.app);
            if self.sessions.writable(self.key).bytes.is_empty() {
                break;
            }
        }
        self.take_committed();
    }

    pub(super) fn take_committed(&mut self) {
        while let Some(made) = self.committed.take() {
            match made.kind {
                RecordKind::Reset => {
                    self.generation = self.generation.wrapping_add(1);
                    self.given.clear();
                    self.missing = None;
                    self.comparison.shift = 0;
                }
                RecordKind::Inbound => self.processed.push(made),
                _ => {
                    self.is_tested |= msg_type(&made.body) == b"1";
                    self.comparison.add(made);
                }
            }
        }
    }

    fn leave_rest(&mut self) {
        self.comparison.leave_rest(self.clock.now.utc);
    }

    /// Says if the session and the journal have not reset alike, and goes on.
    fn follow_generation(&mut self, at: usize) {
        let turn = &self.turns[at];
        // A message may cause a turn of its own that resets.
        let follows = |next: &Turn<'_>| next.inbound().is_none() && next.generation.0 == self.generation;
        if self.generation != turn.generation.0 && !self.turns.get(at + 1).is_some_and(follows) {
            let who = if self.generation > turn.generation.0 {
                "the replayed session has reset its sequence numbers, the recorded one has not"
            } else {
                "the recorded session has reset its sequence numbers, the replayed one has not"
            };
            self.comparison.note(turn.first().utc, who.to_owned());
            self.generation = turn.generation.0;
        }
    }
}

/// Returns whether the session has recorded the same message.
fn is_record(made: &Made, inbound: &Record<'_>) -> bool {
    made.seq == inbound.seq && made.body == inbound.body
}

/// Returns a time as it is in SendingTime (52), in whole seconds, which every version has.
pub(super) fn sending_time(utc: Utc) -> String {
    UtcTimestamp::from_unix_nanos(utc.0, Precision::Seconds).to_string()
}
