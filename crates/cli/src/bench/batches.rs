//! What the tests have in common that measure operations in batches.

use std::io::Write as _;

use clap::Args;
use fixbolt_bench::harness::Control;
use fixbolt_bench::results::{Row, TestReport};

use super::outputs::{Outputs, measure};
use crate::exit::{Answer, Failure};
use crate::output;

/// How to measure.
#[derive(Debug, Args)]
pub(super) struct Measure {
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

type Rows = Result<Vec<Row>, String>;

/// Measures a test as the arguments say.
pub(super) fn measured(
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
