//! The test of FIX Antenna C++ (samples/Benchmark/Latency2): round trips at 1,000 orders a second,
//! in six configurations, beside QuickFIX C++ with and without validation.

mod configurations;
mod messages;

use std::net::SocketAddr;

pub use self::configurations::{CONFIGURATIONS, Configuration};

use self::configurations::{PROPERTIES, PUBLISHED, QUICKFIX};
use self::messages::Antenna;
use super::exchange;
use super::open::RoundTrip;
use super::pair::{Keeping, serve};
use super::raw::{Raw, RawWaiting};
use crate::harness::{Arrivals, Control, Latencies, Monotonic, Plan, Run, Times, measure};
use crate::peers::{Peers, RoundTripTest};
use crate::results::{Row, Series, Table, TestReport};

const TEST: &str = "antenna";
/// The lines of the page's table of results, and one more percentile.
const LINES: [&str; 7] = ["Min", "Max", "Average", "50%", "95%", "99%", "99.9%"];

/// What is measured.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Settings {
    /// Orders per second.
    pub rate: u32,
    /// Orders of each configuration.
    pub messages: u32,
    /// Orders before those.
    pub warm_up: u32,
    /// The configurations.
    pub configurations: Vec<Configuration>,
    /// Where the venue runs, if not in this process.
    pub server: Option<SocketAddr>,
    /// The cores of venue and trader, where a configuration pins them.
    pub cores: Vec<usize>,
    /// The Onload profile that was asked for.
    pub onload_profile: Option<String>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            rate: 1_000,
            messages: 10_000,
            warm_up: 1_000,
            configurations: CONFIGURATIONS.to_vec(),
            server: None,
            cores: Vec::new(),
            onload_profile: None,
        }
    }
}

impl Settings {
    /// The same in less than half a minute.
    #[must_use]
    pub fn short() -> Self {
        Self { messages: 1_000, warm_up: 200, ..Self::default() }
    }
}

/// A row of the results.
struct Measured {
    /// The configuration, and what is different about this row.
    name: String,
    what: &'static str,
    series: Series,
    published: Option<[f64; 6]>,
}

/// The engine of the floors.
const RAW: &str = "raw TCP";
/// What the rows of a configuration are.
const AS_CHOSEN: &str = "validation as chosen";
const EVERYTHING: &str = "everything on";
const UNTYPED: &str = "published bytes";

/// Measures every configuration. `csv` takes the round trips of each: `latency.csv`.
///
/// # Errors
/// Returns why the measurement is worthless, or was not possible.
pub fn run(settings: &Settings, control: &Control, csv: &mut String) -> Result<TestReport, String> {
    csv.push_str("configuration,number,latency_us\n");
    let mut rows = Vec::new();
    for configuration in &settings.configurations {
        let at = CONFIGURATIONS.iter().position(|it| it == configuration);
        let published = at.map(|at| PUBLISHED[at]);
        let mut kinds = vec![(AS_CHOSEN, configuration.validates, false)];
        // The venue of another host validates as its own configuration says.
        if !configuration.validates && settings.server.is_none() {
            kinds.push((EVERYTHING, true, false));
        }
        if configuration.name == "default" && settings.server.is_none() {
            kinds.push((UNTYPED, false, true));
        }
        for (what, validates, only_published) in kinds {
            if control.is_stopped() {
                break;
            }
            let name = format!("{}, {what}", configuration.name);
            let run = one(settings, configuration, (validates, only_published), control, &name, csv)?;
            let series = Series::new(TEST, "fixbolt", &name, vec![run]);
            let published = published.filter(|_| what == AS_CHOSEN);
            rows.push(Measured { name: configuration.name.to_owned(), what, series, published });
        }
    }
    let mut notes = notes(settings);
    if settings.server.is_none() && !control.is_stopped() {
        rows.extend(floors(settings, control)?);
        rivals(settings, control, &mut rows, &mut notes);
    }
    let mut report = TestReport::new(TEST, "order out and report back at 1,000 a second, in us")
        .setting("messages", "NOS-FA, ER-FA (FIX.4.2)")
        .setting("rate", settings.rate)
        .setting("orders", settings.messages)
        .setting("warm-up", settings.warm_up)
        .setting("CPUs", std::thread::available_parallelism().map_or(1, std::num::NonZero::get));
    report.tables = vec![settings_table(&settings.configurations), results(&rows)];
    report.rows = figures(&rows, &settings.configurations);
    report.series = rows.into_iter().map(|row| row.series).collect();
    report.notes = notes;
    Ok(report)
}

/// Measures a configuration.
fn one(
    settings: &Settings,
    configuration: &Configuration,
    (validates, only_published): (bool, bool),
    control: &Control,
    name: &str,
    csv: &mut String,
) -> Result<Run, String> {
    let keeping = Keeping { validates, journals: true, logs: false };
    let layout = configuration.layout(&settings.cores);
    let mut task = RoundTrip::new(Antenna::new(only_published), layout, keeping).to(settings.server);
    let runs =
        measure(&plan(settings), &mut task, &Monotonic, control).map_err(|why| format!("{name}: {why}"))?;
    for (number, ns) in task.service_times(settings.warm_up.into()).enumerate() {
        #[expect(clippy::cast_precision_loss, reason = "times are below 2^53 ns")]
        let us = ns.map_or_else(|| "lost".to_owned(), |ns| format!("{:.3}", ns as f64 / 1e3));
        csv.push_str(&format!("\"{name}\",{number},{us}\n"));
    }
    runs.into_iter().next().ok_or_else(|| format!("{name}: interrupted before the run"))
}

/// Measures the same bytes at the same rate over raw TCP, in each way that workers wait.
fn floors(settings: &Settings, control: &Control) -> Result<Vec<Measured>, String> {
    let mut rows = Vec::new();
    for (waiting, spins) in [(RawWaiting::Epoll, false), (RawWaiting::Spin, true)] {
        if control.is_stopped() || !settings.configurations.iter().any(|it| it.spins == spins) {
            continue;
        }
        let mut raw = Raw::new(exchange::raw(&Antenna::new(false), 0)?, waiting, None, true)?;
        let runs = measure(&plan(settings), &mut raw, &Monotonic, control)?;
        let series = Series::new(TEST, RAW, waiting.name(), runs);
        rows.push(Measured { name: RAW.to_owned(), what: waiting.name(), series, published: None });
    }
    Ok(rows)
}

fn plan(settings: &Settings) -> Plan {
    Plan::open(Arrivals::Fixed, settings.rate.into())
        .warm_up(settings.warm_up.into())
        .iterations(settings.messages.into())
}

/// Runs a venue for a client on another host, until `control` stops it. `listening` is told its
/// address.
///
/// # Errors
/// Returns why it cannot run, or what went wrong.
pub fn server(
    address: SocketAddr,
    configuration: &Configuration,
    cores: &[usize],
    control: &Control,
    listening: impl FnOnce(SocketAddr),
) -> Result<u64, String> {
    let keeping = Keeping { validates: configuration.validates, journals: true, logs: false };
    serve(&Antenna::new(false), address, configuration.layout(cores), keeping, control, listening)
}

/// Adds QuickFIX C++, if its program is built.
fn rivals(settings: &Settings, control: &Control, rows: &mut Vec<Measured>, notes: &mut Vec<String>) {
    let peers = match Peers::find() {
        Ok(peers) => peers.controlled_by(control.clone()),
        Err(why) => return notes.push(format!("QuickFIX C++ was not measured: {why}")),
    };
    for (validate, published) in [false, true].into_iter().zip(QUICKFIX) {
        let Settings { rate, messages, warm_up, .. } = *settings;
        let test = RoundTripTest { rate, messages, warm_up, validate, dictionary: None };
        let what = if validate { "with validation" } else { "without validation" };
        match peers.antenna(&test) {
            Ok(measured) => {
                let times = measured.samples.iter().map(|it| Times {
                    intended: it.intended,
                    started: it.started,
                    ended: it.ended,
                });
                let run = Run::open(&times.collect::<Vec<_>>());
                let engine = format!("{} {}", measured.engine, measured.version);
                let series = Series::new(TEST, &engine, what, vec![run]);
                rows.push(Measured { name: engine, what, series, published: Some(published) });
            }
            Err(why) => notes.push(format!("QuickFIX C++ {what} was not measured: {why}")),
        }
    }
}

fn settings_table(configurations: &[Configuration]) -> Table {
    let names = configurations.iter().map(|it| it.name.to_owned());
    let columns = std::iter::once("Properties (theirs | ours)".to_owned()).chain(names);
    let mut table = Table::new("Test configurations", columns);
    let cells: Vec<_> = configurations.iter().map(Configuration::cells).collect();
    for (n, property) in PROPERTIES.iter().enumerate() {
        table.row(std::iter::once((*property).to_owned()).chain(cells.iter().map(|it| it[n].clone())));
    }
    let validation = configurations.iter().map(|it| {
        let ours = if it.validates { "everything" } else { "no dictionary" };
        format!("lost in the stored page | {ours}")
    });
    table.row(std::iter::once("Message validation parameters".to_owned()).chain(validation));
    table
}

/// Returns the figures of a run in microseconds, in the order of [`LINES`].
#[expect(clippy::cast_precision_loss, reason = "times are below 2^53 ns")]
fn micros(times: &Latencies) -> [f64; LINES.len()] {
    let at = |percentile| times.ns_at(percentile) as f64 / 1e3;
    [times.min_ns() as f64 / 1e3, at(100.0), times.mean_ns() / 1e3, at(50.0), at(95.0), at(99.0), at(99.9)]
}

fn results(rows: &[Measured]) -> Table {
    let columns = ["Configuration", "row"].into_iter().chain(LINES);
    let mut table = Table::new("RTT (microseconds)", columns);
    for row in rows {
        let Some(run) = row.series.runs.first() else { continue };
        let star = if run.invalid.is_some() { "!" } else { "" };
        let cells = micros(&run.service).map(|us| format!("{us:.1}"));
        table.row([row.name.clone(), format!("{}{star}", row.what)].into_iter().chain(cells));
        if let Some(published) = row.published {
            let cells = published.iter().map(|us| format!("{us:.1}")).chain(["-".to_owned()]);
            table
                .row([row.name.clone(), "published, two other machines".to_owned()].into_iter().chain(cells));
        }
    }
    for row in rows {
        if let Some(invalid) = row.series.runs.first().and_then(|run| run.invalid.as_ref()) {
            table.note(format!("! {}, {} is INVALID: {invalid}", row.name, row.what));
        }
    }
    table
}

fn figures(rows: &[Measured], configurations: &[Configuration]) -> Vec<Row> {
    let valid = |row: &Measured| row.series.runs.first().filter(|run| run.invalid.is_none()).cloned();
    let floor = |spins: bool| {
        let waiting = if spins { RawWaiting::Spin } else { RawWaiting::Epoll };
        rows.iter().find(|row| row.name == RAW && row.what == waiting.name()).and_then(valid)
    };
    let mut figures = Vec::new();
    for row in rows.iter().filter(|row| row.name != RAW) {
        let Some(run) = valid(row) else { continue };
        let configuration = configurations.iter().find(|it| it.name == row.name);
        let floor = configuration.and_then(|it| floor(it.spins)).map(|run| self::micros(&run.service));
        let micros = micros(&run.service);
        for (at, line) in LINES.iter().enumerate().skip(2).take(4) {
            let name = line.trim_end_matches('%');
            let name = if at == 2 { "average".to_owned() } else { format!("p{name}") };
            let operation = format!("{} {name}", row.series.name);
            let mut figure = Row::of_ns(TEST, "NOS-FA", &operation, micros[at] * 1e3);
            figure = figure.engine(&row.series.engine);
            figure.floor_ns = floor.map(|floor| floor[at] * 1e3);
            figure.published = row.published.map(|published| published[at] * 1e3);
            figures.push(figure);
        }
    }
    figures
}

fn notes(settings: &Settings) -> Vec<String> {
    let mut notes = vec![
        "From when an order is begun until its report is read by the trader (service time). Published: two hosts, 10 GbE; here, unless --client is used, one process over loopback.".to_owned(),
        "Aggressive mode (a thread for sending and one for receiving, per session) is not there: one worker a side runs instead, which spins where theirs do, and in optimized.hard, where theirs spin in the bypass stack. There are no prepared messages: each message is written anew.".to_owned(),
        "Which validation switches each configuration sets is lost in the stored page. Our choice: everything on in default and aggressive, no dictionary from balanced on; those run with everything on as well.".to_owned(),
        "ER-FA lacks fields that FIX.4.2 requires (20, 150, 39, 55, 54, 14, 6): they are added in every row but \"published bytes\".".to_owned(),
    ];
    if settings.configurations.iter().any(|it| it.onload) {
        let profile = settings.onload_profile.as_ref();
        let asked = profile.map_or_else(String::new, |profile| format!(" (profile {profile} was asked for)"));
        notes.push(format!(
            "balanced.onload and optimized.hard: there is no bypass stack in this run{asked}; the system's TCP stack was used."
        ));
    }
    notes
}

#[cfg(test)]
mod tests;
