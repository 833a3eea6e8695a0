//! What can be asked about a worker's sessions at any time, and changes nothing.

use std::sync::Arc;

use fixbolt_codec::SeqNum;

use crate::calls::matrix::{MatrixState, state_of};
use crate::calls::sessions::Sessions;
use crate::core::Core;
use crate::events::end::Halt;
use crate::settings::SessionSettings;
use crate::state::Phase;
use crate::state::session::Session;
use crate::state::status::StatusCell;
use crate::values::id::SessionId;
use crate::values::key::SessionKey;
use crate::values::time::{Now, Utc};

impl Sessions {
    /// Returns the open session with this identity.
    #[must_use]
    pub fn find(&self, id: &SessionId) -> Option<SessionKey> {
        self.core.sessions.find_id(id)
    }

    /// Returns the open session that a Logon is for: of those that accept it, the one with most
    /// SubIDs and LocationIDs. `logon` is the identity that the Logon names, seen from our side
    /// ([`identify`](crate::identify())).
    #[must_use]
    pub fn find_for_logon(&self, logon: &SessionId) -> Option<SessionKey> {
        let accepting = self.core.sessions.iter().filter(|session| session.fixed.settings.id.accepts(logon));
        accepting
            .max_by_key(|session| session.fixed.settings.id.specificity())
            .map(|session| session.fixed.key)
    }

    /// Returns every open session.
    pub fn keys(&self) -> impl Iterator<Item = SessionKey> + use<'_> {
        self.core.sessions.iter().map(|session| session.fixed.key)
    }

    /// Returns whether a session that a counterparty asks for may be opened now. If not, its store
    /// has enough to do; it calls the waker when that may have changed.
    pub fn may_open(&mut self, id: &SessionId) -> bool {
        self.core.store.may_open(id)
    }

    /// Returns the settings of a session.
    #[must_use]
    pub fn settings(&self, key: SessionKey) -> Option<&SessionSettings> {
        self.session(key).map(|session| &session.fixed.settings)
    }

    /// Returns the status that other threads read; `None` if the session is not open.
    #[must_use]
    pub fn status(&self, key: SessionKey) -> Option<Arc<StatusCell>> {
        self.session(key).map(|session| Arc::clone(&session.standing.status))
    }

    /// Returns the phase of a session.
    #[must_use]
    pub fn phase(&self, key: SessionKey) -> Phase {
        self.session(key).map_or(Phase::Disconnected, |session| session.state.phase())
    }

    /// Returns the state that a session is in between two calls, in the terms of the standard;
    /// `None` if it is not open.
    #[must_use]
    pub fn matrix_state(&self, key: SessionKey) -> Option<MatrixState> {
        self.session(key).map(|session| state_of(&session.state))
    }

    /// Returns whether the session has logged on with its present connection, even if it is logging
    /// out again.
    #[must_use]
    pub fn has_logged_on(&self, key: SessionKey) -> bool {
        let connection = self.session(key).and_then(|session| session.state.connection.as_ref());
        connection.is_some_and(|connection| connection.logged_on)
    }

    /// Returns the next sequence number expected and the next one to be used; `None` if the session
    /// is not open.
    #[must_use]
    pub fn numbers(&self, key: SessionKey) -> Option<(SeqNum, SeqNum)> {
        self.session(key).map(|session| (session.state.stored.next_in, session.state.stored.next_out))
    }

    /// Returns why the session is halted, if it is.
    #[must_use]
    pub fn halted(&self, key: SessionKey) -> Option<&Halt> {
        self.session(key)?.standing.halted.as_ref()
    }

    /// Returns whether the session is enabled: it may have connections.
    #[must_use]
    pub fn is_enabled(&self, key: SessionKey) -> bool {
        self.session(key).is_some_and(|session| session.standing.enabled)
    }

    /// Returns whether the session can begin a transport connection now. Outside its schedule an
    /// initiator cannot; an acceptor can, and refuses the Logon.
    #[must_use]
    pub fn can_connect(&self, key: SessionKey) -> bool {
        self.session(key).is_some_and(Session::can_connect)
    }

    /// Returns when the session may have a connection, if it may have none at `now` because of its
    /// schedule: `Some(None)` if not within three years.
    #[must_use]
    pub fn waits_for_schedule(&self, now: Now, key: SessionKey) -> Option<Option<Utc>> {
        let mut calendar = self.session(key)?.standing.calendar.clone()?;
        calendar.look(now);
        (!calendar.allows_connection()).then(|| calendar.next_connection())
    }

    /// Returns whether the session loses no message that could be sent again if it is closed and
    /// opened again.
    #[must_use]
    pub fn survives_close(&self, key: SessionKey) -> bool {
        self.core.store.kind().survives_close
            || self.session(key).is_some_and(|session| session.fixed.settings.reset.reset_on_logon)
    }

    /// Returns whether the session's store has failed before anything in it was durable: nothing
    /// was sent, and the session loses nothing if it is closed and opened again.
    #[must_use]
    pub fn was_never_stored(&self, key: SessionKey) -> bool {
        self.session(key)
            .is_some_and(|session| session.standing.store_is_new && !session.standing.store_is_open)
    }

    /// Returns what a session asks for now, for tests that ask at any time. A driver keeps what
    /// [`Sessions::poll`] returned.
    ///
    /// # Panics
    /// Panics if the session is not open.
    #[cfg(feature = "test-support")]
    #[must_use]
    pub fn next(&self, key: SessionKey) -> crate::Next {
        self.session(key).expect("the session is open").next()
    }

    /// Returns as text, for tests, everything that a rolled-back transaction must leave unchanged.
    /// Whether the transaction made the connection close is omitted.
    #[cfg(feature = "test-support")]
    #[must_use]
    pub fn snapshot(&self, key: SessionKey) -> String {
        let Some(Session { state, outbox, intake, .. }) = self.session(key) else { return String::new() };
        let reorder = &intake.reorder;
        let mut state = state.clone();
        if let Some(connection) = &mut state.connection {
            connection.end = None;
        }
        format!("{state:?}\n{:?}\n{reorder:?}", outbox.cursor)
    }

    /// Checks the invariants of every open session, for simulators and fuzzers. Builds with debug
    /// assertions check the session of a call at its end, and those that a transaction has touched.
    ///
    /// # Panics
    /// Panics if one does not hold.
    #[doc(hidden)]
    pub fn check(&self) {
        let Core { sessions, touched, work, transactions, .. } = &self.core;
        assert!(touched.is_empty(), "sessions {touched:?} are in a transaction that has ended");
        let (slots, others) = (sessions.len(), self.dialects.len());
        assert!(slots == others, "sessions have {slots} slots, and dictionaries have {others}");
        work.check(sessions);
        for index in 0..slots {
            let Some(session) = sessions.at(index) else { continue };
            let key = session.fixed.key;
            assert!(key.index() == index, "the session with key {key:?} is at {index}");
            let number = session.transaction.number;
            assert!(
                number <= *transactions,
                "transaction {number} of {transactions} has touched session {index}"
            );
            session.check();
            session.check_between_calls();
            session.check_told();
        }
    }
}
