//! `fixbolt bench aim`.

use clap::Args;
use fixbolt_bench::results::TestReport;
use fixbolt_cli::exit::{Answer, Failure};
use fixbolt_workloads::harness::Control;

use super::outputs::{Outputs, measure};

/// Runs AIM's latency test: decode, encode and gateway mode of two NewOrderSingles.
///
/// AIM-97 and AIM-158 are orders of FIX.4.4 with 10 and 15 fields; 64 differing ones in turn. The
/// table is that of AIM's page (2013), with its figures below as published:
///   eager     "Decoding": every value converted, in header, body or trailer of an object with
///             memory of its own, as AIM's decode does: the row to compare
///   encode    from values to the whole message, with a session's header
///   gateway   decoded, four fields checked, the body sent on after a new header
///   index     framing, BodyLength and CheckSum verified, every field located
///   checksum  the sum of an encoded message alone: a session cannot leave it out
/// `-no-checksum` does not verify the CheckSum of what is received. The sweep decodes messages of
/// 10 to 200 tags. CPU time of the thread, medians of 20 slices in which the operations alternate.
///
/// Exit status: 0 measured; 1 an operation returned a wrong result; 2 wrong usage.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
#[command(after_help = "Example:\n  fixbolt bench aim --iterations 1000000")]
pub(crate) struct Aim {
    /// Number of messages of each operation; a tenth of it in the sweep
    #[arg(long, value_name = "N", default_value_t = 10_000_000, value_parser = clap::value_parser!(u64).range(1..=10_000_000_000))]
    iterations: u64,
    /// Measure 500,000 messages of each operation, for a first look
    #[arg(long, conflicts_with = "iterations")]
    short: bool,
    #[command(flatten)]
    outputs: Outputs,
}

/// What `--short` measures.
const SHORT: u64 = 500_000;

/// Runs the command.
pub(super) fn bench(arguments: &Aim) -> Result<Answer, Failure> {
    let iterations = if arguments.short { SHORT } else { arguments.iterations };
    measure(&arguments.outputs, "fixbolt bench aim", |control| {
        Ok(vec![fixbolt_bench::aim::run(iterations, control).map_err(super::batches::nothing_timed)?])
    })
}

/// Measures the short form.
pub(super) fn short(control: &Control) -> Result<Vec<TestReport>, String> {
    Ok(vec![fixbolt_bench::aim::run(SHORT, control)?])
}
