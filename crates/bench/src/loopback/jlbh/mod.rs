//! The test with which Chronicle FIX was compared with QuickFIX/J: orders at a fixed rate, each
//! answered by a report, with journal and message log on both sides; and what it takes to read an
//! order, with both, without sockets.

mod messages;
mod parse;
mod published;

use self::published::{CHRONICLE, PARSE, Published, QUICKFIXJ};
use super::layout::{Layout, cores};
use super::open::RoundTrip;
use super::pair::Keeping;
use super::raw::{Raw, RawWaiting};
use crate::harness::{Arrivals, Control, Latencies, Monotonic, Plan, Run, Waiting, measure};
use crate::results::{Row, Series, Table, TestReport};

pub(super) use self::messages::{Jlbh, raw as raw_messages};

const TEST: &str = "jlbh";
/// How both sides keep what they exchange.
const KEEPING: Keeping = Keeping { validates: true, journals: true, logs: true };

/// What is measured.
#[derive(Clone, PartialEq, Debug)]
pub struct Settings {
    /// Orders per second, one measurement each.
    pub rates: Vec<u32>,
    /// Orders before the first run, at the same rate.
    pub warm_up: u64,
    /// Orders per run.
    pub iterations: u64,
    /// Runs per rate.
    pub runs: usize,
    /// Messages per second that are read without sockets, one measurement each.
    pub parse_rates: Vec<u32>,
    /// Runs of those.
    pub parse_runs: usize,
    /// How the engines' workers wait, and where they run.
    pub layout: Layout,
}

impl Settings {
    /// As published, and 200,000 orders a second.
    #[must_use]
    pub fn new(layout: Layout) -> Self {
        Self {
            rates: vec![2_000, 10_000, 50_000, 200_000],
            warm_up: 20_000,
            iterations: 10_000,
            runs: 3,
            parse_rates: vec![10_000, 100_000, 200_000],
            parse_runs: 5,
            layout,
        }
    }

    /// The same in less than a quarter of the time.
    #[must_use]
    pub fn short(layout: Layout) -> Self {
        Self { warm_up: 2_000, iterations: 2_000, ..Self::new(layout) }
    }
}

/// The layout of a test with a thread that sends beside the workers of both sides: workers spin, on
/// cores of their own, if the machine has four cores.
#[must_use]
pub fn default_layout() -> Layout {
    let cores = cores();
    if cores.len() >= 4 {
        Layout::new(fixbolt::Waiting::Spinning).pinned(&cores)
    } else {
        Layout::new(fixbolt::Waiting::Blocking)
    }
}

/// Measures every rate.
///
/// # Errors
/// Returns why the measurement is worthless, or was not possible.
pub fn run(settings: &Settings, control: &Control) -> Result<TestReport, String> {
    let title = "order out and report back at a fixed rate, journal and message log on both sides, in us";
    let mut report = TestReport::new(TEST, title)
        .setting("messages", "NOS-JLBH, ER-JLBH (FIX.4.2)")
        .setting("warm-up", settings.warm_up)
        .setting("iterations", settings.iterations)
        .setting("runs", settings.runs)
        .setting("workers", settings.layout.words())
        .setting("CPUs", std::thread::available_parallelism().map_or(1, std::num::NonZero::get));
    let mut dropped = 0;
    for &rate in &settings.rates {
        if control.is_stopped() {
            return Ok(report);
        }
        let plan = plan(rate, settings.warm_up, settings.iterations, settings.runs);
        let mut floor =
            Raw::new(messages::raw()?, RawWaiting::of(settings.layout), settings.layout.venue, true)?;
        let floor = measure(&plan.clone().runs(1), &mut floor, &Monotonic, control)?;
        let mut task = RoundTrip::new(Jlbh::as_published(), settings.layout, KEEPING);
        let runs = measure(&plan, &mut task, &Monotonic, control)?;
        dropped += task.dropped;
        add(&mut report, rate, Series::new(TEST, "fixbolt", format!("{rate}/s"), runs), floor);
    }
    for &rate in &settings.parse_rates {
        if control.is_stopped() {
            return Ok(report);
        }
        let plan =
            plan(rate, settings.warm_up, settings.iterations, settings.parse_runs).waiting(Waiting::Spin);
        let pieces = plan.warm_up + plan.iterations * plan.runs as u64;
        let mut task = parse::Parse::new(pieces)?;
        let runs = measure(&plan, &mut task, &Monotonic, control)?;
        dropped += task.dropped();
        add_parse(&mut report, rate, Series::new(TEST, "fixbolt", format!("parse {rate}/s"), runs));
    }
    report.notes.extend(notes(dropped));
    Ok(report)
}

fn plan(rate: u32, warm_up: u64, iterations: u64, runs: usize) -> Plan {
    Plan::open(Arrivals::Fixed, rate.into()).warm_up(warm_up).iterations(iterations).runs(runs)
}

fn notes(dropped: u64) -> Vec<String> {
    let mut notes = vec![
        "Response time counts from when an order was due (coordinated omission accounted for), service time from when it was really begun.".to_owned(),
        "The published tests did not account for it; their figures are in the last columns: another machine (Xeon E5-2650 v2), 2016, all runs.".to_owned(),
        "raw TCP: the same bytes at the same rate over loopback, without an engine, one run.".to_owned(),
        "parse: an order's bytes through a session without sockets, checks, validation, journal and message log included, every field read as its type. The published profile is of a tuned server, without a session.".to_owned(),
    ];
    if dropped > 0 {
        notes.push(format!("The message logs have dropped {dropped} lines: the disk did not keep up."));
    }
    notes
}

/// Selects which times of a run are shown.
type Times = fn(&Run) -> &Latencies;

/// Adds the tables of a rate.
fn add(report: &mut TestReport, rate: u32, series: Series, floor: Vec<Run>) {
    let floor = Series::new(TEST, "raw TCP", format!("{rate}/s"), floor);
    let published: Vec<&Published> =
        [&QUICKFIXJ, &CHRONICLE].into_iter().flatten().filter(|table| table.rate == rate).collect();
    let kinds: [(&str, Times); 2] = [
        ("coordinated omission not accounted for (service time)", |run| &run.service),
        ("coordinated omission accounted for (response time)", |run| &run.response),
    ];
    for (kind, times) in kinds {
        let mut table = series.table(format!("At a throughput of {rate}/s, {kind}"), times);
        let raw: Vec<String> = floor.runs.first().map_or_else(Vec::new, |run| {
            times(run).table().iter().map(|it| format!("{:.2}", it.ns as f64 / 1e3)).collect()
        });
        add_column(&mut table, "raw TCP".to_owned(), &raw);
        for published in &published {
            let head = format!("{}, published, another machine, 2016", published.engine);
            add_column(&mut table, head, &published.cells());
        }
        if let Some(invalid) = floor.runs.first().and_then(|run| run.invalid.as_ref()) {
            table.note(format!("raw TCP is INVALID, no floor: {invalid}"));
        }
        report.tables.push(table);
    }
    for percentile in [50.0, 90.0, 99.0] {
        let median = |series: &Series| {
            let runs = series.runs.iter().map(|run| run.service.ns_at(percentile) as f64);
            crate::clock::median(&mut runs.collect::<Vec<_>>())
        };
        let Some(ns) = median(&series) else { continue };
        let mut row = Row::of_ns(TEST, "NOS-JLBH", &format!("{rate}/s p{percentile}"), ns);
        row = row.floor_ns(median(&floor).filter(|_| floor.runs.iter().all(|run| run.invalid.is_none())));
        if let Some(chronicle) = published.iter().find(|table| table.engine == "Chronicle FIX") {
            row.published = chronicle.median_ns(percentile);
        }
        report.rows.push(row);
    }
    report.series.extend([series, floor]);
}

fn add_parse(report: &mut TestReport, rate: u32, series: Series) {
    let title = format!("Parsing into the data model including logging, at a throughput of {rate}/s");
    let mut table = series.table(title, |run| &run.service);
    add_column(
        &mut table,
        "Chronicle FIX, 10,000/s to 200,000/s, published, another machine, 2016".to_owned(),
        &PARSE.cells(),
    );
    report.tables.push(table);
    if let Some(ns) = series.median_ns(50.0) {
        let mut row = Row::of_ns(TEST, "NOS-JLBH", &format!("parse {rate}/s p50"), ns);
        row.published = PARSE.median_ns(50.0);
        report.rows.push(row);
    }
    report.series.push(series);
}

/// Adds a column of percentiles to a table; what is below them has none.
fn add_column(table: &mut Table, head: String, cells: &[String]) {
    table.columns.push(head);
    for (n, row) in table.rows.iter_mut().enumerate() {
        row.push(cells.get(n).cloned().unwrap_or_else(|| "-".to_owned()));
    }
}

#[cfg(test)]
mod tests;
