//! Runs Fixbolt against other engines, step by step. Each step prints one line: `PASS` or `FAIL`,
//! the pairing, the step, its counts. The last line is `N passed, N failed`; the exit status is 0
//! if nothing failed, 1 if something failed, 2 for wrong usage or if nothing could be run.

mod kills;
mod pairing;
mod side;

use kills::{PHASES, Run};
use pairing::{GROUP_STEP, Outcome, Pairing, STEPS, Step};
use side::{Engine, Role, quickfix_program};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{SystemTime, UNIX_EPOCH};

const USAGE: &str = "usage: interop self-test|short|all [SEED]
  self-test   every step with QuickFIX on both sides: does the harness itself work?
  short       Fixbolt and QuickFIX in both roles and versions; 5 kills in each role
  all         short with 20 kills in each role, and a kill in each phase of a turn
  SEED        decides when to kill (default: the clock)";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let clock = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos() as u64;
    let seed = args.get(1).map_or(Ok(clock), |seed| seed.parse());
    let (Some(what), Ok(seed)) = (args.first(), seed) else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    if !quickfix_program().exists() {
        eprintln!("interop: {} is not built: run make in peers/quickfix-cpp", quickfix_program().display());
        return ExitCode::from(2);
    }
    let folder = std::env::temp_dir().join(format!("fixbolt-interop-{}", std::process::id()));
    let mut results = Results { folder, passed: 0, failed: 0 };
    match what.as_str() {
        "self-test" => results.pairings(Engine::QuickFix, Engine::QuickFix),
        "short" => {
            results.both_ways();
            results.kills(5, seed);
        }
        "all" => {
            results.both_ways();
            results.kills(20, seed);
            results.phase_kills();
        }
        _ => {
            eprintln!("{USAGE}");
            return ExitCode::from(2);
        }
    }
    results.end()
}

/// Prints one line per step and counts the results.
struct Results {
    folder: PathBuf,
    passed: usize,
    failed: usize,
}

impl Results {
    fn both_ways(&mut self) {
        self.pairings(Engine::QuickFix, Engine::Fixbolt);
        self.pairings(Engine::Fixbolt, Engine::QuickFix);
    }

    fn pairings(&mut self, initiator: Engine, acceptor: Engine) {
        for version in ["FIX.4.2", "FIX.4.4", "FIXT.1.1"] {
            self.steps(initiator, acceptor, version, None, STEPS);
        }
        let dictionary = shared_folder().join("dictionaries/quickfix/FIX44.xml");
        if dictionary.exists() {
            self.steps(initiator, acceptor, "FIX.4.4", Some(&dictionary), &[GROUP_STEP]);
        } else {
            println!("SKIP {}: {} is absent", GROUP_STEP.name, dictionary.display());
        }
    }

    fn kills(&mut self, kills: usize, seed: u64) {
        for (role, version) in [(Role::Initiator, "FIX.4.2"), (Role::Acceptor, "FIX.4.4")] {
            let folder = self.folder.join(format!("kills-{}", role.name()));
            let run = Run { role, version, folder: &folder };
            let outcome = run.at_random(kills, seed);
            self.line(&format!("{version} fixbolt {} killed", role.name()), "20,000 orders", outcome);
        }
    }

    fn phase_kills(&mut self) {
        for (role, version) in [(Role::Initiator, "FIX.4.4"), (Role::Acceptor, "FIX.4.2")] {
            for phase in PHASES {
                let folder = self.folder.join(format!("killed-at-{phase}-{}", role.name()));
                let run = Run { role, version, folder: &folder };
                let nth = if phase == "idle" { 100 } else { 500 };
                let outcome = run.at_phase(phase, nth);
                self.line(&format!("{version} fixbolt {} killed", role.name()), "2,000 orders", outcome);
            }
        }
    }

    /// Runs the steps in order. A step that fails ends its pairing: the steps after it count as
    /// failed.
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
        let mut pair = match Pairing::start(initiator, acceptor, version, &place, dictionary, None) {
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
            // The output of the children is needed only if a step failed.
            let _ = std::fs::remove_dir_all(&self.folder);
        } else {
            println!("the output of each side is kept in {}", self.folder.display());
        }
        println!("{} passed, {} failed", self.passed, self.failed);
        if self.failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
    }
}

/// Returns the folder with other engines' dictionaries, which may be absent.
fn shared_folder() -> PathBuf {
    match std::env::var_os("FIXBOLT_SHARED") {
        Some(folder) => folder.into(),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared"),
    }
}
