//! What a run of `fixbolt bench` measured.

use std::collections::BTreeSet;

use fixbolt_workloads::machine::Machine;
use serde::{Deserialize, Serialize};

use super::{Row, Series, Table};

/// What was measured, where and when.
#[derive(Clone, PartialEq, Debug)]
pub struct Report {
    /// The machine.
    pub machine: Machine,
    /// The command that measured.
    pub command: String,
    /// When it began: UTC, to the second.
    pub began: String,
    /// Whether it was interrupted: tests, rows or runs are missing.
    pub partial: bool,
    /// The tests, in the order in which they ran.
    pub tests: Vec<TestReport>,
}

/// What a test measured.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct TestReport {
    /// The name of the command: `codec`, `jlbh`, ...
    pub name: String,
    /// What it measures, in one line.
    pub title: String,
    /// How it was run, by name: rates, numbers of messages, settings of peers.
    pub settings: Vec<(String, String)>,
    /// The figures.
    #[serde(skip)]
    pub rows: Vec<Row>,
    /// The latency runs.
    #[serde(skip)]
    pub series: Vec<Series>,
    /// The tables.
    #[serde(skip)]
    pub tables: Vec<Table>,
    /// Remarks: what was not measured and why, what not to conclude.
    pub notes: Vec<String>,
}

impl TestReport {
    /// Creates a report without results.
    #[must_use]
    pub fn new(name: &str, title: impl Into<String>) -> Self {
        Self { name: name.to_owned(), title: title.into(), ..Self::default() }
    }

    /// Adds a setting.
    #[must_use]
    pub fn setting(mut self, name: &str, value: impl ToString) -> Self {
        self.settings.push((name.to_owned(), value.to_string()));
        self
    }
}

impl Report {
    /// Returns everything that a condition or a comparison may name: all figures, and those
    /// percentiles and rates of all series that are not among them.
    #[must_use]
    pub fn figures(&self) -> Vec<Row> {
        let mut figures: Vec<Row> = self.rows().filter(|row| row.is_measured()).cloned().collect();
        let mut known: BTreeSet<String> = figures.iter().map(Row::key).collect();
        let of_series = |series: &Series| series.rows().chain(series.rate()).collect::<Vec<_>>();
        figures.extend(self.series().flat_map(of_series).filter(|row| known.insert(row.key())));
        figures
    }

    /// Returns the figures that the tests chose to show.
    pub fn rows(&self) -> impl Iterator<Item = &Row> {
        self.tests.iter().flat_map(|test| &test.rows)
    }

    /// Returns all latency runs.
    pub fn series(&self) -> impl Iterator<Item = &Series> {
        self.tests.iter().flat_map(|test| &test.series)
    }
}
