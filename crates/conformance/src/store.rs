//! Stores of tests: each intercepts the calls of another one ([`Intercept`]).

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use fixbolt_session::store::{Intercept, Intercepted, Position, Record, RecordKind, Store, StoreError};
use fixbolt_session::{SessionKey, WorkerWaker};

/// Acknowledges every commit three turns late, as a store with a sync policy or a replica does.
/// Sending before the store has acknowledged fails over such a store.
///
/// Time is counted in calls of
/// [`Acknowledges::durable`](fixbolt_session::store::Acknowledges::durable), which the session core
/// makes for each session of a turn, and its driver each time it asks whether the store has
/// advanced. A commit is acknowledged by the third call after the first one that could have seen
/// it. The last turn of an idle session is acknowledged too, as long as its driver keeps asking.
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
        (store as &mut dyn Store).set_waker(Arc::clone(&waker));
        self.waker = Some(waker);
    }

    fn commit(&mut self, store: &mut S) -> Result<Position, StoreError> {
        let position = store.commit()?.position;
        let last = self.waiting.back().map_or(self.acknowledged, |(p, _)| *p);
        if position > last {
            self.waiting.push_back((position, self.calls + 1 + Self::TURNS));
            self.ask_again();
        }
        Ok(position)
    }

    fn durable(&mut self, store: &mut S, session: SessionKey) -> Option<Position> {
        let inner = (store as &mut dyn Store).durable(session);
        self.calls += 1;
        while let Some((position, due)) = self.waiting.front().copied() {
            if due > self.calls || inner.is_some_and(|inner| position > inner) {
                break;
            }
            self.acknowledged = position;
            self.waiting.pop_front();
        }
        if !self.waiting.is_empty() {
            self.ask_again();
        }
        Some(self.acknowledged)
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
