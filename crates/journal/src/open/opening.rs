//! Opening a session's journal: what its files mean after a clean close, the death of the process,
//! a power loss or damage.
//!
//! docs/journal.md has the reasoning. An inconsistent journal is not changed: it is opened for
//! reading and refuses appends until `repair`.

use std::fs::File;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use fixbolt_codec::SeqNum;
use fixbolt_session::store::{
    Generation, Record, RecordFlags, RecordKind, Recovered, SessionKey, StoreError,
};
use fixbolt_session::{Mono, SendError, SessionId};

use crate::files::base::Base;
use crate::files::cookies::{self, Cookie};
use crate::files::creation::Creation;
use crate::files::disk_space::Quota;
use crate::files::found::Files;
use crate::files::head::HeadFile;
use crate::files::lock::{Lock, cookies_noted_in};
use crate::files::names::file_name;
use crate::files::segment_maker::SegmentMaker;
use crate::layout::cookie::{CookieFound, Entry};
use crate::layout::floor::Floor;
use crate::layout::head_copy::{Head, HeadState};
use crate::layout::records::SEGMENT_HEADER;
use crate::layout::scan::{RecordAddress, Scan};
use crate::open::indexes::Indexes;
use crate::open::log::{Log, Parts, Reached};
use crate::system::aside::{free_name, keep_copy};
use crate::system::backend::{Backend, failed};
use crate::system::boot::boot_id;
use crate::values::clock;
use crate::values::identity::{JournalId, random};
use crate::values::ledger::Ledger;
use crate::values::limits::Limits;
use crate::values::reserve::RESERVE;
use crate::verdict::continuation::{Continuation, Doubt, why_halted};

/// What determines how a journal is opened, besides its files.
pub(crate) struct Opening<'o> {
    pub(crate) directory: PathBuf,
    pub(crate) session: &'o SessionId,
    pub(crate) key: SessionKey,
    pub(crate) backend: Arc<dyn Backend>,
    /// The directory above.
    pub(crate) base: Arc<Base>,
    pub(crate) limits: Limits,
}

/// Added to the number of the last turn after an unclean end: no uncommitted turn whose bytes a
/// power loss may bring back has a number this high.
const TURNS_AFTER_DEATH: u64 = 1 << 32;

impl Opening<'_> {
    /// Opens or creates the journal. Also returns the number of the last turn.
    pub(crate) fn open(self) -> Result<(Log, Recovered, u64), StoreError> {
        let directory = &self.directory;
        self.backend.create_dir(directory).map_err(|e| failed("creating", directory, &e))?;
        let lock = Lock::take(&*self.backend, directory)?;
        self.open_locked(lock)
    }

    /// Opens or creates the journal under a lock that is held already. Also returns the number of
    /// the last turn.
    pub(crate) fn open_locked(self, lock: Lock) -> Result<(Log, Recovered, u64), StoreError> {
        let directory = self.directory.clone();
        let mut files = Files::load(&directory, true)?;
        files.cookie = self.cookie();
        let start = files.last_checkpoint();
        let mut index = Indexes::new(&files, start.at.segment);
        let scan = files.scan_from(start, &mut |at, header| index.note(at, header));
        match why_halted(&files, &scan, Some(self.session)) {
            Some(why) => self.open_damaged(files, scan, index, lock, why),
            None if files.head_file.is_none() => self.create(&directory, lock),
            None => self.resume(files, scan, index, lock),
        }
    }

    /// Writes the files of a new journal, without waiting for the disk: nothing can be appended
    /// until the remaining steps of its creation are taken.
    fn create(self, directory: &Path, mut lock: Lock) -> Result<(Log, Recovered, u64), StoreError> {
        let salt = random() as u32;
        let id = JournalId::random();
        let head = Head {
            serial: 1,
            mark: SeqNum(1 + RESERVE),
            generation: Generation(0),
            state: HeadState::InUse,
            boot: boot_id(),
            salt,
            session: self.session.clone(),
            made: None,
        };
        let mut head = HeadFile::prepare(Arc::clone(&self.backend), directory, head, id, Floor::EMPTY, 1)?;
        let mut maker = self.maker(directory, salt, id, 0, 0);
        maker.quota.look(directory)?;
        let first = maker.prepare()?;
        let cookie = self.write_cookie(&mut lock, id, &head.head, Floor::EMPTY)?;
        let floor = head.floor_writer(&Floor::EMPTY, cookie.as_ref().ok().cloned())?;
        let (backend, base) = (Arc::clone(&self.backend), Arc::clone(&self.base));
        let creation = Creation::new(backend, directory, id, lock.note.clone(), base);
        let parts = Parts {
            segments: vec![first],
            maker,
            head,
            creation: Some(creation),
            floor: Some(floor),
            reached: Reached::NEW,
            mark: 0,
            read_from: 1,
            damage: None,
        };
        let log = self.log(parts, lock)?;
        report_without_cookie(&log, cookie.err());
        Ok((log, Recovered::default(), 0))
    }

    /// Opens a consistent journal: after a clean close, or the death of the process or the machine.
    fn resume(
        self,
        mut files: Files,
        scan: Scan,
        index: Indexes,
        mut lock: Lock,
    ) -> Result<(Log, Recovered, u64), StoreError> {
        let directory = files.directory.clone();
        let Some(found) = files.head().cloned() else {
            return Err(StoreError::Damaged {
                place: directory.display().to_string(),
                reason: "no head".to_owned(),
            });
        };
        files.allocate(&*self.backend)?;
        let reached = files.reached(&scan);
        let Continuation { generation, next_in, next_out, given_up, in_doubt, lost, doubt, lost_reset } =
            Continuation::of(&files, &scan, &found);
        let (mut head, id) = match found.made {
            Some(made) => (HeadFile::open(Arc::clone(&self.backend), &directory, found.clone())?, made.id),
            // Layout 1.
            None => {
                let (head, id) = (Head { serial: found.serial + 1, ..found.clone() }, JournalId::random());
                (HeadFile::create(Arc::clone(&self.backend), &directory, head, id, reached, 1)?, id)
            }
        };
        if !lock.note.names(id) {
            // The creation may have been interrupted before all names were on disk.
            self.backend.sync_dir(&directory).map_err(|e| failed("syncing", &directory, &e))?;
            self.base.sync(self.base.name())?;
            lock.note.name(&*self.backend, id)?;
        }
        if lost {
            // From here on an interruption must not look like the mere death of the process.
            head.write(|head| {
                (head.state, head.boot) = (HeadState::Cut, boot_id());
                (head.generation, head.mark) = (generation, next_out);
            })?;
        }
        let cut = self.cut(&mut files, &scan, found.state)?;

        let highest = files.segments.last().map_or(files.first - 1, |s| s.number);
        let bytes = files.segments.last().and_then(|s| s.mapping.as_ref()).map_or(0, |m| m.len() as u64);
        let mut maker = self.maker(&directory, found.salt, id, highest, bytes);
        maker.quota.look(&directory)?;
        let read_from = index.read_from;
        let mut segments = index.segments(files);
        if segments.is_empty() {
            segments.push(maker.make(0)?);
        }
        let mut turn = scan.last_turn;
        if lost || found.state != HeadState::Clean {
            turn += TURNS_AFTER_DEATH;
        }
        let cookie = self.write_cookie(&mut lock, id, &head.head, reached)?;
        let floor = head.floor_writer(&reached, cookie.as_ref().ok().cloned())?;
        let last = &mut segments[scan.end.segment];
        let path = directory.join(file_name(last.number));
        last.mapping.expect_records(|| File::options().write(true).open(&path));
        let mut ledger = Ledger { next_in, ..scan.ledger };
        if lost_reset {
            // The reset is lost together with everything after it; a record will stand for it.
            ledger.generation = Generation(generation.0 - 1);
        }
        let adjusts = given_up.is_some() || cut > 0 || lost_reset || next_in != scan.ledger.next_in;
        let parts = Parts {
            segments,
            maker,
            head,
            creation: None,
            floor: Some(floor),
            reached: Reached { ledger, ..Reached::of(&scan) },
            // The mark is written before anything else is appended.
            mark: if adjusts { found.mark.max(next_out).0 } else { 0 },
            read_from,
            damage: None,
        };
        let mut log = self.log(parts, lock)?;
        if found.state != HeadState::Clean {
            log.shared.segments.sync_past();
        }
        if adjusts {
            turn += 1;
            let why = match (cut, doubt) {
                (0, Some(doubt)) => doubt.to_string(),
                (0, None) => "records are missing at the end".to_owned(),
                (n, _) => format!("a torn tail of {n} bytes was removed"),
            };
            let body = match &given_up {
                Some(range) => format!(
                    "store: {why}; outbound sequence numbers {} to {} are given up",
                    range.start(),
                    range.end()
                ),
                None => format!("store: {why}"),
            };
            if matches!(doubt, Some(Doubt::NoCookie | Doubt::Older)) {
                log.shared.failure.report(format!("{}: {body}", directory.display()));
            }
            let adjust = Record {
                kind: if lost_reset { RecordKind::Reset } else { RecordKind::Adjust },
                flags: RecordFlags::default(),
                seq: next_out,
                next_in: ledger.next_in,
                connection: ledger.connection,
                cause: None,
                utc: clock::now(),
                mono: Mono::default(),
                body: body.as_bytes(),
            };
            log.append(turn, &adjust)?;
            if let Some(range) = in_doubt.as_ref().filter(|_| !lost_reset) {
                let (kind, seq) = (RecordKind::Dropped, SeqNum(*range.end()));
                let why = SendError::InDoubt.to_string();
                log.append(turn, &Record { kind, seq, body: why.as_bytes(), ..adjust })?;
            }
            log.finish();
            log.publish();
            let reached = log.reached();
            log.opened_at = (reached.segment, reached.offset as usize);
        }
        if adjusts || found.state == HeadState::Cut || doubt.is_some() {
            log.write_mark(RESERVE)?;
        } else {
            // The head on disk is right until something is appended.
            log.shared.head.forget_mark(log.committed.generation);
        }
        log.limit = 0;
        log.give_up_past(SeqNum::MAX);
        report_without_cookie(&log, cookie.err());
        let recovered = Recovered { given_up, in_doubt, ..log.committed.recovered() };
        Ok((log, recovered, turn))
    }

    /// Copies a torn tail to a file of its own and zeroes everything after the last turn. Returns
    /// the number of bytes removed.
    ///
    /// What a process that died had not committed is zeroed without a copy. After a repair it may
    /// be what is left of a committed turn.
    fn cut(&self, files: &mut Files, scan: &Scan, state: HeadState) -> Result<usize, StoreError> {
        let Some(mapping) = files.segments.get(scan.end.segment).and_then(|s| s.mapping.as_ref()) else {
            return Ok(0);
        };
        let mut cut = 0;
        let tail = &mapping.bytes()[scan.end.offset..];
        let length = tail.iter().rposition(|b| *b != 0).map_or(0, |last| last + 1);
        if scan.torn || (state == HeadState::Cut && length > 0) {
            let name =
                format!("cut-{}-{}", file_name(files.segments[scan.end.segment].number), scan.end.offset);
            keep_copy(&*self.backend, &files.directory, &name, &tail[..length])?;
            cut = length;
        }
        self.discard(files, scan.end.segment + 1)?;
        if let Some(mapping) = &mut files.segments[scan.end.segment].mapping {
            let length = mapping.len();
            mapping.clear(scan.end.offset..length);
            if scan.torn {
                let path = files.path(scan.end.segment);
                if let Some(mapping) = &files.segments[scan.end.segment].mapping {
                    mapping.ahead().flush(0..length).map_err(|e| failed("syncing", &path, &e))?;
                }
            }
        }
        Ok(cut)
    }

    /// Removes the segments from index `from` on, which hold no committed record: those that were
    /// made ahead and not used. Any other is renamed.
    fn discard(&self, files: &mut Files, from: usize) -> Result<(), StoreError> {
        while files.segments.len() > from
            && let Some(segment) = files.segments.pop()
        {
            let name = file_name(segment.number);
            let path = files.directory.join(&name);
            let records = segment.mapping.as_ref().map_or(&[][..], |m| &m.bytes()[SEGMENT_HEADER..]);
            if records.iter().all(|b| *b == 0) {
                self.backend.remove(&path).map_err(|e| failed("removing", &path, &e))?;
            } else {
                let aside = free_name(&files.directory, &format!("cut-{name}"));
                self.backend.rename(&path, &aside).map_err(|e| failed("renaming", &path, &e))?;
            }
        }
        Ok(())
    }

    /// Opens an inconsistent journal: readable, unchanged.
    fn open_damaged(
        self,
        files: Files,
        scan: Scan,
        index: Indexes,
        lock: Lock,
        reason: String,
    ) -> Result<(Log, Recovered, u64), StoreError> {
        let directory = files.directory.clone();
        let head = files.head().cloned();
        let mut ledger = scan.ledger;
        if let Some(head) = &head {
            ledger.next_out = ledger.next_out.max(head.mark);
            ledger.generation = ledger.generation.max(head.generation);
        }
        let salt = files.salt();
        let head = head.unwrap_or(Head {
            serial: 0,
            mark: ledger.next_out,
            generation: ledger.generation,
            state: HeadState::Cut,
            boot: [0; 16],
            salt,
            session: self.session.clone(),
            made: None,
        });
        // No file is ever written through these: `damage` refuses every append, and the store's
        // threads leave alone what is closed.
        let head = HeadFile::detached(Arc::clone(&self.backend), &directory, head);
        let id = head.head.made.map_or(JournalId([0; 16]), |made| made.id);
        let mut maker = self.maker(&directory, salt, id, 0, 0);
        maker.closed = true;
        let segments = index.segments(files);
        let nowhere = RecordAddress { segment: 0, offset: 0 };
        let end = if segments.is_empty() { nowhere } else { scan.end };
        let parts = Parts {
            segments,
            maker,
            mark: head.head.mark.0,
            head,
            creation: None,
            floor: None,
            reached: Reached { ledger, end, ..Reached::of(&scan) },
            read_from: 1,
            damage: Some(reason.clone()),
        };
        let log = self.log(parts, lock)?;
        let recovered = Recovered { damage: Some(reason), ..ledger.recovered() };
        Ok((log, recovered, scan.last_turn))
    }

    /// Returns what is known of the session since the machine was started.
    fn cookie(&self) -> Option<CookieFound> {
        let name = self.directory.file_name()?;
        // The one that was written last, if the store was told to keep them elsewhere since.
        let own = self.base.cookies().ok().and_then(|cookies| cookies.find(name));
        let noted = cookies_noted_in(&self.directory);
        let noted =
            noted.and_then(|noted| cookies::find_in(&noted, &self.base.path.canonicalize().ok()?, name));
        own.into_iter().chain(noted).max_by_key(|cookie| cookie.serial)
    }

    /// Begins to write the journal's cookie. If there can be none, also returns why.
    fn write_cookie(
        &self,
        lock: &mut Lock,
        id: JournalId,
        head: &Head,
        floor: Floor,
    ) -> Result<Result<Cookie, String>, StoreError> {
        lock.note.point_to(&*self.backend, self.base.cookies_in.as_deref())?;
        let name = self.directory.file_name().unwrap_or_default().as_bytes();
        let entry = Entry { name, id, salt: head.salt, serial: head.serial, floor };
        Ok(self.base.cookies().and_then(|cookies| cookies.write(&entry).map_err(|e| e.to_string())))
    }

    fn maker(
        &self,
        directory: &Path,
        salt: u32,
        journal: JournalId,
        highest: u32,
        bytes: u64,
    ) -> SegmentMaker {
        SegmentMaker {
            backend: Arc::clone(&self.backend),
            directory: directory.to_owned(),
            session: self.session.clone(),
            salt,
            journal,
            highest,
            bytes,
            sizes: self.limits.sizes,
            quota: Quota::new(self.limits.quota),
            closed: false,
        }
    }

    fn log(&self, parts: Parts, lock: Lock) -> Result<Log, StoreError> {
        let watch = lock.watch().map_err(|e| failed("looking for", &self.directory, &e))?;
        Ok(Log::new(&self.directory, self.key, self.limits, watch, parts, lock))
    }
}

/// Reports why a journal has no cookie, if it has none.
fn report_without_cookie(log: &Log, why: Option<String>) {
    if let Some(why) = why {
        log.shared.failure.report(format!(
            "there can be no cookie ({why}): outbound sequence numbers continue at the mark if the process does \
             not stop cleanly"
        ));
    }
}
