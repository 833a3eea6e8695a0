//! Whether the wall clock has jumped, by what the monotonic clock says has passed.

use core::fmt;
use core::time::Duration;

use crate::values::time::{Mono, Now, Utc};

/// How far the wall clock may be from where it should be: a clock that is adjusted slowly, and the
/// time between reading the two clocks, are no jump. To this comes a thousandth of what has passed.
const TOLERANCE: Duration = Duration::from_secs(2);

/// Compares the wall clock with the monotonic one at each look. After a jump the new time does not
/// count at once: it may be a mistake that is mended soon.
///
/// The monotonic clock is to go on while the machine is suspended.
///
/// ```
/// use std::time::Duration;
///
/// use fixbolt_session::runtime::mono;
/// use fixbolt_session::{Clock, ClockWatch, Now, Utc};
///
/// let at = |seconds: u64, ahead: u64| Now {
///     mono: mono(seconds * 1_000_000_000),
///     utc: Utc((1_800_000_000 + seconds + ahead) * 1_000_000_000),
/// };
/// let mut watch = ClockWatch::new(Duration::from_secs(300));
/// assert_eq!(watch.look(at(0, 0)), Clock::Steady);
/// // A day ahead, for 70 seconds.
/// assert!(matches!(watch.look(at(60, 86_400)), Clock::Held { .. }));
/// assert!(matches!(watch.look(at(120, 86_400)), Clock::Held { .. }));
/// assert_eq!(watch.look(at(130, 0)), Clock::Returned);
/// ```
#[derive(Clone, Debug)]
pub struct ClockWatch {
    hold: Duration,
    /// The last time that counted.
    counted: Option<Now>,
    /// The other time that does not count.
    held: Option<Held>,
}

/// A time that does not count yet.
#[derive(Clone, Copy, Debug)]
struct Held {
    /// Since when the wall clock shows it.
    since: Mono,
    /// The last look.
    looked: Now,
}

/// What a look at the wall clock has found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Clock {
    /// It shows the time that it should.
    Steady,
    /// It shows another time, which does not count yet.
    Held {
        /// How far it is from the time that it should show.
        by: Duration,
        /// Whether it is ahead of that.
        ahead: bool,
        /// When the new time counts.
        until: Mono,
    },
    /// It shows the time that it should again; the other one has not counted.
    Returned,
    /// It has shown another time for so long that this counts from now on.
    Counts,
}

impl fmt::Display for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Steady => f.write_str("the wall clock shows the time that it should"),
            Self::Held { by, ahead, .. } => {
                let way = if *ahead { "ahead" } else { "back" };
                write!(f, "the wall clock has jumped {by:?} {way}; the schedule waits for it to return")
            }
            Self::Returned => f.write_str("the wall clock has returned from its jump"),
            Self::Counts => f.write_str("the new time of the wall clock counts"),
        }
    }
}

impl ClockWatch {
    /// Creates one that has not looked yet. After a jump, the new time counts once it has been
    /// shown for as long as `hold`; at once if that is zero.
    #[must_use]
    pub const fn new(hold: Duration) -> Self {
        Self { hold, counted: None, held: None }
    }

    /// Looks at both clocks.
    pub fn look(&mut self, now: Now) -> Clock {
        let Some(counted) = self.counted.replace(now) else { return Clock::Steady };
        if follows(counted, now) {
            return if self.held.take().is_some() { Clock::Returned } else { Clock::Steady };
        }
        // A clock that jumps again shows another time, which does not count for as long either.
        let since = self.held.filter(|held| follows(held.looked, now)).map_or(now.mono, |held| held.since);
        let until = since + self.hold;
        if until <= now.mono {
            self.held = None;
            return Clock::Counts;
        }
        self.counted = Some(counted);
        self.held = Some(Held { since, looked: now });
        let expected = expected(counted, now);
        Clock::Held { by: expected.abs_diff(now.utc), ahead: now.utc > expected, until }
    }

    /// Returns the time that counts: that of the wall clock, or the one that it should show.
    #[must_use]
    pub fn time(&self, now: Now) -> Utc {
        let Some(counted) = self.counted.filter(|_| !self.hold.is_zero()) else { return now.utc };
        // Nobody may have looked since it has jumped.
        if follows(counted, now) { now.utc } else { expected(counted, now) }
    }

    /// Has the time that the wall clock shows now count. Returns whether another one did.
    pub fn confirm(&mut self, now: Now) -> bool {
        self.counted = Some(now);
        self.held.take().is_some()
    }

    /// Returns whether the wall clock shows a time that does not count yet, by the last look.
    #[must_use]
    pub const fn is_held(&self) -> bool {
        self.held.is_some()
    }

    /// Returns since when the wall clock shows a time that does not count yet.
    pub(crate) fn held_since(&self) -> Option<Mono> {
        self.held.map(|held| held.since)
    }
}

/// Returns what the wall clock should show, by what it showed `before`.
fn expected(before: Now, now: Now) -> Utc {
    before.utc + (now.mono - before.mono)
}

/// Returns whether the wall clock shows that, or nearly.
fn follows(before: Now, now: Now) -> bool {
    expected(before, now).abs_diff(now.utc) <= TOLERANCE + (now.mono - before.mono) / 1000
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOLD: Duration = Duration::from_secs(300);

    /// This many milliseconds after the beginning, with a wall clock that is `ahead` milliseconds
    /// ahead.
    fn at(millis: u64, ahead: i64) -> Now {
        let utc = 1_800_000_000_000 + millis as i64 + ahead;
        Now { mono: Mono(millis * 1_000_000), utc: Utc(utc as u64 * 1_000_000) }
    }

    fn watch() -> ClockWatch {
        let mut watch = ClockWatch::new(HOLD);
        assert_eq!(watch.look(at(0, 0)), Clock::Steady);
        watch
    }

    #[test]
    fn a_jump_of_more_than_two_seconds_is_held_in_both_directions_and_less_is_not() {
        for (ahead, held) in [(2_000, false), (-2_000, false), (2_002, true), (-2_002, true)] {
            let found = watch().look(at(1_000, ahead));
            assert_eq!(matches!(found, Clock::Held { .. }), held, "{ahead}: {found:?}");
        }
        let Clock::Held { by, ahead, until } = watch().look(at(1_000, -3_600_000)) else { panic!() };
        assert_eq!((by, ahead, until), (Duration::from_secs(3600), false, Mono(301_000_000_000)));
    }

    #[test]
    fn a_clock_that_is_slewed_is_steady_over_any_number_of_looks() {
        let mut watch = watch();
        for minute in 1..1000 {
            assert_eq!(watch.look(at(minute * 60_000, minute as i64 * 30)), Clock::Steady);
        }
    }

    #[test]
    fn the_new_time_counts_once_it_was_shown_for_as_long_as_it_is_held() {
        let mut watch = watch();
        watch.look(at(1_000, 86_400_000));
        assert!(matches!(watch.look(at(300_999, 86_400_000)), Clock::Held { .. }));
        assert_eq!(watch.look(at(301_000, 86_400_000)), Clock::Counts);
        assert_eq!(watch.look(at(302_000, 86_400_000)), Clock::Steady);
        // Then the old one is the other one.
        assert!(matches!(watch.look(at(303_000, 0)), Clock::Held { ahead: false, .. }));
    }

    #[test]
    fn a_clock_that_returns_ends_the_hold_and_the_next_jump_begins_another() {
        let mut watch = watch();
        watch.look(at(1_000, 86_400_000));
        assert_eq!(watch.look(at(200_000, 0)), Clock::Returned);
        watch.look(at(250_000, 86_400_000));
        assert!(matches!(watch.look(at(500_000, 86_400_000)), Clock::Held { .. }));
    }

    #[test]
    fn a_clock_that_jumps_again_while_it_is_held_shows_a_time_that_is_held_as_long() {
        let mut watch = watch();
        watch.look(at(1_000, 86_400_000));
        // Slewed meanwhile, it still shows the same time.
        watch.look(at(200_000, 86_400_000 + 1_500));
        let Clock::Held { until, .. } = watch.look(at(290_000, -3_600_000)) else { panic!() };
        assert_eq!(until, Mono(590_000_000_000));
        assert!(matches!(watch.look(at(301_000, -3_600_000)), Clock::Held { .. }));
        assert_eq!(watch.look(at(590_000, -3_600_000)), Clock::Counts);
    }

    #[test]
    fn without_a_hold_or_once_confirmed_the_new_time_counts_at_once() {
        let mut none = ClockWatch::new(Duration::ZERO);
        none.look(at(0, 0));
        assert_eq!(none.look(at(1, 86_400_000)), Clock::Counts);
        let mut watch = watch();
        assert_eq!(watch.time(at(1_000, 86_400_000)), at(1_000, 0).utc);
        watch.look(at(1_000, 86_400_000));
        assert_eq!(watch.time(at(2_000, 86_400_000)), at(2_000, 0).utc);
        assert!(watch.is_held() && watch.confirm(at(2_000, 86_400_000)));
        assert_eq!(watch.look(at(3_000, 86_400_000)), Clock::Steady);
        assert!(!watch.confirm(at(4_000, 86_400_000)));
    }
}
