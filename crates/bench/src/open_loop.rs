//! The open-loop latency harness: work begins when it is due, whether or not the last result has
//! arrived, and is measured from the moment it was due. A stall counts for everything that had to
//! wait for it (no coordinated omission).

use std::time::{Duration, Instant};

use hdrhistogram::Histogram;

/// The times at which pieces of work are due.
#[derive(Clone, Copy, Debug)]
pub struct Schedule {
    begin: Instant,
    interval: Duration,
}

impl Schedule {
    /// Creates a schedule of `rate` pieces per second from `begin` on.
    ///
    /// # Panics
    /// Panics if `rate` is 0.
    #[must_use]
    pub fn new(begin: Instant, rate: u32) -> Self {
        assert!(rate > 0, "the rate must not be 0");
        Self { begin, interval: Duration::from_secs(1) / rate }
    }

    /// Returns when piece `n`, from 0, is due.
    #[must_use]
    pub fn due(&self, n: u64) -> Instant {
        let nanos = u64::try_from(self.interval.as_nanos()).unwrap_or(u64::MAX).saturating_mul(n);
        self.begin + Duration::from_nanos(nanos)
    }

    /// Waits until piece `n` is due: sleeps, and polls the clock at the end, as a sleep ends late.
    pub fn wait(&self, n: u64) {
        const LAST_STRETCH: Duration = Duration::from_micros(150);
        let due = self.due(n);
        loop {
            let left = due.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            if left > LAST_STRETCH {
                std::thread::sleep(left - LAST_STRETCH);
            } else {
                std::hint::spin_loop();
            }
        }
    }
}

/// Durations of pieces of work: 1 ns to a minute, to three digits.
#[derive(Clone, Debug)]
pub struct Latencies {
    histogram: Histogram<u64>,
}

/// The percentiles that are displayed.
pub const PERCENTILES: [f64; 5] = [50.0, 90.0, 99.0, 99.9, 100.0];

impl Default for Latencies {
    fn default() -> Self {
        let minute = 60_000_000_000;
        Self { histogram: Histogram::new_with_bounds(1, minute, 3).expect("the bounds are in order") }
    }
}

impl Latencies {
    /// Adds a duration; those above a minute count as a minute.
    pub fn add(&mut self, latency: Duration) {
        self.histogram.saturating_record(u64::try_from(latency.as_nanos()).unwrap_or(u64::MAX));
    }

    /// Returns the number of durations.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.histogram.len()
    }

    /// Returns the value that `percentile` per cent do not exceed; 100 returns the maximum.
    #[must_use]
    pub fn percentile(&self, percentile: f64) -> Duration {
        Duration::from_nanos(self.histogram.value_at_percentile(percentile))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_is_due_at_even_distances_from_the_beginning() {
        let begin = Instant::now();
        let schedule = Schedule::new(begin, 1_000);
        assert_eq!(schedule.due(0), begin);
        assert_eq!(schedule.due(2_500) - begin, Duration::from_millis(2_500));
        schedule.wait(3);
        assert!(Instant::now() >= schedule.due(3));
    }

    #[test]
    fn percentiles_are_what_was_added() {
        let mut latencies = Latencies::default();
        for micros in 1..=1_000 {
            latencies.add(Duration::from_micros(micros));
        }
        latencies.add(Duration::from_secs(100));
        assert_eq!(latencies.count(), 1_001);
        let near = |percentile, micros: u128| {
            latencies.percentile(percentile).as_micros().abs_diff(micros) <= micros / 500
        };
        assert!(near(50.0, 501) && near(90.0, 901) && near(100.0, 60_000_000), "{latencies:?}");
    }
}
