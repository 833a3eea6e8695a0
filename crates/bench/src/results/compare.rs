//! Comparing two reports.

use super::{Report, Row, Table, TestReport};

/// How the names of messages begin that a run generates from its seed.
const GENERATED: &str = "random-";

/// What two reports have in common.
#[derive(Clone, PartialEq, Debug)]
pub struct Comparison {
    /// Every figure that both have.
    pub differences: Vec<Difference>,
    /// Keys that only the first has.
    pub only_first: Vec<String>,
    /// Keys that only the second has.
    pub only_second: Vec<String>,
    /// Keys that both have, of messages that they generated from different seeds.
    pub other_seeds: Vec<String>,
    /// What makes the comparison questionable: other machines, other statistics, invalid runs.
    pub warnings: Vec<String>,
}

/// A figure of two reports.
#[derive(Clone, PartialEq, Debug)]
pub struct Difference {
    /// The figure's keys.
    pub key: String,
    /// The figure of the first report.
    pub first: f64,
    /// The figure of the second report.
    pub second: f64,
    /// The unit of both.
    pub unit: String,
    /// How much worse the second one is: 0.1 is 10 % worse, below 0 is better.
    pub worse_by: f64,
    /// Whether the figure is judged: p99.9 and the maximum are not, nor are baselines, rivals and
    /// invalid runs of the first report.
    pub judged: bool,
    /// Whether a run of the second report is invalid, so that its figure must not be used.
    pub invalid: bool,
}

impl Comparison {
    /// Returns the judged figures that are worse by more than `tolerance` (0.1 is 10 %), or that
    /// are invalid in the second report only.
    pub fn worse(&self, tolerance: f64) -> impl Iterator<Item = &Difference> {
        self.differences.iter().filter(move |it| it.judged && (it.invalid || it.worse_by > tolerance))
    }

    /// Returns the comparison as a table.
    #[must_use]
    pub fn table(&self, tolerance: f64) -> Table {
        let mut table = Table::new("", ["figure", "first", "second", "unit", "change %", "verdict"]);
        for it in &self.differences {
            let verdict = if !it.judged {
                "not judged"
            } else if it.invalid {
                "INVALID"
            } else if it.worse_by > tolerance {
                "WORSE"
            } else if it.worse_by < -tolerance {
                "better"
            } else {
                "same"
            };
            let change = (it.second / it.first - 1.0) * 100.0;
            table.row([
                it.key.clone(),
                format!("{:.1}", it.first),
                format!("{:.1}", it.second),
                it.unit.clone(),
                format!("{change:+.1}"),
                verdict.to_owned(),
            ]);
        }
        for key in &self.only_first {
            table.note(format!("only in the first: {key}"));
        }
        for key in &self.only_second {
            table.note(format!("only in the second: {key}"));
        }
        for key in &self.other_seeds {
            table.note(format!("of another seed: {key}"));
        }
        for warning in &self.warnings {
            table.note(format!("WARNING: {warning}"));
        }
        table
    }
}

/// Compares the figures that two reports have in common. Those of generated messages are left out
/// where the seeds differ: they were measured with other messages.
#[must_use]
pub fn compare(first: &Report, second: &Report) -> Comparison {
    let (firsts, seconds) = (first.figures(), second.figures());
    let same = |a: &Row, b: &Row| a.key() == b.key() && a.figure().1 == b.figure().1;
    let missing = |of: &[Row], from: &[Row]| {
        let absent = of.iter().filter(|figure| !from.iter().any(|other| same(figure, other)));
        absent.map(Row::key).collect::<Vec<_>>()
    };
    let (mut differences, mut other_seeds, mut warnings) = (Vec::new(), Vec::new(), Vec::new());
    let mut other_statistics: Vec<(&Row, &Row)> = Vec::new();
    for a in &firsts {
        let Some(b) = seconds.iter().find(|b| same(a, b)) else { continue };
        let seeds = [first, second].map(|report| seed(report, a));
        if seeds[0] != seeds[1] {
            if other_seeds.is_empty() {
                let [first, second] = seeds.map(|seed| seed.unwrap_or("unknown"));
                warnings.push(format!(
                    "figures of generated messages ({GENERATED}...) are not compared: the seed is {first} in the first and {second} in the second; measure both with the same --seed"
                ));
            }
            other_seeds.push(a.key());
            continue;
        }
        if a.statistic != b.statistic {
            other_statistics.push((a, b));
        }
        let ((first, unit), (second, _)) = (a.figure(), b.figure());
        let ratio = second / first;
        differences.push(Difference {
            key: a.key(),
            first,
            second,
            unit: unit.to_owned(),
            worse_by: if a.larger_is_better() { 1.0 - ratio } else { ratio - 1.0 },
            judged: is_judged(a) && a.invalid.is_none() && first > 0.0,
            invalid: b.invalid.is_some(),
        });
    }
    if let Some((a, b)) = other_statistics.first() {
        warnings.push(format!(
            "figures are compared with those of another statistic ({}), such as {}: {} in the first, {} in the second",
            other_statistics.len(),
            a.key(),
            a.statistic,
            b.statistic
        ));
    }
    if !first.machine.is_like(&second.machine) {
        warnings.push(format!("the machines differ: {} and {}", first.machine, second.machine));
    }
    for (name, report) in [("first", first), ("second", second)] {
        if report.partial {
            warnings.push(format!("the {name} was interrupted"));
        }
        for series in report.series() {
            if let Some(why) = series.invalid() {
                warnings.push(format!("the {name}: {} is INVALID: {why}", series.key()));
            }
        }
    }
    let (only_first, only_second) = (missing(&firsts, &seconds), missing(&seconds, &firsts));
    Comparison { differences, only_first, only_second, other_seeds, warnings }
}

/// Returns what the messages of a figure were generated from, if they were.
fn seed<'r>(report: &'r Report, row: &Row) -> Option<&'r str> {
    let of = |test: &&TestReport| test.name == row.test && row.message.starts_with(GENERATED);
    let test = report.tests.iter().find(of)?;
    test.settings.iter().find(|(name, _)| name == "seed").map(|(_, seed)| seed.as_str())
}

/// Returns whether a figure says more about Fixbolt than about the machine. A rate that was asked
/// for is no merit; whether it was achieved makes runs valid.
fn is_judged(row: &Row) -> bool {
    let of_series = row.unit.as_deref() == Some("/s");
    row.engine == "fixbolt" && row.percentile.is_none_or(|percentile| percentile <= 99.0) && !of_series
}
