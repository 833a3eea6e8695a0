//! Where the harness gets the time from.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// How close to a deadline a wait stops sleeping and polls the clock: a sleep ends late.
const LAST_STRETCH: u64 = 100_000;

/// A clock that never goes back. Times are nanoseconds since an origin of its own.
pub trait Clock {
    /// Returns the time.
    fn now(&self) -> u64;

    /// Waits a moment, at most until `deadline`, which is in the future. If `sleeps`, the thread
    /// may sleep while the deadline is far.
    fn pause(&self, deadline: u64, sleeps: bool);
}

/// The system's monotonic clock, in nanoseconds since the machine was started: the same in each
/// thread and process of the machine.
#[derive(Clone, Copy, Debug, Default)]
pub struct Monotonic;

impl Clock for Monotonic {
    fn now(&self) -> u64 {
        let time = clock_gettime(ClockId::Monotonic);
        time.tv_sec.unsigned_abs() * 1_000_000_000 + time.tv_nsec.unsigned_abs()
    }

    fn pause(&self, deadline: u64, sleeps: bool) {
        let left = deadline.saturating_sub(self.now());
        if sleeps && left > LAST_STRETCH {
            std::thread::sleep(Duration::from_nanos(left - LAST_STRETCH));
        } else {
            std::hint::spin_loop();
        }
    }
}
