//! All sessions of one worker thread. Sans-IO: bytes, clocks and the end of a connection come in;
//! bytes and requests to close a connection come out.

use core::time::Duration;
use std::sync::Arc;

use fixbolt_codec::SeqNum;

use crate::api::application::Application;
use crate::calls::warm_up_times::WarmUp;
use crate::core::Core;
use crate::core::observer::WireObserver;
use crate::events::end::Halt;
use crate::events::event::Event;
use crate::events::open_error::OpenError;
use crate::perform::call::Call;
use crate::perform::read::Reader;
use crate::settings::SessionSettings;
use crate::settings::check::{WrongSetting, wrong_settings};
use crate::settings::dictionaries::SessionDictionary;
use crate::state::Phase;
use crate::state::reorder::Kept;
use crate::state::session::Session;
use crate::state::status::StatusCell;
use crate::store::stored_message::FieldStorage;
use crate::store::waker::WorkerWaker;
use crate::store::{Recovered, Store, StoreError};
use crate::values::fix::MAX_MESSAGE_SIZE_BEFORE_LOGON;
use crate::values::id::SessionId;
use crate::values::key::SessionKey;
use crate::values::time::{Now, Utc};

/// The sessions of one worker, on one store.
///
/// Order of calls for a connection: [`connected`](Self::connected); then [`receive`](Self::receive)
/// for bytes that arrived, [`wake`](Self::wake) at [`next_deadline`](Self::next_deadline),
/// [`writable`](Self::writable) and [`written`](Self::written) for bytes to send; when
/// [`wants_close`](Self::wants_close) returns `true` and nothing is left to write, close the
/// transport; and [`disconnected`](Self::disconnected) at its end, whichever side ended it. A
/// session without a connection has deadlines, too.
///
/// After each round of calls, for all sessions: [`next_ready`](Self::next_ready) and
/// [`next_output`](Self::next_output) until they return `None`, and
/// [`store_advanced`](Self::store_advanced) when the store calls the waker.
///
/// With the key of a session that is not open here, a call does nothing and returns what it returns
/// for a closed session.
pub struct Sessions {
    pub(crate) core: Core,
    /// The dictionaries of each session, outside the core: a message's index borrows the data
    /// fields while the sessions are in use.
    pub(crate) dialects: Vec<SessionDictionary>,
    pub(crate) reader: Reader,
    pub(crate) worker: u16,
    /// The number of sessions opened so far, which is the next one's serial number.
    pub(crate) opened: u32,
    pub(crate) warm_up: WarmUp,
}

impl Sessions {
    /// Creates a worker without sessions. Messages of up to `max_message_size` bytes can be
    /// indexed, larger ones once a session accepts them.
    #[must_use]
    pub fn new(store: Box<dyn Store>, max_message_size: usize) -> Self {
        let fields = max_message_size.max(MAX_MESSAGE_SIZE_BEFORE_LOGON) / 4;
        Self {
            core: Core::new(store, fields),
            dialects: Vec::new(),
            reader: Reader { index: FieldStorage::new(fields), again: Kept::with_capacity(max_message_size) },
            worker: 0,
            opened: 0,
            warm_up: WarmUp::default(),
        }
    }

    /// Makes these the sessions of worker `number`. Its `waker` is called when an application can
    /// take a message again, and by a store that has advanced.
    #[must_use]
    pub fn on_worker(mut self, number: u16, waker: Arc<dyn WorkerWaker>) -> Self {
        self.core.store.set_waker(Arc::clone(&waker));
        (self.worker, self.core.waker) = (number, waker);
        self
    }

    /// Shows every message that the sessions read or write to `observer`.
    #[must_use]
    pub fn observed_by(mut self, observer: Arc<dyn WireObserver>) -> Self {
        self.core.observer = Some(observer);
        self
    }

    /// Has a session warmed up ([`Sessions::warm_up`]) whenever a connection of it begins, and, if
    /// `every` is given, again and again while it is logged on ([`Sessions::warm_up_due`]).
    #[must_use]
    pub const fn warmed_up(mut self, every: Option<Duration>) -> Self {
        self.warm_up = WarmUp::new(every);
        self
    }

    /// Opens a session and its store, and shows the store's contents to the application.
    ///
    /// A session opens halted if its store is damaged, or if its application failed too often on a
    /// message.
    ///
    /// # Errors
    /// Returns an [`OpenError`].
    pub fn open(
        &mut self,
        now: Now,
        settings: SessionSettings,
        app: &mut dyn Application,
    ) -> Result<SessionKey, OpenError> {
        self.open_with(now, settings, app, |store, key, id| store.open(key, id))
    }

    /// Opens a session for a counterparty that is not authenticated yet: as [`Sessions::open`]
    /// does, but a store that does not exist is created with its first record
    /// ([`Store::open_lazily`]).
    ///
    /// # Errors
    /// Returns an [`OpenError`].
    pub fn open_lazily(
        &mut self,
        now: Now,
        settings: SessionSettings,
        app: &mut dyn Application,
    ) -> Result<SessionKey, OpenError> {
        self.open_with(now, settings, app, |store, key, id| store.open_lazily(key, id))
    }

    fn open_with(
        &mut self,
        now: Now,
        settings: SessionSettings,
        app: &mut dyn Application,
        open: impl FnOnce(&mut dyn Store, SessionKey, &SessionId) -> Result<Recovered, StoreError>,
    ) -> Result<SessionKey, OpenError> {
        if self.find(&settings.id).is_some() {
            return Err(OpenError::AlreadyOpen);
        }
        let mut wrong = wrong_settings(&settings, self.core.store.keeps_messages());
        if let Some(wrong) = wrong.find(WrongSetting::prevents_opening) {
            return Err(OpenError::Setting(wrong.reason()));
        }
        // Checked before the store opens the session, so that no store has a session that cannot
        // exist here.
        let id = &settings.id;
        let envelope =
            id.envelope().ok_or(OpenError::Setting("an ID of the session has more than 64 bytes"))?;
        self.reader.index.grow(settings.max_message_size / 4);
        self.core.stored.grow(settings.max_message_size / 4);
        let free = self.core.sessions.first_free();
        let index = u32::try_from(free).map_err(|_| OpenError::Setting("too many sessions"))?;
        let key = SessionKey::new(self.worker, index, self.opened);
        let recovered = open(&mut *self.core.store, key, id).map_err(OpenError::Store)?;
        self.opened = self.opened.wrapping_add(1);
        let dictionary = settings.dictionary.clone();
        let keeps_messages = self.core.store.keeps_messages();
        let mut session = Session::new(key, settings, envelope, &recovered, keeps_messages);
        session.tell_horizon(&mut *self.core.store);
        self.core.sessions.put(free, session);
        if free == self.dialects.len() {
            self.dialects.push(SessionDictionary::None);
        }
        self.dialects[free] = dictionary;
        let places = self.core.sessions.len();
        self.core.touched.reserve(places);
        self.core.work.reserve(places);
        if let Some(mut call) = self.call(now, key, app) {
            if recovered.since.is_none() && recovered.damage.is_none() {
                call.notify(&Event::NewStore);
            }
            call.begin_work(&recovered);
            call.follow_schedule();
        }
        Ok(key)
    }

    /// Shows the contents of the session's store to the application; [`Sessions::open`] calls this
    /// itself. If the application fails, its state is unknown: the session is halted.
    pub fn show_store(&mut self, now: Now, key: SessionKey, app: &mut dyn Application) {
        if let Some(mut call) = self.call(now, key, app) {
            call.show_store();
        }
    }

    /// Returns whether the session's store has failed before anything in it was durable: nothing
    /// was sent, and the session loses nothing if it is closed and opened again.
    #[must_use]
    pub fn was_never_stored(&self, key: SessionKey) -> bool {
        self.session(key)
            .is_some_and(|session| session.standing.store_is_new && !session.standing.store_is_open)
    }

    /// Closes a session and its store and frees its memory. The other sessions continue.
    ///
    /// # Errors
    /// Returns [`OpenError::NotOpen`] or [`OpenError::Connected`], and [`OpenError::Store`] if the
    /// store could not be closed cleanly; in that case the session is closed nevertheless.
    pub fn close(&mut self, key: SessionKey) -> Result<(), OpenError> {
        self.close_with(key, |store| store.close(key))
    }

    /// Closes a session as [`Sessions::close`] does, without waiting for its store:
    /// [`Sessions::take_unclean`] says if that cannot be closed cleanly later.
    ///
    /// # Errors
    /// Returns [`OpenError::NotOpen`] or [`OpenError::Connected`], and [`OpenError::Store`] if the
    /// store was closed at once, and not cleanly; in that case the session is closed nevertheless.
    pub fn close_later(&mut self, key: SessionKey) -> Result<(), OpenError> {
        self.close_with(key, |store| store.close_later(key))
    }

    /// Returns a session that [`Sessions::close_later`] has closed and whose store could not be
    /// closed cleanly, once.
    pub fn take_unclean(&mut self) -> Option<(SessionId, StoreError)> {
        self.core.store.take_unclean()
    }

    /// Returns whether a session that a counterparty asks for may be opened now. If not, its store
    /// has enough to do; it calls the waker when that may have changed.
    #[must_use]
    pub fn may_open(&self, id: &SessionId) -> bool {
        self.core.store.may_open(id)
    }

    fn close_with(
        &mut self,
        key: SessionKey,
        close: impl FnOnce(&mut dyn Store) -> Result<(), StoreError>,
    ) -> Result<(), OpenError> {
        let session = self.session(key).ok_or(OpenError::NotOpen)?;
        if session.state.connection.is_some() {
            return Err(OpenError::Connected);
        }
        let store_is_open = session.standing.store_is_open;
        session.standing.status.close();
        self.core.work.forget(key.index());
        self.core.sessions.free(key.index());
        self.dialects[key.index()] = SessionDictionary::None;
        if store_is_open { close(&mut *self.core.store).map_err(OpenError::Store) } else { Ok(()) }
    }

    /// Closes every session and its store cleanly.
    ///
    /// # Errors
    /// Returns the first error of a store.
    pub fn close_all(mut self) -> Result<(), StoreError> {
        let mut result = Ok(());
        for session in self.core.sessions.iter() {
            session.standing.status.close();
            if !session.standing.store_is_open {
                continue;
            }
            let closed = self.core.store.close(session.fixed.key);
            result = result.and(closed);
        }
        result
    }

    /// Notifies the application of something that happened to the session outside it. A failure
    /// ends the connection.
    pub fn notify(&mut self, now: Now, key: SessionKey, event: &Event<'_>, app: &mut dyn Application) {
        if let Some(mut call) = self.call(now, key, app) {
            call.notify(event);
        }
    }

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

    /// Returns the settings of a session.
    #[must_use]
    pub fn settings(&self, key: SessionKey) -> Option<&SessionSettings> {
        self.session(key).map(|session| &session.fixed.settings)
    }

    /// Returns the phase of a session.
    #[must_use]
    pub fn phase(&self, key: SessionKey) -> Phase {
        self.session(key).map_or(Phase::Disconnected, |session| session.state.phase())
    }

    /// Returns why the session is halted, if it is.
    #[must_use]
    pub fn halted(&self, key: SessionKey) -> Option<&Halt> {
        self.session(key)?.standing.halted.as_ref()
    }

    /// Returns the next sequence number expected and the next one to be used; `None` if the session
    /// is not open.
    #[must_use]
    pub fn numbers(&self, key: SessionKey) -> Option<(SeqNum, SeqNum)> {
        self.session(key).map(|session| (session.state.stored.next_in, session.state.stored.next_out))
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

    /// Returns the status that other threads read; `None` if the session is not open.
    #[must_use]
    pub fn status(&self, key: SessionKey) -> Option<Arc<StatusCell>> {
        self.session(key).map(|session| Arc::clone(&session.standing.status))
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

    /// Returns whether the session has logged on with its present connection, even if it is logging
    /// out again.
    #[must_use]
    pub fn has_logged_on(&self, key: SessionKey) -> bool {
        let connection = self.session(key).and_then(|session| session.state.connection.as_ref());
        connection.is_some_and(|connection| connection.logged_on)
    }

    /// Returns whether the session loses no message that could be sent again if it is closed and
    /// opened again.
    #[must_use]
    pub fn survives_close(&self, key: SessionKey) -> bool {
        self.core.store.survives_close()
            || self.session(key).is_some_and(|session| session.fixed.settings.reset_on_logon)
    }

    /// Checks the invariants of every open session, for simulators and fuzzers. Builds with debug
    /// assertions check the session of a call at its end, and those that a transaction has touched.
    ///
    /// # Panics
    /// Panics if one does not hold.
    #[doc(hidden)]
    pub fn check(&self) {
        let Core { sessions, touched, work, turns, .. } = &self.core;
        assert!(touched.is_empty(), "sessions {touched:?} are in a transaction that has ended");
        let (places, others) = (sessions.len(), self.dialects.len());
        assert!(places == others, "sessions have {places} places, and dictionaries have {others}");
        work.check(sessions);
        for place in 0..places {
            let Some(session) = sessions.at(place) else { continue };
            let key = session.fixed.key;
            assert!(key.index() == place, "the session with key {key:?} is at {place}");
            let number = session.turn.number();
            assert!(number <= *turns, "transaction {number} of {turns} has touched session {place}");
            session.check();
            session.check_between_calls();
        }
    }

    pub(crate) fn session(&self, key: SessionKey) -> Option<&Session> {
        self.core.sessions.get(key)
    }

    /// Begins a call for a session; `None` if it is not open.
    pub(crate) fn call<'c>(
        &'c mut self,
        now: Now,
        key: SessionKey,
        app: &'c mut dyn Application,
    ) -> Option<Call<'c>> {
        self.call_to_read(now, key, app).map(|(call, _)| call)
    }

    /// Begins a call that reads bytes.
    pub(crate) fn call_to_read<'c>(
        &'c mut self,
        now: Now,
        key: SessionKey,
        app: &'c mut dyn Application,
    ) -> Option<(Call<'c>, &'c mut Reader)> {
        let Self { core, dialects, reader, .. } = self;
        let own = core.sessions.find(key)?;
        Some((Call { core, dialects, app, now, own, telling: 0 }, reader))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::invariants::{NoStore, said, session};

    fn session_of(sessions: &mut Sessions) -> &mut Session {
        &mut sessions.core.sessions[0]
    }

    /// Changes the sessions, and what `check` says then.
    type Damage = (fn(&mut Sessions), &'static str);

    const DAMAGES: [Damage; 7] = [
        (|it| it.core.touched.push(0), "sessions [0] are in a transaction that has ended"),
        (|it| it.dialects.clear(), "sessions have 1 places, and dictionaries have 0"),
        (|it| session_of(it).fixed.key = SessionKey::new(0, 1, 0), "is at 0"),
        (
            |it| assert!(session_of(it).touch(1), "for the first time"),
            "transaction 1 of 0 has touched session 0",
        ),
        (|it| session_of(it).standing.has_output = true, "session 0 has output: true, and is listed: false"),
        (
            |it| session_of(it).standing.store_is_open = false,
            "the store is closed, and the session is not halted",
        ),
        (|it| session_of(it).state.stored.next_out = SeqNum(3), "other threads see numbers"),
    ];

    #[test]
    fn each_condition_is_seen_to_fail() {
        for (damage, says) in DAMAGES {
            let mut sessions = Sessions::new(Box::new(NoStore), 8192);
            sessions.check();
            sessions.core.sessions.put(0, session());
            sessions.dialects.push(SessionDictionary::None);
            sessions.check();
            damage(&mut sessions);
            let said = said(|| sessions.check());
            assert!(said.contains(says), "{said}, not {says}");
        }
    }
}
