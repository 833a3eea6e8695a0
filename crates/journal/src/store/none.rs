//! A store that keeps only sequence numbers, and those only while the process lives: every resend
//! is a gap fill.

use std::ops::{ControlFlow, RangeInclusive};

use fixbolt_codec::SeqNum;
use fixbolt_session::SessionId;
use fixbolt_session::store::{
    Committed, Generation, Record, Recovered, SessionKey, Store, StoreError, StoreKind,
};

use crate::store::closed::Closed;
use crate::store::per_session::{Kept, PerSession};
use crate::values::ledger::Ledger;

/// A store that persists nothing.
///
/// ```
/// use fixbolt_journal::NoStore;
/// use fixbolt_session::runtime::session_key;
/// use fixbolt_session::store::Store;
/// let mut store = NoStore::new();
/// let key = session_key(0, 0, 0);
/// let recovered = store.open(key, &"FIX.4.4:VENUE->TRADER".parse()?)?;
/// assert_eq!(recovered.next_out.0, 1);
/// // A ResendRequest is answered with a gap fill.
/// assert!(!store.kind().keeps_messages);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Default)]
pub struct NoStore {
    sessions: PerSession<Numbers>,
    closed: Closed,
}

/// The numbers of a session, without the open turn and with it.
struct Numbers {
    committed: Ledger,
    pending: Ledger,
}

impl Kept for Numbers {
    fn publish(&mut self) {
        self.committed = self.pending;
    }

    fn rollback(&mut self) {
        self.pending = self.committed;
    }
}

impl NoStore {
    /// Creates an empty store.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }
}

impl Store for NoStore {
    fn open(&mut self, key: SessionKey, session: &SessionId) -> Result<Recovered, StoreError> {
        if self.sessions.has(session) {
            return Err(StoreError::Locked {
                place: format!("{session} without store"),
                holder: "this process".to_owned(),
            });
        }
        let ledger = self.closed.take(session);
        self.sessions.open(key, session, Numbers { committed: ledger, pending: ledger });
        Ok(ledger.recovered())
    }

    /// Keeps the sequence numbers of the 4,096 sessions that were closed last, and no messages.
    fn close(&mut self, session: SessionKey) -> Result<(), StoreError> {
        if let Some(open) = self.sessions.close(session) {
            self.closed.keep(open.id, open.kept.committed);
        }
        Ok(())
    }

    fn begin(&mut self) {
        self.sessions.begin();
    }

    fn append(&mut self, session: SessionKey, record: &Record<'_>) -> Result<(), StoreError> {
        self.sessions.touch(session).0.pending.apply(record)
    }

    fn commit(&mut self) -> Result<Committed, StoreError> {
        Ok(Committed { position: self.sessions.commit(|_, _| ()), is_durable: true })
    }

    fn rollback(&mut self) {
        self.sessions.rollback();
    }

    fn read(
        &mut self,
        _: SessionKey,
        _: Generation,
        _: RangeInclusive<SeqNum>,
    ) -> Result<Option<Record<'_>>, StoreError> {
        Ok(None)
    }

    fn replay(
        &mut self,
        _: SessionKey,
        _: &mut dyn FnMut(Record<'_>) -> ControlFlow<()>,
    ) -> Result<(), StoreError> {
        Ok(())
    }

    fn kind(&self) -> StoreKind {
        StoreKind { keeps_messages: false, survives_close: false }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{opened, outbound};

    #[test]
    fn numbers_last_as_long_as_the_process_and_messages_not_at_all() {
        let mut store = NoStore::new();
        let (key, _) = opened(&mut store, "A").unwrap();
        store.begin();
        store.append(key, &outbound(1, b"gone")).unwrap();
        store.commit().unwrap();
        store.begin();
        store.append(key, &outbound(2, b"never was")).unwrap();
        store.rollback();
        assert_eq!(store.read(key, Generation(0), SeqNum(1)..=SeqNum::MAX).unwrap(), None);
        assert!(matches!(opened(&mut store, "A"), Err(StoreError::Locked { .. })));
        store.close(key).unwrap();
        assert_eq!(opened(&mut store, "A").unwrap().1.next_out, SeqNum(2));
    }
}
