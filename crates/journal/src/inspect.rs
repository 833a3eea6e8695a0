//! What operators ask of a journal: is it whole, what does it hold, make it usable again.
//!
//! [`verify`] only reads and takes no lock, so it may look at a running session; what it reports is both the check and the
//! statistics. [`repair`] needs the session stopped.

use std::path::{Path, PathBuf};

use fixbolt_codec::SeqNum;
use fixbolt_session::store::{ConnectionNumber, Generation, RecordKind, StoreError};
use fixbolt_session::{SessionId, Utc};

use crate::layout::{HEAD_COPIES, HeadState, SEGMENT_HEADER};
use crate::lock::holder;
use crate::mapping::Mapping;
use crate::reader::{JournalReader, SessionJournal};
use crate::scan::RecordAddress;
use crate::segment::file_name;

pub use crate::repair::{Repaired, repair};

/// What one session's journal holds and whether it is whole.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SessionReport {
    /// The session's directory.
    pub directory: PathBuf,
    /// Whose journal it is; `None` when every place that says so is damaged.
    pub session: Option<SessionId>,
    /// Committed records, over all generations.
    pub records: Counts,
    /// Committed turns.
    pub turns: u64,
    /// Current generation.
    pub generation: Generation,
    /// When it began.
    pub since: Option<Utc>,
    /// Next inbound MsgSeqNum expected.
    pub next_in: SeqNum,
    /// Next outbound MsgSeqNum, by the records.
    pub next_out: SeqNum,
    /// Failed attempts at the inbound message `next_in`.
    pub attempts: u32,
    /// The last connection's number.
    pub connection: ConnectionNumber,
    /// Wall clock of the first and the last record.
    pub span: Option<(Utc, Utc)>,
    /// Segment files.
    pub segments: usize,
    /// Bytes that the segments take on disk.
    pub bytes_allocated: u64,
    /// Bytes of them that hold records.
    pub bytes_used: u64,
    /// The reserve mark: where outbound numbers go on if the machine goes down now.
    pub mark: Option<SeqNum>,
    /// Whether it was closed cleanly; false while a session uses it.
    pub closed_cleanly: bool,
    /// Who opened it last.
    pub holder: Option<String>,
    /// Why the session must not start before [`repair`], a line each; empty for a whole journal.
    pub damage: Vec<String>,
    /// Bytes of a turn that is not whole lie at the end: file and offset. The next start cuts them.
    pub torn_tail: Option<(PathBuf, u64)>,
    /// What is worth knowing and needs nobody.
    pub remarks: Vec<String>,
}

impl SessionReport {
    /// Neither damaged nor torn.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.damage.is_empty() && self.torn_tail.is_none()
    }
}

/// How many records of which kind.
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
}

impl Counts {
    /// All of them.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.inbound + self.outbound + self.reset + self.attempt + self.adjust
    }
}

/// Reads a session's directory, or a base directory with several, and reports a session each.
///
/// # Errors
/// [`StoreError::Io`] when there is no journal or it cannot be read. Damage is no error: the report tells.
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
        } += 1;
        let (first, _) = span.unwrap_or((r.record.utc, r.record.utc));
        span = Some((first, r.record.utc));
    }
    let sizes = || files.segments.iter().map(|s| s.mapping.as_ref().map_or(0, Mapping::len));
    let head = files.head();
    SessionReport {
        directory: files.directory.clone(),
        session: files.session().cloned(),
        records: counts,
        turns: scan.turns,
        generation: scan.ledger.generation,
        since: scan.ledger.since,
        next_in: scan.ledger.next_in,
        next_out: scan.ledger.next_out,
        attempts: scan.ledger.attempts,
        connection: scan.ledger.connection,
        span,
        segments: files.segments.len(),
        bytes_allocated: sizes().sum::<usize>() as u64,
        bytes_used: bytes_used(sizes(), scan.end) as u64,
        mark: head.map(|h| h.mark),
        closed_cleanly: head.is_some_and(|h| h.state == HeadState::Clean),
        holder: holder(&files.directory),
        damage: files.damage(scan, None),
        torn_tail: (scan.torn && scan.damage.is_empty())
            .then(|| (files.path(scan.end.segment), scan.end.offset as u64)),
        remarks: remarks(journal),
    }
}

/// Bytes that records take in segments of these `sizes`, the last of them ending at `end`.
fn bytes_used(sizes: impl Iterator<Item = usize>, end: RecordAddress) -> usize {
    // A file that was cut off inside its own header holds no records.
    let records = |to: usize| to.saturating_sub(SEGMENT_HEADER);
    sizes.take(end.segment).map(records).sum::<usize>() + records(end.offset)
}

fn remarks(journal: &SessionJournal) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some(copies) = &journal.files.heads
        && copies.iter().flatten().count() == 1
    {
        let n = usize::from(copies[0].is_some());
        lines.push(format!(
            "the copy of the head at byte {} is damaged; the other one is whole",
            HEAD_COPIES[n]
        ));
    }
    let names = std::fs::read_dir(&journal.files.directory).into_iter().flatten().flatten();
    let mut kept: Vec<_> = names
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|name| name.starts_with("cut-") || name.starts_with("damaged-"))
        .collect();
    kept.sort();
    lines.extend(kept.into_iter().map(|name| format!("{name} keeps bytes of an earlier repair or cut")));
    lines
}

/// A process that dies inside a commit over several sessions leaves the session with the inbound message for last.
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
            "the last turn answers inbound message {cause} of another session, which has not recorded it and will see it again ({} at byte {})",
            file_name(last.segment),
            last.offset
        )
    })
}
