//! `fixbolt simulate`: runs the session core in virtual time: in worlds where everything goes wrong
//! that may, or with what a journal has.

mod from_journal;
mod worlds;

use std::path::PathBuf;

use clap::Args;
use fixbolt_cli::exit::{Answer, Failure};
use fixbolt_cli::output::Format;
use fixbolt_conformance::simulation::Faults;

/// Plays sessions in simulated worlds, or replays journals into the session core.
///
/// In a world, a session trades with a counterparty of another make. The world follows from its
/// seed: the version, the settings, the schedule, what the counterparty does where the standard
/// leaves it free, and what goes wrong: messages are lost and garbled, connections cut, clocks
/// jump, processes die, stores refuse, operators act at any time. In the end every outcome must
/// have its cause in what the world did; what has none is a fault of the session. The seeds of a
/// run are new each time, and printed. A failure is made as small as possible and shown as decoded
/// messages with their times, with the command that repeats it.
///
/// With --from-journal, the messages that a session has received are given to the same core once
/// more, with the clock of the journal and an application that sends what the recorded one sent.
/// Each message that the session sends is then compared with the recorded one, byte for byte,
/// SendingTime included. The journals are only read, and their sessions may be running.
///
/// With --config, that session has the settings of that configuration. Without it, it has the
/// default ones, and what its journal shows of others; the first line says which.
///
/// A message is different, missing (the core does not send it) or extra (only the core sends it).
/// Each difference is shown with its time and MsgSeqNum, both messages field by field, and the
/// first field that differs. A MsgSeqNum that differs only because of an earlier difference is no
/// other one. What a timer or the application sends of its own accord is sent at its recorded time;
/// a timer that was more than a second late, because something else came first, is a difference.
///
/// Some things cannot be replayed as they were, and the last lines count them. What an application
/// wrote is taken from the journal, so only what the session adds to it is compared. A message that
/// arrived after a gap is recorded when it was processed; a gap fill stands for it until then.
/// Messages that were garbled or ignored, those on which an application failed, and those that were
/// sent again are not in a journal. Secrets are masked in it, and compared so.
///
/// The JSON output of a journal is one object per line: kind settings (role, from), note (time,
/// text), difference (what, time, seq, field, recorded, replayed) and summary (inbound, compared,
/// equal, different, missing, extra, limits).
///
/// Exit status: 0 no fault was found, or every message is equal; 1 a fault was found, or there are
/// differences; 2 wrong usage, or a journal or the configuration cannot be read; 130 interrupted.
#[derive(Debug, Args)]
#[command(verbatim_doc_comment)]
#[command(
    after_help = "Examples:\n  fixbolt simulate --minutes 5\n  fixbolt simulate --seed 7 --world inbound=60,operators\n  fixbolt simulate --from-journal /var/lib/fix/journal/FIX.4.4-VENUE-TRADER\n  fixbolt simulate --from-journal /var/lib/fix/journal --config venue.cfg\n  fixbolt simulate --from-journal /var/lib/fix/journal/FIX.4.4-VENUE-TRADER --until 4711"
)]
pub(crate) struct Arguments {
    /// Number of worlds [default: 1000, or 1 with --seed]
    #[arg(long, value_name = "N", conflicts_with_all = ["minutes", "from_journal"], value_parser = clap::value_parser!(u64).range(1..))]
    seeds: Option<u64>,
    /// How long to play, instead of a number of worlds
    #[arg(long, value_name = "M", conflicts_with = "from_journal", value_parser = clap::value_parser!(u64).range(1..=100_000))]
    minutes: Option<u64>,
    /// The seed of the first world; the others follow it
    #[arg(long, value_name = "S", conflicts_with = "from_journal")]
    seed: Option<u64>,
    /// What goes wrong in each world, instead of what its seed draws: inbound=RATE and
    /// outbound=RATE, how many of a thousand messages are lost, and cuts, logouts, resets,
    /// operators, throttles, schedule, settings, clock, pauses, deaths, store, restored,
    /// application, slow, or none
    #[arg(long, value_name = "FAULTS", conflicts_with = "from_journal", value_parser = str::parse::<Faults>)]
    world: Option<Faults>,
    /// Threads that play worlds [default: one for each processor]
    #[arg(long, value_name = "N", conflicts_with = "from_journal", value_parser = clap::value_parser!(u16).range(1..=1024))]
    jobs: Option<u16>,
    /// A session's journal, or a directory with several
    #[arg(long, value_name = "DIR")]
    from_journal: Option<PathBuf>,
    /// Stop after the inbound message with this MsgSeqNum, since the last reset of the sequence
    /// numbers
    #[arg(long, value_name = "SEQ", requires = "from_journal")]
    until: Option<u64>,
    /// The configuration with the settings of the journals' sessions
    #[arg(long, value_name = "FILE", requires = "from_journal")]
    config: Option<PathBuf>,
    /// Output format of a journal's differences
    #[arg(
        short,
        long,
        value_enum,
        default_value_t,
        requires = "from_journal",
        value_name = "text|json",
        hide_possible_values = true
    )]
    output: Format,
}

/// Runs the command.
pub(crate) fn run(arguments: &Arguments) -> Result<Answer, Failure> {
    match &arguments.from_journal {
        Some(journal) => {
            from_journal::run(journal, arguments.until, arguments.config.as_deref(), arguments.output)
        }
        None => worlds::run(arguments),
    }
}
