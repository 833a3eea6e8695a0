//! What a worker's sessions share: the sessions themselves, their store, lists of work, and the
//! open transaction.

pub(crate) mod observer;
pub(crate) mod slots;
pub(crate) mod transaction;
pub(crate) mod work;

use std::sync::Arc;

use crate::core::observer::WireObserver;
use crate::core::slots::Slots;
use crate::core::work::WorkLists;
use crate::state::session::Session;
use crate::store::stored_message::FieldStorage;
use crate::store::waker::{Unheard, WorkerWaker};
use crate::store::{Position, Store, StoreError};
use crate::values::key::SessionKey;
use crate::values::time::Now;
use crate::wire::before_send::BeforeSend;

/// What the sessions of a worker share.
pub(crate) struct Core {
    pub(crate) sessions: Slots,
    pub(crate) store: Box<dyn Store>,
    /// The position of the last commit.
    pub(crate) committed: Position,
    pub(crate) waker: Arc<dyn WorkerWaker>,
    pub(crate) observer: Option<Arc<dyn WireObserver>>,
    /// What each session has that is opened.
    pub(crate) before_send: Option<Arc<dyn BeforeSend>>,
    pub(crate) work: WorkLists,
    /// The number of transactions so far; an open one has the last number.
    pub(crate) transactions: u64,
    /// Indices of the sessions that the open transaction has touched.
    pub(crate) touched: Vec<usize>,
    /// Sessions that are to end because of something that failed beside them, by index.
    pub(crate) failed: Vec<(usize, Failed)>,
    /// Storage for the index of a stored message.
    pub(crate) stored: FieldStorage,
    /// How many bytes of messages may wait for a throttle, in each session.
    pub(crate) outbound_queue: usize,
    /// The last time of the wall clock that has counted for a session's schedule.
    pub(crate) counted: Option<Now>,
}

/// How many bytes of messages may wait for a throttle, unless something else is said.
const OUTBOUND_QUEUE: usize = 1 << 20;

/// What failed beside a session, so that it must end.
#[derive(Debug)]
pub(crate) enum Failed {
    /// The store refused a record.
    Store(StoreError),
    /// The observer panicked.
    Observer,
}

impl Core {
    /// Creates what sessions share, without sessions. A stored message of `fields` fields can be
    /// indexed.
    pub(crate) fn new(store: Box<dyn Store>, fields: usize) -> Self {
        Self {
            sessions: Slots::default(),
            store,
            committed: Position::default(),
            waker: Arc::new(Unheard),
            observer: None,
            before_send: None,
            work: WorkLists::with_capacity(16),
            transactions: 0,
            touched: Vec::with_capacity(16),
            failed: Vec::new(),
            stored: FieldStorage::new(fields),
            outbound_queue: OUTBOUND_QUEUE,
            counted: None,
        }
    }

    /// Returns the session at an index, and the store.
    pub(crate) fn session_and_store(&mut self, index: usize) -> (&mut Session, &mut dyn Store) {
        (&mut self.sessions[index], &mut *self.store)
    }

    /// Returns the session that a call is about, and polls it after the call; `None` if it is not
    /// open.
    pub(crate) fn begin_call(&mut self, key: SessionKey) -> Option<&mut Session> {
        let session = self.sessions.get_mut(key)?;
        self.work.note_change(key.index(), session);
        Some(session)
    }

    /// Records that the session at an index may ask its driver for something new.
    pub(crate) fn note_change(&mut self, index: usize) {
        self.work.note_change(index, &mut self.sessions[index]);
    }

    /// Releases the bytes that the store has made durable since.
    pub(crate) fn release(&mut self) {
        let mut waiting = self.work.take_awaiting_store();
        waiting.retain(|index| {
            let Some(session) = self.sessions.at_mut(*index) else { return false };
            let durable = self.store.durable(session.fixed.key);
            session.outbox.advance(durable.unwrap_or(self.committed));
            let awaits_store = session.outbox.waits_for_store();
            session.standing.set_awaits_store(awaits_store);
            if !session.outbox.writable().is_empty() {
                self.work.note_change(*index, session);
            }
            awaits_store
        });
        self.work.put_awaiting_store(waiting);
    }
}
