//! Runs Fixbolt against engines that others wrote, step by step, a line a step: `PASS` or `FAIL`,
//! the pairing, the step, what was counted. The last line is `N passed, N failed`; the exit status
//! is 0 when nothing failed, 1 when something did, 2 for bad usage or when nothing could be run.

mod pairing;
mod side;

use pairing::{GROUP_STEP, Outcome, Pairing, STEPS, Step};
use side::{Engine, quickfix_program};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

const USAGE: &str = "usage: interop self-test\n  self-test   every step with QuickFIX on both sides: does the harness itself work?";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    if args != ["self-test"] {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    }
    if !quickfix_program().exists() {
        eprintln!("interop: {} is not built: run make in peers/quickfix-cpp", quickfix_program().display());
        return ExitCode::from(2);
    }
    let folder = std::env::temp_dir().join(format!("fixbolt-interop-{}", std::process::id()));
    let mut results = Results { folder, passed: 0, failed: 0 };
    for version in ["FIX.4.2", "FIX.4.4"] {
        results.pairing(Engine::QuickFix, Engine::QuickFix, version);
    }
    results.group_pairing(Engine::QuickFix, Engine::QuickFix);
    results.end()
}

/// Prints a line a step and counts.
struct Results {
    folder: PathBuf,
    passed: usize,
    failed: usize,
}

impl Results {
    fn pairing(&mut self, initiator: Engine, acceptor: Engine, version: &'static str) {
        self.steps(initiator, acceptor, version, None, STEPS);
    }

    fn group_pairing(&mut self, initiator: Engine, acceptor: Engine) {
        let dictionary = shared_folder().join("dictionaries/quickfix/FIX44.xml");
        if dictionary.exists() {
            self.steps(initiator, acceptor, "FIX.4.4", Some(&dictionary), &[GROUP_STEP]);
        } else {
            println!("SKIP {}: {} is absent", GROUP_STEP.name, dictionary.display());
        }
    }

    /// Runs the steps in order. A step that fails ends its pairing: those behind it count as failed.
    fn steps(
        &mut self,
        initiator: Engine,
        acceptor: Engine,
        version: &'static str,
        dictionary: Option<&PathBuf>,
        steps: &[Step],
    ) {
        let title = format!("{version} {} -> {}", initiator.name(), acceptor.name());
        let place = self.folder.join(format!(
            "{}-{}",
            self.passed + self.failed,
            title.replace(" -> ", "-to-").replace(' ', "-")
        ));
        let mut pair = match Pairing::start(initiator, acceptor, version, &place, dictionary) {
            Ok(pair) => pair,
            Err(why) => {
                self.line(&title, "start", Err(why));
                self.failed += steps.len() - 1;
                return;
            }
        };
        for (at, step) in steps.iter().enumerate() {
            let outcome = (step.run)(&mut pair);
            let failed = outcome.is_err();
            self.line(&title, step.name, outcome);
            if failed {
                self.failed += steps.len() - at - 1;
                return;
            }
        }
        if let Err(why) = pair.stop() {
            self.line(&title, "stop", Err(why));
        }
    }

    fn line(&mut self, title: &str, step: &str, outcome: Outcome) {
        match outcome {
            Ok(counts) => {
                self.passed += 1;
                println!("PASS {title}: {step}: {counts}");
            }
            Err(why) => {
                self.failed += 1;
                println!("FAIL {title}: {step}: {why}");
            }
        }
    }

    fn end(self) -> ExitCode {
        if self.failed == 0 {
            // What the children wrote is of interest only when a step failed.
            let _ = std::fs::remove_dir_all(&self.folder);
        } else {
            println!("what each side said is kept in {}", self.folder.display());
        }
        println!("{} passed, {} failed", self.passed, self.failed);
        if self.failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
    }
}

/// The folder with other engines' dictionaries; it may be absent.
fn shared_folder() -> PathBuf {
    match std::env::var_os("FIXBOLT_SHARED") {
        Some(folder) => folder.into(),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared"),
    }
}
