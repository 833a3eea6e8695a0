//! Reads journals without modifying them, for tools, while the session runs or afterwards.
//!
//! It takes no lock and changes nothing. It reads what the journal contained when it was opened,
//! not what is added later.

use std::path::{Path, PathBuf};

use fixbolt_session::SessionId;
use fixbolt_session::store::{Generation, Record, StoreError};

use crate::files::found::Files;
use crate::files::head::HeadFound;
use crate::files::names::file_name;
use crate::layout::floor::Floor;
use crate::layout::head_copy::{Head, HeadState};
use crate::layout::records::Header;
use crate::layout::scan::{RecordAddress, Scan};
use crate::tools::directories::session_directories;

/// The journals of one directory, read-only.
pub struct JournalReader {
    sessions: Vec<SessionJournal>,
}

impl JournalReader {
    /// Opens a session's directory, or a base directory with several, in the order of their names.
    ///
    /// # Errors
    /// Returns [`StoreError::Io`] if there is no journal or it cannot be read. Damage is not an
    /// error: intact records are read.
    pub fn open(directory: &Path) -> Result<Self, StoreError> {
        let directories = session_directories(directory)?;
        let sessions = directories.iter().map(|d| SessionJournal::open(d)).collect::<Result<_, _>>()?;
        Ok(Self { sessions })
    }

    /// Returns the journals, one per session.
    #[must_use]
    pub fn sessions(&self) -> &[SessionJournal] {
        &self.sessions
    }
}

/// The journal of one session, read-only.
pub struct SessionJournal {
    /// What a start reads.
    pub(crate) files: Files,
    pub(crate) scan: Scan,
    /// All files, those of the archive included, and what is lost of the archive; `None` if nothing
    /// was archived.
    archive: Option<(Files, Vec<String>)>,
    /// In all files.
    places: Vec<RecordAddress>,
}

/// A record and its position.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct JournalRecord<'j> {
    /// The record.
    pub record: Record<'j>,
    /// The generation it belongs to.
    pub generation: Generation,
    /// The turn it belongs to: records of the same turn became visible together. Ascends within a
    /// journal.
    pub turn: u64,
    /// The number of the segment, whose file is `segment-` and six digits.
    pub segment: u32,
    /// Offset of the record in that file, in bytes.
    pub offset: u64,
}

impl SessionJournal {
    /// Reads a journal that may be written, and segments of which may be archived, at the same
    /// time. Its floor, read before and after the records, says whether something was committed
    /// meanwhile. If so, the records up to the first floor are read: whatever follows may be half
    /// written.
    fn open(directory: &Path) -> Result<Self, StoreError> {
        loop {
            let files = Files::load_with_cookie(directory, false)?;
            let whole = (files.first > 1).then(|| Files::load_with_archive(directory)).transpose()?;
            let journal = Self::read(files, whole, None);
            let after = HeadFound::read(directory)?;
            // Files that were moved meanwhile may be missing.
            let first = after.as_ref().and_then(HeadFound::head).map(Head::first);
            if first.is_some_and(|first| first > journal.files.first) {
                continue;
            }
            let before = journal.files.head_file.as_ref().filter(|before| Some(*before) != after.as_ref());
            let closed = before.and_then(HeadFound::head).filter(|head| head.state == HeadState::Clean);
            let closed = closed.and_then(|head| head.made).map(|made| made.floor);
            let floor = before.and_then(|before| before.floor.or(closed));
            return Ok(match floor {
                Some(_) => Self::read(journal.files, journal.archive.map(|(whole, _)| whole), floor),
                None => journal,
            });
        }
    }

    /// Reads the records, up to `floor` if there is one.
    fn read(files: Files, whole: Option<Files>, floor: Option<Floor>) -> Self {
        let scan_all = |files: &Files, places: &mut Vec<RecordAddress>| {
            let mut visit = |at, _: &Header| places.push(at);
            match &floor {
                Some(floor) => files.scan_to(floor, &mut visit),
                None => files.scan(&mut visit),
            }
        };
        let mut places = Vec::new();
        let scan = scan_all(&files, &mut places);
        let archive = whole.map(|whole| {
            places.clear();
            let scan = scan_all(&whole, &mut places);
            let lost = whole.lost_archive(&scan);
            (whole, lost)
        });
        Self { files, scan, archive, places }
    }

    /// Returns all files, with those of the archive.
    pub(crate) fn all(&self) -> &Files {
        self.archive.as_ref().map_or(&self.files, |(files, _)| files)
    }

    /// Returns where records of the past are lost, one line each.
    pub(crate) fn lost_history(&self) -> Vec<String> {
        let archive = self.archive.iter().flat_map(|(_, lost)| lost.iter().cloned());
        archive.chain(self.files.lost_history(&self.scan)).collect()
    }

    /// Returns the session of the journal, or `None` if every place that names it is damaged.
    #[must_use]
    pub fn session(&self) -> Option<&SessionId> {
        self.files.session()
    }

    /// Returns the session's directory.
    #[must_use]
    pub fn directory(&self) -> &PathBuf {
        &self.files.directory
    }

    /// Returns the file of segment `number`.
    #[must_use]
    pub fn file(&self, number: u32) -> PathBuf {
        let file = self.all().segments.iter().find(|file| file.number == number);
        self.files.directory.join(file.map_or_else(|| file_name(number), |file| file.name.clone()))
    }

    /// Returns every committed record of all generations, oldest first.
    pub fn records(&self) -> impl DoubleEndedIterator<Item = JournalRecord<'_>> {
        (0..self.places()).filter_map(|place| self.record(place))
    }

    /// Returns the number of places where records were found.
    #[must_use]
    pub fn places(&self) -> usize {
        self.places.len()
    }

    /// Returns the record at a place, of which the oldest is 0; `None` if it is no longer there.
    #[must_use]
    pub fn record(&self, place: usize) -> Option<JournalRecord<'_>> {
        let at = self.places.get(place)?;
        let file = self.all().segments.get(at.segment)?;
        let bytes = file.bytes();
        let header = Header::peek(bytes, at.offset)?;
        Some(JournalRecord {
            record: header.record(bytes, at.offset)?,
            generation: header.generation,
            turn: header.turn,
            segment: file.number,
            offset: at.offset as u64,
        })
    }
}
