//! The store of a worker, whose calls a watching thread can see.

use core::ops::{ControlFlow, RangeInclusive};
use std::sync::Arc;

use fixbolt_codec::SeqNum;

use crate::activity::{Activity, StoreCall};
use crate::id::SessionId;
use crate::key::SessionKey;
use crate::store::{Generation, Position, Record, Recovered, Store, StoreError};
use crate::waker::WorkerWaker;

/// A store, and where the worker says which call of it runs. Its methods are those of [`Store`].
pub(crate) struct WatchedStore {
    store: Box<dyn Store>,
    pub(crate) activity: Arc<Activity>,
}

impl WatchedStore {
    pub(crate) fn new(store: Box<dyn Store>) -> Self {
        Self { store, activity: Arc::default() }
    }

    /// Runs a call that may wait for a disk.
    #[inline]
    fn call<R>(
        &mut self,
        call: StoreCall,
        session: SessionKey,
        act: impl FnOnce(&mut (dyn Store + 'static)) -> R,
    ) -> R {
        self.activity.begin_store_call(call, session.index());
        let result = act(&mut *self.store);
        self.activity.end_store_call();
        result
    }

    pub(crate) fn open(&mut self, key: SessionKey, session: &SessionId) -> Result<Recovered, StoreError> {
        self.call(StoreCall::Open, key, |store| store.open(key, session))
    }

    pub(crate) fn open_lazily(
        &mut self,
        key: SessionKey,
        session: &SessionId,
    ) -> Result<Recovered, StoreError> {
        self.call(StoreCall::Open, key, |store| store.open_lazily(key, session))
    }

    pub(crate) fn close(&mut self, session: SessionKey) -> Result<(), StoreError> {
        self.call(StoreCall::Close, session, |store| store.close(session))
    }

    pub(crate) fn close_later(&mut self, session: SessionKey) -> Result<(), StoreError> {
        self.call(StoreCall::Close, session, |store| store.close_later(session))
    }

    pub(crate) fn may_open(&self, session: &SessionId) -> bool {
        self.store.may_open(session)
    }

    pub(crate) fn take_unclean(&mut self) -> Option<(SessionId, StoreError)> {
        self.store.take_unclean()
    }

    #[inline]
    pub(crate) fn begin(&mut self) {
        self.store.begin();
    }

    #[inline]
    pub(crate) fn append(&mut self, session: SessionKey, record: &Record<'_>) -> Result<(), StoreError> {
        self.call(StoreCall::Append, session, |store| store.append(session, record))
    }

    /// Commits the transaction, which the session at this index has begun.
    #[inline]
    pub(crate) fn commit(&mut self, session: usize) -> Result<Position, StoreError> {
        self.activity.begin_store_call(StoreCall::Commit, session);
        let result = self.store.commit();
        self.activity.end_store_call();
        result
    }

    pub(crate) fn rollback(&mut self) {
        self.store.rollback();
    }

    #[inline]
    pub(crate) fn durable(&mut self, session: SessionKey) -> Position {
        self.store.durable(session)
    }

    pub(crate) fn set_resend_horizon(&mut self, session: SessionKey, messages: u64) {
        self.store.set_resend_horizon(session, messages);
    }

    pub(crate) fn read(
        &mut self,
        session: SessionKey,
        generation: Generation,
        range: RangeInclusive<SeqNum>,
    ) -> Result<Option<Record<'_>>, StoreError> {
        self.activity.begin_store_call(StoreCall::Read, session.index());
        let result = self.store.read(session, generation, range);
        self.activity.end_store_call();
        result
    }

    pub(crate) fn replay(
        &mut self,
        session: SessionKey,
        visit: &mut dyn FnMut(Record<'_>) -> ControlFlow<()>,
    ) -> Result<(), StoreError> {
        let Self { store, activity } = self;
        activity.begin_store_call(StoreCall::Replay, session.index());
        let result = store.replay(session, &mut |record| {
            // The visitor is the application's.
            activity.end_store_call();
            let flow = visit(record);
            activity.begin_store_call(StoreCall::Replay, session.index());
            flow
        });
        activity.end_store_call();
        result
    }

    pub(crate) fn keeps_messages(&self) -> bool {
        self.store.keeps_messages()
    }

    pub(crate) fn survives_close(&self) -> bool {
        self.store.survives_close()
    }

    pub(crate) fn set_waker(&mut self, waker: Arc<dyn WorkerWaker>) {
        self.store.set_waker(waker);
    }

    pub(crate) fn take_warning(&mut self) -> Option<(SessionKey, String)> {
        self.store.take_warning()
    }

    pub(crate) fn take_failure(&mut self) -> Option<(SessionKey, StoreError)> {
        self.store.take_failure()
    }
}
