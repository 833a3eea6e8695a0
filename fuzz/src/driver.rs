//! Runs targets for a given time, catches their failures, minimizes the inputs and prints how to
//! reproduce them.
//!
//! Input `n` of a target depends only on (seed, target, n): no state passes from one input to the
//! next. An input that never ends is reported too, by a watchdog over all workers, and ends the
//! process.

use std::any::Any;
use std::cell::RefCell;
use std::fmt;
use std::fs;
use std::panic::{self, AssertUnwindSafe};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::mutate::mutate;
use crate::random::Random;
use crate::targets::Target;

/// Maximum length of an input, in bytes.
const MOST: usize = 16 * 1024;
/// An input that takes longer than this counts as hanging.
const PATIENCE: Duration = Duration::from_secs(20);

/// How to run.
#[derive(Clone, Debug)]
pub struct Settings {
    /// How long each target runs.
    pub time: Duration,
    /// The seed of the random numbers.
    pub seed: u64,
    /// Directories of inputs that get far into the code under test, one per target: seeds in
    /// addition to those that a target makes itself.
    pub corpus: PathBuf,
    /// Directories of inputs that once failed, one per target: they run first and are seeds too.
    pub regressions: PathBuf,
    /// Where failing inputs are kept.
    pub artifacts: PathBuf,
}

/// An input that made a check fail.
#[derive(Clone, Debug)]
pub struct Failure {
    /// The target's name.
    pub target: &'static str,
    /// The number of the input, or the file.
    pub origin: String,
    /// What failed.
    pub message: String,
    /// The input, as small as the driver could make it.
    pub input: Vec<u8>,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "FAILURE {} ({}): {}", self.target, self.origin, self.message)?;
        write!(f, "    input, {} bytes: b\"{}\"", self.input.len(), self.input.escape_ascii())
    }
}

/// The result of a target's run.
#[derive(Clone, Debug)]
pub struct Summary {
    /// The target's name.
    pub target: &'static str,
    /// Number of inputs run.
    pub inputs: u64,
    /// The first failure, at which the target stops.
    pub failure: Option<Failure>,
}

thread_local! {
    /// The message and place of this thread's last panic.
    static SAID: RefCell<String> = const { RefCell::new(String::new()) };
}

/// What a worker is doing, for the watchdog.
struct Now {
    target: AtomicUsize,
    input: AtomicU64,
    /// Milliseconds since the run began; 0 if it is idle.
    since: AtomicU64,
}

/// Runs all targets, as many at a time as the machine has cores.
#[must_use]
pub fn run_all(targets: &[&'static Target], settings: &Settings) -> Vec<Summary> {
    catch_quietly();
    let next = AtomicUsize::new(0);
    let done = Mutex::new(Vec::new());
    let began = Instant::now();
    let width = thread::available_parallelism().map_or(1, usize::from).min(targets.len().max(1));
    let workers: Vec<Now> = (0..width)
        .map(|_| Now { target: AtomicUsize::new(0), input: AtomicU64::new(0), since: AtomicU64::new(0) })
        .collect();
    let running = AtomicUsize::new(width);
    thread::scope(|scope| {
        for now in &workers {
            scope.spawn(|| {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let Some(target) = targets.get(at) else { break };
                    now.target.store(at, Ordering::Relaxed);
                    let summary = run_target(target, settings, |input| {
                        now.input.store(input, Ordering::Relaxed);
                        now.since.store(began.elapsed().as_millis() as u64 + 1, Ordering::Relaxed);
                    });
                    now.since.store(0, Ordering::Relaxed);
                    println!("{:<14} {:>10} inputs", summary.target, summary.inputs);
                    done.lock().unwrap_or_else(|e| e.into_inner()).push(summary);
                }
                running.fetch_sub(1, Ordering::Relaxed);
            });
        }
        while running.load(Ordering::Relaxed) > 0 {
            thread::sleep(Duration::from_millis(100));
            for now in &workers {
                let since = now.since.load(Ordering::Relaxed);
                if since == 0 || began.elapsed() < Duration::from_millis(since) + PATIENCE {
                    continue;
                }
                let target = targets[now.target.load(Ordering::Relaxed)];
                let input = now.input.load(Ordering::Relaxed);
                println!("FAILURE {}: input {input} of seed {} hangs", target.name, settings.seed);
                std::process::exit(1);
            }
        }
    });
    done.into_inner().unwrap_or_else(|e| e.into_inner())
}

fn run_target(target: &'static Target, settings: &Settings, mut tell: impl FnMut(u64)) -> Summary {
    let began = Instant::now();
    let mut inputs = 0;
    let fail = |origin: String, input: &[u8], message: String, inputs| {
        let (input, message) = smaller(target, input.to_vec(), message);
        let failure = Failure { target: target.name, origin, message, input };
        println!("{failure}");
        keep(settings, &failure);
        Summary { target: target.name, inputs, failure: Some(failure) }
    };
    let seeds = seeds_of(target, settings);
    for (origin, input) in &seeds {
        tell(0);
        inputs += 1;
        if let Err(message) = attempt(target, input) {
            return fail(origin.clone(), input, message, inputs);
        }
    }
    let seeds: Vec<_> = seeds.into_iter().map(|(_, input)| input).collect();
    let mut number = 0;
    while began.elapsed() < settings.time {
        for _ in 0..16 {
            let input = input_of(target, &seeds, settings.seed, number);
            tell(number);
            inputs += 1;
            if let Err(message) = attempt(target, &input) {
                return fail(format!("--seed {} --input {number}", settings.seed), &input, message, inputs);
            }
            number += 1;
        }
    }
    Summary { target: target.name, inputs, failure: None }
}

/// Returns the seeds of inputs and their origins; those that once failed come first.
fn seeds_of(target: &Target, settings: &Settings) -> Vec<(String, Vec<u8>)> {
    let mut seeds = files_in(&settings.regressions.join(target.name));
    seeds.extend(files_in(&settings.corpus.join(target.name)));
    seeds.extend((target.seeds)().into_iter().map(|seed| ("a seed".to_owned(), seed)));
    seeds
}

fn input_of(target: &Target, seeds: &[Vec<u8>], seed: u64, number: u64) -> Vec<u8> {
    let mut random = Random::of(&[seed, Random::of_bytes(target.name.as_bytes()).next(), number]);
    mutate(seeds, &mut random, MOST)
}

/// Runs input `number` of `seed` alone.
///
/// # Errors
/// Returns what failed.
pub fn run_one(target: &'static Target, settings: &Settings, number: u64) -> Result<(), String> {
    catch_quietly();
    let seeds: Vec<_> = seeds_of(target, settings).into_iter().map(|(_, input)| input).collect();
    let input = input_of(target, &seeds, settings.seed, number);
    println!("input, {} bytes: b\"{}\"", input.len(), input.escape_ascii());
    attempt(target, &input)
}

/// Runs one input.
///
/// # Errors
/// Returns what failed.
pub fn replay(target: &'static Target, input: &[u8]) -> Result<(), String> {
    catch_quietly();
    attempt(target, input)
}

fn attempt(target: &Target, input: &[u8]) -> Result<(), String> {
    panic::catch_unwind(AssertUnwindSafe(|| (target.run)(input))).map_err(|payload: Box<dyn Any + Send>| {
        let said = SAID.with(|said| said.take());
        drop(payload);
        said
    })
}

/// A panic is a result here: it is recorded, not printed.
fn catch_quietly() {
    panic::set_hook(Box::new(|info| {
        SAID.with(|said| {
            let place =
                info.location().map_or_else(String::new, |at| format!(" at {}:{}", at.file(), at.line()));
            *said.borrow_mut() =
                format!("{}{place}", info.payload_as_str().unwrap_or("a panic without a message"));
        });
    }));
}

/// Removes pieces for as long as the target still fails, for at most a few seconds.
fn smaller(target: &Target, mut input: Vec<u8>, mut message: String) -> (Vec<u8>, String) {
    let began = Instant::now();
    let mut piece = input.len() / 2;
    while piece > 0 {
        let mut at = 0;
        while at < input.len() && began.elapsed() < Duration::from_secs(10) {
            let mut shorter = input.clone();
            shorter.drain(at..(at + piece).min(input.len()));
            if let Err(said) = attempt(target, &shorter) {
                (input, message) = (shorter, said);
            } else {
                at += piece;
            }
        }
        piece /= 2;
    }
    (input, message)
}

fn files_in(folder: &Path) -> Vec<(String, Vec<u8>)> {
    let Ok(files) = fs::read_dir(folder) else { return Vec::new() };
    let mut found: Vec<_> = files
        .flatten()
        .filter_map(|file| Some((file.path().display().to_string(), fs::read(file.path()).ok()?)))
        .collect();
    found.sort();
    found
}

fn keep(settings: &Settings, failure: &Failure) {
    let folder = settings.artifacts.join(failure.target);
    let path = folder.join(format!("{:016x}", Random::of_bytes(&failure.input).next()));
    match fs::create_dir_all(&folder).and_then(|()| fs::write(&path, &failure.input)) {
        Ok(()) => println!("    kept in {}", path.display()),
        Err(error) => println!("    could not be kept in {}: {error}", path.display()),
    }
}
