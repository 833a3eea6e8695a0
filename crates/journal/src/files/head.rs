//! The head file: identity, reserve mark and how the journal was closed, in two copies, and the
//! floor.
//!
//! Both copies are written one after the other, each synced, before their content counts, so that
//! one of them is always intact. What the mark should be is decided elsewhere.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use fixbolt_session::store::StoreError;

use crate::files::cookies::Cookie;
use crate::files::floor_writer::FloorWriter;
use crate::files::names::{HEAD, NEW_HEAD};
use crate::layout::floor::{FLOOR_SLOTS, Floor};
use crate::layout::head_copy::{HEAD_COPIES, HEAD_LENGTH, Head, Made};
use crate::system::backend::{Backend, failed};
use crate::system::locked::Locked;
use crate::values::identity::{JournalId, Place};

/// The head file of one session.
pub(crate) struct HeadFile {
    backend: Arc<dyn Backend>,
    /// Locked, as another directory may have a hard link to it. `None` once the session's store is
    /// closed, and if the journal is damaged: no one writes.
    file: Option<Locked>,
    path: PathBuf,
    /// The content of both copies on disk.
    pub(crate) head: Head,
    cookie: Option<Cookie>,
}

impl HeadFile {
    /// Creates the file, which is complete on disk before it gets its name, and notes in `head`
    /// which journal it is and where it was made.
    pub(crate) fn create(
        backend: Arc<dyn Backend>,
        directory: &Path,
        head: Head,
        id: JournalId,
        floor: Floor,
        first: u32,
    ) -> Result<Self, StoreError> {
        let made = Self::prepare(Arc::clone(&backend), directory, head, id, floor, first)?;
        let new = directory.join(NEW_HEAD);
        let place = || {
            backend.sync(made.file()?).map_err(|e| failed("syncing", &new, &e))?;
            backend.rename(&new, &made.path).map_err(|e| failed("renaming", &new, &e))
        };
        place().inspect_err(|_| {
            let _ = backend.remove(&new);
        })?;
        backend.sync_dir(directory).map_err(|e| failed("syncing", directory, &e))?;
        Ok(made)
    }

    /// Writes the file under the name of one that is being created, and does not wait for the disk.
    pub(crate) fn prepare(
        backend: Arc<dyn Backend>,
        directory: &Path,
        mut head: Head,
        id: JournalId,
        floor: Floor,
        first: u32,
    ) -> Result<Self, StoreError> {
        let (new, path) = (directory.join(NEW_HEAD), directory.join(HEAD));
        let mut build = || {
            let file = backend.create(&new).map_err(|e| failed("creating", &new, &e))?;
            let place = Place::of(directory, &file).map_err(|e| failed("looking for", &new, &e))?;
            head.made = Some(Made { id, place, floor, first });
            backend.allocate(&file, HEAD_LENGTH).map_err(|e| failed("allocating", &new, &e))?;
            for at in HEAD_COPIES {
                backend.write(&file, at, &head.encode()).map_err(|e| failed("writing", &new, &e))?;
            }
            for at in FLOOR_SLOTS {
                let slot = floor.slot(head.salt);
                backend.write(&file, at as u64, &slot).map_err(|e| failed("writing", &new, &e))?;
            }
            Ok(file)
        };
        let file = build().inspect_err(|_| {
            let _ = backend.remove(&new);
        })?;
        let file = Some(lock(file, &path)?);
        Ok(Self { backend, file, path, head, cookie: None })
    }

    /// Opens the file whose content was read as `head`. It is mapped for writing, so it gets the
    /// blocks that a copy may not have, and its length back if it was truncated.
    pub(crate) fn open(backend: Arc<dyn Backend>, directory: &Path, head: Head) -> Result<Self, StoreError> {
        let path = directory.join(HEAD);
        let file = File::options().read(true).write(true).open(&path);
        let file = file.map_err(|e| failed("opening", &path, &e))?;
        let file = lock(file, &path)?;
        backend.allocate(&file.file, HEAD_LENGTH).map_err(|e| failed("allocating", &path, &e))?;
        Ok(Self { backend, file: Some(file), path, head, cookie: None })
    }

    /// Returns the head of a damaged journal, which is never written.
    pub(crate) fn detached(backend: Arc<dyn Backend>, directory: &Path, head: Head) -> Self {
        Self { backend, file: None, path: directory.join(HEAD), head, cookie: None }
    }

    /// Closes the file. Whoever still shares the head keeps no descriptor.
    pub(crate) fn close(&mut self) {
        self.file = None;
    }

    pub(crate) const fn is_closed(&self) -> bool {
        self.file.is_none()
    }

    fn file(&self) -> Result<&File, StoreError> {
        self.file.as_ref().map(|locked| &locked.file).ok_or_else(|| StoreError::Io {
            doing: format!("writing {}", self.path.display()),
            reason: "the journal is closed".to_owned(),
        })
    }

    /// Returns a writer for the floor, which begins at `floor`. From here on `cookie`, if there is
    /// one, says what the head does.
    pub(crate) fn floor_writer(
        &mut self,
        floor: &Floor,
        cookie: Option<Cookie>,
    ) -> Result<FloorWriter, StoreError> {
        let mapping = self.backend.map(self.file()?, HEAD_LENGTH as usize);
        let mapping = mapping.map_err(|e| failed("mapping", &self.path, &e))?;
        self.cookie.clone_from(&cookie);
        Ok(FloorWriter::new(mapping, self.head.salt, floor, cookie))
    }

    /// Writes both copies, changed by `change`, and waits for the disk.
    ///
    /// # Errors
    /// Returns [`StoreError`]; the previous content still counts then.
    pub(crate) fn write(&mut self, change: impl FnOnce(&mut Head)) -> Result<(), StoreError> {
        // The serial grows even if the write fails: a copy that was written all the same is then
        // older than the next one.
        self.head.serial += 1;
        let mut head = self.head.clone();
        change(&mut head);
        let bytes = head.encode();
        let file = self.file()?;
        if let Some(cookie) = &self.cookie {
            cookie.note_serial(head.serial);
        }
        for at in HEAD_COPIES {
            self.backend.write(file, at, &bytes).map_err(|e| failed("writing", &self.path, &e))?;
            self.backend.sync(file).map_err(|e| failed("syncing", &self.path, &e))?;
        }
        self.head = head;
        Ok(())
    }
}

/// Locks a head. Whoever has it by another name, through a hard link, cannot write it meanwhile.
fn lock(file: File, path: &Path) -> Result<Locked, StoreError> {
    Locked::take(file).map_err(|e| failed("locking", path, &e))?.ok_or_else(|| StoreError::Locked {
        place: path.display().to_string(),
        holder:
            "a process that has the same file in another directory (a hard link), or one that was forked \
                 from the process that had it"
                .to_owned(),
    })
}

/// Locks the head in a directory.
#[cfg(feature = "inspect")]
pub(crate) fn lock_head(directory: &Path) -> Result<Locked, StoreError> {
    let path = directory.join(HEAD);
    let file = File::options().read(true).write(true).open(&path);
    lock(file.map_err(|e| failed("opening", &path, &e))?, &path)
}

/// What a head file says.
#[derive(PartialEq, Eq)]
pub(crate) struct HeadFound {
    /// The two copies; `None` if damaged.
    pub(crate) copies: [Option<Head>; 2],
    /// The floor; `None` if damaged, and in layout 1.
    pub(crate) floor: Option<Floor>,
    /// Where the file is now.
    pub(crate) place: Place,
    /// How many names it has.
    pub(crate) names: u64,
}

impl HeadFound {
    /// Reads the head in `directory`; `None` if there is no file.
    pub(crate) fn read(directory: &Path) -> Result<Option<Self>, StoreError> {
        let path = directory.join(HEAD);
        let file = match File::open(&path) {
            Ok(file) => file,
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(e) => return Err(failed("opening", &path, &e)),
        };
        let place = Place::of(directory, &file).map_err(|e| failed("looking for", &path, &e))?;
        let names = file.metadata().map_err(|e| failed("reading", &path, &e))?.nlink();
        let mut bytes = Vec::new();
        // A file of another size is not a head; what is too long need not be read.
        file.take(HEAD_LENGTH).read_to_end(&mut bytes).map_err(|e| failed("reading", &path, &e))?;
        let copies = HEAD_COPIES.map(|at| bytes.get(at as usize..).and_then(Head::decode));
        let mut found = Self { copies, floor: None, place, names };
        found.floor = found.head().and_then(|head| Floor::newest(&bytes, head.salt));
        Ok(Some(found))
    }

    /// Returns the copy that counts.
    pub(crate) fn head(&self) -> Option<&Head> {
        self.copies.iter().flatten().max_by_key(|head| head.serial)
    }
}
