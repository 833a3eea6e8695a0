//! Plays worlds on several threads until one of them fails, or enough were played.

use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use fixbolt_cli::exit::{Answer, Failure};
use fixbolt_cli::interrupt::Interrupt;
use fixbolt_cli::note;
use fixbolt_cli::output;
use fixbolt_conformance::simulation::{Outcome, Simulation, Totals};

use super::Arguments;

/// Worlds that are played unless something else is said.
const WORLDS: u64 = 1000;
/// How often the progress is told.
const PROGRESS: Duration = Duration::from_secs(5);

/// What the threads share.
struct Run {
    simulation: Simulation,
    first: u64,
    /// The number of worlds to play at most.
    most: u64,
    until: Option<Instant>,
    next: AtomicU64,
    ended: AtomicBool,
    so_far: Mutex<SoFar>,
}

#[derive(Default)]
struct SoFar {
    totals: Totals,
    /// The lowest seed that failed.
    failed: Option<u64>,
}

pub(super) fn run(arguments: &Arguments) -> Result<Answer, Failure> {
    let interrupt =
        Interrupt::watch().map_err(|error| Failure::usage(format!("cannot watch signals: {error}")))?;
    play(Simulation::new(), arguments, &interrupt, &mut output::verdict())
}

/// Plays worlds with the faults that are asked for, and tells what they came to.
fn play(
    mut simulation: Simulation,
    arguments: &Arguments,
    interrupt: &Interrupt,
    out: &mut impl Write,
) -> Result<Answer, Failure> {
    if let Some(faults) = arguments.world {
        simulation = simulation.with_faults(faults);
    }
    let most = match (arguments.seeds, arguments.minutes, arguments.seed) {
        (Some(seeds), _, _) => seeds,
        (None, Some(_), _) => u64::MAX,
        (None, None, Some(_)) => 1,
        (None, None, None) => WORLDS,
    };
    let run = Run {
        simulation,
        first: arguments.seed.unwrap_or_else(new_seed),
        most,
        until: arguments.minutes.map(|minutes| Instant::now() + Duration::from_secs(60 * minutes)),
        next: AtomicU64::new(0),
        ended: AtomicBool::new(false),
        so_far: Mutex::default(),
    };
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let jobs = arguments.jobs.map_or(cores, usize::from);
    note!("worlds from seed {} on", run.first);
    let began = Instant::now();
    std::thread::scope(|scope| {
        for _ in 0..jobs {
            scope.spawn(|| run.play());
        }
        run.tell_progress(began, interrupt);
    });
    let so_far = run.so_far.into_inner().unwrap_or_else(PoisonError::into_inner);
    if let Some(seed) = so_far.failed {
        tell_failure(&run.simulation, seed, out)?;
    }
    writeln!(out, "{}", so_far.totals)?;
    let seconds = began.elapsed().as_secs_f64().max(1e-9);
    let rate = |count: u64| count as f64 / seconds;
    let (worlds, steps) = (rate(so_far.totals.worlds), rate(so_far.totals.steps));
    writeln!(out, "{seconds:.1} s, {worlds:.0} worlds and {steps:.0} steps a second on {jobs} threads")?;
    out.flush()?;
    if so_far.failed.is_some() {
        return Ok(Answer::No);
    }
    if interrupt.came() {
        return Err(Failure::interrupted("interrupted; no fault was found so far"));
    }
    Ok(Answer::Yes)
}

/// Returns a seed that no run before had, short enough to be typed.
fn new_seed() -> u64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    (since.as_millis() as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 24
}

/// Tells what happened in a world that failed, with as few faults as it needs, and how to repeat
/// it.
fn tell_failure(simulation: &Simulation, seed: u64, out: &mut impl Write) -> io::Result<()> {
    let story = simulation.explain(seed);
    match &story {
        Some(story) => writeln!(out, "{story}\n")?,
        None => writeln!(out, "seed {seed} failed, but not again: its world is not the same each time\n")?,
    }
    let faults = story.map_or_else(|| simulation.faults_of(seed), |story| story.faults);
    writeln!(out, "to repeat it:\n  fixbolt simulate --seed {seed} --world {faults}")
}

impl Run {
    /// Plays worlds until there are enough.
    fn play(&self) {
        while !self.ended.load(Ordering::Relaxed) {
            let number = self.next.fetch_add(1, Ordering::Relaxed);
            if number >= self.most || self.until.is_some_and(|until| Instant::now() >= until) {
                break;
            }
            let seed = self.first.wrapping_add(number);
            let (outcome, totals) = self.simulation.play(seed);
            let mut so_far = self.so_far.lock().unwrap_or_else(PoisonError::into_inner);
            so_far.totals.add(&totals);
            if let Outcome::Failed(_) = outcome {
                so_far.failed = Some(so_far.failed.map_or(seed, |before| before.min(seed)));
                self.ended.store(true, Ordering::Relaxed);
            }
        }
        self.ended.store(true, Ordering::Relaxed);
    }

    fn tell_progress(&self, began: Instant, interrupt: &Interrupt) {
        let mut told = began;
        while !self.ended.load(Ordering::Relaxed) {
            std::thread::sleep(Duration::from_millis(20));
            if interrupt.came() {
                self.ended.store(true, Ordering::Relaxed);
            }
            if told.elapsed() >= PROGRESS {
                told = Instant::now();
                let worlds = self.so_far.lock().unwrap_or_else(PoisonError::into_inner).totals.worlds;
                note!("{:.0} s: {worlds} worlds, no fault", began.elapsed().as_secs_f64());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;
    use fixbolt_conformance::Relapse;

    use super::*;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        arguments: Arguments,
    }

    /// Plays worlds of sessions with a defect that the core once had.
    fn simulate(line: &[&str]) -> (Answer, String) {
        let Line { arguments } = Line::try_parse_from(line).unwrap();
        let broken = Simulation::new().with_relapse(Relapse::SequenceResetNotVerified);
        let mut out = Vec::new();
        let answer = play(broken, &arguments, &Interrupt::watch().unwrap(), &mut out).unwrap();
        (answer, String::from_utf8(out).unwrap())
    }

    #[test]
    fn a_fault_is_told_with_its_trace_and_the_command_that_repeats_it() {
        let line = ["simulate", "--world", "cuts,hostile", "--seed", "0", "--seeds", "200"];
        let (answer, told) = simulate(&line);
        assert_eq!(answer, Answer::No, "{told}");
        assert!(told.contains(" -> 8=FIX") && told.contains("|49=US|"), "{told}");
        let command = told.lines().find_map(|line| line.strip_prefix("  fixbolt ")).unwrap();
        let (answer, again) = simulate(&command.split(' ').collect::<Vec<_>>());
        assert_eq!(answer, Answer::No, "{again}");
        let why = |told: &str| told.lines().find(|line| line.starts_with("seed ")).unwrap().to_owned();
        assert_eq!(why(&again), why(&told));
    }
}
