//! The application of the sessions that are tried: it answers orders, in several sessions at once
//! if there are several, fails when it is told to, and notes what it hears.

use std::collections::{BTreeMap, BTreeSet};

use fixbolt_codec::{BodySink, Key, Message, MsgType, NewBody, Tag};
use fixbolt_session::{
    Accepted, Application, Delivery, Event, Failure, Handle, LogonDecision, Resend, ResendAnswer,
    ResendRange, SendError, SessionEnd, SessionId, Turn, Unreached,
};

use super::dialect::{Dialect, Kind};
use super::random::Random;
use super::text::digits;

/// What the application heard. Numbers and texts that the judge does not need are for the reader of
/// a trace.
#[derive(Clone, Debug)]
#[expect(dead_code, reason = "shown in traces")]
pub(super) enum Heard {
    LoggedOn,
    Ended(SessionEnd),
    Delivered {
        id: u64,
        seq: u64,
        twice: bool,
        utc: u64,
        after_reset: bool,
    },
    Rejected {
        seq: u64,
        reason: u16,
        text: String,
    },
    NotTaken {
        seq: u64,
    },
    RejectReceived(String),
    Unreached {
        begin: u64,
        end: u64,
        why: Unreached,
    },
    /// A message that has waited got this number, or none, perhaps because the store has lost it.
    Left {
        ticket: u64,
        seq: Option<u64>,
        is_lost: bool,
    },
    Changed {
        next_in: u64,
        next_out: u64,
        why: String,
    },
    GapDetected,
    ResetAbandoned,
    Note(String),
}

/// What the application knows of one session, at the index of its key.
pub(super) struct Known {
    id: SessionId,
    dialect: Dialect,
    heard: Vec<Heard>,
    /// The numbers of messages on which it has returned, since the numbers were reset.
    done: BTreeSet<u64>,
    /// Orders on which it has returned, and the sessions in which it has answered: what the turn
    /// is to have written if it counts.
    pub(super) answered: BTreeMap<u64, Vec<usize>>,
    /// NewSeqNo of a SequenceReset that has overtaken messages, with the highest ID of the old
    /// ones.
    pub(super) overtaken: Vec<(u64, u64)>,
    overtaken_now: Option<(u64, u64)>,
    has_failed: bool,
}

pub(super) struct App {
    random: Random,
    /// Whether it answers each order with a report.
    pub(super) answers: bool,
    /// Whether it fails now and then.
    pub(super) fails: bool,
    /// Whether it refuses requests for messages again, or has them gap-filled, now and then.
    pub(super) withholds: bool,
    /// Whether it has done so.
    pub(super) has_withheld: bool,
    known: Vec<Known>,
}

/// IDs below are those of messages that nobody has asked for.
const UNASKED: u64 = 1_000_000_000;

/// The Text with which it refuses a request for messages again.
pub(super) const NOT_NOW: &str = "not now";

/// The payload of the panics that the world causes.
pub(super) const SIMULATED: &str = "simulated";

/// Returns the ID of the report on an order of the session at `place`, and of its copies.
fn answer_id(place: usize, order: u64) -> u64 {
    UNASKED * (1 + place as u64) + order
}

/// Returns the session and the ID of the order that a message with this ID answers.
pub(super) fn order_of(id: u64) -> Option<(usize, u64)> {
    Some(((id / UNASKED).checked_sub(1)? as usize, id % UNASKED))
}

impl App {
    /// Returns an application that knows these sessions, in the order in which they are opened.
    pub(super) fn new(
        sessions: impl Iterator<Item = (SessionId, Dialect)>,
        answers: bool,
        fails: bool,
        withholds: bool,
        random: Random,
    ) -> Self {
        let known = sessions.map(|(id, dialect)| Known {
            id,
            dialect,
            heard: Vec::new(),
            done: BTreeSet::new(),
            answered: BTreeMap::new(),
            overtaken: Vec::new(),
            overtaken_now: None,
            has_failed: false,
        });
        Self { random, answers, fails, withholds, has_withheld: false, known: known.collect() }
    }

    pub(super) fn of(&mut self, place: usize) -> &mut Known {
        &mut self.known[place]
    }

    /// Returns whether it has just heard of the schedule's reset in this session.
    pub(super) fn hears_of_the_schedule(&self, place: usize) -> bool {
        let heard = &self.known[place].heard;
        heard.iter().any(|one| matches!(one, Heard::Changed { why, .. } if why.starts_with("schedule")))
    }

    pub(super) fn take_heard(&mut self, place: usize) -> Vec<Heard> {
        std::mem::take(&mut self.known[place].heard)
    }

    /// Returns whether it has failed in a callback of the session.
    pub(super) fn has_failed(&self, place: usize) -> bool {
        self.known[place].has_failed
    }

    /// The numbers begin again.
    pub(super) fn forget_numbers(&mut self, place: usize) {
        self.known[place].done.clear();
    }

    /// Returns true once in `n` times while it fails.
    fn is_to_fail(&mut self, place: usize, n: u64) -> bool {
        let fails = self.fails && self.random.once_in(n);
        self.known[place].has_failed |= fails;
        fails
    }

    /// Fails once in `n` times, in a random way.
    fn fail(&mut self, place: usize, n: u64) -> Result<Option<Delivery>, Failure> {
        if !self.is_to_fail(place, n) {
            return Ok(None);
        }
        match self.random.within(0, 6) {
            0 => std::panic::panic_any(SIMULATED),
            1 => Err(SendError::Application("a bad day").into()),
            2 => Err(SendError::BackPressure.into()),
            _ => Ok(Some(Delivery::NotNow)),
        }
    }

    /// Answers an order in its own session and copies the answer to the others. Returns the
    /// sessions in which it has, or what it returns instead of processing the order.
    fn answer(
        &mut self,
        place: usize,
        id: u64,
        turn: &mut Turn<'_>,
    ) -> Result<Result<Vec<usize>, Delivery>, Failure> {
        let mut answered = Vec::new();
        let sessions = self.known.len();
        for other in (0..sessions).map(|n| (place + n) % sessions) {
            let Known { id: session, dialect, .. } = &self.known[other];
            let handle = if other == place {
                Some(turn.session())
            } else {
                turn.find(session).and_then(|session| turn.to(session))
            };
            let Some(handle) = handle else { continue };
            match write(*dialect, Kind::Report, answer_id(place, id), handle) {
                Ok(_) => answered.push(other),
                // Without it the turn does not count, even if the application does not know that.
                Err(SendError::Store(_)) if other != place && self.random.once_in(2) => answered.push(other),
                // The session is leaving, or is not there.
                Err(SendError::NotLoggedOn) => {}
                Err(SendError::Unavailable) if other != place => {}
                Err(error) => return Err(error.into()),
            }
            // A failure in the middle leaves no trace.
            if let Some(delivery) = self.fail(place, 40)? {
                return Ok(Err(delivery));
            }
        }
        Ok(Ok(answered))
    }
}

impl Application for App {
    fn on_message(&mut self, message: Message<'_>, turn: &mut Turn<'_>) -> Result<Delivery, Failure> {
        let place = turn.key().index();
        let id = message.get(Tag::new(11)).and_then(digits).unwrap_or(0);
        self.known[place].answered.remove(&id);
        if let Some(delivery) = self.fail(place, 40)? {
            return Ok(delivery);
        }
        let seq = turn.seq().map_or(0, |seq| seq.0);
        if self.answers && message.msg_type() == b"D" {
            match self.answer(place, id, turn)? {
                Ok(answered) => drop(self.known[place].answered.insert(id, answered)),
                Err(delivery) => return Ok(delivery),
            }
        } else if let Some(delivery) = self.fail(place, 40)? {
            return Ok(delivery);
        }
        let known = &mut self.known[place];
        let after_reset = known.overtaken_now.is_some_and(|(to, old)| seq >= to && id <= old);
        let twice = !known.done.insert(seq) && !turn.redelivered();
        known.heard.push(Heard::Delivered { id, seq, twice, utc: turn.now().utc.0, after_reset });
        Ok(Delivery::Done)
    }

    fn on_logon(&mut self, _: Message<'_>, turn: &mut Turn<'_>) -> Result<LogonDecision, Failure> {
        if self.is_to_fail(turn.key().index(), 40) {
            std::panic::panic_any(SIMULATED)
        }
        Ok(LogonDecision::Accept)
    }

    fn on_resend_request(&mut self, _: ResendRange, turn: &mut Turn<'_>) -> Result<ResendAnswer, Failure> {
        if self.is_to_fail(turn.key().index(), 40) {
            std::panic::panic_any(SIMULATED)
        }
        let answer = match self.random.within(0, 6) {
            0 if self.withholds => ResendAnswer::GapFill,
            1 if self.withholds => ResendAnswer::refuse(NOT_NOW),
            _ => return Ok(ResendAnswer::AsUsual),
        };
        self.has_withheld = true;
        Ok(answer)
    }

    fn on_resend(&mut self, _: Message<'_>, turn: &mut Turn<'_>) -> Result<Resend, Failure> {
        if self.is_to_fail(turn.key().index(), 400) {
            std::panic::panic_any(SIMULATED)
        }
        Ok(Resend::Send)
    }

    fn on_event(&mut self, event: &Event<'_>, turn: &mut Turn<'_>) -> Result<(), Failure> {
        let place = turn.key().index();
        let known = &mut self.known[place];
        let heard = match event {
            Event::LoggedOn => Heard::LoggedOn,
            Event::Ended(end) => Heard::Ended((*end).clone()),
            Event::Rejected { seq, reason, text, .. } => {
                Heard::Rejected { seq: seq.0, reason: *reason, text: (*text).to_owned() }
            }
            Event::NotTaken { seq, .. } => Heard::NotTaken { seq: seq.0 },
            Event::RejectReceived { message, .. } => Heard::RejectReceived(format!("{message:?}")),
            Event::Unreached { begin, end, why } => {
                Heard::Unreached { begin: begin.0, end: end.0, why: *why }
            }
            Event::Sent { ticket, seq } => {
                Heard::Left { ticket: ticket.number(), seq: Some(seq.0), is_lost: false }
            }
            Event::NotSent { ticket, why } => {
                let is_lost = **why == SendError::NotStored;
                Heard::Left { ticket: ticket.number(), seq: None, is_lost }
            }
            Event::SequenceChanged { next_in, next_out, reason } => {
                if let Some(at) = known.overtaken.iter().position(|(to, _)| *to == next_in.0) {
                    known.overtaken_now = Some(known.overtaken.remove(at));
                } else {
                    known.overtaken_now = None;
                }
                known.done.clear();
                Heard::Changed { next_in: next_in.0, next_out: next_out.0, why: (*reason).to_owned() }
            }
            Event::GapDetected { .. } => Heard::GapDetected,
            Event::ResetAbandoned { .. } => Heard::ResetAbandoned,
            Event::Note(text) => Heard::Note((*text).to_owned()),
            _ => return Ok(()),
        };
        known.heard.push(heard);
        if self.is_to_fail(place, 300) {
            std::panic::panic_any(SIMULATED)
        }
        Ok(())
    }
}

/// Writes a message with this ID.
pub(super) fn write(dialect: Dialect, kind: Kind, id: u64, to: Handle<'_>) -> Result<Accepted, SendError> {
    let msg_type = if kind == Kind::Order { MsgType::new(b"D") } else { MsgType::new(b"8") };
    let mut draft = to.draft(msg_type);
    let writer = draft.writer();
    dialect.each_field(kind, &id.to_string(), |tag, value| {
        writer.bytes(Key::new(tag), value.as_bytes());
    });
    draft.send()
}
