//! A store that records everything, so that the wire can be compared with it.

use std::ops::{ControlFlow, RangeInclusive};
use std::sync::{Arc, Mutex, MutexGuard};

use fixbolt_codec::SeqNum;
use fixbolt_session::SessionId;
use fixbolt_session::store::{
    Generation, Position, Record, RecordKind, Recovered, SessionKey, Store, StoreError,
};

/// What the store was given, shared with the observer of the wire.
#[derive(Clone)]
pub(super) struct Seen(Arc<Mutex<Log>>);

#[derive(Default)]
struct Log {
    /// Outbound messages of the open turn.
    open: Vec<Vec<u8>>,
    committed: Vec<(Position, Vec<u8>)>,
    /// The furthest position that the session knows to be safe.
    told: Position,
}

impl Seen {
    /// Returns whether this message was committed and the session was told that its turn is safe.
    pub(super) fn is_safe(&self, message: &[u8]) -> bool {
        let log = self.lock();
        log.committed.iter().rev().any(|(position, bytes)| bytes == message && *position <= log.told)
    }

    fn lock(&self) -> MutexGuard<'_, Log> {
        self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

/// The store itself.
pub(super) struct Watched {
    inner: Box<dyn Store>,
    seen: Seen,
}

impl Watched {
    pub(super) fn around(inner: Box<dyn Store>) -> (Self, Seen) {
        let seen = Seen(Arc::default());
        (Self { inner, seen: seen.clone() }, seen)
    }
}

impl Store for Watched {
    fn open(&mut self, key: SessionKey, session: &SessionId) -> Result<Recovered, StoreError> {
        self.inner.open(key, session)
    }

    fn close(&mut self, session: SessionKey) -> Result<(), StoreError> {
        self.inner.close(session)
    }

    fn begin(&mut self) {
        self.seen.lock().open.clear();
        self.inner.begin();
    }

    fn append(&mut self, session: SessionKey, record: &Record<'_>) -> Result<(), StoreError> {
        self.inner.append(session, record)?;
        if record.kind == RecordKind::Outbound {
            self.seen.lock().open.push(record.body.to_vec());
        }
        Ok(())
    }

    fn commit(&mut self) -> Result<Position, StoreError> {
        let position = self.inner.commit()?;
        let mut log = self.seen.lock();
        let open = std::mem::take(&mut log.open);
        log.committed.extend(open.into_iter().map(|bytes| (position, bytes)));
        Ok(position)
    }

    fn rollback(&mut self) {
        self.seen.lock().open.clear();
        self.inner.rollback();
    }

    fn durable(&self) -> Position {
        let position = self.inner.durable();
        let mut log = self.seen.lock();
        log.told = log.told.max(position);
        position
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
