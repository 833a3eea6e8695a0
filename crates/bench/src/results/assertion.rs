//! Conditions on results: `p99<=20us`, `jlbh 2000/s: p50 <= 30us`, `NOS-222 index: ns <= 60`.

use std::fmt;

use super::{Report, Row, TimeKind};

/// A condition on the figures of Fixbolt in a report.
#[derive(Clone, PartialEq, Debug)]
pub struct Assertion {
    text: String,
    /// What the figure's keys must contain.
    selected: Vec<String>,
    metric: Metric,
    comparison: Comparison,
    limit: f64,
}

#[derive(Clone, Copy, PartialEq, Debug)]
enum Metric {
    /// A percentile of the response times, in nanoseconds: the median over the runs.
    Percentile(f64),
    /// The achieved rate, per second.
    Rate,
    /// The figure of a row, in nanoseconds.
    Ns,
}

#[derive(Clone, Copy, PartialEq, Debug)]
enum Comparison {
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

/// Whether a figure keeps an assertion.
#[derive(Clone, PartialEq, Debug)]
pub struct Judgement {
    /// Whether it does.
    pub kept: bool,
    /// Whether a run has too few samples for the percentile, which makes the figure one of the
    /// moment.
    pub few: bool,
    /// The figure's keys, and the figure.
    pub what: String,
}

impl Assertion {
    /// Reads a condition: `[WORDS:] METRIC OPERATOR VALUE[UNIT]`.
    ///
    /// WORDS select figures: each must occur in the keys (test, engine, message, operation or
    /// setting). METRIC is `p50`, `p99.9`, ..., `worst` or `rate` of latencies, or `ns` of any
    /// other figure. Percentiles are those of the response times, or, in a closed loop or with the
    /// word `service`, of the service times. OPERATOR is `<`, `<=`, `>` or `>=`. UNIT is `ns`,
    /// `us`, `ms` or `s`; for a rate, none or `/s`.
    ///
    /// # Errors
    /// Returns what is not understood.
    pub fn parse(text: &str) -> Result<Self, String> {
        let wrong =
            |what: &str| format!("{text:?}: {what}; a condition is like p99<=20us or \"jlbh: rate>=1980\"");
        let (selected, condition) = text.rsplit_once(':').unwrap_or(("", text));
        let (operator, comparison) = [
            ("<=", Comparison::LessOrEqual),
            (">=", Comparison::GreaterOrEqual),
            ("<", Comparison::Less),
            (">", Comparison::Greater),
        ]
        .into_iter()
        .find(|(operator, _)| condition.contains(operator))
        .ok_or_else(|| wrong("it has none of <, <=, >, >="))?;
        let (metric, limit) = condition.split_once(operator).unwrap_or_default();
        let metric = match metric.trim() {
            "rate" => Metric::Rate,
            "ns" => Metric::Ns,
            "worst" => Metric::Percentile(100.0),
            other => {
                let percentile = other.strip_prefix('p').and_then(|text| text.parse::<f64>().ok());
                let known = percentile.filter(|percentile| *percentile > 0.0 && *percentile <= 100.0);
                Metric::Percentile(known.ok_or_else(|| wrong(&format!("no figure is called {other:?}")))?)
            }
        };
        let limit = limit.trim();
        let digits = limit.find(|c: char| !c.is_ascii_digit() && c != '.' && c != '_').unwrap_or(limit.len());
        let value: f64 = limit[..digits]
            .replace('_', "")
            .parse()
            .map_err(|_| wrong(&format!("{limit:?} is not a figure")))?;
        let scale = match (metric, limit[digits..].trim()) {
            (Metric::Rate, "" | "/s") => 1.0,
            (Metric::Ns, "") | (Metric::Ns | Metric::Percentile(_), "ns") => 1.0,
            (Metric::Ns | Metric::Percentile(_), "us" | "µs") => 1e3,
            (Metric::Ns | Metric::Percentile(_), "ms") => 1e6,
            (Metric::Ns | Metric::Percentile(_), "s") => 1e9,
            (_, unit) => return Err(wrong(&format!("the unit {unit:?} does not fit"))),
        };
        let selected = selected.split_whitespace().map(str::to_owned).collect();
        Ok(Self { text: text.to_owned(), selected, metric, comparison, limit: value * scale })
    }

    /// Judges every selected figure of Fixbolt. A figure of an INVALID run keeps no condition on
    /// its times.
    ///
    /// # Errors
    /// Returns an error if no figure is selected: a condition on nothing must not pass.
    pub fn judge(&self, report: &Report) -> Result<Vec<Judgement>, String> {
        let judged = self.figures(report);
        if judged.is_empty() {
            return Err(format!("{:?} selects no figure of this report", self.text));
        }
        Ok(judged.iter().map(|row| self.judged(row)).collect())
    }

    fn figures(&self, report: &Report) -> Vec<Row> {
        let selects = |row: &Row| {
            let key = row.key();
            row.engine == "fixbolt" && self.selected.iter().all(|word| key.contains(word.as_str()))
        };
        if let Metric::Percentile(percentile) = self.metric {
            let service = self.selected.iter().any(|word| word == TimeKind::Service.name());
            let of = |series: &super::Series| {
                let times = if service { TimeKind::Service } else { series.judged() };
                series.row(times, percentile).filter(selects)
            };
            // Other figures have one kind of times.
            let of_series = |row: &Row| {
                report.series().any(|series| {
                    (&series.test, &series.message, &series.name) == (&row.test, &row.message, &row.operation)
                })
            };
            let others = report.figures().into_iter();
            let others =
                others.filter(|row| row.percentile == Some(percentile) && !of_series(row) && selects(row));
            return report.series().filter_map(of).chain(others).collect();
        }
        let is_metric = |row: &Row| match self.metric {
            Metric::Rate => row.unit.as_deref() == Some("/s"),
            _ => row.ns.is_some() && row.percentile.is_none(),
        };
        report.figures().into_iter().filter(|row| is_metric(row) && selects(row)).collect()
    }

    fn judged(&self, row: &Row) -> Judgement {
        let (figure, unit) = row.figure();
        let kept = match self.comparison {
            Comparison::Less => figure < self.limit,
            Comparison::LessOrEqual => figure <= self.limit,
            Comparison::Greater => figure > self.limit,
            Comparison::GreaterOrEqual => figure >= self.limit,
        };
        let invalid = if row.invalid.is_some() { ", INVALID" } else { "" };
        let what = format!("{}: {figure:.1} {unit}, {}{invalid}", row.key(), row.statistic);
        Judgement { kept: kept && row.invalid.is_none(), few: row.few, what }
    }
}

/// The condition as it was written.
impl fmt::Display for Assertion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}
