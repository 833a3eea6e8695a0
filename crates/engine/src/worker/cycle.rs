//! The loop's current cycle: its time, and when the next cycle must begin even if no socket is
//! ready.

use core::time::Duration;

use fixbolt_session::{Mono, Now};

/// The loop begins a cycle at least this often, so that a store that failed by itself is noticed
/// and the cycle count grows.
pub(crate) const LONGEST_SLEEP: Duration = Duration::from_secs(1);

/// One cycle of the loop. The clocks are read once, at its beginning.
#[derive(Debug)]
pub(crate) struct Cycle {
    pub(crate) now: Now,
    repeat: bool,
    /// No timer is due before this time.
    wake_at: Option<Mono>,
}

impl Cycle {
    pub(crate) const fn new(now: Now) -> Self {
        Self { now, repeat: false, wake_at: None }
    }

    /// Begins the next cycle. Timers are kept.
    pub(crate) fn begin(&mut self, now: Now) {
        self.now = now;
        self.repeat = false;
    }

    /// Makes the next cycle begin without waiting.
    pub(crate) fn repeat(&mut self) {
        self.repeat = true;
    }

    /// Returns whether the next cycle begins without waiting.
    pub(crate) const fn repeats(&self) -> bool {
        self.repeat
    }

    /// Ensures that a cycle begins at `at` at the latest and checks the timers.
    pub(crate) fn wake(&mut self, at: Mono) {
        self.wake_at = Some(self.wake_at.map_or(at, |other| other.min(at)));
    }

    /// Returns whether a timer is due.
    pub(crate) fn is_timer_due(&self) -> bool {
        self.wake_at.is_some_and(|at| at <= self.now.mono)
    }

    /// Returns whether a cycle begins at `at` at the latest, and checks the timers.
    pub(crate) fn wakes_by(&self, at: Mono) -> bool {
        self.wake_at.is_some_and(|first| first <= at)
    }

    /// Forgets when the next timer is due, because all timers are about to be checked.
    pub(crate) fn clear_timers(&mut self) {
        self.wake_at = None;
    }

    /// Returns how long the loop may sleep from `now` on before the next timer is due, and at most
    /// `longest` since the cycle began.
    pub(crate) fn sleep(&self, now: Mono, longest: Duration) -> Duration {
        let until = self.now.mono + longest;
        self.wake_at.map_or(until, |at| until.min(at)) - now
    }
}
