//! `fixbolt bench compare`.

use std::io::Write as _;
use std::path::PathBuf;

use clap::Args;
use fixbolt_bench::results::compare;
use fixbolt_cli::exit::{Answer, Failure};
use fixbolt_cli::output;

use super::report::read;

/// Compares two results.
///
/// FIRST and SECOND were written by `--json` or `-o json`. Every figure that both have is shown;
/// those of Fixbolt are judged: rows, and percentiles up to 99 of runs that are valid in FIRST.
/// p99.9 and the maximum of a machine whose cores are not isolated say more about the machine.
/// Figures that only one of them has are listed, and do not change the exit status. So are those of
/// generated messages (`random-...` of `codec`) if the seeds differ, with a WARNING: they were
/// measured with other messages. Give both runs the same --seed to have them judged. A figure that
/// is the median of another number of parts than in the other result is judged, with a WARNING.
///
/// Exit status: 0 no judged figure is worse by more than the tolerance; 1 one is, or is of an
/// INVALID run in SECOND; 2 wrong usage, a file is no result, or there is nothing to judge.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
#[command(after_help = "Example:\n  fixbolt bench compare yesterday.json today.json --tolerance 5")]
pub(crate) struct Compare {
    /// The result to compare with
    first: PathBuf,
    /// The result that is judged
    second: PathBuf,
    /// How much worse a figure may be, in per cent
    #[arg(long, value_name = "PERCENT", default_value_t = 5.0, value_parser = percent)]
    tolerance: f64,
}

fn percent(text: &str) -> Result<f64, String> {
    let percent = text.trim_end_matches('%').parse::<f64>().ok();
    percent
        .filter(|percent| percent.is_finite() && *percent >= 0.0)
        .ok_or_else(|| "a number of per cent is expected, like 5".to_owned())
}

pub(super) fn run(arguments: &Compare) -> Result<Answer, Failure> {
    let (first, second) = (read(&arguments.first)?, read(&arguments.second)?);
    let compared = compare(&first, &second);
    if compared.differences.is_empty() {
        let but = if compared.other_seeds.is_empty() {
            ""
        } else {
            " but those of generated messages, whose seeds differ: measure both with the same --seed"
        };
        return Err(Failure::usage(format!("the results have no figure in common{but}")));
    }
    let tolerance = arguments.tolerance / 100.0;
    let mut out = output::verdict();
    write!(out, "{}", compared.table(tolerance))?;
    let worse = compared.worse(tolerance).count();
    match worse {
        0 => {}
        1 => writeln!(out, "1 figure is worse by more than {} %, or INVALID", arguments.tolerance)?,
        _ => writeln!(out, "{worse} figures are worse by more than {} %, or INVALID", arguments.tolerance)?,
    }
    out.flush()?;
    if !compared.differences.iter().any(|it| it.judged) {
        return Err(Failure::usage(
            "the results have no valid figure of Fixbolt in common: nothing was judged",
        ));
    }
    Ok(if worse > 0 { Answer::No } else { Answer::Yes })
}
