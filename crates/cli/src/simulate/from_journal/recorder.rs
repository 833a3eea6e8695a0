//! A store in memory that shows what the replayed session has committed.

use std::collections::VecDeque;
use std::ops::{ControlFlow, RangeInclusive};
use std::sync::{Arc, Mutex, PoisonError};

use fixbolt_codec::SeqNum;
use fixbolt_journal::MemoryStore;
use fixbolt_session::SessionId;
use fixbolt_session::store::{
    Generation, Position, Record, RecordKind, Recovered, SessionKey, Store, StoreError,
};

/// A record that the replayed session has committed: a message of either side, or a reset.
#[derive(Clone, Debug)]
pub(super) struct Made {
    pub(super) kind: RecordKind,
    pub(super) seq: SeqNum,
    pub(super) body: Vec<u8>,
}

/// What was committed and has not been taken yet.
#[derive(Clone, Default)]
pub(super) struct Committed(Arc<Mutex<VecDeque<Made>>>);

impl Committed {
    pub(super) fn take(&self) -> Option<Made> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).pop_front()
    }
}

/// The store of a replayed session, which begins where its journal does.
pub(super) struct Recorder {
    inner: MemoryStore,
    start: Recovered,
    open: Vec<Made>,
    committed: Committed,
}

/// Bytes of the messages that can be sent again. What is sent again is not compared.
const MEMORY: usize = 64 << 20;

impl Recorder {
    pub(super) fn new(start: Recovered, committed: Committed) -> Self {
        Self { inner: MemoryStore::with_limit(MEMORY), start, open: Vec::new(), committed }
    }
}

impl Store for Recorder {
    fn open(&mut self, key: SessionKey, session: &SessionId) -> Result<Recovered, StoreError> {
        self.inner.open(key, session)?;
        Ok(self.start.clone())
    }

    fn close(&mut self, session: SessionKey) -> Result<(), StoreError> {
        self.inner.close(session)
    }

    fn prepare(&mut self) -> bool {
        self.inner.prepare()
    }

    fn begin(&mut self) {
        self.inner.begin();
    }

    fn append(&mut self, session: SessionKey, record: &Record<'_>) -> Result<(), StoreError> {
        self.inner.append(session, record)?;
        if matches!(record.kind, RecordKind::Inbound | RecordKind::Outbound | RecordKind::Reset) {
            let Record { kind, seq, body, .. } = *record;
            self.open.push(Made { kind, seq, body: body.to_vec() });
        }
        Ok(())
    }

    fn commit(&mut self) -> Result<Position, StoreError> {
        let position = self.inner.commit()?;
        let mut committed = self.committed.0.lock().unwrap_or_else(PoisonError::into_inner);
        committed.extend(self.open.drain(..));
        Ok(position)
    }

    fn rollback(&mut self) {
        self.inner.rollback();
        self.open.clear();
    }

    fn durable(&mut self, session: SessionKey) -> Position {
        self.inner.durable(session)
    }

    fn set_resend_horizon(&mut self, session: SessionKey, messages: u64) {
        self.inner.set_resend_horizon(session, messages);
    }

    fn read(
        &mut self,
        session: SessionKey,
        generation: Generation,
        range: RangeInclusive<SeqNum>,
    ) -> Result<Option<Record<'_>>, StoreError> {
        // That of the store in memory begins with 0.
        let generation = Generation(generation.0.wrapping_sub(self.start.generation.0));
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
