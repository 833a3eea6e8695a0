//! Forgetting a journal that is gone, so that its session begins anew.

use std::path::{Path, PathBuf};

use fixbolt_codec::SeqNum;
use fixbolt_session::store::StoreError;

use crate::files::cookies;
use crate::files::listing::segments_in;
use crate::files::lock::Lock;
use crate::files::names::{ARCHIVE, HEAD, NEW_NOTE, NOTE};
use crate::system::backend::{System, failed};

/// A journal that is gone, and was forgotten.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Forgotten {
    /// The session's directory, which need not exist.
    pub directory: PathBuf,
    /// NextNumIn of the journal.
    pub next_in: SeqNum,
    /// NextNumOut of the journal.
    pub next_out: SeqNum,
}

/// Forgets a journal that is gone, although its session has used sequence numbers since the machine
/// was started: the session does not halt any more, and begins both at 1. With `act` false, only
/// returns what would be forgotten.
///
/// The caller must know that the journal does not come back, and have the counterparty begin at 1
/// as well.
///
/// # Errors
/// Returns [`StoreError::Io`] if there is a journal in `directory`, if nothing is known of one that
/// was, or from the system, and [`StoreError::Locked`] if a process uses the directory.
pub fn forget(directory: &Path, act: bool) -> Result<Forgotten, StoreError> {
    let refused = |reason: &str| StoreError::Io {
        doing: format!("forgetting the journal in {}", directory.display()),
        reason: reason.to_owned(),
    };
    let exists = directory.is_dir();
    let _lock = exists.then(|| Lock::take(&System, directory)).transpose()?;
    let parts = [HEAD, ARCHIVE].iter().any(|name| directory.join(name).exists());
    if parts || (exists && !segments_in(directory)?.is_empty()) {
        return Err(refused("it is there, and not gone"));
    }
    let Some(found) = cookies::find_used(None, directory) else {
        return Err(refused("there was none since the machine was started, as far as cookies say"));
    };
    if act {
        for name in [NOTE, NEW_NOTE].map(|name| directory.join(name)) {
            if name.exists() {
                std::fs::remove_file(&name).map_err(|e| failed("removing", &name, &e))?;
            }
        }
        cookies::forget(directory).map_err(|e| failed("forgetting", directory, &e))?;
    }
    let (next_in, next_out) = (found.floor.next_in, found.floor.next_out);
    Ok(Forgotten { directory: directory.to_owned(), next_in, next_out })
}
