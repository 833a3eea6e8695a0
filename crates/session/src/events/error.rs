//! Why a message was not sent.

use core::error::Error;
use core::fmt;
use core::time::Duration;

use fixbolt_codec::EncodeError;
use fixbolt_dictionary::{Check, EntryOrder, SessionRejectCode};

use crate::store::StoreError;

/// Why a message was not sent. No sequence number was used.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum SendError {
    /// The body cannot be encoded as a FIX message.
    Encode(EncodeError),
    /// The outbox is full; try again when the counterparty has read some of it. Or there is no more
    /// room for messages that wait for a throttle
    /// ([`OutboundThrottle::Wait`](crate::OutboundThrottle::Wait)). Inside a turn, return this
    /// error: the message is offered again once there is room.
    BackPressure,
    /// The session may send no more messages of this type in this window
    /// ([`OutboundThrottle::Refuse`](crate::OutboundThrottle::Refuse)). Inside a turn, returning
    /// this error has the message offered again when the window allows it.
    Throttled {
        /// When to try again, counted from now; longer if the counterparty does not read, or while
        /// it is being sent messages again.
        again_in: Duration,
    },
    /// The turn writes more messages than the session may ever send together
    /// ([`max_outbound_rate`](crate::ThrottleSettings::max_outbound_rate),
    /// [`max_order_rate`](crate::ThrottleSettings::max_order_rate)).
    TooMany {
        /// The allowed number.
        limit: u32,
    },
    /// The session is not logged on.
    NotLoggedOn,
    /// The session is halted or does not exist.
    Unavailable,
    /// The message has PossDupFlag (43) Y, and the session does not send possible duplicates of the
    /// application ([`allow_pos_dup`](crate::ResendSettings::allow_pos_dup)).
    PossDupNotAllowed,
    /// The MsgType belongs to the session layer (0 1 2 3 4 5 A), which sends such messages itself.
    SessionMessage,
    /// The message is larger than the counterparty or the settings allow, or its turn writes more
    /// than the outbox holds.
    TooLarge {
        /// The largest allowed size in bytes.
        limit: usize,
    },
    /// The message violates the session's dictionary, and the outbound policy rejects that.
    Invalid {
        /// The check that found it.
        check: Check,
        /// The reason that a Reject would contain.
        reason: SessionRejectCode,
        /// The field in error; 0 if the bytes there are not a tag.
        tag: u32,
        /// What was expected, if it is about the order of a group.
        order: Option<EntryOrder>,
    },
    /// The sequence numbers were reset while the message waited for a throttle.
    Reset,
    /// The store has lost the message, or kept it without its secrets, while it waited for a
    /// throttle.
    NotStored,
    /// Whether the message was sent is not known: it waited for a throttle when the machine
    /// stopped, and may have left under a sequence number that was given up
    /// ([`Event::NumbersGivenUp`](crate::Event::NumbersGivenUp)). It is not sent again.
    InDoubt,
    /// The store refused the message; the session is halted.
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
            Self::BackPressure => {
                f.write_str("the outbox is full, or too much waits until the session may send more messages")
            }
            Self::Throttled { again_in } => {
                write!(f, "the session may send no more messages now; try again in {again_in:?}")
            }
            Self::TooMany { limit } => {
                write!(f, "more than the {limit} messages that the session may send in one window")
            }
            Self::NotLoggedOn => f.write_str("the session is not logged on"),
            Self::Unavailable => f.write_str("the session is halted or does not exist"),
            Self::PossDupNotAllowed => {
                f.write_str("the session does not send possible duplicates (AllowPosDup)")
            }
            Self::SessionMessage => f.write_str("the session layer writes this MsgType itself"),
            Self::TooLarge { limit } => write!(f, "larger than {limit} bytes"),
            Self::Invalid { reason, tag, order, .. } => {
                write!(f, "not valid: {}, tag {tag}", reason.text())?;
                order.map_or(Ok(()), |order| write!(f, " {order}"))
            }
            Self::Reset => f.write_str("the sequence numbers were reset while it waited"),
            Self::NotStored => f.write_str("the store no longer has it"),
            Self::InDoubt => f.write_str("whether it was sent before the machine stopped is not known"),
            Self::Store(error) => error.fmt(f),
            Self::Application(why) => f.write_str(why),
        }
    }
}

impl Error for SendError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Encode(error) => error.source(),
            Self::Store(error) => error.source(),
            _ => None,
        }
    }
}
