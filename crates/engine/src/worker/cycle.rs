//! The loop's current cycle: what time it is, and when the next cycle must begin although no socket is ready.

use core::time::Duration;

use fixbolt_session::{Mono, Now};

/// The loop begins a cycle at least this often: a store that failed on its own is noticed, and the count of cycles grows.
pub(crate) const LONGEST_SLEEP: Duration = Duration::from_secs(1);

/// One cycle of the loop. The clocks are read once, at its beginning.
#[derive(Debug)]
pub(crate) struct Cycle {
    pub(crate) now: Now,
    repeat: bool,
    /// No timer is due before this.
    wake_at: Option<Mono>,
}

impl Cycle {
    pub(crate) const fn new(now: Now) -> Self {
        Self { now, repeat: false, wake_at: None }
    }

    /// Begins the next cycle. Timers stay.
    pub(crate) fn begin(&mut self, now: Now) {
        self.now = now;
        self.repeat = false;
    }

    /// Makes the next cycle begin without waiting.
    pub(crate) fn repeat(&mut self) {
        self.repeat = true;
    }

    /// Whether the next cycle begins without waiting.
    pub(crate) const fn repeats(&self) -> bool {
        self.repeat
    }

    /// Makes a cycle begin at `at`, if none begins before, and look at the timers.
    pub(crate) fn wake(&mut self, at: Mono) {
        self.wake_at = Some(self.wake_at.map_or(at, |other| other.min(at)));
    }

    /// Whether a timer is due.
    pub(crate) fn is_timer_due(&self) -> bool {
        self.wake_at.is_some_and(|at| at <= self.now.mono)
    }

    /// Forgets when the next timer is due: all timers are about to be looked at.
    pub(crate) fn clear_timers(&mut self) {
        self.wake_at = None;
    }

    /// How long the loop may sleep before the next timer is due, at most `longest`.
    pub(crate) fn sleep(&self, longest: Duration) -> Duration {
        self.wake_at.map_or(longest, |at| longest.min(at - self.now.mono))
    }
}
