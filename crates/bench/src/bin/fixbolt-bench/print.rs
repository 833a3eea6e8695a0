//! `fixbolt bench print`.

use clap::Args;
use fixbolt_bench::results::{Table, TestReport};
use fixbolt_cli::beside;
use fixbolt_cli::exit::{Answer, Failure};
use fixbolt_workloads::harness::Control;

use super::outputs::{Outputs, measure};

/// Measures `fixbolt print` beside `grep -c` on generated logs.
///
/// The logs have orders and reports of FIX.4.2, one message per line: prefixed-log with the time
/// before each message, piped-log with `|` for SOH, bare-log as they were sent:
///   count    grep -c 8=FIX
///   oneline  fixbolt print --oneline
///   block    fixbolt print
///   json     fixbolt print -o json
/// The programs run in turn on each part of 25 MB, after a run that checks that each finds all
/// messages, and print that they are valid. CPU time of the program, from its start to its end; the
/// output of `print` is discarded. Medians over the parts: nanoseconds per message, millions of
/// bytes of the log per second, and `ratio`, the rate of `grep -c` divided by this one.
///
/// Exit status: 0 measured; 1 a program found other messages; 2 wrong usage.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
#[command(after_help = "Example:\n  fixbolt bench print -o json")]
pub(crate) struct Print {
    /// Size of each log, in millions of bytes
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = clap::value_parser!(u16).range(1..=10_000))]
    megabytes: u16,
    /// Measure logs of 50 MB, for a first look
    #[arg(long, conflicts_with = "megabytes")]
    short: bool,
    #[command(flatten)]
    outputs: Outputs,
}

/// The size of a log with `--short`, in millions of bytes.
const SHORT: u16 = 50;

/// Runs the command.
pub(super) fn run(arguments: &Print) -> Result<Answer, Failure> {
    let megabytes = if arguments.short { SHORT } else { arguments.megabytes };
    measure(&arguments.outputs, "fixbolt bench print", |control| Ok(vec![print(megabytes, control)?]))
}

/// Measures the short form.
pub(super) fn short(control: &Control) -> Result<Vec<TestReport>, String> {
    Ok(vec![print(SHORT, control)?])
}

fn print(megabytes: u16, control: &Control) -> Result<TestReport, String> {
    let program = beside::program("fixbolt").map_err(|absent| absent.to_string())?;
    let rows = fixbolt_bench::print::run(&program, usize::from(megabytes) * 1_000_000, control)?;
    let mut test = TestReport::new("print", "print beside grep -c, CPU time, medians over parts of the log")
        .setting("MB", megabytes);
    test.tables.push(Table::of_rows("", &rows, &["mb_per_s", "ratio"]));
    test.rows = rows;
    Ok(test)
}
