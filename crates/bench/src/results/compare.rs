//! Comparing two reports.

use super::{Report, Table, TestReport};

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
    /// What makes the comparison questionable: other machines, invalid runs.
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
    let (firsts, seconds) = (figures(first), figures(second));
    let missing = |of: &[Figure<'_>], from: &[Figure<'_>]| {
        let same = |a: &Figure<'_>, b: &Figure<'_>| a.key == b.key && a.unit == b.unit;
        let absent = of.iter().filter(|figure| !from.iter().any(|other| same(figure, other)));
        absent.map(|figure| figure.key.clone()).collect::<Vec<_>>()
    };
    let (mut differences, mut other_seeds, mut warnings) = (Vec::new(), Vec::new(), Vec::new());
    for a in &firsts {
        let Some(b) = seconds.iter().find(|b| b.key == a.key && b.unit == a.unit) else { continue };
        if a.seed != b.seed {
            if other_seeds.is_empty() {
                let [first, second] = [a, b].map(|it| it.seed.unwrap_or("unknown"));
                warnings.push(format!(
                    "figures of generated messages ({GENERATED}...) are not compared: the seed is {first} in the first and {second} in the second; measure both with the same --seed"
                ));
            }
            other_seeds.push(a.key.clone());
            continue;
        }
        let ratio = b.value / a.value;
        differences.push(Difference {
            key: a.key.clone(),
            first: a.value,
            second: b.value,
            unit: a.unit.clone(),
            worse_by: if a.larger_is_better { 1.0 - ratio } else { ratio - 1.0 },
            judged: a.judged && a.valid && a.value > 0.0,
            invalid: !b.valid,
        });
    }
    if !first.machine.is_like(&second.machine) {
        warnings.push(format!("the machines differ: {} and {}", first.machine, second.machine));
    }
    for (name, report) in [("first", first), ("second", second)] {
        if report.partial {
            warnings.push(format!("the {name} was interrupted"));
        }
        for series in report.series() {
            for (n, run) in series.runs.iter().enumerate() {
                if let Some(why) = &run.invalid {
                    warnings.push(format!("the {name}: run {} of {} is invalid: {why}", n + 1, series.key()));
                }
            }
        }
    }
    let (only_first, only_second) = (missing(&firsts, &seconds), missing(&seconds, &firsts));
    Comparison { differences, only_first, only_second, other_seeds, warnings }
}

/// Returns the seed of a test's generated messages.
fn seed(test: &TestReport) -> Option<&str> {
    test.settings.iter().find(|(name, _)| name == "seed").map(|(_, seed)| seed.as_str())
}

struct Figure<'r> {
    key: String,
    /// Of generated messages: what they were generated from.
    seed: Option<&'r str>,
    value: f64,
    unit: String,
    larger_is_better: bool,
    judged: bool,
    valid: bool,
}

fn figures(report: &Report) -> Vec<Figure<'_>> {
    let rows = report.tests.iter().flat_map(|test| test.rows.iter().map(move |row| (test, row)));
    let mut figures: Vec<Figure<'_>> = rows
        .filter(|(_, row)| row.is_measured())
        .map(|(test, row)| {
            let (value, unit) = row.figure();
            Figure {
                key: row.key(),
                seed: seed(test).filter(|_| row.message.starts_with(GENERATED)),
                value,
                unit: unit.to_owned(),
                larger_is_better: row.larger_is_better(),
                judged: row.engine == "fixbolt",
                valid: true,
            }
        })
        .collect();
    for series in report.series() {
        let valid = series.runs.iter().all(|run| run.invalid.is_none());
        for percentile in crate::harness::PERCENTILES {
            let Some(value) = series.median_ns(percentile) else { continue };
            let name = if percentile >= 100.0 { "worst".to_owned() } else { format!("p{percentile}") };
            figures.push(Figure {
                key: format!("{} {name}", series.key()),
                seed: None,
                value,
                unit: "ns".to_owned(),
                larger_is_better: false,
                judged: series.engine == "fixbolt" && percentile <= 99.0,
                valid,
            });
        }
    }
    figures
}
