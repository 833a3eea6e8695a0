//! The default store: one directory per session, each with its own journal. Sync policy `process`:
//! committed turns survive the death of the process, whatever kills it. After a failure of the
//! machine, sequence numbers continue from a mark that was written to disk ahead of them.

use std::collections::VecDeque;
use std::ffi::OsStr;
use std::fmt;
use std::ops::{ControlFlow, RangeInclusive};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use fixbolt_codec::SeqNum;
use fixbolt_session::store::{
    Abilities, Acknowledges, Committed, Forgets, Generation, OpensLater, Position, Prepares, Record,
    Recovered, Reports, Seeks, SessionKey, Store, StoreError,
};
use fixbolt_session::{SessionId, WorkerWaker};

use crate::files::base::Base;
use crate::files::cookies;
#[cfg(test)]
use crate::open::bell::Task;
use crate::open::log::Log;
use crate::open::opening::Opening;
use crate::store::pending::{Pending, gone};
use crate::store::per_session::{Entry, Kept, PerSession};
use crate::system::backend::{Backend, System, failed};
use crate::threads::background::{Answer, Background, Closing, NewJournal};
use crate::threads::set::StoreThreads;
use crate::values::limits::{self, Limits, Retention};
#[cfg(test)]
use crate::values::mutex::lock;

/// A store with a journal for each session, in its own directory below one base directory.
///
/// Appending makes no system call, takes no lock and allocates nothing, as long as the store's
/// threads keep up.
///
/// ```
/// use fixbolt_journal::DirectoryStore;
/// use fixbolt_session::runtime::session_key;
/// use fixbolt_session::store::Store;
/// let base = std::env::temp_dir().join(format!("fixbolt-doc-{}", std::process::id()));
/// let mut store = DirectoryStore::new(&base);
/// let key = session_key(0, 0, 0);
/// let recovered = store.open(key, &"FIX.4.4:VENUE->TRADER".parse().unwrap()).unwrap();
/// assert_eq!(recovered.next_out.0, 1);
/// store.close(key).unwrap();
/// # std::fs::remove_dir_all(base).unwrap();
/// ```
pub struct DirectoryStore {
    base: Arc<Base>,
    backend: Arc<dyn Backend>,
    limits: Limits,
    sessions: PerSession<Journal>,
    /// Sessions whose journals want something done while the worker is idle.
    pub(crate) wanting: VecDeque<usize>,
    threads: Option<Arc<StoreThreads>>,
    background: Option<Background>,
    /// Sessions that are being closed in the background.
    closing: Vec<(SessionId, Answer<()>)>,
    /// Sessions that could not be closed cleanly in the background.
    unclean: Vec<(SessionId, StoreError)>,
    thread_death_told: bool,
    waker: Option<Arc<dyn WorkerWaker>>,
}

/// What is kept for a session.
enum Journal {
    Made(Box<Log>),
    /// It is created once a first record is committed, and not on the worker's thread.
    Pending(Box<Pending>),
}

impl Journal {
    /// Returns the journal, if it is there.
    #[inline]
    fn log(&self) -> Option<&Log> {
        match self {
            Self::Made(log) => Some(log),
            Self::Pending(_) => None,
        }
    }

    /// Closes the journal, for which it waits if there is something to put into it.
    fn close(self) -> Result<(), StoreError> {
        let mut pending = match self {
            Self::Made(log) => return log.close(),
            Self::Pending(pending) if pending.is_unused() => return Ok(()),
            Self::Pending(pending) => pending,
        };
        let mut log = pending.wait()?;
        pending.write_to(&mut log)?;
        log.close()
    }
}

impl Kept for Journal {
    #[inline]
    fn finish(&mut self) {
        if let Self::Made(log) = self {
            log.finish();
        }
    }

    #[inline]
    fn publish(&mut self) {
        if let Self::Made(log) = self {
            log.publish();
        }
    }

    fn rollback(&mut self) {
        match self {
            Self::Made(log) => log.rollback(),
            Self::Pending(pending) => pending.rollback(),
        }
    }

    fn check(&self) {
        match self {
            Self::Made(log) => log.check(),
            Self::Pending(pending) => pending.check(),
        }
    }
}

/// Journals that are being created or closed in the background, before no further one should be.
const MOST_LEFT: usize = 64;

impl DirectoryStore {
    /// Default size of a session's first segment, in bytes.
    pub const SMALLEST_SEGMENT: u64 = limits::SMALLEST_SEGMENT;
    /// Default maximum size of a session's segments, in bytes. Opening a journal reads the last
    /// one.
    pub const LARGEST_SEGMENT: u64 = limits::LARGEST_SEGMENT;

    /// Creates a store under `base`, which is created when the first session is opened.
    #[must_use]
    pub fn new(base: impl Into<PathBuf>) -> Self {
        Self::over(base.into(), Arc::new(System))
    }

    /// Returns how many segments of a session have no index.
    #[cfg(test)]
    pub(crate) fn unindexed(&self, session: SessionKey) -> usize {
        let log = self.sessions.at(session.index()).and_then(|open| open.kept.log());
        log.map_or(0, |log| log.segments.iter().filter(|segment| !segment.is_indexed()).count())
    }

    /// Returns the size of a session's first segment, in bytes.
    pub(crate) const fn first_segment_bytes(&self) -> u64 {
        self.limits.sizes.0
    }

    /// Sets the size of segments in bytes: of the first one, and the maximum that they grow to. A
    /// larger record gets a segment of its own size, up to 256 MiB.
    ///
    /// # Panics
    /// Panics unless 4096 <= `smallest` <= `largest` <= 1 GiB and both are multiples of 4096.
    #[must_use]
    pub fn with_segments(mut self, smallest: u64, largest: u64) -> Self {
        assert!(
            4096 <= smallest
                && smallest <= largest
                && largest <= 1 << 30
                && (smallest | largest).is_multiple_of(4096),
            "segments of {smallest} to {largest} bytes"
        );
        self.limits.sizes = (smallest, largest);
        self
    }

    /// Sets how long archived segments are kept; all of them by default.
    #[must_use]
    pub fn with_retention(mut self, retention: Retention) -> Self {
        self.limits.retention = retention;
        self
    }

    /// Sets how many bytes of disk space the segments of each session may take, archived or not; no
    /// limit by default. The message that would need more halts its session
    /// ([`StoreError::Full`]), and leaves the disk to the others.
    #[must_use]
    pub fn with_quota(mut self, bytes: u64) -> Self {
        self.limits.quota = Some(bytes);
        self
    }

    /// Sets where the cookies of the journals are: a directory in memory (tmpfs) to which only this
    /// user can write, or that is created; `/dev/shm/fixbolt-` and the user's number by default.
    ///
    /// A cookie says what a journal has reached since the machine was started. If the file system
    /// of the journals is lost, or put back to an earlier state, while the machine runs, no
    /// sequence number is used twice. Cookies must outlive the process: those of a container are in
    /// a directory of its host.
    #[must_use]
    pub fn with_cookies(mut self, directory: impl Into<PathBuf>) -> Self {
        let (backend, base) = (Arc::clone(&self.backend), self.base.path.clone());
        self.base = Arc::new(Base::new(backend, base, Some(directory.into())));
        self
    }

    /// Returns the directory of the cookies, if one was given.
    pub(crate) fn cookies_in(&self) -> Option<&Path> {
        self.base.cookies_in.as_deref()
    }

    /// Returns whether a session without a directory has used a number since the machine was
    /// started.
    fn is_missed(&self, session: &SessionId) -> bool {
        let name = session.file_name();
        let found = match self.base.cookies() {
            Ok(cookies) => cookies.find(OsStr::new(&name)),
            Err(_) => cookies::find(self.cookies_in(), &self.base().join(name)),
        };
        found.is_some_and(|cookie| !cookie.is_unused())
    }

    /// Returns the base directory.
    #[must_use]
    pub fn base(&self) -> &Path {
        &self.base.path
    }

    pub(crate) fn over(base: PathBuf, backend: Arc<dyn Backend>) -> Self {
        Self {
            base: Arc::new(Base::new(Arc::clone(&backend), base, None)),
            backend,
            limits: Limits::DEFAULT,
            sessions: PerSession::default(),
            wanting: VecDeque::new(),
            threads: None,
            background: None,
            closing: Vec::new(),
            unclean: Vec::new(),
            thread_death_told: false,
            waker: None,
        }
    }

    /// A failure of this journal wakes the worker, if the store has its waker.
    fn ring_for(&self, log: &Log) {
        if let Some(waker) = &self.waker {
            // A waker that was set before is the same one.
            let _ = log.shared.failure.waker.set(Arc::clone(waker));
        }
    }

    /// Returns the threads of the process. If one has ended, others are started, which serve the
    /// journals of this store as well.
    fn threads(&mut self) -> Result<&StoreThreads, StoreError> {
        if let Some(threads) = self.threads.take().filter(|threads| threads.serve_here()) {
            return Ok(self.threads.insert(threads));
        }
        let threads = StoreThreads::of_process()?;
        for log in self.logs() {
            if log.damage.is_none() && !log.shared.failure.failed.load(Ordering::Relaxed) {
                threads.look_after(&log.shared);
            }
        }
        self.thread_death_told = false;
        Ok(self.threads.insert(threads))
    }

    /// Returns the journals that are there.
    fn logs(&self) -> impl Iterator<Item = &Log> {
        self.sessions.iter().filter_map(|open| open.kept.log())
    }

    /// Waits until the session is closed if it still is being closed. Fails if it is open.
    fn check_closed(&mut self, session: &SessionId) -> Result<(), StoreError> {
        self.wait_until_closed(session);
        if self.sessions.has(session) {
            return Err(StoreError::Locked {
                place: self.base().join(session.file_name()).display().to_string(),
                holder: "this store".to_owned(),
            });
        }
        Ok(())
    }

    /// Keeps a session that is open from now on.
    fn keep(&mut self, key: SessionKey, session: &SessionId, journal: Journal) {
        self.sessions.open(key, session, journal);
        self.wanting.reserve(self.sessions.places());
    }

    /// Opens or creates the journal of a session, and hands it to the threads.
    fn open_journal(&mut self, key: SessionKey, session: &SessionId) -> Result<Recovered, StoreError> {
        let opening = Opening {
            directory: self.base().join(session.file_name()),
            session,
            key,
            backend: Arc::clone(&self.backend),
            base: Arc::clone(&self.base),
            limits: self.limits,
        };
        let (log, recovered, turn) = opening.open()?;
        self.sessions.number_above(turn);
        let log = self.look_after(Box::new(log))?;
        self.keep(key, session, Journal::Made(log));
        Ok(recovered)
    }

    /// Hands a journal to the threads.
    fn look_after(&mut self, log: Box<Log>) -> Result<Box<Log>, StoreError> {
        self.ring_for(&log);
        let threads = self.threads()?;
        if log.damage.is_none() {
            threads.look_after(&log.shared);
        }
        Ok(log)
    }

    /// Has the journal of a session made, which has committed its first record.
    #[cold]
    fn create(&mut self, n: usize) -> Result<(), StoreError> {
        let background = background(&mut self.background)?;
        let Some(open) = self.sessions.at_mut(n) else { return Ok(()) };
        let Journal::Pending(pending) = &mut open.kept else { return Ok(()) };
        let journal = NewJournal {
            directory: self.base.path.join(open.id.file_name()),
            session: open.id.clone(),
            key: open.key,
            backend: Arc::clone(&self.backend),
            base: Arc::clone(&self.base),
            limits: self.limits,
        };
        pending.created_by(background.create(journal, self.waker.clone()));
        Ok(())
    }

    /// Waits until the session is closed, if it still is being closed.
    fn wait_until_closed(&mut self, session: &SessionId) {
        if let Some(at) = self.closing.iter().position(|(closing, _)| closing == session) {
            let (id, answer) = self.closing.swap_remove(at);
            if let Err(error) = answer.recv().unwrap_or_else(|_| Err(gone())) {
                self.unclean.push((id, error));
            }
        }
    }

    /// Puts a session's journal in place if it is there now, with what was kept for it; with `wait`
    /// as soon as it is there. Returns whether it is in place.
    #[cold]
    fn settle(&mut self, n: usize, wait: bool) -> Result<bool, StoreError> {
        let Some(Entry { kept: Journal::Pending(pending), .. }) = self.sessions.at_mut(n) else {
            return Ok(true);
        };
        let log = if wait { Some(pending.wait()?) } else { pending.poll() };
        let Some(mut log) = log else { return Ok(false) };
        log.horizon = pending.horizon;
        let kept = pending.write_to(&mut log);
        match kept.and_then(|()| self.look_after(log)) {
            Ok(log) => {
                if let Some(open) = self.sessions.at_mut(n) {
                    open.kept = Journal::Made(log);
                }
                Ok(true)
            }
            Err(error) => {
                if let Some(Entry { kept: Journal::Pending(pending), .. }) = self.sessions.at_mut(n) {
                    pending.fail(error.clone());
                }
                Err(error)
            }
        }
    }

    /// Commits a turn of sessions of which some have pending journals.
    #[cold]
    fn commit_with_pending(&mut self) -> Result<Committed, StoreError> {
        if let Err(error) = self.commit_pending() {
            self.sessions.rollback();
            return Err(error);
        }
        let Self { sessions, wanting, .. } = self;
        let position = sessions.commit(|n, journal| note_wanting(n, journal, wanting));
        Ok(Committed { position, is_durable: false })
    }

    /// Commits what is kept for sessions whose journals are pending. A turn of several sessions
    /// waits for their journals, as all of it becomes visible or nothing: here for that of the
    /// first one.
    #[cold]
    fn commit_pending(&mut self) -> Result<(), StoreError> {
        let waits = self.sessions.touched().len() > 1;
        for at in 0..self.sessions.touched().len() {
            let n = self.sessions.touched()[at];
            let Some(Entry { kept: Journal::Pending(pending), .. }) = self.sessions.at_mut(n) else {
                continue;
            };
            if !pending.is_being_created() {
                self.create(n)?;
            }
            if waits {
                self.settle(n, true)?;
            } else if let Some(Entry { kept: Journal::Pending(pending), .. }) = self.sessions.at_mut(n) {
                pending.commit();
            }
        }
        Ok(())
    }

    /// Adds a record to what is kept for a session whose journal is pending. If it is not the first
    /// session of the turn, the journal is waited for, so that a failure is that of this session.
    #[cold]
    fn append_pending(&mut self, session: SessionKey, record: &Record<'_>) -> Result<(), StoreError> {
        let n = session.index();
        let is_first = self.sessions.touched().len() == 1;
        let (Journal::Pending(pending), turn) = self.sessions.touch(session) else {
            return self.append(session, record);
        };
        pending.refusal()?;
        if is_first && !pending.is_full(record.body.len()) {
            return pending.append(turn, record);
        }
        if !pending.is_being_created() {
            self.create(n)?;
        }
        self.settle(n, true)?;
        self.append(session, record)
    }

    /// Takes a session that is to be closed, if it is open.
    ///
    /// # Panics
    /// Panics inside a turn.
    fn take_open(&mut self, session: SessionKey) -> Option<Entry<Journal>> {
        self.wanting.retain(|n| *n != session.index());
        self.sessions.close(session)
    }

    /// Returns the session's journal, which is there.
    #[cfg(test)]
    pub(crate) fn log(&self, session: SessionKey) -> &Log {
        let open = self.sessions.at(session.index());
        open.and_then(|open| open.kept.log()).expect("the journal is there")
    }

    /// Returns the session's journal, which is there.
    #[cfg(test)]
    pub(crate) fn log_mut(&mut self, session: SessionKey) -> &mut Log {
        match self.sessions.kept(session) {
            Journal::Made(log) => log,
            Journal::Pending(_) => panic!("the journal is there"),
        }
    }

    /// Sets how often to look for closed segments.
    #[cfg(test)]
    pub(crate) fn looking_every(mut self, look: std::time::Duration) -> Self {
        self.limits.look = look;
        self
    }

    /// Archives what was closed before the journal was opened.
    #[cfg(test)]
    pub(crate) fn archive(&mut self, session: SessionKey) {
        let now = std::time::Instant::now();
        self.history(session, now).look(now, crate::values::clock::now()).unwrap();
    }

    /// Returns another one that does what is done about the past of a session.
    #[cfg(test)]
    pub(crate) fn history(
        &mut self,
        session: SessionKey,
        now: std::time::Instant,
    ) -> crate::threads::history::History {
        crate::threads::history::History::new(Arc::clone(&self.log(session).shared), now)
    }

    /// Returns how far back the session reads.
    #[cfg(test)]
    pub(crate) fn horizon(&self, session: SessionKey) -> u64 {
        self.log(session).horizon
    }

    /// Returns the number of the first segment that the session reads from.
    #[cfg(test)]
    pub(crate) fn first_segment(&self, session: SessionKey) -> u32 {
        self.log(session).segments[0].number
    }

    /// Returns the numbers of the segments that are not known to be completely on disk.
    #[cfg(test)]
    pub(crate) fn not_on_disk(&self, session: SessionKey) -> Vec<u32> {
        let log = self.log(session);
        lock(&log.shared.segments.ahead).iter().map(|(number, _)| *number).collect()
    }

    /// As if the process had died inside a commit, after this many of its sessions.
    #[cfg(test)]
    pub(crate) fn crash_after_publishing(&mut self, sessions: usize) {
        for n in 0..self.sessions.places() {
            if let Some(open) = self.sessions.at_mut(n) {
                open.kept.finish();
            }
        }
        self.sessions.publish(sessions, |_, _| ());
        self.crash();
    }

    /// As if the process had died here: no clean mark.
    #[cfg(test)]
    pub(crate) fn crash(&mut self) {
        for open in self.sessions.abandon() {
            let Journal::Made(log) = open.kept else { continue };
            log.shared.position.closed.store(true, Ordering::Relaxed);
            drop(lock(&log.shared.segments.archiving));
            *lock(&log.shared.head.creation) = None;
            lock(&log.shared.segments.maker).closed = true;
            lock(&log.shared.head.file).close();
            Task::ALL.into_iter().for_each(|task| log.shared.calls.ring(task));
        }
        self.wanting.clear();
    }
}

impl Store for DirectoryStore {
    fn open(&mut self, key: SessionKey, session: &SessionId) -> Result<Recovered, StoreError> {
        self.check_closed(session)?;
        self.open_journal(key, session)
    }

    fn close(&mut self, session: SessionKey) -> Result<(), StoreError> {
        self.take_open(session).map_or(Ok(()), |open| open.kept.close())
    }

    #[inline]
    fn begin(&mut self) {
        self.sessions.begin();
    }

    #[inline]
    fn append(&mut self, session: SessionKey, record: &Record<'_>) -> Result<(), StoreError> {
        match self.sessions.touch(session) {
            (Journal::Made(log), turn) => log.append(turn, record),
            (Journal::Pending(_), _) => self.append_pending(session, record),
        }
    }

    #[inline]
    fn commit(&mut self) -> Result<Committed, StoreError> {
        let Self { sessions, wanting, .. } = self;
        let mut touched = sessions.touched().iter().filter_map(|n| sessions.at(*n));
        let is_durable = touched.all(|open| open.kept.log().is_some());
        if !is_durable {
            return self.commit_with_pending();
        }
        let position = sessions.commit(|n, journal| note_wanting(n, journal, wanting));
        Ok(Committed { position, is_durable })
    }

    fn rollback(&mut self) {
        self.sessions.rollback();
    }

    fn read(
        &mut self,
        session: SessionKey,
        generation: Generation,
        range: RangeInclusive<SeqNum>,
    ) -> Result<Option<Record<'_>>, StoreError> {
        match self.sessions.kept(session) {
            Journal::Made(log) => log.read(generation, range),
            Journal::Pending(pending) => Ok(pending.read(generation, &range)),
        }
    }

    fn replay(
        &mut self,
        session: SessionKey,
        visit: &mut dyn FnMut(Record<'_>) -> ControlFlow<()>,
    ) -> Result<(), StoreError> {
        match self.sessions.kept(session) {
            Journal::Made(log) => log.replay(visit),
            Journal::Pending(pending) => {
                pending.replay(visit);
                Ok(())
            }
        }
    }

    #[inline]
    fn abilities(&mut self) -> Option<&mut dyn Abilities> {
        Some(self)
    }
}

impl Abilities for DirectoryStore {
    fn set_waker(&mut self, waker: Arc<dyn WorkerWaker>) {
        self.waker = Some(waker);
        for log in self.logs() {
            self.ring_for(log);
        }
    }

    fn opens_later(&mut self) -> Option<&mut dyn OpensLater> {
        Some(self)
    }

    fn acknowledges(&mut self) -> Option<&mut dyn Acknowledges> {
        Some(self)
    }

    fn reports(&mut self) -> Option<&mut dyn Reports> {
        Some(self)
    }

    fn prepares(&mut self) -> Option<&mut dyn Prepares> {
        Some(self)
    }

    fn forgets(&mut self) -> Option<&mut dyn Forgets> {
        Some(self)
    }

    fn seeks(&mut self) -> Option<&mut dyn Seeks> {
        Some(self)
    }
}

impl Seeks for DirectoryStore {
    fn seek(&mut self, session: SessionKey, generation: Generation, first: SeqNum) -> bool {
        match self.sessions.kept(session) {
            Journal::Made(log) => log.seek(generation, first),
            Journal::Pending(_) => true,
        }
    }
}

impl OpensLater for DirectoryStore {
    fn open_lazily(&mut self, key: SessionKey, session: &SessionId) -> Result<Recovered, StoreError> {
        self.check_closed(session)?;
        let directory = self.base().join(session.file_name());
        match directory.try_exists() {
            Ok(true) => self.open_journal(key, session),
            Ok(false) if self.is_missed(session) => self.open_journal(key, session),
            Ok(false) => {
                self.keep(key, session, Journal::Pending(Box::new(Pending::new())));
                Ok(Recovered::default())
            }
            Err(error) => Err(failed("looking for", &directory, &error)),
        }
    }

    fn close_later(&mut self, session: SessionKey) -> Result<(), StoreError> {
        let Some(open) = self.take_open(session) else { return Ok(()) };
        if matches!(&open.kept, Journal::Pending(pending) if pending.is_unused()) {
            return Ok(());
        }
        match background(&mut self.background) {
            Ok(background) => {
                let session = open.id;
                let closing = Closing { session: session.clone(), close: Box::new(|| open.kept.close()) };
                self.closing.push((session, background.close(closing, self.waker.clone())));
                Ok(())
            }
            Err(_) => open.kept.close(),
        }
    }

    fn may_open(&mut self, session: &SessionId) -> bool {
        self.background.as_ref().is_none_or(|background| background.left() < MOST_LEFT)
            && self.closing.iter().all(|(closing, _)| closing != session)
    }

    fn take_unclean(&mut self) -> Option<(SessionId, StoreError)> {
        self.closing.retain_mut(|(session, answer)| {
            let closed = match answer.try_recv() {
                Ok(closed) => closed,
                Err(oneshot::TryRecvError::Empty) => return true,
                Err(oneshot::TryRecvError::Disconnected) => Err(gone()),
            };
            if let Err(error) = closed {
                self.unclean.push((session.clone(), error));
            }
            false
        });
        self.unclean.pop()
    }
}

impl Acknowledges for DirectoryStore {
    #[inline]
    fn durable(&mut self, session: SessionKey) -> Position {
        let all = self.sessions.position();
        match self.sessions.at(session.index()) {
            Some(Entry { kept: Journal::Pending(pending), .. }) if !pending.is_unused() => {
                // A failure is kept, and reported as one.
                if self.settle(session.index(), false).unwrap_or(false) { all } else { Position(0) }
            }
            _ => all,
        }
    }
}

impl Forgets for DirectoryStore {
    fn set_resend_horizon(&mut self, session: SessionKey, messages: u64) {
        match self.sessions.kept(session) {
            Journal::Made(log) => {
                log.horizon = messages;
                if log.damage.is_none() {
                    log.give_up_past(SeqNum::MAX);
                }
            }
            Journal::Pending(pending) => pending.horizon = messages,
        }
    }
}

impl Prepares for DirectoryStore {
    /// Makes one page of a journal ready, or rings for a thread: of the session that has waited
    /// longest, so it costs nothing to have many that want nothing.
    fn prepare(&mut self) -> bool {
        let Some(n) = self.wanting.pop_front() else { return false };
        if let Some(Entry { kept: Journal::Made(log), .. }) = self.sessions.at_mut(n)
            && log.prepare()
        {
            self.wanting.push_back(n);
        }
        !self.wanting.is_empty()
    }
}

impl Reports for DirectoryStore {
    fn take_warning(&mut self) -> Option<(SessionKey, String)> {
        let mut open = self.logs().map(|log| &log.shared);
        let shared = open.find(|shared| shared.failure.has_found.load(Ordering::Acquire))?;
        Some((shared.key, shared.failure.take_found()?))
    }

    fn take_failure(&mut self) -> Option<(SessionKey, StoreError)> {
        if let Some(threads) = &self.threads
            && !self.thread_death_told
            && !threads.are_alive()
        {
            // Without the threads, no pages and marks reach the disk.
            self.thread_death_told = true;
            for log in self.logs() {
                log.shared.failure.fail(StoreError::Io {
                    doing: format!("serving the journals in {}", self.base.path.display()),
                    reason: "one of the store's threads has ended".to_owned(),
                });
            }
        }
        for n in 0..self.sessions.places() {
            // A failure to put the journal of a session in place is kept there.
            let _ = self.settle(n, false);
            let Some(open) = self.sessions.at_mut(n) else { continue };
            let failure = match &mut open.kept {
                Journal::Made(log) => log.take_failure(),
                Journal::Pending(pending) => pending.take_failure(),
            };
            if let Some(error) = failure {
                return Some((open.key, error));
            }
        }
        None
    }
}

/// Returns the thread for what the disk may take its time for. It is restarted if it has died.
fn background(slot: &mut Option<Background>) -> Result<&Background, StoreError> {
    if let Some(running) = slot.take().filter(Background::is_alive) {
        return Ok(slot.insert(running));
    }
    Ok(slot.insert(Background::start()?))
}

/// Notes a session whose journal wants something that the store does not know of.
#[inline]
fn note_wanting(n: usize, journal: &mut Journal, wanting: &mut VecDeque<usize>) {
    if let Journal::Made(log) = journal
        && log.has_news
    {
        log.note_known();
        wanting.push_back(n);
    }
}

impl fmt::Debug for DirectoryStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let open: Vec<_> = self.sessions.iter().map(|open| &open.id).collect();
        f.debug_struct("DirectoryStore")
            .field("base", &self.base())
            .field("limits", &self.limits)
            .field("cookies", &self.cookies_in().unwrap_or(&cookies::own_directory()))
            .field("open", &open)
            .finish_non_exhaustive()
    }
}

impl Drop for DirectoryStore {
    fn drop(&mut self) {
        for open in self.sessions.close_all() {
            // A failure cannot be reported any more. The journal then says that it was not closed
            // cleanly.
            let _ = open.kept.close();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{TempDir, head_in, key, outbound, reset, session};
    use crate::values::reserve::RESERVE;

    #[test]
    fn after_a_reset_no_number_passes_the_mark_that_the_reset_will_get() {
        let dir = TempDir::new("limit");
        let mut store = DirectoryStore::new(dir.path());
        let key = key(0);
        store.open(key, &session("A")).unwrap();
        for record in [outbound(1_000_000, b"x"), reset(1, 1)] {
            store.begin();
            store.append(key, &record).unwrap();
            assert!(store.log(key).mark >= RESERVE);
            store.commit().unwrap();
        }
        assert_eq!(store.log(key).mark, 1 + RESERVE);
        store.begin();
        store.append(key, &outbound(1 + RESERVE, b"beyond")).unwrap();
        let head = head_in(&dir.path().join(session("A").file_name()));
        assert!(head.mark > SeqNum(1 + RESERVE));
        store.rollback();
    }
}
