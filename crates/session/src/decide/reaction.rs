//! The reaction to a message of the counterparty. Deciding on it changes nothing; it is carried out
//! in one place.

use std::borrow::Cow;

use fixbolt_codec::SeqNum;

use crate::events::end::{Halt, SessionEnd};
use crate::events::event::Event;
use crate::state::throttling::Requested;
use crate::values::time::Mono;
use crate::wire::admin_message::{AdminMessage, Reject};

/// What is decided about a message.
#[derive(Debug)]
pub(crate) struct Decision<'m> {
    pub(crate) reaction: Reaction<'m>,
    /// Whether we requested the message.
    pub(crate) requested: Option<Requested>,
}

/// What a message counts for that the counterparty may not send without end.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Counts {
    /// For the rate of session-layer messages, if it is one, and for what is added to the store.
    Fully,
    /// For what is added to the store: we requested it.
    Growth,
    /// For nothing: it is for the application, or stays unread.
    Nowhere,
}

impl Decision<'_> {
    /// Returns what the message counts for.
    pub(crate) const fn counts(&self) -> Counts {
        match (&self.reaction, self.requested) {
            (Reaction::Deliver | Reaction::Wait(_), _) => Counts::Nowhere,
            (_, Some(Requested::SessionLayer)) => Counts::Growth,
            _ => Counts::Fully,
        }
    }
}

/// The reaction to a message. It is small, because each message has one: what few messages need is
/// boxed.
#[derive(Debug)]
pub(crate) enum Reaction<'m> {
    /// Passes the message to the application.
    Deliver,
    /// Only uses the message's sequence number.
    Take,
    /// Does nothing.
    Ignore,
    /// Does nothing but tell the application that the message was processed before.
    IgnoreDuplicate(SeqNum),
    /// Does nothing but tell the application that the message came before the answer to our reset.
    IgnoreBeforeReset,
    /// Answers a TestRequest that has this TestReqID (112).
    Beat(&'m [u8]),
    /// A gap fill: sets NextNumIn.
    MoveTo(SeqNum),
    /// Sends messages again.
    Replay { begin: SeqNum, end: SeqNum },
    /// Messages are missing before this one.
    TooHigh(TooHigh<'m>),
    /// Leaves the message unread until then: we requested it, and it comes too fast.
    Wait(Mono),
    /// It is a Logon of the session's counterparty: the application is asked, then
    /// [`logon::decide`] decides.
    ///
    /// [`logon::decide`]: crate::decide::logon::decide
    Authenticate,
    /// Records the message and acts on it in one transaction.
    Answer(Box<Answer<'m>>),
    /// Does what needs no message.
    Session(SessionReaction<'m>),
}

/// A reaction of the session to anything: to a message, a timer, its schedule, an operator, a
/// flood, or a failure.
#[derive(Debug)]
pub(crate) enum SessionReaction<'m> {
    /// Closes the connection without a Logout, and tells the application of the event.
    Close(Box<(SessionEnd, Option<Event<'m>>)>),
    /// Ends the connection with a Logout that says why, if there is room for it, and if the
    /// counterparty is logged on and none of ours was sent before.
    EndWith(Box<(Cow<'m, str>, SessionEnd)>),
    /// Sends a Logout with this Text, whose answer is awaited, or closes the connection if there is
    /// no room for it. The connection ends with this end.
    Leave(Box<(Cow<'m, str>, SessionEnd)>),
    /// Leaves a counterparty that has logged out and was answered, too.
    Hurry,
    /// Sends our Logout, and not what it waits for.
    CutReplay,
    /// Halts the session until somebody intervenes.
    Halt(Box<Halt>),
    /// Ends the withholding of messages.
    Release,
    /// Gives up a reset in the session that has not begun.
    AbandonReset(&'static str),
    /// Asks the counterparty whether it is there.
    Test,
    /// Keeps the connection of a counterparty that did not answer.
    KeepSilent,
    /// Sends a Heartbeat.
    Heartbeat,
    /// Tells the application that a watermark of the outbox was passed.
    TellWatermark,
}

/// Each message has one.
const _: () = assert!(size_of::<Decision<'_>>() <= 64);

/// A message that is recorded, with everything that is written and changed because of it in the
/// same transaction.
#[derive(Debug)]
pub(crate) struct Answer<'m> {
    /// The reason for a reset of the sequence numbers that comes first, if there is one.
    pub(crate) reset: Option<&'static str>,
    pub(crate) number: NumberUse,
    pub(crate) reply: Option<AdminMessage<'m>>,
    pub(crate) then: Then<'m>,
    /// What the application is told afterwards.
    pub(crate) told: Told<'m>,
}

/// What happens to NextNumIn.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum NumberUse {
    /// It advances if the message's sequence number is the expected one.
    WhenDue,
    /// It does not change.
    Kept,
    /// It is set to this sequence number, because the ones before it are filled.
    MovesTo(SeqNum),
    /// It is set to this sequence number, with which the counterparty begins again.
    RestartsAt(SeqNum),
}

/// What the session does after a message.
#[derive(Debug)]
pub(crate) enum Then<'m> {
    GoOn,
    /// Goes on, also after a Reject (3) that says nothing against the message.
    Pardon,
    /// Ends the session with a Logout of ours.
    LogOut(LogOut<'m>),
    /// Sends messages again, or a gap fill in their place if the application wants that.
    Replay {
        begin: SeqNum,
        end: SeqNum,
        gap_fills: bool,
    },
    /// Answers the counterparty's Logout, whose sequence number is `cause`. `end` is how the
    /// connection ends if that is not an ordinary logout.
    AnswerLogout {
        cause: Option<SeqNum>,
        end: Option<SessionEnd>,
    },
    /// Our Logout was answered.
    LoggedOut,
    /// The Logons have been exchanged.
    LoggedOn(Agreed),
    /// Ends the connection: the counterparty's reset has crossed our Logout.
    Crossed(SessionEnd),
    Close(SessionEnd),
}

/// A Logout that we send.
#[derive(Debug)]
pub(crate) struct LogOut<'m> {
    pub(crate) text: Cow<'m, str>,
    pub(crate) cause: Option<SeqNum>,
    pub(crate) end: SessionEnd,
    pub(crate) parting: Parting,
}

/// What follows a Logout that we send because of what the counterparty has done.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Parting {
    /// Its answer is awaited, so that both sides agree on the last sequence numbers (2i, 2k, 2o).
    AwaitAnswer,
    /// The connection is closed. If a Logout was sent before, there is no second one.
    Close,
    /// The connection is closed after it, whether or not one was sent before.
    CloseAfterAnother,
}

/// The parameters in the counterparty's Logon.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Agreed {
    /// HeartBtInt (108), in seconds.
    pub(crate) heart_bt_int: u32,
    /// MaxMessageSize (383), in bytes.
    pub(crate) max_message_size: usize,
    /// Whether the session was already logged on.
    pub(crate) in_session: bool,
    /// Whether the sequence numbers were reset.
    pub(crate) reset: bool,
    /// NextNumIn before, if the Logon's lower sequence number is tolerated.
    pub(crate) lowered_from: Option<SeqNum>,
    /// The first message that the counterparty misses (789 of its Logon): everything up to our
    /// Logon is sent again, without a ResendRequest.
    pub(crate) replay_from: Option<SeqNum>,
    /// Whether a gap fill is sent in its place, because the application wants that.
    pub(crate) gap_fills: bool,
    /// Whether both Logons have NextExpectedMsgSeqNum (789), so that the counterparty sends what we
    /// miss without a ResendRequest.
    pub(crate) sends_what_we_miss: bool,
}

/// What the application is told about a message.
#[derive(Debug)]
pub(crate) enum Told<'m> {
    Nothing,
    Event(Event<'m>),
    Note(String),
}

/// A message before which others are missing.
#[derive(Debug)]
pub(crate) struct TooHigh<'m> {
    /// What is answered before the gap is requested.
    pub(crate) first: Option<Box<Answer<'m>>>,
    /// Whether the message is kept until the gap is filled.
    pub(crate) keep: bool,
    /// Whether the gap is requested even if it was requested before.
    pub(crate) ask_again: bool,
    /// Whether it is a Logout, which is answered when the gap is filled.
    pub(crate) logs_out: bool,
}

impl<'m> SessionReaction<'m> {
    /// Closes the connection without a Logout.
    pub(crate) fn close(end: SessionEnd) -> Self {
        Self::Close(Box::new((end, None)))
    }

    /// Ends the connection with a Logout that says why.
    pub(crate) fn end_with(text: impl Into<Cow<'m, str>>, end: SessionEnd) -> Self {
        Self::EndWith(Box::new((text.into(), end)))
    }

    /// Halts the session.
    pub(crate) fn halt(halt: Halt) -> Self {
        Self::Halt(Box::new(halt))
    }

    /// Closes the connection without a Logout, and tells the application of the event.
    pub(crate) fn close_and_tell(end: SessionEnd, event: Event<'m>) -> Self {
        Self::Close(Box::new((end, Some(event))))
    }
}

impl<'m> Answer<'m> {
    /// Only uses the message's sequence number.
    pub(crate) const fn take() -> Self {
        Self { reset: None, number: NumberUse::WhenDue, reply: None, then: Then::GoOn, told: Told::Nothing }
    }

    /// Answers the message.
    pub(crate) fn reply(reply: AdminMessage<'m>) -> Self {
        Self { reply: Some(reply), ..Self::take() }
    }

    /// Sends messages again, and tells the application of it.
    pub(crate) fn replay(begin: SeqNum, end: SeqNum) -> Self {
        let told = Told::Event(Event::ResendRequested { begin, end });
        Self { then: Then::Replay { begin, end, gap_fills: false }, told, ..Self::take() }
    }

    /// Rejects the message.
    // R-REJECT-3
    pub(crate) fn reject(seq: SeqNum, msg_type: &'m [u8], reject: Reject<'m>) -> Self {
        Self::reply(AdminMessage::Reject { seq, msg_type, reject })
    }

    /// Ends the session; the message's sequence number is not used.
    // R-LOGON-7
    pub(crate) fn log_out(log_out: LogOut<'m>) -> Self {
        Self { number: NumberUse::Kept, then: Then::LogOut(log_out), ..Self::take() }
    }

    pub(crate) fn then(self, then: Then<'m>) -> Self {
        Self { then, ..self }
    }
}

impl<'m> Reaction<'m> {
    /// Returns whether it ends the session with a Logout.
    pub(crate) fn logs_out(&self) -> bool {
        matches!(self, Self::Answer(answer) if matches!(answer.then, Then::LogOut(_)))
    }

    /// Closes the connection without an answer where it would end the session with a Logout.
    pub(crate) fn without_logout(self) -> Self {
        match self {
            Self::Answer(answer) => match *answer {
                Answer { then: Then::LogOut(LogOut { end, .. }), .. } => SessionReaction::close(end).into(),
                answer => answer.into(),
            },
            other => other,
        }
    }
}

impl<'m> From<SessionReaction<'m>> for Reaction<'m> {
    fn from(reaction: SessionReaction<'m>) -> Self {
        Self::Session(reaction)
    }
}

impl<'m> From<Answer<'m>> for Reaction<'m> {
    fn from(answer: Answer<'m>) -> Self {
        Self::Answer(Box::new(answer))
    }
}

impl<'m> From<Reaction<'m>> for Decision<'m> {
    fn from(reaction: Reaction<'m>) -> Self {
        Self { reaction, requested: None }
    }
}
