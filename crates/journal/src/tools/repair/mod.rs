//! Makes a damaged journal usable again, while holding its lock. Nothing is deleted: files that do
//! not belong to the journal are moved aside, and bytes are copied to a file before they are
//! overwritten.
//!
//! A repaired session continues at the mark, above every sequence number that any part of the
//! journal says was used. What is missing below it is gap-filled when the counterparty requests it.

use crate::values::clock;

mod plan;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use fixbolt_codec::SeqNum;
use fixbolt_session::store::{ConnectionNumber, Generation, RecordFlags, RecordKind, StoreError};
use fixbolt_session::{Mono, SessionId, Utc};

use crate::files::cookies;
use crate::files::disk_space::Quota;
use crate::files::found::Files;
use crate::files::head::HeadFile;
use crate::files::lock::Lock;
use crate::files::names::file_name;
use crate::files::segment_maker::SegmentMaker;
use crate::layout::floor::Floor;
use crate::layout::head_copy::{Head, HeadState};
use crate::layout::records::{Header, Kind, RECORD_HEADER, SEGMENT_HEADER, SegmentHeader};
use crate::layout::scan::Stretch;
use crate::system::aside::{free_name, keep_copy};
use crate::system::backend::{Backend, System, failed};
use crate::tools::directories::session_directories;
use crate::tools::stopped::{Note, record};
pub(crate) use plan::name_of;
use plan::{Plan, Slot};

/// What a repair does to a session's journal.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Repaired {
    /// The session's directory.
    pub directory: PathBuf,
    /// The session of the journal.
    pub session: SessionId,
    /// What is done, one line each; empty if there is nothing to do.
    pub done: Vec<String>,
    /// Files with what was overwritten or does not belong to the journal.
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
    each(directory, skip, true)
}

/// Returns what [`repair`] would do, without doing it.
///
/// # Errors
/// Returns [`StoreError::Locked`] if a process uses the journal, [`StoreError::Io`] or
/// [`StoreError::Full`] from the system or if the message cannot be skipped, and
/// [`StoreError::Damaged`] if nothing says whose journal it is.
pub fn plan_repair(directory: &Path, skip: Option<SeqNum>) -> Result<Vec<Repaired>, StoreError> {
    each(directory, skip, false)
}

fn each(directory: &Path, skip: Option<SeqNum>, act: bool) -> Result<Vec<Repaired>, StoreError> {
    let directories = session_directories(directory)?;
    if let Some(seq) = skip
        && directories.len() > 1
    {
        return Err(StoreError::Io {
            doing: format!("skipping message {seq}"),
            reason: format!("{} holds {} sessions: name one", directory.display(), directories.len()),
        });
    }
    directories.iter().map(|d| one(d, skip, act)).collect()
}

fn one(directory: &Path, skip: Option<SeqNum>, act: bool) -> Result<Repaired, StoreError> {
    let backend: Arc<dyn Backend> = Arc::new(System);
    let lock = Lock::take(&*backend, directory)?;
    let mut files = Files::load_with_cookie(directory, act)?;
    let mut plan = Plan::new(&files);
    if plan.as_ref().is_some_and(|plan| plan.new_head) && files.head().is_some() {
        // Another journal's head says nothing about the archive of this one.
        files = Files { cookie: files.cookie, ..Files::load_without_head(directory, act)? };
        plan = Plan::new(&files);
    }
    if let Some(linked) = files.linked() {
        return Err(StoreError::Damaged {
            place: directory.display().to_string(),
            reason: format!("{linked}: `fixbolt journal adopt {}`", directory.display()),
        });
    }
    let Some(plan) = plan else {
        return Err(StoreError::Damaged {
            place: directory.display().to_string(),
            reason: "neither the head nor any segment nor the directory's name says whose journal this is; \
                     give the directory the name that it had"
                .to_owned(),
        });
    };
    let scan = files.scan(&mut |_, _| {});
    let damaged = !files.damage(&scan, Some(&plan.owner.session)).is_empty()
        || !files.lost_history(&scan).is_empty()
        || files.head_file.is_none();
    let mut result = Repaired {
        directory: directory.to_owned(),
        session: plan.owner.session.clone(),
        done: Vec::new(),
        kept: Vec::new(),
        next_in: if damaged { plan.next_in } else { files.next_in(&scan) },
        next_out: if damaged { plan.mark } else { scan.ledger.next_out },
    };
    if damaged {
        result.done = lines(&files, &plan);
        if act {
            files.allocate(&*backend)?;
            let mut work = Work { backend: Arc::clone(&backend), directory, plan: &plan, kept: Vec::new() };
            work.head(&files)?;
            work.segments(&files)?;
            drop(files);
            work.stretches()?;
            result.kept = work.kept;
            still_damaged(directory, &plan.owner.session)?;
            cookies::settled(directory);
        }
    }
    if let Some(seq) = skip {
        skip_message(&backend, seq, act, lock, &mut result)?;
    }
    Ok(result)
}

/// Returns what is done, one line each.
fn lines(files: &Files, plan: &Plan) -> Vec<String> {
    let mut lines = Vec::new();
    for index in &plan.aside {
        let name = file_name(files.segments[*index].number);
        lines.push(format!("{name} does not belong here and is moved aside"));
    }
    for (n, slot) in plan.slots.iter().enumerate() {
        let name = plan.name(n);
        match slot {
            Slot::Empty => lines.push(format!("{name} is missing and is replaced by an empty one")),
            Slot::File { index, header } => {
                let found = file_name(files.segments[*index].number);
                if found != name {
                    lines.push(format!("{found} is renamed to {name}, as its header says"));
                }
                if *header {
                    lines.push(format!("the header of {name} is rewritten"));
                }
            }
        }
    }
    for stretch in &plan.scan.damage {
        lines.push(format!(
            "{} bytes at byte {} of {} are covered by a record that says so",
            stretch.to - stretch.from.offset,
            stretch.from.offset,
            plan.name(stretch.from.segment)
        ));
    }
    if plan.new_head {
        lines.push("the head is made anew".to_owned());
    }
    lines.push(format!(
        "outbound sequence numbers continue at {}, and the next inbound one expected is {}",
        plan.mark, plan.next_in
    ));
    lines
}

fn still_damaged(directory: &Path, session: &SessionId) -> Result<(), StoreError> {
    let files = Files::load_with_cookie(directory, false)?;
    let scan = files.scan(&mut |_, _| {});
    let mut left = files.damage(&scan, Some(session));
    left.extend(files.lost_history(&scan));
    if left.is_empty() {
        return Ok(());
    }
    Err(StoreError::Damaged { place: directory.display().to_string(), reason: left.join("; ") })
}

struct Work<'p> {
    backend: Arc<dyn Backend>,
    directory: &'p Path,
    plan: &'p Plan,
    kept: Vec<PathBuf>,
}

impl Work<'_> {
    /// Writes the head first: from then on the session continues at the mark, even if the repair is
    /// interrupted.
    fn head(&mut self, files: &Files) -> Result<(), StoreError> {
        let plan = self.plan;
        let owner = &plan.owner;
        let floor = Floor { generation: plan.generation, next_in: plan.next_in, ..files.reached(&plan.scan) };
        let path = self.directory.join("head");
        if let Some(head) = files.head().filter(|_| !plan.new_head) {
            self.keep(&path, "damaged-head")?;
            let mut file = HeadFile::open(Arc::clone(&self.backend), self.directory, head.clone())?;
            return file.write(|head| {
                (head.state, head.boot) = (HeadState::Cut, [0; 16]);
                (head.generation, head.mark) = (plan.generation, plan.mark);
                if let Some(made) = &mut head.made {
                    made.floor = floor;
                }
            });
        }
        if path.exists() {
            self.set_aside(&path)?;
        }
        let head = Head {
            serial: 1,
            mark: plan.mark,
            generation: plan.generation,
            state: HeadState::Cut,
            boot: [0; 16],
            salt: owner.salt,
            session: owner.session.clone(),
            made: None,
        };
        HeadFile::create(Arc::clone(&self.backend), self.directory, head, owner.id, floor, plan.first)?;
        Ok(())
    }

    /// Moves what does not belong here aside and ensures that every segment up to the last one
    /// exists, under its name and with a valid header.
    fn segments(&mut self, files: &Files) -> Result<(), StoreError> {
        let path = |name: &str| self.directory.join(name);
        let found = |index: usize| path(&file_name(files.segments[index].number));
        for index in &self.plan.aside {
            self.set_aside(&found(*index))?;
        }
        // In two steps, as two files may have each other's name.
        let renamed: Vec<(usize, usize)> = self
            .plan
            .slots
            .iter()
            .enumerate()
            .filter_map(|(n, slot)| match slot {
                Slot::File { index, .. } if files.segments[*index].number != self.plan.number(n) => {
                    Some((n, *index))
                }
                _ => None,
            })
            .collect();
        let rename =
            |from: &Path, to: &Path| self.backend.rename(from, to).map_err(|e| failed("renaming", from, &e));
        for (n, index) in &renamed {
            rename(&found(*index), &path(&format!("renamed-{}", self.plan.name(*n))))?;
        }
        for (n, _) in &renamed {
            rename(&path(&format!("renamed-{}", self.plan.name(*n))), &path(&self.plan.name(*n)))?;
        }
        for (n, slot) in self.plan.slots.iter().enumerate() {
            match slot {
                Slot::File { index, header: true } => self.header(files, n, *index)?,
                Slot::File { .. } => {}
                Slot::Empty => {
                    self.maker(self.plan.number(n) - 1).make(0)?;
                }
            }
        }
        self.backend.sync_dir(self.directory).map_err(|e| failed("syncing", self.directory, &e))
    }

    fn maker(&self, highest: u32) -> SegmentMaker {
        SegmentMaker {
            backend: Arc::clone(&self.backend),
            directory: self.directory.to_owned(),
            session: self.plan.owner.session.clone(),
            salt: self.plan.owner.salt,
            journal: self.plan.owner.id,
            highest,
            bytes: 0,
            sizes: (4096, 4096),
            quota: Quota::new(None),
            closed: false,
        }
    }

    /// Writes the header of the segment at index `n`, which is file `index`.
    fn header(&mut self, files: &Files, n: usize, index: usize) -> Result<(), StoreError> {
        let (name, file) = (self.plan.name(n), &files.segments[index]);
        let Some(mapping) = &file.mapping else { return Ok(()) };
        let before = &mapping.bytes()[..SEGMENT_HEADER];
        let kept = keep_copy(&*self.backend, self.directory, &format!("damaged-{name}-0"), before)?;
        self.kept.push(kept);
        let header = SegmentHeader {
            number: self.plan.number(n),
            bytes: mapping.len() as u64,
            created: file.header.as_ref().map_or(Utc(0), |h| h.created),
            salt: self.plan.owner.salt,
            session: self.plan.owner.session.clone(),
            journal: Some(self.plan.owner.id),
        };
        let path = self.directory.join(&name);
        let write = || {
            let file = std::fs::File::options().write(true).open(&path)?;
            self.backend.write(&file, 0, &header.encode())?;
            self.backend.sync(&file)
        };
        write().map_err(|e| failed("writing", &path, &e))
    }

    /// Moves a file aside.
    fn set_aside(&mut self, path: &Path) -> Result<(), StoreError> {
        let aside = free_name(self.directory, &format!("damaged-{}", name_of(path)));
        self.backend.rename(path, &aside).map_err(|e| failed("renaming", path, &e))?;
        self.kept.push(aside);
        Ok(())
    }

    /// Copies a whole file.
    fn keep(&mut self, path: &Path, name: &str) -> Result<(), StoreError> {
        let bytes = std::fs::read(path).map_err(|e| failed("reading", path, &e))?;
        self.kept.push(keep_copy(&*self.backend, self.directory, name, &bytes)?);
        Ok(())
    }

    /// Covers every stretch that holds no record with a record that says so.
    fn stretches(&mut self) -> Result<(), StoreError> {
        loop {
            let mut files = Files::load(self.directory, true)?;
            let scan = files.scan(&mut |_, _| {});
            let Some(Stretch { from, mut to }) = scan.damage.first().copied() else { return Ok(()) };
            let name = file_name(files.segments[from.segment].number);
            let path = files.path(from.segment);
            let Some(mapping) = &mut files.segments[from.segment].mapping else { return Ok(()) };
            // Space for a header: if necessary, the record after the stretch is covered too.
            while to - from.offset < RECORD_HEADER {
                let salt = self.plan.owner.salt;
                to += Header::decode(mapping.bytes(), to, salt).map_or(8, |h| h.size());
                if to > mapping.len() {
                    return Err(StoreError::Damaged {
                        place: format!("{} at byte {}", path.display(), from.offset),
                        reason: "there is too little space to cover the damage".to_owned(),
                    });
                }
            }
            let name = format!("damaged-{name}-{}", from.offset);
            let before = &mapping.bytes()[from.offset..to];
            self.kept.push(keep_copy(&*self.backend, self.directory, &name, before)?);
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
                utc: clock::now(),
                mono: Mono::default(),
                turn: 0,
                next_out: SeqNum::ZERO,
            };
            let covered = &mapping.bytes()[from.offset + RECORD_HEADER..to];
            let [first, rest @ ..] = header.words(self.plan.owner.salt, covered);
            mapping.write_words(from.offset + 8, &rest);
            mapping.publish(from.offset, first);
            let length = mapping.len();
            mapping.ahead().flush(0..length).map_err(|e| failed("syncing", &path, &e))?;
        }
    }
}

/// Skips inbound message `seq`.
fn skip_message(
    backend: &Arc<dyn Backend>,
    seq: SeqNum,
    act: bool,
    lock: Lock,
    result: &mut Repaired,
) -> Result<(), StoreError> {
    let directory = result.directory.clone();
    if result.next_in != seq {
        return Err(StoreError::Io {
            doing: format!("skipping message {seq} in {}", directory.display()),
            reason: format!("the next message expected is {}", result.next_in),
        });
    }
    if act {
        let text = format!("operator: skipped inbound message {seq} (fixbolt journal repair --skip {seq})");
        let note = Note { kind: RecordKind::Adjust, next_in: seq.next(), next_out: None, text: &text };
        let (recovered, committed) = record(backend, &directory, &result.session, lock, &note)?;
        if let Some(range) = &recovered.given_up {
            result.done.push(format!(
                "outbound sequence numbers {} to {} are given up",
                range.start(),
                range.end()
            ));
        }
        result.next_out = committed.next_out;
    }
    result.next_in = seq.next();
    result.done.push(format!("inbound message {seq} is skipped; the next one expected is {}", seq.next()));
    Ok(())
}
