//! The latency runs of one engine in one setting.

use std::time::Duration;

use fixbolt_workloads::harness::{Invalid, Latencies, PERCENTILES, Run, Usage, carried_by, variation};
use serde::{Deserialize, Serialize};

use super::{Part, Row, Statistic, Table};

/// Runs of one engine in one setting.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Series {
    /// The benchmark.
    pub test: String,
    /// The engine measured: `fixbolt`, another one, or `raw TCP` and `nothing` for baselines.
    pub engine: String,
    /// The message, perhaps empty.
    pub message: String,
    /// The setting: a rate, a configuration, ...
    pub name: String,
    /// What its runs are: slices if several contestants take turns.
    pub part: Part,
    /// The runs.
    pub runs: Vec<Run>,
}

/// Which times of pieces are meant.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TimeKind {
    /// From when a piece was due. A closed loop has none.
    Response,
    /// From when a piece began.
    Service,
}

impl TimeKind {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Response, Self::Service];

    /// Returns the name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Response => "response",
            Self::Service => "service",
        }
    }

    /// Returns these times of a run.
    #[must_use]
    pub const fn of(self, run: &Run) -> &Latencies {
        match self {
            Self::Response => &run.response,
            Self::Service => &run.service,
        }
    }
}

/// Up to this percentile a figure is the median of the runs. Above it, a run has too few samples:
/// the figure is of the samples of all runs together.
const MEDIAN_UP_TO: f64 = 99.0;

impl Series {
    /// Creates a series of runs, one after another.
    #[must_use]
    pub fn new(test: &str, engine: &str, name: impl Into<String>, runs: Vec<Run>) -> Self {
        let (test, engine, name) = (test.to_owned(), engine.to_owned(), name.into());
        Self { test, engine, message: String::new(), name, part: Part::Run, runs }
    }

    /// Says which message was sent.
    #[must_use]
    pub fn message(self, message: &str) -> Self {
        Self { message: message.to_owned(), ..self }
    }

    /// Says that the runs are slices, which took turns with those of other contestants.
    #[must_use]
    pub fn in_slices(self) -> Self {
        Self { part: Part::Slice, ..self }
    }

    /// Returns the keys that tell this series from others of its report.
    #[must_use]
    pub fn key(&self) -> String {
        let keys = [&self.test, &self.engine, &self.message, &self.name].map(String::as_str);
        keys.into_iter().filter(|key| !key.is_empty()).collect::<Vec<_>>().join(" ")
    }

    /// Returns the times of all runs together.
    #[must_use]
    pub fn merged(&self, times: TimeKind) -> Latencies {
        let mut all = Latencies::default();
        self.runs.iter().for_each(|run| all.merge(times.of(run)));
        all
    }

    /// Returns the times that are judged: response times, or service times in a closed loop, which
    /// has no others.
    #[must_use]
    pub fn judged(&self) -> TimeKind {
        let has = |run: &Run| run.response.count() > 0;
        if self.runs.iter().any(has) { TimeKind::Response } else { TimeKind::Service }
    }

    /// Returns the figure of a percentile, which is the same in every output: up to 99 the median
    /// of the runs with the worst of them, above it that of all runs together. Every run counts;
    /// if one is INVALID, the figure is. `None` if there are no such times.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "times are below 2^53 ns")]
    pub fn row(&self, times: TimeKind, percentile: f64) -> Option<Row> {
        let runs = self.runs.iter().map(|run| times.of(run)).filter(|times| times.count() > 0);
        let values: Vec<f64> = runs.map(|times| times.ns_at(percentile) as f64).collect();
        let all = self.merged(times);
        let row = Row::of_ns(&self.test, &self.message, &self.name, 0.0).engine(&self.engine);
        let mut row = if percentile <= MEDIAN_UP_TO {
            row.median_of(self.part, values)?
        } else {
            let statistic = Statistic::all(self.part, values.len());
            Row { ns: Some(all.ns_at(percentile) as f64), statistic, ..row }
        };
        row.times = Some(times);
        row.percentile = Some(percentile);
        row.few = !carried_by(percentile, all.count());
        row.invalid = self.invalid();
        (all.count() > 0).then_some(row)
    }

    /// Returns whether a figure of one of these percentiles is unsteady.
    #[must_use]
    pub fn is_unsteady(&self, percentiles: &[f64]) -> bool {
        let unsteady = |times, percentile| self.row(times, percentile)?.unsteadiness();
        TimeKind::ALL
            .into_iter()
            .any(|times| percentiles.iter().any(|percentile| unsteady(times, *percentile).is_some()))
    }

    /// Returns the figures of all percentiles of the published tables, of all times that there are.
    pub fn rows(&self) -> impl Iterator<Item = Row> {
        let of =
            move |times| PERCENTILES.into_iter().filter_map(move |percentile| self.row(times, percentile));
        TimeKind::ALL.into_iter().flat_map(of)
    }

    /// Returns why the figures must not be used: how many runs are INVALID, and why the first one
    /// is.
    #[must_use]
    pub fn invalid(&self) -> Option<String> {
        let mut invalid = self.runs.iter().filter_map(|run| run.invalid.as_ref());
        let first = invalid.next()?;
        Some(match (1 + invalid.count(), self.runs.len()) {
            (_, 1) => first.to_string(),
            (of, all) => format!("{of} of {all} {}, the first because {first}", self.part.plural()),
        })
    }

    /// Returns whether a run is valid.
    #[must_use]
    pub fn is_valid(&self) -> bool {
        self.runs.iter().any(|run| run.invalid.is_none())
    }

    /// Returns the achieved rates of the runs: the median, and the lowest. A run in which nothing
    /// ended has none, and achieved none.
    #[must_use]
    pub fn rate(&self) -> Option<Row> {
        let rates = self.runs.iter().map(|run| run.achieved_rate.unwrap_or(0.0)).collect();
        let operation = format!("{} rate", self.name);
        let row = Row::of_value(&self.test, &self.message, &operation, 0.0, "/s").engine(&self.engine);
        row.median_of(self.part, rates)
    }

    /// Returns the figures of the table of runs as columns, each with its head: those of
    /// [`Series::row`], in microseconds, and the worst run.
    pub(crate) fn columns(&self, head: &str, times: TimeKind) -> [(String, Vec<String>); 2] {
        let (mut figures, mut worst) = (Vec::new(), Vec::new());
        let us = |ns: f64| format!("{:.2}", ns / 1e3);
        let unknown = || "-".to_owned();
        for percentile in PERCENTILES {
            let row = self.row(times, percentile);
            figures.push(row.as_ref().map_or_else(unknown, |row| row.micros(2)));
            worst.push(row.and_then(|row| row.worst).map_or_else(unknown, us));
        }
        let rate = self.rate();
        let known = |rate: Option<f64>| rate.map_or_else(unknown, |rate| format!("{rate:.0}"));
        figures.push(known(rate.as_ref().and_then(|row| row.value)));
        worst.push(known(rate.and_then(|row| row.worst)));
        [(head.to_owned(), figures), (format!("worst {}", self.part.name()), worst)]
    }

    /// Returns the table of the runs as JLBH lays it out: percentiles in microseconds, a column for
    /// each run, the variation; then the figures, which the other outputs have, and the worst run.
    ///
    /// A percentile that the number of samples does not carry is marked `*`. Below the percentiles
    /// stand the rates, what the process used, what was lost, and why a run is invalid.
    #[must_use]
    pub fn table(&self, title: impl Into<String>, times: TimeKind) -> Table {
        let tables: Vec<_> = self.runs.iter().map(|run| times.of(run).table()).collect();
        #[expect(clippy::cast_precision_loss, reason = "times are below 2^53 ns")]
        let cell = |it: &fixbolt_workloads::harness::Percentile| (it.ns as f64 / 1e3, it.carried);
        let row = |at: usize| tables.iter().map(|table| cell(&table[at])).collect();
        let rows: Vec<Vec<_>> = (0..PERCENTILES.len()).map(row).collect();
        let mut table = percentile_table(title, &rows);
        let rate = |rate: Option<f64>| rate.map_or_else(|| "-".to_owned(), |rate| format!("{rate:.0}"));
        let rates = self.runs.iter().map(|run| rate(run.achieved_rate));
        table.row(std::iter::once("rate/s:".to_owned()).chain(rates).chain(["-".to_owned()]));
        if self.runs.len() > 1 {
            self.columns("figure", times).into_iter().for_each(|(head, cells)| table.column(head, cells));
            table.note(format!(
                "figure: median of the {} up to {MEDIAN_UP_TO}, all of them together above",
                self.part.plural()
            ));
        }
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
