//! The latency runs of one engine in one setting.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::clock::median;
use crate::harness::{Invalid, Latencies, PERCENTILES, Run, Usage, variation};
use crate::results::Table;

/// Runs of one engine in one setting.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Series {
    /// The benchmark.
    pub test: String,
    /// The engine measured: `fixbolt`, another one, or `raw TCP` and `nothing` for baselines.
    pub engine: String,
    /// The setting: a rate, a configuration, ...
    pub name: String,
    /// The runs.
    pub runs: Vec<Run>,
}

impl Series {
    /// Creates a series.
    #[must_use]
    pub fn new(test: &str, engine: &str, name: impl Into<String>, runs: Vec<Run>) -> Self {
        Self { test: test.to_owned(), engine: engine.to_owned(), name: name.into(), runs }
    }

    /// Returns the keys that tell this series from others of its report.
    #[must_use]
    pub fn key(&self) -> String {
        format!("{} {} {}", self.test, self.engine, self.name)
    }

    /// Returns all runs as one.
    #[must_use]
    pub fn merged(&self) -> Latencies {
        let mut all = Latencies::default();
        self.runs.iter().for_each(|run| all.merge(run.latencies()));
        all
    }

    /// Returns the runs whose figures may be used: the valid ones, or all if none is.
    pub fn usable(&self) -> impl Iterator<Item = &Run> {
        let none = !self.is_valid();
        self.runs.iter().filter(move |run| none || run.invalid.is_none())
    }

    /// Returns whether a run is valid.
    #[must_use]
    pub fn is_valid(&self) -> bool {
        self.runs.iter().any(|run| run.invalid.is_none())
    }

    /// Returns the median over the runs of a percentile, in nanoseconds; `None` without runs.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "times are below 2^53 ns")]
    pub fn median_ns(&self, percentile: f64) -> Option<f64> {
        let mut values: Vec<f64> =
            self.runs.iter().map(|run| run.latencies().ns_at(percentile) as f64).collect();
        median(&mut values)
    }

    /// Returns the table of the runs as JLBH lays it out: percentiles in microseconds, a column for
    /// each run, the variation. `times` selects which times of a run.
    ///
    /// A percentile that the number of samples does not carry is marked `*`. Below the percentiles
    /// stand the rates, what the process used, what was lost, and why a run is invalid.
    #[must_use]
    pub fn table(&self, title: impl Into<String>, times: impl Fn(&Run) -> &Latencies) -> Table {
        let tables: Vec<_> = self.runs.iter().map(|run| times(run).table()).collect();
        #[expect(clippy::cast_precision_loss, reason = "times are below 2^53 ns")]
        let cell = |it: &crate::harness::Percentile| (it.ns as f64 / 1e3, it.carried);
        let row = |at: usize| tables.iter().map(|table| cell(&table[at])).collect();
        let rows: Vec<Vec<_>> = (0..PERCENTILES.len()).map(row).collect();
        let mut table = percentile_table(title, &rows);
        let rate = |rate: Option<f64>| rate.map_or_else(|| "-".to_owned(), |rate| format!("{rate:.0}"));
        let rates = self.runs.iter().map(|run| rate(run.achieved_rate));
        table.row(std::iter::once("rate/s:".to_owned()).chain(rates).chain(["-".to_owned()]));
        if let Some(used) = self.used() {
            table.note(used);
        }
        if tables.iter().flatten().any(|row| !row.carried) {
            table.note("* fewer than 100 samples lie above it");
        }
        for (n, run) in self.runs.iter().enumerate() {
            let lost = if run.lost > 0 && !matches!(run.invalid, Some(Invalid::Lost(_))) {
                format!("; {} samples were lost", run.lost)
            } else {
                String::new()
            };
            let late = if run.late > 0 { format!("; {} of them came late", run.late) } else { String::new() };
            let stray = if run.stray > 0 { format!("; {} strays", run.stray) } else { String::new() };
            if let Some(invalid) = &run.invalid {
                table.note(format!("run{} is INVALID: {invalid}{lost}{late}{stray}", n + 1));
            } else if run.stray > 0 {
                table.note(format!("run{}: {} samples had no piece of their own", n + 1, run.stray));
            }
        }
        table
    }

    /// Returns what the process used for each piece, in all runs: CPU time of all its threads as
    /// [`Usage`] counts it, context switches and page faults. `None` if that was not measured.
    #[expect(clippy::cast_precision_loss, reason = "counts are below 2^53")]
    fn used(&self) -> Option<String> {
        let pieces = self.runs.iter().map(|run| run.service.count() + run.lost).sum::<u64>();
        let cpu = self.runs.iter().map(|run| run.usage.cpu).sum::<Duration>();
        if pieces == 0 || cpu.is_zero() {
            return None;
        }
        let sum = |of: fn(&Usage) -> [Option<u64>; 2]| {
            let all = self.runs.iter().flat_map(|run| of(&run.usage)).sum::<Option<u64>>();
            all.map_or_else(|| "unknown".to_owned(), |all| format!("{:.2}", all as f64 / pieces as f64))
        };
        let switches = sum(|usage| [usage.voluntary_switches, usage.involuntary_switches]);
        let faults = sum(|usage| [usage.minor_faults, usage.major_faults]);
        let cpu = cpu.as_secs_f64() * 1e6 / pieces as f64;
        Some(format!(
            "per piece: {cpu:.2} us of CPU (without waiting for the next one), {switches} context switches, {faults} page faults"
        ))
    }
}

/// Lays percentiles out as JLBH does: a row for each of [`PERCENTILES`], which has for each run its
/// microseconds and whether the number of samples carries them.
pub(crate) fn percentile_table(title: impl Into<String>, rows: &[Vec<(f64, bool)>]) -> Table {
    let runs = (1..=rows.first().map_or(0, Vec::len)).map(|run| format!("run{run}"));
    let columns = std::iter::once("Percentile".to_owned()).chain(runs);
    let mut table = Table::new(title, columns.chain(["% Variation".to_owned()]));
    for (percentile, row) in PERCENTILES.into_iter().zip(rows) {
        let name = if percentile >= 100.0 { "worst:".to_owned() } else { format!("{percentile}:") };
        let cells =
            row.iter().map(|(micros, carried)| format!("{micros:.2}{}", if *carried { "" } else { "*" }));
        let micros: Vec<f64> = row.iter().map(|(micros, _)| *micros).collect();
        let variation = variation(&micros).map_or_else(|| "-".to_owned(), |it| format!("{it:.2}"));
        table.row(std::iter::once(name).chain(cells).chain([variation]));
    }
    table
}
