//! When a store that failed is tried again without an operator: a full disk may have room again, a
//! network share may be back.

use core::time::Duration;

use crate::values::backoff::Backoff;
use crate::values::time::Mono;

/// How long to wait before the first try.
const FIRST: Duration = Duration::from_secs(1);
/// The longest wait between two tries.
const LONGEST: Duration = Duration::from_secs(60);

/// The next try, and the waits after it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct StoreRetry {
    pub(crate) at: Mono,
    waits: Backoff,
}

impl StoreRetry {
    pub(crate) fn begin(now: Mono) -> Self {
        Self { at: now, waits: Backoff::new(FIRST, LONGEST) }.again(now)
    }

    /// Returns the next try after one that failed.
    pub(crate) fn again(mut self, now: Mono) -> Self {
        let wait = self.waits.next(0);
        Self { at: now + wait, ..self }
    }
}
