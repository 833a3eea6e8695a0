//! The head file: identity, reserve mark and how the journal was closed, in two copies.
//!
//! Both copies are written one after the other, each synced, before their content counts, so that
//! one of them is always intact. What the mark should be is decided elsewhere.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use fixbolt_codec::SeqNum;
use fixbolt_session::store::{Generation, StoreError};

use crate::backend::{Backend, failed};
use crate::layout::{HEAD_COPIES, HEAD_COPY, HEAD_LENGTH, Head, HeadState};

/// The open head file of one session.
pub(crate) struct HeadFile {
    backend: Arc<dyn Backend>,
    file: File,
    path: PathBuf,
    /// The content of both copies on disk.
    pub(crate) head: Head,
    /// Set when the session's store is closed: no one else may write from then on.
    pub(crate) closed: bool,
}

impl HeadFile {
    /// Creates the file, which is complete on disk before it gets its name.
    pub(crate) fn create(
        backend: Arc<dyn Backend>,
        directory: &Path,
        head: Head,
    ) -> Result<Self, StoreError> {
        let (new, path) = (directory.join("head.new"), directory.join("head"));
        let build = || {
            let file = backend.create(&new).map_err(|e| failed("creating", &new, &e))?;
            backend.allocate(&file, HEAD_LENGTH).map_err(|e| failed("allocating", &new, &e))?;
            for at in HEAD_COPIES {
                backend.write(&file, at, &head.encode()).map_err(|e| failed("writing", &new, &e))?;
            }
            backend.sync(&file).map_err(|e| failed("syncing", &new, &e))?;
            backend.rename(&new, &path).map_err(|e| failed("renaming", &new, &e))?;
            Ok(file)
        };
        let file = build().inspect_err(|_| {
            let _ = backend.remove(&new);
        })?;
        backend.sync_dir(directory).map_err(|e| failed("syncing", directory, &e))?;
        Ok(Self { backend, file, path, head, closed: false })
    }

    /// Opens the file whose content was read as `head`.
    pub(crate) fn open(backend: Arc<dyn Backend>, directory: &Path, head: Head) -> Result<Self, StoreError> {
        let path = directory.join("head");
        let file = File::options().read(true).write(true).open(&path);
        let file = file.map_err(|e| failed("opening", &path, &e))?;
        Ok(Self { backend, file, path, head, closed: false })
    }

    /// Creates the head of a damaged journal, which is never written.
    pub(crate) fn detached(
        backend: Arc<dyn Backend>,
        directory: &Path,
        head: Head,
    ) -> Result<Self, StoreError> {
        let file = File::open(directory).map_err(|e| failed("opening", directory, &e))?;
        Ok(Self { backend, file, path: directory.join("head"), head, closed: true })
    }

    /// Writes both copies and waits for the disk.
    ///
    /// # Errors
    /// Returns [`StoreError`]; the previous content still counts then.
    pub(crate) fn write(
        &mut self,
        state: HeadState,
        boot: [u8; 16],
        generation: Generation,
        mark: SeqNum,
    ) -> Result<(), StoreError> {
        // The serial grows even if the write fails: a copy that was written all the same is then
        // older than the next one.
        self.head.serial += 1;
        let head = Head { state, boot, generation, mark, ..self.head.clone() };
        let bytes = head.encode();
        for at in HEAD_COPIES {
            self.backend.write(&self.file, at, &bytes).map_err(|e| failed("writing", &self.path, &e))?;
            self.backend.sync(&self.file).map_err(|e| failed("syncing", &self.path, &e))?;
        }
        self.head = head;
        Ok(())
    }
}

/// Returns the two copies on disk, or `None` if there is no file.
pub(crate) fn read_copies(directory: &Path) -> Result<Option<[Option<Head>; 2]>, StoreError> {
    let path = directory.join("head");
    let bytes = match std::fs::read(&path) {
        Ok(bytes) => bytes,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(e) => return Err(failed("reading", &path, &e)),
    };
    Ok(Some(HEAD_COPIES.map(|at| {
        let at = at as usize;
        bytes.get(at..at + HEAD_COPY).and_then(Head::decode)
    })))
}

/// Returns the copy that counts.
pub(crate) fn newest(copies: &[Option<Head>; 2]) -> Option<&Head> {
    copies.iter().flatten().max_by_key(|head| head.serial)
}

/// Returns the boot identifier of the machine, or zeros if the system has none.
pub(crate) fn boot_id() -> [u8; 16] {
    let mut id = [0; 16];
    let text = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let digits: Vec<u8> = text.bytes().filter_map(|b| char::from(b).to_digit(16)).map(|d| d as u8).collect();
    if digits.len() == 32 {
        for (byte, pair) in id.iter_mut().zip(digits.chunks(2)) {
            *byte = pair[0] << 4 | pair[1];
        }
    }
    id
}
