//! The tables of the page, with its figures beside ours.

use fixbolt_workloads::machine::Machine;

use super::configurations::{self, CONFIGURATIONS, ELSEWHERE, Published, too_few_cores};
use super::sides::{Setup, Validation};
use super::{Measured, RAW, Settings, Subject};
use crate::loopback::layout::Layout;
use crate::loopback::raw::SLOWER;
use crate::results::{Row, Series, Table, TimeKind, noted, unsteady};

/// The percentiles that figures are made of.
pub(super) const FIGURES: [f64; 3] = [50.0, 95.0, 99.0];

/// What the columns of published figures are headed.
const MARK: &str = "published";

/// What a star stands for.
const STAR: &str = "* fewer than 100 samples lie above it";
/// What an exclamation mark stands for.
const INVALID: &str = "! slices are INVALID, for the reasons below";

fn us(ns: f64) -> String {
    format!("{:.1}", ns / 1e3)
}

/// The lines of the page's tables of results: their names, the published figure and ours. The last
/// ones are not on the page.
struct Line {
    name: &'static str,
    published: Option<fn(&Published) -> f64>,
    ours: fn(&Series) -> String,
}

/// What is measured on the page: from just before an order is put until its report has been parsed.
const TIMES: TimeKind = TimeKind::Service;

/// Returns the figure of a percentile, which the other outputs have too.
fn percentile(series: &Series, percentile: f64) -> String {
    series.row(TIMES, percentile).map_or_else(|| "-".to_owned(), |row| row.micros(1))
}

/// Returns the worst slice's percentile.
fn worst(series: &Series, percentile: f64) -> String {
    let worst = series.row(TIMES, percentile).and_then(|row| row.worst);
    worst.map_or_else(|| "-".to_owned(), us)
}

#[expect(clippy::cast_precision_loss, reason = "times are below 2^53 ns")]
const LINES: [Line; 9] = [
    Line { name: "Min", published: Some(|it| it.min), ours: |all| us(all.merged(TIMES).min_ns() as f64) },
    Line { name: "Max", published: Some(|it| it.max), ours: |all| percentile(all, 100.0) },
    Line { name: "Average", published: Some(|it| it.average), ours: |all| us(all.merged(TIMES).mean_ns()) },
    Line { name: "50%", published: Some(|it| it.p50), ours: |all| percentile(all, 50.0) },
    Line { name: "95%", published: Some(|it| it.p95), ours: |all| percentile(all, 95.0) },
    Line { name: "99%", published: Some(|it| it.p99), ours: |all| percentile(all, 99.0) },
    Line { name: "99.9%", published: None, ours: |all| percentile(all, 99.9) },
    Line { name: "50% worst slice", published: None, ours: |all| worst(all, 50.0) },
    Line { name: "99% worst slice", published: None, ours: |all| worst(all, 99.0) },
];

/// How the figures come from the slices.
const STATISTIC: &str = "50% to 99%: median of the slices; Min, Max, Average and 99.9%: all slices together";

/// A column of the page: its name, ours, and what was published.
type Column<'m> = (String, Option<&'m Measured>, Published);

/// Returns a table as the page has it, each of its columns after ours.
pub(super) fn laid_out(title: &str, columns: &[Column<'_>]) -> Table {
    let is_invalid = |ours: &Option<&Measured>| ours.is_some_and(|ours| ours.series.invalid().is_some());
    let heads = columns.iter().flat_map(|(name, ours, _)| {
        [format!("{name}{}", if is_invalid(ours) { "!" } else { "" }), MARK.to_owned()]
    });
    let mut table = Table::new(title, std::iter::once("Configuration".to_owned()).chain(heads));
    let empty = || std::iter::repeat_n(String::new(), 2 * columns.len());
    for (n, line) in LINES.iter().enumerate() {
        match n {
            0 => drop(table.row(std::iter::once("RTT (microseconds)".to_owned()).chain(empty()))),
            3 => drop(table.row(std::iter::once("RTT distribution (percentiles)".to_owned()).chain(empty()))),
            _ => {}
        }
        let cells = columns.iter().flat_map(|(_, ours, published)| {
            let unknown = || "-".to_owned();
            let published = line.published.map_or_else(unknown, |of| format!("{:.1}", of(published)));
            [ours.map_or_else(unknown, |ours| (line.ours)(&ours.series)), published]
        });
        table.row(std::iter::once(line.name.to_owned()).chain(cells));
    }
    table.note(STATISTIC);
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
        .filter_map(|it| {
            let ours = chosen(measured, it.name)?;
            Some((ours.series.name.clone(), Some(ours), it.published))
        })
        .collect();
    let mut tables = vec![
        configurations::settings(cores, settings.workers(), settings.with_everything),
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
        let p50 = |series: &Series| series.row(TIMES, 50.0)?.ns;
        let floor = match subject {
            Subject::Fixbolt(Setup { layout, .. }) => raw_of(measured, *layout),
            _ => None,
        };
        let beside = p50(series).zip(floor.and_then(|floor| p50(&floor.series)));
        let floor = beside
            .map_or_else(|| ["-".to_owned(), "-".to_owned()], |(ours, floor)| [us(floor), us(ours - floor)]);
        let rate = series.rate().and_then(|row| row.value);
        let rate = rate.map_or_else(|| "-".to_owned(), |rate| format!("{rate:.0}"));
        let mark = if series.invalid().is_some() { "!" } else { "" };
        let cells = [series.engine.clone(), format!("{}{mark}", series.name)].into_iter();
        let figures = LINES.iter().map(|line| (line.ours)(series));
        table.row(cells.chain(figures).chain(floor).chain([rate]));
    }
    if measured.iter().any(|it| it.series.invalid().is_some()) {
        table.note(INVALID);
    }
    table.note(STATISTIC);
    table.note("raw 50%: raw TCP with the same threads, in the same run; rate/s: median of the slices");
    if table.rows.iter().any(|row| row[10].starts_with('-') && row[10] != "-") {
        table.note(SLOWER);
    }
    table.note(STAR);
    table
}

/// Returns the figures. `all` are the cores that the process may use.
pub(super) fn rows(measured: &[Measured], all: &[usize]) -> Vec<Row> {
    let mut rows = Vec::new();
    for it in measured {
        for percentile in FIGURES {
            let Some(mut row) = it.series.row(TIMES, percentile) else { continue };
            match it.subject {
                Subject::Raw(_) => {}
                Subject::Fixbolt(Setup { configuration, validation, layout }) => {
                    let floor = raw_of(measured, layout).and_then(|raw| raw.series.row(TIMES, percentile));
                    row = row.beside(floor.as_ref());
                    row.note = configuration.is_pinned.then(|| too_few_cores(layout, all)).flatten();
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
                    let beside = |ours: &Measured| Row { operation: ours.series.name.clone(), ..row };
                    rows.extend(ours.map(beside));
                }
            }
        }
    }
    rows
}

/// Returns what must be said of the results.
pub(super) fn notes(measured: &[Measured], all: &[usize]) -> Vec<String> {
    let rows = rows(measured, all);
    let mut notes = Vec::from_iter(unsteady(rows.iter()));
    notes.extend(noted(rows.iter()));
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
    use super::super::TEST;
    use super::*;
    use fixbolt_workloads::harness::{Run, Times};

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
            let beside = every_row(measured).rows[1][11] != "-";
            rows(measured, &[]).iter().map(|row| row.floor_ns.is_some()).chain([beside]).collect()
        };
        assert_eq!(floors(&measured(5)), [true; 4]);
        let slow = measured(1_000_000_000);
        assert_eq!(floors(&slow), [false; 4]);
        assert!(notes(&slow, &[])[0].contains("INVALID, no floor"));
    }
}
