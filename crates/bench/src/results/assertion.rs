//! Conditions on results: `p99<=20us`, `2000/s: p50 <= 30us`, `NOS-222 index scalar: ns <= 60`.

use std::fmt;

use super::{Report, Row, TimeKind, percentile_name};

/// How many figures an error names.
const LISTED: usize = 8;

/// A condition on the figures of Fixbolt in a report.
#[derive(Clone, PartialEq, Debug)]
pub struct Assertion {
    text: String,
    /// The words of the figure's name; none if every figure is meant.
    name: Vec<String>,
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
    /// Reads a condition: `[NAME:] METRIC OPERATOR VALUE[UNIT]`.
    ///
    /// NAME is that of one figure, as [`Row::key`] has it: test, engine, message, operation or
    /// setting, times, percentile, tier. Any of these parts may be left out, but none may be
    /// shortened, and one figure alone must have the name. Without a name, every figure with this
    /// metric must keep the condition. METRIC is `p50`, `p99.9`, ..., `worst` or `rate` of
    /// latencies, or `ns` of any other figure. Percentiles are those of the response times, or, in
    /// a closed loop or with the word `service`, of the service times. OPERATOR is `<`, `<=`, `>`
    /// or `>=`. UNIT is `ns`, `us`, `ms` or `s`; for a rate, none or `/s`.
    ///
    /// # Errors
    /// Returns what is not understood.
    pub fn parse(text: &str) -> Result<Self, String> {
        let wrong =
            |what: &str| format!("{text:?}: {what}; a condition is like p99<=20us or \"2000/s: rate>=1980\"");
        let (name, condition) = text.rsplit_once(':').unwrap_or(("", text));
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
        let name = name.split_whitespace().map(str::to_owned).collect();
        Ok(Self { text: text.to_owned(), name, metric, comparison, limit: value * scale })
    }

    /// Judges the figure of Fixbolt with the condition's name, or every one if it has none. A
    /// figure of an INVALID run keeps no condition on its times.
    ///
    /// # Errors
    /// Returns an error if no figure is meant, as a condition on nothing must not pass, and if
    /// several have the name: it would depend on the machine which of them are judged.
    pub fn judge(&self, report: &Report) -> Result<Vec<Judgement>, String> {
        let all = self.figures(report);
        let named: Vec<&Row> = all.iter().filter(|row| self.names(row)).collect();
        let text = &self.text;
        match named.len() {
            0 if all.is_empty() => Err(format!("--assert {text:?}: these results have no such figure")),
            0 => {
                let has_words = |row: &&Row| self.name.iter().all(|word| row.key().contains(word.as_str()));
                let alike: Vec<&Row> = all.iter().filter(has_words).collect();
                let known = listed(if alike.is_empty() { all.iter().collect() } else { alike });
                Err(format!("--assert {text:?}: no figure has this name; there are {known}"))
            }
            2.. if !self.name.is_empty() => {
                let number = named.len();
                let named = listed(named);
                Err(format!("--assert {text:?}: {number} figures have this name, say which: {named}"))
            }
            _ => Ok(named.into_iter().map(|row| self.judged(row)).collect()),
        }
    }

    /// Returns whether the name is this figure's. The word `rate` may be left to the metric.
    fn names(&self, row: &Row) -> bool {
        let is_rate = self.metric == Metric::Rate;
        let shorter = row.operation.strip_suffix(" rate").filter(|_| is_rate);
        let percentile = row.percentile.map(percentile_name).unwrap_or_default();
        let parts = [
            row.test.as_str(),
            &row.engine,
            &row.message,
            shorter.unwrap_or(&row.operation),
            shorter.map_or("", |_| "rate"),
            row.times.map_or("", TimeKind::name),
            &percentile,
            row.tier.as_deref().unwrap_or_default(),
        ];
        self.name.is_empty() || consists_of(&self.name, &parts)
    }

    /// Returns the figures of Fixbolt that have the metric.
    fn figures(&self, report: &Report) -> Vec<Row> {
        let is_ours = |row: &Row| row.engine == "fixbolt";
        if let Metric::Percentile(percentile) = self.metric {
            let service = self.name.iter().any(|word| word == TimeKind::Service.name());
            let of = |series: &super::Series| {
                let times = if service { TimeKind::Service } else { series.judged() };
                series.row(times, percentile).filter(is_ours)
            };
            // Other figures have one kind of times.
            let of_series = |row: &Row| {
                report.series().any(|series| {
                    (&series.test, &series.message, &series.name) == (&row.test, &row.message, &row.operation)
                })
            };
            let others = report.figures().into_iter();
            let others =
                others.filter(|row| row.percentile == Some(percentile) && !of_series(row) && is_ours(row));
            return report.series().filter_map(of).chain(others).collect();
        }
        let is_metric = |row: &Row| match self.metric {
            Metric::Rate => row.unit.as_deref() == Some("/s"),
            _ => row.ns.is_some() && row.percentile.is_none(),
        };
        report.figures().into_iter().filter(|row| is_metric(row) && is_ours(row)).collect()
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

/// Returns whether these words are some of the parts, each whole, in their order.
fn consists_of(words: &[String], parts: &[&str]) -> bool {
    let Some((part, rest)) = parts.split_first() else { return words.is_empty() };
    let begins =
        part.split_whitespace().enumerate().all(|(n, word)| words.get(n).is_some_and(|it| it == word));
    let length = part.split_whitespace().count();
    consists_of(words, rest) || begins && length > 0 && consists_of(&words[length..], rest)
}

/// Lists the names of figures, of many the first ones.
fn listed(rows: Vec<&Row>) -> String {
    let more = rows.len().saturating_sub(LISTED);
    let names: Vec<String> = rows.into_iter().take(LISTED).map(Row::key).collect();
    let more = if more > 0 { format!(", and {more} more") } else { String::new() };
    names.join(", ") + &more
}

/// The condition as it was written.
impl fmt::Display for Assertion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}
