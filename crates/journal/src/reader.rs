//! Reads journals without modifying them, for tools, while the session runs or afterwards.
//!
//! It takes no lock and changes nothing. It reads what the journal contained when it was opened,
//! not what is added later.

use std::path::{Path, PathBuf};

use fixbolt_session::SessionId;
use fixbolt_session::store::{Generation, Record, StoreError};

use crate::files::{Files, session_directories};
use crate::layout::{HeadState, Header};
use crate::mapping::Mapping;
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

/// How often a journal that is being written is read again if it seems damaged.
const READ_AGAIN: usize = 10;

impl SessionJournal {
    fn open(directory: &Path) -> Result<Self, StoreError> {
        let mut suspect = None;
        let mut again = 0;
        loop {
            let files = Files::load(directory, false)?;
            let mut places = Vec::new();
            let scan = files.scan(&mut |at, _| places.push(at));
            // A turn that is committed while we read may seem to follow a hole. Real holes remain.
            let hole = scan.damage.first().map(|stretch| stretch.from);
            let in_use = files.head().is_some_and(|h| h.state == HeadState::InUse);
            if hole.is_none() || !in_use || hole == suspect || again == READ_AGAIN {
                return Ok(Self { files, scan, places });
            }
            suspect = hole;
            again += 1;
        }
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
        self.files.directory.join(file_name(number))
    }

    /// Returns every committed record of all generations, oldest first.
    pub fn records(&self) -> impl DoubleEndedIterator<Item = JournalRecord<'_>> {
        self.places.iter().filter_map(|at| {
            let file = self.files.segments.get(at.segment)?;
            let bytes = file.mapping.as_ref().map_or(&[][..], Mapping::bytes);
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
