//! Copies of journals: making one of a running journal, and making one the original.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use fixbolt_codec::SeqNum;
use fixbolt_session::SessionId;
use fixbolt_session::store::StoreError;

use crate::files::archive;
use crate::files::cookies;
use crate::files::found::Files;
use crate::files::head::{HeadFile, lock_head};
use crate::files::lock::Lock;
use crate::files::names::{HEAD, NEW_HEAD, new_name};
use crate::layout::floor::FLOOR_SLOTS;
use crate::layout::head_copy::{HEAD_COPIES, HEAD_LENGTH, HeadState};
use crate::system::backend::{Backend, System, failed};
use crate::system::mapping::Mapping;
use crate::tools::directories::session_directories;
use crate::tools::reader::JournalReader;
use crate::tools::repair::name_of;
use crate::values::identity::Place;
use crate::verdict::continuation::Continuation;

/// A journal that was made the original.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Adopted {
    /// The session's directory.
    pub directory: PathBuf,
    /// The session of the journal.
    pub session: SessionId,
    /// Whether it was a copy. If not, nothing was changed.
    pub was_copy: bool,
    /// The next expected inbound MsgSeqNum.
    pub next_in: SeqNum,
    /// The next outbound MsgSeqNum. A copy of a journal that was in use continues at the mark.
    pub next_out: SeqNum,
}

/// Makes a copied or restored journal, or all of those in a base directory, the originals: their
/// sessions may start. With `act` false, only returns what would be done.
///
/// The caller must know that the original is not used any more. What it sent and received after the
/// copy was made is not in the copy, so both could use the same sequence numbers. Files that other
/// directories have as well, through hard links, are replaced by copies.
///
/// # Errors
/// Returns [`StoreError::Locked`] if a process uses the journal, [`StoreError::Damaged`] if it must
/// be repaired first, and [`StoreError::Io`] or [`StoreError::Full`] from the system.
pub fn adopt(directory: &Path, act: bool) -> Result<Vec<Adopted>, StoreError> {
    session_directories(directory)?.iter().map(|directory| adopt_one(directory, act)).collect()
}

fn adopt_one(directory: &Path, act: bool) -> Result<Adopted, StoreError> {
    let backend: Arc<dyn Backend> = Arc::new(System);
    let _lock = Lock::take(&*backend, directory)?;
    let mut files = Files::load_with_cookie(directory, false)?;
    let was_copy = files.is_copy().is_some();
    let was_linked = files.linked().is_some();
    if act && was_linked {
        own(&*backend, &files)?;
        files = Files::load_with_cookie(directory, false)?;
    }
    let scan = files.scan_from(files.last_checkpoint(), &mut |_, _| {});
    let damaged = |reason| StoreError::Damaged { place: directory.display().to_string(), reason };
    // The floor of a copy of files in use may be older or newer than the rest.
    let mut damage = files.damage_besides_floor(&scan, None);
    if damage.is_empty() && !was_copy {
        damage = files.damage(&scan, None);
    }
    if !damage.is_empty() {
        let repair = format!("`fixbolt journal repair {}`", directory.display());
        let way_out = match (was_linked, act) {
            (false, _) => format!("repair it first: {repair}"),
            (true, true) => format!("its files are its own now: repair it with {repair}, and adopt it again"),
            (true, false) => format!(
                "its files have other names (hard links): adopt it with --yes, which makes files of its own, \
                 repair it with {repair}, and adopt it again"
            ),
        };
        return Err(damaged(format!("{}; {way_out}", damage.join("; "))));
    }
    let Some(head) = files.head().cloned() else { return Err(damaged("there is no journal".to_owned())) };
    let closed = head.state == HeadState::Clean;
    let Continuation { next_in, next_out, lost, .. } = Continuation::of(&files, &scan, &head);
    let adopted = Adopted {
        directory: directory.to_owned(),
        session: head.session.clone(),
        was_copy,
        next_in,
        next_out,
    };
    if was_copy && act {
        files.allocate(&*backend)?;
        let mut file = HeadFile::open(backend, directory, head)?;
        let path = directory.join("head");
        let place = Place::here(directory).map_err(|e| failed("looking for", &path, &e))?;
        file.write(|head| {
            if !closed || lost {
                (head.state, head.boot, head.mark) = (HeadState::Cut, [0; 16], next_out);
            }
            if let Some(made) = &mut head.made {
                made.place = place;
            }
        })?;
        cookies::settled(directory);
    }
    Ok(adopted)
}

/// Makes files of its own for a journal that has files in common with another directory: copies, in
/// their place. The head comes last: before that, this is another directory's journal.
///
/// Whoever has the head open as well holds its lock, and this is refused then. Nothing tells of a
/// process that writes to a segment here and has another head.
fn own(backend: &dyn Backend, files: &Files) -> Result<(), StoreError> {
    let directory = &files.directory;
    let _lock = files.head_file.as_ref().map(|_| lock_head(directory)).transpose()?;
    let live = files.segments.iter().filter(|segment| segment.number >= files.first && segment.names > 1);
    let head =
        files.head_file.iter().filter(|head| head.names > 1).map(|_| (HEAD.to_owned(), NEW_HEAD.to_owned()));
    for (name, new) in live.map(|segment| (segment.name.clone(), new_name(segment.number))).chain(head) {
        let [path, new] = [&name, &new].map(|name| directory.join(name));
        let copy = || {
            let bytes = std::fs::read(&path)?;
            write_whole(backend, &new, bytes.len() as u64, &bytes)?;
            backend.rename(&new, &path)?;
            backend.sync_dir(directory)
        };
        copy().map_err(|e| {
            let _ = backend.remove(&new);
            failed("copying", &path, &e)
        })?;
    }
    Ok(())
}

/// Writes a new file of `length` bytes that begins with `bytes`, and waits until it is on disk.
fn write_whole(backend: &dyn Backend, path: &Path, length: u64, bytes: &[u8]) -> io::Result<()> {
    let file = backend.create(path)?;
    if length > 0 {
        backend.allocate(&file, length)?;
    }
    backend.write(&file, 0, bytes)?;
    backend.sync(&file)
}

/// Copies a session's journal, or those of all sessions in a base directory, into the directory
/// `to`, one directory per session. The sessions may be running: the copy has everything that was
/// committed when it was begun.
///
/// A session does not start from the copy before [`adopt`].
///
/// # Errors
/// Returns [`StoreError::Damaged`] if a journal is damaged, and [`StoreError::Io`] or
/// [`StoreError::Full`] from the system or if there is a copy already.
pub fn backup(directory: &Path, to: &Path) -> Result<Vec<PathBuf>, StoreError> {
    let directories = session_directories(directory)?;
    directories.iter().map(|directory| backup_one(directory, &to.join(name_of(directory)))).collect()
}

fn backup_one(directory: &Path, to: &Path) -> Result<PathBuf, StoreError> {
    if to.exists() {
        return Err(StoreError::Io {
            doing: format!("copying {} to {}", directory.display(), to.display()),
            reason: "there is such a directory already".to_owned(),
        });
    }
    let reader = JournalReader::open(directory)?;
    let journal = &reader.sessions()[0];
    let (files, scan) = (&journal.files, &journal.scan);
    let damage = files.damage(scan, None);
    let Some(head) = files.head().cloned().filter(|_| damage.is_empty()) else {
        let reason = format!("{}; repair it first", damage.join("; "));
        return Err(StoreError::Damaged { place: directory.display().to_string(), reason });
    };
    // The head comes last: without it, a copy that was interrupted is no journal.
    let backend = System;
    backend.create_dir(to).map_err(|e| failed("creating", to, &e))?;
    if files.first > 1 {
        archive::create(&backend, to)?;
    }
    let last = files.segments.get(scan.end.segment).map_or(0, |segment| segment.number);
    for segment in journal.all().segments.iter().filter(|segment| segment.number <= last) {
        let Some(bytes) = segment.mapping.as_ref().map(Mapping::bytes) else { continue };
        let used = if segment.number == last { scan.end.offset } else { bytes.len() };
        let path = to.join(&segment.name);
        write_whole(&backend, &path, bytes.len() as u64, &bytes[..used])
            .map_err(|e| failed("writing", &path, &e))?;
    }
    let floor = files.reached(scan);
    let path = to.join("head");
    let write = || {
        let file = backend.create(&path)?;
        backend.allocate(&file, HEAD_LENGTH)?;
        for at in HEAD_COPIES {
            backend.write(&file, at, &head.encode())?;
        }
        for at in FLOOR_SLOTS {
            backend.write(&file, at as u64, &floor.slot(head.salt))?;
        }
        backend.sync(&file)?;
        backend.sync_dir(to)
    };
    write().map_err(|e| failed("writing", &path, &e))?;
    Ok(to.to_owned())
}
