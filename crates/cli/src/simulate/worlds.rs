//! Plays worlds on several threads until one of them fails, or enough were played.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use fixbolt_conformance::simulation::{Class, Outcome, Simulation, Totals};

use super::Arguments;
use crate::exit::{Answer, Failure};
use crate::interrupt::Interrupt;
use crate::output;

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
    known: BTreeMap<&'static str, u64>,
    /// The lowest seed that failed.
    failed: Option<u64>,
}

pub(super) fn run(arguments: &Arguments) -> Result<Answer, Failure> {
    let interrupt =
        Interrupt::watch().map_err(|error| Failure::usage(format!("cannot watch signals: {error}")))?;
    let mut simulation = Simulation::new().without(&arguments.without);
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
        run.tell_progress(began, &interrupt);
    });
    let so_far = run.so_far.into_inner().unwrap_or_else(PoisonError::into_inner);
    let mut out = output::stdout();
    if let Some(seed) = so_far.failed {
        let story = run.simulation.explain(seed);
        match &story {
            Some(story) => writeln!(out, "{story}\n")?,
            None => {
                writeln!(out, "seed {seed} failed, but not again: its world is not the same each time\n")?
            }
        }
        let faults = story.map_or_else(|| run.simulation.faults_of(seed), |story| story.faults);
        writeln!(
            out,
            "to repeat it:\n  fixbolt simulate --seed {seed} --world {faults}{}",
            without(arguments)
        )?;
    }
    writeln!(out, "{}", so_far.totals)?;
    for (class, worlds) in &so_far.known {
        writeln!(out, "{worlds} worlds ended with a known fault: {class}")?;
    }
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

fn without(arguments: &Arguments) -> String {
    if arguments.without.is_empty() {
        return String::new();
    }
    let names: Vec<&str> = arguments.without.iter().map(|class: &Class| class.name()).collect();
    format!(" --without {}", names.join(","))
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
            match outcome {
                Outcome::Known(class) => *so_far.known.entry(class.name()).or_default() += 1,
                Outcome::Failed(_) => {
                    so_far.failed = Some(so_far.failed.map_or(seed, |before| before.min(seed)));
                    self.ended.store(true, Ordering::Relaxed);
                }
                _ => {}
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
