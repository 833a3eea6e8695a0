//! Who sent a message.

use core::fmt;

/// Who sent a message.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Direction {
    /// The counterparty.
    Inbound,
    /// This side.
    Outbound,
}

impl From<Direction> for fixbolt_dictionary::Direction {
    fn from(direction: Direction) -> Self {
        match direction {
            Direction::Inbound => Self::Inbound,
            Direction::Outbound => Self::Outbound,
        }
    }
}

impl fmt::Display for Direction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Inbound => "in",
            Self::Outbound => "out",
        })
    }
}
