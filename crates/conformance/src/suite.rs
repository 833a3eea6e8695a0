//! A folder of scripts as one suite, and the report of a run over it.

use core::fmt;
use std::path::Path;

use crate::compare::Order;
use crate::runner::{Failure, FailureKind, Transport, TransportError, run};
use crate::script::{Script, ScriptError};

/// What became of every script of a folder.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Report {
    /// One entry a script, in the order of names.
    pub results: Vec<ScriptResult>,
}

/// What became of one script.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ScriptResult {
    /// The script's name.
    pub name: String,
    /// Whether it passed.
    pub outcome: Outcome,
}

/// How a script ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// Every step went as written.
    Passed,
    /// A step did not.
    Failed(Failure),
    /// The transport cannot reach what the script asks of the acceptor itself.
    NotRun,
}

/// Runs every script of a folder, each over a transport of its own.
///
/// # Errors
/// [`ScriptError`] when the folder or a script cannot be read; nothing is run then.
pub fn run_folder<T: Transport>(
    folder: &Path,
    order: Order,
    mut transport: impl FnMut(&Script) -> T,
) -> Result<Report, ScriptError> {
    let scripts = Script::read_folder(folder)?;
    let results = scripts.iter().map(|script| {
        let outcome = match run(script, &mut transport(script), order) {
            Ok(()) => Outcome::Passed,
            Err(Failure { kind: FailureKind::Transport(TransportError::OutOfReach), .. }) => Outcome::NotRun,
            Err(failure) => Outcome::Failed(failure),
        };
        ScriptResult { name: script.name(), outcome }
    });
    Ok(Report { results: results.collect() })
}

impl Report {
    /// How many scripts passed.
    #[must_use]
    pub fn passed(&self) -> usize {
        self.results.iter().filter(|r| r.outcome == Outcome::Passed).count()
    }

    /// The failures, in the order of scripts.
    pub fn failures(&self) -> impl Iterator<Item = &Failure> {
        self.results.iter().filter_map(|r| match &r.outcome {
            Outcome::Failed(failure) => Some(failure),
            Outcome::Passed | Outcome::NotRun => None,
        })
    }

    /// The names of the scripts that were not run.
    pub fn not_run(&self) -> impl Iterator<Item = &str> {
        self.results.iter().filter(|r| r.outcome == Outcome::NotRun).map(|r| r.name.as_str())
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for failure in self.failures() {
            writeln!(f, "{failure}")?;
        }
        for name in self.not_run() {
            writeln!(f, "{name}: not run, it needs the acceptor in the same process")?;
        }
        write!(f, "{} of {} scripts passed", self.passed(), self.results.len())
    }
}
