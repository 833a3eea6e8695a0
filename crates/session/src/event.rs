//! What a session tells its application of: for logs, metrics and reactions outside a transaction.

use core::fmt;

use fixbolt_codec::{FrameError, IndexError, Message, Redacted, SeqNum};
use fixbolt_dictionary::Violation;

use crate::end::SessionEnd;
use crate::error::SendError;

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
        bytes: Redacted<'e>,
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
        tag: Redacted<'e>,
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
        /// RefSeqNum (45): the MsgSeqNum of the rejected message, if the Reject names one.
        seq: Option<SeqNum>,
        /// Text (58); empty if there is none.
        text: Redacted<'e>,
    },
    /// The counterparty logs out, or answers our Logout. To an initiator that is not logged on: its logon was refused.
    LogoutReceived {
        /// The Logout.
        message: Message<'e>,
        /// Text (58); empty if there is none.
        text: Redacted<'e>,
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
    /// Messages that were accepted for sending cannot reach the counterparty any more: their numbers are gap-filled, or were
    /// reset.
    Unreached {
        /// First number.
        begin: SeqNum,
        /// Last number.
        end: SeqNum,
        /// Why not.
        why: Unreached,
    },
    /// A halt has ended; the session goes on with its next connection.
    Resumed,
    /// A callback failed, or panicked, while the session had no connection that could end with it.
    CallbackFailed {
        /// The callback.
        callback: &'static str,
        /// Its error, or "panic".
        why: &'e str,
    },
    /// Something worth a line in the log.
    Note(&'e str),
}

impl fmt::Display for Event<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let range = |f: &mut fmt::Formatter<'_>, begin: &SeqNum, end: &SeqNum| {
            if begin == end { write!(f, "{begin}") } else { write!(f, "{begin} to {end}") }
        };
        let text = |f: &mut fmt::Formatter<'_>, text: &Redacted<'_>| {
            if text.0.is_empty() { Ok(()) } else { write!(f, ": {text}") }
        };
        match self {
            Self::LoggedOn => f.write_str("logged on"),
            Self::Ended(end) => write!(f, "the connection ended: {end}"),
            Self::Garbled { bytes, error } => {
                write!(f, "{} garbled bytes were dropped: {error}", bytes.0.len())
            }
            Self::Rejected { seq, reason, tag, text } => {
                write!(f, "rejected message {seq} of the counterparty, reason {reason}")?;
                if !tag.0.is_empty() {
                    write!(f, ", field {tag}")?;
                }
                if text.is_empty() { Ok(()) } else { write!(f, ": {text}") }
            }
            Self::Warned { seq, violation } => {
                write!(f, "message {seq} of the counterparty is not valid: {violation}")
            }
            Self::WarnedOutbound { seq, violation } => {
                write!(f, "message {seq} of ours is not valid: {violation}")
            }
            Self::RejectReceived { seq, text: words, .. } => {
                f.write_str("the counterparty rejected ")?;
                match seq {
                    Some(seq) => write!(f, "message {seq}")?,
                    None => f.write_str("a message of ours")?,
                }
                text(f, words)
            }
            Self::LogoutReceived { text: words, .. } => {
                f.write_str("the counterparty sent a Logout")?;
                text(f, words)
            }
            Self::GapDetected { expected, received } => {
                write!(f, "message {received} came, {expected} was expected: asked for the missing ones")
            }
            Self::ResendRequested { begin, end } => {
                f.write_str("the counterparty asked again for ")?;
                range(f, begin, end)
            }
            Self::SequenceChanged { next_in, next_out, reason } => {
                write!(f, "the next sequence numbers are {next_in} in and {next_out} out: {reason}")
            }
            Self::NumbersGivenUp { begin, end } => {
                f.write_str("messages that may be lost after an unclean stop: ")?;
                range(f, begin, end)
            }
            Self::DuplicateIgnored { seq } => {
                write!(f, "message {seq} was processed before and is ignored")
            }
            Self::Sent { ticket, seq } => write!(f, "ticket {} was sent as message {seq}", ticket.0),
            Self::NotSent { ticket, why } => write!(f, "ticket {} was not sent: {why}", ticket.0),
            Self::Unreached { begin, end, why } => {
                f.write_str("messages that do not reach the counterparty: ")?;
                range(f, begin, end)?;
                write!(f, ": {why}")
            }
            Self::Resumed => f.write_str("the halt has ended"),
            Self::CallbackFailed { callback, why } => {
                write!(f, "the application failed in {callback}: {why}")
            }
            Self::Note(note) => f.write_str(note),
        }
    }
}

/// Why messages that were accepted for sending do not reach the counterparty.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Unreached {
    /// The store has no message under these numbers: it keeps none, has dropped them, or an operator passed them over.
    NotStored,
    /// The message is larger than the counterparty takes (MaxMessageSize 383 of its Logon).
    TooLarge {
        /// The largest message that it takes, in bytes.
        limit: usize,
    },
    /// The sequence numbers were reset before the message was sent.
    Reset,
}

impl fmt::Display for Unreached {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotStored => f.write_str("the store has no message under these numbers"),
            Self::TooLarge { limit } => {
                write!(f, "larger than the {limit} bytes that the counterparty takes")
            }
            Self::Reset => f.write_str("the sequence numbers were reset before the message was sent"),
        }
    }
}

/// Why bytes were dropped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
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
