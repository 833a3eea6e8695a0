//! When a store that failed is tried again without an operator: a full disk may have room again, a
//! network share may be back.

use core::time::Duration;

use crate::values::time::Mono;

/// How long to wait before the first try.
const FIRST: Duration = Duration::from_secs(1);
/// The longest wait between two tries.
const LONGEST: Duration = Duration::from_secs(60);

/// The next try, and the wait before it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct StoreRetry {
    pub(crate) at: Mono,
    wait: Duration,
}

impl StoreRetry {
    pub(crate) fn begin(now: Mono) -> Self {
        Self { at: now + FIRST, wait: FIRST }
    }

    /// Returns the next try after one that failed, after twice the wait.
    pub(crate) fn again(self, now: Mono) -> Self {
        let wait = LONGEST.min(self.wait * 2);
        Self { at: now + wait, wait }
    }
}
