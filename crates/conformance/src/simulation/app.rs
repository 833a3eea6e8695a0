//! The application of the session that is tried: it answers orders, fails when it is told to, and
//! notes what it hears.

use std::collections::BTreeSet;

use fixbolt_codec::{BodySink, Key, Message, MsgType, NewBody, Tag};
use fixbolt_session::{
    Application, Delivery, Event, Failure, LogonDecision, Resend, SendError, SessionEnd, Turn, Unreached,
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
    Delivered { id: u64, seq: u64, twice: bool, utc: u64, after_reset: bool },
    Rejected { seq: u64, reason: u16, text: String },
    RejectReceived(String),
    Unreached { begin: u64, end: u64, why: Unreached },
    Changed { next_in: u64, next_out: u64, why: String },
    GapDetected,
    ResetAbandoned,
    Note(String),
}

pub(super) struct App {
    random: Random,
    dialect: Dialect,
    /// Whether it answers each order with a report.
    pub(super) answers: bool,
    /// Whether it fails now and then.
    pub(super) fails: bool,
    pub(super) heard: Vec<Heard>,
    /// The numbers of messages on which it has returned, since the numbers were reset.
    done: BTreeSet<u64>,
    /// Orders that it could not answer, as the session was leaving.
    pub(super) unanswered: BTreeSet<u64>,
    /// NewSeqNo of a SequenceReset that has overtaken messages, with the highest ID of the old
    /// ones.
    pub(super) overtaken: Vec<(u64, u64)>,
    overtaken_now: Option<(u64, u64)>,
    ever_overtaken: bool,
}

/// What is added to the ID of an order for that of its report.
pub(super) const REPORT: u64 = 1_000_000_000;

/// The payload of the panics that the world causes.
pub(super) const SIMULATED: &str = "simulated";

impl App {
    pub(super) fn new(dialect: Dialect, answers: bool, fails: bool, random: Random) -> Self {
        Self {
            random,
            dialect,
            answers,
            fails,
            heard: Vec::new(),
            done: BTreeSet::new(),
            unanswered: BTreeSet::new(),
            overtaken: Vec::new(),
            overtaken_now: None,
            ever_overtaken: false,
        }
    }

    /// Returns whether a SequenceReset has overtaken messages.
    pub(super) fn was_overtaken(&self) -> bool {
        self.ever_overtaken
    }

    /// The numbers begin again.
    pub(super) fn forget_numbers(&mut self) {
        self.done.clear();
    }

    /// Fails once in `n` times, in a random way.
    fn fail(&mut self, n: u64) -> Result<Option<Delivery>, Failure> {
        if !self.fails || !self.random.once_in(n) {
            return Ok(None);
        }
        match self.random.within(0, 6) {
            0 => std::panic::panic_any(SIMULATED),
            1 => Err(SendError::Application("a bad day").into()),
            2 => Err(SendError::BackPressure.into()),
            _ => Ok(Some(Delivery::NotNow)),
        }
    }
}

impl Application for App {
    fn on_message(&mut self, message: Message<'_>, turn: &mut Turn<'_>) -> Result<Delivery, Failure> {
        if let Some(delivery) = self.fail(40)? {
            return Ok(delivery);
        }
        let id = message.get(Tag::new(11)).and_then(digits).unwrap_or(0);
        let seq = turn.seq().map_or(0, |seq| seq.0);
        if self.answers && message.msg_type() == b"D" {
            match write(self.dialect, Kind::Report, REPORT + id, turn) {
                Ok(_) => {}
                Err(SendError::NotLoggedOn) => drop(self.unanswered.insert(seq)),
                Err(error) => return Err(error.into()),
            }
        }
        // A failure in the middle leaves no trace.
        if let Some(delivery) = self.fail(40)? {
            return Ok(delivery);
        }
        let after_reset = self.overtaken_now.is_some_and(|(to, old)| seq >= to && id <= old);
        let twice = !self.done.insert(seq) && !turn.redelivered();
        self.heard.push(Heard::Delivered { id, seq, twice, utc: turn.now().utc.0, after_reset });
        Ok(Delivery::Done)
    }

    fn on_logon(&mut self, _: Message<'_>, _: &mut Turn<'_>) -> Result<LogonDecision, Failure> {
        if self.fails && self.random.once_in(40) {
            std::panic::panic_any(SIMULATED)
        }
        Ok(LogonDecision::Accept)
    }

    fn on_resend(&mut self, _: Message<'_>, _: &mut Turn<'_>) -> Result<Resend, Failure> {
        if self.fails && self.random.once_in(400) {
            std::panic::panic_any(SIMULATED)
        }
        Ok(Resend::Send)
    }

    fn on_event(&mut self, event: &Event<'_>, _: &mut Turn<'_>) -> Result<(), Failure> {
        let heard = match event {
            Event::LoggedOn => Heard::LoggedOn,
            Event::Ended(end) => Heard::Ended((*end).clone()),
            Event::Rejected { seq, reason, text, .. } => {
                Heard::Rejected { seq: seq.0, reason: *reason, text: (*text).to_owned() }
            }
            Event::RejectReceived { message, .. } => Heard::RejectReceived(format!("{message:?}")),
            Event::Unreached { begin, end, why } => {
                Heard::Unreached { begin: begin.0, end: end.0, why: *why }
            }
            Event::SequenceChanged { next_in, next_out, reason } => {
                if let Some(at) = self.overtaken.iter().position(|(to, _)| *to == next_in.0) {
                    self.overtaken_now = Some(self.overtaken.remove(at));
                    self.ever_overtaken = true;
                } else {
                    self.overtaken_now = None;
                }
                self.done.clear();
                Heard::Changed { next_in: next_in.0, next_out: next_out.0, why: (*reason).to_owned() }
            }
            Event::GapDetected { .. } => Heard::GapDetected,
            Event::ResetAbandoned { .. } => Heard::ResetAbandoned,
            Event::Note(text) => Heard::Note((*text).to_owned()),
            _ => return Ok(()),
        };
        self.heard.push(heard);
        if self.fails && self.random.once_in(300) {
            std::panic::panic_any(SIMULATED)
        }
        Ok(())
    }
}

/// Writes a message with this ID.
pub(super) fn write(dialect: Dialect, kind: Kind, id: u64, turn: &mut Turn<'_>) -> Result<u64, SendError> {
    let msg_type = if kind == Kind::Order { MsgType::new(b"D") } else { MsgType::new(b"8") };
    let mut draft = turn.reply().draft(msg_type);
    let writer = draft.writer();
    dialect.each_field(kind, &id.to_string(), |tag, value| {
        writer.bytes(Key::new(tag), value.as_bytes());
    });
    Ok(draft.send()?.0)
}
