//! A transaction: every session that is touched because of one event is changed as a whole, or not
//! at all.

use crate::core::observer::observe_outbound;
use crate::core::{Core, Failed};
use crate::state::session::Session;
use crate::store::{Committed, Store, StoreError};
use crate::values::time::Now;

/// Why a transaction was not committed; it is rolled back.
pub(crate) enum NotCommitted {
    /// The store had refused a record.
    Refused,
    /// The store failed.
    Failed(StoreError),
}

impl Core {
    /// Begins a transaction of the session at index `own`. Returns it, and the store.
    pub(crate) fn begin(&mut self, own: usize) -> (&mut Session, &mut dyn Store) {
        self.transactions += 1;
        self.touched.clear();
        self.touched.push(own);
        self.store.begin();
        let session = &mut self.sessions[own];
        session.touch(self.transactions);
        (session, &mut *self.store)
    }

    /// Makes a session part of the open transaction, if it is not.
    pub(crate) fn touch(&mut self, index: usize) {
        if self.sessions[index].touch(self.transactions) {
            self.touched.push(index);
        }
    }

    /// Makes the transaction visible: sequence numbers, state and bytes, in every session it
    /// touched. Returns whether an application is to be told of something; until it is, the
    /// sessions stay in the list of those that were touched.
    pub(crate) fn commit(&mut self, now: Now) -> Result<bool, NotCommitted> {
        if self.touched.iter().any(|index| self.sessions[*index].transaction.store_error.is_some()) {
            // Even if the application ignored that the store refused, the transaction is lost.
            self.rollback();
            return Err(NotCommitted::Refused);
        }
        let Committed { position, is_durable } = match self.store.commit() {
            Ok(committed) => committed,
            Err(error) => {
                self.restore();
                return Err(NotCommitted::Failed(error));
            }
        };
        kill_point!(Commit);
        self.committed = position;
        let mut is_news = false;
        for index in &self.touched {
            let session = &mut self.sessions[*index];
            if !observe_outbound(self.observer.as_deref(), session, now) {
                self.failed.push((*index, Failed::Observer));
            }
            // What waits from before may be of a journal that has no record of this transaction.
            let asks = !is_durable || session.outbox.waits_for_store();
            let durable = if asks { self.store.durable(session.fixed.key) } else { None };
            session.outbox.committed(position, durable.unwrap_or(position));
            self.work.note_commit(*index, session);
            is_news |= session.has_news();
            if cfg!(debug_assertions) {
                session.check();
            }
        }
        if !is_news {
            self.touched.clear();
        }
        Ok(is_news)
    }

    /// Undoes the transaction in every session. Those whose store refused a record are then in the
    /// list of what has failed.
    pub(crate) fn rollback(&mut self) {
        self.store.rollback();
        self.restore();
    }

    fn restore(&mut self) {
        for index in self.touched.drain(..) {
            let session = &mut self.sessions[index];
            let refused = session.rollback();
            self.work.note_change(index, session);
            if let Some(error) = refused {
                self.failed.push((index, Failed::Store(error)));
            } else if cfg!(debug_assertions) {
                session.check();
            }
        }
    }
}
