//! Reads journals without modifying them, for tools, while the session runs or afterwards.
//!
//! It takes no lock and changes nothing. It reads what the journal contained when it was opened,
//! not what is added later.

use std::path::{Path, PathBuf};

use fixbolt_session::SessionId;
use fixbolt_session::store::{Generation, Record, StoreError};

use crate::files::{Files, session_directories};
use crate::head::HeadFound;
use crate::head_copy::HeadState;
use crate::layout::Header;
use crate::scan::{RecordAddress, Scan};
use crate::segment::file_name;

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
    pub(crate) files: Files,
    pub(crate) scan: Scan,
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
    /// Reads a journal that may be written at the same time. Its floor, read before and after, says
    /// whether something was committed meanwhile. If so, the records up to the first floor are
    /// read: whatever follows may be half written.
    fn open(directory: &Path) -> Result<Self, StoreError> {
        let files = Files::load_with_archive(directory)?;
        let mut places = Vec::new();
        let scan = files.scan(&mut |at, _| places.push(at));
        let after = HeadFound::read(directory)?;
        let Some(before) = files.head_file.as_ref().filter(|before| Some(*before) != after.as_ref()) else {
            return Ok(Self { files, scan, places });
        };
        let closed = before.head().filter(|head| head.state == HeadState::Clean).and_then(|head| head.made);
        let Some(floor) = before.floor.or(closed.map(|made| made.floor)) else {
            return Ok(Self { files, scan, places });
        };
        places.clear();
        let scan = files.scan_to(&floor, &mut |at, _| places.push(at));
        Ok(Self { files, scan, places })
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
        let file = self.files.segments.iter().find(|file| file.number == number);
        self.files.directory.join(file.map_or_else(|| file_name(number), |file| file.name.clone()))
    }

    /// Returns every committed record of all generations, oldest first.
    pub fn records(&self) -> impl DoubleEndedIterator<Item = JournalRecord<'_>> {
        self.places.iter().filter_map(|at| {
            let file = self.files.segments.get(at.segment)?;
            let bytes = file.bytes();
            let header = Header::peek(bytes, at.offset)?;
            Some(JournalRecord {
                record: header.record(bytes, at.offset)?,
                generation: header.generation,
                turn: header.turn,
                segment: file.number,
                offset: at.offset as u64,
            })
        })
    }
}
