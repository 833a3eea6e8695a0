//! What the tests have in common that measure operations in batches.

use std::collections::BTreeSet;
use std::io::Write as _;

use clap::Args;
use fixbolt_bench::batches::Measured;
use fixbolt_bench::results::{Part, Row, TestReport, of_parts};
use fixbolt_cli::exit::{Answer, Failure};
use fixbolt_cli::note;
use fixbolt_cli::output;
use fixbolt_workloads::harness::Control;

use super::outputs::{Outputs, measure};
use super::processes;

/// How many processes a figure is the median of, unless it is said otherwise: two of one binary may
/// differ by more than the batches of one.
pub(super) const PROCESSES: usize = 7;
/// How many batches and processes there are with `--short`.
pub(super) const SHORT: (usize, usize) = (3, 1);

/// How to measure.
#[derive(Debug, Args)]
pub(super) struct Measure {
    /// Number of batches of each operation in each process
    #[arg(long, value_name = "N", default_value_t = 11, value_parser = clap::value_parser!(u16).range(1..=10_000))]
    rounds: u16,
    /// Number of processes, one after another; a figure is the median of theirs
    #[arg(long, value_name = "N", default_value_t = PROCESSES as u16, value_parser = clap::value_parser!(u16).range(1..=1_000))]
    processes: u16,
    /// Measure 3 batches in one process, for a first look
    #[arg(long, conflicts_with_all = ["rounds", "processes", "once"])]
    short: bool,
    /// Run each operation once and measure nothing, for a profiler that counts instructions
    #[arg(long, conflicts_with_all = ["rounds", "processes"])]
    once: bool,
    #[command(flatten)]
    outputs: Outputs,
}

/// Operations, or what is wrong.
pub(super) type Rows = Result<Vec<Row>, String>;

/// A test that measures operations in batches.
pub(super) trait Batches {
    /// The name of its command.
    const NAME: &'static str;

    /// Returns what else its command needs to measure the same in another process.
    fn arguments(&self) -> Vec<String>;

    /// Measures each operation in this many batches.
    fn measure(&self, batches: usize, control: &Control) -> Result<Measured, String>;

    /// Lays out what was measured, perhaps in several processes.
    fn report(&self, measured: Measured, batches: usize) -> TestReport;

    /// Runs each operation once, for a profiler.
    fn once(&self) -> Rows;
}

/// Measures a test as the arguments say.
pub(super) fn run(test: &impl Batches, arguments: &Measure) -> Result<Answer, Failure> {
    if arguments.once {
        return list(test.once());
    }
    let (batches, processes) =
        if arguments.short { SHORT } else { (arguments.rounds.into(), arguments.processes.into()) };
    measure(&arguments.outputs, &format!("fixbolt bench {}", name_of(test)), |control| {
        Ok(vec![measured(test, batches, processes, control)?])
    })
}

const fn name_of<T: Batches>(_: &T) -> &'static str {
    T::NAME
}

/// Measures a test in this many batches in each of this many processes.
pub(super) fn measured(
    test: &impl Batches,
    batches: usize,
    processes: usize,
    control: &Control,
) -> Result<TestReport, String> {
    let measured = if processes == 1 {
        test.measure(batches, control).map_err(nothing_timed)?
    } else {
        let mut arguments = [name_of(test), "--rounds", &batches.to_string()].map(str::to_owned).to_vec();
        arguments.extend(test.arguments());
        let all = processes::measure(&arguments, processes, control)?;
        let (rows, notes): (Vec<_>, Vec<_>) = all.into_iter().map(|it| (it.rows, it.notes)).unzip();
        Measured { rows: of_parts(Part::Process, &rows), notes: notes.concat() }
    };
    let mut report = test.report(measured, batches).setting("processes", processes);
    // Each process says the same, and why it has no figure of what it has none.
    let mut said = BTreeSet::new();
    report.notes.retain(|note| said.insert(note.clone()));
    Ok(report)
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

/// Says that a wrong output ended the measurement before it began.
#[expect(clippy::needless_pass_by_value, reason = "it is used by map_err")]
pub(super) fn nothing_timed(wrong: String) -> String {
    format!("{wrong}; nothing was timed")
}
