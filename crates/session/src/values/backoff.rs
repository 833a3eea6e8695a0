//! How long to wait between attempts that fail. Sans-IO: the random number comes in.

use core::time::Duration;

/// The waits between attempts. Each is twice as long as the one before, up to a limit, until
/// [`reset`](Self::reset).
///
/// A random number may shorten each wait, to no less than its half: initiators that lost the same
/// counterparty do not return to it all at once.
///
/// ```
/// use core::time::Duration;
/// use fixbolt_session::Backoff;
///
/// let mut backoff = Backoff::new(Duration::from_secs(1), Duration::from_secs(3));
/// let waits = [backoff.next(0), backoff.next(0), backoff.next(0)];
/// assert_eq!(waits, [1, 2, 3].map(Duration::from_secs));
/// backoff.reset();
/// assert_eq!(backoff.next(1 << 31), Duration::from_millis(750));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Backoff {
    first: Duration,
    longest: Duration,
    next: Duration,
}

impl Backoff {
    /// Returns waits that begin with `first` and grow to `longest`; all of them are `first` if
    /// `longest` is shorter.
    #[must_use]
    pub const fn new(first: Duration, longest: Duration) -> Self {
        Self { first, longest, next: first }
    }

    /// Returns the first wait, whole.
    #[must_use]
    pub const fn first(&self) -> Duration {
        self.first
    }

    /// Begins with the first wait again.
    pub const fn reset(&mut self) {
        self.next = self.first;
    }

    /// Returns the next wait: all of it if `random` is 0, and the less of it the larger `random`
    /// is.
    #[must_use]
    pub fn next(&mut self, random: u32) -> Duration {
        let whole = self.next;
        self.next = whole.saturating_mul(2).min(self.longest).max(self.first);
        let left_out = (whole / 2).mul_f64(f64::from(random) / (f64::from(u32::MAX) + 1.0));
        whole.saturating_sub(left_out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn seconds(n: u64) -> Duration {
        Duration::from_secs(n)
    }

    #[test]
    fn each_wait_is_twice_the_one_before_up_to_the_longest_until_a_reset() {
        let mut backoff = Backoff::new(seconds(30), seconds(100));
        let waits = [0; 4].map(|random| backoff.next(random));
        assert_eq!(waits, [30, 60, 100, 100].map(seconds));
        backoff.reset();
        assert_eq!([backoff.next(0), backoff.next(0)], [30, 60].map(seconds));
    }

    #[test]
    fn a_longest_wait_below_the_first_leaves_the_first() {
        let mut backoff = Backoff::new(seconds(30), seconds(1));
        assert_eq!([0; 3].map(|random| backoff.next(random)), [30; 3].map(seconds));
    }

    #[test]
    fn chance_shortens_a_wait_by_up_to_its_half_and_never_prolongs_it() {
        for random in [0, 1, 1 << 31, u32::MAX - 1, u32::MAX] {
            for first in [Duration::from_millis(1), seconds(30), Duration::MAX] {
                let wait = Backoff::new(first, seconds(1)).next(random);
                assert!(wait <= first && wait >= first / 2, "{first:?}, {random}: {wait:?}");
            }
        }
        assert_eq!(Backoff::new(seconds(40), seconds(40)).next(1 << 31), seconds(30));
    }
}
