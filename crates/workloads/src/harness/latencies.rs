//! Durations, and how they are summarized.

use std::time::Duration;

use hdrhistogram::Histogram;

/// Durations from 1 ns to an hour, to three digits. Longer ones count as an hour.
///
/// It is serialized as its buckets: pairs of nanoseconds and count.
#[derive(Clone, PartialEq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(from = "Vec<(u64, u64)>", into = "Vec<(u64, u64)>"))]
pub struct Latencies {
    histogram: Histogram<u64>,
}

/// The longest duration that is told apart from longer ones, in nanoseconds.
const LONGEST: u64 = 3_600_000_000_000;

/// The percentiles of the published tables, up to the maximum.
pub const PERCENTILES: [f64; 6] = [50.0, 90.0, 99.0, 99.9, 99.99, 100.0];

/// A percentile of some durations.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Percentile {
    /// Which one, from 0 to 100; 100 is the maximum.
    pub percentile: f64,
    /// Its value, in nanoseconds.
    pub ns: u64,
    /// Whether there are enough samples for it: see [`carried_by`].
    pub carried: bool,
}

/// Returns whether `count` samples carry a percentile: at least a hundred must lie above it, or
/// around it for the median. 99.9 needs 100,000 samples, 99.99 a million. The maximum is a fact of
/// the run, which no number of samples makes a property of the system.
#[must_use]
pub fn carried_by(percentile: f64, count: u64) -> bool {
    #[expect(clippy::cast_precision_loss, reason = "counts are below 2^53")]
    // 1 - 0.9999 is not exact.
    let above = count as f64 * (100.0 - percentile) / 100.0 + 1e-6;
    if percentile >= 100.0 { count > 0 } else { above >= 100.0 }
}

impl Default for Latencies {
    fn default() -> Self {
        Self { histogram: Histogram::new_with_bounds(1, LONGEST, 3).expect("the bounds are in order") }
    }
}

impl From<Vec<(u64, u64)>> for Latencies {
    fn from(buckets: Vec<(u64, u64)>) -> Self {
        let mut latencies = Self::default();
        buckets.into_iter().for_each(|(ns, count)| latencies.add_many(ns, count));
        latencies
    }
}

impl From<Latencies> for Vec<(u64, u64)> {
    fn from(latencies: Latencies) -> Self {
        latencies.buckets()
    }
}

impl Latencies {
    /// Adds a duration.
    pub fn add(&mut self, latency: Duration) {
        self.add_ns(u64::try_from(latency.as_nanos()).unwrap_or(u64::MAX));
    }

    /// Adds a duration in nanoseconds. 0 counts as 1.
    pub fn add_ns(&mut self, ns: u64) {
        self.histogram.saturating_record(ns.max(1));
    }

    /// Adds `count` durations of `ns` nanoseconds each.
    pub fn add_many(&mut self, ns: u64, count: u64) {
        self.histogram.saturating_record_n(ns.max(1), count);
    }

    /// Adds all durations of `other`.
    pub fn merge(&mut self, other: &Self) {
        self.histogram.add(&other.histogram).expect("both have the same bounds");
    }

    /// Returns the number of durations.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.histogram.len()
    }

    /// Returns the value that `percentile` per cent do not exceed; 100 returns the maximum.
    #[must_use]
    pub fn percentile(&self, percentile: f64) -> Duration {
        Duration::from_nanos(self.ns_at(percentile))
    }

    /// Returns the value in nanoseconds that `percentile` per cent do not exceed; 0 if there are no
    /// durations.
    #[must_use]
    pub fn ns_at(&self, percentile: f64) -> u64 {
        if self.count() == 0 {
            return 0;
        }
        // 99.9 % of 2,000 is computed as slightly more than 1,998, which must not become 1,999.
        let quantile = if percentile >= 100.0 { 1.0 } else { (percentile / 100.0 - 1e-12).max(0.0) };
        self.histogram.value_at_quantile(quantile)
    }

    /// Returns the shortest duration in nanoseconds; 0 if there are none.
    #[must_use]
    pub fn min_ns(&self) -> u64 {
        if self.count() == 0 { 0 } else { self.histogram.min() }
    }

    /// Returns the mean in nanoseconds; 0 if there are no durations.
    #[must_use]
    pub fn mean_ns(&self) -> f64 {
        self.histogram.mean()
    }

    /// Returns the percentiles of the published tables.
    #[must_use]
    pub fn table(&self) -> [Percentile; PERCENTILES.len()] {
        PERCENTILES.map(|percentile| Percentile {
            percentile,
            ns: self.ns_at(percentile),
            carried: carried_by(percentile, self.count()),
        })
    }

    /// Returns the values that occur, each with its count: what [`Latencies::add_many`] takes to
    /// make an equal one.
    #[must_use]
    pub fn buckets(&self) -> Vec<(u64, u64)> {
        let recorded = self.histogram.iter_recorded();
        recorded.map(|value| (value.value_iterated_to(), value.count_at_value())).collect()
    }
}

/// Returns the variation of a figure over runs as JLBH's tables have it, in per cent:
/// 100 (max - min) / (max + min / 2), without the first run. `None` if fewer than two runs are
/// left.
#[must_use]
pub fn variation(runs: &[f64]) -> Option<f64> {
    let (max, min) = extremes(runs.get(1..).filter(|rest| rest.len() > 1)?);
    (max > 0.0).then(|| 100.0 * (max - min) / (max + min / 2.0))
}

/// Returns how far apart the runs are, in per cent: 100 (max - min) / median, over all of them.
/// `None` if there are fewer than two.
#[must_use]
pub fn spread(runs: &[f64]) -> Option<f64> {
    let (max, min) = extremes(Some(runs).filter(|runs| runs.len() > 1)?);
    let median = crate::clock::median(&mut runs.to_vec())?;
    (median > 0.0).then(|| 100.0 * (max - min) / median)
}

fn extremes(values: &[f64]) -> (f64, f64) {
    let max = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    (max, values.iter().copied().fold(f64::INFINITY, f64::min))
}
