//! The files of a session's directory as found, before anything is concluded from them.

use std::collections::BinaryHeap;
use std::fs::File;
use std::path::{Path, PathBuf};

use fixbolt_session::SessionId;
use fixbolt_session::store::StoreError;

use crate::archive;
use crate::backend::{Backend, failed};
use crate::checkpoint::{Checkpoint, Spot};
use crate::floor::Floor;
use crate::head::{HeadFound, boot_id};
use crate::head_copy::{Head, HeadState};
use crate::layout::{FIRST, Header, Kind, RECORD_HEADER, SEGMENT_HEADER, SegmentHeader};
use crate::lock;
use crate::mapping::Mapping;
use crate::scan::{RecordAddress, Scan, Start, Stretch, scan};
use crate::segment::{file_name, number_of};

/// The contents of a session's directory.
pub(crate) struct Files {
    pub(crate) directory: PathBuf,
    /// `None` if there is no head file.
    pub(crate) head_file: Option<HeadFound>,
    /// The journal that was made in this directory, according to the note of its lock.
    named: Option<String>,
    /// In ascending order of their numbers; those of the archive only if they were asked for.
    pub(crate) segments: Vec<SegmentFile>,
    /// Number of the first segment that is not archived.
    pub(crate) first: u32,
}

/// The file of a segment.
pub(crate) struct SegmentFile {
    pub(crate) number: u32,
    /// Its path below the session's directory.
    pub(crate) name: String,
    /// `None` if the file is too short for a header.
    pub(crate) mapping: Option<Mapping>,
    pub(crate) header: Option<SegmentHeader>,
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
}

impl SegmentFile {
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
        let length = file.metadata().map_err(|e| failed("reading", &path, &e))?.len() as usize & !7;
        let mapping = if length >= SEGMENT_HEADER + RECORD_HEADER {
            let mapped =
                if writable { Mapping::writable(&file, length) } else { Mapping::read_only(&file, length) };
            Some(mapped.map_err(|e| failed("mapping", &path, &e))?)
        } else {
            None
        };
        let header = mapping.as_ref().and_then(|m| SegmentHeader::decode(m.bytes()));
        Ok(Some(Self { number, name, mapping, header }))
    }
}

impl Files {
    /// Reads the head and the segments that are not archived. Maps them for writing if `writable`,
    /// and changes nothing.
    pub(crate) fn load(directory: &Path, writable: bool) -> Result<Self, StoreError> {
        let head_file = HeadFound::read(directory)?;
        let head = head_file.as_ref().and_then(HeadFound::head);
        let numbers = segments_in(directory)?;
        let first = archive::first_segment(directory, head, &numbers)?;
        Self::load_from(directory, writable, head_file, &numbers, first)
    }

    /// Reads the head, which is another journal's, and the segments that are not archived; which
    /// those are follows from the names of the files, not from the head. Maps them for writing if
    /// `writable`, and changes nothing.
    #[cfg(feature = "inspect")]
    pub(crate) fn load_without_head(directory: &Path, writable: bool) -> Result<Self, StoreError> {
        let numbers = segments_in(directory)?;
        let first = archive::first_segment(directory, None, &numbers)?;
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
        Ok(Self { directory: directory.to_owned(), head_file, named, segments, first })
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
                None => SegmentFile::open(directory, archive::name(number), number, false)?,
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

    /// Verifies the records from segment `n`, or the beginning of its turn, up to the next segment
    /// with a checkpoint. Returns that one, if there is one, and what is wrong.
    pub(crate) fn verify_part(&self, n: usize) -> (Option<usize>, Vec<String>) {
        let start = self.checkpoint(n).unwrap_or(Start::FIRST);
        let next = (n + 1..self.segments.len()).find_map(|n| Some((n, self.checkpoint(n)?)));
        let Some((next, until)) = next else { return (None, Vec::new()) };
        let bytes: Vec<&[u8]> = self.segments[..next].iter().map(SegmentFile::bytes).collect();
        let scan = scan(&bytes, self.salt(), start, &mut |_, _| {});
        let mut lines: Vec<String> = scan.damage.iter().map(|stretch| self.no_record(stretch)).collect();
        if lines.is_empty() && scan.end != until.at {
            lines.push(format!(
                "{} holds no record from byte {} on, but {} continues after more",
                self.segments[scan.end.segment.min(next)].name,
                scan.end.offset,
                self.segments[next].name
            ));
        }
        (Some(next), lines)
    }

    fn no_record(&self, stretch: &Stretch) -> String {
        format!(
            "{} holds no record from byte {} to {}, but valid records after it",
            self.segments[stretch.from.segment].name, stretch.from.offset, stretch.to
        )
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

    /// Returns everything that is inconsistent, one line each; empty for an intact journal. A torn
    /// tail is not an inconsistency.
    pub(crate) fn damage(&self, scan: &Scan, expected: Option<&SessionId>) -> Vec<String> {
        let mut lines = self.damage_besides_floor(scan, expected);
        // What is missing in the middle may be why the end was not found.
        if lines.is_empty() {
            lines.extend(self.below_floor(scan));
        }
        lines
    }

    /// Returns what is inconsistent without looking at the floor.
    pub(crate) fn damage_besides_floor(&self, scan: &Scan, expected: Option<&SessionId>) -> Vec<String> {
        let mut lines = Vec::new();
        match &self.head_file {
            None if !self.segments.is_empty() => lines.push("the head file is missing".to_owned()),
            None => {
                let named = self.named.iter().map(|id| {
                    format!("head and segments of journal {id}, which the file lock names, are gone")
                });
                lines.extend(named);
                if lines.is_empty() && self.first > 1 {
                    let last = archive::name(self.first - 1);
                    lines.push(format!("head and segments are gone: there are only those up to {last}"));
                }
            }
            Some(HeadFound { copies: [None, None], .. }) => {
                lines.push("both copies of the head are damaged".to_owned());
            }
            _ => {}
        }
        if let (Some(expected), Some(found)) = (expected, self.session())
            && expected != found
        {
            lines
                .push(format!("according to the head, or else the segments, the journal belongs to {found}"));
        }
        let live = self.segments.iter().filter(|s| s.number >= self.first);
        for (s, number) in live.zip(self.first..) {
            let name = &s.name;
            if s.number != number {
                lines.push(format!("{} is missing", file_name(number)));
                break;
            }
            match (&s.mapping, &s.header) {
                (None, _) => lines.push(format!("{name} is truncated")),
                (_, None) => lines.push(format!("the header of {name} is damaged")),
                (Some(mapping), Some(header)) => {
                    if !self.owns(header) {
                        lines.push(format!("{name} belongs to another journal"));
                    } else if header.number != s.number {
                        lines.push(format!("{name} has the content of {}", file_name(header.number)));
                    } else if header.bytes != mapping.len() as u64 {
                        lines.push(format!("{name} has {} bytes instead of {}", mapping.len(), header.bytes));
                    }
                }
            }
        }
        let read_from = self.last_checkpoint().at;
        let present = scan.damage.iter().filter(|stretch| stretch.from >= read_from);
        lines.extend(present.map(|stretch| self.no_record(stretch)));
        lines
    }

    /// Returns where records of archived segments are lost.
    #[cfg(feature = "inspect")]
    pub(crate) fn lost_archive(&self, scan: &Scan) -> Vec<String> {
        let archived = |stretch: &&Stretch| self.segments[stretch.from.segment].number < self.first;
        scan.damage.iter().filter(archived).map(|stretch| self.no_record(stretch)).collect()
    }

    /// Returns where records of the past are lost: before the place from which a start reads. It
    /// does not stop the session.
    #[cfg(feature = "inspect")]
    pub(crate) fn lost_history(&self, scan: &Scan) -> Vec<String> {
        let read_from = self.last_checkpoint().at;
        let past = scan.damage.iter().filter(|stretch| stretch.from < read_from);
        past.map(|stretch| self.no_record(stretch)).collect()
    }

    /// Returns whether a segment is one of this journal.
    fn owns(&self, header: &SegmentHeader) -> bool {
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

    /// Returns what is wrong if the records do not reach the floor, or reach further than the
    /// commits that it knows of.
    fn below_floor(&self, scan: &Scan) -> Option<String> {
        let file = self.head_file.as_ref()?;
        let head = file.head()?;
        let reached = self.reached(scan);
        let (floor, one_more) = match head.state {
            HeadState::Clean => (head.made?.floor, false),
            // After a power loss, or while a tail is being removed, the mark decides.
            HeadState::InUse if head.made.is_some() && head.boot == boot_id() && head.boot != [0; 16] => {
                let Some(floor) = file.floor else {
                    return Some("the floor in the head is damaged".to_owned());
                };
                // The process died between making its last turn visible and storing the floor.
                (floor, scan.turn_before == floor.turn && reached.turn > floor.turn)
            }
            _ => return None,
        };
        if reached == floor || one_more {
            return None;
        }
        let at = |floor: &Floor| {
            format!(
                "byte {} of {} with next outbound {} and next inbound {}",
                floor.offset,
                file_name(floor.segment),
                floor.next_out,
                floor.next_in
            )
        };
        let [records, floor_at] = [at(&reached), at(&floor)];
        Some(if reached.turn > floor.turn {
            format!(
                "the records reach {records}, but the head is older: according to it they reach {floor_at}"
            )
        } else {
            format!("the records end at {records}, but the last commit reached {floor_at}")
        })
    }

    /// Returns why this is not the journal's original place, if it is not: a copy, whose original
    /// may have used more sequence numbers.
    pub(crate) fn is_copy(&self) -> Option<String> {
        let file = self.head_file.as_ref()?;
        let made = file.head()?.made?;
        let why = file.place.differs_from(made.place)?;
        Some(format!("this is a copy of journal {}, or it was restored from one: {why}", made.id))
    }
}

/// Returns the numbers of the segments in a directory, in ascending order.
pub(crate) fn segments_in(directory: &Path) -> Result<Vec<u32>, StoreError> {
    let mut numbers = BinaryHeap::new();
    for entry in std::fs::read_dir(directory).map_err(|e| failed("reading", directory, &e))? {
        let entry = entry.map_err(|e| failed("reading", directory, &e))?;
        numbers.extend(entry.file_name().to_str().and_then(number_of));
    }
    // A tenth of the code of `Vec::sort_unstable`.
    Ok(numbers.into_sorted_vec())
}

/// Returns the sessions' directories that `path` names: itself, or those in it.
#[cfg(feature = "inspect")]
pub(crate) fn session_directories(path: &Path) -> Result<Vec<PathBuf>, StoreError> {
    let is_part = |name: &str| matches!(name, "head" | "lock") || number_of(name).is_some();
    let is_one = |directory: &Path| {
        let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
        entries.into_iter().any(|entry| entry.file_name().to_str().is_some_and(is_part))
            || archive::last(directory).is_some()
    };
    if is_one(path) {
        return Ok(vec![path.to_owned()]);
    }
    let mut found = Vec::new();
    for entry in std::fs::read_dir(path).map_err(|e| failed("reading", path, &e))? {
        let inner = entry.map_err(|e| failed("reading", path, &e))?.path();
        if inner.is_dir() && is_one(&inner) {
            found.push(inner);
        }
    }
    if found.is_empty() {
        return Err(StoreError::Io {
            doing: format!("looking for a journal in {}", path.display()),
            reason: "this is neither a session's journal nor a directory of journals".to_owned(),
        });
    }
    found.sort();
    Ok(found)
}
