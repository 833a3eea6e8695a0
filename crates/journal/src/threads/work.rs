//! What the store's threads do for a session: steps, and when the next one is due.

use std::time::{Duration, Instant};

use fixbolt_session::store::StoreError;

use crate::open::shared::Shared;

/// When a thread works.
pub(crate) struct Pace {
    /// The times that works name are put off to multiples of this, so that the thread wakes up once
    /// for all of them.
    pub(crate) grid: Duration,
    /// How long to wait for another session after a new one. Those that wait for the disk together
    /// wait less, and do not keep the file system busy while others are being opened.
    pub(crate) gather: Duration,
}

/// When the work on a session goes on, if nobody rings earlier.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Next {
    AtOnce,
    /// At this time, whatever other sessions need.
    Exactly(Instant),
    At(Instant),
    WhenRung,
}

/// The work of a thread for one session.
pub(crate) trait Work {
    fn shared(&self) -> &Shared;
    /// Does one step at `now` of what is due, which may be nothing.
    fn round(&mut self, now: Instant) -> Result<Next, StoreError>;
}

/// Returns the first time from `at` on that is a multiple of `grid` after `began`.
pub(crate) fn on_grid(began: Instant, grid: Duration, at: Instant) -> Instant {
    let grid = grid.as_nanos().max(1);
    let past = at.saturating_duration_since(began).as_nanos() % grid;
    if past == 0 { at } else { at + Duration::from_nanos((grid - past) as u64) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_put_off_to_the_next_multiple() {
        let (began, grid) = (Instant::now(), Duration::from_millis(500));
        for (at, on) in [(0, 0), (1, 500), (499, 500), (500, 500), (501, 1000), (1750, 2000)] {
            let [at, on] = [at, on].map(|ms| began + Duration::from_millis(ms));
            assert_eq!(on_grid(began, grid, at), on);
        }
    }
}
