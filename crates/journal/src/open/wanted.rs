//! What a session's thread wants done, as it notes it.

use std::time::Instant;

/// What a session's thread wants done.
#[derive(Default)]
pub(crate) struct Wanted {
    /// Whether pages are to be made ready.
    pub(crate) pages: bool,
    /// The threads to be rung for, by [`Task::bit`](crate::open::bell::Task::bit).
    pub(crate) threads: u8,
    /// Whether the store knows that anything is wanted.
    pub(crate) is_known: bool,
    /// The number of the segment after which the next one was asked for.
    pub(crate) segment_after: u32,
    /// Of the parts of a segment that are given back to the system together, the one in which
    /// `fixbolt-sync` was last rung for.
    pub(crate) part: (u32, usize),
    /// Pages are made ready by `fixbolt-store` until then.
    pub(crate) left_until: Option<Instant>,
}
