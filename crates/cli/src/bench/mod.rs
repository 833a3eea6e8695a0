//! `fixbolt bench`: runs the benchmarks.

mod aim;
mod all;
mod compare;
mod fix8_codec;
mod fsfix;
mod hftest;
mod journal;
mod loopback;
mod outputs;
mod outputs;
mod report;
mod session;

use std::io::Write;

use clap::{Args, Subcommand};
use fixbolt_bench::harness::Control;
use fixbolt_bench::results::{Row, Table, TestReport};

use self::outputs::{Outputs, measure};
use crate::exit::{Answer, Failure};
use crate::output;

/// Benchmarks.
///
/// Every result is checked before it is timed. The output names the machine.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Codec(Codec),
    Session(session::Session),
    Journal(journal::Journal),
    Print(Print),
    Rtt(loopback::Rtt),
    Stream(loopback::Stream),
    Jlbh(loopback::Jlbh),
    All(all::All),
    Hftest(hftest::Hftest),
    Fix8Codec(fix8_codec::Fix8Codec),
    Aim(aim::Aim),
    Fsfix(fsfix::Fsfix),
    Compare(compare::Compare),
    Report(report::Arguments),
}

/// Measures the codec: bytes to values and back.
///
/// NOS-222 (NewOrderSingle, FIX.4.4, 24 fields), AIM-97 and AIM-158 (the same, shorter), ER-235
/// (ExecutionReport, FIX.4.2, 27 fields) and FsFIX's four messages of FIX.4.4 with groups (the last
/// one has 1,521 bytes), 64 differing messages each:
///   index          framing, BodyLength and CheckSum verified, every field located
///   validate       index, and every check of the dictionary (ER-235 with LastCapacity 4, because
///                  FIX.4.2 has no 5; AIM-158 with a two-digit hour, and rejected because it has no
///                  MsgSeqNum)
///   validate-miss  the same if no message with its layout was validated before
///   typed-six      index, and six fields read as typed values, not in message order
///   typed-all      index, and every field read as its type, including groups
///   encode         from typed values, with both times, BodyLength and CheckSum
///   write-typed    the same with the generated writers, including groups
/// random-44 and random-42 are messages that this run generates: 64 of any types of the version,
/// their fields, values and, where the standard leaves it open, order at random; random-order-44
/// are NewOrderSingles of the same kind. typed-all of these reads each field in message order.
///
/// Nanoseconds per message, CPU time of the thread, the median of several batches in which the
/// operations alternate. `spread` is (max - min) / median of the batches, in per cent;
/// `layout_hits` says of how many messages in a hundred the layout was known to validation, from a
/// valid message before, so that it need not be walked. `tier` is the instruction set that the
/// index is built with (each one that the processor has); `-` where there is no index. `floor` is
/// the time of a bare prototype on the same machine, `published` that on another engine's page; `-`
/// where it was not measured.
///
/// Exit status: 0 measured; 1 an operation returned a wrong result; 2 wrong usage.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
#[command(after_help = "Example:\n  fixbolt bench codec -o json")]
pub(crate) struct Codec {
    /// Seed of the generated messages; another one in each run unless it is given
    #[arg(long, value_name = "N", conflicts_with = "once")]
    seed: Option<u64>,
    #[command(flatten)]
    measure: Measure,
}

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
/// bytes of the log per second, and `ratio`, the rate of `grep -c` divided by this one. `floor` and
/// `published` are as for `codec`.
///
/// Exit status: 0 measured; 1 a program found other messages; 2 wrong usage.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
#[command(after_help = "Example:\n  fixbolt bench print -o json")]
pub(crate) struct Print {
    /// Size of each log, in millions of bytes
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = clap::value_parser!(u16).range(1..=10_000))]
    megabytes: u16,
    #[command(flatten)]
    outputs: Outputs,
}

/// How to measure.
#[derive(Debug, Args)]
struct Measure {
    /// Number of batches of each operation
    #[arg(long, value_name = "N", default_value_t = 11, value_parser = clap::value_parser!(u16).range(1..=10_000))]
    rounds: u16,
    /// Measure 3 batches, for a first look
    #[arg(long, conflicts_with_all = ["rounds", "once"])]
    short: bool,
    /// Run each operation once and measure nothing, for a profiler that counts instructions
    #[arg(long, conflicts_with = "rounds")]
    once: bool,
    #[command(flatten)]
    outputs: Outputs,
}

/// Runs the command.
pub(crate) fn run(command: &Command) -> Result<Answer, Failure> {
    use fixbolt_bench::codec;
    match command {
        Command::Codec(Codec { seed, measure }) => {
            let seed = seed.unwrap_or_else(new_seed);
            measured("codec", measure, |batches, control| codec::run(batches, seed, control), codec::once)
        }
        Command::Session(arguments) => session::run(arguments),
        Command::Journal(arguments) => journal::run(arguments),
        Command::Print(arguments) => print(arguments),
        Command::Rtt(arguments) => loopback::rtt(arguments),
        Command::Stream(arguments) => loopback::stream(arguments),
        Command::Jlbh(arguments) => loopback::jlbh(arguments),
        Command::All(arguments) => all::run(arguments, SHORT),
        Command::Hftest(arguments) => hftest::run(arguments),
        Command::Fix8Codec(arguments) => fix8_codec::bench(arguments),
        Command::Aim(arguments) => aim::bench(arguments),
        Command::Fsfix(arguments) => fsfix::bench(arguments),
        Command::Compare(arguments) => compare::run(arguments),
        Command::Report(arguments) => report::run(arguments),
    }
}

/// Every test in its short form, in the order of the page.
const SHORT: &[(&str, all::Short)] = &[
    ("codec", |control| Ok(vec![fixbolt_bench::codec::run(11, new_seed(), control)?])),
    ("fix8-codec", |control| Ok(vec![fixbolt_bench::fix8_codec::run(fix8_codec::SHORT, control)?])),
    ("aim", |control| Ok(vec![fixbolt_bench::aim::run(aim::SHORT, control)?])),
    ("fsfix", |control| Ok(vec![fixbolt_bench::fsfix::run(fixbolt_bench::fsfix::Plan::SHORT, control)?])),
    ("session", |control| {
        let rows = fixbolt_bench::session::run(11, control)?;
        let test = TestReport::new("session", "thread CPU time per order with its report, in ns");
        Ok(vec![of_rows(test, rows, &[])])
    }),
    ("codec", |control| Ok(vec![fixbolt_bench::codec::run(3, new_seed(), control)?])),
    ("session", session::short),
    ("journal", journal::short),
    ("fix8-codec", fix8_codec::short),
    ("hftest", hftest::short),
    ("rtt", loopback::short_rtt),
    ("stream", loopback::short_stream),
    ("jlbh", loopback::short_jlbh),
];

type Rows = Result<Vec<Row>, String>;

fn measured(
    test: &str,
    arguments: &Measure,
    run: impl FnOnce(usize, &Control) -> Result<TestReport, String>,
    once: fn() -> Rows,
) -> Result<Answer, Failure> {
    if arguments.once {
        return list(once());
    }
    let batches = if arguments.short { 3 } else { arguments.rounds.into() };
    measure(&arguments.outputs, &format!("fixbolt bench {test}"), |control| {
        Ok(vec![run(batches, control).map_err(nothing_timed)?])
    })
}

/// Returns another seed in each run.
fn new_seed() -> u64 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    // Short enough to be typed.
    now.as_nanos() as u64 % 1_000_000_000
}

/// Lists the operations that were run for a profiler.
fn list(rows: Rows) -> Result<Answer, Failure> {
    let rows = match rows {
        Ok(rows) => rows,
        Err(wrong) => {
            note!("fixbolt: {}", nothing_timed(wrong));
            return Ok(Answer::No);
        }
    };
    let mut out = output::stdout();
    for row in &rows {
        writeln!(out, "{} {} {}", row.message, row.operation, row.tier.as_deref().unwrap_or("-"))?;
    }
    out.flush()?;
    Ok(Answer::Yes)
}

#[expect(clippy::needless_pass_by_value, reason = "it is used by map_err")]
fn nothing_timed(wrong: String) -> String {
    format!("{wrong}; nothing was timed")
}

/// Measures `print`, which is this program.
fn print(arguments: &Print) -> Result<Answer, Failure> {
    let program = std::env::current_exe()
        .map_err(|error| Failure::usage(format!("cannot find this program: {error}")))?;
    measure(&arguments.outputs, "fixbolt bench print", |_| {
        let rows = fixbolt_bench::print::run(&program, usize::from(arguments.megabytes) * 1_000_000)?;
        let test = TestReport::new("print", "print beside grep -c, CPU time, medians over parts of the log");
        let test = test.setting("MB", arguments.megabytes);
        Ok(vec![of_rows(test, rows, &["mb_per_s", "ratio"])])
    })
}

/// Adds figures and their table.
fn of_rows(mut test: TestReport, rows: Vec<Row>, more: &[&str]) -> TestReport {
    test.tables.push(Table::of_rows("", &rows, more));
    test.rows = rows;
    test
}
