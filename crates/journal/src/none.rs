//! A store that keeps numbers while the process lives and no message at all: every resend is a gap fill.

use std::ops::{ControlFlow, RangeInclusive};

use fixbolt_codec::SeqNum;
use fixbolt_session::SessionId;
use fixbolt_session::store::{Generation, Position, Record, Recovered, SessionKey, Store, StoreError};

use crate::ledger::Ledger;

/// A store that persists nothing.
#[derive(Default)]
pub struct NoStore {
    sessions: Vec<Session>,
    touched: Vec<u32>,
    in_turn: bool,
    position: u64,
}

struct Session {
    id: SessionId,
    open: bool,
    in_turn: bool,
    committed: Ledger,
    pending: Ledger,
}

impl NoStore {
    /// An empty one.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }
}

impl Store for NoStore {
    fn open(&mut self, session: &SessionId) -> Result<(SessionKey, Recovered), StoreError> {
        let n = match self.sessions.iter().position(|s| s.id == *session) {
            Some(n) if self.sessions[n].open => {
                return Err(StoreError::Locked {
                    place: format!("{session} without store"),
                    holder: "this process".to_owned(),
                });
            }
            Some(n) => n,
            None => {
                let ledger = Ledger::default();
                self.sessions.push(Session {
                    id: session.clone(),
                    open: false,
                    in_turn: false,
                    committed: ledger,
                    pending: ledger,
                });
                self.touched.reserve(self.sessions.len());
                self.sessions.len() - 1
            }
        };
        self.sessions[n].open = true;
        Ok((SessionKey(n as u32), self.sessions[n].committed.recovered()))
    }

    fn close(&mut self, session: SessionKey) -> Result<(), StoreError> {
        self.sessions[session.0 as usize].open = false;
        Ok(())
    }

    fn begin(&mut self) {
        assert!(!self.in_turn, "begin inside a turn");
        self.in_turn = true;
    }

    fn append(&mut self, session: SessionKey, record: &Record<'_>) -> Result<(), StoreError> {
        assert!(self.in_turn, "append outside a turn");
        let s = &mut self.sessions[session.0 as usize];
        assert!(s.open, "append to a closed session");
        if !s.in_turn {
            s.in_turn = true;
            self.touched.push(session.0);
        }
        s.pending.apply(record)
    }

    fn commit(&mut self) -> Result<Position, StoreError> {
        assert!(self.in_turn, "commit outside a turn");
        self.in_turn = false;
        if !self.touched.is_empty() {
            self.position += 1;
        }
        for n in self.touched.drain(..) {
            let s = &mut self.sessions[n as usize];
            s.in_turn = false;
            s.committed = s.pending;
        }
        Ok(Position(self.position))
    }

    fn rollback(&mut self) {
        self.in_turn = false;
        for n in self.touched.drain(..) {
            let s = &mut self.sessions[n as usize];
            s.in_turn = false;
            s.pending = s.committed;
        }
    }

    fn durable(&self) -> Position {
        Position(self.position)
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

    fn take_failure(&mut self) -> Option<(SessionKey, StoreError)> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{outbound, session};

    #[test]
    fn numbers_last_as_long_as_the_process_and_messages_not_at_all() {
        let mut store = NoStore::new();
        let (key, _) = store.open(&session("A")).unwrap();
        store.begin();
        store.append(key, &outbound(1, b"gone")).unwrap();
        store.commit().unwrap();
        store.begin();
        store.append(key, &outbound(2, b"never was")).unwrap();
        store.rollback();
        assert_eq!(store.read(key, Generation(0), SeqNum(1)..=SeqNum::MAX).unwrap(), None);
        assert!(matches!(store.open(&session("A")), Err(StoreError::Locked { .. })));
        store.close(key).unwrap();
        assert_eq!(store.open(&session("A")).unwrap().1.next_out, SeqNum(2));
    }
}
