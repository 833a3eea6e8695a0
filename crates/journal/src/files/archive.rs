//! The archive of a session's journal: segments of closed generations, and of messages that are not
//! sent again, in a directory of their own.
//!
//! A start does not read them. The head says which segment is the first that is not archived, and
//! is on disk before the first file is moved, so that a file in its old place is one whose move was
//! interrupted, and a file that is missing from the archive is never missed.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::Duration;

use fixbolt_session::Utc;
use fixbolt_session::store::{Generation, RecordKind, StoreError};

use crate::files::disk_space::size_on_disk;
use crate::files::found::Files;
use crate::files::listing::segments_in;
use crate::files::names::{ARCHIVE, archived_name, file_name};
use crate::files::segment_file::SegmentFile;
use crate::layout::checkpoint::Checkpoint;
use crate::layout::records::{Header, Kind, SEGMENT_HEADER};
use crate::system::aside::free_name;
use crate::system::backend::{Backend, failed};
use crate::values::limits::Retention;

/// Returns the last segment up to `needed` before which everything can be archived: a start must be
/// able to begin with it.
pub(crate) fn begin_at(files: &Files, needed: u32) -> Option<u32> {
    let salt = files.salt();
    let candidates = files.segments.iter().enumerate().skip(1).rev();
    let mut candidates = candidates.filter(|(_, file)| file.number <= needed);
    let begins = candidates.find(|(n, file)| {
        let Some(start) = files.checkpoint(*n) else { return false };
        let turn = Header::peek(files.segments[start.at.segment].bytes(), start.at.offset);
        // What comes after the checkpoint in the turn is all that a start sees of it.
        let seal = start.at.segment + 1 == *n && turn.is_some_and(|h| h.kind == Kind::Seal);
        let after = SEGMENT_HEADER + Checkpoint::SIZE;
        let reset = Header::decode(file.bytes(), after, salt).map(|h| h.kind);
        start.at.segment == *n || seal || reset == Some(Kind::Of(RecordKind::Reset))
    });
    begins.map(|(_, file)| file.number)
}

/// Waits until the segments up to `current` are on disk, with all that is committed in them.
///
/// The segment with which a start will begin has the only copy of what those before it add up to,
/// and those before it may be from a process that died before it had written them to disk.
pub(crate) fn sync(backend: &dyn Backend, files: &Files, current: u32) -> Result<(), StoreError> {
    for segment in files.segments.iter().filter(|segment| segment.number <= current) {
        let path = files.directory.join(&segment.name);
        let sync = || backend.sync(&File::open(&path)?);
        sync().map_err(|e| failed("syncing", &path, &e))?;
    }
    Ok(())
}

/// Creates the archive of the session's directory.
pub(crate) fn create(backend: &dyn Backend, directory: &Path) -> Result<PathBuf, StoreError> {
    let to = directory.join(ARCHIVE);
    backend.create_dir(&to).map_err(|e| failed("creating", &to, &e))?;
    Ok(to)
}

/// Moves every segment before `first` to the archive, without the blocks that it does not use.
pub(crate) fn move_before(backend: &dyn Backend, directory: &Path, first: u32) -> Result<(), StoreError> {
    let numbers: Vec<u32> = segments_in(directory)?.into_iter().filter(|number| *number < first).collect();
    if numbers.is_empty() {
        return Ok(());
    }
    let to = create(backend, directory)?;
    for number in numbers {
        let path = directory.join(file_name(number));
        let Some(segment) = SegmentFile::open(directory, file_name(number), number, false)? else { continue };
        let (used, length) = (segment.used().next_multiple_of(4096) as u64, segment.bytes().len() as u64);
        drop(segment);
        if used < length {
            let release = || backend.release(&File::options().write(true).open(&path)?, used, length);
            release().map_err(|e| failed("releasing the unused end of", &path, &e))?;
        }
        let aside = free_name(&to, &file_name(number));
        backend.rename(&path, &aside).map_err(|e| failed("renaming", &path, &e))?;
    }
    for changed in [to.as_path(), directory] {
        backend.sync_dir(changed).map_err(|e| failed("syncing", changed, &e))?;
    }
    Ok(())
}

/// What determines whether an archived segment is kept.
pub(crate) struct Expiry<'e> {
    /// The session's directory.
    pub(crate) directory: &'e Path,
    pub(crate) retention: Retention,
    /// The first segment that is not archived.
    pub(crate) first: u32,
    /// The current one.
    pub(crate) generation: Generation,
    /// `None` while nothing is deleted because of its age.
    pub(crate) now: Option<Utc>,
}

/// Deletes what is to be kept no longer, the oldest segments first, and tells of each which it was
/// and why.
pub(crate) fn expire(
    backend: &dyn Backend,
    expiry: &Expiry<'_>,
    deleted: &mut dyn FnMut(&Path, &str),
) -> Result<(), StoreError> {
    let Expiry { directory, retention, first, .. } = *expiry;
    if retention == Retention::default() || !directory.join(ARCHIVE).exists() {
        return Ok(());
    }
    let numbers = segments_in(&directory.join(ARCHIVE))?.into_iter().filter(|number| *number < first);
    let archived: Vec<(PathBuf, u32, u64)> = numbers
        .map(|number| {
            let path = directory.join(archived_name(number));
            let bytes = size_on_disk(&path);
            (path, number, bytes)
        })
        .collect();
    let mut total: u64 = archived.iter().map(|(.., bytes)| bytes).sum();
    let mut believed = None;
    for (path, number, bytes) in archived {
        let too_large = retention
            .bytes
            .filter(|most| total > *most)
            .map(|most| format!("the archive has {total} bytes, and {most} are kept"));
        let why = too_large.or_else(|| expiry.too_old(number, &mut believed));
        let Some(why) = why else { break };
        backend.remove(&path).map_err(|e| failed("removing", &path, &e))?;
        deleted(&path, &why);
        total -= bytes;
    }
    Ok(())
}

impl Expiry<'_> {
    /// Returns why segment `number` is too old, if it is.
    fn too_old(&self, number: u32, believed: &mut Option<(u32, Utc)>) -> Option<String> {
        let Self { directory, retention, first, generation, now } = *self;
        if let Some(kept) = retention.generations {
            let end = End::of(directory, number, first)?.generation;
            if end.0 < generation.0.saturating_sub(kept) {
                let (end, current) = (end.0, generation.0);
                return Some(format!(
                    "its last generation is {end}, and {kept} before the current one, {current}, are kept"
                ));
            }
        }
        let (most, now) = (retention.age?, now?);
        let age = Duration::from_nanos(now.0 - self.ended(number, now, believed)?.0);
        (age > most).then(|| format!("its last message was stored {age:?} ago, and is kept for {most:?}"))
    }

    /// Returns when segment `number` ended, which is not after `now`.
    ///
    /// A time in the future, from when the clock was wrong, is not believed: the segment ended
    /// before those after it. `believed` has the last of these that was needed, and its end.
    fn ended(&self, number: u32, now: Utc, believed: &mut Option<(u32, Utc)>) -> Option<Utc> {
        if believed.is_none_or(|(last, _)| last < number) {
            let ends =
                (number..self.first).filter_map(|n| Some((n, End::of(self.directory, n, self.first)?.at)));
            *believed = ends.into_iter().find(|(_, at)| *at <= now);
        }
        believed.map(|(_, at)| at)
    }
}

/// The end of an archived segment, as the next one begins with it.
struct End {
    generation: Generation,
    at: Utc,
}

impl End {
    /// Returns the end of segment `number`, or `None` if none of those after it, up to `first`,
    /// says it. If the next one is gone or damaged, this is a later end.
    fn of(directory: &Path, number: u32, first: u32) -> Option<Self> {
        (number + 1..=first).find_map(|next| {
            let open = |name| SegmentFile::open(directory, name, next, false).ok().flatten();
            let next = open(archived_name(next)).or_else(|| open(file_name(next)))?;
            let header = next.header.as_ref()?;
            let (checkpoint, _) = next.checkpoint(header.salt)?;
            Some(Self { generation: checkpoint.generation, at: checkpoint.utc.max(header.created) })
        })
    }
}
