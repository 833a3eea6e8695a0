//! `fixbolt bench rtt`, `stream` and `jlbh`: over sockets, between two engines of this process.

use clap::{Args, ValueEnum};
use fixbolt::Waiting;
use fixbolt_bench::loopback::{Layout, check_cores, jlbh, rtt, stream};
use fixbolt_bench::results::TestReport;
use fixbolt_cli::exit::{Answer, Failure};
use fixbolt_workloads::harness::Control;

use super::load::LoadOptions;
use super::outputs::{Outputs, measure};

/// Measures round trips: an order out and its report back over loopback.
///
/// Two engines in this process, with one session. The trader sends its next order in the callback
/// of the last report; both sides validate and journal. Beside it, an order's bytes and its
/// report's go to and fro over raw TCP between two threads that wait in the same way. The rows are
/// the kinds of threads that a session runs on, the same on both sides:
///   spinning      a shared worker that never sleeps, and reads its sockets again and again
///   epoll         a shared worker that sleeps until the system wakes it
///   spinning-for  a shared worker that sleeps after 50 us without work; beside raw TCP that spins
///   dedicated     a worker of the session's own that never sleeps, beside a shared one that sleeps
///   driven        no worker: a loop of the caller's that does nothing else polls the engine
///   blocking      raw TCP only: threads that wait in the read
/// and of a worker that spins:
///   start         the first 5,000 round trips after the logon, while the journal's segments are
///                 small
///   receive       in the venue, from the beginning of the cycle that reads an order until the
///                 application has it: read from the socket, checked, validated
///   send          from there until that cycle ends: the application's reads, its report written,
///                 both in the journal, the report taken by the system
/// The contestants take turns, a slice each, with new engines and connections. p50, p90 and p99 are
/// medians of the slices, p99.9, p99.99 and the worst those of all slices together: they are not
/// judged on a machine with fewer than four isolated cores. Every report is checked to belong to
/// its order, and the journals to hold every message.
///
/// Exit status: 0 measured; 1 a report was wrong or missing; 2 wrong usage.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
#[command(after_help = "Examples:\n  fixbolt bench rtt\n  fixbolt bench rtt --cores 0,1 -o json")]
pub(crate) struct Rtt {
    /// Round trips of each slice, after a third as many; by default half a second: 60,000 between
    /// threads that spin, 15,000 between others
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    round_trips: Option<u32>,
    /// Slices of each contestant
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=10_000))]
    slices: Option<u16>,
    /// Cores of the venue and the trader, counted from 0; by default isolated ones, or the last
    /// ones
    #[arg(long, value_name = "CORE,CORE", value_delimiter = ',')]
    cores: Vec<usize>,
    /// Measure fewer slices, in half a minute
    #[arg(long)]
    short: bool,
    #[command(flatten)]
    outputs: Outputs,
}

/// Measures one way: orders as fast as they go, validated and journaled at both ends.
///
/// For 1, 10 and 100 sessions between two engines of this process, each with one worker. A thread
/// sends in the sessions in turn. Beside it, as many bytes flow over as many raw TCP connections,
/// from one thread to another. Both take turns, a slice each; figures are medians of the slices.
/// Before the slices each session has a warm-up, in which its journal grows out of its first, small
/// segments: that is the row `start`. A second table divides the CPU time of a message among the
/// threads. Every order is checked to arrive once and in the order of its session, and the journals
/// to hold all of them: a few hundred bytes a message on each side, in the system's folder for
/// temporary files. A session needs about ten file descriptors.
///
/// Exit status: 0 measured; 1 an order was lost or came twice; 2 wrong usage.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
#[command(
    after_help = "Examples:\n  fixbolt bench stream\n  fixbolt bench stream --sessions 1 --messages 200000"
)]
pub(crate) struct Stream {
    /// Numbers of sessions, separated by commas, each once
    #[arg(long, value_name = "N,...", value_delimiter = ',', value_parser = clap::value_parser!(u16).range(1..=1_000))]
    sessions: Vec<u16>,
    /// Messages of each slice, at least as many as sessions
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000_000))]
    messages: Option<u32>,
    /// Slices
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=10_000))]
    slices: Option<u16>,
    /// Messages of each session before the slices, 400,000 of all at most [default: 4000]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=400_000))]
    warm_up: Option<u32>,
    /// Measure a part of it, in ten seconds
    #[arg(long)]
    short: bool,
    #[command(flatten)]
    outputs: Outputs,
}

/// Measures round trips at fixed rates, as Chronicle FIX and QuickFIX/J were compared with JLBH.
///
/// NewOrderSingle out, ExecutionReport back (FIX.4.2) over loopback, the time of the order in its
/// ClOrdID, with a journal and a message log on both sides and sequence numbers that are reset at
/// the logon: 2,000, 10,000, 50,000 and 200,000 orders a second, 20,000 to warm up and three runs
/// of 10,000 each. Then an order's bytes are read into the types of an application, with session,
/// journal and message log, and no sockets: 10,000, 100,000 and 200,000 a second, five runs.
///
/// Tables are laid out as on the page, in microseconds: service time, which omits what a stall
/// delays (coordinated omission), as published, and response time, which counts from when an order
/// was due. % Variation is JLBH's, without the first run; `figure` is what the other outputs have:
/// the median of the runs up to 99, all runs together above; var(log) is as the JLBH of that year
/// computed it. Beside them stands the time of the same bytes over raw TCP, and a table deducts it,
/// as the page does. A percentile with too few samples is marked *, one beside which raw TCP varied
/// by more than 20 %, also when all was measured again, is marked ~, and a run that missed its rate
/// or lost samples is INVALID and says why. QuickFIX C++ and QuickFIX/J run at the same rates and
/// as often, in turn with Fixbolt and raw TCP, if their benchmark programs are built (see
/// peers/README.md) and orders arrive at equal distances. Each run has connections and a warm-up of
/// its own.
///
/// Exit status: 0 measured; 1 a report was wrong; 2 wrong usage; 130 interrupted.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
#[command(
    after_help = "Examples:\n  fixbolt bench jlbh\n  fixbolt bench jlbh --rates 2000 --runs 5\n  fixbolt bench jlbh --rates 1000 --highest 'p99<=200us'"
)]
pub(crate) struct Jlbh {
    #[command(flatten)]
    load: LoadOptions,
    /// How the workers wait; by default they spin, pinned, if there are four cores
    #[arg(long, value_enum, value_name = "blocking|spinning", hide_possible_values = true)]
    waiting: Option<Wait>,
    /// Cores of the venue and the trader, counted from 0
    #[arg(long, value_name = "CORE,CORE", value_delimiter = ',')]
    cores: Vec<usize>,
    /// Measure a part of it, in a few seconds
    #[arg(long)]
    short: bool,
    #[command(flatten)]
    outputs: Outputs,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum Wait {
    Blocking,
    Spinning,
}

impl Jlbh {
    fn settings(&self) -> jlbh::Settings {
        let default = jlbh::default_layout();
        let layout = match (self.waiting, &self.cores[..]) {
            (None, []) => default,
            (waiting, cores) => {
                let waiting = match waiting {
                    Some(Wait::Blocking) => Waiting::Blocking,
                    Some(Wait::Spinning) => Waiting::Spinning,
                    None => default.waiting,
                };
                Layout::new(waiting).pinned(cores)
            }
        };
        let mut settings =
            if self.short { jlbh::Settings::short(layout) } else { jlbh::Settings::new(layout) };
        settings.load = self.load.apply(settings.load);
        settings.parse = self.load.apply_but_rates(settings.parse);
        settings
    }
}

fn usable(cores: &[usize]) -> Result<(), Failure> {
    check_cores(cores).map_err(|wrong| Failure::usage(format!("--cores: {wrong}")))
}

/// Runs the command.
pub(super) fn rtt(arguments: &Rtt) -> Result<Answer, Failure> {
    usable(&arguments.cores)?;
    let mut settings = if arguments.short { rtt::Settings::short() } else { rtt::Settings::default() };
    if let Some(round_trips) = arguments.round_trips.map(u64::from) {
        (settings.spinning, settings.sleeping) = (round_trips, round_trips);
    }
    settings.slices = arguments.slices.map_or(settings.slices, usize::from);
    settings.cores.clone_from(&arguments.cores);
    settings.check().map_err(Failure::usage)?;
    measure(&arguments.outputs, "fixbolt bench rtt", |control| Ok(vec![rtt::run(&settings, control)?]))
}

/// Runs the command.
pub(super) fn stream(arguments: &Stream) -> Result<Answer, Failure> {
    let mut settings = if arguments.short { stream::Settings::short() } else { stream::Settings::default() };
    if !arguments.sessions.is_empty() {
        settings.sessions = arguments.sessions.iter().map(|sessions| usize::from(*sessions)).collect();
    }
    settings.messages = arguments.messages.map_or(settings.messages, u64::from);
    settings.slices = arguments.slices.map_or(settings.slices, usize::from);
    settings.warm_up = arguments.warm_up.map_or(settings.warm_up, u64::from);
    settings.check().map_err(Failure::usage)?;
    measure(&arguments.outputs, "fixbolt bench stream", |control| Ok(vec![stream::run(&settings, control)?]))
}

/// Runs the command.
pub(super) fn jlbh(arguments: &Jlbh) -> Result<Answer, Failure> {
    usable(&arguments.cores)?;
    let settings = arguments.settings();
    measure(&arguments.outputs, "fixbolt bench jlbh", |control| Ok(vec![jlbh::run(&settings, control)?]))
}

/// The short forms.
pub(super) fn short_rtt(control: &Control) -> Result<Vec<TestReport>, String> {
    Ok(vec![rtt::run(&rtt::Settings::short(), control)?])
}

pub(super) fn short_stream(control: &Control) -> Result<Vec<TestReport>, String> {
    Ok(vec![stream::run(&stream::Settings::short(), control)?])
}

pub(super) fn short_jlbh(control: &Control) -> Result<Vec<TestReport>, String> {
    Ok(vec![jlbh::run(&jlbh::Settings::short(jlbh::default_layout()), control)?])
}
