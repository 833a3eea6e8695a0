//! `fixbolt bench journal`.

use clap::Args;
use fixbolt_bench::journal::{self, Amount};
use fixbolt_bench::results::TestReport;
use fixbolt_cli::exit::{Answer, Failure};
use fixbolt_workloads::harness::Control;

use super::outputs::{Outputs, measure};

/// Measures the journal: appending, reading back, opening, and what a session takes.
///
///   append-256   a message of 256 bytes is appended and committed in a turn of its own; `floor` is
///                the time of copying the same bytes to memory that is ready
///   append-64    the same if 64 messages are one turn: per message
///   commit       what a commit takes: the difference between the two
///   checksum     the CRC32C of such a record, computed apart
///   read-1000    a message is read back as for a resend: per message, the last 1,000 in order
///   create       time per session until its new journal is open
///   open         the same for a journal that was closed; of a history, for one whose records have
///                the size of `--megabytes`
/// The store is `disk` (a journal per session; files that are mapped, sync policy `process`),
/// `memory`, or `none`, which keeps only sequence numbers. CPU time of the thread, without the
/// journal's own threads: the median over rounds of 1,000 messages in which the operations
/// alternate, after 60,000; `create` and `open` are elapsed time. `disk` and `memory` are bytes per
/// session: blocks of its files, and resident memory with the pages of the files. The journals are
/// in the system's folder for temporary files. What was written is read back and compared.
///
/// Exit status: 0 measured; 1 a journal did not hold what was written; 2 wrong usage.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
#[command(
    after_help = "Examples:\n  fixbolt bench journal -o json\n  fixbolt bench journal --megabytes 100 --sessions 100"
)]
pub(crate) struct Journal {
    /// Number of rounds of each operation on messages
    #[arg(long, value_name = "N", default_value_t = 101, value_parser = clap::value_parser!(u16).range(1..=10_000))]
    rounds: u16,
    /// The largest number of sessions; a tenth and a thousandth of it are measured, too
    #[arg(long, value_name = "N", default_value_t = 1_000, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    sessions: u32,
    /// Size of the history in the last row, in millions of bytes
    #[arg(long, value_name = "N", default_value_t = 1_000, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    megabytes: u32,
    /// Measure 21 rounds, and 100 sessions at most, for a first look
    #[arg(long, conflicts_with_all = ["rounds", "sessions"])]
    short: bool,
    #[command(flatten)]
    outputs: Outputs,
}

/// What `--short` measures.
const SHORT: Amount = Amount { rounds: 21, sessions: 100, history: 1_000_000_000 };

/// Runs the command.
pub(super) fn run(arguments: &Journal) -> Result<Answer, Failure> {
    let history = u64::from(arguments.megabytes) * 1_000_000;
    let amount = if arguments.short {
        Amount { history, ..SHORT }
    } else {
        Amount { rounds: arguments.rounds.into(), sessions: arguments.sessions, history }
    };
    measure(&arguments.outputs, "fixbolt bench journal", |control| Ok(vec![journal::run(amount, control)?]))
}

/// Measures the short form.
pub(super) fn short(control: &Control) -> Result<Vec<TestReport>, String> {
    Ok(vec![journal::run(SHORT, control)?])
}
