//! All sessions of one worker thread. Sans-IO: bytes, clocks and the end of a connection come in; bytes and the wish to close
//! a connection come out.

use core::fmt;
use std::borrow::Cow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use fixbolt_codec::{Envelope, Frame, Framed, Index, SeqNum};
use fixbolt_dictionary::Validator;

use crate::application::{Application, Resume};
use crate::carry_out;
use crate::clock;
use crate::end::{Halt, Misbehavior, SessionEnd};
use crate::error::SendError;
use crate::event::{Event, GarbledError};
use crate::id::SessionId;
use crate::key::SessionKey;
use crate::reading::{Incomplete, MAX_MESSAGE_SIZE_BEFORE_LOGON};
use crate::reorder::Kept;
use crate::replay;
use crate::sending::SendKind;
use crate::session::Session;
use crate::settings::{SessionSettings, WhileLoggedOff};
use crate::state::Phase;
use crate::store::{RecordKind, Recovered, Store, StoreError};
use crate::stored_message::FieldStorage;
use crate::table;
use crate::time::{Mono, Now};
use crate::transaction::{Stop, Transaction, data_fields, notify};
use crate::turn::Turn;
use crate::waker::{Unheard, WorkerWaker};
use crate::work_lists::WorkLists;

/// The sessions of one worker, on one store.
///
/// Order of calls for a connection: [`connected`](Self::connected); then [`receive`](Self::receive) for bytes that came,
/// [`drained`](Self::drained) once the transport has been read empty, [`wake`](Self::wake) at
/// [`next_deadline`](Self::next_deadline), [`writable`](Self::writable) and [`written`](Self::written) for bytes that go; when
/// [`wants_close`](Self::wants_close) says so and nothing is left to write, close the transport; and
/// [`disconnected`](Self::disconnected) at its end, whichever side ended it. A session without a connection has deadlines, too.
///
/// After each round of calls, for all sessions: [`next_ready`](Self::next_ready) and [`next_output`](Self::next_output) until
/// there is none, and [`store_advanced`](Self::store_advanced) when the store rings.
///
/// A key of a session that is not open here does nothing and returns what a closed session has.
pub struct Sessions {
    table: Vec<Option<Session>>,
    /// Of each session, beside the table: a message's index borrows the data fields while the sessions are at work.
    validators: Vec<Option<Arc<Validator>>>,
    store: Box<dyn Store>,
    waker: Arc<dyn WorkerWaker>,
    /// Storage for the index of an inbound message, and of a stored one.
    inbound: FieldStorage,
    stored: FieldStorage,
    /// Where a message that was kept until its turn is copied to be read.
    kept: Kept,
    turns: u64,
    touched: Vec<usize>,
    lists: WorkLists,
    worker: u16,
    /// How many sessions were opened: the next one's serial number.
    opened: u32,
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
        let parts = [id.begin_string(), id.sender_comp_id(), id.target_comp_id()].map(str::as_bytes);
        let envelope = Envelope::new(parts[0], parts[1], parts[2])
            .ok_or(OpenError::Setting("BeginString has more than 12 bytes, or a CompID more than 64"))?;
        self.inbound.grow(settings.max_message_size / 4);
        self.stored.grow(settings.max_message_size / 4);
        let free = self.table.iter().position(Option::is_none).unwrap_or(self.table.len());
        let index = u32::try_from(free).map_err(|_| OpenError::Setting("too many sessions"))?;
        let key = SessionKey::new(self.worker, index, self.opened);
        let recovered = self.store.open(key, id).map_err(OpenError::Store)?;
        self.opened = self.opened.wrapping_add(1);
        let validator = settings.validator.clone();
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
    fn begin_work(&mut self, now: Now, key: SessionKey, recovered: &Recovered, app: &mut dyn Application) {
        let Some(session) = table::find_mut(&mut self.table, key) else { return };
        if let Some(given_up) = recovered.given_up.clone() {
            let event = Event::NumbersGivenUp { begin: *given_up.start(), end: *given_up.end() };
            notify(app, session, &event);
        }
        self.show_store(now, key, app);
        self.close_halted_store(key);
    }

    /// Shows an application what the session's store holds; [`Sessions::open`] does so by itself. One that panics at it does
    /// not know where it stands: the session is halted.
    pub fn show_store(&mut self, now: Now, key: SessionKey, app: &mut dyn Application) {
        let Some(session) = table::find_mut(&mut self.table, key) else { return };
        if !session.store_is_open {
            return;
        }
        let stored = session.state.stored;
        let store = &mut *self.store;
        let mut resume = Resume { store, key, next_in: stored.next_in, next_out: stored.next_out };
        let shown = catch_unwind(AssertUnwindSafe(|| app.on_resume(key, &mut resume)));
        if shown.is_err() && session.halted.is_none() {
            session.halt(now.mono, Halt::ApplicationPanicked { callback: "on_resume" });
        }
    }

    /// A store that is damaged or has failed is closed, so that it can be repaired while the other sessions go on.
    fn close_halted_store(&mut self, key: SessionKey) {
        let Some(session) = table::find_mut(&mut self.table, key) else { return };
        let by_store = matches!(session.halted, Some(Halt::StoreDamaged { .. } | Halt::StoreFailed(_)));
        if by_store && session.store_is_open && session.state.connection.is_none() {
            session.store_is_open = false;
            // It says on opening what it holds; there is nobody to hear of a second failure.
            let _ = self.store.close(key);
        }
    }

    /// Ends a halt without a restart: the store of the session is opened again, because it can take records again or was
    /// repaired, and the application is shown what it holds. A poison message is not ended by this, but by [`Sessions::skip`]
    /// or [`Sessions::retry`].
    ///
    /// # Errors
    /// [`OpenError`]; the session stands still as before.
    pub fn resume(&mut self, now: Now, key: SessionKey, app: &mut dyn Application) -> Result<(), OpenError> {
        let session = table::find_mut(&mut self.table, key).ok_or(OpenError::NotOpen)?;
        match &session.halted {
            None => return Ok(()),
            Some(halt @ Halt::PoisonMessage { .. }) => return Err(OpenError::Halted(halt.clone())),
            Some(_) if session.state.connection.is_some() => return Err(OpenError::Connected),
            Some(_) => {}
        }
        if session.store_is_open {
            session.store_is_open = false;
            // What it says is said again when it is opened.
            let _ = self.store.close(key);
        }
        let recovered = self.store.open(key, &session.settings.id).map_err(OpenError::Store)?;
        session.store_is_open = true;
        let (known, found) = (session.state.stored, (recovered.generation, recovered.next_out));
        let less = found < (known.generation, known.next_out);
        let damage = recovered.damage.clone().or_else(|| {
            less.then(|| format!("NextNumOut is {}, but {} was used", found.1, known.next_out.previous()))
        });
        if let Some(reason) = damage {
            let halt = Halt::StoreDamaged { reason };
            session.retry = None;
            session.halted = Some(halt.clone());
            self.close_halted_store(key);
            return Err(OpenError::Halted(halt));
        }
        session.retry = None;
        session.recover(&recovered);
        notify(app, session, &Event::Resumed);
        self.begin_work(now, key, &recovered, app);
        Ok(())
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
        for session in self.table.iter().flatten().filter(|session| session.store_is_open) {
            let closed = self.store.close(session.key);
            result = result.and(closed);
        }
        result
    }

    /// Notifies the application of something that happened to the session outside it. A panic costs the connection.
    pub fn notify(&mut self, key: SessionKey, event: &Event<'_>, app: &mut dyn Application) {
        if let Some(session) = table::find_mut(&mut self.table, key) {
            notify(app, session, event);
        }
    }

    /// The open session with this identity.
    #[must_use]
    pub fn find(&self, id: &SessionId) -> Option<SessionKey> {
        self.table.iter().flatten().find(|session| session.settings.id == *id).map(|session| session.key)
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

    /// Whether a transport connection may be given to the session now.
    #[must_use]
    pub fn can_connect(&self, key: SessionKey) -> bool {
        self.session(key)
            .is_some_and(|session| session.halted.is_none() && session.state.connection.is_none())
    }

    /// A transport connection of the session is there. An initiator logs on; an acceptor waits for the Logon.
    pub fn connected(&mut self, now: Now, key: SessionKey, app: &mut dyn Application) {
        if !self.can_connect(key) {
            return;
        }
        let Some(mut tx) = self.transaction(now, key, app) else { return };
        tx.session_mut().connect(now);
        if !tx.session().is_acceptor() {
            // A failure halts the session, which the caller sees.
            let _ = tx.run(write_first_logon);
        }
    }

    /// Processes bytes of the counterparty, from the first that was not yet consumed. Returns the number of bytes consumed.
    /// Unconsumed bytes are passed in again on the next call, together with any that have arrived since.
    pub fn receive(&mut self, now: Now, key: SessionKey, bytes: &[u8], app: &mut dyn Application) -> usize {
        let consumed = self.read(now, key, bytes, app);
        match self.session(key) {
            Some(session) if session.state.is_open() => {}
            _ => return bytes.len(),
        }
        // What the counterparty asked for goes on, also while nothing is read. A step that stops says so in the session.
        if let Some(mut tx) = self.transaction(now, key, app) {
            let _ = replay::pump(&mut tx);
        }
        consumed
    }

    /// Processes messages until there is none, or the session ends or waits. Returns the number of bytes consumed.
    fn read(&mut self, now: Now, key: SessionKey, bytes: &[u8], app: &mut dyn Application) -> usize {
        let Some(session) = table::find_mut(&mut self.table, key) else { return bytes.len() };
        session.reading.blocked = None;
        let mut at = 0;
        loop {
            // A step that stops says so in the session: it is closing, or waits.
            let _ = self.process_kept(now, key, app);
            let Some(session) = table::find_mut(&mut self.table, key) else { return bytes.len() };
            if !session.state.is_open() || session.reading.blocked.is_some() {
                return at;
            }
            if session.is_full() {
                session.block(now, crate::reading::BlockedBy::Outbox);
                return at;
            }
            match session.reading.framer.next(&bytes[at..]) {
                Frame::Message(framed) => {
                    session.reading.incomplete = None;
                    let next_in = session.state.stored.next_in;
                    let _ = self.message(now, key, framed, false, app);
                    let Some(session) = table::find_mut(&mut self.table, key) else { return bytes.len() };
                    // One that was taken is not shown again, also when what follows from it has to wait.
                    let taken = session.reading.blocked.is_none() || session.state.stored.next_in > next_in;
                    session.reading.offered = !taken;
                    if taken {
                        at += framed.bytes().len();
                    }
                }
                Frame::Garbled { bytes: dropped, error } => {
                    session.reading.incomplete = None;
                    at += dropped.len();
                    let error = error.map_or(GarbledError::Continued, GarbledError::Frame);
                    self.garbled(key, dropped, error, app);
                }
                Frame::Incomplete { .. } => {
                    let left = bytes.len() - at;
                    let reading = &mut session.reading;
                    if left == 0 {
                        reading.incomplete = None;
                    } else if reading.incomplete.is_none_or(|known| known.bytes != left) {
                        reading.incomplete = Some(Incomplete { since: now.mono, bytes: left });
                    }
                    return at;
                }
            }
        }
    }

    /// The transport has been read empty: what comes from now on has just arrived. Needed after the session was
    /// [blocked](Sessions::is_blocked): until then its counterparty's messages may be as old as the wait.
    pub fn drained(&mut self, now: Now, key: SessionKey) {
        if let Some(session) = table::find_mut(&mut self.table, key) {
            session.drained(now.mono);
        }
    }

    /// Does what is due: [`Sessions::next_deadline`] has come, the application can take a message that it put off, or there
    /// is room for what waited. `buffered` are the bytes that were not consumed yet; returns the number of bytes consumed now.
    ///
    /// Needs no connection: a session without one passes in no bytes.
    pub fn wake(&mut self, now: Now, key: SessionKey, buffered: &[u8], app: &mut dyn Application) -> usize {
        let Some(session) = table::find_mut(&mut self.table, key) else { return buffered.len() };
        if session.state.connection.is_none() {
            self.retry_store(now, key, app);
            return buffered.len();
        }
        if !session.state.is_open() {
            return buffered.len();
        }
        if let Some(mut tx) = self.transaction(now, key, app) {
            let _ = clock::timers(&mut tx);
        }
        let Some(session) = table::find_mut(&mut self.table, key) else { return buffered.len() };
        let Some(connection) = &session.state.connection else { return buffered.len() };
        let patience = session.patience_inside_a_message(connection);
        if session.reading.incomplete.is_some_and(|known| now.mono - known.since >= patience) {
            let reading = &mut session.reading;
            reading.incomplete = None;
            // More may have come that nobody has read yet.
            let still = matches!(reading.framer.clone().next(buffered), Frame::Incomplete { .. });
            if still
                && !buffered.is_empty()
                && let Frame::Garbled { bytes, error } = reading.framer.give_up(buffered)
            {
                let dropped = bytes.len();
                let error = error.map_or(GarbledError::Continued, GarbledError::Frame);
                self.garbled(key, bytes, error, app);
                return dropped + self.receive(now, key, &buffered[dropped..], app);
            }
        }
        self.receive(now, key, buffered, app)
    }

    /// Tries a store that failed again, if it is time.
    fn retry_store(&mut self, now: Now, key: SessionKey, app: &mut dyn Application) {
        let Some(session) = table::find_mut(&mut self.table, key) else { return };
        let Some(retry) = session.retry.filter(|retry| retry.at <= now.mono) else { return };
        if self.resume(now, key, app).is_err()
            && let Some(session) = table::find_mut(&mut self.table, key)
            && matches!(session.halted, Some(Halt::StoreFailed(_)))
        {
            session.retry = Some(retry.again(now.mono));
        }
    }

    /// When [`Sessions::wake`] is to be called; `None` if only bytes change anything.
    #[must_use]
    pub fn next_deadline(&self, key: SessionKey) -> Option<Mono> {
        self.session(key)?.next_deadline()
    }

    /// Whether the session has more to write than fits now: call [`Sessions::wake`] again once the socket has taken some.
    #[must_use]
    pub fn is_replaying(&self, key: SessionKey) -> bool {
        self.session(key).is_some_and(|session| session.state.is_open() && session.state.replay().is_some())
    }

    /// Whether the session reads nothing for now: the application said "not now", or an outbox is full. Call
    /// [`Sessions::wake`] again once the socket has taken some.
    #[must_use]
    pub fn is_blocked(&self, key: SessionKey) -> bool {
        self.session(key).is_some_and(|session| session.reading.blocked.is_some())
    }

    /// Bytes for the socket, released by the store.
    #[must_use]
    pub fn writable(&self, key: SessionKey) -> &[u8] {
        self.session(key).map_or(&[], |session| session.outbox.writable())
    }

    /// Whether bytes are queued, released or not.
    #[must_use]
    pub fn has_queued(&self, key: SessionKey) -> bool {
        self.session(key).is_some_and(|session| !session.outbox.is_empty())
    }

    /// A session that may have something to write since it was last named here: it or another session wrote to it, the store
    /// released something, or [`Sessions::note_output`] named it. Call until there is none, after each round of other calls.
    pub fn next_output(&mut self) -> Option<SessionKey> {
        let session = self.table[self.lists.next_output()?].as_mut()?;
        session.has_output = false;
        Some(session.key)
    }

    /// How many sessions [`Sessions::next_output`] would name now. One that writes all of them once and then waits for its
    /// sockets ends, however much the sessions write meanwhile.
    #[must_use]
    pub fn outputs(&self) -> usize {
        self.lists.outputs()
    }

    /// Has [`Sessions::next_output`] name the session again: its socket can take bytes, or it is to be closed.
    pub fn note_output(&mut self, key: SessionKey) {
        if let Some(session) = table::find_mut(&mut self.table, key) {
            self.lists.note_output(key.index(), session);
        }
    }

    /// A session that waited for another one's outbox and can go on: call [`Sessions::wake`]. Call until there is none.
    pub fn next_ready(&mut self) -> Option<SessionKey> {
        let place = self.lists.next_ready()?;
        Some(self.table[place].as_ref()?.key)
    }

    /// The socket took `bytes` bytes.
    pub fn written(&mut self, now: Now, key: SessionKey, bytes: usize) {
        if bytes > 0
            && let Some(session) = table::find_mut(&mut self.table, key)
        {
            session.outbox.written(bytes);
            session.wrote(now.mono);
            self.lists.room_made();
        }
    }

    /// The store may have become durable further, or has failed: releases what waited, and halts sessions.
    pub fn store_advanced(&mut self, now: Now, app: &mut dyn Application) {
        let durable = self.store.durable();
        let mut waiting = self.lists.take_awaiting_store();
        waiting.retain(|place| {
            let Some(session) = self.table[*place].as_mut() else { return false };
            session.outbox.advance(durable);
            session.awaits_store = session.outbox.waits_for_store();
            if !session.outbox.writable().is_empty() {
                self.lists.note_output(*place, session);
            }
            session.awaits_store
        });
        self.lists.put_awaiting_store(waiting);
        while let Some((key, error)) = self.store.take_failure() {
            let Some(session) = table::find_mut(&mut self.table, key) else { continue };
            session.halt(now.mono, Halt::StoreFailed(error));
            session.outbox.clear();
            notify(app, session, &Event::Note("the store failed: the session is halted"));
            self.lists.note_output(key.index(), session);
            self.close_halted_store(key);
        }
    }

    /// Whether the transport is to be closed, once nothing is left to write.
    #[must_use]
    pub fn wants_close(&self, key: SessionKey) -> bool {
        self.session(key)
            .and_then(|session| session.state.connection.as_ref())
            .is_some_and(|connection| connection.end.is_some())
    }

    /// The transport connection is gone.
    pub fn disconnected(&mut self, now: Now, key: SessionKey, app: &mut dyn Application) {
        let Some(mut tx) = self.transaction(now, key, app) else { return };
        let Some(connection) = tx.session_mut().disconnect() else { return };
        let end = connection.end.unwrap_or(match connection.logon.phase {
            Phase::LogoutAnswered => SessionEnd::LoggedOutByPeer,
            _ => SessionEnd::ConnectionLost,
        });
        // What fails here halts the session.
        if tx.session().settings.reset_on_disconnect
            && tx.session().halted.is_none()
            && tx.run(|tx| tx.reset("ResetOnDisconnect")).is_ok()
        {
            tx.notify_numbers("ResetOnDisconnect");
        }
        tx.notify(&Event::Ended(&end));
        self.close_halted_store(key);
    }

    /// Logs out: sends a Logout with `text` (empty: none) and waits for the answer. The end is told as an event.
    ///
    /// # Errors
    /// [`SendError`] if nothing could be sent.
    pub fn log_out(
        &mut self,
        now: Now,
        key: SessionKey,
        text: &str,
        app: &mut dyn Application,
    ) -> Result<(), SendError> {
        let Some(mut tx) = self.transaction(now, key, app) else { return Err(SendError::Unavailable) };
        match tx.session().state.phase() {
            Phase::LoggedOn => {}
            Phase::Disconnected => return Err(SendError::NotLoggedOn),
            // Nothing was agreed yet, or the end is under way.
            Phase::AwaitingLogon | Phase::LogonSent => {
                tx.close(SessionEnd::LoggedOutByUs);
                return Ok(());
            }
            Phase::LogoutSent | Phase::LogoutAnswered => return Ok(()),
        }
        tx.begin();
        match carry_out::send_logout(&mut tx, Cow::Borrowed(text), None, None) {
            Ok(()) => {
                // What fails here halts the session, which the caller sees.
                let _ = tx.commit();
                Ok(())
            }
            Err(error) => {
                tx.abandon(error.clone());
                Err(error)
            }
        }
    }

    /// A turn that no inbound message caused: everything that `act` writes, in any session of this worker, is committed
    /// together, or nothing if it fails.
    ///
    /// # Errors
    /// What `act` returns, or the store's refusal. A panic in it is an error too, and ends the session's connection.
    pub fn act<R>(
        &mut self,
        now: Now,
        key: SessionKey,
        app: &mut dyn Application,
        act: impl FnOnce(&mut Turn<'_>) -> Result<R, SendError>,
    ) -> Result<R, SendError> {
        let Some(mut tx) = self.transaction(now, key, app) else { return Err(SendError::Unavailable) };
        tx.begin();
        let result = {
            let (_, mut turn) = tx.turn(None, None, false);
            catch_unwind(AssertUnwindSafe(|| act(&mut turn)))
        };
        match result {
            Ok(Ok(value)) => tx.commit().map(|()| value).map_err(|Stop| SendError::Unavailable),
            // A store that refused has halted its session by this.
            Ok(Err(error)) => {
                tx.rollback();
                Err(error)
            }
            Err(_) => {
                tx.rollback();
                tx.close(SessionEnd::ApplicationPanicked { callback: "act" });
                Err(SendError::Application("panic"))
            }
        }
    }

    /// Gives up the message on which the application fails: the counterparty's next one is expected.
    ///
    /// # Errors
    /// [`SendError::Unavailable`] if no message is poison here, else the store's refusal.
    pub fn skip(&mut self, now: Now, key: SessionKey, app: &mut dyn Application) -> Result<(), SendError> {
        self.end_poison(now, key, app, true)
    }

    /// Offers the message on which the application failed again, as often as at first.
    ///
    /// # Errors
    /// As [`Sessions::skip`].
    pub fn retry(&mut self, now: Now, key: SessionKey, app: &mut dyn Application) -> Result<(), SendError> {
        self.end_poison(now, key, app, false)
    }

    /// Sets the next numbers on an operator's order; `None` leaves one as it is. Recorded in the store with the reason.
    ///
    /// # Errors
    /// [`SendError::Application`] if NextNumOut would go down: a number is never used again with another body.
    /// [`SendError::Unavailable`] if the session's store is closed. Else the store's refusal.
    pub fn set_numbers(
        &mut self,
        now: Now,
        key: SessionKey,
        numbers: (Option<SeqNum>, Option<SeqNum>),
        why: &str,
        app: &mut dyn Application,
    ) -> Result<(), SendError> {
        let (next_in, next_out) = self.numbers(key).ok_or(SendError::Unavailable)?;
        let (new_in, new_out) = (numbers.0.unwrap_or(next_in), numbers.1.unwrap_or(next_out));
        if new_out < next_out {
            return Err(SendError::Application("NextNumOut never goes down: reset the session instead"));
        }
        self.change(now, key, why, app, |session| {
            let stored = &mut session.state.stored;
            (stored.next_in, stored.next_out, stored.attempts) = (new_in, new_out, 0);
            if let Some(connection) = &mut session.state.connection {
                connection.logon.gap = None;
            }
        })?;
        let event = Event::SequenceChanged { next_in: new_in, next_out: new_out, reason: why };
        self.notify(key, &event, app);
        Ok(())
    }

    fn end_poison(
        &mut self,
        now: Now,
        key: SessionKey,
        app: &mut dyn Application,
        skip: bool,
    ) -> Result<(), SendError> {
        let Some(Halt::PoisonMessage { seq, .. }) = self.halted(key).cloned() else {
            return Err(SendError::Unavailable);
        };
        let why = if skip { "poison message skipped" } else { "poison message to be tried again" };
        self.change(now, key, why, app, |session| {
            let stored = &mut session.state.stored;
            stored.attempts = 0;
            if skip {
                stored.next_in = seq.next();
            }
        })?;
        if let Some(session) = table::find_mut(&mut self.table, key) {
            session.halted = None;
        }
        Ok(())
    }

    /// Changes numbers without a message, in a transaction of its own.
    fn change(
        &mut self,
        now: Now,
        key: SessionKey,
        why: &str,
        app: &mut dyn Application,
        change: impl FnOnce(&mut Session),
    ) -> Result<(), SendError> {
        let Some(mut tx) = self.transaction(now, key, app) else { return Err(SendError::Unavailable) };
        if !tx.session().store_is_open {
            return Err(SendError::Unavailable);
        }
        tx.begin();
        change(tx.session_mut());
        if let Err(error) = tx.record_change(RecordKind::Adjust, why) {
            tx.rollback();
            return Err(error);
        }
        tx.commit().map_err(|Stop| SendError::Unavailable)
    }

    fn session(&self, key: SessionKey) -> Option<&Session> {
        table::find(&self.table, key)
    }

    fn transaction<'a>(
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
            turns: &mut self.turns,
            touched: &mut self.touched,
            lists: &mut self.lists,
            fields: &mut self.stored,
        })
    }

    /// One framed message: index, then the session's checks.
    fn message(
        &mut self,
        now: Now,
        key: SessionKey,
        framed: Framed<'_>,
        kept: bool,
        app: &mut dyn Application,
    ) -> Result<(), Stop> {
        let Self { table, validators, store, waker, inbound, stored, turns, touched, lists, .. } = self;
        let data_fields = data_fields(validators[key.index()].as_deref());
        let mut index = Index::new(&mut inbound.tags, &mut inbound.spans).with_data_fields(data_fields);
        match index.build(framed) {
            Ok(message) => {
                let mut tx = Transaction {
                    now,
                    own: key.index(),
                    table,
                    validators,
                    store: &mut **store,
                    app,
                    waker,
                    turns,
                    touched,
                    lists,
                    fields: stored,
                };
                carry_out::receive(&mut tx, framed, message, kept)
            }
            Err(error) => {
                self.garbled(key, framed.bytes(), GarbledError::Index(error), app);
                Ok(())
            }
        }
    }

    fn garbled(&mut self, key: SessionKey, bytes: &[u8], error: GarbledError, app: &mut dyn Application) {
        let Some(session) = table::find_mut(&mut self.table, key) else { return };
        notify(app, session, &Event::Garbled { bytes, error });
        if session.state.phase() == Phase::AwaitingLogon {
            session.close(SessionEnd::PeerMisbehaved(Misbehavior::InvalidLogon));
        }
    }

    /// Processes messages that were kept until their turn.
    fn process_kept(&mut self, now: Now, key: SessionKey, app: &mut dyn Application) -> Result<(), Stop> {
        loop {
            let Self { table, kept, .. } = self;
            let Some(session) = table::find_mut(table, key) else { return Err(Stop) };
            let (due, epoch) = (session.state.stored.next_in, session.state.epoch());
            if !session.state.is_open() || !session.reorder.copy(epoch, due, kept) {
                return Ok(());
            }
            let message = core::mem::take(kept);
            let result = match message.framed() {
                Some(framed) => self.message(now, key, framed, true, app),
                None => Ok(()),
            };
            self.kept = message;
            result?;
            if self.session(key).is_none_or(|session| session.state.stored.next_in == due) {
                return Ok(());
            }
        }
    }
}

/// Logs on as initiator: with new numbers if the session wants that at each logon.
fn write_first_logon(tx: &mut Transaction<'_>) -> Result<(), SendError> {
    let reset = tx.session().settings.reset_on_logon;
    let heart_bt_int = tx.session().settings.heart_bt_int;
    if reset {
        tx.reset("ResetOnLogon")?;
        if let Some(connection) = tx.connection_mut() {
            connection.reset_asked = true;
        }
    }
    let logon = crate::admin_message::AdminMessage::Logon { heart_bt_int, reset };
    tx.send(SendKind::New { cause: None }, None, &logon).map(drop)
}

fn check_settings(settings: &SessionSettings, keeps_messages: bool) -> Result<(), OpenError> {
    let wrong = if settings.outbox_size < OUTBOX_MIN {
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
