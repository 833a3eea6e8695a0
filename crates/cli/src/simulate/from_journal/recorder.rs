//! A store in memory that shows what the replayed session has committed.

use std::collections::VecDeque;
use std::ops::RangeInclusive;
use std::sync::{Arc, Mutex, PoisonError};

use fixbolt_codec::SeqNum;
use fixbolt_journal::MemoryStore;
use fixbolt_session::SessionId;
use fixbolt_session::store::{
    Generation, Intercept, Intercepted, Position, Record, RecordKind, Recovered, SessionKey, Store,
    StoreError,
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
pub(super) struct Written(Arc<Mutex<VecDeque<Made>>>);

impl Written {
    pub(super) fn take(&self) -> Option<Made> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).pop_front()
    }
}

/// The store of a replayed session, which begins where its journal does.
pub(super) struct Recorder {
    start: Recovered,
    open: Vec<Made>,
    written: Written,
}

/// Bytes of the messages that can be sent again. What is sent again is not compared.
const MEMORY: usize = 64 << 20;

impl Recorder {
    pub(super) fn around_memory(start: Recovered, written: Written) -> Intercepted<MemoryStore, Self> {
        Intercepted::new(MemoryStore::with_limit(MEMORY), Self { start, open: Vec::new(), written })
    }
}

impl Intercept<MemoryStore> for Recorder {
    fn open(
        &mut self,
        store: &mut MemoryStore,
        key: SessionKey,
        session: &SessionId,
    ) -> Result<Recovered, StoreError> {
        store.open(key, session)?;
        Ok(self.start.clone())
    }

    fn append(
        &mut self,
        store: &mut MemoryStore,
        session: SessionKey,
        record: &Record<'_>,
    ) -> Result<(), StoreError> {
        store.append(session, record)?;
        if matches!(record.kind, RecordKind::Inbound | RecordKind::Outbound | RecordKind::Reset) {
            let Record { kind, seq, body, .. } = *record;
            self.open.push(Made { kind, seq, body: body.to_vec() });
        }
        Ok(())
    }

    fn commit(&mut self, store: &mut MemoryStore) -> Result<Position, StoreError> {
        let position = store.commit()?.position;
        let mut written = self.written.0.lock().unwrap_or_else(PoisonError::into_inner);
        written.extend(self.open.drain(..));
        Ok(position)
    }

    fn rollback(&mut self, store: &mut MemoryStore) {
        store.rollback();
        self.open.clear();
    }

    fn read<'s>(
        &mut self,
        store: &'s mut MemoryStore,
        session: SessionKey,
        generation: Generation,
        range: RangeInclusive<SeqNum>,
    ) -> Result<Option<Record<'s>>, StoreError> {
        // That of the store in memory begins with 0.
        let generation = Generation(generation.0.wrapping_sub(self.start.generation.0));
        store.read(session, generation, range)
    }
}
