//! How a new journal gets to disk, without its opening waiting for the disk: `fixbolt-sync` takes
//! the steps for a session that is opened, `fixbolt-files` for one that stores its first record.
//!
//! Opening a session that has no journal writes `lock.new`, `head.new` and `segment-000001.new`.
//! The steps here give them their names:
//!
//! - the contents of both are on disk before the head gets its name;
//! - that name is on disk before the segment gets its own, as segments without a head are what is
//!   left of a journal;
//! - all names are on disk, also that of the directory, before `lock` names the journal, so that it
//!   names none that was not there.
//!
//! Nothing is appended before the last step. A journal whose creation was interrupted has therefore
//! sent nothing, and the next start makes it anew, or finishes it if the head has its name.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use fixbolt_session::store::StoreError;

use crate::files::base::Base;
use crate::files::lock::Note;
use crate::files::names::{HEAD, NEW_HEAD, file_name, new_name};
use crate::system::backend::{Backend, failed};
use crate::values::identity::JournalId;

/// What is left to do until a new journal is on disk.
///
/// The thread that takes the steps takes one of each new journal in turn: what the first one waits
/// for brings the names of the others to disk as well.
pub(crate) struct Creation {
    backend: Arc<dyn Backend>,
    directory: PathBuf,
    id: JournalId,
    note: Note,
    base: Arc<Base>,
    /// The number of the directory's name in `base`.
    name: u64,
    next: Step,
}

/// What gets its name next.
#[derive(Clone, Copy)]
enum Step {
    Head,
    Segment,
    Journal,
}

impl Creation {
    /// Begins after the files of journal `id` were written in `directory`, which is in `base`.
    pub(crate) fn new(
        backend: Arc<dyn Backend>,
        directory: &Path,
        id: JournalId,
        note: Note,
        base: Arc<Base>,
    ) -> Self {
        let name = base.name();
        Self { backend, directory: directory.to_owned(), id, note, base, name, next: Step::Head }
    }

    /// Takes the next step. Returns whether it was the last one.
    ///
    /// # Errors
    /// Returns [`StoreError`]. The step must not be taken again: after a failed sync, the system
    /// may report the next one as done.
    pub(crate) fn step(&mut self) -> Result<bool, StoreError> {
        self.next = match self.next {
            Step::Head => {
                self.sync(NEW_HEAD)?;
                self.sync(&new_name(1))?;
                self.rename(NEW_HEAD, HEAD)?;
                Step::Segment
            }
            Step::Segment => {
                self.sync_names()?;
                self.rename(&new_name(1), &file_name(1))?;
                Step::Journal
            }
            Step::Journal => {
                self.sync_names()?;
                self.base.sync(self.name)?;
                self.note.name(&*self.backend, self.id)?;
                return Ok(true);
            }
        };
        Ok(false)
    }

    /// Waits until the contents of a file are on disk, through whatever descriptor they were
    /// written.
    fn sync(&self, name: &str) -> Result<(), StoreError> {
        let path = self.directory.join(name);
        let sync = || self.backend.sync(&File::open(&path)?);
        sync().map_err(|e| failed("syncing", &path, &e))
    }

    fn rename(&self, from: &str, to: &str) -> Result<(), StoreError> {
        let [from, to] = [from, to].map(|name| self.directory.join(name));
        self.backend.rename(&from, &to).map_err(|e| failed("renaming", &from, &e))
    }

    fn sync_names(&self) -> Result<(), StoreError> {
        self.backend.sync_dir(&self.directory).map_err(|e| failed("syncing", &self.directory, &e))
    }
}
