//! A store that keeps only sequence numbers, and those only while the process lives: every resend
//! is a gap fill.

use std::ops::{ControlFlow, RangeInclusive};

use fixbolt_codec::SeqNum;
use fixbolt_session::SessionId;
use fixbolt_session::store::{
    Committed, Generation, Position, Record, Recovered, SessionKey, Store, StoreError, StoreKind,
};

use crate::store::closed::Closed;
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
    /// Indexed by the sessions' keys.
    sessions: Vec<Option<Session>>,
    closed: Closed,
    touched: Vec<usize>,
    in_turn: bool,
    position: u64,
}

struct Session {
    id: SessionId,
    in_turn: bool,
    committed: Ledger,
    pending: Ledger,
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
        if self.sessions.iter().flatten().any(|open| open.id == *session) {
            return Err(StoreError::Locked {
                place: format!("{session} without store"),
                holder: "this process".to_owned(),
            });
        }
        let ledger = self.closed.take(session);
        if self.sessions.len() <= key.index() {
            self.sessions.resize_with(key.index() + 1, || None);
        }
        self.sessions[key.index()] =
            Some(Session { id: session.clone(), in_turn: false, committed: ledger, pending: ledger });
        self.touched.reserve(self.sessions.len());
        Ok(ledger.recovered())
    }

    /// Keeps the sequence numbers of the 4,096 sessions that were closed last, and no messages.
    fn close(&mut self, session: SessionKey) -> Result<(), StoreError> {
        if let Some(open) = self.sessions.get_mut(session.index()).and_then(Option::take) {
            self.closed.keep(open.id, open.committed);
        }
        Ok(())
    }

    fn begin(&mut self) {
        assert!(!self.in_turn, "begin inside a turn");
        self.in_turn = true;
    }

    fn append(&mut self, session: SessionKey, record: &Record<'_>) -> Result<(), StoreError> {
        assert!(self.in_turn, "append outside a turn");
        let s = self.sessions[session.index()].as_mut().expect("the session is open");
        if !s.in_turn {
            s.in_turn = true;
            self.touched.push(session.index());
        }
        s.pending.apply(record)
    }

    fn commit(&mut self) -> Result<Committed, StoreError> {
        assert!(self.in_turn, "commit outside a turn");
        self.in_turn = false;
        if !self.touched.is_empty() {
            self.position += 1;
        }
        for n in self.touched.drain(..) {
            let Some(s) = &mut self.sessions[n] else { continue };
            s.in_turn = false;
            s.committed = s.pending;
        }
        Ok(Committed { position: Position(self.position), is_durable: true })
    }

    fn rollback(&mut self) {
        self.in_turn = false;
        for n in self.touched.drain(..) {
            let Some(s) = &mut self.sessions[n] else { continue };
            s.in_turn = false;
            s.pending = s.committed;
        }
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
