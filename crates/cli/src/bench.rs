//! `fixbolt bench`: runs the benchmarks.

use std::io::Write;

use clap::{Args, Subcommand};
use fixbolt_bench::Row;
use fixbolt_bench::journal::{Amount, JournalRow};
use fixbolt_bench::machine::Machine;
use fixbolt_bench::print::PrintRow;

use crate::exit::{Answer, Failure};
use crate::output::{self, Format, Object};

/// Benchmarks.
///
/// Every result is checked before it is timed. The output names the machine.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Codec(Codec),
    Session(Session),
    Journal(Journal),
    Print(Print),
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
/// Nanoseconds per message, CPU time of the thread, the median of several rounds in which the
/// operations alternate. `tier` is the instruction set that the index is built with (each one that
/// the processor has); `-` where there is no index. `floor` is the time of a bare prototype on the
/// same machine, `published` that on another engine's page; `-` where it was not measured.
///
/// Exit status: 0 measured; 1 an operation returned a wrong result; 2 wrong usage.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
#[command(after_help = "Example:\n  fixbolt bench codec -o json")]
pub(crate) struct Codec {
    #[command(flatten)]
    measure: Measure,
}

/// Measures the session layer without sockets: an order in, its report out.
///
/// An acceptor of FIX.4.4 receives NOS-222 (NewOrderSingle; 64 differing messages in turn, each
/// with the next MsgSeqNum), validates and stores it; its application reads the order and answers
/// with a typed ExecutionReport, which gets its sequence number and is stored:
///   order-report         with the journal on disk that sessions have by default, in the system's
///                        folder for temporary files: 3 MB per round, removed at the end
///   order-report-memory  with a store in memory
/// Nanoseconds per order with its report, CPU time of the session's thread without the two threads
/// of the journal, the median of several rounds in which the stores alternate. `tier` is the
/// instruction set that the index is built with; `floor` and `published` are as for `codec`.
///
/// Exit status: 0 measured; 1 a report was wrong or missing; 2 wrong usage.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
#[command(after_help = "Example:\n  fixbolt bench session -o json")]
pub(crate) struct Session {
    #[command(flatten)]
    measure: Measure,
}

/// Measures the journal on disk: appending, opening, and what a session takes.
///
///   append-256  a message of 256 bytes is appended and committed in a turn of its own: CPU time of
///               the thread, the median over rounds of 1,000 records, after 60,000; `floor` is the
///               time of copying the same bytes to memory that is ready
///   create      time per session until its new journal is open
///   open        the same for a journal that was closed; in the last row, for one whose records
///               have the size of `--megabytes`
/// `disk` and `memory` are bytes per session: blocks of its files, and resident memory with the
/// pages of the files. The journals are in the system's folder for temporary files. What was
/// written is read back.
///
/// Exit status: 0 measured; 1 a journal did not hold what was written; 2 wrong usage.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
#[command(after_help = "Example:\n  fixbolt bench journal -o json")]
pub(crate) struct Journal {
    /// Number of rounds of append-256
    #[arg(long, value_name = "N", default_value_t = 101, value_parser = clap::value_parser!(u16).range(1..=10_000))]
    rounds: u16,
    /// The largest number of sessions; a tenth and a thousandth of it are measured, too
    #[arg(long, value_name = "N", default_value_t = 1_000, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    sessions: u32,
    /// Size of the history in the last row, in millions of bytes
    #[arg(long, value_name = "N", default_value_t = 1_000, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    megabytes: u32,
    /// Output format
    #[arg(short, long, value_enum, default_value_t, value_name = "text|json", hide_possible_values = true)]
    output: Format,
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
    /// Output format
    #[arg(short, long, value_enum, default_value_t, value_name = "text|json", hide_possible_values = true)]
    output: Format,
}

/// How to measure and show the results.
#[derive(Debug, Args)]
struct Measure {
    /// Number of rounds of each operation
    #[arg(long, value_name = "N", default_value_t = 31, value_parser = clap::value_parser!(u16).range(1..=10_000))]
    rounds: u16,
    /// Run each operation once and measure nothing, for a profiler that counts instructions
    #[arg(long, conflicts_with = "rounds")]
    once: bool,
    /// Output format
    #[arg(short, long, value_enum, default_value_t, value_name = "text|json", hide_possible_values = true)]
    output: Format,
}

/// Runs the command.
pub(crate) fn run(command: &Command) -> Result<Answer, Failure> {
    use fixbolt_bench::{codec, session};
    match command {
        Command::Codec(Codec { measure }) => {
            let head = "codec, ns per message";
            measured(head, measure, codec::run, codec::once)
        }
        Command::Session(Session { measure }) => {
            let head = "session, ns per order with its report";
            measured(head, measure, session::run, session::once)
        }
        Command::Journal(arguments) => journal(arguments),
        Command::Print(arguments) => print(arguments),
    }
}

type Rows = Result<Vec<Row>, String>;

fn measured(
    head: &str,
    arguments: &Measure,
    run: fn(usize) -> Rows,
    once: fn() -> Rows,
) -> Result<Answer, Failure> {
    let rows = if arguments.once { once() } else { run(arguments.rounds.into()) };
    let rows = match rows {
        Ok(rows) => rows,
        Err(wrong) => {
            note!("fixbolt: {wrong}; nothing was timed");
            return Ok(Answer::No);
        }
    };
    let machine = Machine::here();
    let mut out = output::stdout();
    if arguments.once {
        for row in &rows {
            writeln!(out, "{} {} {}", row.message, row.operation, row.tier.unwrap_or("-"))?;
        }
        out.flush()?;
        return Ok(Answer::Yes);
    }
    match arguments.output {
        Format::Json => {
            for row in &rows {
                writeln!(out, "{}", json(row, &machine))?;
            }
        }
        Format::Text => {
            writeln!(out, "{head}, median of {} rounds over 64 differing messages", arguments.rounds)?;
            writeln!(out, "machine: {machine}\n")?;
            writeln!(
                out,
                "{:<25} {:<19} {:<6} {:>8} {:>8} {:>10}",
                "message", "operation", "tier", "fixbolt", "floor", "published"
            )?;
            for row in &rows {
                let known =
                    |figure: Option<f64>| figure.map_or_else(|| "-".to_owned(), |ns| format!("{ns:.1}"));
                let (floor, published) = (known(row.floor_ns), known(row.published));
                writeln!(
                    out,
                    "{:<25} {:<19} {:<6} {:>8.1} {floor:>8} {published:>10}",
                    row.message,
                    row.operation,
                    row.tier.unwrap_or("-"),
                    row.ns
                )?;
            }
        }
    }
    out.flush()?;
    Ok(Answer::Yes)
}

fn journal(arguments: &Journal) -> Result<Answer, Failure> {
    let amount = Amount {
        rounds: arguments.rounds.into(),
        sessions: arguments.sessions,
        history: u64::from(arguments.megabytes) * 1_000_000,
    };
    let rows = match fixbolt_bench::journal::run(amount) {
        Ok(rows) => rows,
        Err(wrong) => {
            note!("fixbolt: {wrong}");
            return Ok(Answer::No);
        }
    };
    let machine = Machine::here();
    let mut out = output::stdout();
    match arguments.output {
        Format::Json => {
            for JournalRow { row, sessions, disk, memory } in &rows {
                let row = json(row, &machine).raw("sessions", sessions);
                writeln!(out, "{}", row.raw("disk", disk).raw("memory", memory))?;
            }
        }
        Format::Text => {
            writeln!(out, "journal, ns per record or session, disk and memory in bytes per session")?;
            writeln!(out, "machine: {machine}\n")?;
            let head = ("message", "operation", "sessions", "ns", "floor", "disk", "memory");
            writeln!(
                out,
                "{:<10} {:<11} {:>8} {:>13} {:>7} {:>13} {:>11}",
                head.0, head.1, head.2, head.3, head.4, head.5, head.6
            )?;
            for JournalRow { row, sessions, disk, memory } in &rows {
                let Row { message, operation, ns, .. } = row;
                let floor = row.floor_ns.map_or_else(|| "-".to_owned(), |ns| format!("{ns:.1}"));
                writeln!(
                    out,
                    "{message:<10} {operation:<11} {sessions:>8} {ns:>13.1} {floor:>7} {disk:>13} {memory:>11}"
                )?;
            }
        }
    }
    out.flush()?;
    Ok(Answer::Yes)
}

/// Measures `print`, which is this program.
fn print(arguments: &Print) -> Result<Answer, Failure> {
    let program = std::env::current_exe()
        .map_err(|error| Failure::usage(format!("cannot find this program: {error}")))?;
    let rows = match fixbolt_bench::print::run(&program, usize::from(arguments.megabytes) * 1_000_000) {
        Ok(rows) => rows,
        Err(wrong) => {
            note!("fixbolt: {wrong}");
            return Ok(Answer::No);
        }
    };
    let machine = Machine::here();
    let mut out = output::stdout();
    match arguments.output {
        Format::Json => {
            for PrintRow { row, mb_per_s, ratio } in &rows {
                let row = json(row, &machine).raw("mb_per_s", format!("{mb_per_s:.1}"));
                writeln!(out, "{}", row.raw("ratio", format!("{ratio:.2}")))?;
            }
        }
        Format::Text => {
            let megabytes = arguments.megabytes;
            writeln!(out, "print beside grep -c, CPU time, logs of {megabytes} MB, medians over parts")?;
            writeln!(out, "machine: {machine}\n")?;
            let head = ("message", "operation", "ns/message", "MB/s", "ratio");
            writeln!(out, "{:<15} {:<10} {:>12} {:>9} {:>8}", head.0, head.1, head.2, head.3, head.4)?;
            for PrintRow { row, mb_per_s, ratio } in &rows {
                let Row { message, operation, ns, .. } = row;
                writeln!(out, "{message:<15} {operation:<10} {ns:>12.1} {mb_per_s:>9.1} {ratio:>8.2}")?;
            }
        }
    }
    out.flush()?;
    Ok(Answer::Yes)
}

fn json(row: &Row, machine: &Machine) -> Object {
    let known = |figure: Option<f64>| figure.map_or_else(|| "null".to_owned(), |ns| format!("{ns:.2}"));
    // The names of tiers need no escaping.
    let tier = row.tier.map_or_else(|| "null".to_owned(), |tier| format!("\"{tier}\""));
    Object::new()
        .text("test", row.test)
        .text("engine", row.engine)
        .text("message", row.message)
        .text("operation", row.operation)
        .raw("tier", tier)
        .raw("ns", format!("{:.2}", row.ns))
        .raw("floor_ns", known(row.floor_ns))
        .raw("published", known(row.published))
        .text("machine", &machine.to_string())
}
