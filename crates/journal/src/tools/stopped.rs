//! Adding one record to the journal of a session that is stopped, as an operator's change or repair
//! does.

use std::path::Path;
use std::sync::Arc;

use fixbolt_codec::SeqNum;
use fixbolt_session::runtime::session_key;
use fixbolt_session::store::{Record, RecordFlags, RecordKind, Recovered, StoreError};
use fixbolt_session::{Mono, SessionId};

use crate::files::base::Base;
use crate::files::lock::{Lock, cookies_noted_in};
use crate::open::opening::Opening;
use crate::system::backend::Backend;
use crate::values::clock;
use crate::values::ledger::Ledger;
use crate::values::limits::Limits;

/// What is recorded.
pub(crate) struct Note<'n> {
    pub(crate) kind: RecordKind,
    /// NextNumIn from then on.
    pub(crate) next_in: SeqNum,
    /// NextNumOut from then on; `None` leaves it as a start would find it.
    pub(crate) next_out: Option<SeqNum>,
    /// Who does it and why.
    pub(crate) text: &'n str,
}

/// Opens the journal as a start does, adds the record, and closes it. Returns what the start found,
/// and the sequence numbers from then on.
pub(crate) fn record(
    backend: &Arc<dyn Backend>,
    directory: &Path,
    session: &SessionId,
    lock: Lock,
    note: &Note<'_>,
) -> Result<(Recovered, Ledger), StoreError> {
    let above = directory.parent().filter(|above| !above.as_os_str().is_empty());
    let base = above.unwrap_or(Path::new(".")).to_owned();
    let cookies = cookies_noted_in(directory);
    let opening = Opening {
        directory: directory.to_owned(),
        session,
        key: session_key(0, 0, 0),
        backend: Arc::clone(backend),
        base: Arc::new(Base::new(Arc::clone(backend), base, cookies)),
        limits: Limits::DEFAULT,
    };
    let (mut log, recovered, turn) = opening.open_locked(lock)?;
    log.append(
        turn + 1,
        &Record {
            kind: note.kind,
            flags: RecordFlags::default(),
            seq: note.next_out.unwrap_or(recovered.next_out),
            next_in: note.next_in,
            connection: recovered.connection,
            cause: None,
            utc: clock::now(),
            mono: Mono::default(),
            body: note.text.as_bytes(),
        },
    )?;
    log.finish();
    log.publish();
    let committed = log.committed;
    log.close()?;
    Ok((recovered, committed))
}
