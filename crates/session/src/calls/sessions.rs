//! All sessions of one worker thread. Sans-IO: bytes, clocks and the end of a connection come in;
//! bytes and requests to close a connection come out.

use core::time::Duration;
use std::sync::Arc;

use fixbolt_codec::COMP_ID_LEN;

use crate::api::application::Application;
use crate::calls::warm_up_times::WarmUp;
use crate::core::Core;
use crate::core::observer::WireObserver;
use crate::events::event::Event;
use crate::events::open_error::OpenError;
use crate::perform::call::Call;
use crate::perform::read::Reader;
use crate::settings::SessionSettings;
use crate::settings::check::{WrongSetting, wrong_settings};
use crate::settings::dictionaries::SessionDictionary;
use crate::state::reorder::Reordered;
use crate::state::session::Session;
use crate::store::stored_message::FieldStorage;
use crate::store::waker::WorkerWaker;
use crate::store::{Recovered, Store, StoreError};
use crate::values::fix::MAX_MESSAGE_SIZE_BEFORE_LOGON;
use crate::values::id::SessionId;
use crate::values::key::SessionKey;
use crate::values::time::Now;
use crate::wire::before_send::BeforeSend;

/// The sessions of one worker, on one store: a state machine without sockets, threads or clocks.
///
/// Sessions are opened ([`open`](Self::open)) and closed. In between there are four kinds of calls.
/// A call returns only what it makes; what sessions ask for afterwards, [`poll`](Self::poll) says.
///
/// **Drive** - by what owns the sockets and the clock:
///
/// - For a connection, in this order: [`connected`](Self::connected); then
///   [`receive`](Self::receive) for bytes that have arrived, and [`wake`](Self::wake) at a
///   deadline; and [`disconnected`](Self::disconnected) at its end, whichever side ended it.
/// - [`writable`](Self::writable) returns bytes for the socket, and [`wrote`](Self::wrote) must
///   follow if any were written, or refused.
/// - [`store_advanced`](Self::store_advanced) when the store calls the waker, and
///   [`prepare_store`](Self::prepare_store) when there is nothing else to do.
/// - [`poll`](Self::poll) until it returns `None`, after each of these calls or each round of them,
///   and after any of the next two kinds. It returns each session that asks for something new once,
///   with a [`Next`](crate::Next): whether to close the transport, what to read, whether bytes are
///   queued, and when to call `wake`. The last one of a session applies until there is another. A
///   session without a connection has deadlines, too.
/// - [`warm_up_due`](Self::warm_up_due), if sessions are [warmed up](Self::warmed_up).
///
/// **Send** - by the application, or for it: [`act`](Self::act), [`notify`](Self::notify),
/// [`test_request`](Self::test_request), [`log_out`](Self::log_out). At any time.
///
/// **Operate** - by an operator, with a reason that the store records: [`resume`](Self::resume),
/// [`skip`](Self::skip), [`retry`](Self::retry), [`reset`](Self::reset),
/// [`reset_in_session`](Self::reset_in_session), [`set_enabled`](Self::set_enabled),
/// [`set_numbers`](Self::set_numbers), [`record`](Self::record). At any time.
///
/// **Look** - by anybody: [`find`](Self::find), [`phase`](Self::phase), [`numbers`](Self::numbers),
/// [`status`](Self::status) and others that take `&self`. They change nothing.
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
            reader: Reader {
                index: FieldStorage::new(fields),
                again: Reordered::with_capacity(max_message_size),
            },
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

    /// Has at most `bytes` bytes of messages wait for a throttle, in each session
    /// ([`OutboundThrottle::Wait`](crate::OutboundThrottle::Wait)), counting about 150 for each
    /// besides its body. One may always wait. Half of it is for answers. 1 MiB by default.
    #[must_use]
    pub const fn with_outbound_queue(mut self, bytes: usize) -> Self {
        self.core.outbound_queue = bytes;
        self
    }

    /// Shows every message that the sessions read or write to `observer`.
    #[must_use]
    pub fn observed_by(mut self, observer: Arc<dyn WireObserver>) -> Self {
        self.core.observer = Some(observer);
        self
    }

    /// Shows every new message of the sessions to `hook`, before it is sent.
    #[must_use]
    pub fn before_send(mut self, hook: Arc<dyn BeforeSend>) -> Self {
        for session in self.core.sessions.iter_mut() {
            session.tools.before_send = Some(Arc::clone(&hook));
        }
        self.core.before_send = Some(hook);
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
    /// ([`OpensLater::open_lazily`](crate::store::OpensLater)).
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
        open: fn(&mut dyn Store, SessionKey, &SessionId) -> Result<Recovered, StoreError>,
    ) -> Result<SessionKey, OpenError> {
        if self.find(&settings.id).is_some() {
            return Err(OpenError::AlreadyOpen);
        }
        let mut wrong = wrong_settings(&settings, self.core.store.kind().keeps_messages);
        if let Some(wrong) = wrong.find(WrongSetting::prevents_opening) {
            return Err(OpenError::Setting(wrong));
        }
        // Checked before the store opens the session, so that no store has a session that cannot
        // exist here.
        let id = &settings.id;
        let envelope = id.envelope().ok_or(OpenError::IdTooLong { most: COMP_ID_LEN })?;
        self.reader.index.grow(settings.limits.max_message_size / 4);
        self.core.stored.grow(settings.limits.max_message_size / 4);
        let free = self.core.sessions.first_free();
        let index = u32::try_from(free).map_err(|_| OpenError::TooManySessions { most: free })?;
        let key = SessionKey::new(self.worker, index, self.opened);
        let recovered = open(&mut *self.core.store, key, id).map_err(OpenError::Store)?;
        self.opened = self.opened.wrapping_add(1);
        let dictionary = settings.dictionary.clone();
        let keeps_messages = self.core.store.kind().keeps_messages;
        let mut session = Session::new(key, settings, envelope, &recovered, keeps_messages);
        session.tell_horizon(&mut *self.core.store);
        session.waiting.limit = self.core.outbound_queue;
        session.tools.before_send.clone_from(&self.core.before_send);
        if let Some(counted) = self.core.counted {
            session.standing.continue_from(counted);
        }
        self.core.sessions.put(free, session);
        if free == self.dialects.len() {
            self.dialects.push(SessionDictionary::None);
        }
        self.dialects[free] = dictionary;
        let slots = self.core.sessions.len();
        self.core.touched.reserve(slots);
        self.core.work.reserve(slots);
        if let Some(mut call) = self.call(now, key, app) {
            let ended = call.read_waiting(&recovered);
            if recovered.since.is_none() && recovered.damage.is_none() {
                call.notify(&Event::NewStore);
            }
            call.begin_work(&recovered, ended);
            call.follow_schedule();
        }
        Ok(key)
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
        let Self { core, dialects, .. } = self;
        core.begin_call(key)?;
        Some(Call { core, dialects, app, now, own: key.index(), telling: 0 })
    }

    /// Begins a call that reads bytes, for which the session may have been woken.
    pub(crate) fn call_to_read<'c>(
        &'c mut self,
        now: Now,
        key: SessionKey,
        app: &'c mut dyn Application,
    ) -> Option<(Call<'c>, &'c mut Reader)> {
        let Self { core, dialects, reader, .. } = self;
        core.begin_call(key)?.standing.set_can_go_on(false);
        Some((Call { core, dialects, app, now, own: key.index(), telling: 0 }, reader))
    }
}

#[cfg(test)]
mod tests {
    use fixbolt_codec::SeqNum;

    use super::*;
    use crate::invariants::{NoStore, said, session};

    fn session_of(sessions: &mut Sessions) -> &mut Session {
        &mut sessions.core.sessions[0]
    }

    /// Changes the sessions, and what `check` says then.
    type Damage = (fn(&mut Sessions), &'static str);

    const DAMAGES: [Damage; 8] = [
        (|it| it.core.touched.push(0), "sessions [0] are in a transaction that has ended"),
        (|it| it.dialects.clear(), "sessions have 1 slots, and dictionaries have 0"),
        (|it| session_of(it).fixed.of_test().key = SessionKey::new(0, 1, 0), "is at 0"),
        (
            |it| assert!(session_of(it).touch(1), "for the first time"),
            "transaction 1 of 0 has touched session 0",
        ),
        (
            |it| session_of(it).standing.of_test().is_changed = true,
            "session 0 has changed: true, and is listed: false",
        ),
        (
            |it| session_of(it).standing.of_test().can_go_on = true,
            "the session asks for Next { close: false, read: Bytes, output: false, deadline: Some(Mono(0)) }",
        ),
        (
            |it| session_of(it).standing.of_test().store_is_open = false,
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
            sessions.core.sessions[0].tell_next();
            sessions.dialects.push(SessionDictionary::None);
            sessions.check();
            damage(&mut sessions);
            let said = said(|| sessions.check());
            assert!(said.contains(says), "{said}, not {says}");
        }
    }
}
