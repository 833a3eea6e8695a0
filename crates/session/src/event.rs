//! What a session tells its application of: for logs, metrics and reactions outside a transaction.

use core::fmt;

use fixbolt_codec::{FrameError, IndexError, Message, SeqNum};
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
    /// Something worth a line in the log.
    Note(&'e str),
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
