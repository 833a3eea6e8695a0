//! Runs Fixbolt against other engines, step by step. Each step prints one line: `PASS` or `FAIL`,
//! the pairing, the step, its counts. The last line is `N passed, N failed`; the exit status is 0
//! if nothing failed, 1 if something failed, 2 for wrong usage or if nothing could be run.

mod courses;
mod identity;
mod kills;
mod pairing;
mod recovery;
mod side;
mod sizes;
mod stock;

use courses::Course;
use kills::{PHASES, Run};
use pairing::{Outcome, Pairing};
use side::{Engine, Role};
use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Mutex;
use std::time::{SystemTime, UNIX_EPOCH};
use stock::Program;

const USAGE: &str = "usage: interop self-test|short|all [--peer NAME] [SEED]
  self-test    the steps with the peer on both sides: does the harness itself work?
  short        Fixbolt and the peer in both roles and each version; with QuickFIX C++, 5 kills in each role
  all          the same with more settings, 20 kills in each role, and a kill in each phase of a turn
  --peer NAME  quickfix-cpp (default), quickfixj or quickfixgo
  SEED         decides when to kill (default: the clock)";

/// How many pairings run at the same time. Their time is mostly spent waiting.
const AT_ONCE: usize = 5;

fn main() -> ExitCode {
    let Some((what, peer, seed)) = read_args(std::env::args().skip(1)) else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    if !peer.built().exists() {
        eprintln!("interop: {} is not built: run make in its folder", peer.built().display());
        return ExitCode::from(2);
    }
    let folder = std::env::temp_dir().join(format!("fixbolt-interop-{}", std::process::id()));
    let results = Results { folder, counts: Mutex::default() };
    match what {
        What::SelfTest => results.run(courses::between(peer, peer, true), &[]),
        What::Short | What::All => {
            let stock = if peer == Engine::QuickFixJ { stock::PROGRAMS } else { &[] };
            results.run(courses::both_ways(peer, what == What::All), stock);
            if what == What::All {
                results.kills(peer, 20, seed);
                results.phase_kills(peer);
            } else if peer == Engine::QuickFixCpp {
                results.kills(peer, 5, seed);
            }
        }
    }
    results.end()
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum What {
    SelfTest,
    Short,
    All,
}

fn read_args(mut args: impl Iterator<Item = String>) -> Option<(What, Engine, u64)> {
    let what = match args.next()?.as_str() {
        "self-test" => What::SelfTest,
        "short" => What::Short,
        "all" => What::All,
        _ => return None,
    };
    let mut peer = Engine::QuickFixCpp;
    let mut seed = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos() as u64;
    while let Some(arg) = args.next() {
        if arg == "--peer" {
            let name = args.next()?;
            peer = Engine::PEERS.into_iter().find(|peer| peer.name() == name)?;
        } else {
            seed = arg.parse().ok()?;
        }
    }
    Some((what, peer, seed))
}

/// What runs beside other jobs.
enum Job {
    Course(Course),
    Stock(&'static Program),
}

/// Prints one line per step and counts the results.
struct Results {
    folder: PathBuf,
    counts: Mutex<Counts>,
}

#[derive(Default)]
struct Counts {
    passed: usize,
    failed: usize,
}

impl Results {
    /// Runs courses and stock programs, several at once.
    fn run(&self, courses: Vec<Course>, stock: &'static [Program]) {
        let jobs = courses.into_iter().map(Job::Course).chain(stock.iter().map(Job::Stock));
        let waiting: Mutex<VecDeque<_>> = Mutex::new(jobs.enumerate().collect());
        let next = || waiting.lock().expect("no holder panics").pop_front();
        std::thread::scope(|scope| {
            for _ in 0..AT_ONCE {
                scope.spawn(|| {
                    while let Some((at, job)) = next() {
                        let folder = self.folder.join(at.to_string());
                        match job {
                            Job::Course(course) => self.course(&course, &folder),
                            Job::Stock(program) => {
                                self.line(program.name, program.what, (program.run)(&folder));
                            }
                        }
                    }
                });
            }
        });
    }

    /// Runs the steps in order. A step that fails ends its pairing: the steps after it count as
    /// failed.
    fn course(&self, course: &Course, folder: &Path) {
        let setup = &course.setup;
        let title = format!("{} {} -> {}", setup.version, setup.initiator.name(), setup.acceptor.name());
        let mut pair = match Pairing::start(setup, folder) {
            Ok(pair) => pair,
            Err(why) => {
                self.line(&title, "start", Err(why));
                self.not_run(course.steps.len() - 1);
                return;
            }
        };
        for (at, step) in course.steps.iter().enumerate() {
            let outcome = (step.run)(&mut pair);
            let failed = outcome.is_err();
            self.line(&title, step.name, outcome);
            if failed {
                self.not_run(course.steps.len() - at - 1);
                return;
            }
        }
        if let Err(why) = pair.stop() {
            self.line(&title, "stop", Err(why));
        }
    }

    fn kills(&self, peer: Engine, kills: usize, seed: u64) {
        for (role, version) in [(Role::Initiator, "FIX.4.2"), (Role::Acceptor, "FIX.4.4")] {
            let folder = self.folder.join(format!("kills-{}", role.name()));
            let run = Run { role, peer, version, folder: &folder };
            let outcome = run.at_random(kills, seed);
            self.line(&format!("{version} fixbolt {} killed", role.name()), "20,000 orders", outcome);
        }
    }

    fn phase_kills(&self, peer: Engine) {
        for (role, version) in [(Role::Initiator, "FIX.4.4"), (Role::Acceptor, "FIX.4.2")] {
            for phase in PHASES {
                let folder = self.folder.join(format!("killed-at-{phase}-{}", role.name()));
                let run = Run { role, peer, version, folder: &folder };
                // One call sends, and one pause follows, what many orders cause if the machine is
                // busy.
                let nth = match phase {
                    "send" => 20,
                    "idle" => 100,
                    _ => 500,
                };
                let outcome = run.at_phase(phase, nth);
                self.line(&format!("{version} fixbolt {} killed", role.name()), "2,000 orders", outcome);
            }
        }
    }

    fn line(&self, title: &str, step: &str, outcome: Outcome) {
        let mut counts = self.counts.lock().expect("no holder panics");
        match outcome {
            Ok(said) => {
                counts.passed += 1;
                println!("PASS {title}: {step}: {said}");
            }
            Err(why) => {
                counts.failed += 1;
                println!("FAIL {title}: {step}: {why}");
            }
        }
    }

    /// Counts steps as failed that were not reached.
    fn not_run(&self, steps: usize) {
        self.counts.lock().expect("no holder panics").failed += steps;
    }

    fn end(self) -> ExitCode {
        let Counts { passed, failed } = self.counts.into_inner().expect("no holder panicked");
        if failed == 0 {
            // The output of the children is needed only if a step failed.
            let _ = std::fs::remove_dir_all(&self.folder);
        } else {
            println!("the output of each side is kept in {}", self.folder.display());
        }
        println!("{passed} passed, {failed} failed");
        if failed == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
    }
}
