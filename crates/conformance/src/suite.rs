//! Runs a folder of scripts as one suite, and reports the results.

use core::fmt;
use std::path::Path;

use crate::compare::Order;
use crate::runner::{Failure, FailureKind, Transport, TransportError, run};
use crate::script::{Script, ScriptError};

/// The results of every script in a folder.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Report {
    /// One entry per script, sorted by name.
    pub results: Vec<ScriptResult>,
}

/// The result of one script.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ScriptResult {
    /// The script's name.
    pub name: String,
    /// The outcome.
    pub outcome: Outcome,
}

/// The outcome of a script.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// Every step succeeded.
    Passed,
    /// A step failed.
    Failed(Failure),
    /// The script has a command to the acceptor itself, which the transport cannot reach.
    NotRun,
}

/// Runs every script in a folder, each over a new transport.
///
/// # Errors
/// Returns a [`ScriptError`] if the folder or a script cannot be read; no script is run then.
pub fn run_folder<T: Transport>(
    folder: &Path,
    order: Order,
    transport: impl FnMut(&Script) -> T,
) -> Result<Report, ScriptError> {
    Ok(run_scripts(&Script::read_folder(folder)?, order, transport))
}

/// Runs scripts, each over a new transport.
pub fn run_scripts<T: Transport>(
    scripts: &[Script],
    order: Order,
    mut transport: impl FnMut(&Script) -> T,
) -> Report {
    let results = scripts.iter().map(|script| {
        let outcome = match run(script, &mut transport(script), order) {
            Ok(()) => Outcome::Passed,
            Err(Failure { kind: FailureKind::Transport(TransportError::OutOfReach), .. }) => Outcome::NotRun,
            Err(failure) => Outcome::Failed(failure),
        };
        ScriptResult { name: script.name(), outcome }
    });
    Report { results: results.collect() }
}

impl Report {
    /// Returns the number of scripts that passed.
    #[must_use]
    pub fn passed(&self) -> usize {
        self.results.iter().filter(|r| r.outcome == Outcome::Passed).count()
    }

    /// Returns the failures, in the order of the scripts.
    pub fn failures(&self) -> impl Iterator<Item = &Failure> {
        self.results.iter().filter_map(|r| match &r.outcome {
            Outcome::Failed(failure) => Some(failure),
            Outcome::Passed | Outcome::NotRun => None,
        })
    }

    /// Returns the names of the scripts that were not run.
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
