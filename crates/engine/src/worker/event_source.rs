//! What an operating system event is about, as a token of the event queue.

use mio::Token;

/// The first listener's token.
const FIRST_LISTENER: usize = 1;
/// The first connection's token; there are fewer listeners than this.
const FIRST_CONNECTION: usize = 1 << 20;

/// What the event queue watches.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum EventSource {
    /// Another thread needs the worker's attention.
    Waker,
    /// A listener, by its index.
    Listener(usize),
    /// A connection, by its slot.
    Connection(usize),
}

impl EventSource {
    pub(crate) const fn token(self) -> Token {
        match self {
            Self::Waker => Token(0),
            Self::Listener(index) => Token(FIRST_LISTENER + index),
            Self::Connection(slot) => Token(FIRST_CONNECTION + slot),
        }
    }
}

impl From<Token> for EventSource {
    fn from(Token(token): Token) -> Self {
        if token >= FIRST_CONNECTION {
            Self::Connection(token - FIRST_CONNECTION)
        } else if token >= FIRST_LISTENER {
            Self::Listener(token - FIRST_LISTENER)
        } else {
            Self::Waker
        }
    }
}
