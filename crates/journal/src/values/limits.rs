//! What a store's settings allow a journal.

use std::time::Duration;

/// Default size of a session's first segment, in bytes.
pub(crate) const SMALLEST_SEGMENT: u64 = 64 << 10;
/// Default maximum size of a session's segments, in bytes.
pub(crate) const LARGEST_SEGMENT: u64 = 32 << 20;

/// How long archived segments are kept. Without limits, which is the default, nothing is deleted.
///
/// Deleting begins with the oldest segment and goes on as long as one of the limits is exceeded.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Retention {
    /// How many closed generations are kept. A segment is deleted once all of its generations are
    /// older.
    pub generations: Option<u32>,
    /// How long messages are kept after the last one in their segment was stored. Nothing is
    /// deleted because of its age in the first five minutes after a start, nor in those after a
    /// jump of the wall clock.
    pub age: Option<Duration>,
    /// Maximum size of a session's archive on disk, in bytes.
    pub bytes: Option<u64>,
}

/// How much disk space a journal takes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// Smallest and largest segment, in bytes.
    pub(crate) sizes: (u64, u64),
    pub(crate) retention: Retention,
    /// All segments of a session, in bytes.
    pub(crate) quota: Option<u64>,
    /// How often to look for closed segments.
    pub(crate) look: Duration,
}

impl Limits {
    /// The limits of a store without settings.
    pub(crate) const DEFAULT: Self = Self {
        sizes: (SMALLEST_SEGMENT, LARGEST_SEGMENT),
        retention: Retention { generations: None, age: None, bytes: None },
        quota: None,
        look: Duration::from_secs(1),
    };
}
