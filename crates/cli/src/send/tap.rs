//! A store that shows every message it keeps: what was sent and received, exactly as on the wire.

use std::ops::{ControlFlow, RangeInclusive};
use std::sync::Arc;
use std::sync::mpsc::Sender;

use fixbolt_codec::SeqNum;
use fixbolt_session::store::{
    Generation, Position, Record, RecordFlags, RecordKind, Recovered, SessionKey, Store, StoreError,
};
use fixbolt_session::{SessionId, WorkerWaker};

/// A message that was kept.
#[derive(Clone, Debug)]
pub(crate) struct Kept {
    /// Sent, or else received.
    pub(crate) sent: bool,
    /// Sent again, or received again.
    pub(crate) poss_dup: bool,
    /// The whole message, secrets masked.
    pub(crate) bytes: Vec<u8>,
}

/// Another store, watched.
pub(crate) struct Tap {
    inner: Box<dyn Store>,
    turn: Vec<Kept>,
    to: Sender<Kept>,
}

impl Tap {
    pub(crate) fn new(inner: Box<dyn Store>, to: Sender<Kept>) -> Self {
        Self { inner, turn: Vec::new(), to }
    }
}

impl Store for Tap {
    fn open(&mut self, key: SessionKey, session: &SessionId) -> Result<Recovered, StoreError> {
        self.inner.open(key, session)
    }

    fn keeps_messages(&self) -> bool {
        self.inner.keeps_messages()
    }

    fn set_waker(&mut self, waker: Arc<dyn WorkerWaker>) {
        self.inner.set_waker(waker);
    }

    fn close(&mut self, session: SessionKey) -> Result<(), StoreError> {
        self.inner.close(session)
    }

    fn begin(&mut self) {
        self.turn.clear();
        self.inner.begin();
    }

    fn append(&mut self, session: SessionKey, record: &Record<'_>) -> Result<(), StoreError> {
        if matches!(record.kind, RecordKind::Inbound | RecordKind::Outbound) {
            self.turn.push(Kept {
                sent: record.kind == RecordKind::Outbound,
                poss_dup: record.flags.contains(RecordFlags::POSS_DUP),
                bytes: record.body.to_vec(),
            });
        }
        self.inner.append(session, record)
    }

    fn commit(&mut self) -> Result<Position, StoreError> {
        let position = self.inner.commit()?;
        for kept in self.turn.drain(..) {
            // Nobody listens any more: the command has its answer.
            let _ = self.to.send(kept);
        }
        Ok(position)
    }

    fn rollback(&mut self) {
        self.turn.clear();
        self.inner.rollback();
    }

    fn durable(&self) -> Position {
        self.inner.durable()
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
