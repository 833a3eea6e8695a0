//! When a store that failed is tried again, without anybody asking: a full disk has room again, a network share is back.

use core::time::Duration;

use crate::time::Mono;

/// How long to wait before the first try.
const FIRST: Duration = Duration::from_secs(1);
/// How long to wait between two tries, at most.
const LONGEST: Duration = Duration::from_secs(60);

/// The next try, and how long was waited for it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct StoreRetry {
    pub(crate) at: Mono,
    wait: Duration,
}

impl StoreRetry {
    pub(crate) fn begin(now: Mono) -> Self {
        Self { at: now + FIRST, wait: FIRST }
    }

    /// The try failed: the next one comes after twice the time.
    pub(crate) fn again(self, now: Mono) -> Self {
        let wait = LONGEST.min(self.wait * 2);
        Self { at: now + wait, wait }
    }
}
