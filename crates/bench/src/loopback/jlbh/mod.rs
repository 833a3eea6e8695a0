//! The test with which Chronicle FIX was compared with QuickFIX/J: orders at a fixed rate, each
//! answered by a report, with journal and message log on both sides; and what it takes to read an
//! order, with both, without sockets.

mod deducted;
mod messages;
mod parse;
mod published;
mod var_log;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use fixbolt_workloads::harness::{
    Arrivals, Bound, Contest, Control, Found, Load, Monotonic, Plan, Run, Task, Waiting, again_if, alternate,
    counting_system_calls, measure,
};

use self::published::{CHRONICLE, PARSE, Published, QUICKFIXJ};
use super::layout::{Layout, cores};
use super::open::RoundTrip;
use super::pair::Keeping;
use super::raw::{Raw, RawWaiting};
use super::rival::Rival;
use crate::peers::{Program, RoundTripTest};
use crate::results::{Row, Series, Table, TestReport, TimeKind, unsteady};

pub(super) use self::messages::Jlbh;

const TEST: &str = "jlbh";
const MESSAGE: &str = "NOS-JLBH";
/// The percentiles that figures are made of.
const FIGURES: [f64; 3] = [50.0, 90.0, 99.0];
/// Orders before those of a run of another engine: a virtual machine must have compiled what it
/// runs.
const RIVALS_WARM_UP: u32 = 20_000;
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
    /// The other engines that are measured beside Fixbolt, where their programs are built.
    pub rivals: Vec<Program>,
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
            rivals: Program::ENGINES.to_vec(),
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
        settings
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
    let (rivals, why_not) = Rival::find(&settings.rivals, control);
    let layout = settings.layout;
    let ours = || Box::new(RoundTrip::new(Jlbh::as_published(), layout, KEEPING).count_dropped(&dropped));
    for mut load in one_by_one(&settings.load) {
        let measured = load.bound.map(|_| load.measure(&Monotonic, control, || Ok(ours()))).transpose()?;
        let found = measured.and_then(|measured| measured.found);
        let bound = load.bound.take();
        if let Some(found) = &found {
            // Where it ended, everybody is measured.
            load.rates = found.rate.into_iter().collect();
        }
        if load.arrivals.is_none() || !load.rates.is_empty() {
            let (all, notes) = again_if(
                |(all, _): &(Vec<Series>, _)| {
                    all.iter().any(|one| one.engine == "raw TCP" && one.is_unsteady(&FIGURES))
                },
                control,
                || side_by_side(&load, || Ok(ours()), &rivals, layout, control),
            )?;
            report.notes.extend(notes);
            add(&mut report, load.arrivals.and_then(|_| load.rates.first().copied()), all);
        }
        if let (Some(bound), Some(found)) = (bound, &found) {
            add_search(&mut report, bound, found);
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
            calls.map(|calls| Row::of_value(TEST, MESSAGE, "system calls", calls, "calls/order and report")),
        );
        if calls.is_none() {
            report.notes.push(
                "System calls cannot be counted here: this needs perf, and the right to trace.".to_owned(),
            );
        }
    }
    report.notes.extend(notes(dropped.load(Ordering::Relaxed)));
    let words: Vec<String> = rivals.iter().filter_map(Rival::words).collect();
    if !words.is_empty() {
        report.notes.push(format!(
            "Other engines: after {RIVALS_WARM_UP} orders in each run, both sides in a process of their own, with file store and file log."
        ));
    }
    report.notes.extend(words);
    report.notes.extend(why_not);
    Ok(report)
}

/// Measures the runs of Fixbolt, of the same bytes over raw TCP, and of other engines, in turn,
/// each with connections of its own. Returns them, and why something was not measured.
fn side_by_side(
    load: &Load,
    ours: impl Fn() -> Result<Box<dyn Task>, String>,
    rivals: &[Rival],
    layout: Layout,
    control: &Control,
) -> Result<(Vec<Series>, Vec<String>), String> {
    let mut notes = Vec::new();
    let one_run = Load { plan: load.plan.clone().runs(1), ..load.clone() };
    let run_of = |task: &dyn Fn() -> Result<Box<dyn Task>, String>| -> Result<Option<Run>, String> {
        let measured = one_run.measure(&Monotonic, control, task)?;
        Ok(measured.rates.into_iter().flat_map(|(_, runs)| runs).next())
    };
    let floor = || -> Result<Box<dyn Task>, String> {
        let raw = Raw::new(messages::raw()?, RawWaiting::of(layout), layout.venue, true)?;
        Ok(Box::new(raw.reading_on(layout.trader)))
    };
    let rate = load.arrivals.and_then(|_| load.rates.first().copied());
    let name = name_of(rate);
    let test = test_of_rivals(load);
    let rivals = if test.is_some() { rivals } else { &[] };
    let mut contests =
        vec![Contest::new("fixbolt", || run_of(&ours)), Contest::new("raw TCP", || run_of(&floor))];
    contests.extend(rivals.iter().zip(std::iter::repeat(test.as_ref())).map(|(rival, test)| {
        let slice = move || {
            let measured = test.and_then(|test| rival.slice(|peers, of| peers.jlbh(of, test)));
            Ok(measured.map(|(run, _)| run))
        };
        Contest::new(rival.name(), slice)
    }));
    let runs = alternate(&mut contests, load.plan.runs, control)?;
    drop(contests);
    if let (None, Some(rate)) = (&test, rate) {
        let why = "they send at equal distances and whole rates";
        notes.push(format!("Other engines are not measured at {rate}/s here: {why}."));
    }
    let engines = ["fixbolt", "raw TCP"].map(str::to_owned).into_iter().chain(rivals.iter().map(Rival::name));
    let mut all = Vec::new();
    for (engine, runs) in engines.zip(runs) {
        let runs: Vec<Run> = runs.into_iter().flatten().collect();
        if let Some(rival) = rivals.iter().find(|rival| rival.name() == engine)
            && let Some(why) = rival.why_not()
        {
            let (of, planned) = (runs.len(), load.plan.runs);
            notes.push(format!("{engine} at {name}: {of} of {planned} runs were measured: {why}"));
        }
        all.push(Series::new(TEST, &engine, &name, runs).message(MESSAGE));
    }
    Ok((all, notes))
}

/// Returns what other engines' programs are asked for; `None` if they do not know such a schedule:
/// they send at equal distances and whole rates only.
fn test_of_rivals(load: &Load) -> Option<RoundTripTest> {
    let rate = load.rates.first().copied().filter(|rate| rate.fract() == 0.0)?;
    (load.arrivals == Some(Arrivals::Fixed)).then_some(RoundTripTest {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a rate of orders")]
        rate: rate as u32,
        messages: u32::try_from(load.plan.iterations).unwrap_or(u32::MAX),
        warm_up: RIVALS_WARM_UP,
        validate: true,
        dictionary: None,
    })
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
        "raw TCP: the same bytes at the same rate over loopback, without an engine. The runs of all take turns, each after a warm-up of its own.".to_owned(),
        var_log::NOTE.to_owned(),
        "parse: an order's bytes through a session without sockets, checks, validation, journal and message log included, every field read as its type. The published profile is of a tuned server, without a session.".to_owned(),
    ];
    if dropped > 0 {
        notes.push(format!("The message logs have dropped {dropped} lines: the disk did not keep up."));
    }
    notes
}

/// Adds the tables and figures of a rate: of Fixbolt, which comes first, of the floor, and of other
/// engines.
fn add(report: &mut TestReport, rate: Option<f64>, all: Vec<Series>) {
    let name = name_of(rate);
    let all: Vec<Series> = all.into_iter().filter(|series| !series.runs.is_empty()).collect();
    let [ours, others @ ..] = &all[..] else { return };
    let at = |table: &&Published| rate == Some(f64::from(table.rate));
    let published: Vec<&Published> = [&QUICKFIXJ, &CHRONICLE].into_iter().flatten().filter(at).collect();
    let kinds = [
        (TimeKind::Service, "coordinated omission not accounted for (service time)"),
        (TimeKind::Response, "coordinated omission accounted for (response time)"),
    ];
    // A closed loop has no response time.
    for (times, words) in kinds.into_iter().take(if rate.is_some() { 2 } else { 1 }) {
        let mut table = ours.table(format!("At a throughput of {name}, {words}"), times);
        table.column("var(log)", var_log::cells(ours, times));
        for other in others {
            let [figures, worst] = other.columns(&other.engine, times);
            table.column(figures.0, figures.1);
            if other.runs.len() > 1 {
                table.column(worst.0, worst.1);
            }
            table.notes.extend(other.invalid().map(|why| format!("{} is INVALID: {why}", other.engine)));
        }
        for published in &published {
            let head = format!("{}, published, another machine, 2016", published.engine);
            table.column(head, published.cells());
        }
        report.tables.push(table);
    }
    let before = report.rows.len();
    let floor = others.iter().find(|other| other.engine == "raw TCP" && other.is_valid());
    let chronicle = published.iter().find(|table| table.engine == "Chronicle FIX");
    for times in TimeKind::ALL {
        for percentile in FIGURES {
            let Some(mut row) = ours.row(times, percentile) else { continue };
            row = row.beside(floor.and_then(|floor| floor.row(times, percentile)).as_ref());
            // What was published did not account for coordinated omission.
            let published = chronicle.filter(|_| times == TimeKind::Service);
            row.published = published.and_then(|table| table.median_ns(percentile));
            report.rows.push(row);
            let rivals = others.iter().filter(|other| other.engine != "raw TCP");
            report.rows.extend(rivals.filter_map(|other| other.row(times, percentile)));
        }
    }
    if let Some(table) = report.tables.last_mut() {
        table.notes.extend(unsteady(report.rows[before..].iter()));
    }
    report.series.extend(all);
}

/// Adds what a search for the highest rate found.
fn add_search(report: &mut TestReport, bound: Bound, found: &Found) {
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
        report.rows.push(Row::of_value(TEST, MESSAGE, &operation, rate, "orders/s"));
    }
}

fn add_parse(report: &mut TestReport, name: &str, runs: Vec<Run>) {
    let series = Series::new(TEST, "fixbolt", format!("parse {name}"), runs).message(MESSAGE);
    let title =
        format!("Parsing into the data model including logging, at a throughput of {name}, service time");
    let mut table = series.table(title, TimeKind::Service);
    table.column("var(log)", var_log::cells(&series, TimeKind::Service));
    table.column("Chronicle FIX, 10,000/s to 200,000/s, published, another machine, 2016", PARSE.cells());
    report.tables.push(table);
    if let Some(mut row) = series.row(TimeKind::Service, 50.0) {
        row.published = PARSE.median_ns(50.0);
        report.rows.push(row);
    }
    report.series.push(series);
}

#[cfg(test)]
mod tests;
