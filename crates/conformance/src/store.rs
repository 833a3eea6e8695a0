//! Test helpers: a store that wraps another one, so that a test implements only what its store
//! does differently.
//!
//! A test that wants a store to fail, refuse, count or acknowledge late implements [`Intercept`];
//! [`Intercepted`] passes all other calls on.

use std::collections::VecDeque;
use std::ops::{ControlFlow, RangeInclusive};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use fixbolt_codec::SeqNum;
use fixbolt_session::store::{Generation, Position, Record, RecordKind, Recovered, Store, StoreError};
use fixbolt_session::{SessionId, SessionKey, WorkerWaker};

/// What happens to the calls of a store of type `S`. Each method has the contract of the same
/// method of [`Store`] and passes the call on unless it is overridden.
pub trait Intercept<S: Store>: Send {
    /// A session is opened.
    ///
    /// # Errors
    /// Returns [`StoreError::Locked`] if another process holds the store, and [`StoreError::Io`] or
    /// [`StoreError::Full`] if the system refuses.
    fn open(&mut self, store: &mut S, key: SessionKey, session: &SessionId) -> Result<Recovered, StoreError> {
        store.open(key, session)
    }

    /// A session is closed.
    ///
    /// # Errors
    /// Returns [`StoreError::Io`] if the clean mark could not be written.
    fn close(&mut self, store: &mut S, session: SessionKey) -> Result<(), StoreError> {
        store.close(session)
    }

    /// The worker has nothing else to do.
    fn prepare(&mut self, store: &mut S) -> bool {
        store.prepare()
    }

    /// A transaction begins.
    fn begin(&mut self, store: &mut S) {
        store.begin();
    }

    /// A record is added to the transaction.
    ///
    /// # Errors
    /// After an error the transaction can no longer be committed; the caller rolls it back.
    fn append(&mut self, store: &mut S, session: SessionKey, record: &Record<'_>) -> Result<(), StoreError> {
        store.append(session, record)
    }

    /// The transaction is committed.
    ///
    /// # Errors
    /// After an error nothing of the transaction is visible.
    fn commit(&mut self, store: &mut S) -> Result<Position, StoreError> {
        store.commit()
    }

    /// The transaction is rolled back.
    fn rollback(&mut self, store: &mut S) {
        store.rollback();
    }

    /// The session core asks how far commits are durable for a session.
    fn durable(&mut self, store: &mut S, session: SessionKey) -> Position {
        store.durable(session)
    }

    /// The store is handed its worker's waker.
    fn set_waker(&mut self, store: &mut S, waker: Arc<dyn WorkerWaker>) {
        store.set_waker(waker);
    }

    /// The session core says how far back it reads messages.
    fn set_resend_horizon(&mut self, store: &mut S, session: SessionKey, messages: u64) {
        store.set_resend_horizon(session, messages);
    }

    /// The session core asks for a failure that the store noticed on its own.
    fn take_failure(&mut self, store: &mut S) -> Option<(SessionKey, StoreError)> {
        store.take_failure()
    }
}

/// A store whose calls pass through an [`Intercept`]. What is read back is always what the inner
/// store holds.
///
/// ```
/// use fixbolt_conformance::store::{Intercept, Intercepted};
/// use fixbolt_journal::MemoryStore;
/// use fixbolt_session::SessionKey;
/// use fixbolt_session::store::{Record, Store, StoreError};
///
/// /// The number of records that still fit.
/// struct Room(usize);
///
/// impl<S: Store> Intercept<S> for Room {
///     fn append(&mut self, store: &mut S, key: SessionKey, record: &Record<'_>) -> Result<(), StoreError> {
///         let full = StoreError::Full { place: "test disk".into() };
///         self.0 = self.0.checked_sub(1).ok_or(full)?;
///         store.append(key, record)
///     }
/// }
///
/// let store: Box<dyn Store> = Box::new(Intercepted::new(MemoryStore::new(), Room(5)));
/// # drop(store);
/// ```
pub struct Intercepted<S, I> {
    store: S,
    intercept: I,
}

impl<S: Store, I: Intercept<S>> Intercepted<S, I> {
    /// Wraps `store`.
    pub fn new(store: S, intercept: I) -> Self {
        Self { store, intercept }
    }
}

impl<S: Store, I: Intercept<S>> Store for Intercepted<S, I> {
    fn open(&mut self, key: SessionKey, session: &SessionId) -> Result<Recovered, StoreError> {
        self.intercept.open(&mut self.store, key, session)
    }

    fn close(&mut self, session: SessionKey) -> Result<(), StoreError> {
        self.intercept.close(&mut self.store, session)
    }

    fn prepare(&mut self) -> bool {
        self.intercept.prepare(&mut self.store)
    }

    fn begin(&mut self) {
        self.intercept.begin(&mut self.store);
    }

    fn append(&mut self, session: SessionKey, record: &Record<'_>) -> Result<(), StoreError> {
        self.intercept.append(&mut self.store, session, record)
    }

    fn commit(&mut self) -> Result<Position, StoreError> {
        self.intercept.commit(&mut self.store)
    }

    fn rollback(&mut self) {
        self.intercept.rollback(&mut self.store);
    }

    fn durable(&mut self, session: SessionKey) -> Position {
        self.intercept.durable(&mut self.store, session)
    }

    fn set_waker(&mut self, waker: Arc<dyn WorkerWaker>) {
        self.intercept.set_waker(&mut self.store, waker);
    }

    fn take_failure(&mut self) -> Option<(SessionKey, StoreError)> {
        self.intercept.take_failure(&mut self.store)
    }

    fn set_resend_horizon(&mut self, session: SessionKey, messages: u64) {
        self.intercept.set_resend_horizon(&mut self.store, session, messages);
    }

    fn take_warning(&mut self) -> Option<(SessionKey, String)> {
        self.store.take_warning()
    }

    fn keeps_messages(&self) -> bool {
        self.store.keeps_messages()
    }

    fn survives_close(&self) -> bool {
        self.store.survives_close()
    }

    fn may_open(&self, session: &SessionId) -> bool {
        self.store.may_open(session)
    }

    fn take_unclean(&mut self) -> Option<(SessionId, StoreError)> {
        self.store.take_unclean()
    }

    fn read(
        &mut self,
        session: SessionKey,
        generation: Generation,
        range: RangeInclusive<SeqNum>,
    ) -> Result<Option<Record<'_>>, StoreError> {
        self.store.read(session, generation, range)
    }

    fn replay(
        &mut self,
        session: SessionKey,
        visit: &mut dyn FnMut(Record<'_>) -> ControlFlow<()>,
    ) -> Result<(), StoreError> {
        self.store.replay(session, visit)
    }
}

/// Acknowledges every commit three turns late, as a store with a sync policy or a replica does.
/// Sending before the store has acknowledged fails over such a store.
///
/// Time is counted in calls of [`Store::durable`], which the session core makes for each session
/// of a turn, and its driver each time it asks whether the store has advanced. A commit is
/// acknowledged by the third call after the first one that could have seen it. The last turn of an
/// idle session is acknowledged too, as long as its driver keeps asking.
pub struct Late {
    /// Commits that are not acknowledged yet, and the call at which they will be.
    waiting: VecDeque<(Position, u64)>,
    calls: u64,
    acknowledged: Position,
    waker: Option<Arc<dyn WorkerWaker>>,
}

impl Late {
    /// Number of turns by which acknowledgments are late.
    pub const TURNS: u64 = 3;

    /// Wraps `store`.
    pub fn around<S: Store>(store: S) -> Intercepted<S, Self> {
        let late = Self { waiting: VecDeque::new(), calls: 0, acknowledged: Position(0), waker: None };
        Intercepted::new(store, late)
    }

    /// Makes the driver ask again, as the next call acknowledges more.
    fn ask_again(&self) {
        if let Some(waker) = &self.waker {
            waker.store_advanced();
        }
    }
}

impl<S: Store> Intercept<S> for Late {
    fn set_waker(&mut self, store: &mut S, waker: Arc<dyn WorkerWaker>) {
        store.set_waker(Arc::clone(&waker));
        self.waker = Some(waker);
    }

    fn commit(&mut self, store: &mut S) -> Result<Position, StoreError> {
        let position = store.commit()?;
        let last = self.waiting.back().map_or(self.acknowledged, |(p, _)| *p);
        if position > last {
            self.waiting.push_back((position, self.calls + 1 + Self::TURNS));
            self.ask_again();
        }
        Ok(position)
    }

    fn durable(&mut self, store: &mut S, session: SessionKey) -> Position {
        self.calls += 1;
        while let Some((position, due)) = self.waiting.front().copied() {
            if due > self.calls || position > store.durable(session) {
                break;
            }
            self.acknowledged = position;
            self.waiting.pop_front();
        }
        if !self.waiting.is_empty() {
            self.ask_again();
        }
        self.acknowledged
    }
}

/// Refuses records of one kind while it is told to, as a full disk would.
pub struct Refusing {
    /// What it refuses.
    pub kind: RecordKind,
    /// Whether it does so now.
    pub now: Arc<AtomicBool>,
}

impl<S: Store> Intercept<S> for Refusing {
    fn append(&mut self, store: &mut S, session: SessionKey, record: &Record<'_>) -> Result<(), StoreError> {
        if record.kind == self.kind && self.now.load(Ordering::Relaxed) {
            return Err(StoreError::Full { place: "test".into() });
        }
        store.append(session, record)
    }
}
