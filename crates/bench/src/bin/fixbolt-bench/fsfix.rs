//! `fixbolt bench fsfix`.

use clap::Args;
use fixbolt_bench::fsfix::{Plan, run};
use fixbolt_bench::results::TestReport;
use fixbolt_cli::exit::{Answer, Failure};
use fixbolt_workloads::harness::Control;

use super::outputs::{Outputs, measure};

/// Runs FsFIX's benchmark: four messages of FIX.4.4 with groups, written and read.
///
/// MarketDataRequest, QuoteStatusRequest with a group and with a nested one, NewOrderMultileg
/// (1,521 bytes); 64 differing ones of each in turn. The table is that of FsFIX's page, with its
/// figures of FsFIX, QuickFIX/N and QuickFIX/J in columns as published:
///   write            from values of their types, with header, BodyLength and CheckSum
///   write-generated  the same with the generated writers
///   write-untyped    from values that are bytes already
///   parse            framing, BodyLength and CheckSum verified, every field located
///   read             parse, the fields of each group found, every field converted to its type
///   read-validated   read, and every check of the dictionary
/// QuickFIX/J does the same in the same run if its benchmark program is built (see peers/README.md;
/// FIXBOLT_PEERS names the folder): this takes about three minutes, since each of its rows warms up
/// a virtual machine for two seconds. CPU time of the thread: the median of three runs, in which
/// both take turns; of Fixbolt's each the median of 20 slices in which the operations alternate.
///
/// Exit status: 0 measured; 1 an operation returned a wrong result; 2 wrong usage.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
#[command(after_help = "Example:\n  fixbolt bench fsfix --json today.json")]
pub(crate) struct Fsfix {
    /// Rounds of the 64 messages in each slice
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    rounds: u32,
    /// Measure shorter slices, for a first look
    #[arg(long, conflicts_with = "rounds")]
    short: bool,
    #[command(flatten)]
    outputs: Outputs,
}

/// Runs the command.
pub(super) fn bench(arguments: &Fsfix) -> Result<Answer, Failure> {
    let plan = if arguments.short {
        Plan::SHORT
    } else {
        Plan { rounds: arguments.rounds as usize, ..Plan::STANDARD }
    };
    measure(&arguments.outputs, "fixbolt bench fsfix", |control| {
        Ok(vec![run(plan, control).map_err(super::batches::nothing_timed)?])
    })
}

/// Measures the short form.
pub(super) fn short(control: &Control) -> Result<Vec<TestReport>, String> {
    Ok(vec![run(Plan::SHORT, control)?])
}
