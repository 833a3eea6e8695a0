//! The default store: one directory per session, each with its own journal. Sync policy `process`:
//! committed turns survive the death of the process, whatever kills it. After a failure of the
//! machine, sequence numbers continue from a mark that was written to disk ahead of them.

use std::fmt;
use std::ops::{ControlFlow, RangeInclusive};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use fixbolt_codec::SeqNum;
use fixbolt_session::store::{Generation, Position, Record, Recovered, SessionKey, Store, StoreError};
use fixbolt_session::{SessionId, WorkerWaker};

use crate::archive::Retention;
use crate::backend::{Backend, System, failed};
use crate::creation::Base;
use crate::log::Log;
use crate::recover::{Limits, Opening};
use crate::shared::lock;
use crate::thread::StoreThreads;

/// A store with a journal for each session, in its own directory below one base directory.
///
/// Appending makes no system call, takes no lock and allocates nothing, as long as the store's two
/// threads keep up.
///
/// ```
/// use fixbolt_journal::DirectoryStore;
/// use fixbolt_session::store::{SessionKey, Store};
/// let base = std::env::temp_dir().join(format!("fixbolt-doc-{}", std::process::id()));
/// let mut store = DirectoryStore::new(&base);
/// let key = SessionKey::new(0, 0, 0);
/// let recovered = store.open(key, &"FIX.4.4:VENUE->TRADER".parse().unwrap()).unwrap();
/// assert_eq!(recovered.next_out.0, 1);
/// store.close(key).unwrap();
/// # std::fs::remove_dir_all(base).unwrap();
/// ```
pub struct DirectoryStore {
    base: Arc<Base>,
    backend: Arc<dyn Backend>,
    limits: Limits,
    /// Indexed by the sessions' keys.
    sessions: Vec<Option<Open>>,
    /// Sessions that have no journal before their first record.
    uncreated: Vec<Uncreated>,
    touched: Vec<usize>,
    in_turn: bool,
    turn: u64,
    position: u64,
    threads: Option<StoreThreads>,
    thread_death_told: bool,
    waker: Option<Arc<dyn WorkerWaker>>,
}

/// An open journal.
struct Open {
    session: SessionId,
    log: Box<Log>,
    in_turn: bool,
}

/// A session whose journal is created with its first record.
struct Uncreated {
    key: SessionKey,
    session: SessionId,
    horizon: u64,
}

impl DirectoryStore {
    /// Default size of a session's first segment, in bytes.
    pub const SMALLEST_SEGMENT: u64 = 64 << 10;
    /// Default maximum size of a session's segments, in bytes. Opening a journal reads the last
    /// one.
    pub const LARGEST_SEGMENT: u64 = 32 << 20;

    /// Creates a store under `base`, which is created when the first session is opened.
    #[must_use]
    pub fn new(base: impl Into<PathBuf>) -> Self {
        Self::over(base.into(), Arc::new(System))
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

    /// Returns the base directory.
    #[must_use]
    pub fn base(&self) -> &Path {
        &self.base.path
    }

    pub(crate) fn over(base: PathBuf, backend: Arc<dyn Backend>) -> Self {
        Self {
            base: Arc::new(Base::new(Arc::clone(&backend), base)),
            backend,
            limits: Limits::DEFAULT,
            sessions: Vec::new(),
            uncreated: Vec::new(),
            touched: Vec::new(),
            in_turn: false,
            turn: 0,
            position: 0,
            threads: None,
            thread_death_told: false,
            waker: None,
        }
    }

    /// A failure of this journal wakes the worker, if the store has its waker.
    fn ring_for(&self, log: &Log) {
        if let Some(waker) = &self.waker {
            // A waker that was set before is the same one.
            let _ = log.shared.waker.set(Arc::clone(waker));
        }
    }

    /// Returns the store's threads. They are restarted if one has ended, as otherwise no journal
    /// would be served any more.
    fn threads(&mut self) -> Result<&StoreThreads, StoreError> {
        if let Some(threads) = self.threads.take().filter(StoreThreads::are_alive) {
            return Ok(self.threads.insert(threads));
        }
        let threads = StoreThreads::start()?;
        for open in self.sessions.iter().flatten() {
            if open.log.damage.is_none() && !open.log.shared.failed.load(Ordering::Relaxed) {
                threads.look_after(&open.log.shared);
            }
        }
        self.thread_death_told = false;
        Ok(self.threads.insert(threads))
    }

    /// Fails if the session is open.
    fn check_closed(&self, session: &SessionId) -> Result<(), StoreError> {
        let open = self.sessions.iter().flatten().map(|open| &open.session);
        if open.chain(self.uncreated.iter().map(|open| &open.session)).any(|open| open == session) {
            return Err(StoreError::Locked {
                place: self.base().join(session.file_name()).display().to_string(),
                holder: "this store".to_owned(),
            });
        }
        Ok(())
    }

    /// Makes a place for the journal of a session.
    fn make_place(&mut self, key: SessionKey) {
        if self.sessions.len() <= key.index() {
            self.sessions.resize_with(key.index() + 1, || None);
        }
        self.touched.reserve(self.sessions.len());
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
        self.ring_for(&log);
        let threads = self.threads()?;
        if log.damage.is_none() {
            threads.look_after(&log.shared);
        }
        self.turn = self.turn.max(turn);
        self.make_place(key);
        self.sessions[key.index()] =
            Some(Open { session: session.clone(), log: Box::new(log), in_turn: false });
        Ok(recovered)
    }

    /// Creates the journal of a session that has got its first record.
    ///
    /// # Panics
    /// Panics if the session is not open.
    #[cold]
    fn create(&mut self, key: SessionKey) -> Result<(), StoreError> {
        let at = self.uncreated.iter().position(|open| open.key == key).expect("the session is open");
        let session = self.uncreated[at].session.clone();
        let recovered = self.open_journal(key, &session)?;
        if recovered != Recovered::default()
            && let Some(open) = self.sessions[key.index()].take()
        {
            // Its numbers are not those that the session goes on with.
            open.log.close()?;
            return Err(StoreError::Io {
                doing: format!("creating {}", self.base().join(session.file_name()).display()),
                reason: "another process has created it since the session was opened".to_owned(),
            });
        }
        let Uncreated { horizon, .. } = self.uncreated.swap_remove(at);
        self.log(key).horizon = horizon;
        Ok(())
    }

    /// Returns whether the session is open and has no journal yet.
    fn is_uncreated(&self, key: SessionKey) -> bool {
        self.uncreated.iter().any(|open| open.key == key)
    }

    /// Returns the open journal of `session`.
    ///
    /// # Panics
    /// Panics if it is closed.
    #[inline]
    fn log(&mut self, session: SessionKey) -> &mut Log {
        &mut self.opened(session).log
    }

    #[inline]
    fn opened(&mut self, session: SessionKey) -> &mut Open {
        self.sessions[session.index()].as_mut().expect("the session is open")
    }

    /// Publishes the turn in at most this many of its sessions.
    ///
    /// The session that was touched first, with the inbound message, comes last. If the process
    /// dies in between, that message is processed again, and the messages of the other sessions
    /// show that it was processed before.
    #[inline]
    fn publish(&mut self, sessions: usize) {
        for _ in 0..sessions {
            let Some(n) = self.touched.pop() else { return };
            if let Some(open) = &mut self.sessions[n] {
                open.in_turn = false;
                open.log.publish();
            }
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
        crate::history::History::new(Arc::clone(&self.log(session).shared), now).look(now).unwrap();
    }

    /// Returns the number of the first segment that the session reads from.
    #[cfg(test)]
    pub(crate) fn first_segment(&self, session: SessionKey) -> u32 {
        self.sessions[session.index()].as_ref().unwrap().log.segments[0].number
    }

    /// Returns the numbers of the segments that are not known to be completely on disk.
    #[cfg(test)]
    pub(crate) fn not_on_disk(&self, session: SessionKey) -> Vec<u32> {
        let log = &self.sessions[session.index()].as_ref().unwrap().log;
        lock(&log.shared.ahead).iter().map(|(number, _)| *number).collect()
    }

    /// As if the process had died inside a commit, after this many of its sessions.
    #[cfg(test)]
    pub(crate) fn crash_after_publishing(&mut self, sessions: usize) {
        for open in self.sessions.iter_mut().flatten() {
            open.log.finish();
        }
        self.publish(sessions);
        self.crash();
    }

    /// As if the process had died here: no clean mark.
    #[cfg(test)]
    pub(crate) fn crash(&mut self) {
        for Open { log, .. } in self.sessions.drain(..).flatten() {
            log.shared.closed.store(true, Ordering::Relaxed);
            *lock(&log.shared.creation) = None;
            lock(&log.shared.maker).maker.closed = true;
            lock(&log.shared.head).closed = true;
        }
        self.uncreated.clear();
        self.touched.clear();
        self.in_turn = false;
    }
}

impl Store for DirectoryStore {
    fn open(&mut self, key: SessionKey, session: &SessionId) -> Result<Recovered, StoreError> {
        self.check_closed(session)?;
        self.open_journal(key, session)
    }

    fn open_lazily(&mut self, key: SessionKey, session: &SessionId) -> Result<Recovered, StoreError> {
        self.check_closed(session)?;
        let directory = self.base().join(session.file_name());
        match directory.try_exists() {
            Ok(true) => self.open_journal(key, session),
            Ok(false) => {
                self.make_place(key);
                self.uncreated.push(Uncreated { key, session: session.clone(), horizon: u64::MAX });
                Ok(Recovered::default())
            }
            Err(error) => Err(failed("looking for", &directory, &error)),
        }
    }

    fn close(&mut self, session: SessionKey) -> Result<(), StoreError> {
        assert!(!self.in_turn, "close inside a turn");
        self.uncreated.retain(|open| open.key != session);
        match self.sessions.get_mut(session.index()).and_then(Option::take) {
            Some(open) => open.log.close(),
            None => Ok(()),
        }
    }

    #[inline]
    fn begin(&mut self) {
        assert!(!self.in_turn, "begin inside a turn");
        self.in_turn = true;
        self.turn += 1;
    }

    #[inline]
    fn append(&mut self, session: SessionKey, record: &Record<'_>) -> Result<(), StoreError> {
        assert!(self.in_turn, "append outside a turn");
        let Self { sessions, touched, turn, .. } = self;
        let Some(open) = &mut sessions[session.index()] else {
            self.create(session)?;
            return self.append(session, record);
        };
        if !open.in_turn {
            open.in_turn = true;
            touched.push(session.index());
        }
        open.log.append(*turn, record)
    }

    #[inline]
    fn commit(&mut self) -> Result<Position, StoreError> {
        assert!(self.in_turn, "commit outside a turn");
        self.in_turn = false;
        if self.touched.is_empty() {
            return Ok(Position(self.position));
        }
        for n in &self.touched {
            if let Some(open) = &mut self.sessions[*n] {
                open.log.finish();
            }
        }
        self.publish(usize::MAX);
        self.position += 1;
        Ok(Position(self.position))
    }

    fn rollback(&mut self) {
        self.in_turn = false;
        while let Some(n) = self.touched.pop() {
            if let Some(open) = &mut self.sessions[n] {
                open.in_turn = false;
                open.log.rollback();
            }
        }
    }

    fn durable(&self) -> Position {
        Position(self.position)
    }

    fn read(
        &mut self,
        session: SessionKey,
        generation: Generation,
        range: RangeInclusive<SeqNum>,
    ) -> Result<Option<Record<'_>>, StoreError> {
        if self.is_uncreated(session) {
            return Ok(None);
        }
        self.log(session).read(generation, range)
    }

    fn replay(
        &mut self,
        session: SessionKey,
        visit: &mut dyn FnMut(Record<'_>) -> ControlFlow<()>,
    ) -> Result<(), StoreError> {
        if self.is_uncreated(session) {
            return Ok(());
        }
        self.log(session).replay(visit)
    }

    fn set_resend_horizon(&mut self, session: SessionKey, messages: u64) {
        if let Some(open) = self.uncreated.iter_mut().find(|open| open.key == session) {
            open.horizon = messages;
            return;
        }
        let log = self.log(session);
        log.horizon = messages;
        if log.damage.is_none() {
            log.give_up_past(SeqNum::MAX);
        }
    }

    fn set_waker(&mut self, waker: Arc<dyn WorkerWaker>) {
        self.waker = Some(waker);
        for open in self.sessions.iter().flatten() {
            self.ring_for(&open.log);
        }
    }

    fn take_warning(&mut self) -> Option<(SessionKey, String)> {
        let mut open = self.sessions.iter().flatten().map(|open| &open.log.shared);
        let shared = open.find(|shared| shared.has_found.load(Ordering::Acquire))?;
        Some((shared.key, shared.take_found()?))
    }

    fn take_failure(&mut self) -> Option<(SessionKey, StoreError)> {
        if let Some(threads) = &self.threads
            && !self.thread_death_told
            && !threads.are_alive()
        {
            // Without the threads, no pages and marks reach the disk.
            self.thread_death_told = true;
            for open in self.sessions.iter().flatten() {
                open.log.shared.fail(StoreError::Io {
                    doing: format!("serving the journals in {}", self.base.path.display()),
                    reason: "one of the store's threads has ended".to_owned(),
                });
            }
        }
        for open in self.sessions.iter_mut().flatten() {
            let log = &mut open.log;
            // Appends are refused from now on; `damage` also records that this failure was
            // reported.
            if log.damage.is_none() && log.shared.failed.load(Ordering::Relaxed) {
                let error = lock(&log.shared.failure).clone()?;
                log.damage = Some(error.to_string());
                return Some((log.shared.key, error));
            }
        }
        None
    }
}

impl fmt::Debug for DirectoryStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let open = self.sessions.iter().flatten().map(|open| &open.session);
        let open: Vec<_> = open.collect();
        f.debug_struct("DirectoryStore")
            .field("base", &self.base())
            .field("limits", &self.limits)
            .field("open", &open)
            .finish_non_exhaustive()
    }
}

impl Drop for DirectoryStore {
    fn drop(&mut self) {
        if self.in_turn {
            self.rollback();
        }
        for Open { log, .. } in self.sessions.drain(..).flatten() {
            // A failure cannot be reported any more. The journal then says that it was not closed
            // cleanly.
            let _ = log.close();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log::RESERVE;
    use crate::testing::{TempDir, head_in, key, outbound, reset, session};

    #[test]
    fn after_a_reset_no_number_passes_the_mark_that_the_reset_will_get() {
        let dir = TempDir::new("limit");
        let mut store = DirectoryStore::new(dir.path());
        let key = key(0);
        store.open(key, &session("A")).unwrap();
        for record in [outbound(1_000_000, b"x"), reset(1, 1)] {
            store.begin();
            store.append(key, &record).unwrap();
            assert!(store.log(key).limit >= RESERVE);
            store.commit().unwrap();
        }
        assert_eq!(store.log(key).limit, 1 + RESERVE);
        store.begin();
        store.append(key, &outbound(1 + RESERVE, b"beyond")).unwrap();
        let head = head_in(&dir.path().join(session("A").file_name()));
        assert!(head.mark > SeqNum(1 + RESERVE));
        store.rollback();
    }

    #[test]
    fn a_journal_that_is_opened_lazily_is_created_with_its_first_record() {
        let dir = TempDir::new("lazy");
        let mut store = DirectoryStore::new(dir.path());
        let place = dir.path().join(session("A").file_name());
        let all = SeqNum(1)..=SeqNum::MAX;
        for n in 0..3 {
            let key = key(n);
            assert_eq!(store.open_lazily(key, &session("A")).unwrap(), Recovered::default());
            assert!(matches!(store.open_lazily(key, &session("A")), Err(StoreError::Locked { .. })));
            assert!(matches!(store.open(key, &session("A")), Err(StoreError::Locked { .. })));
            store.set_resend_horizon(key, 7);
            store.begin();
            store.rollback();
            assert_eq!(store.read(key, Generation(0), all.clone()).unwrap(), None);
            store.replay(key, &mut |_| panic!("a record")).unwrap();
            assert_eq!(store.take_failure(), None);
            store.close(key).unwrap();
            assert!(!place.exists(), "nothing was stored");
        }
        store.open_lazily(key(3), &session("A")).unwrap();
        store.set_resend_horizon(key(3), 7);
        store.begin();
        store.append(key(3), &outbound(1, b"first")).unwrap();
        store.rollback();
        assert!(place.exists());
        assert_eq!(store.log(key(3)).horizon, 7);
        store.begin();
        store.append(key(3), &outbound(1, b"first")).unwrap();
        store.commit().unwrap();
        assert_eq!(store.read(key(3), Generation(0), all.clone()).unwrap().unwrap().body, b"first");
        store.close(key(3)).unwrap();
        assert_eq!(store.open_lazily(key(4), &session("A")).unwrap().next_out, SeqNum(2));
        assert_eq!(store.read(key(4), Generation(0), all).unwrap().unwrap().body, b"first");
    }

    #[test]
    fn a_journal_that_another_process_has_created_meanwhile_is_not_appended_to() {
        let dir = TempDir::new("lazy-race");
        let [mut late, mut early] = [(); 2].map(|()| DirectoryStore::new(dir.path()));
        late.open_lazily(key(0), &session("A")).unwrap();
        let append = |store: &mut DirectoryStore| {
            store.begin();
            let appended = store.append(key(0), &outbound(1, b"x"));
            if appended.is_ok() {
                store.commit().unwrap();
            } else {
                store.rollback();
            }
            appended
        };
        early.open(key(0), &session("A")).unwrap();
        append(&mut early).unwrap();
        assert!(matches!(append(&mut late), Err(StoreError::Locked { .. })));
        early.close(key(0)).unwrap();
        assert!(matches!(append(&mut late), Err(StoreError::Io { .. })));
        // The session is halted, and its store is opened again.
        late.close(key(0)).unwrap();
        assert_eq!(late.open(key(0), &session("A")).unwrap().next_out, SeqNum(2));
    }
}
