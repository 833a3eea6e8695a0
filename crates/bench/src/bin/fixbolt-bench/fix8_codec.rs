//! `fixbolt bench fix8-codec`.

use clap::Args;
use fixbolt_bench::fix8_codec::{Plan, run};
use fixbolt_bench::results::TestReport;
use fixbolt_cli::exit::{Answer, Failure};
use fixbolt_workloads::harness::Control;

use super::outputs::{Outputs, measure};

/// Runs Fix8's comparison with QuickFIX: NOS-222, 100,000 times, ten runs averaged.
///
/// NOS-222 is a NewOrderSingle of FIX.4.4 with 24 fields; 64 differing ones in turn. The table is
/// that of Fix8's page (2013), with its figures below as published:
///   encode            from values to the whole message, with both times, BodyLength and CheckSum:
///                     a pair of clock readings round each call, as published
///   decode            framing, BodyLength and CheckSum verified, every field located; discarded at
///                     once: one pair of readings round the loop, as published
/// and what is not on the page:
///   encode-loop       encode with one pair of readings round the loop
///   build-encode      of an engine that builds a message object: with building and destroying it
///   decode-typed      decode, and every field read as its type
///   decode-validated  decode, and every check of the dictionary
/// QuickFIX C++ does the same work in the same run if its benchmark program is built (see
/// peers/README.md; FIXBOLT_PEERS names the folder). Times by the clock; `cpu_ns` in the other
/// outputs is CPU time of the thread. `% Improvement` and `Throughput` are against QuickFIX C++.
///
/// Exit status: 0 measured; 1 an operation returned a wrong result; 2 wrong usage.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
#[command(after_help = "Example:\n  fixbolt bench fix8-codec --json today.json")]
pub(crate) struct Fix8Codec {
    /// Number of messages of each run
    #[arg(long, value_name = "N", default_value_t = 100_000, value_parser = clap::value_parser!(u32).range(1..=100_000_000))]
    messages: u32,
    /// Number of runs, which are averaged
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=1_000))]
    runs: u32,
    /// Measure 3 runs of 20,000 messages, for a first look
    #[arg(long, conflicts_with_all = ["messages", "runs"])]
    short: bool,
    #[command(flatten)]
    outputs: Outputs,
}

/// What `--short` measures.
const SHORT: Plan = Plan { messages: 20_000, runs: 3 };

/// Runs the command.
pub(super) fn bench(arguments: &Fix8Codec) -> Result<Answer, Failure> {
    let plan =
        if arguments.short { SHORT } else { Plan { messages: arguments.messages, runs: arguments.runs } };
    measure(&arguments.outputs, "fixbolt bench fix8-codec", |control| Ok(vec![run(plan, control)?]))
}

/// Measures the short form.
pub(super) fn short(control: &Control) -> Result<Vec<TestReport>, String> {
    Ok(vec![run(SHORT, control)?])
}
