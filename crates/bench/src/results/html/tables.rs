//! Tables, and those that are the alternative of plots.

use fixbolt_workloads::harness::{Latencies, PERCENTILES, Run};

use super::figures::{commas, time};
use super::markup::Markup;
use crate::results::{Row, Series, Table, TestReport, percentile_name};

/// Writes a table.
pub(super) fn table(to: &mut Markup, table: &Table) {
    to.inside("figure", &[("class", "table")], |to| {
        if !table.title.is_empty() {
            to.element("figcaption", &[], &table.title);
        }
        let name = if table.title.is_empty() { "table" } else { table.title.as_str() };
        // What can be scrolled must be reachable by keyboard.
        let attributes = [("class", "scroll"), ("tabindex", "0"), ("role", "region"), ("aria-label", name)];
        to.inside("div", &attributes, |to| {
            to.inside("table", &[], |to| {
                let figures: Vec<bool> =
                    (0..table.columns.len()).map(|column| is_figures(table, column)).collect();
                let class = |column: usize| if figures[column] { "figure" } else { "text" };
                to.inside("thead", &[], |to| {
                    to.inside("tr", &[], |to| {
                        for (n, column) in table.columns.iter().enumerate() {
                            to.element("th", &[("scope", "col"), ("class", class(n))], column);
                        }
                    });
                });
                to.inside("tbody", &[], |to| {
                    for row in &table.rows {
                        to.inside("tr", &[], |to| {
                            for (n, cell) in row.iter().enumerate().take(figures.len()) {
                                let wrong = if is_warning(cell) { " bad" } else { "" };
                                let class = format!("{}{wrong}", class(n));
                                let (name, scope) =
                                    if n == 0 { ("th", &[("scope", "row")][..]) } else { ("td", &[][..]) };
                                let attributes: Vec<(&str, &str)> =
                                    scope.iter().copied().chain([("class", class.as_str())]).collect();
                                to.inside(name, &attributes, |to| self::cell(to, cell, figures[n]));
                            }
                        });
                    }
                });
            });
        });
        notes(to, &table.notes);
    });
}

/// Writes remarks.
pub(super) fn notes(to: &mut Markup, notes: &[String]) {
    for note in notes {
        let class = if is_warning(note) { "note bad" } else { "note" };
        to.element("p", &[("class", class)], note);
    }
}

/// Returns whether a text must not be overlooked.
pub(super) fn is_warning(text: &str) -> bool {
    ["INVALID", "INTERRUPTED", "FAILED", "WARNING", "WORSE"].iter().any(|word| text.contains(word))
}

/// Returns whether a column is aligned to the right. Here times with units are figures, too.
fn is_figures(table: &Table, column: usize) -> bool {
    let known = || table.rows.iter().filter_map(|row| row.get(column)).filter(|cell| *cell != "-");
    let time = |cell: &String| {
        let (number, unit) = cell.trim_end_matches('*').split_once(' ').unwrap_or_default();
        number.replace(',', "").parse::<f64>().is_ok() && ["ns", "us", "ms", "s"].contains(&unit)
    };
    table.is_figures(column) || column > 0 && known().count() > 0 && known().all(time)
}

/// Writes a cell. The mark of a figure that few samples carry stands outside of the column.
fn cell(to: &mut Markup, cell: &str, figure: bool) {
    match cell.strip_suffix('*').filter(|_| figure) {
        Some(figure) => {
            to.text(figure);
            to.element("span", &[("class", "star"), ("title", "fewer than 100 samples lie above it")], "*");
        }
        None => to.text(cell),
    }
}

/// Writes what the plots of a test show, and what its tables leave out: every time of every run,
/// how each run went, every figure.
pub(super) fn alternatives(to: &mut Markup, test: &TestReport) {
    let runs = [times_of_runs(&test.series), conduct_of_runs(&test.series), figures(&test.rows)];
    let shown: Vec<&Table> = runs.iter().filter(|table| !table.rows.is_empty()).collect();
    if shown.is_empty() {
        return;
    }
    to.inside("details", &[], |to| {
        to.element("summary", &[], "Every figure of this test");
        shown.iter().for_each(|shown| table(to, shown));
    });
}

/// Returns the percentiles of all times of all runs.
#[expect(clippy::cast_precision_loss, reason = "counts and times are below 2^53")]
fn times_of_runs(all: &[Series]) -> Table {
    let percentiles = PERCENTILES.map(percentile_name);
    let columns = ["engine", "setting", "run", "time", "samples"].map(str::to_owned);
    let mut table = Table::new("Times of each run", columns.into_iter().chain(percentiles));
    for series in all {
        for (n, run) in series.runs.iter().enumerate() {
            let of = |name: &str, latencies| (name.to_owned(), latencies);
            let fixed = [
                of("response", &run.response),
                of("service", &run.service),
                of("delay of the generator", &run.delay),
            ];
            let probes = run.probes.iter().map(|(name, latencies)| (format!("until {name}"), latencies));
            for (name, latencies) in fixed.into_iter().chain(probes) {
                if latencies.count() == 0 {
                    continue;
                }
                let keys = [series.engine.clone(), series.name.clone(), (n + 1).to_string(), name];
                let count = commas(latencies.count() as f64);
                table.row(keys.into_iter().chain([count]).chain(cells(latencies)));
            }
        }
    }
    if table.rows.iter().flatten().any(|cell| cell.ends_with('*')) {
        table.note("* fewer than 100 samples lie above it");
    }
    table
}

#[expect(clippy::cast_precision_loss, reason = "times are below 2^53 ns")]
fn cells(latencies: &Latencies) -> impl Iterator<Item = String> {
    let rows = latencies.table().into_iter();
    rows.map(|row| format!("{}{}", time(row.ns as f64), if row.carried { "" } else { "*" }))
}

/// Returns the rates of all runs, what was lost, what they used, and whether they are valid.
fn conduct_of_runs(all: &[Series]) -> Table {
    let columns = [
        "engine",
        "setting",
        "run",
        "target/s",
        "offered/s",
        "achieved/s",
        "lost",
        "late",
        "stray",
        "CPU",
        "CPU a piece",
        "waits",
        "preemptions",
        "minor faults",
        "major faults",
        "valid",
    ];
    let mut table = Table::new("Conduct of each run", columns);
    for series in all {
        for (n, run) in series.runs.iter().enumerate() {
            table.row(
                [series.engine.clone(), series.name.clone(), (n + 1).to_string()]
                    .into_iter()
                    .chain(conduct(run)),
            );
        }
    }
    if !table.rows.is_empty() {
        table.note("CPU, switches and faults are those of the whole process, the harness included; but CPU is without the thread that begins pieces while it waits for the next one, since it polls the clock.");
    }
    table
}

#[expect(clippy::cast_precision_loss, reason = "counts and times are below 2^53")]
fn conduct(run: &Run) -> [String; 13] {
    let rate = |rate: Option<f64>| rate.map_or_else(|| "-".to_owned(), commas);
    let count = |count: Option<u64>| count.map_or_else(|| "-".to_owned(), |count| commas(count as f64));
    let cpu = run.usage.cpu.as_nanos() as f64;
    let pieces = run.latencies().count();
    [
        rate(run.target_rate),
        rate(run.offered_rate),
        rate(run.achieved_rate),
        count(Some(run.lost)),
        count(Some(run.late)),
        count(Some(run.stray)),
        time(cpu),
        if pieces > 0 { time(cpu / pieces as f64) } else { "-".to_owned() },
        count(run.usage.voluntary_switches),
        count(run.usage.involuntary_switches),
        count(run.usage.minor_faults),
        count(run.usage.major_faults),
        run.invalid.as_ref().map_or_else(|| "yes".to_owned(), |why| format!("INVALID: {why}")),
    ]
}

/// Returns the figures with all that only some of them have.
fn figures(rows: &[Row]) -> Table {
    let mut more: Vec<&str> = rows.iter().flat_map(|row| row.more.keys()).map(String::as_str).collect();
    more.sort_unstable();
    more.dedup();
    Table::of_rows("Figures", rows, &more)
}
