//! What a session does about a message of the counterparty: decided by looking only, carried out in one place.

use std::borrow::Cow;

use fixbolt_codec::SeqNum;

use crate::admin_message::{AdminMessage, Reject};
use crate::end::SessionEnd;
use crate::event::Event;

/// What is done about a message.
#[derive(Debug)]
pub(crate) enum Reaction<'m> {
    /// Nothing; the application may hear of it.
    Ignore(Option<Event<'m>>),
    /// The connection is closed without a word; the application may hear why.
    Close(SessionEnd, Option<Event<'m>>),
    /// The message is recorded and acted on in one transaction.
    Answer(Answer<'m>),
    /// Numbers are missing in front of the message.
    TooHigh(TooHigh<'m>),
    /// The application processes it.
    Deliver,
}

/// A message that is recorded, with what is written and changed because of it in the same transaction.
#[derive(Debug)]
pub(crate) struct Answer<'m> {
    /// The numbers begin anew first, for this reason.
    pub(crate) reset: Option<&'static str>,
    pub(crate) number: NumberUse,
    pub(crate) reply: Option<AdminMessage<'m>>,
    pub(crate) then: Then<'m>,
    /// What the application hears once it is done.
    pub(crate) told: Told<'m>,
}

/// What becomes of NextNumIn.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum NumberUse {
    /// The message's number is used up if it was due.
    WhenDue,
    /// It stays where it is.
    Kept,
    /// It is set.
    MovesTo(SeqNum),
}

/// What the session is after a message.
#[derive(Debug)]
pub(crate) enum Then<'m> {
    GoOn,
    /// A Logout of ours ends the session.
    LogOut(LogOut<'m>),
    /// Messages are sent again.
    Replay {
        begin: SeqNum,
        end: SeqNum,
    },
    /// The counterparty logs out; `cause` is the number of its Logout.
    AnswerLogout {
        cause: Option<SeqNum>,
    },
    /// Our Logout was answered.
    LoggedOut,
    /// Logons are exchanged.
    LoggedOn(Agreed),
    Close(SessionEnd),
}

/// A Logout that we send.
#[derive(Debug)]
pub(crate) struct LogOut<'m> {
    pub(crate) text: Cow<'m, str>,
    pub(crate) cause: Option<SeqNum>,
    pub(crate) end: SessionEnd,
    /// Whether its answer is awaited, so that both sides agree on the last numbers (2i, 2k, 2o).
    pub(crate) await_answer: bool,
}

/// What the counterparty's Logon says about the session.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Agreed {
    /// HeartBtInt (108), in seconds.
    pub(crate) heart_bt_int: u32,
    /// MaxMessageSize (383), in bytes.
    pub(crate) max_message_size: usize,
    /// Whether the session was logged on already.
    pub(crate) in_session: bool,
    /// Whether the numbers began anew.
    pub(crate) reset: bool,
}

/// What the application hears of a message.
#[derive(Debug)]
pub(crate) enum Told<'m> {
    Nothing,
    Event(Event<'m>),
    Note(String),
}

/// A message in front of which numbers are missing.
#[derive(Debug)]
pub(crate) struct TooHigh<'m> {
    /// What is answered before the gap is asked for.
    pub(crate) first: Option<Answer<'m>>,
    /// Whether the message is kept until its turn comes.
    pub(crate) keep: bool,
    /// Whether the gap is asked for again although it was.
    pub(crate) ask_again: bool,
}

impl Reaction<'_> {
    /// The connection is closed without a word.
    pub(crate) const fn close(end: SessionEnd) -> Self {
        Self::Close(end, None)
    }
}

impl<'m> Answer<'m> {
    /// The message asks for nothing: its number is used up.
    pub(crate) const fn take() -> Self {
        Self { reset: None, number: NumberUse::WhenDue, reply: None, then: Then::GoOn, told: Told::Nothing }
    }

    /// The message is answered.
    pub(crate) fn reply(reply: AdminMessage<'m>) -> Self {
        Self { reply: Some(reply), ..Self::take() }
    }

    /// The message is rejected.
    pub(crate) fn reject(seq: SeqNum, msg_type: &'m [u8], reject: Reject<'m>) -> Self {
        Self::reply(AdminMessage::Reject { seq, msg_type, reject })
    }

    /// The session ends; the message's number is not used.
    pub(crate) fn log_out(log_out: LogOut<'m>) -> Self {
        Self { number: NumberUse::Kept, then: Then::LogOut(log_out), ..Self::take() }
    }

    pub(crate) fn then(self, then: Then<'m>) -> Self {
        Self { then, ..self }
    }
}

impl<'m> From<Answer<'m>> for Reaction<'m> {
    fn from(answer: Answer<'m>) -> Self {
        Self::Answer(answer)
    }
}
