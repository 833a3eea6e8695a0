//! The records of the journals in a directory, one after another.

use std::path::{Path, PathBuf};

use fixbolt_codec::Framed;
use fixbolt_journal::{JournalReader, inspect};
use fixbolt_session::Direction;
use fixbolt_session::store::{RecordKind, StoreError};

use crate::entry::{Content, Entry};
use crate::prefix::Prefix;

/// The journals of a directory, and what has been read of them.
pub(crate) struct Journals {
    directory: PathBuf,
    reader: JournalReader,
    /// The journal that is read, and its next record.
    journal: usize,
    record: usize,
    /// The file of its last record, with the number of its segment.
    file: Option<(u32, PathBuf)>,
    /// What is damaged in which journal; `None` before the last record has been read.
    damage: Option<Vec<(PathBuf, String)>>,
    /// How much of the damage has been told.
    told: usize,
}

impl Journals {
    pub(crate) fn open(directory: &Path) -> Result<Self, StoreError> {
        let reader = JournalReader::open(directory)?;
        let directory = directory.to_path_buf();
        Ok(Self { directory, reader, journal: 0, record: 0, file: None, damage: None, told: 0 })
    }

    pub(crate) fn next(&mut self) -> Result<Option<Entry<'_>>, StoreError> {
        while let Some(journal) = self.reader.sessions().get(self.journal) {
            if self.record == journal.places() {
                (self.journal, self.record, self.file) = (self.journal + 1, 0, None);
                continue;
            }
            self.record += 1;
            let Some(at) = journal.record(self.record - 1) else { continue };
            if self.file.as_ref().is_none_or(|(segment, _)| *segment != at.segment) {
                self.file = Some((at.segment, journal.file(at.segment)));
            }
            let direction = match at.record.kind {
                RecordKind::Inbound => Some(Direction::Inbound),
                RecordKind::Outbound => Some(Direction::Outbound),
                _ => None,
            };
            let body = at.record.body;
            return Ok(Some(Entry {
                content: if direction.is_some() { message(body) } else { Content::Event(body) },
                prefix: Prefix::default(),
                file: self.file.as_ref().map(|(_, file)| file.as_path()),
                line: None,
                offset: at.offset,
                session: journal.session(),
                recorded: Some((at.record.utc, direction)),
                doubtful: None,
            }));
        }
        if self.damage.is_none() {
            let of_all = inspect::verify(&self.directory)?.into_iter();
            let each =
                of_all.flat_map(|one| one.damage.into_iter().map(move |text| (one.directory.clone(), text)));
            self.damage = Some(each.collect());
        }
        self.told += 1;
        let damage = self.damage.as_ref().and_then(|damage| damage.get(self.told - 1));
        Ok(damage.map(|(directory, text)| Entry {
            content: Content::Damage(text),
            prefix: Prefix::default(),
            file: Some(directory),
            line: None,
            offset: 0,
            session: None,
            recorded: None,
            doubtful: None,
        }))
    }
}

/// Returns what bytes are that begin like a message.
pub(crate) fn message(bytes: &[u8]) -> Content<'_> {
    match Framed::try_new(bytes) {
        Ok(framed) => Content::Message(framed),
        Err(error) => Content::Garbled { bytes, error },
    }
}
