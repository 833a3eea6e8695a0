//! `fixbolt simulate --from-journal`: replays journals, and reports what is different.

mod application;
mod comparison;
mod outcome;
mod recorder;
mod repeat;
mod replay;
mod report;
mod settings;
mod turn;
mod wire;

use std::path::Path;

use fixbolt_codec::SeqNum;
use fixbolt_journal::{JournalReader, SessionJournal, inspect};
use fixbolt_session::SessionId;
use fixbolt_session::store::Generation;

use crate::journal::refused;
use fixbolt_cli::exit::{Answer, Failure};
use fixbolt_cli::output::Format;
use report::Report;
use settings::Chosen;
use turn::Turn;

/// Replays the journals in a directory.
pub(super) fn run(
    directory: &Path,
    until: Option<u64>,
    config: Option<&Path>,
    format: Format,
) -> Result<Answer, Failure> {
    if directory.is_file() {
        return Err(Failure::usage(format!(
            "{}: this is a file; name the directory of the session's journal",
            directory.display()
        )));
    }
    let reader = JournalReader::open(directory).map_err(|error| refused(&error))?;
    for report in inspect::verify(directory).map_err(|error| refused(&error))? {
        if !report.damage.is_empty() {
            let place = report.directory.display();
            return Err(Failure::usage(format!(
                "{place}: damaged, so that not all of it can be replayed: `fixbolt journal verify {place}` shows where; restore a backup, and replay that"
            )));
        }
    }
    let sessions = reader.sessions();
    if until.is_some() && sessions.len() > 1 {
        return Err(Failure::usage(format!(
            "{}: it has {} sessions, and --until is about one: name its directory",
            directory.display(),
            sessions.len()
        )));
    }
    let mut report = Report::new(format)?;
    for journal in sessions {
        session(journal, until, config, &mut report)?;
    }
    report.finish()
}

fn session(
    journal: &SessionJournal,
    until: Option<u64>,
    config: Option<&Path>,
    report: &mut Report,
) -> Result<(), Failure> {
    let place = journal.directory().display();
    let Some(id) = journal.session() else {
        return Err(Failure::usage(format!("{place}: the journal does not say which session it is of")));
    };
    let mut turns = Turn::all(journal);
    if let Some(seq) = until {
        let last = last_turn(&turns, SeqNum(seq)).map_err(|why| Failure::usage(format!("{place}: {why}")))?;
        turns.truncate(last + 1);
    }
    let Chosen { settings, from } = match config {
        Some(file) => settings::configured(file, id)?,
        None => settings::derived(&turns, id),
    };
    report.begin(id, journal.directory(), settings.role, &from)?;
    let outcome = replay::replay(&turns, settings).map_err(|error| cannot_open(id, config, &error))?;
    report.end(id, journal.directory(), &outcome)
}

fn cannot_open(id: &SessionId, config: Option<&Path>, error: &fixbolt_session::OpenError) -> Failure {
    let file = config.map_or_else(String::new, |file| format!("{}: ", file.display()));
    Failure::usage(format!("{file}the session {id} cannot be opened: {error}"))
}

/// Returns the index of the last turn with the inbound message `seq` of the last generation.
fn last_turn(turns: &[Turn<'_>], seq: SeqNum) -> Result<usize, String> {
    let last = turns.last().map_or(Generation(0), |turn| turn.generation);
    let numbers = || {
        turns.iter().enumerate().filter(|(_, turn)| turn.generation == last).filter_map(|(at, turn)| {
            let inbound = turn.inbound()?;
            Some((at, inbound.seq))
        })
    };
    if let Some((at, _)) = numbers().rfind(|(_, one)| *one == seq) {
        return Ok(at);
    }
    let since = if last == Generation(0) { "" } else { " since the last reset of the sequence numbers" };
    let (lowest, highest) = (numbers().map(|(_, seq)| seq).min(), numbers().map(|(_, seq)| seq).max());
    Err(match lowest.zip(highest) {
        Some((lowest, highest)) => format!(
            "no inbound message has MsgSeqNum {seq}{since}: they have {lowest} to {highest}; choose another --until"
        ),
        None => format!("there is no inbound message{since}; leave out --until"),
    })
}
