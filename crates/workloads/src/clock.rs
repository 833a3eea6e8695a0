//! Measuring time: the CPU time of the current thread, which other processes on a busy machine do
//! not affect.

use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

/// Returns the CPU time that this thread has used.
#[must_use]
pub fn thread_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), u32::try_from(time.tv_nsec).unwrap_or(0))
}

/// Returns the CPU time that this process has used, in all of its threads.
#[must_use]
pub fn process_time() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), u32::try_from(time.tv_nsec).unwrap_or(0))
}

/// Returns the CPU time that `work` takes on this thread, and the result of `work`.
pub fn timed<R>(work: impl FnOnce() -> R) -> (Duration, R) {
    let before = thread_time();
    let result = work();
    (thread_time().saturating_sub(before), result)
}

/// Returns the median, halfway between the middle values if there are two; `None` if there are no
/// values.
#[must_use]
pub fn median(values: &mut [f64]) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let last = values.len().checked_sub(1)?;
    Some(f64::midpoint(values[last / 2], values[last.div_ceil(2)]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_of_an_even_number_of_values_favors_neither_half() {
        assert_eq!(median(&mut [3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(&mut [4.0, 1.0, 3.0, 2.0]), Some(2.5));
        assert_eq!(median(&mut [100.0, 19.0]), Some(59.5));
        assert_eq!(median(&mut []), None);
    }

    #[test]
    fn time_goes_on_while_the_thread_works() {
        let (time, sum) = timed(|| (0..1_000_000u64).fold(0, |sum, n| std::hint::black_box(sum ^ n)));
        assert!(time > Duration::ZERO && sum == (0..1_000_000u64).fold(0, |sum, n| sum ^ n));
    }
}
