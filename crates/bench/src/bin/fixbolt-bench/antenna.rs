//! `fixbolt bench antenna`: FIX Antenna's round trip, in one process or in two.

use std::fmt;
use std::io::Write as _;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use fixbolt_bench::loopback::antenna::{
    self, CONFIGURATIONS, Client, Configuration, Outcome, Server, Settings,
};
use fixbolt_bench::loopback::check_cores;
use fixbolt_bench::results::TestReport;
use fixbolt_cli::address::host_and_port;
use fixbolt_cli::exit::{Answer, Failure};
use fixbolt_cli::output;
use fixbolt_workloads::harness::Control;

use super::outputs::{Outputs, measure, write};

/// Runs FIX Antenna's round trip: 10,000 orders at 1,000 a second, in six configurations.
///
/// The initiator puts a NewOrderSingle (FIX.4.2), the acceptor validates it, reads nine fields as
/// their types and answers with an ExecutionReport. A round trip is the time from just before the
/// put until the report's ClOrdID and OrderQty have been read. Both sides keep a memory-mapped
/// journal. The tables are those of the page: the settings of
///   Default, Aggressive, Balanced, Optimized.hard.spin, Balanced.onload, Optimized.hard
/// with ours below each line, and the results with the published ones beside: other machines (two
/// hosts, 10 GbE), FIX Antenna C++ 2.19. Which checks of validation each configuration makes is
/// lost there, so it is our choice: all of them in Default and Aggressive, the cheap ones from
/// Balanced on, and every such row with everything on as well. Beside them in the same run:
///   untyped    nothing validated, and the published bytes of the report, which lack required
///              fields; all other rows have them
///   raw TCP    the bytes of both messages, in the same layout of threads
///   QuickFIX   QuickFIX C++ with and without validation, if its benchmark program is built (see
///              peers/README.md; FIXBOLT_PEERS names the folder)
/// A session is on one worker. Default was published with a pool of ten threads, and has the
/// workers that --workers says: the row is named after them, and those without the session are
/// idle.
/// Where a configuration pins its workers, the thread that puts orders runs on the other cores of
/// the process; if there are none, each such figure says so.
/// Rows take turns, a slice each, with new engines and connections. Every report is checked to
/// belong to its order, and the journals to hold every message.
///
/// On two hosts, one configuration at a time, the server first; it serves one client and ends when
/// that has logged out:
///   fixbolt bench antenna --server 0.0.0.0:11013 --configuration optimized.hard --cores 2
///   fixbolt bench antenna --client HOST:11013 --configuration optimized.hard --cores 2,3
/// With Solarflare OpenOnload, start each side under it, and name the profile, which is kept with
/// the results: onload --profile=P fixbolt bench antenna ... --onload-profile P
///
/// Exit status: 0 measured; 1 a report was wrong or missing, or the two sides could not connect; 2
/// wrong usage; 130 interrupted.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
#[command(
    after_help = "Examples:\n  fixbolt bench antenna --latency-csv latency.csv\n  fixbolt bench antenna --configuration default,optimized.hard --messages 2000"
)]
pub(crate) struct Antenna {
    /// Orders per second
    #[arg(long, value_name = "N", default_value_t = 1_000, value_parser = clap::value_parser!(u32).range(1..=1_000_000), conflicts_with = "server")]
    rate: u32,
    /// Orders of each row, rounded up to whole slices
    #[arg(long, value_name = "N", default_value_t = 10_000, value_parser = clap::value_parser!(u32).range(2..=10_000_000), conflicts_with = "server")]
    messages: u32,
    /// Orders before each slice that are not measured
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = clap::value_parser!(u32).range(0..=10_000_000), conflicts_with = "server")]
    warm_up: u32,
    /// Slices of each row; between two processes there is one
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=1_000), conflicts_with_all = ["server", "client"])]
    slices: u32,
    /// Only these configurations, separated by commas; one of them between two processes [default:
    /// all, or Default]
    #[arg(long, value_name = "NAME,...", value_delimiter = ',', value_parser = configuration)]
    configuration: Vec<Configuration>,
    /// Workers of the thread pool of each side, in the configuration that has one: Default
    /// [default: 1]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=64))]
    workers: Option<u16>,
    /// Cores, counted from 0: of the acceptor's and the initiator's worker in one process; with
    /// --server of its worker; with --client of its worker and the thread that puts orders
    #[arg(long, value_name = "CORE,...", value_delimiter = ',')]
    cores: Vec<usize>,
    /// Write the times of every order to FILE as comma-separated values
    #[arg(long, value_name = "FILE", conflicts_with = "server")]
    latency_csv: Option<PathBuf>,
    /// Run the acceptor, which listens on ADDR [default: 127.0.0.1:11013]
    #[arg(long, value_name = "ADDR", num_args = 0..=1, conflicts_with = "client")]
    server: Option<Option<SocketAddr>>,
    /// Run the initiator, which connects to ADDR
    #[arg(long, value_name = "HOST:PORT")]
    client: Option<String>,
    /// What is validated between two processes: chosen, everything or nothing (with the published
    /// bytes of the report); the same on both sides
    #[arg(long, value_enum, value_name = "WHAT", default_value_t, hide_possible_values = true)]
    validation: Validation,
    /// The profile of Solarflare OpenOnload that this process was started with
    #[arg(long, value_name = "P")]
    onload_profile: Option<String>,
    /// Measure 1000 orders a row, and leave out the rows with everything on
    #[arg(long, conflicts_with_all = ["messages", "warm_up", "slices", "server", "client"])]
    short: bool,
    #[command(flatten)]
    outputs: Outputs,
}

/// What is validated, as an option.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, ValueEnum)]
enum Validation {
    #[default]
    Chosen,
    Everything,
    Nothing,
}

impl fmt::Display for Validation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(antenna::Validation::from(*self).name())
    }
}

impl From<Validation> for antenna::Validation {
    fn from(validation: Validation) -> Self {
        match validation {
            Validation::Chosen => Self::Chosen,
            Validation::Everything => Self::Everything,
            Validation::Nothing => Self::Nothing,
        }
    }
}

/// Where a server listens.
const ADDRESS: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 11_013);
/// The name that results carry.
const COMMAND: &str = "fixbolt bench antenna";

fn configuration(name: &str) -> Result<Configuration, String> {
    let names = CONFIGURATIONS.map(|it| it.name).join(", ");
    Configuration::named(name).ok_or_else(|| format!("there is no such configuration; there are {names}"))
}

/// Runs the command.
pub(super) fn run(arguments: &Antenna) -> Result<Answer, Failure> {
    match (&arguments.server, &arguments.client) {
        (Some(address), _) => serve(arguments, *address),
        (None, Some(address)) => connect(arguments, address),
        (None, None) => both(arguments),
    }
}

/// Measures the short form.
pub(super) fn short(control: &Control) -> Result<Vec<TestReport>, String> {
    Ok(vec![antenna::run(&Settings::short(), control)?.report])
}

/// Runs both sides in this process.
fn both(arguments: &Antenna) -> Result<Answer, Failure> {
    if arguments.validation != Validation::Chosen {
        return Err(Failure::usage(
            "--validation is for --server and --client: in one process all are measured",
        ));
    }
    if arguments.onload_profile.is_some() {
        return Err(Failure::usage(
            "--onload-profile is for --server and --client: in one process nothing reaches a network card",
        ));
    }
    check_cores(&arguments.cores).map_err(|wrong| Failure::usage(format!("--cores: {wrong}")))?;
    let mut settings = if arguments.short {
        Settings::short()
    } else {
        Settings {
            messages: arguments.messages,
            warm_up: arguments.warm_up,
            slices: arguments.slices,
            ..Settings::default()
        }
    };
    settings.rate = arguments.rate;
    settings.cores.clone_from(&arguments.cores);
    if !arguments.configuration.is_empty() {
        // Each once, in the order of the page.
        settings.configurations.retain(|it| arguments.configuration.contains(it));
    }
    pool(arguments, &mut settings.configurations)?;
    with_latencies(arguments, |control| antenna::run(&settings, control))
}

/// Measures, and writes the times of every order to where the options say.
fn with_latencies(
    arguments: &Antenna,
    run: impl FnOnce(&Control) -> Result<Outcome, String>,
) -> Result<Answer, Failure> {
    if let Some(path) = &arguments.latency_csv {
        if arguments.outputs.have(path) {
            let path = path.display();
            return Err(Failure::usage(format!("{path} is named for two forms of the results")));
        }
        // Before anything is measured, as with the other outputs; what is there stays.
        let open = std::fs::OpenOptions::new().append(true).create(true).open(path);
        open.map_err(|error| Failure::file("write", path, &error))?;
    }
    let mut latencies = None;
    let answer = measure(&arguments.outputs, COMMAND, |control| {
        let outcome = run(control)?;
        latencies = arguments.latency_csv.as_ref().map(|path| (path, outcome.latency_csv()));
        Ok(vec![outcome.report])
    });
    if let Some((path, text)) = latencies {
        write(path, &text)?;
    }
    answer
}

/// Gives the thread pools the workers that the options say.
fn pool(arguments: &Antenna, configurations: &mut [Configuration]) -> Result<(), Failure> {
    let Some(workers) = arguments.workers else { return Ok(()) };
    if !configurations.iter().any(Configuration::is_pooled) {
        let pooled = CONFIGURATIONS.iter().filter(|it| it.is_pooled()).map(|it| it.name);
        let pooled = pooled.collect::<Vec<_>>().join(", ");
        return Err(Failure::usage(format!(
            "--workers {workers}: only {pooled} has a thread pool; name it in --configuration, or leave --workers out"
        )));
    }
    configurations.iter_mut().for_each(|it| *it = it.with_workers(workers.into()));
    Ok(())
}

/// Returns the only configuration.
fn one(arguments: &Antenna) -> Result<Configuration, Failure> {
    let mut one = match arguments.configuration[..] {
        [] => CONFIGURATIONS[0],
        [one] => one,
        _ => return Err(Failure::usage("--configuration: between two processes there is one at a time")),
    };
    pool(arguments, std::slice::from_mut(&mut one))?;
    if arguments.workers.is_some_and(|workers| workers > 1) && !arguments.cores.is_empty() {
        return Err(Failure::usage(
            "--cores: the workers of a thread pool are not pinned; leave out --cores or --workers",
        ));
    }
    Ok(one)
}

/// Checks that the process runs with Onload if a profile is named.
fn profile(arguments: &Antenna) -> Result<Option<String>, Failure> {
    let Some(profile) = &arguments.onload_profile else { return Ok(None) };
    let preloaded = std::env::var_os("LD_PRELOAD").unwrap_or_default();
    if preloaded.to_string_lossy().contains("libonload") {
        return Ok(Some(profile.clone()));
    }
    Err(Failure::usage(format!(
        "--onload-profile {profile}: this process was not started with Onload; start it with: onload --profile={profile} {COMMAND} ..."
    )))
}

fn serve(arguments: &Antenna, address: Option<SocketAddr>) -> Result<Answer, Failure> {
    if arguments.cores.len() > 1 {
        return Err(Failure::usage("--cores: a server has one worker; name its core"));
    }
    let server = Server {
        address: address.unwrap_or(ADDRESS),
        configuration: one(arguments)?,
        validation: arguments.validation.into(),
        cores: arguments.cores.clone(),
        onload_profile: profile(arguments)?,
    };
    measure(&arguments.outputs, COMMAND, |control| {
        let report = server.run(control, |address| {
            let mut out = output::stdout();
            // Whoever reads it may have gone away.
            let _ = writeln!(out, "listening {address}").and_then(|()| out.flush());
        })?;
        Ok(vec![report])
    })
}

fn connect(arguments: &Antenna, address: &str) -> Result<Answer, Failure> {
    let (host, port) = host_and_port("--client", address, 11013)?;
    if arguments.cores.len() > 2 {
        return Err(Failure::usage("--cores: name the worker's, and that of the thread that puts orders"));
    }
    if let [worker, putting] = arguments.cores[..] {
        if worker == putting {
            return Err(Failure::usage(format!(
                "--cores: core {worker} is named twice: the worker and the thread that puts orders need one each"
            )));
        }
        check_cores(&arguments.cores).map_err(|wrong| Failure::usage(format!("--cores: {wrong}")))?;
    }
    let settings = Settings {
        rate: arguments.rate,
        messages: arguments.messages,
        warm_up: arguments.warm_up,
        ..Settings::default()
    };
    let client = Client {
        server: (host.to_owned(), port),
        configuration: one(arguments)?,
        validation: arguments.validation.into(),
        cores: arguments.cores.clone(),
        onload_profile: profile(arguments)?,
        settings,
    };
    with_latencies(arguments, |control| client.run(control))
}
