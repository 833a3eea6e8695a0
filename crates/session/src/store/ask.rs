//! Asking a store for what it may not be able to do.

use std::sync::Arc;

use fixbolt_codec::SeqNum;

use crate::store::abilities::{Abilities, OpensLater};
use crate::store::contract::Store;
use crate::store::record::{Generation, Position, Recovered, StoreError};
use crate::store::waker::WorkerWaker;
use crate::values::id::SessionId;
use crate::values::key::SessionKey;

/// What is asked of any store, with what one without the ability does.
impl dyn Store + '_ {
    /// Sets the waker of the store's worker, if the store calls one.
    pub fn set_waker(&mut self, waker: Arc<dyn WorkerWaker>) {
        if let Some(able) = self.abilities() {
            able.set_waker(waker);
        }
    }

    /// Opens the store of a session, which may be created later; or at once.
    ///
    /// # Errors
    /// Returns those of [`Store::open`].
    pub fn open_lazily(&mut self, key: SessionKey, session: &SessionId) -> Result<Recovered, StoreError> {
        match self.later() {
            Some(later) => later.open_lazily(key, session),
            None => self.open(key, session),
        }
    }

    /// Closes a session's store, which may be done later; or at once.
    ///
    /// # Errors
    /// Returns those of [`Store::close`].
    pub fn close_later(&mut self, session: SessionKey) -> Result<(), StoreError> {
        match self.later() {
            Some(later) => later.close_later(session),
            None => self.close(session),
        }
    }

    /// Returns whether a session may be opened now that a counterparty asks for.
    pub fn may_open(&mut self, session: &SessionId) -> bool {
        self.later().is_none_or(|later| later.may_open(session))
    }

    /// Returns a session that could not be closed cleanly later, once.
    pub fn take_unclean(&mut self) -> Option<(SessionId, StoreError)> {
        self.later()?.take_unclean()
    }

    /// Returns up to where commits are durable for a session; `None` if all are when they return.
    pub fn durable(&mut self, session: SessionKey) -> Option<Position> {
        Some(self.abilities().and_then(Abilities::acknowledges)?.durable(session))
    }

    /// Returns a failure that the store noticed on its own, once.
    pub fn take_failure(&mut self) -> Option<(SessionKey, StoreError)> {
        self.abilities().and_then(Abilities::reports)?.take_failure()
    }

    /// Returns what is wrong with messages of the past, once.
    pub fn take_warning(&mut self) -> Option<(SessionKey, String)> {
        self.abilities().and_then(Abilities::reports)?.take_warning()
    }

    /// Does one small step of work ahead of time. Returns whether there may be another one.
    pub fn prepare(&mut self) -> bool {
        self.abilities().and_then(Abilities::prepares).is_some_and(|able| able.prepare())
    }

    /// Says how far back from NextNumOut messages are read at most.
    pub fn set_resend_horizon(&mut self, session: SessionKey, messages: u64) {
        if let Some(forgets) = self.abilities().and_then(Abilities::forgets) {
            forgets.set_resend_horizon(session, messages);
        }
    }

    /// Makes ready to read messages from `first` on. Returns whether the store is.
    pub fn seek(&mut self, session: SessionKey, generation: Generation, first: SeqNum) -> bool {
        match self.abilities().and_then(Abilities::seeks) {
            Some(able) => able.seek(session, generation, first),
            None => true,
        }
    }

    fn later(&mut self) -> Option<&mut dyn OpensLater> {
        self.abilities()?.opens_later()
    }
}
