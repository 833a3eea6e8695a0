//! A figure of a benchmark, with the keys that all benchmarks share.
//!
//! A figure has one name, and every output shows the same number under it: they all read it here.

use std::collections::{BTreeMap, BTreeSet};

use fixbolt_workloads::clock::median;
use fixbolt_workloads::harness::spread;
use serde::{Deserialize, Serialize};

use super::statistic::shared;
use super::{Part, Statistic, Table, TimeKind};

/// By how many per cent the parts of a floor may be apart.
pub const STEADY: f64 = 20.0;

/// A figure.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Row {
    /// The benchmark.
    pub test: String,
    /// The engine measured: `fixbolt`, or another one.
    pub engine: String,
    /// The message.
    pub message: String,
    /// The operation: index, validate, typed-six, encode, ...; or the setting of a latency: a rate,
    /// a configuration, ...
    pub operation: String,
    /// Which times it is of, if it is a percentile of latencies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub times: Option<TimeKind>,
    /// Which percentile it is, from 0 to 100, where 100 is the maximum, if it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub percentile: Option<f64>,
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
    /// How the figure comes from what was measured.
    pub statistic: Statistic,
    /// The worst part, if the figure is a median or a mean of several, in its unit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worst: Option<f64>,
    /// Why the figure must not be used, if so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub invalid: Option<String>,
    /// Whether there are too few samples for it: fewer than a hundred lie above it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub few: bool,
    /// The time of the least work that the same result needs, from the same run, if it was
    /// measured.
    pub floor_ns: Option<f64>,
    /// By how many per cent that floor varied, if that is so much that the figure says more of the
    /// machine than of the engine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unmeasurable: Option<f64>,
    /// What another engine's page says of the same, in the unit of this figure, where it was
    /// measured: on another machine, in another year.
    pub published: Option<f64>,
    /// What must be known of the machine or the run to read the figure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
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
            times: None,
            percentile: None,
            tier: None,
            ns: Some(ns),
            value: None,
            unit: None,
            statistic: Statistic::One,
            worst: None,
            invalid: None,
            few: false,
            floor_ns: None,
            unmeasurable: None,
            published: None,
            note: None,
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

    /// Sets the floor to a figure that was measured in parts, in turn with those of this one. If it
    /// is unsteady, this figure is unmeasurable.
    #[must_use]
    pub fn beside(mut self, floor: Option<&Self>) -> Self {
        self.floor_ns = floor.and_then(|floor| floor.ns);
        self.unmeasurable = floor.and_then(Self::unsteadiness);
        self
    }

    /// Returns how far apart the parts are that the figure is the median of, in per cent, if that
    /// is more than [`STEADY`]. A figure with too few samples says nothing of that.
    #[must_use]
    pub fn unsteadiness(&self) -> Option<f64> {
        self.more.get("spread").copied().filter(|spread| *spread > STEADY && !self.few)
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

    /// Makes the figure the median of `values`, one for each part, with the worst of them and, as
    /// `spread`, how far apart they are in per cent. `None` without values.
    #[must_use]
    pub fn median_of(mut self, part: Part, mut values: Vec<f64>) -> Option<Self> {
        self.statistic = Statistic::median(part, values.len());
        if let Some(spread) = spread(&values) {
            self.more.insert("spread".to_owned(), spread);
        }
        if values.len() > 1 {
            let worse = if self.larger_is_better() { f64::min } else { f64::max };
            self.worst = values.iter().copied().reduce(worse);
        }
        let figure = Some(median(&mut values)?);
        *(if self.unit.is_some() { &mut self.value } else { &mut self.ns }) = figure;
        Some(self)
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

    /// Returns what was measured, in words: the operation, and which percentile of which times it
    /// is, if it is one: `2000/s response p99`.
    #[must_use]
    pub fn what(&self) -> String {
        let times = self.times.map(|times| format!(" {}", times.name())).unwrap_or_default();
        let percentile = self.percentile.map(|it| format!(" {}", percentile_name(it))).unwrap_or_default();
        format!("{}{times}{percentile}", self.operation)
    }

    /// Returns the keys that tell this figure from others of its report.
    #[must_use]
    pub fn key(&self) -> String {
        let Self { test, engine, message, tier, .. } = self;
        let tier = tier.as_ref().map(|tier| format!(" {tier}")).unwrap_or_default();
        let what = self.what();
        let keys = [test, engine, message, &what].map(String::as_str);
        keys.into_iter().filter(|key| !key.is_empty()).collect::<Vec<_>>().join(" ") + &tier
    }

    /// Returns whether a larger figure is a better one: rates are, times and sizes are not.
    #[must_use]
    pub fn larger_is_better(&self) -> bool {
        self.unit.as_ref().is_some_and(|unit| unit.ends_with("/s"))
    }

    /// Returns whether another figure is of the same work, by whatever engine and in whatever tier.
    #[must_use]
    pub(super) fn is_of_the_work_of(&self, other: &Self) -> bool {
        (&self.message, self.what(), self.figure().1) == (&other.message, other.what(), other.figure().1)
    }

    /// Returns how many times as good this figure is as another engine's of the same work, unless
    /// one of them must not be used.
    pub(super) fn ratio_to(&self, theirs: &Self) -> Option<f64> {
        let usable = |row: &Self| row.invalid.is_none() && row.is_measured() && row.figure().0 > 0.0;
        let (ours, other) = (self.figure().0, theirs.figure().0);
        (usable(self) && usable(theirs))
            .then(|| if self.larger_is_better() { ours / other } else { other / ours })
    }

    /// Returns the figure of a percentile as the cell of a table: microseconds with so many digits
    /// after the point, and its marks.
    pub(crate) fn micros(&self, digits: usize) -> String {
        format!("{:.digits$}{}", self.figure().0 / 1e3, self.marks())
    }

    /// Returns what must stand beside the figure wherever it is shown: `*` if there are too few
    /// samples for it, `~` if its floor is unsteady, `!` if it must not be used.
    pub(super) fn marks(&self) -> String {
        let marks = [(self.few, '*'), (self.unmeasurable.is_some(), '~'), (self.invalid.is_some(), '!')];
        marks.into_iter().filter_map(|(is, mark)| is.then_some(mark)).collect()
    }
}

/// Returns whether an engine is none: an empty task, or the same bytes without one.
pub(super) fn is_baseline(engine: &str) -> bool {
    ["nothing", "empty", "floor", "raw"].contains(&engine.split(' ').next().unwrap_or_default())
}

/// Returns `p99.9`, or `worst`.
pub(crate) fn percentile_name(percentile: f64) -> String {
    if percentile >= 100.0 { "worst".to_owned() } else { format!("p{percentile}") }
}

/// Returns the line that names the figures whose floor is unsteady, if there are any.
pub(crate) fn unsteady<'r>(rows: impl Iterator<Item = &'r Row>) -> Option<String> {
    let of = |row: &Row| Some(format!("{} (by {:.0} %)", row.what(), row.unmeasurable?));
    let figures: Vec<String> = rows.filter_map(of).collect();
    (!figures.is_empty()).then(|| {
        format!(
            "~ unmeasurable on this machine, as raw TCP varied by more than {STEADY} % in turn with it, also when everything was measured again: {}",
            figures.join(", ")
        )
    })
}

/// Returns the notes of figures, each once, with the settings that it is of.
pub(crate) fn noted<'r>(rows: impl Iterator<Item = &'r Row>) -> Vec<String> {
    let mut noted: Vec<(&str, Vec<&str>)> = Vec::new();
    for (note, of) in rows.filter_map(|row| Some((row.note.as_deref()?, row.operation.as_str()))) {
        match noted.iter_mut().find(|(known, _)| *known == note) {
            Some((_, all)) if all.contains(&of) => {}
            Some((_, all)) => all.push(of),
            None => noted.push((note, vec![of])),
        }
    }
    noted.into_iter().map(|(note, of)| format!("{}: {note}", of.join(", "))).collect()
}

/// Returns what the marks of figures stand for, one line for each that is there, why figures must
/// not be used, and their notes.
pub(super) fn legend<'r>(rows: impl Iterator<Item = &'r Row> + Clone) -> Vec<String> {
    let mut lines = Vec::new();
    if rows.clone().any(|row| row.few) {
        lines.push("* fewer than 100 samples lie above it".to_owned());
    }
    lines.extend(unsteady(rows.clone()));
    let noted = noted(rows.clone());
    for row in rows {
        if let Some(why) = &row.invalid {
            let line = format!("! INVALID: {} {}: {why}", row.engine, row.operation);
            if !lines.contains(&line) {
                lines.push(line);
            }
        }
    }
    lines.extend(noted);
    lines
}

/// Returns the line that says how all figures come from what was measured, if they share that.
pub(super) fn shared_statistic<'r>(rows: impl Iterator<Item = &'r Row>) -> Option<String> {
    let statistic = shared(rows.filter(|row| row.is_measured()).map(|row| row.statistic))?;
    Some(format!("every figure: {statistic}"))
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
        let worst = rows.iter().any(|row| row.worst.is_some());
        let statistic = shared_statistic(rows.iter());
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
            shown("worst", worst),
            shown("statistic", statistic.is_none()),
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
                Some(row.what()),
                tiers.then(|| row.tier.clone().unwrap_or_else(|| "-".to_owned())),
                Some(if row.is_measured() { display(figure) + &row.marks() } else { "-".to_owned() }),
                one_unit.is_none().then(|| unit.to_owned()),
                worst.then(|| known(row.worst)),
                statistic.is_none().then(|| row.statistic.to_string()),
                floors.then(|| known(row.floor_ns)),
                published.then(|| known(row.published)),
            ];
            let more = more.iter().map(|name| known(row.more.get(*name).copied()));
            table.row(cells.into_iter().flatten().chain(more));
        }
        table.notes.extend(statistic.filter(|_| !rows.is_empty()));
        if worst {
            table.note("worst: the worst of those parts");
        }
        if published {
            table.note("published: another machine, another year");
        }
        table.notes.extend(legend(rows.iter()));
        table
    }
}

/// Returns a figure with one digit after the point, or none if it is large.
fn display(figure: f64) -> String {
    if figure.abs() >= 100_000.0 { format!("{figure:.0}") } else { format!("{figure:.1}") }
}
