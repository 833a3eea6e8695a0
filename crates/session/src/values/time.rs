//! The two clocks of the engine, as plain numbers that the caller provides.
//!
//! The session core never reads a clock. Every call has a [`Now`]: timers use only its monotonic
//! part, SendingTime and schedules only its UTC part, so that a change of the wall clock affects no
//! timer and a simulation can run in virtual time.

use core::fmt;
use core::ops::{Add, Sub};
use core::time::Duration;

/// A point in time of a monotonic clock, in nanoseconds since an origin that only the caller knows.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Mono(pub(crate) u64);

/// A point in time in UTC, in nanoseconds since 1970-01-01T00:00:00Z (leap seconds not counted).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Utc(pub u64);

/// Both clocks at the time of a call.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Now {
    /// The clock for timers.
    pub mono: Mono,
    /// The clock for SendingTime (52) and schedules.
    pub utc: Utc,
}

impl Mono {
    /// Returns the nanoseconds since the clock's origin.
    #[must_use]
    pub const fn nanos(self) -> u64 {
        self.0
    }
}

impl Add<Duration> for Mono {
    type Output = Self;
    fn add(self, d: Duration) -> Self {
        Self(self.0.saturating_add(u64::try_from(d.as_nanos()).unwrap_or(u64::MAX)))
    }
}

impl Sub for Mono {
    type Output = Duration;
    /// Returns the time from `earlier` to `self`; zero if `earlier` is later.
    fn sub(self, earlier: Self) -> Duration {
        Duration::from_nanos(self.0.saturating_sub(earlier.0))
    }
}

impl Add<Duration> for Utc {
    type Output = Self;
    fn add(self, d: Duration) -> Self {
        Self(self.0.saturating_add(u64::try_from(d.as_nanos()).unwrap_or(u64::MAX)))
    }
}

impl Utc {
    /// Returns the absolute difference between two points in time.
    #[must_use]
    pub fn abs_diff(self, other: Self) -> Duration {
        Duration::from_nanos(self.0.abs_diff(other.0))
    }
}

/// Writes the date and time to the second: `2026-11-23T08:00:00Z`.
impl fmt::Display for Utc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = i64::try_from(self.0 / 1_000_000_000).unwrap_or(i64::MAX);
        let Ok(at) = jiff_core::Timestamp::from_second(seconds) else { return write!(f, "{seconds} s") };
        let shown = at.to_datetime(jiff_core::tz::Offset::UTC);
        let (date, time) = (shown.date(), shown.time());
        write!(f, "{:04}-{:02}-{:02}", date.year(), date.month(), date.day())?;
        write!(f, "T{:02}:{:02}:{:02}Z", time.hour(), time.minute(), time.second())
    }
}

impl fmt::Display for Mono {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:09}s", self.0 / 1_000_000_000, self.0 % 1_000_000_000)
    }
}
