//! The file of a segment as found.

use std::fs::File;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use fixbolt_session::store::StoreError;

#[cfg(feature = "inspect")]
use crate::files::listing::segments_in;
#[cfg(feature = "inspect")]
use crate::files::names::{ARCHIVE, archived_name};
use crate::layout::checkpoint::Checkpoint;
use crate::layout::records::{Header, Kind, RECORD_HEADER, SEGMENT_HEADER, SegmentHeader};
use crate::system::backend::failed;
use crate::system::mapping::Mapping;

/// The file of a segment.
pub(crate) struct SegmentFile {
    pub(crate) number: u32,
    /// Its path below the session's directory.
    pub(crate) name: String,
    /// `None` if the file is too short for a header.
    pub(crate) mapping: Option<Mapping>,
    pub(crate) header: Option<SegmentHeader>,
    /// How many names the file has.
    pub(crate) names: u64,
}

impl SegmentFile {
    /// Returns the bytes of the file.
    pub(crate) fn bytes(&self) -> &[u8] {
        self.mapping.as_ref().map_or(&[], Mapping::bytes)
    }

    /// Returns the checkpoint with which the segment begins, and its record.
    pub(crate) fn checkpoint(&self, salt: u32) -> Option<(Header, Checkpoint)> {
        let bytes = self.bytes();
        let header = Header::decode(bytes, SEGMENT_HEADER, salt).filter(|h| h.kind == Kind::Checkpoint)?;
        Some((header, Checkpoint::decode(&bytes[SEGMENT_HEADER + RECORD_HEADER..])?))
    }

    /// Opens the file `name`; `None` if there is none.
    pub(crate) fn open(
        directory: &Path,
        name: String,
        number: u32,
        writable: bool,
    ) -> Result<Option<Self>, StoreError> {
        let path = directory.join(&name);
        let file = match File::options().read(true).write(writable).open(&path) {
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(None),
            other => other.map_err(|e| failed("opening", &path, &e))?,
        };
        let metadata = file.metadata().map_err(|e| failed("reading", &path, &e))?;
        let (length, names) = (metadata.len() as usize & !7, metadata.nlink());
        let mapping = if length >= SEGMENT_HEADER + RECORD_HEADER {
            let mapped =
                if writable { Mapping::writable(&file, length) } else { Mapping::read_only(&file, length) };
            Some(mapped.map_err(|e| failed("mapping", &path, &e))?)
        } else {
            None
        };
        let header = mapping.as_ref().and_then(|m| SegmentHeader::decode(m.bytes()));
        Ok(Some(Self { number, name, mapping, header, names }))
    }

    /// Opens the last segment in the archive of a session's directory, for when nothing else is
    /// left of a journal.
    #[cfg(feature = "inspect")]
    pub(crate) fn last_archived(directory: &Path) -> Option<Self> {
        let number = *segments_in(&directory.join(ARCHIVE)).ok()?.last()?;
        Self::open(directory, archived_name(number), number, false).ok()?
    }

    /// Returns where the last byte is that is not zero, and the padding of its record after it.
    pub(crate) fn used(&self) -> usize {
        let bytes = self.bytes();
        let zeros = [0; 4096];
        let end = bytes.rchunks(4096).position(|chunk| chunk != &zeros[..chunk.len()]);
        let end = end.map_or(0, |pages| bytes.len() - 4096 * pages);
        let last = bytes[..end].iter().rposition(|b| *b != 0).map_or(0, |last| last + 1);
        last.next_multiple_of(8).min(bytes.len())
    }
}
