//! How long a thread that only reads the clock is held up.

use std::time::Duration;

use crate::harness::{Clock as _, Latencies, Monotonic};

/// Reads the clock for `time` and returns the gaps between readings: what interrupts, other threads
/// and a hypervisor take from this thread shows as long ones.
#[must_use]
pub fn jitter(time: Duration) -> Latencies {
    let mut gaps = Latencies::default();
    let begin = Monotonic.now();
    let end = begin + u64::try_from(time.as_nanos()).unwrap_or(u64::MAX / 2);
    let mut before = begin;
    while before < end {
        let now = Monotonic.now();
        gaps.add_ns(now - before);
        before = now;
    }
    gaps
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_add_up_to_the_time_that_was_measured() {
        let gaps = jitter(Duration::from_millis(20));
        let sum = gaps.mean_ns() * gaps.count() as f64;
        assert!(sum > 19e6 && gaps.count() > 1_000, "{sum} {}", gaps.count());
    }
}
