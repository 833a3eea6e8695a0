//! Round trips: an order out and its report back in a closed loop, in each way that the engine's
//! workers wait, beside the same bytes over raw TCP in the same way.

use fixbolt::Waiting;
use fixbolt_codec::Version;

use super::closed;
use super::exchange::Exchange as _;
use super::jlbh::{Jlbh, raw_messages};
use super::layout::{Layout, cores, run_on};
use super::pair::Keeping;
use super::raw::{Raw, RawWaiting};
use crate::harness::{Contest, Control, Monotonic, Plan, Run, SLICES, alternate, carried_by, measure};
use crate::machine::Machine;
use crate::results::{Row, Series, Table, TestReport};

const TEST: &str = "rtt";
/// The percentiles that are shown; the last two are not judged on a machine with few cores.
const PERCENTILES: [f64; 5] = [50.0, 90.0, 99.0, 99.9, 100.0];

/// What is measured.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Settings {
    /// Round trips of each slice.
    pub round_trips: u64,
    /// Round trips before those, in each slice.
    pub warm_up: u64,
    /// Slices of each contestant.
    pub slices: usize,
    /// The cores for venue and trader; empty for those that suit.
    pub cores: Vec<usize>,
}

impl Default for Settings {
    fn default() -> Self {
        Self { round_trips: 5_000, warm_up: 1_000, slices: SLICES, cores: Vec::new() }
    }
}

impl Settings {
    /// The same in a fraction of the time.
    #[must_use]
    pub fn short() -> Self {
        Self { round_trips: 1_000, warm_up: 500, ..Self::default() }
    }
}

/// Measures every way of waiting in alternating slices.
///
/// # Errors
/// Returns why the measurement is worthless, or was not possible.
pub fn run(settings: &Settings, control: &Control) -> Result<TestReport, String> {
    let all = cores();
    let chosen = if settings.cores.is_empty() { all.clone() } else { settings.cores.clone() };
    let amount = (settings.warm_up, settings.round_trips);
    let keeping = Keeping { validates: true, journals: true, logs: false };
    let spinning = Layout::new(Waiting::Spinning).pinned(&chosen);
    let epoll = Layout::new(Waiting::Blocking).pinned(&chosen);
    let (layouts, wide) = ([spinning, epoll], all.as_slice());
    let raw = |waiting| move || raw_slice(waiting, spinning, amount, wide);
    let mut contests = Vec::new();
    let mut names = Vec::new();
    for layout in layouts {
        names.push(("raw TCP", layout.name()));
        contests.push(Contest::new(format!("raw TCP {}", layout.name()), raw(RawWaiting::of(layout))));
        names.push(("fixbolt", layout.name()));
        contests.push(Contest::new(format!("fixbolt {}", layout.name()), move || {
            closed::slice(&Jlbh::varying(), layout, keeping, amount)
        }));
    }
    names.push(("raw TCP", RawWaiting::Blocking.name()));
    contests.push(Contest::new("raw TCP blocking", raw(RawWaiting::Blocking)));
    control.begin("alternating slices", settings.slices as u64);
    let slices = alternate(&mut contests, settings.slices, control)?;
    drop(contests);
    let series: Vec<Series> = names
        .iter()
        .zip(slices)
        .map(|((engine, name), runs)| Series::new(TEST, engine, *name, runs))
        .collect();
    let mut report = TestReport::new(TEST, "order out and report back over loopback, in us")
        .setting("messages", format!("{} and its report, 64 in turn ({})", Jlbh::NAME, version()))
        .setting("both sides", "validate and journal")
        .setting("slices", settings.slices)
        .setting("round trips a slice", settings.round_trips)
        .setting("warm-up", settings.warm_up)
        .setting("threads", spinning.words().replace("spinning, ", ""));
    report.tables.push(table(&series));
    report.rows = rows(&series);
    report.series = series;
    report.notes = notes();
    Ok(report)
}

fn version() -> &'static str {
    let version: Version = Jlbh::VERSION;
    version.name()
}

/// Measures a slice of raw TCP: this thread and another.
fn raw_slice(
    waiting: RawWaiting,
    layout: Layout,
    (warm_up, round_trips): (u64, u64),
    all: &[usize],
) -> Result<Run, String> {
    let mut raw = Raw::new(raw_messages()?, waiting, layout.venue, false)?;
    if let Some(core) = layout.trader {
        run_on(&[core])?;
    }
    let plan = Plan::closed().warm_up(warm_up).iterations(round_trips);
    let measured = measure(&plan, &mut raw, &Monotonic, &Control::default());
    if layout.trader.is_some() {
        run_on(all)?;
    }
    measured?.into_iter().next().ok_or_else(|| "raw TCP: no run".to_owned())
}

/// Returns the median over the slices, in nanoseconds.
fn median_of_slices(series: &Series, percentile: f64) -> Option<f64> {
    if percentile < 99.9 {
        return series.median_ns(percentile);
    }
    let all = series.merged();
    (all.count() > 0).then(|| all.ns_at(percentile) as f64)
}

fn floor_of<'s>(series: &'s [Series], of: &Series) -> Option<&'s Series> {
    series.iter().find(|it| it.engine == "raw TCP" && it.name == of.name && of.engine != it.engine)
}

fn table(series: &[Series]) -> Table {
    let columns = ["waiting", "engine", "p50", "p90", "p99", "p99.9", "max", "p50 - raw", "p99 / raw"];
    let mut table = Table::new("", columns);
    for one in series {
        let us = |ns: f64| format!("{:.2}", ns / 1e3);
        let count = one.merged().count();
        let figures = PERCENTILES.map(|percentile| {
            let star = if percentile < 99.0 || carried_by(percentile, count) { "" } else { "*" };
            median_of_slices(one, percentile).map_or_else(|| "-".to_owned(), |ns| us(ns) + star)
        });
        let floor = floor_of(series, one);
        let beside = |percentile: f64, with: fn(f64, f64) -> f64, unit: fn(f64) -> String| {
            let both =
                median_of_slices(one, percentile).zip(floor.and_then(|it| median_of_slices(it, percentile)));
            both.map_or_else(|| "-".to_owned(), |(ours, raw)| unit(with(ours, raw)))
        };
        let cells = [one.name.clone(), one.engine.clone()].into_iter().chain(figures);
        table.row(cells.chain([
            beside(50.0, |ours, raw| (ours - raw) / 1e3, |us| format!("{us:.2}")),
            beside(99.0, |ours, raw| ours / raw, |ratio| format!("{ratio:.2}")),
        ]));
    }
    table.note("p50 to p99: medians of the slices; p99.9 and max: of all slices together");
    table.note("* fewer than 100 samples lie above it");
    table
}

fn rows(series: &[Series]) -> Vec<Row> {
    let ours = series.iter().filter(|one| one.engine == "fixbolt");
    let figures = ours.flat_map(|one| {
        [50.0, 99.0].into_iter().filter_map(move |percentile| {
            let ns = median_of_slices(one, percentile)?;
            let floor = floor_of(series, one).and_then(|it| median_of_slices(it, percentile));
            Some(Row::of_ns(TEST, Jlbh::NAME, &format!("{} p{percentile}", one.name), ns).floor_ns(floor))
        })
    });
    figures.collect()
}

fn notes() -> Vec<String> {
    let mut notes = vec![
        "The trader sends its next order in the callback of the last report: two threads, as in the ping-pong over raw TCP of the same bytes. Each slice has engines and connections of its own.".to_owned(),
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

    #[test]
    fn every_way_of_waiting_is_measured_beside_raw_tcp() {
        let settings = Settings { round_trips: 200, warm_up: 100, slices: 2, cores: Vec::new() };
        let report = run(&settings, &Control::default()).unwrap();
        let names: Vec<String> = report.series.iter().map(Series::key).collect();
        assert_eq!(
            names,
            [
                "rtt raw TCP spinning",
                "rtt fixbolt spinning",
                "rtt raw TCP epoll",
                "rtt fixbolt epoll",
                "rtt raw TCP blocking"
            ]
        );
        for series in &report.series {
            assert!(series.runs.len() == 2 && series.merged().count() == 400, "{}", series.key());
        }
        assert_eq!(report.tables[0].rows.len(), 5);
        let floors = report.rows.iter().map(|row| row.floor_ns);
        assert!(floors.clone().count() == 4 && floors.clone().all(|floor| floor.is_some()));
    }
}
