//! All sessions of one worker thread. Sans-IO: bytes, clocks and the end of a connection come in; bytes and the wish to close
//! a connection come out.

use core::fmt;
use std::sync::Arc;

use fixbolt_codec::{Envelope, SeqNum};
use fixbolt_dictionary::Validator;

use crate::application::Application;
use crate::end::Halt;
use crate::event::Event;
use crate::id::SessionId;
use crate::key::SessionKey;
use crate::reading::MAX_MESSAGE_SIZE_BEFORE_LOGON;
use crate::reorder::Kept;
use crate::session::Session;
use crate::settings::{SessionDictionary, SessionSettings, WhileLoggedOff};
use crate::state::Phase;
use crate::status::StatusCell;
use crate::store::{Recovered, Store, StoreError};
use crate::stored_message::FieldStorage;
use crate::table;
use crate::time::Now;
use crate::transaction::Transaction;
use crate::waker::{Unheard, WorkerWaker};
use crate::wire::WireObserver;
use crate::work_lists::WorkLists;

/// The sessions of one worker, on one store.
///
/// Order of calls for a connection: [`connected`](Self::connected); then [`receive`](Self::receive) for bytes that came,
/// [`wake`](Self::wake) at [`next_deadline`](Self::next_deadline), [`writable`](Self::writable) and [`written`](Self::written) for bytes that go; when
/// [`wants_close`](Self::wants_close) says so and nothing is left to write, close the transport; and
/// [`disconnected`](Self::disconnected) at its end, whichever side ended it. A session without a connection has deadlines, too.
///
/// After each round of calls, for all sessions: [`next_ready`](Self::next_ready) and [`next_output`](Self::next_output) until
/// there is none, and [`store_advanced`](Self::store_advanced) when the store rings.
///
/// A key of a session that is not open here does nothing and returns what a closed session has.
pub struct Sessions {
    pub(crate) table: Vec<Option<Session>>,
    /// Of each session, beside the table: a message's index borrows the data fields while the sessions are at work.
    pub(crate) validators: Vec<Option<Arc<Validator>>>,
    pub(crate) store: Box<dyn Store>,
    pub(crate) waker: Arc<dyn WorkerWaker>,
    pub(crate) wire: Option<Arc<dyn WireObserver>>,
    /// Storage for the index of an inbound message, and of a stored one.
    pub(crate) inbound: FieldStorage,
    pub(crate) stored: FieldStorage,
    /// Where a message that was kept until its turn is copied to be read.
    pub(crate) kept: Kept,
    pub(crate) turns: u64,
    pub(crate) touched: Vec<usize>,
    pub(crate) lists: WorkLists,
    pub(crate) worker: u16,
    /// How many sessions were opened: the next one's serial number.
    pub(crate) opened: u32,
}

/// Why a session could not be opened, or does not go on.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum OpenError {
    /// The store refused.
    Store(StoreError),
    /// The session is open already.
    AlreadyOpen,
    /// No session is open under this key.
    NotOpen,
    /// The session has a connection; it ends first.
    Connected,
    /// The session stands still for another reason, which `resume` does not end.
    Halted(Halt),
    /// A setting is out of its range.
    Setting(&'static str),
}

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Store(error) => error.fmt(f),
            Self::AlreadyOpen => f.write_str("the session is open already"),
            Self::NotOpen => f.write_str("the session is not open"),
            Self::Connected => f.write_str("the session has a connection: close it first"),
            Self::Halted(halt) => halt.fmt(f),
            Self::Setting(what) => f.write_str(what),
        }
    }
}

impl core::error::Error for OpenError {}

/// Smallest outbox: room for the largest message the session layer writes, and for some of the application's.
const OUTBOX_MIN: usize = 16 * 1024;

impl Sessions {
    /// No sessions yet. Messages of up to `max_message_size` bytes can be indexed, more once a session takes larger ones.
    #[must_use]
    pub fn new(store: Box<dyn Store>, max_message_size: usize) -> Self {
        let fields = max_message_size.max(MAX_MESSAGE_SIZE_BEFORE_LOGON) / 4;
        Self {
            table: Vec::new(),
            validators: Vec::new(),
            store,
            waker: Arc::new(Unheard),
            wire: None,
            inbound: FieldStorage::new(fields),
            stored: FieldStorage::new(fields),
            kept: Kept::with_capacity(max_message_size),
            turns: 0,
            touched: Vec::with_capacity(16),
            lists: WorkLists::with_capacity(16),
            worker: 0,
            opened: 0,
        }
    }

    /// The same sessions as those of worker `number`, whose bell is `waker`: it is rung when an application can take a message
    /// again, and by a store that has advanced.
    #[must_use]
    pub fn on_worker(mut self, number: u16, waker: Arc<dyn WorkerWaker>) -> Self {
        self.store.set_waker(Arc::clone(&waker));
        (self.worker, self.waker) = (number, waker);
        self
    }

    /// The same sessions, with every message that they read or write shown to `observer`.
    #[must_use]
    pub fn observed_by(mut self, observer: Arc<dyn WireObserver>) -> Self {
        self.wire = Some(observer);
        self
    }

    /// Opens a session and its store, and shows the application what it holds.
    ///
    /// A session whose store is damaged, or whose application failed too often on a message, opens halted.
    ///
    /// # Errors
    /// [`OpenError`].
    pub fn open(
        &mut self,
        now: Now,
        settings: SessionSettings,
        app: &mut dyn Application,
    ) -> Result<SessionKey, OpenError> {
        if self.find(&settings.id).is_some() {
            return Err(OpenError::AlreadyOpen);
        }
        check_settings(&settings, self.store.keeps_messages())?;
        // Before the store has opened it: a session that the store knows must be one here, too.
        let id = &settings.id;
        let parts =
            [id.version().begin_string(), id.sender_comp_id(), id.target_comp_id()].map(str::as_bytes);
        let envelope = Envelope::new(parts[0], parts[1], parts[2])
            .ok_or(OpenError::Setting("a CompID has more than 64 bytes"))?;
        self.inbound.grow(settings.max_message_size / 4);
        self.stored.grow(settings.max_message_size / 4);
        let free = self.table.iter().position(Option::is_none).unwrap_or(self.table.len());
        let index = u32::try_from(free).map_err(|_| OpenError::Setting("too many sessions"))?;
        let key = SessionKey::new(self.worker, index, self.opened);
        let recovered = self.store.open(key, id).map_err(OpenError::Store)?;
        self.opened = self.opened.wrapping_add(1);
        let validator = settings.dictionary.validator().cloned();
        let keeps_messages = self.store.keeps_messages();
        let session = Session::new(key, settings, envelope, &recovered, keeps_messages);
        if free == self.table.len() {
            self.table.push(None);
            self.validators.push(None);
        }
        (self.table[free], self.validators[free]) = (Some(session), validator);
        self.touched.reserve(self.table.len());
        self.lists.reserve(self.table.len());
        self.begin_work(now, key, &recovered, app);
        Ok(key)
    }

    /// Notifies of what the store has found out, closes one that is to be repaired, and shows the application what it holds.
    pub(crate) fn begin_work(
        &mut self,
        now: Now,
        key: SessionKey,
        recovered: &Recovered,
        app: &mut dyn Application,
    ) {
        if let Some(given_up) = recovered.given_up.clone() {
            let event = Event::NumbersGivenUp { begin: *given_up.start(), end: *given_up.end() };
            self.notify(now, key, &event, app);
        }
        self.show_store(now, key, app);
        self.close_halted_store(key);
    }

    /// Shows an application what the session's store holds; [`Sessions::open`] does so by itself. One that fails at it does
    /// not know where it stands: the session is halted.
    pub fn show_store(&mut self, now: Now, key: SessionKey, app: &mut dyn Application) {
        if !self.session(key).is_some_and(|session| session.store_is_open) {
            return;
        }
        let Some(mut tx) = self.transaction(now, key, app) else { return };
        let mut fields = core::mem::take(tx.fields);
        let shown = tx.show_store(&mut fields);
        *tx.fields = fields;
        if let Err(why) = shown
            && tx.session().halted.is_none()
        {
            tx.halt(Halt::CallbackFailed { callback: "on_resume", why });
        }
    }

    /// A store that is damaged or has failed is closed, so that it can be repaired while the other sessions go on.
    pub(crate) fn close_halted_store(&mut self, key: SessionKey) {
        let Some(session) = table::find_mut(&mut self.table, key) else { return };
        let by_store = matches!(session.halted, Some(Halt::StoreDamaged { .. } | Halt::StoreFailed(_)));
        if by_store && session.store_is_open && session.state.connection.is_none() {
            session.store_is_open = false;
            // It says on opening what it holds; there is nobody to hear of a second failure.
            let _ = self.store.close(key);
        }
    }

    /// Closes a session and its store and gives its memory back. The other sessions go on.
    ///
    /// # Errors
    /// [`OpenError::NotOpen`], [`OpenError::Connected`]; [`OpenError::Store`] if the store could not be closed cleanly: the
    /// session is closed all the same.
    pub fn close(&mut self, key: SessionKey) -> Result<(), OpenError> {
        let session = table::find(&self.table, key).ok_or(OpenError::NotOpen)?;
        if session.state.connection.is_some() {
            return Err(OpenError::Connected);
        }
        let store_is_open = session.store_is_open;
        session.status.close();
        self.lists.forget(key.index());
        (self.table[key.index()], self.validators[key.index()]) = (None, None);
        if store_is_open { self.store.close(key).map_err(OpenError::Store) } else { Ok(()) }
    }

    /// Closes every session's store cleanly. The sessions are gone.
    ///
    /// # Errors
    /// The first store's refusal.
    pub fn close_all(mut self) -> Result<(), StoreError> {
        let mut result = Ok(());
        for session in self.table.iter().flatten() {
            session.status.close();
            if !session.store_is_open {
                continue;
            }
            let closed = self.store.close(session.key);
            result = result.and(closed);
        }
        result
    }

    /// Notifies the application of something that happened to the session outside it. A failure costs the connection.
    pub fn notify(&mut self, now: Now, key: SessionKey, event: &Event<'_>, app: &mut dyn Application) {
        if let Some(mut tx) = self.transaction(now, key, app) {
            tx.notify(event);
        }
    }

    /// The open session with this identity.
    #[must_use]
    pub fn find(&self, id: &SessionId) -> Option<SessionKey> {
        table::find_id(&self.table, id)
    }

    /// Every open session.
    pub fn keys(&self) -> impl Iterator<Item = SessionKey> + use<'_> {
        self.table.iter().flatten().map(|session| session.key)
    }

    /// The settings of a session.
    #[must_use]
    pub fn settings(&self, key: SessionKey) -> Option<&SessionSettings> {
        self.session(key).map(|session| &session.settings)
    }

    /// Where the session stands.
    #[must_use]
    pub fn phase(&self, key: SessionKey) -> Phase {
        self.session(key).map_or(Phase::Disconnected, |session| session.state.phase())
    }

    /// Why the session stands still until somebody ends that.
    #[must_use]
    pub fn halted(&self, key: SessionKey) -> Option<&Halt> {
        self.session(key)?.halted.as_ref()
    }

    /// The next number expected, and the next number to be used; `None` if the session is not open.
    #[must_use]
    pub fn numbers(&self, key: SessionKey) -> Option<(SeqNum, SeqNum)> {
        self.session(key).map(|session| (session.state.stored.next_in, session.state.stored.next_out))
    }

    /// What a transaction that is rolled back must leave as it was, as text: for tests. Whether the connection is to be closed
    /// because of it is left out.
    #[cfg(feature = "test-support")]
    #[must_use]
    pub fn snapshot(&self, key: SessionKey) -> String {
        let Some(Session { state, outbox, reorder, .. }) = self.session(key) else { return String::new() };
        let mut state = state.clone();
        if let Some(connection) = &mut state.connection {
            connection.end = None;
        }
        format!("{state:?}\n{:?}\n{reorder:?}", outbox.cursor)
    }

    /// What other threads see of the session; `None` if it is not open.
    #[must_use]
    pub fn status(&self, key: SessionKey) -> Option<Arc<StatusCell>> {
        self.session(key).map(|session| Arc::clone(&session.status))
    }

    /// Whether the session may have connections.
    #[must_use]
    pub fn is_enabled(&self, key: SessionKey) -> bool {
        self.session(key).is_some_and(|session| session.enabled)
    }

    /// Whether a transport connection may be given to the session now.
    #[must_use]
    pub fn can_connect(&self, key: SessionKey) -> bool {
        self.session(key).is_some_and(|session| {
            session.halted.is_none() && session.enabled && session.state.connection.is_none()
        })
    }

    pub(crate) fn session(&self, key: SessionKey) -> Option<&Session> {
        table::find(&self.table, key)
    }

    pub(crate) fn transaction<'a>(
        &'a mut self,
        now: Now,
        key: SessionKey,
        app: &'a mut dyn Application,
    ) -> Option<Transaction<'a>> {
        table::find(&self.table, key)?;
        Some(Transaction {
            now,
            own: key.index(),
            table: &mut self.table,
            validators: &self.validators,
            store: &mut *self.store,
            app,
            waker: &self.waker,
            wire: self.wire.as_deref(),
            turns: &mut self.turns,
            touched: &mut self.touched,
            lists: &mut self.lists,
            fields: &mut self.stored,
        })
    }
}

fn check_settings(settings: &SessionSettings, keeps_messages: bool) -> Result<(), OpenError> {
    let wrong = if settings.dictionary == SessionDictionary::Shipped {
        "the shipped dictionary is not in its place: an engine puts it there; without one, name a validator or none"
    } else if settings.outbox_size < OUTBOX_MIN {
        "the outbox needs at least 16 KiB"
    } else if settings.max_message_size < MAX_MESSAGE_SIZE_BEFORE_LOGON {
        "MaxMessageSize is at least 8192"
    } else if settings.test_request_percent < 100 {
        "the wait before a TestRequest is at least 100 percent of HeartBtInt"
    } else if settings.poison_attempts == 0 {
        "a message is offered to the application at least once"
    } else if settings.while_logged_off == WhileLoggedOff::Keep && !keeps_messages {
        "messages cannot be kept while logged off: the store keeps no messages"
    } else {
        return Ok(());
    };
    Err(OpenError::Setting(wrong))
}
