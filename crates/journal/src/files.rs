//! The files of a session's directory as found, before anything is concluded from them.

use std::fs::File;
use std::path::{Path, PathBuf};

use fixbolt_session::SessionId;
use fixbolt_session::store::StoreError;

use crate::backend::failed;
use crate::head::{newest, read_copies};
use crate::layout::{Head, Header, RECORD_HEADER, SEGMENT_HEADER, SegmentHeader};
use crate::mapping::Mapping;
use crate::scan::{RecordAddress, Scan, scan};
use crate::segment::{file_name, number_of};

/// The contents of a session's directory.
pub(crate) struct Files {
    pub(crate) directory: PathBuf,
    /// `None` if there is no head file.
    pub(crate) heads: Option<[Option<Head>; 2]>,
    /// In ascending order of their numbers.
    pub(crate) segments: Vec<SegmentFile>,
}

/// The file of a segment.
pub(crate) struct SegmentFile {
    pub(crate) number: u32,
    /// `None` if the file is too short for a header.
    pub(crate) mapping: Option<Mapping>,
    pub(crate) header: Option<SegmentHeader>,
}

impl Files {
    /// Reads head and segments. Maps the segments for writing if `writable`, and changes nothing.
    pub(crate) fn load(directory: &Path, writable: bool) -> Result<Self, StoreError> {
        let heads = read_copies(directory)?;
        let mut segments = Vec::new();
        let entries = std::fs::read_dir(directory).map_err(|e| failed("reading", directory, &e))?;
        for entry in entries {
            let entry = entry.map_err(|e| failed("reading", directory, &e))?;
            let Some(number) = entry.file_name().to_str().and_then(number_of) else { continue };
            let path = entry.path();
            let file = match File::options().read(true).write(writable).open(&path) {
                // A segment made ahead disappears when the owner closes a journal that we only
                // read.
                Err(e) if e.kind() == std::io::ErrorKind::NotFound => continue,
                other => other.map_err(|e| failed("opening", &path, &e))?,
            };
            let length = file.metadata().map_err(|e| failed("reading", &path, &e))?.len() as usize & !7;
            let mapping = if length >= SEGMENT_HEADER + RECORD_HEADER {
                let mapped = if writable {
                    Mapping::writable(&file, length)
                } else {
                    Mapping::read_only(&file, length)
                };
                Some(mapped.map_err(|e| failed("mapping", &path, &e))?)
            } else {
                None
            };
            let header = mapping.as_ref().and_then(|m| SegmentHeader::decode(m.bytes()));
            segments.push(SegmentFile { number, mapping, header });
        }
        segments.sort_by_key(|s| s.number);
        Ok(Self { directory: directory.to_owned(), heads, segments })
    }

    /// Returns the copy of the head that counts.
    pub(crate) fn head(&self) -> Option<&Head> {
        self.heads.as_ref().and_then(newest)
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

    /// Scans all segments.
    pub(crate) fn scan(&self, visit: &mut dyn FnMut(RecordAddress, &Header)) -> Scan {
        let bytes: Vec<&[u8]> =
            self.segments.iter().map(|s| s.mapping.as_ref().map_or(&[][..], Mapping::bytes)).collect();
        scan(&bytes, self.salt(), visit)
    }

    /// Returns the name of a segment's file, for messages.
    pub(crate) fn path(&self, segment: usize) -> PathBuf {
        self.directory.join(file_name(self.segments.get(segment).map_or(0, |s| s.number)))
    }

    /// Returns everything that is inconsistent, one line each; empty for an intact journal. A torn
    /// tail is not an inconsistency.
    pub(crate) fn damage(&self, scan: &Scan, expected: Option<&SessionId>) -> Vec<String> {
        let mut lines = Vec::new();
        let holds_records = scan.turns > 0 || !scan.damage.is_empty();
        match &self.heads {
            None if holds_records => lines.push("the head file is missing".to_owned()),
            Some([None, None]) => lines.push("both copies of the head are damaged".to_owned()),
            _ => {}
        }
        if let (Some(expected), Some(found)) = (expected, self.session())
            && expected != found
        {
            lines.push(format!("the journal belongs to {found}"));
        }
        let last = if holds_records { scan.end.segment } else { 0 };
        for (n, s) in self.segments.iter().enumerate().take(last + 1) {
            let name = file_name(s.number);
            if s.number as usize != n + 1 {
                lines.push(format!("{} is missing", file_name(n as u32 + 1)));
                break;
            }
            match (&s.mapping, &s.header) {
                (None, _) => lines.push(format!("{name} is truncated")),
                (_, None) => lines.push(format!("the header of {name} is damaged")),
                (Some(mapping), Some(header)) => {
                    if header.number != s.number || header.salt != self.salt() {
                        lines.push(format!("{name} belongs to another journal"));
                    } else if header.bytes != mapping.len() as u64 {
                        lines.push(format!("{name} has {} bytes instead of {}", mapping.len(), header.bytes));
                    }
                }
            }
        }
        for stretch in &scan.damage {
            lines.push(format!(
                "{} holds no record from byte {} to {}, but valid records after it",
                file_name(self.segments[stretch.from.segment].number),
                stretch.from.offset,
                stretch.to
            ));
        }
        lines
    }
}

/// Returns the sessions' directories that `path` names: itself, or those in it.
#[cfg(feature = "inspect")]
pub(crate) fn session_directories(path: &Path) -> Result<Vec<PathBuf>, StoreError> {
    let is_one = |directory: &Path| {
        directory.join("head").is_file()
            || directory.join("lock").is_file()
            || directory.join(file_name(1)).is_file()
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
