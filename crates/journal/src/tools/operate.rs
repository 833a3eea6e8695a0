//! Changing the sequence numbers of a session that is stopped, while holding the lock of its
//! journal. Who did it and why is recorded, as by a running engine. Nothing is deleted, and a
//! journal that could not be started from is refused.

use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use fixbolt_codec::SeqNum;
use fixbolt_session::SessionId;
use fixbolt_session::store::{Generation, RecordKind, StoreError};

use crate::files::found::Files;
use crate::files::lock::Lock;
use crate::system::backend::{Backend, System};
use crate::tools::directories::session_directories;
use crate::tools::stopped::{Note, record};
use crate::verdict::continuation::{Continuation, why_halted};

/// A change of a session's sequence numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Change {
    /// Sets the next sequence numbers; `None` leaves one unchanged. They must be at least 1 and
    /// below `u64::MAX`, and NextNumOut does not go down.
    SetNumbers {
        /// The next expected inbound MsgSeqNum.
        next_in: Option<SeqNum>,
        /// The next outbound MsgSeqNum.
        next_out: Option<SeqNum>,
    },
    /// Begins both at 1 in a new generation. The messages so far stay in the journal, and go to its
    /// archive as after any reset.
    Reset,
}

/// A session whose sequence numbers were changed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Changed {
    /// The session's directory.
    pub directory: PathBuf,
    /// The session of the journal.
    pub session: SessionId,
    /// NextNumIn before the change.
    pub was_in: SeqNum,
    /// NextNumOut before the change.
    pub was_out: SeqNum,
    /// The next expected inbound MsgSeqNum.
    pub next_in: SeqNum,
    /// The next outbound MsgSeqNum.
    pub next_out: SeqNum,
    /// The number of resets since the journal was created.
    pub generation: Generation,
    /// Outbound sequence numbers that any start would have given up, because the session was not
    /// stopped cleanly.
    pub given_up: Option<RangeInclusive<SeqNum>>,
    /// How many messages wait for a throttle that are not sent because of this. No application
    /// hears of them later.
    pub not_sent: u64,
}

/// The largest size of the text that is recorded, in bytes.
const LARGEST_TEXT: usize = 4096;

/// Changes the sequence numbers of the session whose journal is in `directory`, and records `by`,
/// the person or program that does it, and `why`. With `act` false, only returns what would be
/// done.
///
/// `directory` is the session's directory, or one that holds no other session. `by` and `why` must
/// not be empty, and together have at most 4096 bytes.
///
/// # Errors
/// Returns [`StoreError::Locked`] if a process uses the journal, [`StoreError::Damaged`] if the
/// journal must be repaired or adopted first, and [`StoreError::Io`] or [`StoreError::Full`] from
/// the system or if the change is not possible.
pub fn change(
    directory: &Path,
    change: Change,
    by: &str,
    why: &str,
    act: bool,
) -> Result<Changed, StoreError> {
    let doing = match change {
        Change::SetNumbers { .. } => "setting the sequence numbers",
        Change::Reset => "resetting the sequence numbers",
    };
    let refused = |reason: String| StoreError::Io {
        doing: format!("{doing} of the journal in {}", directory.display()),
        reason,
    };
    if by.trim().is_empty() || why.trim().is_empty() {
        return Err(refused("who does it and why is recorded, and must not be empty".to_owned()));
    }
    let text = format!("{by}: {why}");
    if text.len() > LARGEST_TEXT {
        return Err(refused(format!("who does it and why may have {LARGEST_TEXT} bytes together")));
    }
    let directories = session_directories(directory)?;
    let [directory] = directories.as_slice() else {
        return Err(refused(format!("it holds {} sessions: name one", directories.len())));
    };
    let backend: Arc<dyn Backend> = Arc::new(System);
    let lock = Lock::take(&*backend, directory)?;
    let (mut result, waiting) = now(directory)?;
    let (kind, next_in, next_out) = match change {
        Change::Reset => (RecordKind::Reset, SeqNum::ONE, SeqNum::ONE),
        Change::SetNumbers { next_in, next_out } => {
            (RecordKind::Adjust, next_in.unwrap_or(result.was_in), next_out.unwrap_or(result.was_out))
        }
    };
    if [next_in, next_out].iter().any(|seq| !(SeqNum::ONE..SeqNum::MAX).contains(seq)) {
        return Err(refused("a sequence number must be at least 1 and below the largest one".to_owned()));
    }
    if kind == RecordKind::Adjust && next_out < result.was_out {
        let was = result.was_out;
        return Err(refused(format!(
            "NextNumOut is {was} and cannot go down to {next_out}, as no sequence number is used twice; \
             `fixbolt journal reset` begins both at 1, and the counterparty must do the same"
        )));
    }
    (result.next_in, result.next_out) = (next_in, next_out);
    if kind == RecordKind::Reset {
        result.generation.0 += 1;
        result.not_sent = waiting;
    }
    if act {
        let note = Note { kind, next_in, next_out: Some(next_out), text: &text };
        let (recovered, committed) = record(&backend, directory, &result.session, lock, &note)?;
        (result.next_in, result.next_out) = (committed.next_in, committed.next_out);
        (result.generation, result.given_up) = (committed.generation, recovered.given_up);
    }
    Ok(result)
}

/// Returns the sequence numbers with which the session would start now, and how many messages wait
/// for a throttle.
fn now(directory: &Path) -> Result<(Changed, u64), StoreError> {
    let damaged = |reason| StoreError::Damaged { place: directory.display().to_string(), reason };
    let files = Files::load_with_cookie(directory, false)?;
    let scan = files.scan_from(files.last_checkpoint(), &mut |_, _| {});
    if let Some(why) = why_halted(&files, &scan, None) {
        return Err(damaged(format!("{why} first")));
    }
    let Some(head) = files.head() else { return Err(damaged("there is no journal".to_owned())) };
    let Continuation { generation, next_in, next_out, given_up, in_doubt, .. } =
        Continuation::of(&files, &scan, head);
    let changed = Changed {
        directory: directory.to_owned(),
        session: head.session.clone(),
        was_in: next_in,
        was_out: next_out,
        next_in,
        next_out,
        generation,
        given_up,
        not_sent: in_doubt.map_or(0, |range| range.end() - range.start() + 1),
    };
    Ok((changed, u64::from(scan.ledger.waiting.count)))
}
