//! The files of a session's directory as found, before anything is concluded from them.

use std::fs::File;
use std::path::{Path, PathBuf};

use fixbolt_session::SessionId;
use fixbolt_session::store::StoreError;

#[cfg(feature = "inspect")]
use crate::files::cookies;
use crate::files::head::HeadFound;
use crate::files::listing::{first_segment, segments_in};
use crate::files::lock;
#[cfg(feature = "inspect")]
use crate::files::names::archived_name;
use crate::files::names::file_name;
use crate::files::segment_file::SegmentFile;
use crate::layout::checkpoint::Spot;
use crate::layout::cookie::CookieFound;
use crate::layout::floor::Floor;
use crate::layout::head_copy::Head;
use crate::layout::records::{FIRST, Header, SEGMENT_HEADER, SegmentHeader};
use crate::layout::scan::{RecordAddress, Scan, Start, scan};
use crate::system::backend::{Backend, failed};

/// The contents of a session's directory.
pub(crate) struct Files {
    pub(crate) directory: PathBuf,
    /// `None` if there is no head file.
    pub(crate) head_file: Option<HeadFound>,
    /// The journal that was made in this directory, according to the note of its lock.
    pub(crate) named: Option<String>,
    /// In ascending order of their numbers; those of the archive only if they were asked for.
    pub(crate) segments: Vec<SegmentFile>,
    /// Number of the first segment that is not archived.
    pub(crate) first: u32,
    /// What is known of the session since the machine was started, from elsewhere: whoever
    /// concludes something from the files adds it.
    pub(crate) cookie: Option<CookieFound>,
}

impl Files {
    /// Reads the head and the segments that are not archived. Maps them for writing if `writable`,
    /// and changes nothing.
    pub(crate) fn load(directory: &Path, writable: bool) -> Result<Self, StoreError> {
        let head_file = HeadFound::read(directory)?;
        let head = head_file.as_ref().and_then(HeadFound::head);
        let numbers = segments_in(directory)?;
        let first = first_segment(directory, head, &numbers)?;
        Self::load_from(directory, writable, head_file, &numbers, first)
    }

    /// Reads the cookie and then the files, as a tool finds them without the configuration of the
    /// engine. If an engine is writing both, the cookie is the older one.
    #[cfg(feature = "inspect")]
    pub(crate) fn load_with_cookie(directory: &Path, writable: bool) -> Result<Self, StoreError> {
        let cookie = cookies::find(None, directory);
        Ok(Self { cookie, ..Self::load(directory, writable)? })
    }

    /// Returns the cookie, if it is of this journal and nobody has written the head since who does
    /// not write cookies, or elsewhere.
    pub(crate) fn own_cookie(&self) -> Option<&CookieFound> {
        let head = self.head()?;
        let id = head.made?.id;
        self.cookie.as_ref().filter(|cookie| cookie.id == id && head.serial <= cookie.serial)
    }

    /// Reads the head, which is another journal's, and the segments that are not archived; which
    /// those are follows from the names of the files, not from the head. Maps them for writing if
    /// `writable`, and changes nothing.
    #[cfg(feature = "inspect")]
    pub(crate) fn load_without_head(directory: &Path, writable: bool) -> Result<Self, StoreError> {
        let numbers = segments_in(directory)?;
        let first = first_segment(directory, None, &numbers)?;
        Self::load_from(directory, writable, HeadFound::read(directory)?, &numbers, first)
    }

    fn load_from(
        directory: &Path,
        writable: bool,
        head_file: Option<HeadFound>,
        numbers: &[u32],
        first: u32,
    ) -> Result<Self, StoreError> {
        let mut segments = Vec::new();
        for number in numbers.iter().copied().filter(|number| *number >= first) {
            // A segment made ahead disappears when the owner closes a journal that we only read.
            segments.extend(SegmentFile::open(directory, file_name(number), number, writable)?);
        }
        let named = lock::journal_in(directory);
        Ok(Self { directory: directory.to_owned(), head_file, named, segments, first, cookie: None })
    }

    /// Reads those of the archive as well, as far back as none is missing.
    #[cfg(feature = "inspect")]
    pub(crate) fn load_with_archive(directory: &Path) -> Result<Self, StoreError> {
        let mut files = Self::load(directory, false)?;
        let mut archived = Vec::new();
        for number in (1..files.first).rev() {
            // One that is about to be moved is still in its old place.
            let old = SegmentFile::open(directory, file_name(number), number, false)?;
            let found = match old {
                None => SegmentFile::open(directory, archived_name(number), number, false)?,
                old => old,
            };
            let own = |file: &SegmentFile| file.header.as_ref().is_none_or(|header| files.owns(header));
            let Some(found) = found.filter(own) else { break };
            archived.push(found);
        }
        files.segments.splice(0..0, archived.into_iter().rev());
        Ok(files)
    }

    /// Returns where a scan of all segments begins.
    #[cfg(feature = "inspect")]
    pub(crate) fn start(&self) -> Start {
        self.checkpoint(0).unwrap_or(Start::FIRST)
    }

    /// Returns the copy of the head that counts.
    pub(crate) fn head(&self) -> Option<&Head> {
        self.head_file.as_ref().and_then(HeadFound::head)
    }

    /// Returns the session of the journal, from the head or else from a segment.
    pub(crate) fn session(&self) -> Option<&SessionId> {
        let segment = || self.segments.iter().find_map(|s| s.header.as_ref());
        self.head().map(|h| &h.session).or_else(|| segment().map(|s| &s.session))
    }

    /// Returns the initial value of this journal's checksums.
    pub(crate) fn salt(&self) -> u32 {
        let segment = || self.segments.iter().find_map(|s| s.header.as_ref());
        self.head().map(|h| h.salt).or_else(|| segment().map(|s| s.salt)).unwrap_or(0)
    }

    /// Scans the segments from `start` on.
    pub(crate) fn scan_from(&self, start: Start, visit: &mut dyn FnMut(RecordAddress, &Header)) -> Scan {
        let bytes: Vec<&[u8]> = self.segments.iter().map(SegmentFile::bytes).collect();
        scan(&bytes, self.salt(), start, visit)
    }

    /// Scans all segments.
    #[cfg(feature = "inspect")]
    pub(crate) fn scan(&self, visit: &mut dyn FnMut(RecordAddress, &Header)) -> Scan {
        self.scan_from(self.start(), visit)
    }

    /// Returns where the last turn begins in which a segment begins, according to its checkpoint,
    /// and what the turns before it add up to; the beginning of the journal if there is none.
    pub(crate) fn last_checkpoint(&self) -> Start {
        (0..self.segments.len()).rev().find_map(|n| self.checkpoint(n)).unwrap_or(Start::FIRST)
    }

    /// Returns where to begin a scan so that it reads segment `n`; `None` if there is no checkpoint
    /// at its beginning, or if it belongs to a turn that was not committed.
    pub(crate) fn checkpoint(&self, n: usize) -> Option<Start> {
        let segment = self.segments.get(n)?;
        let (header, checkpoint) = segment.checkpoint(self.salt())?;
        let beginning = self.segments.first().map_or(0, |s| s.number);
        let address = |spot: Spot| {
            let segment = self.segments.iter().position(|s| s.number == spot.segment)?;
            Some(RecordAddress { segment, offset: spot.offset as usize })
        };
        let here = RecordAddress { segment: n, offset: SEGMENT_HEADER };
        let begins_before = checkpoint.turn_start.segment < beginning;
        let at = if begins_before { here } else { address(checkpoint.turn_start)? };
        if begins_before {
            // Only what was committed is archived.
            if n > 0 || segment.number > self.first {
                return None;
            }
        } else {
            let first = Header::peek(self.segments[at.segment].bytes(), at.offset)?;
            if first.turn != header.turn || first.marks & FIRST == 0 {
                return None;
            }
        }
        let generation_start = if checkpoint.generation_start.segment < beginning {
            RecordAddress { segment: 0, offset: SEGMENT_HEADER }
        } else {
            address(checkpoint.generation_start)?
        };
        Some(Start { at, generation_start, totals: checkpoint.totals(), inside: begins_before })
    }

    /// Scans the segments up to a floor.
    #[cfg(feature = "inspect")]
    pub(crate) fn scan_to(&self, floor: &Floor, visit: &mut dyn FnMut(RecordAddress, &Header)) -> Scan {
        let before = self.segments.iter().take_while(|s| s.number <= floor.segment).map(|s| {
            let bytes = s.bytes();
            let end = if s.number == floor.segment { floor.offset as usize } else { bytes.len() };
            bytes.get(..end).unwrap_or(bytes)
        });
        let bytes: Vec<&[u8]> = before.collect();
        scan(&bytes, self.salt(), self.start(), visit)
    }

    /// Gives each segment that is not archived all of its blocks. A copy may have holes, and to
    /// write into one of them through a mapping ends the process if the disk is full.
    ///
    /// # Errors
    /// Returns [`StoreError::Full`] if there is no room for them, and [`StoreError::Io`] from the
    /// system.
    pub(crate) fn allocate(&self, backend: &dyn Backend) -> Result<(), StoreError> {
        for segment in self.segments.iter().filter(|segment| segment.number >= self.first) {
            if segment.mapping.is_none() {
                // Truncated: a repair makes it anew.
                continue;
            }
            let path = self.directory.join(&segment.name);
            let allocate = || {
                let file = File::options().write(true).open(&path)?;
                backend.allocate(&file, file.metadata()?.len())
            };
            allocate().map_err(|e| failed("allocating", &path, &e))?;
        }
        Ok(())
    }

    /// Returns the name of a segment's file, for messages.
    pub(crate) fn path(&self, segment: usize) -> PathBuf {
        self.directory.join(self.segments.get(segment).map_or("", |s| &s.name))
    }

    /// Returns whether a segment is one of this journal.
    pub(crate) fn owns(&self, header: &SegmentHeader) -> bool {
        let id = self.head().and_then(|head| head.made).map(|made| made.id);
        header.salt == self.salt() && (header.journal.is_none() || id.is_none() || header.journal == id)
    }

    /// Returns how far the records reach, as the floor should say.
    pub(crate) fn reached(&self, scan: &Scan) -> Floor {
        Floor {
            turn: scan.last_turn,
            generation: scan.ledger.generation,
            segment: self.segments.get(scan.end.segment).map_or(self.first, |s| s.number),
            offset: scan.end.offset as u64,
            next_in: scan.ledger.next_in,
            next_out: scan.ledger.next_out,
        }
    }
}
