//! `fixbolt bench hftest`: Fix8's preload test, in one process or in two.

mod client;
mod keys;
mod listener;
mod log;
mod server;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, Sender, channel};

use clap::Args;
use fixbolt::config::Configuration;
use fixbolt_bench::hftest::{self, CLIENT, Outcome, SERVER, configuration, memory_warning, set_address};
use fixbolt_bench::results::TestReport;
use fixbolt_cli::address::host_and_port;
use fixbolt_cli::exit::{Answer, Failure};
use fixbolt_cli::log::{Log, Warning};
use fixbolt_cli::note;
use fixbolt_cli::output;
use fixbolt_workloads::harness::Control;
use fixbolt_workloads::memory::available_memory;

use super::outputs::{Outputs, measure};

/// Runs Fix8's preload test: times what both sides encode and decode.
///
/// A client preloads NewOrderSingles (FIX.4.2, fill-or-kill buys, random quantity 1 to 10000,
/// random price 1.0 to 500.0) and sends all of them. A server answers each with a random reject,
/// cancel or confirmation, and a confirmation with one to six fills: about 3.9 reports an order.
/// Every report is checked, and an order without its last report is an error.
///
/// Without -s, -l and --client both sides run in this process, after a rehearsal with a few orders.
/// In two terminals, as published:
///   fixbolt bench hftest -sl server
///   fixbolt bench hftest -l client -p 500000
/// The client then has a menu; press ? for its keys, a to send the preloaded orders, l to log out.
/// Keys may come from a pipe, too. Both sides write their log to the file that -l names, with a
/// line for what they encoded and one for what they decoded, and print the published tables with
/// their figures. The client shows its log on the screen as well: the page's lines on the
/// connection. The server runs until ^C.
///
/// Encode and decode are the totals of CodecTiming=Y. An order is preloaded as values and encoded
/// when it is sent, since Fixbolt builds no message object. LastCapacity is 4, not 5 as published:
/// FIX.4.2 has no 5, and both sides validate everything. Messages are kept in memory; sequence
/// numbers begin at 1 with each logon. With FileLogPath in a configuration, `fixbolt print --style
/// hfprint` shows the messages as they are published.
///
/// Exit status: 0 every order got its reports; 1 a report was wrong or missing; 2 wrong usage; 3 no
/// connection, or it was lost; 130 interrupted. A server ends with 0 if a client logged on.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
#[command(
    after_help = "Examples:\n  fixbolt bench hftest\n  fixbolt bench hftest -p 100000 -o json\n  fixbolt bench hftest -s --listen 0.0.0.0:11002\n  fixbolt bench hftest --client 10.1.1.7:11002 -r\n  printf a | fixbolt bench hftest -l client -p 1000"
)]
pub(crate) struct Hftest {
    /// Run the server
    #[arg(short, long)]
    server: bool,
    /// Run the client, which connects to HOST:PORT [default: 127.0.0.1:11002]
    #[arg(long, value_name = "HOST:PORT", num_args = 0..=1, conflicts_with = "server")]
    client: Option<Option<String>>,
    /// Where the server listens [default: 127.0.0.1:11002]
    #[arg(long, value_name = "ADDR", requires = "server")]
    listen: Option<SocketAddr>,
    /// Append the log to FILE; without -s this runs the client
    #[arg(short, long, value_name = "FILE")]
    log: Option<PathBuf>,
    /// Orders to preload
    #[arg(short, long, value_name = "N", default_value_t = 500_000, value_parser = clap::value_parser!(u32).range(0..=100_000_000), conflicts_with = "server")]
    preload: u32,
    /// Reliable mode: the client connects again if the connection is lost, and sends again what has
    /// no last report
    #[arg(short, long, conflicts_with = "server")]
    reliable: bool,
    /// Send N orders at a time: the next ones follow when all of these have their last report
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..), conflicts_with = "server")]
    batch: Option<u32>,
    /// End the server when its first client has logged out
    #[arg(long, requires = "server")]
    once: bool,
    /// A configuration with the side's session, instead of the supplied one; needs -s, -l or
    /// --client
    #[arg(short, long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Print the supplied configuration of the client, or with -s of the server, and end
    #[arg(long)]
    print_config: bool,
    /// Seed of the orders, and of the server's answers
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,
    /// Preload 200000 orders only
    #[arg(long, conflicts_with_all = ["preload", "server", "client", "log"])]
    short: bool,
    #[command(flatten)]
    outputs: Outputs,
}

/// The number of orders with `--short`.
const SHORT: u32 = 200_000;
/// The name that results carry.
const COMMAND: &str = "fixbolt bench hftest";

/// Runs the command.
pub(super) fn run(arguments: &Hftest) -> Result<Answer, Failure> {
    use std::io::Write as _;
    let is_client = !arguments.server && (arguments.client.is_some() || arguments.log.is_some());
    if arguments.print_config {
        let mut out = output::stdout();
        out.write_all(if arguments.server { SERVER } else { CLIENT }.as_bytes())?;
        out.flush()?;
        return Ok(Answer::Yes);
    }
    arguments.outputs.prepare()?;
    if arguments.server {
        let mut configuration = read(arguments, SERVER, false)?;
        if let Some(address) = arguments.listen {
            let host = address.ip().to_string();
            set_address(&mut configuration, &host, address.port()).map_err(Failure::usage)?;
        }
        return server::run(arguments, &configuration);
    }
    if is_client {
        let mut configuration = read(arguments, CLIENT, true)?;
        if let Some(Some(address)) = &arguments.client {
            let (host, port) = host_and_port("--client", address, 11002)?;
            set_address(&mut configuration, host, port).map_err(Failure::usage)?;
        }
        return client::run(arguments, &configuration);
    }
    if arguments.config.is_some() {
        return Err(Failure::usage("--config is for one side: add -s, or -l or --client"));
    }
    let orders = if arguments.short { SHORT } else { arguments.preload };
    if orders == 0 {
        return Err(Failure::usage("--preload 0: there is nothing to send; only a client can preload later"));
    }
    warn(orders);
    measure(&arguments.outputs, COMMAND, |control| both(orders, arguments.batch, arguments.seed, control))
}

/// Measures the short form.
pub(super) fn short(control: &Control) -> Result<Vec<TestReport>, String> {
    both(SHORT, None, 1, control)
}

/// Runs both sides in this process.
fn both(orders: u32, batch: Option<u32>, seed: u64, control: &Control) -> Result<Vec<TestReport>, String> {
    let client = configuration(None, CLIENT, true)?;
    let server = configuration(None, SERVER, false)?;
    let outcome = hftest::run(&hftest::Run { orders, batch, seed, client, server }, control)?;
    Ok(vec![outcome.report()])
}

/// Reads the configuration of one side.
fn read(arguments: &Hftest, supplied: &str, connects: bool) -> Result<Configuration, Failure> {
    let read = configuration(arguments.config.as_deref(), supplied, connects).map_err(Failure::usage)?;
    for warning in &read.warnings {
        note!("warning: {warning}");
    }
    Ok(read)
}

/// Warns if there is no memory for so many orders.
fn warn(orders: u32) {
    if let Some(warning) = memory_warning(orders, available_memory()) {
        note!("warning: {warning}");
    }
}

/// Has the engine's warnings sent here.
fn warnings() -> Result<Receiver<Warning>, Failure> {
    let (to, warnings): (Sender<Warning>, _) = channel();
    Log::Warnings(to).install()?;
    Ok(warnings)
}

/// Prints the tables of a side, and writes them to where the options say.
fn conclude(arguments: &Hftest, outcome: &Outcome) -> Result<Answer, Failure> {
    measure(&arguments.outputs, COMMAND, |_| Ok(vec![outcome.report()]))
}
