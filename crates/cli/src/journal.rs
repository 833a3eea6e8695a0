//! `fixbolt journal`: verifies, describes, repairs and copies journals, and changes the sequence
//! numbers of sessions that are stopped.

use std::io::Write;
use std::path::PathBuf;

use clap::{ArgGroup, Args, Subcommand};
use fixbolt_cli::exit::{Answer, Failure};
use fixbolt_cli::output::{self, Format, Object, quoted};
use fixbolt_codec::{Precision, SeqNum, UtcTimestamp};
use fixbolt_journal::inspect::{self, Adopted, Change, Changed, Forgotten, Repaired, SessionReport};
use fixbolt_session::Utc;
use fixbolt_session::store::StoreError;

/// Journals: a session's messages and sequence numbers on disk.
///
/// DIR is one session's directory, or a directory with several. `fixbolt print DIR` shows the
/// messages.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Verify(Verify),
    Stat(Stat),
    Repair(Repair),
    Backup(Backup),
    Adopt(Adopt),
    Forget(Forget),
    SetNumbers(SetNumbers),
    Reset(Reset),
}

/// Verifies that a journal is whole.
///
/// Reads every record and its checksum and changes nothing; the session may be running. A torn tail
/// remains if a process ended during a transaction; the next start removes it. A
/// damaged journal stops the session until `fixbolt journal repair`.
///
/// Exit status: 0 whole; 1 damaged or torn; 2 there is no journal, or it cannot be read.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  fixbolt journal verify /var/lib/fix/journal")]
pub(crate) struct Verify {
    #[command(flatten)]
    journal: Journal,
}

/// Shows statistics of a journal: sequence numbers, counts, bytes, times, and the process that
/// holds it.
///
/// Exit status: 0 shown; 2 there is no journal, or it cannot be read.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  fixbolt journal stat -o json /var/lib/fix/journal | jq .next_out")]
pub(crate) struct Stat {
    #[command(flatten)]
    journal: Journal,
}

/// Makes a damaged journal usable again, or skips a message.
///
/// The session must be stopped. Nothing is deleted: bytes that are overwritten are kept in a file
/// beside the journal, and files that do not belong to it are moved aside. Outbound sequence
/// numbers continue above every one that may have been used; lost messages are gap-filled when the
/// counterparty asks for them. With --skip, the inbound message on which the application failed
/// repeatedly is skipped; it must be the next one expected. With --dry-run, nothing is changed.
///
/// Exit status: 0 usable; 2 it cannot be repaired, or is in use.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  fixbolt journal repair /var/lib/fix/journal\n  fixbolt journal repair --skip 4711 /var/lib/fix/journal/FIX.4.4-VENUE-TRADER"
)]
pub(crate) struct Repair {
    #[command(flatten)]
    journal: Journal,
    /// MsgSeqNum of the inbound message to skip
    #[arg(long, value_name = "N")]
    skip: Option<u64>,
    /// Only say what would be done
    #[arg(long)]
    dry_run: bool,
}

/// Copies journals. The sessions may be running.
///
/// A copy has everything that was committed when it was begun. No session starts from it before
/// `fixbolt journal adopt`.
///
/// Exit status: 0 copied; 2 there is no journal, it is damaged, or it cannot be copied.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  fixbolt journal backup /var/lib/fix/journal /mnt/backup/2026-01-05")]
pub(crate) struct Backup {
    /// A session's journal, or a directory with several
    #[arg(value_name = "DIR")]
    directory: PathBuf,
    /// Where to put the copies, one directory per session
    #[arg(value_name = "TO")]
    to: PathBuf,
}

/// Lets sessions start from a copied or restored journal.
///
/// A session does not start from a copy by itself, as its original may have used more sequence
/// numbers. Without --yes, this only says what the operator must know.
///
/// Exit status: 0 usable; 1 not done, --yes is missing; 2 it cannot be done.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  fixbolt journal adopt --yes /var/lib/fix/journal/FIX.4.4-VENUE-TRADER")]
pub(crate) struct Adopt {
    #[command(flatten)]
    journal: Journal,
    /// The original is not used any more
    #[arg(long)]
    yes: bool,
}

/// Forgets a journal that is gone: its session begins at 1.
///
/// A session halts if its journal has used sequence numbers since the machine was started and is
/// gone: its disk may not be mounted. `fixbolt journal repair` continues with its numbers. Without
/// --yes, this only says which they are.
///
/// Exit status: 0 forgotten; 1 not done, --yes is missing; 2 it cannot be done.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  fixbolt journal forget --yes /var/lib/fix/journal/FIX.4.4-VENUE-TRADER")]
pub(crate) struct Forget {
    #[command(flatten)]
    journal: Journal,
    /// The journal does not come back, and the counterparty begins at 1 as well
    #[arg(long)]
    yes: bool,
}

/// Sets the next sequence numbers of a session that is stopped.
///
/// NextNumIn is the MsgSeqNum (34) that is expected next, NextNumOut the one that is used next. A
/// number that is not given stays. NextNumOut cannot go down: `fixbolt journal reset` begins again.
/// The journal records who did it and why. A damaged journal must be repaired first, and a copy
/// adopted. With --dry-run, nothing is changed.
///
/// Exit status: 0 set; 2 it cannot be done, or the journal is in use.
#[derive(Debug, Args)]
#[command(
    group = ArgGroup::new("numbers").args(["next_in", "next_out"]).required(true).multiple(true),
    after_help = "Example:\n  fixbolt journal set-numbers --in 4711 --by jane --why \"agreed on the telephone\" /var/lib/fix/journal/FIX.4.4-VENUE-TRADER"
)]
pub(crate) struct SetNumbers {
    #[command(flatten)]
    journal: Journal,
    /// NextNumIn: the counterparty's next MsgSeqNum
    #[arg(long = "in", value_name = "N")]
    next_in: Option<u64>,
    /// NextNumOut: our next MsgSeqNum
    #[arg(long = "out", value_name = "N")]
    next_out: Option<u64>,
    #[command(flatten)]
    reason: Reason,
}

/// Resets both sequence numbers of a session that is stopped to 1.
///
/// The messages so far stay in the journal, and go to its archive. The counterparty must reset its
/// own sequence numbers. The journal records who did it and why. A damaged journal must be repaired
/// first, and a copy adopted. With --dry-run, nothing is changed.
///
/// Exit status: 0 reset; 2 it cannot be done, or the journal is in use.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  fixbolt journal reset --by jane --why \"new trading day\" /var/lib/fix/journal/FIX.4.4-VENUE-TRADER"
)]
pub(crate) struct Reset {
    #[command(flatten)]
    journal: Journal,
    #[command(flatten)]
    reason: Reason,
}

/// Who changes something, and why.
#[derive(Debug, Args)]
struct Reason {
    /// Who does it: a person or a program
    #[arg(long, value_name = "WHO")]
    by: String,
    /// Why it is done
    #[arg(long, value_name = "TEXT")]
    why: String,
    /// Only say what would be done
    #[arg(long)]
    dry_run: bool,
}

#[derive(Debug, Args)]
struct Journal {
    /// A session's journal, or a directory with several
    #[arg(value_name = "DIR")]
    directory: PathBuf,
    /// Output format
    #[arg(short, long, value_enum, default_value_t, value_name = "text|json", hide_possible_values = true)]
    output: Format,
}

/// Runs the command.
pub(crate) fn run(command: &Command) -> Result<Answer, Failure> {
    match command {
        Command::Verify(Verify { journal }) => report(journal, verdict, verdict_json),
        Command::Stat(Stat { journal }) => {
            report(journal, statistics, statistics_json)?;
            Ok(Answer::Yes)
        }
        Command::Repair(arguments) => repair(arguments),
        Command::Backup(arguments) => backup(arguments),
        Command::Adopt(arguments) => adopt(arguments),
        Command::Forget(arguments) => forget(arguments),
        Command::SetNumbers(SetNumbers { journal, next_in, next_out, reason }) => {
            let [next_in, next_out] = [next_in, next_out].map(|number| number.map(SeqNum));
            change(journal, Change::SetNumbers { next_in, next_out }, reason)
        }
        Command::Reset(Reset { journal, reason }) => change(journal, Change::Reset, reason),
    }
}

fn report(
    journal: &Journal,
    text: fn(&SessionReport) -> Vec<String>,
    json: fn(&SessionReport) -> Object,
) -> Result<Answer, Failure> {
    let reports = inspect::verify(&journal.directory).map_err(|error| refused(&error))?;
    let mut out = output::verdict();
    for report in &reports {
        match journal.output {
            Format::Json => writeln!(out, "{}", json(report))?,
            Format::Text => {
                for line in text(report) {
                    writeln!(out, "{line}")?;
                }
            }
        }
    }
    out.flush()?;
    Ok(if reports.iter().all(SessionReport::is_whole) { Answer::Yes } else { Answer::No })
}

/// Returns an error of the store as one line.
pub(crate) fn refused(error: &StoreError) -> Failure {
    Failure::usage(error.to_string())
}

fn name(report: &SessionReport) -> String {
    report.session.as_ref().map_or_else(|| "session unknown".to_owned(), ToString::to_string)
}

fn verdict(report: &SessionReport) -> Vec<String> {
    let records = report.records.total();
    let whole = if report.is_whole() { "whole" } else { "NOT WHOLE" };
    let mut lines = vec![format!(
        "{}: {whole}, {records} records, next in {}, next out {} ({})",
        name(report),
        report.next_in,
        report.next_out,
        report.directory.display()
    )];
    lines.extend(
        report.damage.iter().map(|damage| format!("  damaged: {damage}; run `fixbolt journal repair`")),
    );
    lines.extend(report.lost_history.iter().map(|lost| {
        format!("  lost: {lost}; gap-filled when requested, covered by `fixbolt journal repair`")
    }));
    lines.extend(report.older.iter().map(|older| format!("  older: {older}")));
    lines.extend(report.copy.iter().map(|why| format!("  copy: {why}; see `fixbolt journal adopt`")));
    if let Some((file, offset)) = &report.torn_tail {
        let file = file.display();
        lines.push(format!(
            "  torn tail: {file} ends in an incomplete transaction at byte {offset}; the next start removes it"
        ));
    }
    lines.extend(report.remarks.iter().map(|remark| format!("  note: {remark}")));
    lines
}

fn verdict_json(report: &SessionReport) -> Object {
    let torn = report
        .torn_tail
        .iter()
        .map(|(file, offset)| Object::new().text("file", &file.display().to_string()).raw("offset", offset));
    Object::new()
        .text("directory", &report.directory.display().to_string())
        .maybe_text("session", report.session.as_ref().map(ToString::to_string).as_deref())
        .raw("whole", report.is_whole())
        .raw("records", report.records.total())
        .raw("next_in", report.next_in)
        .raw("next_out", report.next_out)
        .array("damage", report.damage.iter().map(|line| quoted(line)))
        .array("lost_history", report.lost_history.iter().map(|line| quoted(line)))
        .maybe_text("older", report.older.as_deref())
        .maybe_text("copy", report.copy.as_deref())
        .array("torn_tail", torn)
        .array("remarks", report.remarks.iter().map(|line| quoted(line)))
}

fn statistics(report: &SessionReport) -> Vec<String> {
    let counts = &report.records;
    let mut lines = verdict(report);
    let mut row = |label: &str, value: String| lines.push(format!("  {label:<12} {value}"));
    row(
        "records",
        format!(
            "{} in, {} out, {} resets, {} failed attempts, {} adjustments, in {} turns",
            counts.inbound, counts.outbound, counts.reset, counts.attempt, counts.adjust, report.turns
        ),
    );
    if let Some((first, last)) = report.span {
        row("time", format!("{} to {}", timestamp(first), timestamp(last)));
    }
    let since = report.since.map_or_else(String::new, |since| format!(", since {}", timestamp(since)));
    row("generation", format!("{}{since}; connection {}", report.generation.0, report.connection.0));
    if report.attempts > 0 {
        row("attempts", format!("{} failed at inbound message {}", report.attempts, report.next_in));
    }
    if counts.waiting > 0 {
        let (waited, dropped) = (counts.waiting, counts.dropped);
        row(
            "throttle",
            format!("{waited} messages waited, {} wait still, dropped {dropped} times", report.waiting),
        );
    }
    row(
        "bytes",
        format!("{} used of {} in {} segments", report.bytes_used, report.bytes_allocated, report.segments),
    );
    if let Some(mark) = report.mark {
        row("mark", format!("outbound sequence numbers continue at {mark} if the machine fails now"));
    }
    let closed = if report.closed_cleanly { "closed cleanly" } else { "in use, or not closed cleanly" };
    let holder =
        report.holder.as_ref().map_or_else(String::new, |holder| format!("; last opened by {holder}"));
    row("state", format!("{closed}{holder}"));
    lines
}

fn statistics_json(report: &SessionReport) -> Object {
    let counts = &report.records;
    let moment = |utc: Option<Utc>| utc.map_or_else(|| "null".to_owned(), |utc| quoted(&timestamp(utc)));
    verdict_json(report)
        .raw("inbound", counts.inbound)
        .raw("outbound", counts.outbound)
        .raw("resets", counts.reset)
        .raw("failed_attempts", counts.attempt)
        .raw("adjustments", counts.adjust)
        .raw("waited", counts.waiting)
        .raw("waiting", report.waiting)
        .raw("turns", report.turns)
        .raw("generation", report.generation.0)
        .raw("since", moment(report.since))
        .raw("first", moment(report.span.map(|(first, _)| first)))
        .raw("last", moment(report.span.map(|(_, last)| last)))
        .raw("connection", report.connection.0)
        .raw("attempts", report.attempts)
        .raw("segments", report.segments)
        .raw("bytes_used", report.bytes_used)
        .raw("bytes_allocated", report.bytes_allocated)
        .raw("mark", report.mark.map_or_else(|| "null".to_owned(), |mark| mark.to_string()))
        .raw("closed_cleanly", report.closed_cleanly)
        .maybe_text("holder", report.holder.as_deref())
}

fn repair(arguments: &Repair) -> Result<Answer, Failure> {
    let Journal { directory, output } = &arguments.journal;
    let work = if arguments.dry_run { inspect::plan_repair } else { inspect::repair };
    let repaired = work(directory, arguments.skip.map(SeqNum)).map_err(|error| refused(&error))?;
    let mut out = output::stdout();
    for one in &repaired {
        match output {
            Format::Json => writeln!(out, "{}", repaired_json(one))?,
            Format::Text => {
                let Repaired { session, directory, next_in, next_out, .. } = one;
                let place = directory.display();
                let usable = match (arguments.dry_run, one.done.is_empty()) {
                    (true, false) => "a repair would make it usable",
                    _ => "usable",
                };
                writeln!(out, "{session}: {usable}, next in {next_in}, next out {next_out} ({place})")?;
                if one.done.is_empty() {
                    writeln!(out, "  nothing to do")?;
                }
                for line in &one.done {
                    writeln!(out, "  {line}")?;
                }
                for file in &one.kept {
                    writeln!(out, "  the original bytes are kept in {}", file.display())?;
                }
            }
        }
    }
    out.flush()?;
    Ok(Answer::Yes)
}

fn backup(arguments: &Backup) -> Result<Answer, Failure> {
    let copies = inspect::backup(&arguments.directory, &arguments.to).map_err(|error| refused(&error))?;
    let mut out = output::stdout();
    for copy in copies {
        writeln!(out, "{}", copy.display())?;
    }
    out.flush()?;
    Ok(Answer::Yes)
}

fn adopt(arguments: &Adopt) -> Result<Answer, Failure> {
    let Journal { directory, output } = &arguments.journal;
    let adopted = inspect::adopt(directory, arguments.yes).map_err(|error| refused(&error))?;
    let mut out = output::verdict();
    for one in &adopted {
        match output {
            Format::Json => writeln!(out, "{}", adopted_json(one, arguments.yes))?,
            Format::Text => {
                let Adopted { session, directory, was_copy, next_in, next_out } = one;
                let state = match (was_copy, arguments.yes) {
                    (false, _) => "not a copy, nothing to do",
                    (true, true) => "adopted",
                    (true, false) => "a copy",
                };
                let place = directory.display();
                writeln!(out, "{session}: {state}, next in {next_in}, next out {next_out} ({place})")?;
            }
        }
    }
    let done = arguments.yes || adopted.iter().all(|one| !one.was_copy);
    if !done && matches!(output, Format::Text) {
        writeln!(
            out,
            "What the originals sent and received after the copy was made is not in it. If they are used\n\
             any more, or were used since, both send different messages with the same sequence numbers,\n\
             and orders may be filled twice. Stop the originals for good, agree with the counterparty on\n\
             the sequence numbers above, then add --yes."
        )?;
    }
    out.flush()?;
    Ok(if done { Answer::Yes } else { Answer::No })
}

fn forget(arguments: &Forget) -> Result<Answer, Failure> {
    let Journal { directory, output } = &arguments.journal;
    let Forgotten { directory, next_in, next_out } =
        inspect::forget(directory, arguments.yes).map_err(|error| refused(&error))?;
    let place = directory.display();
    let mut out = output::verdict();
    match output {
        Format::Json => {
            let object = Object::new()
                .text("directory", &place.to_string())
                .raw("forgotten", arguments.yes)
                .raw("next_in", next_in)
                .raw("next_out", next_out);
            writeln!(out, "{object}")?;
        }
        Format::Text if arguments.yes => {
            writeln!(
                out,
                "{place}: next in {next_in} and next out {next_out} are forgotten; both begin at 1"
            )?;
        }
        Format::Text => writeln!(
            out,
            "{place}: the journal had next in {next_in} and next out {next_out}.\n\
             If its disk comes back, the session continues with it. `fixbolt journal repair` continues with\n\
             these numbers and without its messages. To begin both at 1, agree on that with the counterparty,\n\
             then add --yes."
        )?,
    }
    out.flush()?;
    Ok(if arguments.yes { Answer::Yes } else { Answer::No })
}

fn adopted_json(one: &Adopted, act: bool) -> Object {
    Object::new()
        .text("directory", &one.directory.display().to_string())
        .text("session", &one.session.to_string())
        .raw("was_copy", one.was_copy)
        .raw("adopted", one.was_copy && act)
        .raw("next_in", one.next_in)
        .raw("next_out", one.next_out)
}

fn change(journal: &Journal, change: Change, reason: &Reason) -> Result<Answer, Failure> {
    let Reason { by, why, dry_run } = reason;
    let changed =
        inspect::change(&journal.directory, change, by, why, !dry_run).map_err(|error| refused(&error))?;
    let mut out = output::stdout();
    match journal.output {
        Format::Json => writeln!(out, "{}", changed_json(&changed, !dry_run))?,
        Format::Text => {
            let Changed {
                session, directory, was_in, was_out, next_in, next_out, given_up, not_sent, ..
            } = &changed;
            let done = match (change, dry_run) {
                (Change::SetNumbers { .. }, false) => "set",
                (Change::SetNumbers { .. }, true) => "would be set",
                (Change::Reset, false) => "reset",
                (Change::Reset, true) => "would be reset",
            };
            writeln!(
                out,
                "{session}: {done}, next in {next_in} (was {was_in}), next out {next_out} (was {was_out}) ({})",
                directory.display()
            )?;
            if let Some(range) = given_up {
                writeln!(
                    out,
                    "  outbound sequence numbers {} to {} are given up, as by any start: the session was not stopped cleanly",
                    range.start(),
                    range.end()
                )?;
            }
            if *not_sent > 0 {
                writeln!(
                    out,
                    "  {not_sent} messages wait for a throttle and are not sent because of this; no application hears of them later"
                )?;
            }
        }
    }
    out.flush()?;
    Ok(Answer::Yes)
}

fn changed_json(one: &Changed, act: bool) -> Object {
    let given_up = one.given_up.iter().flat_map(|range| [range.start().0, range.end().0]);
    Object::new()
        .text("directory", &one.directory.display().to_string())
        .text("session", &one.session.to_string())
        .raw("changed", act)
        .raw("was_next_in", one.was_in)
        .raw("was_next_out", one.was_out)
        .raw("next_in", one.next_in)
        .raw("next_out", one.next_out)
        .raw("generation", one.generation.0)
        .array("given_up", given_up)
        .raw("not_sent", one.not_sent)
}

fn repaired_json(one: &Repaired) -> Object {
    Object::new()
        .text("directory", &one.directory.display().to_string())
        .text("session", &one.session.to_string())
        .array("done", one.done.iter().map(|line| quoted(line)))
        .array("kept", one.kept.iter().map(|file| quoted(&file.display().to_string())))
        .raw("next_in", one.next_in)
        .raw("next_out", one.next_out)
}

/// Formats a time as FIX does.
pub(crate) fn timestamp(utc: Utc) -> String {
    UtcTimestamp::from_unix_nanos(utc.0, Precision::Nanos).to_string()
}
