//! `fixbolt simulate`: sessions in a simulated world where everything goes wrong that may.

mod worlds;

use clap::Args;
use fixbolt_conformance::simulation::{Class, Faults};

use crate::exit::{Answer, Failure};

/// Plays sessions against a counterparty of another make in simulated worlds.
///
/// Each world follows from its seed: the version, the settings, the schedule, what the counterparty
/// does where the standard leaves it free, and what goes wrong: messages are lost and garbled,
/// connections cut, clocks jump, processes die, stores refuse, operators act at any time. In the
/// end every outcome must have its cause in what the world did; what has none is a fault of the
/// session.
///
/// The seeds of a run are new each time, and printed. A failure is made as small as possible and
/// shown as decoded messages with their times, with the command that repeats it.
///
/// Exit status: 0 no fault was found; 1 a fault was found; 2 wrong usage; 130 interrupted.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct Arguments {
    /// Number of worlds [default: 1000, or 1 with --seed]
    #[arg(long, value_name = "N", conflicts_with = "minutes", value_parser = clap::value_parser!(u64).range(1..))]
    seeds: Option<u64>,
    /// How long to play, instead of a number of worlds
    #[arg(long, value_name = "M", value_parser = clap::value_parser!(u64).range(1..=100_000))]
    minutes: Option<u64>,
    /// The seed of the first world; the others follow it
    #[arg(long, value_name = "S")]
    seed: Option<u64>,
    /// What goes wrong in each world, instead of what its seed draws: inbound=RATE and
    /// outbound=RATE, how many of a thousand messages are lost, and cuts, logouts, resets,
    /// operators, throttles, schedule, settings, clock, pauses, deaths, store, restored,
    /// application, slow, or none
    #[arg(long, value_name = "FAULTS", value_parser = str::parse::<Faults>)]
    world: Option<Faults>,
    /// Known faults of the session at which a world ends without a failure, separated by commas
    #[arg(long, value_name = "FAULTS", value_delimiter = ',', value_parser = str::parse::<Class>)]
    without: Vec<Class>,
    /// Threads that play worlds [default: one for each processor]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    jobs: Option<u16>,
}

/// Runs the command.
pub(crate) fn run(arguments: &Arguments) -> Result<Answer, Failure> {
    worlds::run(arguments)
}
