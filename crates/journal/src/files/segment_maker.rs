//! Creates segments.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use fixbolt_codec::SeqNum;
use fixbolt_session::SessionId;
use fixbolt_session::store::{Generation, StoreError};

use crate::files::disk_space::Quota;
use crate::files::index::Index;
use crate::files::names::{file_name, new_name};
use crate::files::segment::Segment;
use crate::layout::records::{SEGMENT_HEADER, SegmentHeader};
use crate::system::backend::{Backend, failed};
use crate::values::clock;
use crate::values::identity::JournalId;

/// Creates segments in order, each larger than the one before.
pub(crate) struct SegmentMaker {
    pub(crate) backend: Arc<dyn Backend>,
    pub(crate) directory: PathBuf,
    pub(crate) session: SessionId,
    pub(crate) salt: u32,
    pub(crate) journal: JournalId,
    /// The last segment created.
    pub(crate) highest: u32,
    /// Its size.
    pub(crate) bytes: u64,
    /// The smallest and the largest size.
    pub(crate) sizes: (u64, u64),
    pub(crate) quota: Quota,
    /// Set when the session's store is closed: create no more.
    pub(crate) closed: bool,
}

/// How much larger the next segment is: 64 KiB, 1 MiB, 16 MiB, 32 MiB.
const GROWTH: u64 = 16;

impl SegmentMaker {
    /// Creates the next segment with space for `room` bytes of records; smaller than usual if the
    /// disk is nearly full.
    ///
    /// # Errors
    /// Returns [`StoreError::Full`] or [`StoreError::Io`]; no file is left behind.
    pub(crate) fn make(&mut self, room: usize) -> Result<Segment, StoreError> {
        self.sized(room, Self::try_make)
    }

    /// Creates the next segment under the name of one that is being created, and does not wait for
    /// the disk.
    ///
    /// # Errors
    /// Returns [`StoreError::Full`] or [`StoreError::Io`]; no file is left behind.
    pub(crate) fn prepare(&mut self) -> Result<Segment, StoreError> {
        self.sized(0, |maker, bytes| Ok(maker.build(bytes)?.0))
    }

    fn sized(
        &mut self,
        room: usize,
        make: fn(&Self, u64) -> Result<Segment, StoreError>,
    ) -> Result<Segment, StoreError> {
        let (smallest, largest) = self.sizes;
        let needed = (room as u64 + SEGMENT_HEADER as u64).next_multiple_of(4096);
        let mut bytes = (self.bytes * GROWTH).clamp(smallest, largest).max(needed);
        if self.quota.left() < bytes {
            bytes = self.quota.left() & !4095;
            if bytes < needed.max(smallest) {
                let (place, used) = (self.directory.display(), self.quota.used);
                let most = self.quota.most.unwrap_or(u64::MAX);
                let place = format!("{place} (JournalQuota of {most} bytes, of which {used} are used)");
                return Err(StoreError::Full { place });
            }
        }
        loop {
            match make(self, bytes) {
                Ok(segment) => {
                    self.highest = segment.number;
                    self.bytes = bytes;
                    self.quota.used += bytes;
                    return Ok(segment);
                }
                Err(StoreError::Full { .. }) if bytes / 2 >= needed.max(smallest) => {
                    bytes = (bytes / 2).next_multiple_of(4096);
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// Removes a segment that was created but not used.
    ///
    /// # Errors
    /// Returns [`StoreError::Io`] if the file cannot be removed.
    pub(crate) fn unmake(&mut self, segment: Segment) -> Result<(), StoreError> {
        let path = self.directory.join(file_name(segment.number));
        self.backend.remove(&path).map_err(|e| failed("removing", &path, &e))?;
        self.highest = segment.number - 1;
        self.quota.used = self.quota.used.saturating_sub(segment.mapping.len() as u64);
        Ok(())
    }

    /// Creates the file, which is complete on disk before it gets its name.
    fn try_make(&self, bytes: u64) -> Result<Segment, StoreError> {
        let (segment, file) = self.build(bytes)?;
        let path = self.directory.join(file_name(segment.number));
        let new = self.directory.join(new_name(segment.number));
        let place = || {
            self.backend.sync(&file).map_err(|e| failed("syncing", &new, &e))?;
            self.backend.rename(&new, &path).map_err(|e| failed("renaming", &new, &e))?;
            self.backend.sync_dir(&self.directory).map_err(|e| failed("syncing", &path, &e))
        };
        place().inspect_err(|_| {
            let _ = self.backend.remove(&new);
            let _ = self.backend.remove(&path);
        })?;
        Ok(segment)
    }

    /// Writes the file under the name of one that is being created.
    fn build(&self, bytes: u64) -> Result<(Segment, File), StoreError> {
        let number = self.highest + 1;
        let path = self.directory.join(new_name(number));
        self.build_at(&path, number, bytes).inspect_err(|_| {
            let _ = self.backend.remove(&path);
        })
    }

    fn build_at(&self, path: &Path, number: u32, bytes: u64) -> Result<(Segment, File), StoreError> {
        let file = self.backend.create(path).map_err(|e| failed("creating", path, &e))?;
        self.backend.allocate(&file, bytes).map_err(|e| failed("allocating", path, &e))?;
        let header = SegmentHeader {
            number,
            bytes,
            created: clock::now(),
            salt: self.salt,
            session: self.session.clone(),
            journal: Some(self.journal),
        };
        self.backend.write(&file, 0, &header.encode()).map_err(|e| failed("writing", path, &e))?;
        let mut mapping = self.backend.map(&file, bytes as usize).map_err(|e| failed("mapping", path, &e))?;
        mapping.expect_records(|| file.try_clone());
        let index = Index::of_length(mapping.len());
        Ok((Segment::new(number, mapping, (Generation(0), SeqNum::ONE), Some(index)), file))
    }
}
