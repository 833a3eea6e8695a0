//! FIX Antenna's round trip: an order out and its report back at 1,000 a second, in the six
//! configurations of its page, beside raw TCP and QuickFIX C++.

mod apart;
mod configurations;
mod messages;
mod prepared;
mod sides;
mod table;
mod trip;

#[cfg(test)]
mod tests;

use std::fmt::Write as _;

use fixbolt_workloads::harness::{
    Arrivals, Contest, Control, Monotonic, Plan, Run, Times, Waiting, again_if, alternate, measure,
};

pub use self::apart::{Client, Server};
pub use self::configurations::{CONFIGURATIONS, Configuration};
pub use self::sides::Validation;

use self::messages::raw;
use self::sides::Setup;
use self::trip::Trip;
use crate::loopback::layout::{Layout, OnCores, allowed, cores};
use crate::loopback::raw::{Raw, RawWaiting};
use crate::loopback::rival::Rival;
use crate::peers::{Program, RoundTripTest};
use crate::results::{Series, TestReport};

const TEST: &str = "antenna";
const MESSAGE: &str = "NOS-FA";
const TITLE: &str = "FIX Antenna's round trip: an order out and its report back at a fixed rate, in us";
const QUICKFIX: &str = "QuickFIX C++";
const RAW: &str = "raw TCP";

/// What is measured.
#[derive(Clone, PartialEq, Debug)]
pub struct Settings {
    /// Orders per second.
    pub rate: u32,
    /// Orders of each row, in all slices together.
    pub messages: u32,
    /// Orders before those, in each slice, at the same rate.
    pub warm_up: u32,
    /// Slices of each row, which take turns.
    pub slices: u32,
    /// The configurations.
    pub configurations: Vec<Configuration>,
    /// Whether configurations that leave checks out are measured with everything on as well.
    pub with_everything: bool,
    /// The cores for the workers of venue and trader; empty for those that suit.
    pub cores: Vec<usize>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            rate: 1_000,
            messages: 10_000,
            warm_up: 200,
            slices: 10,
            configurations: CONFIGURATIONS.to_vec(),
            with_everything: true,
            cores: Vec::new(),
        }
    }
}

impl Settings {
    /// The main rows with fewer messages: less than a minute.
    #[must_use]
    pub fn short() -> Self {
        Self { messages: 1_000, warm_up: 100, slices: 2, with_everything: false, ..Self::default() }
    }

    /// Returns how many workers the thread pool has.
    fn workers(&self) -> usize {
        self.configurations.iter().map(|it| it.workers).max().unwrap_or(1)
    }

    /// Returns the number of orders of a slice.
    const fn of_a_slice(&self) -> u32 {
        self.messages.div_ceil(self.slices)
    }

    fn plan(&self) -> Plan {
        let plan = Plan::open(Arrivals::Fixed, self.rate.into());
        plan.warm_up(self.warm_up.into()).iterations(self.of_a_slice().into()).waiting(pacing())
    }
}

/// Returns how the thread waits that puts orders: as the published one it polls the clock, if there
/// is a core for it.
fn pacing() -> Waiting {
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    if cores >= 4 { Waiting::Spin } else { Waiting::Sleep }
}

const fn pacing_words(waiting: Waiting) -> &'static str {
    match waiting {
        Waiting::Spin => "polling the clock",
        Waiting::Sleep => "sleep, then polling",
    }
}

/// The results, and the times of every order.
#[derive(Debug)]
pub struct Outcome {
    /// The results.
    pub report: TestReport,
    /// The times of each row's slices.
    times: Vec<(String, Vec<Vec<Times>>)>,
}

impl Outcome {
    /// Returns the times of every order as comma-separated values, a line each: nanoseconds of the
    /// system's monotonic clock, and the round trip from the put to the parsed report.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "times are below 2^53 ns")]
    pub fn latency_csv(&self) -> String {
        let mut text = "row,slice,message,due_ns,put_ns,parsed_ns,rtt_us\n".to_owned();
        for (row, slices) in &self.times {
            for (slice, times) in slices.iter().enumerate() {
                for (n, Times { intended, started, ended }) in times.iter().enumerate() {
                    let _ = write!(text, "{row},{},{n},{intended},{started},", slice + 1);
                    let _ = match ended {
                        Some(ended) => {
                            writeln!(text, "{ended},{:.3}", ended.saturating_sub(*started) as f64 / 1e3)
                        }
                        None => writeln!(text, ","),
                    };
                }
            }
        }
        text
    }
}

/// What a row measures.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Subject {
    Raw(Layout),
    Fixbolt(Setup),
    /// With validation or without.
    QuickFix(bool),
}

impl Subject {
    fn engine(&self) -> &'static str {
        match self {
            Self::Raw(_) => RAW,
            Self::Fixbolt(_) => "fixbolt",
            Self::QuickFix(_) => QUICKFIX,
        }
    }

    /// Returns how its workers are placed. Nobody places those of another engine.
    fn layout(&self) -> Layout {
        match self {
            Self::Raw(layout) | Self::Fixbolt(Setup { layout, .. }) => *layout,
            Self::QuickFix(_) => Layout::default(),
        }
    }

    const fn validates(&self) -> bool {
        matches!(self, Self::QuickFix(true))
    }

    fn name(&self) -> String {
        match self {
            Self::Raw(layout) => layout.words().replace(',', ""),
            Self::Fixbolt(Setup { configuration, validation, .. }) => match validation {
                Validation::Chosen => configuration.row(),
                Validation::Everything => format!("{} everything on", configuration.row()),
                Validation::Nothing => format!("{} untyped", configuration.row()),
            },
            Self::QuickFix(true) => "validation".to_owned(),
            Self::QuickFix(false) => "no validation".to_owned(),
        }
    }
}

/// A row: what it measures, and its slices.
struct Measured {
    subject: Subject,
    series: Series,
}

/// A slice: its run, and the times of its orders.
type Slice = (Run, Vec<Times>);

/// Measures every row, in slices that take turns.
///
/// # Errors
/// Returns why the measurement is worthless, or was not possible.
pub fn run(settings: &Settings, control: &Control) -> Result<Outcome, String> {
    let chosen = if settings.cores.is_empty() { cores() } else { settings.cores.clone() };
    let all = allowed();
    // It fails with validation or without, and is measured in the other way then.
    let [(without, why_not), (with, _)] = [(); 2].map(|()| Rival::find(&[Program::QuickfixCpp], control));
    let subjects = subjects(settings, &chosen, !with.is_empty());
    let plan = settings.plan();
    let quickfix = |validates: bool| if validates { with.first() } else { without.first() };
    let mut contests: Vec<Contest<'_, Option<Slice>>> = subjects
        .iter()
        .map(|subject| {
            let (plan, all, name) = (&plan, &all, format!("{} {}", subject.engine(), subject.name()));
            Contest::new(name, move || {
                // Before the engines start: their other threads keep off the workers' cores, too.
                let _apart = OnCores::pin(&subject.layout().free(all), all)?;
                slice(*subject, plan, settings, quickfix(subject.validates()), control)
            })
        })
        .collect();
    let is_unsteady = |slices: &Vec<Vec<Option<Slice>>>| {
        let of_raw = subjects.iter().zip(slices).filter(|(subject, _)| matches!(subject, Subject::Raw(_)));
        of_raw.into_iter().any(|(subject, slices)| {
            let runs = slices.iter().flatten().map(|(run, _)| run.clone()).collect();
            Series::new(TEST, subject.engine(), subject.name(), runs).is_unsteady(&table::FIGURES)
        })
    };
    let measure = || alternate(&mut contests, settings.slices as usize, control);
    let slices = again_if(is_unsteady, control, measure)?;
    drop(contests);
    let mut report = described(settings, why_not);
    let mut measured = Vec::new();
    let mut times = Vec::new();
    for (subject, slices) in subjects.iter().zip(slices) {
        let name = format!("{} {}", subject.engine(), subject.name());
        let (runs, of_orders): (Vec<Run>, Vec<Vec<Times>>) = slices.into_iter().flatten().unzip();
        if let Subject::QuickFix(validates) = *subject
            && let Some(why) = quickfix(validates).and_then(Rival::why_not)
        {
            let (of, all) = (runs.len(), settings.slices);
            report.notes.push(format!("{name}: {of} of {all} slices were measured: {why}"));
        }
        if runs.is_empty() {
            continue;
        }
        times.push((name, of_orders));
        let series = Series::new(TEST, subject.engine(), subject.name(), runs).message(MESSAGE).in_slices();
        measured.push(Measured { subject: *subject, series });
    }
    report.tables = table::tables(&measured, settings, &chosen);
    report.rows = table::rows(&measured, &all);
    let words = quickfix(false).and_then(Rival::words).or_else(|| quickfix(true).and_then(Rival::words));
    report.notes.extend(words.map(|words| format!("{words}; both sides in a process of their own.")));
    report.notes.extend(table::notes(&measured, &all));
    report.series = measured.into_iter().map(|it| it.series).collect();
    Ok(Outcome { report, times })
}

/// Returns the report without results.
fn described(settings: &Settings, why_not: Vec<String>) -> TestReport {
    let orders = settings.of_a_slice() * settings.slices;
    let mut report = TestReport::new(TEST, TITLE)
        .setting("messages", "NOS-FA, ER-FA (FIX.4.2)")
        .setting("rate", settings.rate)
        .setting("orders a row", orders)
        .setting("slices", settings.slices)
        .setting("warm-up a slice", settings.warm_up)
        .setting("workers of a pool", settings.workers())
        .setting("pacing", pacing_words(pacing()))
        .setting("hosts", "one process, loopback");
    report.notes = vec![
        "Round trips count from just before an order is put into its session's queue until its report's ClOrdID and OrderQty have been read, as published; response times, which count from when an order was due, are in the other outputs.".to_owned(),
        format!("Published: {}. Loopback has no wire and no switch, and both sides share one machine here: the columns cannot be compared directly.", configurations::ELSEWHERE),
        "The published report (11 44 38 60 17 37 151) lacks fields that FIX.4.2 requires; it has them here, except in untyped, where nothing is validated and it has the published fields only.".to_owned(),
        "raw TCP: the bytes of an order and its completed report, written by the thread that puts orders, answered by one thread and read by another.".to_owned(),
    ];
    if !settings.with_everything {
        report.notes.push("The rows with everything on were left out.".to_owned());
    }
    report.notes.extend(why_not);
    report
}

/// Returns what is measured, in the order of the turns.
fn subjects(settings: &Settings, cores: &[usize], has_quickfix: bool) -> Vec<Subject> {
    let mut subjects = Vec::new();
    for configuration in &settings.configurations {
        let layout = Subject::Raw(configuration.layout(cores));
        if !subjects.contains(&layout) {
            subjects.push(layout);
        }
    }
    let setup = |configuration: Configuration, validation| {
        let layout = configuration.layout(cores);
        Subject::Fixbolt(Setup { configuration, validation, layout })
    };
    for configuration in &settings.configurations {
        subjects.push(setup(*configuration, Validation::Chosen));
        if settings.with_everything && configuration.is_lean {
            subjects.push(setup(*configuration, Validation::Everything));
        }
    }
    subjects.extend(settings.configurations.first().map(|first| setup(*first, Validation::Nothing)));
    if has_quickfix {
        subjects.extend([Subject::QuickFix(false), Subject::QuickFix(true)]);
    }
    subjects
}

/// Measures a slice of a row; `None` if another engine's program has failed.
fn slice(
    subject: Subject,
    plan: &Plan,
    settings: &Settings,
    quickfix: Option<&Rival>,
    control: &Control,
) -> Result<Option<Slice>, String> {
    let only = |runs: Vec<Run>| runs.into_iter().next().ok_or_else(|| "no run".to_owned());
    match subject {
        Subject::Fixbolt(setup) => {
            let mut trip = Trip::new(setup, plan.warm_up + plan.iterations);
            let run = only(measure(plan, &mut trip, &Monotonic, control)?)?;
            Ok(Some((run, trip.times(plan.warm_up))))
        }
        Subject::Raw(layout) => {
            let bytes = raw(Validation::Chosen.fields())?;
            let raw = Raw::new(bytes, RawWaiting::of(layout), layout.venue, true)?;
            let mut raw = raw.reading_on(layout.trader);
            Ok(Some((only(measure(plan, &mut raw, &Monotonic, control)?)?, Vec::new())))
        }
        Subject::QuickFix(validate) => {
            let test = RoundTripTest {
                rate: settings.rate,
                messages: settings.of_a_slice(),
                warm_up: settings.warm_up,
                validate,
                dictionary: None,
            };
            Ok(quickfix.and_then(|rival| rival.slice(|peers, _| peers.antenna(&test))))
        }
    }
}
