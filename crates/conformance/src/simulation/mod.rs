//! Sessions in a world where everything goes wrong that may: a session core of ours and a
//! counterparty that is not our core, in virtual time.
//!
//! A [`Simulation`] plays worlds. Each follows from its seed: which version the session speaks, its
//! settings, its schedule, the habits of its counterparty, what is lost, and what operators, clocks
//! and stores do. The world keeps a diary of what it did, and every outcome must have its cause in
//! it: an end that nobody caused, a message that arrived twice or not at all, a number that moved
//! for nothing is a failure, with a trace that is shrunk to what it needs.
//!
//! ```
//! use fixbolt_conformance::simulation::{Outcome, Simulation};
//!
//! let (outcome, totals) = Simulation::new().play(7);
//! assert_eq!(outcome, Outcome::InStep);
//! assert!(totals.steps > 0);
//! ```

mod acting;
mod app;
mod clock;
mod counterparty;
mod dialect;
mod diary;
mod edges;
mod faults;
mod habits;
mod hostility;
mod judging;
mod link;
mod network;
mod outcome;
mod random;
mod reading;
mod record;
mod resets;
mod settings;
mod text;
mod world;

use std::any::Any;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Once;

pub use faults::Faults;
pub use outcome::{Outcome, Totals};
pub use random::Random;

use crate::broken::Relapse;
use record::Record;
use world::World;

/// Plays worlds.
#[derive(Clone, Debug, Default)]
pub struct Simulation {
    faults: Option<Faults>,
    relapse: Option<Relapse>,
}

/// A world that failed, made as small as it could be.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Story {
    /// The seed of the world.
    pub seed: u64,
    /// What went wrong in it.
    pub faults: Faults,
    /// What has no cause.
    pub why: String,
    /// Everything that happened before, with times and decoded messages. `Display` shows the end of
    /// it.
    pub trace: String,
}

impl fmt::Display for Story {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines: Vec<&str> = self.trace.lines().collect();
        let from = lines.len().saturating_sub(LINES);
        if from > 0 {
            writeln!(f, "({from} lines before)")?;
        }
        for line in &lines[from..] {
            writeln!(f, "{line}")?;
        }
        write!(f, "seed {} with {}: {}", self.seed, self.faults, self.why)
    }
}

/// Lines of a trace that are shown.
const LINES: usize = 60;

impl Simulation {
    /// Returns a simulation whose worlds draw what goes wrong in them.
    #[must_use]
    pub fn new() -> Self {
        silence();
        Self::default()
    }

    /// Plays only worlds with these faults.
    #[must_use]
    pub fn with_faults(mut self, faults: Faults) -> Self {
        self.faults = Some(faults);
        self
    }

    /// Gives the sessions a defect that the core once had.
    #[must_use]
    pub fn with_relapse(mut self, relapse: Relapse) -> Self {
        self.relapse = Some(relapse);
        self
    }

    fn world(&self, seed: u64) -> World {
        let mut world = World::new(seed, self.faults);
        world.break_sessions(self.relapse);
        world
    }

    /// Plays the world of a seed.
    #[must_use]
    pub fn play(&self, seed: u64) -> (Outcome, Totals) {
        let mut world = self.world(seed);
        let outcome = run(&mut world);
        (outcome, world.totals)
    }

    /// Plays the world of a seed and returns everything that happened in it, with times and decoded
    /// messages.
    #[must_use]
    pub fn trace(&self, seed: u64) -> (Outcome, String) {
        let mut world = self.world(seed);
        world.record = Some(Record::default());
        let outcome = run(&mut world);
        (outcome, world.record.take().map(|record| record.text()).unwrap_or_default())
    }

    /// Returns the faults of the world of a seed.
    #[must_use]
    pub fn faults_of(&self, seed: u64) -> Faults {
        World::new(seed, self.faults).faults
    }

    /// Plays the world of a seed that failed again, with fewer and weaker faults as long as it
    /// fails, and returns what happened. `None` if it does not fail.
    #[must_use]
    pub fn explain(&self, seed: u64) -> Option<Story> {
        let mut story = self.tell(seed, self.faults_of(seed))?;
        'smaller: loop {
            for faults in story.faults.weaker() {
                if let Some(smaller) = self.tell(seed, faults) {
                    story = smaller;
                    continue 'smaller;
                }
            }
            return Some(story);
        }
    }

    fn tell(&self, seed: u64, faults: Faults) -> Option<Story> {
        let (outcome, trace) = self.clone().with_faults(faults).trace(seed);
        let Outcome::Failed(why) = outcome else { return None };
        Some(Story { seed, faults, why, trace })
    }
}

/// A panic of the session is a failure of its world.
fn run(world: &mut World) -> Outcome {
    match catch_unwind(AssertUnwindSafe(|| world.run())) {
        Ok(outcome) => outcome,
        Err(cause) => Outcome::Failed(format!("a panic: {}", said(&*cause))),
    }
}

fn said(cause: &(dyn Any + Send)) -> String {
    let text = cause.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| cause.downcast_ref::<String>().cloned()).unwrap_or_default()
}

/// Keeps the panics of worlds from being printed: those that a world causes are meant, and the
/// others are told with its story.
fn silence() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let print = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            let payload = info.payload();
            let meant = payload.is::<crate::disk::Died>()
                || payload.downcast_ref::<&str>().is_some_and(|text| *text == app::SIMULATED);
            if !meant {
                print(info);
            }
        }));
    });
}
