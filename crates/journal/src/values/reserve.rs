//! How far the mark on disk is ahead of the outbound sequence numbers.

/// Minimum distance of the mark ahead of the outbound sequence numbers. A power loss skips at most
/// this many, unless the distance was larger.
pub(crate) const RESERVE: u64 = 1 << 14;
/// Maximum distance, for sessions that use sequence numbers quickly.
pub(crate) const RESERVE_MOST: u64 = 1 << 20;

/// The distance if the session's thread has to write the mark itself, which it should not have to
/// do again soon.
pub(crate) const RESERVE_LATE: u64 = 1 << 18;
