//! Operators' tools for a journal: they verify it, describe its contents, copy and repair it.
//!
//! [`verify`] and [`backup`] only read and take no lock, so the session may be running; the report
//! of the first is both the check and the statistics. [`repair`], [`adopt`] and [`change`] need the
//! session to be stopped.

use std::path::{Path, PathBuf};

use fixbolt_codec::SeqNum;
use fixbolt_session::store::{ConnectionNumber, Generation, RecordKind, StoreError};
use fixbolt_session::{SessionId, Utc};

use crate::files::disk_space::size_on_disk;
use crate::files::found::Files;
use crate::files::lock::holder;
use crate::files::names::file_name;
use crate::layout::head_copy::{HEAD_COPIES, HeadState};
use crate::layout::records::SEGMENT_HEADER;
use crate::layout::scan::Scan;
use crate::tools::reader::{JournalReader, SessionJournal};
use crate::verdict::continuation::{Continuation, Doubt};

pub use crate::tools::copies::{Adopted, adopt, backup};
pub use crate::tools::forget::{Forgotten, forget};
pub use crate::tools::operate::{Change, Changed, change};
pub use crate::tools::repair::{Repaired, plan_repair, repair};

/// What the journal of a session holds, and whether it is intact.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SessionReport {
    /// The session's directory.
    pub directory: PathBuf,
    /// The session of the journal, or `None` if every place that names it is damaged.
    pub session: Option<SessionId>,
    /// Number of committed records, over all generations.
    pub records: Counts,
    /// Number of committed turns.
    pub turns: u64,
    /// The generation in which the next start continues: the head may know one whose reset is lost.
    pub generation: Generation,
    /// When the current generation began.
    pub since: Option<Utc>,
    /// The next expected inbound MsgSeqNum.
    pub next_in: SeqNum,
    /// The next outbound MsgSeqNum according to the records.
    pub next_out: SeqNum,
    /// Number of failed attempts at the inbound message `next_in`.
    pub attempts: u32,
    /// How many messages of the application wait for a throttle.
    pub waiting: u32,
    /// Number of the last connection.
    pub connection: ConnectionNumber,
    /// Wall clock of the first and the last record.
    pub span: Option<(Utc, Utc)>,
    /// Number of segment files, with those of the archive.
    pub segments: usize,
    /// Disk space that the segments take, in bytes.
    pub bytes_allocated: u64,
    /// Bytes of the segments that hold records.
    pub bytes_used: u64,
    /// The reserve mark: where outbound sequence numbers continue if the machine fails now.
    pub mark: Option<SeqNum>,
    /// Whether the journal was closed cleanly; false while a session uses it.
    pub closed_cleanly: bool,
    /// Who opened it last.
    pub holder: Option<String>,
    /// Why the session must not start before [`repair`], one line each; empty for an intact
    /// journal.
    pub damage: Vec<String>,
    /// Where records of the past are lost, one line each. The session may start: its messages are
    /// gap-filled when they are requested. [`repair`] covers such places.
    pub lost_history: Vec<String>,
    /// Why a start does not continue where the records end, although they are intact: they are
    /// older than what was written since the machine was started.
    pub older: Option<String>,
    /// Why the session must not start before [`adopt`]: this is a copy, whose original may have
    /// used more sequence numbers.
    pub copy: Option<String>,
    /// File and offset of an incomplete turn at the end, if there is one. The next start removes
    /// it.
    pub torn_tail: Option<(PathBuf, u64)>,
    /// Remarks that require no action.
    pub remarks: Vec<String>,
}

impl SessionReport {
    /// Returns whether the journal is neither damaged nor torn nor older than it was nor a copy.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.damage.is_empty()
            && self.lost_history.is_empty()
            && self.torn_tail.is_none()
            && self.copy.is_none()
            && self.older.is_none()
    }
}

/// Number of records of each kind.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counts {
    /// [`RecordKind::Inbound`]
    pub inbound: u64,
    /// [`RecordKind::Outbound`]
    pub outbound: u64,
    /// [`RecordKind::Reset`]
    pub reset: u64,
    /// [`RecordKind::Attempt`]
    pub attempt: u64,
    /// [`RecordKind::Adjust`]
    pub adjust: u64,
    /// [`RecordKind::Waiting`]
    pub waiting: u64,
    /// [`RecordKind::Dropped`]
    pub dropped: u64,
}

impl Counts {
    /// Returns the total.
    #[must_use]
    pub fn total(&self) -> u64 {
        let Self { inbound, outbound, reset, attempt, adjust, waiting, dropped } = *self;
        inbound + outbound + reset + attempt + adjust + waiting + dropped
    }
}

/// Reads a session's directory, or a base directory with several, and returns one report per
/// session.
///
/// # Errors
/// Returns [`StoreError::Io`] if there is no journal or it cannot be read. Damage is not an error;
/// it is in the report.
pub fn verify(directory: &Path) -> Result<Vec<SessionReport>, StoreError> {
    let reader = JournalReader::open(directory)?;
    let mut reports: Vec<_> = reader.sessions().iter().map(report).collect();
    for (n, journal) in reader.sessions().iter().enumerate() {
        reports[n].remarks.extend(half_turn(journal, reader.sessions()));
    }
    Ok(reports)
}

fn report(journal: &SessionJournal) -> SessionReport {
    let (files, scan) = (&journal.files, &journal.scan);
    let mut counts = Counts::default();
    let mut span = None;
    for r in journal.records() {
        *match r.record.kind {
            RecordKind::Inbound => &mut counts.inbound,
            RecordKind::Outbound => &mut counts.outbound,
            RecordKind::Reset => &mut counts.reset,
            RecordKind::Attempt => &mut counts.attempt,
            RecordKind::Adjust => &mut counts.adjust,
            RecordKind::Waiting => &mut counts.waiting,
            RecordKind::Dropped => &mut counts.dropped,
        } += 1;
        let (first, _) = span.unwrap_or((r.record.utc, r.record.utc));
        span = Some((first, r.record.utc));
    }
    let all = &journal.all().segments;
    let head = files.head();
    let damage = files.damage(scan, None);
    SessionReport {
        directory: files.directory.clone(),
        session: files.session().cloned(),
        records: counts,
        turns: scan.turns,
        generation: files.generation(scan),
        since: scan.ledger.since,
        next_in: files.next_in(scan),
        next_out: scan.ledger.next_out,
        attempts: scan.ledger.attempts,
        waiting: scan.ledger.waiting.count,
        connection: scan.ledger.connection,
        span,
        segments: all.len(),
        bytes_allocated: all.iter().map(|s| size_on_disk(&files.directory.join(&s.name))).sum(),
        bytes_used: all.iter().map(|s| s.used().saturating_sub(SEGMENT_HEADER) as u64).sum(),
        mark: head.map(|h| h.mark),
        closed_cleanly: head.is_some_and(|h| h.state == HeadState::Clean),
        holder: holder(&files.directory),
        lost_history: journal.lost_history(),
        older: older(files, scan),
        copy: files.is_copy(),
        torn_tail: (scan.torn && damage.is_empty())
            .then(|| (files.path(scan.end.segment), scan.end.offset as u64)),
        damage,
        remarks: remarks(journal),
    }
}

fn older(files: &Files, scan: &Scan) -> Option<String> {
    let Continuation { doubt, next_out, given_up, .. } = Continuation::of(files, scan, files.head()?);
    let doubt = doubt.filter(|doubt| *doubt == Doubt::Older)?;
    let range = given_up.map_or(String::new(), |range| {
        format!("; the next start gives up outbound sequence numbers {} to {}", range.start(), range.end())
    });
    Some(format!("{doubt}{range} and continues with NextNumOut {next_out}"))
}

fn remarks(journal: &SessionJournal) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some(file) = &journal.files.head_file
        && file.copies.iter().flatten().count() == 1
    {
        let n = usize::from(file.copies[0].is_some());
        lines.push(format!(
            "the copy of the head at byte {} is damaged; the other one is intact",
            HEAD_COPIES[n]
        ));
    }
    let names = std::fs::read_dir(&journal.files.directory).into_iter().flatten().flatten();
    let mut kept: Vec<_> = names
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|name| name.starts_with("cut-") || name.starts_with("damaged-"))
        .collect();
    kept.sort();
    lines.extend(
        kept.into_iter().map(|name| format!("{name} keeps bytes that an earlier repair or start removed")),
    );
    lines
}

/// A process that dies inside a commit over several sessions leaves out the session with the
/// inbound message, which comes last. Returns a remark if this happened.
fn half_turn(journal: &SessionJournal, all: &[SessionJournal]) -> Option<String> {
    let last = journal.records().next_back()?;
    let cause = last.record.cause?;
    let of_turn = |journal: &SessionJournal| {
        let turn =
            journal.records().rev().skip_while(|r| r.turn > last.turn).take_while(|r| r.turn == last.turn);
        turn.filter(|r| r.record.kind == RecordKind::Inbound && r.record.mono == last.record.mono).count()
    };
    let recorded = all.iter().any(|journal| of_turn(journal) > 0);
    (!recorded && all.len() > 1).then(|| {
        format!(
            "the last turn answers inbound message {cause} of another session, which has not recorded it and will process it again ({} at byte {})",
            file_name(last.segment),
            last.offset
        )
    })
}
