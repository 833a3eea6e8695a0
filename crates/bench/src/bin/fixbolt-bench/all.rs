//! `fixbolt bench all`.

use std::path::{Path, PathBuf};

use clap::Args;
use fixbolt_bench::results::TestReport;
use fixbolt_cli::exit::{Answer, Failure};
use fixbolt_cli::note;
use fixbolt_workloads::harness::Control;

use super::outputs::{Outputs, measure};

/// Runs every benchmark in its short form, and writes docs/benchmarks.md.
///
/// That is what the `--short` of each measures, but for codec and session: they have seven
/// processes, of five and of three batches, as figures of one process are for a first look only.
/// Rivals are measured in the same run where their programs are built (see `peers/README.md`). A
/// test that fails is on the page with the reason. Each takes at most a minute.
///
/// Without a folder `docs` in the current directory, the page is benchmarks.md.
///
/// Exit status: 0 measured; 1 a test failed, or a figure does not keep a condition; 2 wrong usage.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
#[command(
    after_help = "Examples:\n  fixbolt bench all --json benchmarks.json\n  fixbolt bench all --short --only codec,journal"
)]
pub(crate) struct All {
    /// Only these tests, separated by commas
    #[arg(long, value_name = "NAME,...", value_delimiter = ',')]
    only: Vec<String>,
    /// Measure codec and session with their `--short`, too, for a first look
    #[arg(long)]
    short: bool,
    #[command(flatten)]
    outputs: Outputs,
}

/// A test in its short form.
pub(super) type Short = fn(&Control) -> Result<Vec<TestReport>, String>;

/// Runs `tests`, in their order; with `--short`, those of `shorter` in that form instead.
pub(super) fn run(
    arguments: &All,
    tests: &[(&str, Short)],
    shorter: &[(&str, Short)],
) -> Result<Answer, Failure> {
    let names: Vec<&str> = tests.iter().map(|(name, _)| *name).collect();
    if let Some(unknown) = arguments.only.iter().find(|name| !names.contains(&name.as_str())) {
        let names = names.join(", ");
        return Err(Failure::usage(format!("--only {unknown}: there is no such test; there are {names}")));
    }
    let chosen = |name: &str| arguments.only.is_empty() || arguments.only.iter().any(|only| only == name);
    let folder = Path::new("docs");
    let page = if folder.is_dir() { folder.join("benchmarks.md") } else { PathBuf::from("benchmarks.md") };
    let mut failed = Vec::new();
    let measured = measure(&arguments.outputs.clone().with_markdown(page), "fixbolt bench all", |control| {
        let mut reports = Vec::new();
        for (name, test) in tests.iter().filter(|(name, _)| chosen(name)) {
            if control.is_stopped() {
                break;
            }
            note!("{name} ...");
            let shorter = shorter.iter().find(|(it, _)| arguments.short && it == name);
            match shorter.map_or(test, |(_, shorter)| shorter)(control) {
                Ok(report) => reports.extend(report),
                Err(why) => {
                    note!("fixbolt: {name}: {why}");
                    let mut report = TestReport::new(name, "it failed");
                    report.notes.push(format!("FAILED: {why}"));
                    reports.push(report);
                    failed.push(*name);
                }
            }
        }
        Ok(reports)
    })?;
    Ok(if failed.is_empty() { measured } else { Answer::No })
}
