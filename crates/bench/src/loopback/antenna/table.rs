//! The tables of the page, with its figures beside ours.

use super::configurations::{self, CONFIGURATIONS, ELSEWHERE, Published};
use super::sides::{Setup, Validation};
use super::{Measured, QUICKFIX, RAW, Settings, Subject, TEST};
use crate::clock::median;
use crate::harness::{Latencies, carried_by};
use crate::loopback::layout::Layout;
use crate::loopback::raw::SLOWER;
use crate::machine::Machine;
use crate::results::{Row, Series, Table};

/// What the columns of published figures are headed.
const MARK: &str = "published";

/// What a star stands for.
const STAR: &str = "* fewer than 100 samples lie above it";
/// What an exclamation mark stands for.
const INVALID: &str = "! slices are INVALID, for the reasons below";

fn has_invalid(series: &Series) -> bool {
    series.runs.iter().any(|run| run.invalid.is_some())
}

/// Returns the round trips of all slices.
fn merged(series: &Series) -> Latencies {
    let mut all = Latencies::default();
    series.runs.iter().for_each(|run| all.merge(&run.service));
    all
}

fn us(ns: f64) -> String {
    format!("{:.1}", ns / 1e3)
}

/// The lines of the page's tables of results: their names, the published figure and ours. The last
/// one is not on the page.
struct Line {
    name: &'static str,
    published: Option<fn(&Published) -> f64>,
    ours: fn(&Latencies) -> String,
}

#[expect(clippy::cast_precision_loss, reason = "times are below 2^53 ns")]
fn percentile(all: &Latencies, percentile: f64) -> String {
    let star = if carried_by(percentile, all.count()) { "" } else { "*" };
    us(all.ns_at(percentile) as f64) + star
}

#[expect(clippy::cast_precision_loss, reason = "times are below 2^53 ns")]
const LINES: [Line; 7] = [
    Line { name: "Min", published: Some(|it| it.min), ours: |all| us(all.min_ns() as f64) },
    Line { name: "Max", published: Some(|it| it.max), ours: |all| us(all.ns_at(100.0) as f64) },
    Line { name: "Average", published: Some(|it| it.average), ours: |all| us(all.mean_ns()) },
    Line { name: "50%", published: Some(|it| it.p50), ours: |all| percentile(all, 50.0) },
    Line { name: "95%", published: Some(|it| it.p95), ours: |all| percentile(all, 95.0) },
    Line { name: "99%", published: Some(|it| it.p99), ours: |all| percentile(all, 99.0) },
    Line { name: "99.9%", published: None, ours: |all| percentile(all, 99.9) },
];

/// A column of the page: its name, ours, and what was published.
type Column<'m> = (String, Option<&'m Measured>, Published);

/// Returns a table as the page has it, each of its columns after ours.
pub(super) fn laid_out(title: &str, columns: &[Column<'_>]) -> Table {
    let is_invalid = |ours: &Option<&Measured>| ours.is_some_and(|ours| has_invalid(&ours.series));
    let heads = columns.iter().flat_map(|(name, ours, _)| {
        [format!("{name}{}", if is_invalid(ours) { "!" } else { "" }), MARK.to_owned()]
    });
    let mut table = Table::new(title, std::iter::once("Configuration".to_owned()).chain(heads));
    let all: Vec<Option<Latencies>> =
        columns.iter().map(|(_, ours, _)| ours.map(|ours| merged(&ours.series))).collect();
    let empty = || std::iter::repeat_n(String::new(), 2 * columns.len());
    for (n, line) in LINES.iter().enumerate() {
        match n {
            0 => drop(table.row(std::iter::once("RTT (microseconds)".to_owned()).chain(empty()))),
            3 => drop(table.row(std::iter::once("RTT distribution (percentiles)".to_owned()).chain(empty()))),
            _ => {}
        }
        let cells = columns.iter().zip(&all).flat_map(|((_, _, published), all)| {
            let unknown = || "-".to_owned();
            let published = line.published.map_or_else(unknown, |of| format!("{:.1}", of(published)));
            [all.as_ref().map_or_else(unknown, line.ours), published]
        });
        table.row(std::iter::once(line.name.to_owned()).chain(cells));
    }
    table.note(format!("{MARK}: {ELSEWHERE}"));
    if columns.iter().any(|(_, ours, _)| is_invalid(ours)) {
        table.note(INVALID);
    }
    table
}

/// Returns the first row of what is looked for.
fn find(measured: &[Measured], is: impl Fn(&Subject) -> bool) -> Option<&Measured> {
    measured.iter().find(|it| is(&it.subject))
}

fn chosen<'m>(measured: &'m [Measured], name: &str) -> Option<&'m Measured> {
    find(
        measured,
        |subject| matches!(subject, Subject::Fixbolt(it) if it.validation == Validation::Chosen && it.configuration.name == name),
    )
}

/// Returns the floor of a layout. One without a valid slice is none.
fn raw_of(measured: &[Measured], layout: Layout) -> Option<&Measured> {
    find(measured, |subject| *subject == Subject::Raw(layout)).filter(|raw| raw.series.is_valid())
}

/// Returns all tables.
pub(super) fn tables(measured: &[Measured], settings: &Settings, cores: &[usize]) -> Vec<Table> {
    let columns: Vec<Column<'_>> = CONFIGURATIONS
        .iter()
        .map(|it| (it.name.to_owned(), chosen(measured, it.name), it.published))
        .filter(|(_, ours, _)| ours.is_some())
        .collect();
    let mut tables = vec![
        configurations::settings(cores, settings.with_everything),
        laid_out("Configurations comparison", &columns),
        laid_out("Fixbolt vs QuickFIX C++", &beside_quickfix(measured)),
        every_row(measured),
    ];
    let [_, comparison, quickfix, _] = &mut tables[..] else { return tables };
    comparison.note(STAR);
    quickfix.note(STAR);
    quickfix.note("published: QuickFIX C++ 1.14.3 beside FIX Antenna's Default and Balanced, two of whose figures are others in this table of the page (190.1 and 45.9); \"-\": not measured");
    tables
}

/// Returns the table of a client that has measured one configuration.
pub(super) fn of_one(measured: &[Measured]) -> Vec<Table> {
    let columns = measured.iter().filter_map(|it| match &it.subject {
        Subject::Fixbolt(setup) => Some((it.series.name.clone(), Some(it), setup.configuration.published)),
        _ => None,
    });
    let mut table = laid_out("", &columns.collect::<Vec<_>>());
    table.note(STAR);
    vec![table]
}

/// Returns the columns of the page's second table.
pub(super) fn beside_quickfix(measured: &[Measured]) -> Vec<Column<'_>> {
    let [default, _, balanced, ..] = CONFIGURATIONS;
    let quickfix = |validates: bool| find(measured, |it| *it == Subject::QuickFix(validates));
    let [without, with] = configurations::QUICKFIX;
    // The page has two of the same figures otherwise in this table.
    let default_again = Published { max: 190.1, ..default.published };
    let balanced_again = Published { p99: 45.9, ..balanced.published };
    vec![
        ("Fixbolt default".to_owned(), chosen(measured, default.name), default_again),
        ("Fixbolt balanced".to_owned(), chosen(measured, balanced.name), balanced_again),
        ("QuickFIX no validation".to_owned(), quickfix(false), without),
        ("QuickFIX validation".to_owned(), quickfix(true), with),
    ]
}

/// Returns the table with a line for every row, and its floor.
fn every_row(measured: &[Measured]) -> Table {
    let lines = LINES.iter().map(|line| line.name);
    let columns = ["engine", "row"].into_iter().chain(lines).chain(["raw 50%", "50% - raw", "rate/s"]);
    let mut table = Table::new("Every row, in us", columns);
    for Measured { subject, series } in measured {
        let all = merged(series);
        let p50 = all.ns_at(50.0);
        let floor = match subject {
            Subject::Fixbolt(Setup { layout, .. }) => raw_of(measured, *layout),
            _ => None,
        };
        let floor = floor.map(|floor| merged(&floor.series).ns_at(50.0));
        #[expect(clippy::cast_precision_loss, reason = "times are below 2^53 ns")]
        let floor = floor.map_or_else(
            || ["-".to_owned(), "-".to_owned()],
            |floor| [us(floor as f64), us(p50 as f64 - floor as f64)],
        );
        let mut rates: Vec<f64> = series.runs.iter().filter_map(|run| run.achieved_rate).collect();
        let rate = median(&mut rates).map_or_else(|| "-".to_owned(), |rate| format!("{rate:.0}"));
        let mark = if has_invalid(series) { "!" } else { "" };
        let cells = [series.engine.clone(), format!("{}{mark}", series.name)].into_iter();
        let figures = LINES.iter().map(|line| (line.ours)(&all));
        table.row(cells.chain(figures).chain(floor).chain([rate]));
    }
    if measured.iter().any(|it| has_invalid(&it.series)) {
        table.note(INVALID);
    }
    table.note("raw 50%: raw TCP with the same threads, in the same run; rate/s: median of the slices");
    if table.rows.iter().any(|row| row[10].starts_with('-') && row[10] != "-") {
        table.note(SLOWER);
    }
    table.note(STAR);
    table
}

/// Returns the median over the slices of a percentile, in nanoseconds.
#[expect(clippy::cast_precision_loss, reason = "times are below 2^53 ns")]
fn median_of_slices(measured: &Measured, percentile: f64) -> Option<f64> {
    let runs = &measured.series.runs;
    // Unless there is no other, a slice that must not be used is left out.
    let any_valid = runs.iter().any(|run| run.invalid.is_none());
    let used = runs.iter().filter(|run| run.service.count() > 0 && (run.invalid.is_none() || !any_valid));
    median(&mut used.map(|run| run.service.ns_at(percentile) as f64).collect::<Vec<_>>())
}

/// Returns the figures: medians of the slices.
pub(super) fn rows(measured: &[Measured]) -> Vec<Row> {
    let mut rows = Vec::new();
    for it in measured {
        for percentile in [50.0, 95.0, 99.0] {
            let Some(ns) = median_of_slices(it, percentile) else { continue };
            let row = |message: &str| Row::of_ns(TEST, message, &format!("p{percentile}"), ns);
            match it.subject {
                Subject::Raw(_) => {}
                Subject::Fixbolt(Setup { configuration, validation, layout }) => {
                    let floor = raw_of(measured, layout).and_then(|raw| median_of_slices(raw, percentile));
                    let row = row(&it.series.name).floor_ns(floor);
                    let published = match percentile {
                        50.0 => configuration.published.p50,
                        95.0 => configuration.published.p95,
                        _ => configuration.published.p99,
                    };
                    let is_theirs = validation == Validation::Chosen;
                    rows.push(if is_theirs { row.published(published * 1e3) } else { row });
                }
                // Beside the rows of ours that do the same.
                Subject::QuickFix(validates) => {
                    let ours = find(measured, |subject| {
                        matches!(subject, Subject::Fixbolt(it) if match it.validation {
                            Validation::Chosen => validates && !it.configuration.is_lean,
                            Validation::Everything => validates,
                            Validation::Nothing => !validates,
                        })
                    });
                    rows.extend(ours.map(|ours| row(&ours.series.name).engine(QUICKFIX)));
                }
            }
        }
    }
    rows
}

/// Returns what must be said of the results.
pub(super) fn notes(measured: &[Measured]) -> Vec<String> {
    let mut notes = Vec::new();
    for Measured { subject, series } in measured {
        let mut invalid = series.runs.iter().filter_map(|run| run.invalid.as_ref());
        if let Some(first) = invalid.next() {
            let (of, all) = (1 + invalid.count(), series.runs.len());
            let is_floor = subject.engine() == RAW && !series.is_valid();
            let name = if is_floor { "no floor" } else { "not to be used" };
            notes.push(format!(
                "{} {}: {of} of {all} slices are INVALID, {name}: {first}",
                series.engine, series.name
            ));
        }
        let stray: u64 = series.runs.iter().map(|run| run.stray).sum();
        if stray > 0 {
            notes.push(format!(
                "{} {}: {stray} reports had no order of their own",
                series.engine, series.name
            ));
        }
    }
    let isolated = Machine::here().isolated_processors();
    if isolated < 4 {
        notes.push(format!(
            "99.9% and Max are shown and not judged: this machine has {isolated} isolated cores, fewer than four."
        ));
    }
    notes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::harness::{Run, Times};

    #[test]
    fn raw_tcp_without_a_valid_slice_is_no_floor() {
        let [configuration, ..] = CONFIGURATIONS;
        let layout = configuration.layout(&[]);
        let setup = Setup { configuration, validation: Validation::Chosen, layout };
        let measured = |last: u64| {
            let order = |n: u64| {
                let started = n * 1_000_000;
                Times { intended: started, started, ended: Some(started + if n == 9 { last } else { 5 }) }
            };
            let runs = || vec![Run::open(&(0..10).map(order).collect::<Vec<_>>())];
            [Subject::Raw(layout), Subject::Fixbolt(setup)].map(|subject| {
                let series = Series::new(TEST, subject.engine(), subject.name(), runs());
                Measured { subject, series }
            })
        };
        let floors = |measured: &[Measured]| -> Vec<bool> {
            let beside = every_row(measured).rows[1][9] != "-";
            rows(measured).iter().map(|row| row.floor_ns.is_some()).chain([beside]).collect()
        };
        assert_eq!(floors(&measured(5)), [true; 4]);
        let slow = measured(1_000_000_000);
        assert_eq!(floors(&slow), [false; 4]);
        assert!(notes(&slow)[0].contains("INVALID, no floor"));
    }
}
