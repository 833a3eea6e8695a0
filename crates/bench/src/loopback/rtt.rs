//! Round trips: an order out and its report back in a closed loop, with each kind of thread that an
//! engine's sessions run on, beside the same bytes over raw TCP with threads that wait in that way.

use std::time::Duration;

use fixbolt::Waiting;
use fixbolt_codec::{SeqNum, Version};
use fixbolt_workloads::harness::{
    Clock as _, Contest, Control, Invalid, Monotonic, PERCENTILES as ALL, Plan, Run, SLICES, again_if,
    alternate, measure,
};
use fixbolt_workloads::machine::Machine;

use super::closed;
use super::driven;
use super::exchange::{Exchange as _, raw_at};
use super::jlbh::Jlbh;
use super::layout::{Layout, cores, run_on};
use super::pair::Keeping;
use super::paths;
use super::raw::{Raw, RawWaiting, SLOWER};
use super::room;
use crate::results::{Row, Series, Table, TestReport, TimeKind, percentile_name, unsteady};

const TEST: &str = "rtt";
/// The percentiles that are shown; the last two are not judged on a machine with few cores.
const PERCENTILES: [f64; 5] = [50.0, 90.0, 99.0, 99.9, 100.0];
/// The percentiles that figures are made of.
const FIGURES: [f64; 3] = [50.0, 90.0, 99.0];

/// Rows of threads that spin, as those of raw TCP beside them do.
const SPINNING_FOR: &str = "spinning-for";
const DEDICATED: &str = "dedicated";
const DRIVEN: &str = "driven";
/// How long a worker of `spinning-for` spins before it sleeps.
const FOR: Duration = Duration::from_micros(50);

/// The ways in and out of a venue, by which there is no floor.
const PATHS: [&str; 2] = ["receive", "send"];

/// Round trips after the logon that are not counted, and those that are, where the start of a
/// journal is measured.
const START: (u64, u64) = (100, 5_000);

/// What is measured.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Settings {
    /// Round trips of each slice between threads that spin.
    pub spinning: u64,
    /// Round trips of each slice between threads that sleep, each of which takes longer.
    pub sleeping: u64,
    /// Slices of each contestant.
    pub slices: usize,
    /// The cores for venue and trader; empty for those that suit.
    pub cores: Vec<usize>,
}

impl Default for Settings {
    fn default() -> Self {
        Self { spinning: 60_000, sleeping: 15_000, slices: SLICES, cores: Vec::new() }
    }
}

impl Settings {
    /// Returns settings that take a fraction of the time of the default ones: fewer slices, which
    /// are as long.
    #[must_use]
    pub fn short() -> Self {
        Self { slices: 4, ..Self::default() }
    }

    /// Returns how many round trips a slice has, after how many that are not counted: enough for a
    /// journal to have grown out of its first, small segments.
    const fn amount(&self, spins: bool) -> (u64, u64) {
        let round_trips = if spins { self.spinning } else { self.sleeping };
        (round_trips / 3, round_trips)
    }

    /// Returns the amount of a slice that measures the start of a journal, its first segments
    /// included.
    fn start(&self) -> (u64, u64) {
        (START.0.min(self.spinning), START.1.min(self.spinning))
    }

    /// Checks, before anything is measured, whether there is room for the journals of a slice.
    ///
    /// # Errors
    /// Returns what is missing, and what to do.
    pub fn check(&self) -> Result<(), String> {
        let (before, round_trips) = self.amount(self.spinning >= self.sleeping);
        room::for_journals(before.saturating_add(round_trips).saturating_mul(2))
    }
}

/// Measures a slice between two engines.
type Slice = fn(&Jlbh, Layout, Keeping, (u64, u64), &Control) -> Result<Run, String>;

/// Measures every kind of thread in alternating slices.
///
/// # Errors
/// Returns why the measurement is worthless, or was not possible.
pub fn run(settings: &Settings, control: &Control) -> Result<TestReport, String> {
    settings.check()?;
    let chosen = if settings.cores.is_empty() { cores() } else { settings.cores.clone() };
    let keeping = Keeping { validates: true, journals: true, logs: false };
    let spinning = Layout::new(Waiting::Spinning).pinned(&chosen);
    let epoll = Layout::new(Waiting::Blocking).pinned(&chosen);
    let amount = |layout: Layout| settings.amount(layout.waiting == Waiting::Spinning);
    let raw = |waiting, amount| move || raw_slice(waiting, spinning, amount, control).map(|run| vec![run]);
    let mut contests = Vec::new();
    let mut names: Vec<Vec<(&str, &'static str)>> = Vec::new();
    for layout in [spinning, epoll] {
        names.push(vec![("raw TCP", layout.name())]);
        let floor = raw(RawWaiting::of(layout), amount(layout));
        contests.push(Contest::new(format!("raw TCP {}", layout.name()), floor));
        names.push(vec![("fixbolt", layout.name())]);
        contests.push(Contest::new(format!("fixbolt {}", layout.name()), move || {
            closed::slice(&Jlbh::varying(), layout, keeping, amount(layout), control).map(|run| vec![run])
        }));
    }
    let briefly = Layout { waiting: Waiting::SpinningFor(FOR), ..spinning };
    for (name, layout, slice) in [
        (SPINNING_FOR, briefly, closed::slice as Slice),
        (DEDICATED, spinning, closed::dedicated_slice),
        (DRIVEN, spinning, driven::slice),
    ] {
        names.push(vec![("fixbolt", name)]);
        contests.push(Contest::new(format!("fixbolt {name}"), move || {
            slice(&Jlbh::varying(), layout, keeping, amount(spinning), control).map(|run| vec![run])
        }));
    }
    names.push(vec![("fixbolt", "spinning start")]);
    contests.push(Contest::new("fixbolt spinning start", || {
        closed::slice(&Jlbh::varying(), spinning, keeping, settings.start(), control).map(|run| vec![run])
    }));
    names.push(vec![("raw TCP", RawWaiting::Blocking.name())]);
    contests.push(Contest::new("raw TCP blocking", raw(RawWaiting::Blocking, amount(epoll))));
    names.push(PATHS.map(|name| ("fixbolt", name)).to_vec());
    contests.push(Contest::new("fixbolt receive and send", || {
        paths::slice(&Jlbh::varying(), spinning, keeping, amount(spinning), control).map(Vec::from)
    }));
    let measure = || -> Result<Vec<Series>, String> {
        control.begin("alternating slices", settings.slices as u64);
        let slices = whole(alternate(&mut contests, settings.slices, control)?);
        let mut series = Vec::new();
        for (names, slices) in names.iter().zip(slices) {
            for (at, (engine, name)) in names.iter().enumerate() {
                let runs = slices.iter().map(|runs| runs[at].clone()).collect();
                series.push(Series::new(TEST, engine, *name, runs).message(Jlbh::NAME).in_slices());
            }
        }
        Ok(series)
    };
    let is_unsteady = |series: &Vec<Series>| {
        series.iter().filter_map(|one| floor_of(series, one)).any(|floor| floor.is_unsteady(&FIGURES))
    };
    let series = again_if(is_unsteady, control, measure)?;
    let mut report = TestReport::new(TEST, "order out and report back over loopback, in us")
        .setting("messages", format!("{} and its report, 64 in turn ({})", Jlbh::NAME, version()))
        .setting("both sides", "validate and journal")
        .setting("slices", settings.slices)
        .setting("round trips a slice, spinning", settings.spinning)
        .setting("round trips a slice, sleeping", settings.sleeping)
        .setting("warm-up", "a third of them")
        .setting("threads", spinning.words().replace("spinning, ", ""));
    let (of_paths, trips): (Vec<Series>, Vec<Series>) =
        series.iter().cloned().partition(|one| PATHS.contains(&one.name.as_str()));
    report.tables = vec![table(&trips), table_of_paths(&of_paths)];
    report.rows = rows(&series);
    report.series = series;
    report.notes = notes();
    Ok(report)
}

fn version() -> &'static str {
    let version: Version = Jlbh::VERSION;
    version.name()
}

/// Returns the slices without a round that was interrupted: it can only be the last one.
fn whole(mut slices: Vec<Vec<Vec<Run>>>) -> Vec<Vec<Vec<Run>>> {
    let interrupted = |run: &Run| run.invalid == Some(Invalid::Interrupted);
    if slices.iter().filter_map(|slices| slices.last()).flatten().any(interrupted) {
        slices.iter_mut().for_each(|runs| drop(runs.pop()));
    }
    slices
}

/// Measures a slice of raw TCP: two threads, which end with it and keep no core.
fn raw_slice(
    waiting: RawWaiting,
    layout: Layout,
    (warm_up, round_trips): (u64, u64),
    control: &Control,
) -> Result<Run, String> {
    // An order from the middle: of as many bytes as most. The first MsgSeqNum is the Logon's.
    let number = warm_up + round_trips / 2;
    let messages = raw_at(&Jlbh::varying(), SeqNum(number + 2), (number, Monotonic.now()))?;
    let plan = Plan::closed().warm_up(warm_up).iterations(round_trips);
    let client = || {
        let this = Control::default();
        let mut raw = Raw::new(messages, waiting, layout.venue, false)?.ending_with(control, &this);
        if let Some(core) = layout.trader {
            run_on(&[core])?;
        }
        measure(&plan, &mut raw, &Monotonic, &this)
    };
    let runs = std::thread::scope(|scope| scope.spawn(client).join());
    let runs = runs.map_err(|_| "raw TCP: a thread has died")??;
    // There is none if the warm-up was interrupted.
    let interrupted = || Run { invalid: Some(Invalid::Interrupted), ..Run::closed(&[]) };
    Ok(runs.into_iter().next().unwrap_or_else(interrupted))
}

/// A closed loop has no others.
const TIMES: TimeKind = TimeKind::Service;

fn floor_of<'s>(series: &'s [Series], of: &Series) -> Option<&'s Series> {
    let waiting = match of.name.as_str() {
        SPINNING_FOR | DEDICATED | DRIVEN => RawWaiting::Spin.name(),
        name => name,
    };
    series.iter().find(|it| it.engine == "raw TCP" && it.name == waiting && of.engine != it.engine)
}

/// Returns a figure beside its floor.
fn figure(series: &[Series], one: &Series, percentile: f64) -> Option<Row> {
    let floor = floor_of(series, one).and_then(|floor| floor.row(TIMES, percentile));
    Some(one.row(TIMES, percentile)?.beside(floor.as_ref()))
}

fn table(series: &[Series]) -> Table {
    let columns = [
        "waiting",
        "engine",
        "p50",
        "p90",
        "p99",
        "p99.9",
        "worst",
        "p50 - raw",
        "p99 / raw",
        "p99 worst slice",
    ];
    let mut table = Table::new("", columns);
    let us = |ns: f64| format!("{:.2}", ns / 1e3);
    let unknown = || "-".to_owned();
    for one in series {
        let figures = PERCENTILES
            .map(|percentile| figure(series, one, percentile).map_or_else(unknown, |row| row.micros(2)));
        let floor = floor_of(series, one);
        let beside = |percentile: f64, with: fn(f64, f64) -> f64| {
            let ns = |series: &Series| series.row(TIMES, percentile)?.ns;
            let both = ns(one).zip(floor.and_then(ns));
            both.map_or_else(unknown, |(ours, raw)| format!("{:.2}", with(ours, raw)))
        };
        let worst = one.row(TIMES, 99.0).and_then(|row| row.worst);
        let cells = [one.name.clone(), one.engine.clone()].into_iter().chain(figures);
        table.row(cells.chain([
            beside(50.0, |ours, raw| (ours - raw) / 1e3),
            beside(99.0, |ours, raw| ours / raw),
            worst.map_or_else(unknown, us),
        ]));
    }
    table.note("p50 to p99: medians of the slices; p99.9 and worst: of all slices together");
    if table.rows.iter().flatten().any(|cell| cell.ends_with('*')) {
        table.note("* fewer than 100 samples lie above it");
    }
    table.notes.extend(unsteady(rows(series).iter()));
    let is_slower = |row: &Row| row.floor_ns.is_some_and(|floor| floor > row.figure().0);
    if rows(series).iter().any(is_slower) {
        table.note(SLOWER);
    }
    table
}

/// Returns the table of the ways in and out.
fn table_of_paths(series: &[Series]) -> Table {
    let columns = ALL.map(percentile_name).into_iter();
    let mut table = Table::new(
        "The venue's worker, spinning, by itself",
        std::iter::once("path".to_owned()).chain(columns).chain(["p99 worst slice".to_owned()]),
    );
    let unknown = || "-".to_owned();
    for one in series {
        let figures =
            ALL.map(|percentile| one.row(TIMES, percentile).map_or_else(unknown, |row| row.micros(2)));
        let worst = one.row(TIMES, 99.0).and_then(|row| row.worst);
        let worst = worst.map_or_else(unknown, |ns| format!("{:.2}", ns / 1e3));
        table.row(std::iter::once(one.name.clone()).chain(figures).chain([worst]));
    }
    table.note("receive: from the beginning of the cycle that reads an order until the application has it: read from the socket, checked, validated");
    table.note("send: from there until that cycle ends: the application's reads, the report written, both in the journal, the report taken by the system");
    table.note("What waits before the cycle begins is in the round trip, and in neither of these.");
    table
}

fn rows(series: &[Series]) -> Vec<Row> {
    let ours = series.iter().filter(|one| one.engine == "fixbolt");
    let figures = ours.flat_map(|one| {
        let percentiles = if PATHS.contains(&one.name.as_str()) { ALL.as_slice() } else { &FIGURES };
        percentiles.iter().filter_map(move |percentile| figure(series, one, *percentile))
    });
    figures.collect()
}

fn notes() -> Vec<String> {
    let mut notes = vec![
        "The trader sends its next order in the callback of the last report: two threads, as in the ping-pong over raw TCP, of an order from the middle and its report. Each slice has engines, connections and journals of its own, and is at least half a second long: a journal's first segments are small and grow, and would be most of a shorter one. spinning start is those: the first 5,000 round trips after the logon.".to_owned(),
    ];
    let machine = Machine::here();
    let isolated = machine.isolated_processors();
    if isolated < 4 {
        notes.push(format!(
            "p99.9 and max are shown and not judged: this machine has {isolated} isolated cores, fewer than four."
        ));
    }
    if machine.processors < 2 {
        notes.push("There is one core only: threads that spin take turns on it.".to_owned());
    }
    notes
}

#[cfg(test)]
mod tests {
    use super::*;
    use fixbolt_workloads::harness::Times;

    #[test]
    fn every_kind_of_thread_is_measured_beside_raw_tcp() {
        let settings = Settings { spinning: 200, sleeping: 200, slices: 2, cores: Vec::new() };
        let report = run(&settings, &Control::default()).unwrap();
        let names: Vec<String> = report.series.iter().map(Series::key).collect();
        assert_eq!(
            names,
            [
                "rtt raw TCP NOS-JLBH spinning",
                "rtt fixbolt NOS-JLBH spinning",
                "rtt raw TCP NOS-JLBH epoll",
                "rtt fixbolt NOS-JLBH epoll",
                "rtt fixbolt NOS-JLBH spinning-for",
                "rtt fixbolt NOS-JLBH dedicated",
                "rtt fixbolt NOS-JLBH driven",
                "rtt fixbolt NOS-JLBH spinning start",
                "rtt raw TCP NOS-JLBH blocking",
                "rtt fixbolt NOS-JLBH receive",
                "rtt fixbolt NOS-JLBH send"
            ]
        );
        for series in &report.series {
            assert!(series.runs.len() == 2 && series.merged(TIMES).count() == 400, "{}", series.key());
        }
        assert_eq!(report.tables[0].rows.len(), 9);
        // 400 samples carry a median, and no 90th percentile.
        assert!(report.tables[0].rows.iter().all(|row| !row[2].ends_with('*') && row[3].ends_with('*')));
        let floors: Vec<bool> = report.rows.iter().map(|row| row.floor_ns.is_some()).collect();
        // Raw TCP has no journal that starts, and no application that gets a message on the way.
        assert_eq!(floors, [[true; 15].as_slice(), &[false; 3], &[false; 12]].concat());
        let paths: Vec<&str> = report.tables[1].rows.iter().map(|row| row[0].as_str()).collect();
        assert_eq!(paths, PATHS);
        assert_eq!(report.tables[1].columns[1..7], ["p50", "p90", "p99", "p99.9", "p99.99", "worst"]);
    }

    #[test]
    fn a_floor_that_is_slower_is_explained_below_the_table() {
        let of = |engine: &str, name: &str, ns: u64| {
            let times = (0..100).map(|n| times_of(n * 1_000_000, ns));
            Series::new(TEST, engine, name, vec![Run::closed(&times.collect::<Vec<_>>())])
        };
        let explained = |raw, ours| {
            let table = table(&[of("raw TCP", "epoll", raw), of("fixbolt", "epoll", ours)]);
            table.notes.iter().any(|note| note == SLOWER)
        };
        assert!(explained(30_000, 29_000) && !explained(29_000, 30_000));
    }

    const fn times_of(started: u64, ns: u64) -> Times {
        Times { intended: started, started, ended: Some(started + ns) }
    }

    #[test]
    fn an_interrupt_ends_a_slice_that_would_take_long_and_its_round_counts_for_nothing() {
        let settings = Settings { spinning: 3_000_000, sleeping: 3_000_000, slices: 1, cores: Vec::new() };
        let control = Control::default();
        let report = std::thread::scope(|scope| {
            scope.spawn(|| {
                std::thread::sleep(std::time::Duration::from_millis(500));
                control.stop();
            });
            run(&settings, &control).unwrap()
        });
        assert!(report.rows.is_empty() && report.series.iter().all(|series| series.runs.is_empty()));
    }

    #[test]
    fn both_engines_end_with_an_interrupted_slice_and_have_kept_what_was_exchanged() {
        let keeping = Keeping { validates: true, journals: true, logs: false };
        let slices = [closed::slice as Slice, closed::dedicated_slice, driven::slice];
        for (slice, warm_up) in slices.into_iter().flat_map(|slice| [(slice, 10), (slice, 3_000_000)]) {
            let control = Control::default();
            let measured = std::thread::scope(|scope| {
                scope.spawn(|| {
                    std::thread::sleep(std::time::Duration::from_millis(300));
                    control.stop();
                });
                slice(&Jlbh::varying(), Layout::default(), keeping, (warm_up, 3_000_000), &control)
            });
            let run = measured.unwrap();
            assert_eq!(run.invalid, Some(Invalid::Interrupted));
            assert_eq!(run.service.count() > 0, warm_up == 10);
            let whole = whole(vec![vec![vec![Run::closed(&[])]], vec![vec![run]]]);
            assert!(whole.len() == 2 && whole.iter().all(Vec::is_empty));
        }
    }

    #[test]
    fn a_slice_of_raw_tcp_leaves_the_thread_that_asks_for_it_on_its_cores() {
        let cores = || std::thread::available_parallelism().unwrap();
        let (before, layout) = (cores(), Layout::new(Waiting::Blocking).pinned(&super::cores()));
        let run = raw_slice(RawWaiting::Blocking, layout, (1, 5), &Control::default()).unwrap();
        assert_eq!((run.service.count(), run.invalid, cores()), (5, None, before));
    }
}
