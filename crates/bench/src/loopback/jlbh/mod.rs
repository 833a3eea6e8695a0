//! The test with which Chronicle FIX was compared with QuickFIX/J: orders at a fixed rate, each
//! answered by a report, with journal and message log on both sides; and what it takes to read an
//! order, with both, without sockets.

mod deducted;
mod messages;
mod parse;
mod published;
mod rivals;
mod var_log;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use self::published::{CHRONICLE, PARSE, Published, QUICKFIXJ};
use self::rivals::Rivals;
use super::layout::{Layout, cores};
use super::open::RoundTrip;
use super::pair::Keeping;
use super::raw::{Raw, RawWaiting};
use crate::harness::{
    Arrivals, Control, Found, Latencies, Load, Monotonic, Plan, Run, Task, Waiting, counting_system_calls,
    measure,
};
use crate::results::{Row, Series, Table, TestReport};

pub(super) use self::messages::Jlbh;

const TEST: &str = "jlbh";
/// How both sides keep what they exchange.
const KEEPING: Keeping = Keeping { validates: true, journals: true, logs: true };
/// Orders of the runs in which system calls are counted, and their rate.
const COUNTED: (u64, f64) = (2_000, 5_000.0);

/// What is measured.
#[derive(Clone, PartialEq, Debug)]
pub struct Settings {
    /// Orders and their reports.
    pub load: Load,
    /// Messages that are read without sockets.
    pub parse: Load,
    /// How the engines' workers wait, and where they run.
    pub layout: Layout,
    /// The highest rate at which other engines are measured, where their programs are built.
    pub rivals_up_to: f64,
}

impl Settings {
    /// Returns the settings as published, and the rate of 200,000 orders a second.
    #[must_use]
    pub fn new(layout: Layout) -> Self {
        let plan = Plan::closed().warm_up(20_000).iterations(10_000).runs(3);
        let parse = plan.clone().runs(5).waiting(Waiting::Spin);
        Self {
            load: Load::at(plan, &[2_000.0, 10_000.0, 50_000.0, 200_000.0]),
            parse: Load::at(parse, &[10_000.0, 100_000.0, 200_000.0]),
            layout,
            rivals_up_to: 50_000.0,
        }
    }

    /// Returns settings with which the test takes less than a minute, at the rates of
    /// [`Settings::new`].
    #[must_use]
    pub fn short(layout: Layout) -> Self {
        let mut settings = Self::new(layout);
        for load in [&mut settings.load, &mut settings.parse] {
            load.plan = load.plan.clone().warm_up(2_000).iterations(2_000);
        }
        Self { rivals_up_to: 10_000.0, ..settings }
    }
}

/// The layout of a test with a thread that sends beside the workers of both sides: workers spin, on
/// cores of their own, if the process has four cores.
#[must_use]
pub fn default_layout() -> Layout {
    layout_of(available_cores(), &cores())
}

/// `suit` are the cores that suit best, perhaps only two isolated ones of `available`.
fn layout_of(available: usize, suit: &[usize]) -> Layout {
    if available >= 4 {
        Layout::new(fixbolt::Waiting::Spinning).pinned(suit)
    } else {
        Layout::new(fixbolt::Waiting::Blocking)
    }
}

/// Measures every rate; or searches the highest one that keeps a bound; or measures a closed loop.
///
/// # Errors
/// Returns why the measurement is worthless, or was not possible.
pub fn run(settings: &Settings, control: &Control) -> Result<TestReport, String> {
    let title = "order out and report back at a fixed rate, journal and message log on both sides, in us";
    let plan = &settings.load.plan;
    let mut report = TestReport::new(TEST, title)
        .setting("messages", "NOS-JLBH, ER-JLBH (FIX.4.2)")
        .setting("warm-up", plan.warm_up)
        .setting("iterations", plan.iterations)
        .setting("runs", plan.runs)
        .setting("arrivals", settings.load.arrivals.map_or_else(|| "closed loop".to_owned(), words_of))
        .setting("pacing", pacing(plan.waiting))
        .setting("workers", settings.layout.words())
        .setting("CPUs", available_cores());
    let dropped = Arc::new(AtomicU64::new(0));
    let mut rivals = Rivals::find(control);
    let layout = settings.layout;
    for load in one_by_one(&settings.load) {
        let measured = load.measure(&Monotonic, control, || {
            Ok(Box::new(RoundTrip::new(Jlbh::as_published(), layout, KEEPING).count_dropped(&dropped)))
        })?;
        for (rate, runs) in measured.rates {
            // Of a search, the floor is measured where it ended.
            let is_result = measured.found.as_ref().is_none_or(|found| found.rate == rate);
            let floor = if is_result { floor(&load, rate, layout, control)? } else { Vec::new() };
            let theirs = match rate {
                Some(rate) if is_result && rate <= settings.rivals_up_to => {
                    rivals.at(rate, load.arrivals, plan.iterations)
                }
                _ => Vec::new(),
            };
            add(&mut report, rate, runs, floor, theirs);
        }
        if let Some(found) = &measured.found {
            add_search(&mut report, &load, found);
        }
    }
    report.tables.extend(deducted::table(&report.series));
    for load in one_by_one(&settings.parse) {
        let pieces = load.plan.warm_up + load.plan.iterations * load.plan.runs as u64;
        let measured = load.measure(&Monotonic, control, || {
            Ok(Box::new(parse::Parse::new(pieces)?.count_dropped(&dropped)) as Box<dyn Task>)
        })?;
        for (rate, runs) in measured.rates {
            add_parse(&mut report, &name_of(rate), runs);
        }
    }
    let calls = if control.is_stopped() { None } else { system_calls(layout, control)? };
    // What was counted until an interrupt is no figure.
    if !control.is_stopped() {
        report.rows.extend(
            calls.map(|calls| {
                Row::of_value(TEST, "NOS-JLBH", "system calls", calls, "calls/order and report")
            }),
        );
        if calls.is_none() {
            report.notes.push(
                "System calls cannot be counted here: this needs perf, and the right to trace.".to_owned(),
            );
        }
    }
    report.notes.extend(notes(dropped.load(Ordering::Relaxed)));
    report.notes.extend(rivals.notes());
    Ok(report)
}

fn available_cores() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}

/// Returns how orders arrive, as the option has it.
fn words_of(arrivals: Arrivals) -> String {
    match arrivals {
        Arrivals::Fixed => "fixed".to_owned(),
        Arrivals::Poisson { seed } => format!("poisson:{seed}"),
        Arrivals::Burst { size } => format!("burst:{size}"),
    }
}

const fn pacing(waiting: Waiting) -> &'static str {
    match waiting {
        Waiting::Spin => "polling the clock",
        Waiting::Sleep => "sleep, then polling",
    }
}

/// Returns a load for each rate, so that a floor is measured right after what it is the floor of.
fn one_by_one(load: &Load) -> Vec<Load> {
    if load.bound.is_some() || load.arrivals.is_none() {
        return vec![load.clone()];
    }
    load.rates.iter().map(|rate| Load { rates: vec![*rate], ..load.clone() }).collect()
}

/// Measures the same bytes over raw TCP: one run.
fn floor(load: &Load, rate: Option<f64>, layout: Layout, control: &Control) -> Result<Vec<Run>, String> {
    let plan = load.plan.clone().runs(1);
    let load = Load { plan, rates: rate.into_iter().collect(), bound: None, ..load.clone() };
    let measured = load.measure(&Monotonic, control, || {
        let raw = Raw::new(messages::raw()?, RawWaiting::of(layout), layout.venue, true)?;
        Ok(Box::new(raw.reading_on(layout.trader)) as Box<dyn Task>)
    })?;
    Ok(measured.rates.into_iter().next().map(|(_, runs)| runs).unwrap_or_default())
}

/// Returns the system calls of an order with its report, in both engines: what twice as many orders
/// make more. Nothing is timed meanwhile, because counting delays each call.
#[expect(clippy::cast_precision_loss, reason = "counts are below 2^53")]
fn system_calls(layout: Layout, control: &Control) -> Result<Option<f64>, String> {
    let (orders, rate) = COUNTED;
    let count = |orders| {
        // A thread that spins between orders makes no calls of its own.
        let plan = Plan::open(Arrivals::Fixed, rate).iterations(orders).waiting(Waiting::Spin);
        let mut task = RoundTrip::new(Jlbh::as_published(), layout, KEEPING);
        let (measured, calls) = counting_system_calls(|| measure(&plan, &mut task, &Monotonic, control));
        measured.map(|_| calls)
    };
    let (once, twice) = (count(orders)?, count(orders * 2)?);
    Ok(once.zip(twice).map(|(once, twice)| twice.saturating_sub(once) as f64 / orders as f64))
}

/// Returns the name of a rate. Those that a search tries are large and have many digits.
fn name_of(rate: Option<f64>) -> String {
    match rate {
        None => "closed loop".to_owned(),
        Some(rate) if rate < 100.0 => format!("{rate}/s"),
        Some(rate) => format!("{rate:.0}/s"),
    }
}

fn notes(dropped: u64) -> Vec<String> {
    let mut notes = vec![
        "Response time counts from when an order was due (coordinated omission accounted for), service time from when it was really begun.".to_owned(),
        "The published tests did not account for it; their figures are in the last columns: another machine (Xeon E5-2650 v2), 2016, all runs.".to_owned(),
        "raw TCP: the same bytes at the same rate over loopback, without an engine, one run.".to_owned(),
        var_log::NOTE.to_owned(),
        "parse: an order's bytes through a session without sockets, checks, validation, journal and message log included, every field read as its type. The published profile is of a tuned server, without a session.".to_owned(),
    ];
    if dropped > 0 {
        notes.push(format!("The message logs have dropped {dropped} lines: the disk did not keep up."));
    }
    notes
}

/// Returns the median over the valid runs of a percentile of the service times, in nanoseconds.
fn median_service(series: &Series, percentile: f64) -> Option<f64> {
    let valid = series.runs.iter().filter(|run| run.invalid.is_none());
    crate::clock::median(&mut valid.map(|run| run.service.ns_at(percentile) as f64).collect::<Vec<_>>())
}

/// Selects which times of a run are shown.
type Times = fn(&Run) -> &Latencies;

/// Adds the tables of a rate: runs of Fixbolt, of the floor, and of other engines.
fn add(report: &mut TestReport, rate: Option<f64>, runs: Vec<Run>, floor: Vec<Run>, theirs: Vec<Series>) {
    let name = name_of(rate);
    let series = Series::new(TEST, "fixbolt", &name, runs);
    let floor = Series::new(TEST, "raw TCP", &name, floor);
    let at = |table: &&Published| rate == Some(f64::from(table.rate));
    let published: Vec<&Published> = [&QUICKFIXJ, &CHRONICLE].into_iter().flatten().filter(at).collect();
    let kinds: [(&str, Times); 2] = [
        ("coordinated omission not accounted for (service time)", |run| &run.service),
        ("coordinated omission accounted for (response time)", |run| &run.response),
    ];
    // A closed loop has no response time.
    for (kind, times) in kinds.into_iter().take(if rate.is_some() { 2 } else { 1 }) {
        let mut table = series.table(format!("At a throughput of {name}, {kind}"), times);
        add_column(&mut table, "var(log)".to_owned(), &var_log::cells(&series, times));
        for other in std::iter::once(&floor).chain(&theirs) {
            let Some(run) = other.runs.first() else { continue };
            // Of a table with one run, the column of the run: down to the rate.
            let own = other.table("", times);
            let cells: Vec<String> = own.rows.iter().map(|row| row[1].clone()).collect();
            add_column(&mut table, other.engine.clone(), &cells);
            if let Some(invalid) = &run.invalid {
                table.note(format!("{} is INVALID: {invalid}", other.engine));
            }
        }
        for published in &published {
            let head = format!("{}, published, another machine, 2016", published.engine);
            add_column(&mut table, head, &published.cells());
        }
        report.tables.push(table);
    }
    for percentile in [50.0, 90.0, 99.0] {
        let median = |series: &Series| median_service(series, percentile);
        let row = |ns| Row::of_ns(TEST, "NOS-JLBH", &format!("{name} p{percentile}"), ns);
        // An invalid run has no figure beside others.
        let Some(ns) = median(&series) else { continue };
        let mut ours = row(ns).floor_ns(median(&floor));
        if let Some(chronicle) = published.iter().find(|table| table.engine == "Chronicle FIX") {
            ours.published = chronicle.median_ns(percentile);
        }
        report.rows.push(ours);
        report.rows.extend(theirs.iter().filter_map(|other| Some(row(median(other)?).engine(&other.engine))));
    }
    report.series.extend([series, floor].into_iter().chain(theirs).filter(|series| !series.runs.is_empty()));
}

/// Adds what a search for the highest rate found.
fn add_search(report: &mut TestReport, load: &Load, found: &Found) {
    let Some(bound) = load.bound else { return };
    let us = bound.ns as f64 / 1e3;
    let title = format!("The highest rate at which p{} is at most {us} us, response time", bound.percentile);
    let mut table = Table::new(title, ["rate/s", "us", "valid", "kept"]);
    for (rate, runs) in &found.tried {
        let worst = runs.iter().map(|run| run.response.ns_at(bound.percentile)).max().unwrap_or(0);
        let valid = if runs.iter().all(|run| run.invalid.is_none()) { "yes" } else { "no" };
        let kept = if bound.is_kept_by(runs) { "yes" } else { "no" };
        table.row([
            format!("{rate:.0}"),
            format!("{:.2}", worst as f64 / 1e3),
            valid.to_owned(),
            kept.to_owned(),
        ]);
    }
    table.note(match (found.rate, found.too_high) {
        (None, _) => "Even the lowest rate does not keep it.".to_owned(),
        (Some(rate), None) => format!("Kept at {rate:.0}/s, the highest rate that was tried."),
        (Some(rate), Some(too_high)) => format!("Kept at {rate:.0}/s, not at {too_high:.0}/s."),
    });
    report.tables.push(table);
    if let Some(rate) = found.rate {
        let operation = format!("highest rate with p{}<={us}us", bound.percentile);
        report.rows.push(Row::of_value(TEST, "NOS-JLBH", &operation, rate, "orders/s"));
    }
}

fn add_parse(report: &mut TestReport, name: &str, runs: Vec<Run>) {
    let series = Series::new(TEST, "fixbolt", format!("parse {name}"), runs);
    let title = format!("Parsing into the data model including logging, at a throughput of {name}");
    let mut table = series.table(title, |run| &run.service);
    add_column(&mut table, "var(log)".to_owned(), &var_log::cells(&series, |run| &run.service));
    add_column(
        &mut table,
        "Chronicle FIX, 10,000/s to 200,000/s, published, another machine, 2016".to_owned(),
        &PARSE.cells(),
    );
    report.tables.push(table);
    if let Some(ns) = median_service(&series, 50.0) {
        let mut row = Row::of_ns(TEST, "NOS-JLBH", &format!("parse {name} p50"), ns);
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
