//! `fixbolt bench report`, and reading stored results.

use std::path::{Path, PathBuf};

use clap::Args;
use fixbolt_bench::results::{Report, from_json_lines, html};
use fixbolt_cli::exit::{Answer, Failure};

use super::outputs::write;

/// Makes a page with plots of stored results.
///
/// Each FILE was written by `--json` or `-o json`. The page has them in this order, each with its
/// machine; it is one file, without scripts, and needs no network:
///   curves of percentiles, response time beside service time; latency by rate, if there are
///   several rates; latency over time, with the outliers; bars beside floors, other engines and
///   published figures; every table, and every figure of every run
///
/// Exit status: 0 written; 2 wrong usage, or a file is no result.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
#[command(after_help = "Example:\n  fixbolt bench report codec.json session.json --html report.html")]
pub(crate) struct Arguments {
    /// The results
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Write the page to FILE
    #[arg(long, value_name = "FILE")]
    html: PathBuf,
}

pub(super) fn run(arguments: &Arguments) -> Result<Answer, Failure> {
    let reports = arguments.files.iter().map(|file| read(file)).collect::<Result<Vec<_>, _>>()?;
    write(&arguments.html, &html(&reports))?;
    Ok(Answer::Yes)
}

/// Reads a stored result.
pub(super) fn read(path: &Path) -> Result<Report, Failure> {
    let text = std::fs::read_to_string(path).map_err(|error| Failure::file("read", path, &error))?;
    from_json_lines(&text).map_err(|why| Failure::usage(format!("{}: {why}", path.display())))
}
