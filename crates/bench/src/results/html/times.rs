//! What the plots of latencies have in common: the times of a series, and its curve.

use fixbolt_workloads::harness::{Latencies, PERCENTILES};

use super::palette::Palette;
use crate::results::row::is_baseline;
use crate::results::{Series, TimeKind};

/// One line of a plot: all runs of a series as one.
#[derive(Debug)]
pub(super) struct Times<'a> {
    pub(super) series: &'a Series,
    pub(super) kind: TimeKind,
    pub(super) latencies: Latencies,
}

/// Returns the response and service times of series, as far as there are any.
pub(super) fn times<'a>(series: impl IntoIterator<Item = &'a Series>) -> Vec<Times<'a>> {
    let mut all = Vec::new();
    for series in series {
        for kind in TimeKind::ALL {
            let latencies = series.merged(kind);
            if latencies.count() > 0 {
                all.push(Times { series, kind, latencies });
            }
        }
    }
    all
}

impl Times<'_> {
    /// Returns the classes of the style sheet: the engine's color, and how its lines look.
    pub(super) fn class(&self, palette: &Palette) -> String {
        let engine = palette.class(&self.series.engine);
        format!("{engine} {}{}", self.kind.name(), if self.series.is_valid() { "" } else { " invalid" })
    }

    /// Returns the name of the line.
    pub(super) fn name(&self) -> String {
        let Series { engine, name, .. } = self.series;
        let baseline = if is_baseline(engine) { " (baseline)" } else { "" };
        format!("{engine}{baseline}, {name}, {} time", self.kind.name())
    }

    /// Returns why the line must be read with care; empty if it need not.
    pub(super) fn care(&self) -> String {
        let invalid = self.series.runs.iter().filter(|run| run.invalid.is_some()).count();
        match (invalid, self.series.is_valid()) {
            (0, _) => String::new(),
            (_, false) => ", INVALID".to_owned(),
            (invalid, true) => {
                format!(
                    ", with {invalid} INVALID of {} {}",
                    self.series.runs.len(),
                    self.series.part.plural()
                )
            }
        }
    }
}

/// How many points a curve has until only a tenth of the samples lies above it.
const POINTS: u32 = 24;

/// Returns the distance of a percentile from 100 in powers of ten: 90 is 1, 99 is 2, 99.9 is 3.
pub(super) fn nines(percentile: f64) -> f64 {
    -(1.0 - percentile / 100.0).log10()
}

/// Returns how many nines a number of samples has: the longest one is one of so many.
#[expect(clippy::cast_precision_loss, reason = "counts are below 2^53")]
pub(super) fn nines_of(count: u64) -> f64 {
    (count.max(1) as f64).log10()
}

/// Returns the curve of the percentiles up to the maximum: nines, and nanoseconds. Up to the index
/// that is returned with it, at least a hundred samples lie above each point.
#[expect(clippy::cast_precision_loss, reason = "counts and times are below 2^53")]
pub(super) fn curve(latencies: &Latencies) -> (Vec<(f64, f64)>, usize) {
    let (count, end) = (latencies.count(), nines_of(latencies.count()));
    let carried = (end - 2.0).max(0.0);
    let steps = (0u32..).map(|n| f64::from(n) / f64::from(POINTS)).take_while(|at| *at < end);
    let known = PERCENTILES.map(nines).into_iter().filter(|at| *at < end);
    let mut at: Vec<f64> = steps.chain([carried, end]).chain(known).collect();
    at.sort_by(f64::total_cmp);
    at.dedup_by(|b, a| *b - *a < 1e-6);
    let buckets = latencies.buckets();
    let (mut seen, mut next, mut value) = (0, buckets.iter(), 0);
    let mut points = Vec::with_capacity(at.len());
    for nines in &at {
        // These stand in tables, whose figures must be on the curve.
        if let Some(percentile) = PERCENTILES.into_iter().find(|it| (self::nines(*it) - nines).abs() < 1e-6) {
            points.push((*nines, latencies.ns_at(percentile) as f64));
            continue;
        }
        let rank = (count as f64 * (1.0 - 10f64.powf(-nines))).ceil().max(1.0);
        let rank = if *nines >= end { count as f64 } else { rank };
        while (seen as f64) < rank {
            let Some(&(ns, of_it)) = next.next() else { break };
            (value, seen) = (ns, seen + of_it);
        }
        points.push((*nines, value as f64));
    }
    let last = at.iter().rposition(|nines| *nines <= carried).unwrap_or(0);
    (points, last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_curve_rises_from_the_minimum_to_the_maximum_and_says_how_far_it_is_carried() {
        let mut latencies = Latencies::default();
        (1..=10_000).for_each(|ns| latencies.add_ns(ns * 10));
        let (points, carried) = curve(&latencies);
        let near = |at: usize, nines: f64, ns: f64| {
            (points[at].0 - nines).abs() < 1e-9 && (points[at].1 / ns - 1.0).abs() < 0.01
        };
        assert!(near(0, 0.0, 10.0) && near(points.len() - 1, 4.0, 100_000.0), "{points:?}");
        // A hundred of ten thousand lie above 99 %.
        assert!(near(carried, nines(99.0), 99_000.0), "{:?}", points[carried]);
        assert!(points.windows(2).all(|pair| pair[0].0 < pair[1].0 && pair[0].1 <= pair[1].1));
        let mut one = Latencies::default();
        one.add_ns(500);
        assert_eq!(curve(&one), (vec![(0.0, 500.0)], 0));
    }
}
