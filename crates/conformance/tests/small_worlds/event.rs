//! What can happen in a world.

use core::fmt;

/// One step of a world. Sides are numbered: 0 is the initiator, 1 the acceptor.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Event {
    /// Something that happens to a process that survives it.
    Plain(Plain),
    /// A process dies after a number of calls of its store within an event. Nothing of what it
    /// wrote in the event has been sent. It starts again at once.
    Dies { within: Plain, side: u8, calls: u8 },
}

/// An event without a death in it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Plain {
    /// The application sends its next order.
    Order(u8),
    /// The next message, or the end of the connection, reaches a side.
    Deliver(u8),
    /// The connection breaks: what is in flight is lost.
    Cut,
    /// A side notices that the connection is broken.
    Notice(u8),
    /// The initiator connects.
    Connect,
    /// The process dies between two events, and starts again at once.
    Die(u8),
    /// The operator resets the sequence numbers: in the session if it is logged on.
    Reset(u8),
    /// The operator logs out.
    LogOut(u8),
    /// Time passes until the next deadline, which is a deadline of this side.
    Wait(u8),
    /// The store acknowledges the next commit.
    Acknowledge(u8),
}

impl Event {
    pub(crate) const fn is_death(self) -> bool {
        matches!(self, Self::Dies { .. } | Self::Plain(Plain::Die(_)))
    }
}

/// Returns the name of a side.
pub(crate) const fn name(side: usize) -> &'static str {
    ["the initiator", "the acceptor"][side]
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Plain(event) => event.fmt(f),
            Self::Dies { within, side, calls } => {
                let who = name(usize::from(*side));
                write!(f, "{within}, and {who} dies after {calls} calls of its store in it")
            }
        }
    }
}

impl fmt::Display for Plain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let who = |side: &u8| name(usize::from(*side));
        match self {
            Self::Order(side) => write!(f, "{} sends an order", who(side)),
            Self::Deliver(side) => write!(f, "{} receives", who(side)),
            Self::Cut => f.write_str("the connection breaks"),
            Self::Notice(side) => write!(f, "{} notices that the connection is broken", who(side)),
            Self::Connect => f.write_str("the initiator connects"),
            Self::Die(side) => write!(f, "{} dies and starts again", who(side)),
            Self::Reset(side) => write!(f, "the operator of {} resets", who(side)),
            Self::LogOut(side) => write!(f, "{} logs out", who(side)),
            Self::Wait(side) => write!(f, "time passes until a deadline of {}", who(side)),
            Self::Acknowledge(side) => write!(f, "the store of {} acknowledges a commit", who(side)),
        }
    }
}
