//! A store around another one.

use core::ops::{ControlFlow, RangeInclusive};
use std::sync::Arc;

use fixbolt_codec::SeqNum;

use crate::store::abilities::{Abilities, Acknowledges, Forgets, OpensLater, Prepares, Reports, Seeks};
use crate::store::contract::Store;
use crate::store::record::{Committed, Generation, Position, Record, Recovered, StoreError, StoreKind};
use crate::store::waker::WorkerWaker;
use crate::values::id::SessionId;
use crate::values::key::SessionKey;

/// What happens to the calls of a store of type `S`: each method passes the call on unless it is
/// overridden.
pub trait Intercept<S: Store>: Send {
    /// A session is opened.
    ///
    /// # Errors
    /// Returns [`StoreError::Locked`] if another process holds the store, and [`StoreError::Io`] or
    /// [`StoreError::Full`] if the system refuses.
    fn open(&mut self, store: &mut S, key: SessionKey, session: &SessionId) -> Result<Recovered, StoreError> {
        store.open(key, session)
    }

    /// A session is opened that a counterparty asks for. Where the store opens nothing later, it is
    /// opened by [`Intercept::open`].
    ///
    /// # Errors
    /// Returns those of [`Store::open`].
    fn open_lazily(
        &mut self,
        store: &mut S,
        key: SessionKey,
        session: &SessionId,
    ) -> Result<Recovered, StoreError> {
        match store.abilities().and_then(Abilities::opens_later) {
            Some(later) => later.open_lazily(key, session),
            None => self.open(store, key, session),
        }
    }

    /// A session is closed.
    ///
    /// # Errors
    /// Returns [`StoreError::Io`] if the clean mark could not be written.
    fn close(&mut self, store: &mut S, session: SessionKey) -> Result<(), StoreError> {
        store.close(session)
    }

    /// A session is closed that nobody uses. Where the store closes nothing later, it is closed by
    /// [`Intercept::close`].
    ///
    /// # Errors
    /// Returns those of [`Store::close`].
    fn close_later(&mut self, store: &mut S, session: SessionKey) -> Result<(), StoreError> {
        match store.abilities().and_then(Abilities::opens_later) {
            Some(later) => later.close_later(session),
            None => self.close(store, session),
        }
    }

    /// A worker asks whether it may open a session.
    fn may_open(&mut self, store: &mut S, session: &SessionId) -> bool {
        asked(store).may_open(session)
    }

    /// A worker asks for a session that could not be closed cleanly.
    fn take_unclean(&mut self, store: &mut S) -> Option<(SessionId, StoreError)> {
        asked(store).take_unclean()
    }

    /// The worker has nothing else to do.
    fn prepare(&mut self, store: &mut S) -> bool {
        asked(store).prepare()
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

    /// The transaction is committed. How far commits are durable is always asked afterwards, by
    /// [`Intercept::durable`].
    ///
    /// # Errors
    /// After an error nothing of the transaction is visible.
    fn commit(&mut self, store: &mut S) -> Result<Position, StoreError> {
        Ok(store.commit()?.position)
    }

    /// The transaction is rolled back.
    fn rollback(&mut self, store: &mut S) {
        store.rollback();
    }

    /// A message is read.
    ///
    /// # Errors
    /// Returns [`StoreError::Damaged`] if the bytes do not match their checksum.
    fn read<'s>(
        &mut self,
        store: &'s mut S,
        session: SessionKey,
        generation: Generation,
        range: RangeInclusive<SeqNum>,
    ) -> Result<Option<Record<'s>>, StoreError> {
        store.read(session, generation, range)
    }

    /// All messages are read.
    ///
    /// # Errors
    /// Returns [`StoreError::Damaged`] if bytes do not match their checksum.
    fn replay(
        &mut self,
        store: &mut S,
        session: SessionKey,
        visit: &mut dyn FnMut(Record<'_>) -> ControlFlow<()>,
    ) -> Result<(), StoreError> {
        store.replay(session, visit)
    }

    /// The session core asks how far commits are durable for a session; `None`: all of them are.
    fn durable(&mut self, store: &mut S, session: SessionKey) -> Option<Position> {
        asked(store).durable(session)
    }

    /// The store is handed its worker's waker.
    fn set_waker(&mut self, store: &mut S, waker: Arc<dyn WorkerWaker>) {
        asked(store).set_waker(waker);
    }

    /// The session core says how far back it reads messages.
    fn set_resend_horizon(&mut self, store: &mut S, session: SessionKey, messages: u64) {
        asked(store).set_resend_horizon(session, messages);
    }

    /// Messages are about to be read. Returns whether the store is ready for that.
    fn seek(&mut self, store: &mut S, session: SessionKey, generation: Generation, first: SeqNum) -> bool {
        asked(store).seek(session, generation, first)
    }

    /// The session core asks for a failure that the store noticed on its own.
    fn take_failure(&mut self, store: &mut S) -> Option<(SessionKey, StoreError)> {
        asked(store).take_failure()
    }

    /// The session core asks what is wrong with messages of the past.
    fn take_warning(&mut self, store: &mut S) -> Option<(SessionKey, String)> {
        asked(store).take_warning()
    }
}

fn asked<S: Store>(store: &mut S) -> &mut (dyn Store + '_) {
    store
}

/// A store whose calls pass through an [`Intercept`].
///
/// It has every ability: what neither the intercept nor the inner store can do is done as of a
/// store that cannot.
///
/// ```
/// use fixbolt_session::store::{Intercept, Intercepted};
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
    /// The position of the last commit.
    last: Position,
}

impl<S: Store, I: Intercept<S>> Intercepted<S, I> {
    /// Wraps `store`.
    pub const fn new(store: S, intercept: I) -> Self {
        Self { store, intercept, last: Position(0) }
    }
}

impl<S: Store, I: Intercept<S>> Store for Intercepted<S, I> {
    fn open(&mut self, key: SessionKey, session: &SessionId) -> Result<Recovered, StoreError> {
        self.intercept.open(&mut self.store, key, session)
    }

    fn close(&mut self, session: SessionKey) -> Result<(), StoreError> {
        self.intercept.close(&mut self.store, session)
    }

    fn begin(&mut self) {
        self.intercept.begin(&mut self.store);
    }

    fn append(&mut self, session: SessionKey, record: &Record<'_>) -> Result<(), StoreError> {
        self.intercept.append(&mut self.store, session, record)
    }

    fn commit(&mut self) -> Result<Committed, StoreError> {
        self.last = self.intercept.commit(&mut self.store)?;
        Ok(Committed { position: self.last, is_durable: false })
    }

    fn rollback(&mut self) {
        self.intercept.rollback(&mut self.store);
    }

    fn read(
        &mut self,
        session: SessionKey,
        generation: Generation,
        range: RangeInclusive<SeqNum>,
    ) -> Result<Option<Record<'_>>, StoreError> {
        self.intercept.read(&mut self.store, session, generation, range)
    }

    fn replay(
        &mut self,
        session: SessionKey,
        visit: &mut dyn FnMut(Record<'_>) -> ControlFlow<()>,
    ) -> Result<(), StoreError> {
        self.intercept.replay(&mut self.store, session, visit)
    }

    fn kind(&self) -> StoreKind {
        self.store.kind()
    }

    fn abilities(&mut self) -> Option<&mut dyn Abilities> {
        Some(self)
    }
}

impl<S: Store, I: Intercept<S>> Abilities for Intercepted<S, I> {
    fn set_waker(&mut self, waker: Arc<dyn WorkerWaker>) {
        self.intercept.set_waker(&mut self.store, waker);
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

impl<S: Store, I: Intercept<S>> OpensLater for Intercepted<S, I> {
    fn open_lazily(&mut self, key: SessionKey, session: &SessionId) -> Result<Recovered, StoreError> {
        self.intercept.open_lazily(&mut self.store, key, session)
    }

    fn close_later(&mut self, session: SessionKey) -> Result<(), StoreError> {
        self.intercept.close_later(&mut self.store, session)
    }

    fn may_open(&mut self, session: &SessionId) -> bool {
        self.intercept.may_open(&mut self.store, session)
    }

    fn take_unclean(&mut self) -> Option<(SessionId, StoreError)> {
        self.intercept.take_unclean(&mut self.store)
    }
}

impl<S: Store, I: Intercept<S>> Acknowledges for Intercepted<S, I> {
    fn durable(&mut self, session: SessionKey) -> Position {
        self.intercept.durable(&mut self.store, session).unwrap_or(self.last)
    }
}

impl<S: Store, I: Intercept<S>> Reports for Intercepted<S, I> {
    fn take_failure(&mut self) -> Option<(SessionKey, StoreError)> {
        self.intercept.take_failure(&mut self.store)
    }

    fn take_warning(&mut self) -> Option<(SessionKey, String)> {
        self.intercept.take_warning(&mut self.store)
    }
}

impl<S: Store, I: Intercept<S>> Prepares for Intercepted<S, I> {
    fn prepare(&mut self) -> bool {
        self.intercept.prepare(&mut self.store)
    }
}

impl<S: Store, I: Intercept<S>> Forgets for Intercepted<S, I> {
    fn set_resend_horizon(&mut self, session: SessionKey, messages: u64) {
        self.intercept.set_resend_horizon(&mut self.store, session, messages);
    }
}

impl<S: Store, I: Intercept<S>> Seeks for Intercepted<S, I> {
    fn seek(&mut self, session: SessionKey, generation: Generation, first: SeqNum) -> bool {
        self.intercept.seek(&mut self.store, session, generation, first)
    }
}
