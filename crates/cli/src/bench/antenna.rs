//! `fixbolt bench antenna`: FIX Antenna's round trips, in one process or on two hosts.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Args;
use fixbolt_bench::harness::Control;
use fixbolt_bench::loopback::antenna::{CONFIGURATIONS, Configuration, Settings, run, server};
use fixbolt_bench::loopback::check_cores;
use fixbolt_bench::results::TestReport;

use super::outputs::{Outputs, measure};
use crate::exit::{Answer, Failure};

/// Measures FIX Antenna's round trips: orders at 1,000 a second, in its six configurations.
///
/// NewOrderSingle out; the venue validates it, reads nine fields as their types, and answers with
/// an ExecutionReport (FIX.4.2). The time of a round trip is from when the trader begins an order
/// until it has read the report. The configurations have their published names; a table shows what
/// each sets and what runs here instead, and another their minimum, maximum, average and
/// percentiles beside the published ones and QuickFIX C++ with and without validation, if its
/// program is built (see `peers/README.md`).
///
/// In one process over loopback, or on two hosts: `--server` there, `--client ADDR` here, with the
/// same `--configuration`. Each round trip is written to latency.csv.
///
/// Exit status: 0 measured; 1 a report was wrong; 2 wrong usage; 130 the server was interrupted.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
#[command(
    after_help = "Examples:\n  fixbolt bench antenna --short\n  fixbolt bench antenna --server 0.0.0.0:9890 --configuration optimized.hard.spin\n  fixbolt bench antenna --client 10.0.0.2:9890 --configuration optimized.hard.spin --cores 2,3"
)]
pub(crate) struct Antenna {
    /// Only this configuration: default, aggressive, balanced, optimized.hard.spin,
    /// balanced.onload or optimized.hard
    #[arg(long, value_name = "NAME", value_parser = configuration)]
    configuration: Option<Configuration>,
    /// Run the venue for a client on another host, until it is interrupted; by default in the
    /// configuration default
    #[arg(long, value_name = "ADDR", num_args = 0..=1, default_missing_value = "127.0.0.1:9890", conflicts_with_all = ["client", "messages", "rate", "short", "latency"])]
    server: Option<SocketAddr>,
    /// Measure with the venue that runs there
    #[arg(long, value_name = "ADDR", requires = "configuration")]
    client: Option<SocketAddr>,
    /// Cores of the venue and the trader, where a configuration pins them
    #[arg(long, value_name = "CORE,CORE", value_delimiter = ',')]
    cores: Vec<usize>,
    /// The Onload profile of the onload configurations, which have no bypass stack here
    #[arg(long, value_name = "PROFILE")]
    onload_profile: Option<String>,
    /// Orders of each configuration
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(2..=100_000_000))]
    messages: Option<u32>,
    /// Orders per second
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    rate: Option<u32>,
    /// Where to write each round trip
    #[arg(long, value_name = "FILE", default_value = "latency.csv")]
    latency: PathBuf,
    /// Measure a part of it, in less than half a minute
    #[arg(long)]
    short: bool,
    #[command(flatten)]
    outputs: Outputs,
}

fn configuration(name: &str) -> Result<Configuration, String> {
    CONFIGURATIONS.into_iter().find(|it| it.name == name).ok_or_else(|| {
        let names = CONFIGURATIONS.map(|it| it.name).join(", ");
        format!("there is no such configuration; there are {names}")
    })
}

/// Runs the command.
pub(super) fn antenna(arguments: &Antenna) -> Result<Answer, Failure> {
    check_cores(&arguments.cores).map_err(|wrong| Failure::usage(format!("--cores: {wrong}")))?;
    if let Some(address) = arguments.server {
        return serve(arguments, address);
    }
    let mut settings = if arguments.short { Settings::short() } else { Settings::default() };
    settings.rate = arguments.rate.unwrap_or(settings.rate);
    settings.messages = arguments.messages.unwrap_or(settings.messages);
    settings.configurations = arguments.configuration.map_or(settings.configurations, |one| vec![one]);
    settings.server = arguments.client;
    settings.cores.clone_from(&arguments.cores);
    settings.onload_profile.clone_from(&arguments.onload_profile);
    let path = &arguments.latency;
    // Before anything is measured: a directory that is missing would be noticed too late.
    let open = std::fs::OpenOptions::new().append(true).create(true).open(path);
    open.map_err(|error| Failure::file("write", path, &error))?;
    let mut csv = String::new();
    let measured = measure(&arguments.outputs, "fixbolt bench antenna", |control| {
        Ok(vec![run(&settings, control, &mut csv)?])
    });
    std::fs::write(path, csv).map_err(|error| Failure::file("write", path, &error))?;
    measured
}

/// Runs the venue.
fn serve(arguments: &Antenna, address: SocketAddr) -> Result<Answer, Failure> {
    let configuration = arguments.configuration.unwrap_or(CONFIGURATIONS[0]);
    measure(&arguments.outputs, "fixbolt bench antenna --server", |control| {
        let listening = |address| note!("listening {address} ({})", configuration.name);
        let answered = server(address, &configuration, &arguments.cores, control, listening)?;
        let mut report = TestReport::new("antenna", "the venue of a client on another host");
        report.notes.push(format!("{answered} orders were answered."));
        Ok(vec![report])
    })
}

/// The short form.
pub(super) fn short(control: &Control) -> Result<Vec<TestReport>, String> {
    Ok(vec![run(&Settings::short(), control, &mut String::new())?])
}
