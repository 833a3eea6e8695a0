//! Makes a damaged journal usable again, while holding its lock. Bytes are copied to a file before
//! they are overwritten.
//!
//! A repair adds records and covers damage. It never removes an intact record and never lowers a
//! sequence number.
//! What it covers is gap-filled when the counterparty requests it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use fixbolt_codec::SeqNum;
use fixbolt_session::store::{
    ConnectionNumber, Generation, Record, RecordFlags, RecordKind, SessionKey, StoreError,
};
use fixbolt_session::{Mono, SessionId, Utc};

use crate::DirectoryStore;
use crate::backend::{Backend, System, failed};
use crate::files::{Files, session_directories};
use crate::head::HeadFile;
use crate::layout::{
    Head, HeadState, Header, Kind, RECORD_HEADER, SEGMENT_HEADER, SegmentHeader, body_checksum,
};
use crate::lock::{self, Lock};
use crate::log::RESERVE_MOST;
use crate::recover::{Opening, keep_copy};
use crate::scan::Stretch;
use crate::segment::{SegmentMaker, file_name};

/// What a repair has done to a session's journal.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Repaired {
    /// The session's directory.
    pub directory: PathBuf,
    /// The session of the journal.
    pub session: SessionId,
    /// What was done, one line each; empty if there was nothing to do.
    pub done: Vec<String>,
    /// Files with the bytes that were overwritten.
    pub kept: Vec<PathBuf>,
    /// The next expected inbound MsgSeqNum.
    pub next_in: SeqNum,
    /// The next outbound MsgSeqNum, or a lower bound of it.
    pub next_out: SeqNum,
}

/// Repairs a session's directory, or those of all sessions in a base directory. With `skip`, also
/// skips that inbound message.
///
/// A message can only be skipped if it is the next one expected, and only in one session at a time.
///
/// # Errors
/// Returns [`StoreError::Locked`] if a process uses the journal, [`StoreError::Io`] or
/// [`StoreError::Full`] from the system or if the message cannot be skipped, and
/// [`StoreError::Damaged`] if nothing says whose journal it is.
pub fn repair(directory: &Path, skip: Option<SeqNum>) -> Result<Vec<Repaired>, StoreError> {
    let directories = session_directories(directory)?;
    if let Some(seq) = skip
        && directories.len() > 1
    {
        return Err(StoreError::Io {
            doing: format!("skipping message {seq}"),
            reason: format!("{} holds {} sessions: name one", directory.display(), directories.len()),
        });
    }
    directories.iter().map(|d| repair_session(d, skip)).collect()
}

fn repair_session(directory: &Path, skip: Option<SeqNum>) -> Result<Repaired, StoreError> {
    let lock = Lock::take(directory)?;
    let files = Files::load(directory, true)?;
    let Some(session) = files.session().cloned() else {
        return Err(StoreError::Damaged {
            place: directory.display().to_string(),
            reason: "neither the head nor any segment says whose journal this is".to_owned(),
        });
    };
    let mut work =
        Work { backend: Arc::new(System), session, salt: files.salt(), done: Vec::new(), kept: Vec::new() };
    let scan = files.scan(&mut |_, _| {});
    let mut ledger = scan.ledger;
    if !files.damage(&scan, None).is_empty() {
        drop(files);
        work.segments(directory)?;
        work.stretches(directory)?;
        let files = Files::load(directory, true)?;
        let scan = files.scan(&mut |_, _| {});
        ledger = scan.ledger;
        work.head(&files, ledger.generation, ledger.next_out)?;
        let files = Files::load(directory, true)?;
        let left = files.damage(&files.scan(&mut |_, _| {}), None);
        if !left.is_empty() {
            return Err(StoreError::Damaged {
                place: directory.display().to_string(),
                reason: left.join("; "),
            });
        }
    }
    if let Some(seq) = skip {
        ledger = work.skip(directory, lock, seq)?;
    }
    Ok(Repaired {
        directory: directory.to_owned(),
        session: work.session,
        done: work.done,
        kept: work.kept,
        next_in: ledger.next_in,
        next_out: ledger.next_out,
    })
}

struct Work {
    backend: Arc<dyn Backend>,
    session: SessionId,
    salt: u32,
    done: Vec<String>,
    kept: Vec<PathBuf>,
}

impl Work {
    /// Ensures that every segment up to the last one exists and has a valid header.
    fn segments(&mut self, directory: &Path) -> Result<(), StoreError> {
        let files = Files::load(directory, true)?;
        let last = files.segments.last().map_or(0, |s| s.number);
        for number in 1..=last {
            let name = file_name(number);
            let path = directory.join(&name);
            let found = files.segments.iter().find(|s| s.number == number);
            match found.map(|s| (&s.mapping, &s.header)) {
                Some((Some(mapping), header)) => {
                    if header.as_ref().is_some_and(|h| h.number == number && h.bytes == mapping.len() as u64)
                    {
                        continue;
                    }
                    let before = &mapping.bytes()[..SEGMENT_HEADER];
                    self.kept.push(keep_copy(
                        &*self.backend,
                        directory,
                        &format!("damaged-{name}-0"),
                        before,
                    )?);
                    let header = SegmentHeader {
                        number,
                        bytes: mapping.len() as u64,
                        created: header.as_ref().map_or(Utc(0), |h| h.created),
                        salt: self.salt,
                        session: self.session.clone(),
                    };
                    let write = || {
                        let file = std::fs::File::options().write(true).open(&path)?;
                        self.backend.write(&file, 0, &header.encode())?;
                        self.backend.sync(&file)
                    };
                    write().map_err(|e| failed("writing", &path, &e))?;
                    self.done.push(format!("the header of {name} was rewritten"));
                }
                short_or_missing => {
                    if short_or_missing.is_some() {
                        let aside = directory.join(format!("damaged-{name}"));
                        self.backend.rename(&path, &aside).map_err(|e| failed("renaming", &path, &e))?;
                        self.kept.push(aside);
                    }
                    let mut maker = SegmentMaker {
                        backend: Arc::clone(&self.backend),
                        directory: directory.to_owned(),
                        session: self.session.clone(),
                        salt: self.salt,
                        highest: number - 1,
                        bytes: 0,
                        sizes: (4096, 4096),
                        closed: false,
                    };
                    maker.make(0)?;
                    self.done.push(format!("{name}, which was missing, was replaced by an empty one"));
                }
            }
        }
        Ok(())
    }

    /// Covers every stretch that holds no record with a record that says so.
    fn stretches(&mut self, directory: &Path) -> Result<(), StoreError> {
        loop {
            let mut files = Files::load(directory, true)?;
            let scan = files.scan(&mut |_, _| {});
            let Some(Stretch { from, mut to }) = scan.damage.first().copied() else { return Ok(()) };
            let name = file_name(files.segments[from.segment].number);
            let path = files.path(from.segment);
            let Some(mapping) = &mut files.segments[from.segment].mapping else { return Ok(()) };
            // Space for a header: if necessary, the record after the stretch is covered too.
            while to - from.offset < RECORD_HEADER {
                to += Header::decode(mapping.bytes(), to, self.salt).map_or(8, |h| h.size());
                if to > mapping.len() {
                    return Err(StoreError::Damaged {
                        place: format!("{} at byte {}", path.display(), from.offset),
                        reason: "there is too little space to cover the damage".to_owned(),
                    });
                }
            }
            let name = format!("damaged-{name}-{}", from.offset);
            let before = &mapping.bytes()[from.offset..to];
            self.kept.push(keep_copy(&*self.backend, directory, &name, before)?);
            let header = Header {
                length: (to - from.offset - RECORD_HEADER) as u32,
                kind: Kind::Void,
                marks: 0,
                flags: RecordFlags::default(),
                generation: Generation(0),
                connection: ConnectionNumber(0),
                seq: SeqNum::ZERO,
                next_in: SeqNum::ZERO,
                cause: None,
                utc: lock::now(),
                mono: Mono::default(),
                turn: 0,
                next_out: SeqNum::ZERO,
            };
            let covered = &mapping.bytes()[from.offset + RECORD_HEADER..to];
            let mut words = header.words();
            Header::finish(&mut words, 0, body_checksum(self.salt, covered));
            mapping.write_words(from.offset + 8, &words[1..]);
            mapping.publish(from.offset, words[0]);
            let length = mapping.len();
            mapping.ahead().flush(0..length).map_err(|e| failed("syncing", &path, &e))?;
            self.done.push(format!(
                "{} bytes at byte {} of {} were covered",
                to - from.offset,
                from.offset,
                path.display()
            ));
        }
    }

    /// Recreates a head that is lost in both copies: the session continues far ahead of everything
    /// that is known.
    fn head(&mut self, files: &Files, generation: Generation, next_out: SeqNum) -> Result<(), StoreError> {
        if files.head().is_some() {
            return Ok(());
        }
        let path = files.directory.join("head");
        if let Ok(bytes) = std::fs::read(&path) {
            self.kept.push(keep_copy(&*self.backend, &files.directory, "damaged-head", &bytes)?);
        }
        // The lost mark was at most RESERVE_MOST ahead of NextNumOut at that time, and finished
        // pages are written to disk between two marks.
        let mark = SeqNum(next_out.0.saturating_add(2 * RESERVE_MOST));
        let head = Head {
            serial: 1,
            mark,
            generation,
            state: HeadState::Cut,
            boot: [0; 16],
            salt: self.salt,
            session: self.session.clone(),
        };
        HeadFile::create(Arc::clone(&self.backend), &files.directory, head)?;
        self.done.push(format!("the head was recreated; outbound sequence numbers continue at {mark}"));
        Ok(())
    }

    /// Skips inbound message `seq`.
    fn skip(
        &mut self,
        directory: &Path,
        lock: Lock,
        seq: SeqNum,
    ) -> Result<crate::ledger::Ledger, StoreError> {
        let session = self.session.clone();
        let opening = Opening {
            directory: directory.to_owned(),
            session: &session,
            key: SessionKey::new(0, 0, 0),
            backend: Arc::clone(&self.backend),
            sizes: (DirectoryStore::SMALLEST_SEGMENT, DirectoryStore::LARGEST_SEGMENT),
        };
        let (mut log, recovered, turn) = opening.open_locked(lock)?;
        if recovered.next_in != seq {
            log.close()?;
            return Err(StoreError::Io {
                doing: format!("skipping message {seq} in {}", directory.display()),
                reason: format!("the next message expected is {}", recovered.next_in),
            });
        }
        if let Some(range) = &recovered.given_up {
            self.done.push(format!(
                "outbound sequence numbers {} to {} are given up",
                range.start(),
                range.end()
            ));
        }
        let text = format!("operator: skipped inbound message {seq} (fixbolt journal repair --skip {seq})");
        log.append(
            turn + 1,
            &Record {
                kind: RecordKind::Adjust,
                flags: RecordFlags::default(),
                seq: recovered.next_out,
                next_in: seq.next(),
                connection: recovered.connection,
                cause: None,
                utc: lock::now(),
                mono: Mono::default(),
                body: text.as_bytes(),
            },
        )?;
        log.finish();
        log.publish();
        let ledger = log.committed;
        log.close()?;
        self.done.push(format!("inbound message {seq} is skipped; the next one expected is {}", seq.next()));
        Ok(ledger)
    }
}
