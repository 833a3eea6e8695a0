//! Reading journals back without taking part: for tools, while the session runs or after it.
//!
//! Takes no lock and changes nothing. What a journal held when it was opened here is what is read, not what came later.

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
    /// [`StoreError::Io`] when there is no journal or it cannot be read. Damage is no error: whole records are read.
    pub fn open(directory: &Path) -> Result<Self, StoreError> {
        let directories = session_directories(directory)?;
        let sessions = directories.iter().map(|d| SessionJournal::open(d)).collect::<Result<_, _>>()?;
        Ok(Self { sessions })
    }

    /// The journals, one a session.
    #[must_use]
    pub fn sessions(&self) -> &[SessionJournal] {
        &self.sessions
    }
}

/// One session's journal, read-only.
pub struct SessionJournal {
    pub(crate) files: Files,
    pub(crate) scan: Scan,
    places: Vec<RecordAddress>,
}

/// A record and where it was found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct JournalRecord<'j> {
    /// The record.
    pub record: Record<'j>,
    /// The generation it belongs to.
    pub generation: Generation,
    /// The turn it belongs to: records of the same turn became visible together. Grows within a journal.
    pub turn: u64,
    /// The segment's number; its file is `segment-` and six digits.
    pub segment: u32,
    /// Where the record begins in that file, in bytes.
    pub offset: u64,
}

/// How often a journal that is being written is read again when it seems damaged.
const READ_AGAIN: usize = 10;

impl SessionJournal {
    fn open(directory: &Path) -> Result<Self, StoreError> {
        let mut suspect = None;
        let mut again = 0;
        loop {
            let files = Files::load(directory, false)?;
            let mut places = Vec::new();
            let scan = files.scan(&mut |at, _| places.push(at));
            // A turn that its owner commits while we look behind it seems to have come after a hole. Real holes stay.
            let hole = scan.damage.first().map(|stretch| stretch.from);
            let in_use = files.head().is_some_and(|h| h.state == HeadState::InUse);
            if hole.is_none() || !in_use || hole == suspect || again == READ_AGAIN {
                return Ok(Self { files, scan, places });
            }
            suspect = hole;
            again += 1;
        }
    }

    /// Whose journal it is; `None` when every place that says so is damaged.
    #[must_use]
    pub fn session(&self) -> Option<&SessionId> {
        self.files.session()
    }

    /// The session's directory.
    #[must_use]
    pub fn directory(&self) -> &PathBuf {
        &self.files.directory
    }

    /// The file of segment `number`.
    #[must_use]
    pub fn file(&self, number: u32) -> PathBuf {
        self.files.directory.join(file_name(number))
    }

    /// Every committed record, oldest first, all generations.
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
