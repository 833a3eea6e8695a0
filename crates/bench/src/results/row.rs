//! A figure of a benchmark, with the keys that all benchmarks share.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::Table;

/// A figure.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Row {
    /// The benchmark.
    pub test: String,
    /// The engine measured: `fixbolt`, or another one.
    pub engine: String,
    /// The message.
    pub message: String,
    /// The operation: index, validate, typed-six, encode, ...
    pub operation: String,
    /// The instructions that the index was built with; `None` if there is no index.
    pub tier: Option<String>,
    /// Nanoseconds per message, if that is what was measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ns: Option<f64>,
    /// The figure in another unit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<f64>,
    /// The unit of `value`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
    /// The time of the least work that the same result needs, from the same run, if it was
    /// measured.
    pub floor_ns: Option<f64>,
    /// What another engine's page says of the same, in the unit of this figure, where it was
    /// measured: on another machine, in another year.
    pub published: Option<f64>,
    /// Figures that only some tests have, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub more: BTreeMap<String, f64>,
}

impl Row {
    /// Creates a figure of Fixbolt in nanoseconds per message.
    #[must_use]
    pub fn of_ns(test: &str, message: &str, operation: &str, ns: f64) -> Self {
        Self {
            test: test.to_owned(),
            engine: "fixbolt".to_owned(),
            message: message.to_owned(),
            operation: operation.to_owned(),
            tier: None,
            ns: Some(ns),
            value: None,
            unit: None,
            floor_ns: None,
            published: None,
            more: BTreeMap::new(),
        }
    }

    /// Creates a figure of Fixbolt in another unit.
    #[must_use]
    pub fn of_value(test: &str, message: &str, operation: &str, value: f64, unit: &str) -> Self {
        let row = Self::of_ns(test, message, operation, value);
        Self { ns: None, value: Some(value), unit: Some(unit.to_owned()), ..row }
    }

    /// Replaces the engine.
    #[must_use]
    pub fn engine(mut self, engine: &str) -> Self {
        engine.clone_into(&mut self.engine);
        self
    }

    /// Sets the instructions that the index was built with.
    #[must_use]
    pub fn tier(mut self, tier: &str) -> Self {
        self.tier = Some(tier.to_owned());
        self
    }

    /// Sets the floor.
    #[must_use]
    pub const fn floor_ns(mut self, floor: Option<f64>) -> Self {
        self.floor_ns = floor;
        self
    }

    /// Sets the published figure.
    #[must_use]
    pub const fn published(mut self, published: f64) -> Self {
        self.published = Some(published);
        self
    }

    /// Adds a figure that only some tests have.
    #[must_use]
    pub fn with(mut self, name: &str, value: f64) -> Self {
        self.more.insert(name.to_owned(), value);
        self
    }

    /// Returns the figure and its unit; 0 if it was not measured.
    #[must_use]
    pub fn figure(&self) -> (f64, &str) {
        match (self.ns, self.value, &self.unit) {
            (None, Some(value), Some(unit)) => (value, unit),
            (ns, ..) => (ns.unwrap_or_default(), "ns"),
        }
    }

    /// Returns whether it was measured: another engine's figure may only have been published.
    #[must_use]
    pub const fn is_measured(&self) -> bool {
        self.ns.is_some() || self.value.is_some()
    }

    /// Returns the keys that tell this figure from others of its report.
    #[must_use]
    pub fn key(&self) -> String {
        let Self { test, engine, message, operation, tier, .. } = self;
        let tier = tier.as_ref().map(|tier| format!(" {tier}")).unwrap_or_default();
        format!("{test} {engine} {message} {operation}{tier}")
    }

    /// Returns whether a larger figure is a better one: rates are, times and sizes are not.
    #[must_use]
    pub fn larger_is_better(&self) -> bool {
        self.figure().1.ends_with("/s")
    }
}

impl Table {
    /// Creates a table of figures, a row each. Columns that no figure needs are left out; those of
    /// [`Row::more`] that are named are added.
    #[must_use]
    pub fn of_rows(title: impl Into<String>, rows: &[Row], more: &[&str]) -> Self {
        let tiers = rows.iter().any(|row| row.tier.is_some());
        let engines = rows.iter().any(|row| row.engine != "fixbolt");
        let published = rows.iter().any(|row| row.published.is_some());
        let floors = rows.iter().any(|row| row.floor_ns.is_some());
        let units: BTreeSet<&str> = rows.iter().map(|row| row.figure().1).collect();
        let one_unit =
            if let [unit] = *units.iter().copied().collect::<Vec<_>>() { Some(unit) } else { None };
        let shown = |name: &str, is: bool| is.then(|| name.to_owned());
        let columns = [
            shown("engine", engines),
            shown("message", true),
            shown("operation", true),
            shown("tier", tiers),
            shown(one_unit.unwrap_or("figure"), true),
            shown("unit", one_unit.is_none()),
            shown("floor", floors),
            shown("published", published),
        ];
        let mut table =
            Table::new(title, columns.into_iter().flatten().chain(more.iter().map(|it| (*it).to_owned())));
        table.lists_rows = more.is_empty();
        for row in rows {
            let (figure, unit) = row.figure();
            let known = |figure: Option<f64>| figure.map_or_else(|| "-".to_owned(), display);
            let cells = [
                engines.then(|| row.engine.clone()),
                Some(row.message.clone()),
                Some(row.operation.clone()),
                tiers.then(|| row.tier.clone().unwrap_or_else(|| "-".to_owned())),
                Some(if row.is_measured() { display(figure) } else { "-".to_owned() }),
                one_unit.is_none().then(|| unit.to_owned()),
                floors.then(|| known(row.floor_ns)),
                published.then(|| known(row.published)),
            ];
            let more = more.iter().map(|name| known(row.more.get(*name).copied()));
            table.row(cells.into_iter().flatten().chain(more));
        }
        if published {
            table.note("published: another machine, another year");
        }
        table
    }
}

/// Returns a figure with one digit after the point, or none if it is large.
fn display(figure: f64) -> String {
    if figure.abs() >= 100_000.0 { format!("{figure:.0}") } else { format!("{figure:.1}") }
}
