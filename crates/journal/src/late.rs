//! A store for tests that acknowledges late, as one with a sync policy or a replica does.
//!
//! Sending before the store has acknowledged fails over this store. It stores nothing itself.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::ops::{ControlFlow, RangeInclusive};
use std::sync::Arc;

use fixbolt_codec::SeqNum;
use fixbolt_session::store::{Generation, Position, Record, Recovered, SessionKey, Store, StoreError};
use fixbolt_session::{SessionId, WorkerWaker};

/// Wraps a store and acknowledges every commit three turns late.
///
/// Time is counted in calls of [`Store::durable`], which the session core makes once per turn and
/// its driver each time it asks whether the store has advanced. A commit is acknowledged by the
/// third call after the first one that could have seen it. The last turn of an idle session is
/// acknowledged too, as long as its driver keeps asking.
pub struct LateStore<S> {
    inner: S,
    /// Commits that are not acknowledged yet, and the call at which they will be.
    waiting: RefCell<VecDeque<(Position, u64)>>,
    calls: Cell<u64>,
    acknowledged: Cell<Position>,
    waker: Option<Arc<dyn WorkerWaker>>,
}

impl<S: Store> LateStore<S> {
    /// Number of turns by which acknowledgements are late.
    pub const TURNS: u64 = 3;

    /// Wraps `inner`.
    pub fn new(inner: S) -> Self {
        let acknowledged = Cell::new(inner.durable());
        Self { inner, waiting: RefCell::new(VecDeque::new()), calls: Cell::new(0), acknowledged, waker: None }
    }
}

impl<S> LateStore<S> {
    /// Makes the driver ask again, as the next call acknowledges more.
    fn ask_again(&self) {
        if let Some(waker) = &self.waker {
            waker.store_advanced();
        }
    }
}

impl<S: Store> Store for LateStore<S> {
    fn open(&mut self, key: SessionKey, session: &SessionId) -> Result<Recovered, StoreError> {
        self.inner.open(key, session)
    }

    fn keeps_messages(&self) -> bool {
        self.inner.keeps_messages()
    }

    fn set_waker(&mut self, waker: Arc<dyn WorkerWaker>) {
        self.inner.set_waker(Arc::clone(&waker));
        self.waker = Some(waker);
    }

    fn close(&mut self, session: SessionKey) -> Result<(), StoreError> {
        self.inner.close(session)
    }

    fn begin(&mut self) {
        self.inner.begin();
    }

    fn append(&mut self, session: SessionKey, record: &Record<'_>) -> Result<(), StoreError> {
        self.inner.append(session, record)
    }

    fn commit(&mut self) -> Result<Position, StoreError> {
        let position = self.inner.commit()?;
        let mut waiting = self.waiting.borrow_mut();
        let last = waiting.back().map_or(self.acknowledged.get(), |(p, _)| *p);
        if position > last {
            waiting.push_back((position, self.calls.get() + 1 + Self::TURNS));
            self.ask_again();
        }
        Ok(position)
    }

    fn rollback(&mut self) {
        self.inner.rollback();
    }

    fn durable(&self) -> Position {
        self.calls.set(self.calls.get() + 1);
        let mut waiting = self.waiting.borrow_mut();
        while let Some((position, due)) = waiting.front().copied() {
            if due > self.calls.get() || position > self.inner.durable() {
                break;
            }
            self.acknowledged.set(position);
            waiting.pop_front();
        }
        if !waiting.is_empty() {
            self.ask_again();
        }
        self.acknowledged.get()
    }

    fn read(
        &mut self,
        session: SessionKey,
        generation: Generation,
        range: RangeInclusive<SeqNum>,
    ) -> Result<Option<Record<'_>>, StoreError> {
        self.inner.read(session, generation, range)
    }

    fn replay(
        &mut self,
        session: SessionKey,
        visit: &mut dyn FnMut(Record<'_>) -> ControlFlow<()>,
    ) -> Result<(), StoreError> {
        self.inner.replay(session, visit)
    }

    fn take_failure(&mut self) -> Option<(SessionKey, StoreError)> {
        self.inner.take_failure()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MemoryStore;
    use crate::testing::{opened, outbound};

    #[test]
    fn a_commit_is_acknowledged_three_turns_later() {
        let mut store = LateStore::new(MemoryStore::new());
        let (key, _) = opened(&mut store, "A").unwrap();
        let mut committed = Vec::new();
        for n in 1..=10 {
            store.begin();
            store.append(key, &outbound(n, b"x")).unwrap();
            committed.push(store.commit().unwrap());
            let expected = if n > 3 { committed[n as usize - 4] } else { Position(0) };
            assert_eq!(store.durable(), expected, "after turn {n}");
        }
        for position in &committed[7..] {
            assert_eq!(store.durable(), *position, "an idle driver that asks gets the rest");
        }
    }
}
