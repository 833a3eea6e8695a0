//! Repeats what no message of the counterparty caused: what timers, the application and operators
//! did, and what depends on messages that are not recorded at that time.

use fixbolt_codec::SeqNum;
use fixbolt_session::store::{ConnectionNumber, Record, RecordKind};
use fixbolt_session::{ChangeError, Now};

use super::application::{Part, write};
use super::outcome::limit;
use super::replay::{Replay, sending_time};
use super::turn::Turn;
use super::wire::{is_session_layer, msg_type, sealed, text, value};

impl Replay<'_, '_> {
    /// Has the session send what no message of this turn caused, unless it has sent it already.
    pub(super) fn send(&mut self, at: usize, now: Now) {
        let turn = &self.turns[at];
        let Some(first) = turn.outbound().next() else { return };
        if self.comparison.equal_to(first).is_some() {
            return;
        }
        if !is_session_layer(first.body) {
            return self.act(turn, now);
        }
        self.end_early(now);
        let kind = msg_type(first.body);
        if kind == b"2" {
            return self.ask(at, first, now);
        }
        // Messages that wait for others have answered a TestRequest, or made it unnecessary.
        match kind {
            b"0" => drop(self.heard_while_missing(now)),
            b"1" if self.is_tested => drop(self.heard_while_missing(self.silent_since(now))),
            _ => {}
        }
        if self.woke(kind, now) {
            return;
        }
        match kind {
            b"1" => self.test(at, now),
            b"5" => {
                let text = text(first.body, 58);
                let sent = self.sessions.log_out(now, self.key, &text, &mut self.app);
                self.outside(sent.map_err(ChangeError::from), now);
            }
            _ => {}
        }
    }

    /// Sends what the application sent of its own accord, as one turn.
    fn act(&mut self, turn: &Turn<'_>, now: Now) {
        if self.next().close {
            // It was kept for the next connection.
            self.end_connection(now);
        }
        let acted = self.sessions.act(now, self.key, &mut self.app, |own| {
            for record in turn.by_application() {
                write(own, record.body)?;
            }
            Ok(())
        });
        if let Err(error) = acted {
            self.app.refused.push(error.to_string());
        }
        self.settle(now);
    }

    /// Sends a TestRequest that somebody asked for, or begins the reset in the session that
    /// follows.
    fn test(&mut self, at: usize, now: Now) {
        let turn = &self.turns[at];
        let id = turn.unasked().and_then(|request| value(request.body, 112));
        let reset = begun_by(&self.turns[at + 1..], turn.connection(), id);
        let sent = match reset {
            Some(reset) => {
                let why = String::from_utf8_lossy(reset.body);
                self.sessions.reset_in_session(now, self.key, &why, &mut self.app)
            }
            None => self.sessions.test_request(now, self.key, &mut self.app).map_err(ChangeError::from),
        };
        self.outside(sent, now);
    }

    fn outside(&mut self, sent: Result<(), ChangeError>, now: Now) {
        match sent {
            Ok(()) => self.comparison.count(limit::FROM_OUTSIDE, 1),
            Err(error) => self.app.refused.push(error.to_string()),
        }
        self.settle(now);
    }

    /// Has the session ask for missing messages, by the message that arrived after the gap. If that
    /// is not recorded later, because the connection ended or because it was sent again, a gap fill
    /// stands for it.
    fn ask(&mut self, at: usize, request: &Record<'_>, now: Now) {
        let Some(seq) = request.cause else { return };
        self.app.part = Part::default();
        self.missing = None;
        let arrived = self.arrived_after_gap(at);
        let trigger = arrived
            .into_iter()
            .find(|later| self.turns[*later].inbound().is_some_and(|inbound| inbound.seq == seq));
        if let Some(later) = trigger {
            self.give_waiting(later, now);
            if self.comparison.equal_to(request).is_some() {
                return;
            }
        }
        let time = sending_time(now.utc);
        let again = format!("43=Y\u{1}122={time}\u{1}");
        // The first one that is sent again may count for the answer to an earlier request.
        for again in [String::new(), again.clone(), again] {
            let fields = format!(
                "35=4\u{1}{}34={seq}\u{1}52={time}\u{1}{again}123=Y\u{1}36={}\u{1}",
                self.comp_ids,
                seq.next()
            );
            self.give(&sealed(self.begin_string.as_bytes(), fields.as_bytes()), now);
            if !self.comparison.is_done() {
                return self.comparison.count(limit::GAP, 1);
            }
        }
    }

    /// Leaves out a turn that answers a message that is not in the journal.
    pub(super) fn skip(&mut self, turn: &Turn<'_>, now: Now) {
        let messages = turn.outbound().count() as u64;
        self.comparison.count(limit::UNREAD, messages);
        let (Some(last), Some((next_in, next_out))) =
            (turn.records().last(), self.sessions.numbers(self.key))
        else {
            return;
        };
        let numbers = (Some(last.next_in.max(next_in)), Some(SeqNum(next_out.0.saturating_add(messages))));
        let set = self.sessions.set_numbers(now, self.key, numbers, "replay", &mut self.app);
        if let Err(error) = set {
            self.comparison.note(now.utc, format!("the sequence numbers cannot be set: {error}"));
        }
    }

    /// Repeats what changed sequence numbers without a message.
    pub(super) fn change(&mut self, turn: &Turn<'_>, now: Now) {
        for record in turn.records() {
            let why = String::from_utf8_lossy(record.body);
            match record.kind {
                RecordKind::Reset => self.reset(turn, &why, now),
                RecordKind::Adjust => {
                    self.comparison.count(limit::NUMBERS, 1);
                    let known = self.sessions.numbers(self.key);
                    let next_out = known.map_or(record.seq, |(_, next_out)| next_out.max(record.seq));
                    let changed = if known == Some((record.next_in, next_out)) {
                        self.sessions.record(now, self.key, &why, &mut self.app)
                    } else {
                        let numbers = (Some(record.next_in), Some(next_out));
                        self.sessions.set_numbers(now, self.key, numbers, &why, &mut self.app)
                    };
                    if let Err(error) = changed {
                        self.comparison.note(now.utc, format!("a change cannot be repeated: {error}: {why}"));
                    }
                    self.comparison.shift = i128::from(record.seq.0) - i128::from(next_out.0);
                }
                RecordKind::Attempt => {
                    self.comparison.count(limit::ATTEMPT, 1);
                    self.end_connection(now);
                }
                // What has waited is sent by the turn with which it left.
                RecordKind::Inbound | RecordKind::Outbound | RecordKind::Waiting | RecordKind::Dropped => {}
            }
        }
    }

    /// Resets the sequence numbers, unless the session has done so.
    fn reset(&mut self, turn: &Turn<'_>, why: &str, now: Now) {
        let is_done = |replay: &Self| replay.generation == turn.generation.0;
        if !is_done(self) && self.is_connected && matches!(why, "ResetOnDisconnect" | "ResetOnError") {
            self.end_connection(now);
        }
        if !is_done(self) && self.next().deadline.is_some_and(|due| due <= now.mono) {
            self.wake(now);
        }
        if is_done(self) {
            return;
        }
        self.end_connection(now);
        if let Err(error) = self.sessions.reset(now, self.key, why, &mut self.app) {
            self.comparison.note(now.utc, format!("a reset cannot be repeated: {error}: {why}"));
        } else {
            self.comparison.count(limit::FROM_OUTSIDE, 1);
        }
        self.take_committed();
    }
}

/// Returns the reset in the session that began with a TestRequest (1) with this TestReqID (112):
/// our Logon follows the Heartbeat that answers it. `later` are the turns after it.
fn begun_by<'t, 'j>(
    later: &'t [Turn<'j>],
    connection: ConnectionNumber,
    id: Option<&[u8]>,
) -> Option<&'t Record<'j>> {
    let is_answer = |record: &Record<'_>| msg_type(record.body) == b"0" && value(record.body, 112) == id;
    let answer = later
        .iter()
        .take_while(|turn| turn.connection() == connection)
        .position(|turn| turn.inbound().is_some_and(is_answer))?;
    let next = later.get(answer + 1)?;
    let is_begun = next.inbound().is_none() && next.our_logon().is_some();
    next.of(RecordKind::Reset).next().filter(|_| is_begun && next.connection() == connection)
}
