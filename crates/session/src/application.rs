//! What the core asks of an application, and what an application may answer. Callbacks decide by return values.

use core::fmt;

use crate::store::{Record, SessionKey, Store, StoreError};
use crate::turn::Turn;
use fixbolt_codec::{EncodeError, FrameError, IndexError, Message, SeqNum};
use fixbolt_dictionary::{Check, SessionRejectReason, Violation};

/// What an application does with messages. Called on the session's thread, one call at a time.
///
/// Only [`Application::on_message`] must be written.
pub trait Application {
    /// An application message, in sequence, each exactly once as long as the store is kept.
    ///
    /// Everything written through `turn` becomes visible together with the message's own processing, or not at all.
    ///
    /// # Errors
    /// An error (or a panic) rolls the turn back in every session it touched and disconnects the session; the counterparty
    /// sends the message again after the next logon. After the configured number of attempts the session is halted.
    fn on_message(&mut self, message: Message<'_>, turn: &mut Turn<'_>) -> Result<Delivery, SendError>;

    /// A counterparty wants to log on and everything the core checks is right: is it allowed to (Username 553, Password 554)?
    fn on_logon(&mut self, session: SessionKey, logon: Message<'_>) -> LogonDecision {
        let _ = (session, logon);
        LogonDecision::Accept
    }

    /// A stored message is about to be sent again because the counterparty asked for it.
    fn on_resend(&mut self, session: SessionKey, message: Message<'_>) -> Resend {
        let _ = (session, message);
        Resend::Send
    }

    /// The session was opened; `resume` shows what its store holds, so that the application needs no files of its own.
    fn on_resume(&mut self, session: SessionKey, resume: &mut Resume<'_>) {
        let _ = (session, resume);
    }

    /// Something happened to the session. For logs, metrics and reactions outside a turn.
    fn on_event(&mut self, session: SessionKey, event: &Event<'_>) {
        let _ = (session, event);
    }
}

/// What became of an application message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Delivery {
    /// Processed.
    Done,
    /// Answer with a session Reject (35=3): the message breaks a rule that the dictionary does not know.
    Reject {
        /// SessionRejectReason (373).
        reason: u16,
        /// RefTagID (371); 0 names none.
        tag: u32,
        /// Text (58); empty sends none.
        text: &'static str,
    },
    /// Answer with a BusinessMessageReject (35=j); before FIX.4.2 with a Reject.
    BusinessReject {
        /// BusinessRejectReason (380); 3 is "Unsupported Message Type".
        reason: u16,
        /// Text (58); empty sends none.
        text: &'static str,
    },
    /// Not now: offer the message again later and read nothing more from this counterparty until then. What the turn wrote
    /// is rolled back.
    NotNow,
}

impl Delivery {
    /// The application does not handle messages of this type (test case 2r).
    pub const UNSUPPORTED: Self = Self::BusinessReject { reason: 3, text: "Unsupported Message Type" };
}

/// Whether a counterparty may log on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum LogonDecision {
    /// It may.
    Accept,
    /// It may not: Logout with this text, then disconnect.
    Refuse {
        /// Text (58) of the Logout; empty sends none.
        text: String,
    },
}

/// What to do with a stored message that the counterparty asks for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Resend {
    /// Send it again with PossDupFlag=Y.
    Send,
    /// It is of no use any more: gap-fill its number.
    GapFill,
}

/// Why a message was not sent. No number was used.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum SendError {
    /// The body is no FIX message.
    Encode(EncodeError),
    /// The outbox is full; try again when the counterparty has read. Inside a turn, pass it on: the message is offered again.
    BackPressure,
    /// The session is not logged on.
    NotLoggedOn,
    /// The session is halted or does not exist.
    Unavailable,
    /// The MsgType belongs to the session layer (0 1 2 3 4 5 A): the session writes it itself.
    SessionMessage,
    /// The message is larger than the counterparty or the settings allow, or its turn writes more than the outbox holds.
    TooLarge {
        /// Bytes that there may be.
        limit: usize,
    },
    /// The message is not what the session's dictionary says, and the outbound policy rejects that.
    Invalid {
        /// The check that found it.
        check: Check,
        /// The reason that the counterparty would give.
        reason: SessionRejectReason,
        /// The field at fault; 0 when what stands there is no tag.
        tag: u32,
    },
    /// The store refused it; the session stops.
    Store(StoreError),
    /// The application's own failure, in its words.
    Application(&'static str),
}

impl From<EncodeError> for SendError {
    fn from(error: EncodeError) -> Self {
        Self::Encode(error)
    }
}

impl fmt::Display for SendError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Encode(error) => error.fmt(f),
            Self::BackPressure => f.write_str("the outbox is full"),
            Self::NotLoggedOn => f.write_str("the session is not logged on"),
            Self::Unavailable => f.write_str("the session is halted or does not exist"),
            Self::SessionMessage => f.write_str("the session layer writes this MsgType itself"),
            Self::TooLarge { limit } => write!(f, "larger than {limit} bytes"),
            Self::Invalid { reason, tag, .. } => write!(f, "not valid: {}, tag {tag}", reason.text()),
            Self::Store(error) => error.fmt(f),
            Self::Application(why) => f.write_str(why),
        }
    }
}

impl core::error::Error for SendError {}

/// How a connection of a session ended: who ended it, and why.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum SessionEnd {
    /// The transport was closed by the counterparty or the network, without a Logout.
    ConnectionLost,
    /// The counterparty logged out; the exchange was completed.
    LoggedOutByPeer,
    /// We logged out; the exchange was completed.
    LoggedOutByUs,
    /// We logged out and nobody answered in time.
    LogoutTimedOut,
    /// The counterparty logged out and did not close the connection in time.
    PeerDidNotClose,
    /// No Logon, or no answer to ours, in time.
    LogonTimedOut,
    /// Nothing came for so long that the connection counts as broken.
    HeartbeatTimedOut,
    /// The counterparty broke the protocol so that the session cannot go on.
    PeerMisbehaved(Misbehaviour),
    /// Our application refused the logon.
    LogonRefused,
    /// Our application failed on the message with this number.
    ApplicationFailed {
        /// MsgSeqNum of the message.
        seq: SeqNum,
    },
    /// Our application panicked in a callback that processes no message.
    ApplicationPanicked {
        /// The callback.
        callback: &'static str,
    },
    /// What the session layer had to say could not be written: larger than the counterparty takes, for instance.
    Unanswerable(Box<SendError>),
    /// The session is halted.
    Halted(Halt),
}

/// What a counterparty did that ends a connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Misbehaviour {
    /// The first message was not a Logon (test case 1B-e).
    FirstMessageNotLogon,
    /// The Logon breaks a rule (1S-d).
    InvalidLogon,
    /// A Logon in a session that is logged on.
    DuplicateLogon,
    /// MsgSeqNum too low without PossDupFlag (2c).
    MsgSeqNumTooLow,
    /// No MsgSeqNum.
    NoMsgSeqNum,
    /// Another BeginString than the session's (2i).
    BeginString,
    /// Other CompIDs than the session's (2k).
    CompId,
    /// SendingTime outside the threshold (2o).
    SendingTime,
    /// The same gap stayed open however often it was asked for.
    GapNeverFilled,
}

/// Why a session does not go on until somebody looks at it.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Halt {
    /// The application failed on this message again and again. `skip` or `retry` ends it.
    PoisonMessage {
        /// MsgSeqNum of the message.
        seq: SeqNum,
        /// Failed attempts.
        attempts: u32,
    },
    /// The store is damaged; repair it first.
    StoreDamaged {
        /// What is damaged.
        reason: String,
    },
    /// The store could not take a record.
    StoreFailed(StoreError),
    /// The application panicked when it was shown what the store holds.
    ApplicationPanicked {
        /// The callback.
        callback: &'static str,
    },
}

impl fmt::Display for Halt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::PoisonMessage { seq, attempts } => {
                write!(f, "the application failed {attempts} times on message {seq}: skip it or retry")
            }
            Self::StoreDamaged { reason } => write!(f, "the store is damaged: {reason}"),
            Self::StoreFailed(error) => write!(f, "the store failed: {error}"),
            Self::ApplicationPanicked { callback } => write!(f, "the application panicked in {callback}"),
        }
    }
}

/// A message that another thread posted, until it has a number; counted from 1 in each session.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Ticket(pub u64);

/// Something that happened to a session.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Event<'e> {
    /// Logons are exchanged; application messages flow.
    LoggedOn,
    /// A connection ended.
    Ended(&'e SessionEnd),
    /// Bytes that are no message were dropped (2d, 3b, 3c).
    Garbled {
        /// The dropped bytes.
        bytes: &'e [u8],
        /// Why, when framing failed.
        error: GarbledError,
    },
    /// The counterparty's message was rejected (35=3 or j).
    Rejected {
        /// MsgSeqNum of the rejected message.
        seq: SeqNum,
        /// SessionRejectReason (373) or BusinessRejectReason (380).
        reason: u16,
        /// RefTagID (371): the field at fault as it was sent; empty when the answer names none.
        tag: &'e [u8],
        /// What the answer says.
        text: &'e str,
    },
    /// A violation in the counterparty's message that the policy only warns of; the message goes on.
    Warned {
        /// MsgSeqNum of the message.
        seq: SeqNum,
        /// What is violated.
        violation: Violation<'e>,
    },
    /// A violation in a message of ours that the outbound policy only warns of; it was sent. Told once its turn is committed.
    WarnedOutbound {
        /// MsgSeqNum of the message.
        seq: SeqNum,
        /// What is violated.
        violation: Violation<'e>,
    },
    /// The counterparty rejected a message of ours (35=3).
    RejectReceived {
        /// The Reject.
        message: Message<'e>,
    },
    /// Numbers are missing; a ResendRequest was sent.
    GapDetected {
        /// The number expected.
        expected: SeqNum,
        /// The number that came.
        received: SeqNum,
    },
    /// The counterparty asked for messages again.
    ResendRequested {
        /// First number.
        begin: SeqNum,
        /// Last number.
        end: SeqNum,
    },
    /// Numbers were reset or moved.
    SequenceChanged {
        /// Next number expected.
        next_in: SeqNum,
        /// Next number to use.
        next_out: SeqNum,
        /// Why.
        reason: &'e str,
    },
    /// Numbers given up after an unclean stop of the machine: their messages may be lost.
    NumbersGivenUp {
        /// First number.
        begin: SeqNum,
        /// Last number.
        end: SeqNum,
    },
    /// A message sent again by the counterparty was processed before and ignored.
    DuplicateIgnored {
        /// Its MsgSeqNum.
        seq: SeqNum,
    },
    /// A message that another thread posted was numbered and journalled, and goes out.
    Sent {
        /// What the other thread got for it.
        ticket: Ticket,
        /// Its MsgSeqNum.
        seq: SeqNum,
    },
    /// A message that another thread posted was not sent and will not be; no number was used.
    NotSent {
        /// What the other thread got for it.
        ticket: Ticket,
        /// Why not.
        why: &'e SendError,
    },
    /// Something worth a line in the log.
    Note(&'e str),
}

/// Why bytes were dropped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum GarbledError {
    /// They are no message.
    Frame(FrameError),
    /// They are a message with a wrong sum or without MsgType.
    Index(IndexError),
    /// They belong to bytes that were told before.
    Continued,
}

impl fmt::Display for GarbledError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Frame(error) => error.fmt(f),
            Self::Index(error) => error.fmt(f),
            Self::Continued => f.write_str("belongs to the garbled bytes before"),
        }
    }
}

/// A session's store as its application sees it at the start.
pub struct Resume<'a> {
    pub(crate) store: &'a mut dyn Store,
    pub(crate) key: SessionKey,
    pub(crate) next_in: SeqNum,
    pub(crate) next_out: SeqNum,
}

impl Resume<'_> {
    /// Next number expected from the counterparty: everything before it was delivered.
    #[must_use]
    pub const fn next_in(&self) -> SeqNum {
        self.next_in
    }

    /// Next number that will be sent: everything before it is in the store.
    #[must_use]
    pub const fn next_out(&self) -> SeqNum {
        self.next_out
    }

    /// Walks over every record since the numbers were last reset, oldest first.
    ///
    /// # Errors
    /// [`StoreError::Damaged`] when a record no longer matches its checksum.
    pub fn records(
        &mut self,
        visit: &mut dyn FnMut(Record<'_>) -> core::ops::ControlFlow<()>,
    ) -> Result<(), StoreError> {
        self.store.replay(self.key, visit)
    }
}

impl fmt::Debug for Resume<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Resume").field("next_in", &self.next_in).field("next_out", &self.next_out).finish()
    }
}
