//! The sessions of one worker, driven by a test.

use core::time::Duration;
use std::collections::BTreeMap;
use std::sync::Arc;

use fixbolt_codec::{BodySink, Key, MsgType, NewBody, SeqNum};
use fixbolt_journal::MemoryStore;
use fixbolt_session::runtime::mono;
use fixbolt_session::store::{Store, StoreError};
use fixbolt_session::{
    Accepted, Application, BeforeSend, ChangeError, Event, Halt, MAX_MESSAGE_SIZE_BEFORE_LOGON, MatrixState,
    Mono, Next, Now, OpenError, Phase, Read, SendError, SessionEnd, SessionId, SessionKey, SessionSettings,
    Sessions, Socket, Turn, Utc, WireObserver, WorkerWaker,
};

use super::desk::Desk;
use super::text::{kinds, message, messages};
use super::told::Told;

/// When a test begins that names no other time: 2026-01-05 09:00:00 UTC.
pub const BEGIN: Now = Now { mono: mono(1_000_000_000), utc: Utc(1_767_603_600_000_000_000) };
/// The size of messages for which there is room from the beginning, if a session accepts such
/// messages. One that accepts larger ones makes room for them.
const ROOM: usize = 64 * 1024;

/// The sessions of one worker with their application, and a clock that moves only if it is told to.
///
/// A session is identified by its index: 0 is the one that was opened first. The calls are those of
/// the core, at the time of the clock: [`connect`](Self::connect), [`receive`](Self::receive),
/// [`wake`](Self::wake), [`writable`](Self::writable), [`wrote`](Self::wrote) and
/// [`disconnect`](Self::disconnect) are one call each, after which the sessions are polled.
/// [`say`](Self::say), [`hear`](Self::hear) and [`take`](Self::take) go on until the session is
/// quiet, as an engine does.
pub struct Side<A = Desk> {
    /// The time of the next call.
    pub now: Now,
    /// The application.
    pub app: A,
    /// How connections ended, as the application was told.
    pub ends: Vec<SessionEnd>,
    sessions: Sessions,
    keys: Vec<SessionKey>,
    ids: Vec<SessionId>,
    /// What each session asks for.
    nexts: BTreeMap<SessionKey, Next>,
    /// The sessions that have asked for something since the test last looked.
    polled: Vec<SessionKey>,
}

impl Side {
    /// Opens these sessions with a [`Desk`], on a store in memory.
    ///
    /// # Panics
    /// Panics if a session cannot be opened.
    #[must_use]
    pub fn new(all: Vec<SessionSettings>) -> Self {
        Self::with_app(Desk::default(), all)
    }

    /// Opens these sessions with a [`Desk`], on this store.
    ///
    /// # Panics
    /// Panics if a session cannot be opened.
    #[must_use]
    pub fn on_store(store: Box<dyn Store>, all: Vec<SessionSettings>) -> Self {
        Self::begin(BEGIN, Desk::default(), store, all)
    }
}

/// Opening and closing.
impl<A: Application> Side<A> {
    /// Opens these sessions with this application, on a store in memory.
    ///
    /// # Panics
    /// Panics if a session cannot be opened.
    #[must_use]
    pub fn with_app(app: A, all: Vec<SessionSettings>) -> Self {
        Self::begin(BEGIN, app, Box::new(MemoryStore::new()), all)
    }

    /// Opens these sessions at this time, with this application and on this store. From then on the
    /// process does not print panics with the text `application bug`.
    ///
    /// # Panics
    /// Panics if a session cannot be opened.
    #[must_use]
    pub fn begin(now: Now, app: A, store: Box<dyn Store>, all: Vec<SessionSettings>) -> Self {
        std::panic::set_hook(Box::new(|info| {
            if info.payload().downcast_ref::<&str>() != Some(&"application bug") {
                eprintln!("{info}");
            }
        }));
        let largest = all.iter().map(|settings| settings.limits.max_message_size).max();
        let room = largest.unwrap_or(MAX_MESSAGE_SIZE_BEFORE_LOGON).min(ROOM);
        let sessions = Sessions::new(store, room);
        let mut side = Self {
            now,
            app,
            ends: Vec::new(),
            sessions,
            keys: Vec::new(),
            ids: Vec::new(),
            nexts: BTreeMap::new(),
            polled: Vec::new(),
        };
        for settings in all {
            side.open(settings).unwrap();
        }
        side
    }

    /// Opens another session.
    ///
    /// # Errors
    /// Returns an [`OpenError`].
    pub fn open(&mut self, settings: SessionSettings) -> Result<SessionKey, OpenError> {
        let id = settings.id.clone();
        let key = self.call(|sessions, now, app| sessions.open(now, settings, app))?;
        self.keys.push(key);
        self.ids.push(id);
        Ok(key)
    }

    /// Closes session `n`. Its index is not used again.
    ///
    /// # Errors
    /// Returns an [`OpenError`].
    pub fn close(&mut self, n: usize) -> Result<(), OpenError> {
        self.nexts.remove(&self.keys[n]);
        self.sessions.close(self.keys[n])
    }

    /// Closes every session and its store cleanly. Returns the application.
    ///
    /// # Errors
    /// Returns the first error of a store.
    pub fn close_all(self) -> Result<A, StoreError> {
        self.sessions.close_all().map(|()| self.app)
    }

    /// Makes these the sessions of worker `number`, before the first is opened.
    #[must_use]
    pub fn on_worker(self, number: u16, waker: Arc<dyn WorkerWaker>) -> Self {
        assert!(self.keys.is_empty(), "the keys of open sessions have another worker");
        Self { sessions: self.sessions.on_worker(number, waker), ..self }
    }

    /// Shows every message to `observer`.
    #[must_use]
    pub fn observed_by(self, observer: Arc<dyn WireObserver>) -> Self {
        Self { sessions: self.sessions.observed_by(observer), ..self }
    }

    /// Shows every new message to `hook`, before it is sent.
    #[must_use]
    pub fn before_send(self, hook: impl BeforeSend + 'static) -> Self {
        Self { sessions: self.sessions.before_send(Arc::new(hook)), ..self }
    }

    /// Has sessions warmed up when a connection begins, and then at this interval.
    #[must_use]
    pub fn warmed_up(self, every: Option<Duration>) -> Self {
        Self { sessions: self.sessions.warmed_up(every), ..self }
    }

    /// Has at most this many bytes of messages wait for a throttle.
    ///
    /// # Panics
    /// Panics if a session is open.
    #[must_use]
    pub fn with_outbound_queue(self, bytes: usize) -> Self {
        assert!(self.keys.is_empty(), "the sessions are open");
        Self { sessions: self.sessions.with_outbound_queue(bytes), ..self }
    }

    /// Hands the sessions to another application.
    #[must_use]
    pub fn handed_to<B: Application>(self, app: B) -> Side<B> {
        let Self { now, ends, sessions, keys, ids, nexts, polled, .. } = self;
        Side { now, app, ends, sessions, keys, ids, nexts, polled }
    }

    /// Logs on the counterparty of every session with MsgSeqNum 1.
    ///
    /// # Panics
    /// Panics if a session does not answer with a Logon.
    #[must_use]
    pub fn logged_on(mut self) -> Self {
        for n in 0..self.keys.len() {
            let answer = self.log_on(n, 1, "");
            assert_eq!(kinds(&answer), "A", "{answer:?}");
        }
        self
    }
}

/// The transport.
impl<A: Application> Side<A> {
    /// Begins a connection of session `n`. Returns whether it has begun.
    pub fn connect(&mut self, n: usize) -> bool {
        let key = self.keys[n];
        self.call(|sessions, now, app| sessions.connected(now, key, app))
    }

    /// Ends the connection of session `n`. Returns how it ended, if there was one.
    ///
    /// # Panics
    /// Panics if the application was told something else.
    pub fn disconnect(&mut self, n: usize) -> Option<SessionEnd> {
        let (key, before) = (self.keys[n], self.ends.len());
        let end = self.call(|sessions, now, app| sessions.disconnected(now, key, app));
        assert_eq!(end.as_ref(), self.ends[before..].last(), "the application was told something else");
        end
    }

    /// Passes received bytes to session `n`, once. Returns the number of bytes consumed.
    pub fn receive(&mut self, n: usize, bytes: &[u8]) -> usize {
        let key = self.keys[n];
        self.call(|sessions, now, app| sessions.receive(now, key, bytes, app))
    }

    /// Tells session `n` the time, with the bytes that were received and not consumed. Returns the
    /// number of bytes consumed.
    pub fn wake(&mut self, n: usize, buffered: &[u8]) -> usize {
        let key = self.keys[n];
        self.call(|sessions, now, app| sessions.wake(now, key, buffered, app))
    }

    /// Returns the bytes that session `n` has to send.
    #[must_use]
    pub fn writable(&self, n: usize) -> &[u8] {
        self.sessions.writable(self.keys[n]).bytes
    }

    /// Tells session `n` that the counterparty's socket has accepted this many bytes.
    pub fn wrote(&mut self, n: usize, bytes: usize, socket: Socket) {
        let key = self.keys[n];
        self.call(|sessions, now, _| sessions.wrote(now, key, bytes, socket));
    }

    /// Tells session `n` that the counterparty's socket has accepted this many bytes and no more.
    pub fn written(&mut self, n: usize, bytes: usize) {
        self.wrote(n, bytes, Socket::Full);
    }

    /// Takes what session `n` has to send, at most this many bytes.
    pub fn write(&mut self, n: usize, most: usize) -> Vec<u8> {
        let mut bytes = self.writable(n).to_vec();
        bytes.truncate(most);
        self.written(n, bytes.len());
        bytes
    }

    /// Tells the sessions that the store may have advanced or failed.
    pub fn store_advanced(&mut self) {
        self.call(|sessions, now, app| sessions.store_advanced(now, app));
    }

    /// Returns the sessions that have asked for something since the last time, in that order.
    pub fn polled(&mut self) -> Vec<SessionKey> {
        core::mem::take(&mut self.polled)
    }

    /// Returns what session `n` asks for.
    #[must_use]
    pub fn next(&self, n: usize) -> Next {
        self.nexts.get(&self.keys[n]).copied().unwrap_or_default()
    }

    /// Returns whether session `n` is sending messages again.
    #[must_use]
    pub fn is_replaying(&self, n: usize) -> bool {
        self.sessions.matrix_state(self.keys[n]) == Some(MatrixState::HandlingResendRequest)
    }
}

/// The counterparty.
impl<A: Application> Side<A> {
    /// Connects session `n` and logs on with MsgSeqNum `seq`. Returns the messages sent in answer.
    pub fn log_on(&mut self, n: usize, seq: u64, more: &str) -> Vec<String> {
        self.connect(n);
        self.say(n, &format!("35=A|34={seq}|98=0|108=30|{more}"))
    }

    /// Returns a message of session `n`'s counterparty as bytes. `fields` begin with MsgType (35);
    /// the CompIDs, SendingTime, BodyLength and CheckSum are added.
    ///
    /// # Panics
    /// Panics if `fields` has no `|`, or there is no session `n`.
    #[must_use]
    pub fn wire(&self, n: usize, fields: &str) -> Vec<u8> {
        let time = self.time();
        let (kind, rest) = fields.split_once('|').unwrap();
        let id = &self.ids[n];
        let (us, them) = (id.sender_comp_id(), id.target_comp_id());
        message(id.version().begin_string(), &format!("{kind}|49={them}|56={us}|52={time}|{rest}"))
    }

    /// Returns the time as a UTCTimestamp. The date is always the one on which the test began.
    #[must_use]
    pub fn time(&self) -> String {
        let seconds = self.now.utc.0 / 1_000_000_000 % 86_400;
        format!("20260105-{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60)
    }

    /// Passes a message of the counterparty to session `n`, see [`wire`](Self::wire). Returns the
    /// messages sent in answer.
    pub fn say(&mut self, n: usize, fields: &str) -> Vec<String> {
        let bytes = self.wire(n, fields);
        self.hear(n, &bytes);
        self.take(n)
    }

    /// Passes a message of the counterparty to session `n`, see [`wire`](Self::wire), and takes
    /// nothing that the session sends.
    ///
    /// # Panics
    /// Panics if the session does not read the whole message.
    pub fn tell(&mut self, n: usize, fields: &str) {
        let bytes = self.wire(n, fields);
        assert_eq!(self.hear(n, &bytes), bytes.len(), "{fields} is not read");
    }

    /// Passes received bytes to session `n`, in as many calls as it takes. Returns the number of
    /// bytes consumed.
    pub fn hear(&mut self, n: usize, bytes: &[u8]) -> usize {
        let mut consumed = self.receive(n, bytes);
        while self.next(n).read == Read::Again {
            consumed += self.receive(n, &bytes[consumed..]);
        }
        self.sessions.check();
        consumed
    }

    /// Takes what session `n` has to send, until there is no more and no replay is under way.
    /// Returns the messages.
    ///
    /// # Panics
    /// Panics if the session has written something that is not a message.
    pub fn take(&mut self, n: usize) -> Vec<String> {
        let mut list = Vec::new();
        loop {
            let bytes = self.write(n, usize::MAX);
            list.extend(messages(&bytes));
            if bytes.is_empty() && !self.is_replaying(n) {
                return list;
            }
            self.wake(n, &[]);
        }
    }

    /// Takes what session `n` has queued, and has it continue a replay once. Returns the messages.
    ///
    /// # Panics
    /// Panics if the session has written something that is not a message.
    pub fn step(&mut self, n: usize) -> Vec<String> {
        let bytes = self.write(n, usize::MAX);
        self.wake(n, &[]);
        messages(&bytes)
    }

    /// Moves the clock.
    pub fn pass(&mut self, time: Duration) {
        self.now = Now { mono: self.now.mono + time, utc: self.now.utc + time };
    }
}

/// The application and its operators.
impl<A: Application> Side<A> {
    /// Has the application of session `n` do something outside a callback.
    ///
    /// # Errors
    /// Returns the error of `act`, or that of the session.
    pub fn act<R>(
        &mut self,
        n: usize,
        act: impl FnOnce(&mut Turn<'_>) -> Result<R, SendError>,
    ) -> Result<R, SendError> {
        let key = self.keys[n];
        self.call(|sessions, now, app| sessions.act(now, key, app, act))
    }

    /// Sends a NewOrderSingle from the application of session `n`, with a Text (58) of `size`
    /// bytes.
    ///
    /// # Errors
    /// Returns a [`SendError`] if the session refuses it.
    pub fn send(&mut self, n: usize, id: &str, size: usize) -> Result<Accepted, SendError> {
        self.act(n, |turn| {
            let mut draft = turn.session().draft(MsgType::new(b"D"));
            draft.writer().bytes(Key::new(11), id.as_bytes()).bytes(Key::new(58), &vec![b'x'; size]);
            draft.send()
        })
    }

    /// Has the wall clock's time count for the schedule of session `n`.
    ///
    /// # Errors
    /// Returns the error of the session.
    pub fn confirm_clock(&mut self, n: usize, why: &str) -> Result<bool, ChangeError> {
        let key = self.keys[n];
        self.call(|sessions, now, app| sessions.confirm_clock(now, key, why, app))
    }

    /// Has session `n` tell of what waits for a throttle and ends with it.
    pub fn end_waiting(&mut self, n: usize) {
        let key = self.keys[n];
        self.call(|sessions, now, app| sessions.end_waiting(now, key, app));
    }

    /// Logs session `n` out.
    ///
    /// # Errors
    /// Returns a [`SendError`].
    pub fn log_out(&mut self, n: usize, text: &str) -> Result<(), SendError> {
        let key = self.keys[n];
        self.call(|sessions, now, app| sessions.log_out(now, key, text, app))
    }

    /// Disables or enables session `n`.
    ///
    /// # Errors
    /// Returns a [`ChangeError`].
    pub fn set_enabled(&mut self, n: usize, enabled: bool, why: &str) -> Result<(), ChangeError> {
        let key = self.keys[n];
        self.call(|sessions, now, app| sessions.set_enabled(now, key, enabled, why, app))
    }

    /// Sets the sequence numbers of session `n`: that expected next and that to be used next.
    ///
    /// # Errors
    /// Returns a [`ChangeError`].
    pub fn set_numbers(
        &mut self,
        n: usize,
        numbers: (Option<SeqNum>, Option<SeqNum>),
        why: &str,
    ) -> Result<(), ChangeError> {
        let key = self.keys[n];
        self.call(|sessions, now, app| sessions.set_numbers(now, key, numbers, why, app))
    }

    /// Resets the sequence numbers of session `n` while it is logged on.
    ///
    /// # Errors
    /// Returns a [`ChangeError`].
    pub fn reset_in_session(&mut self, n: usize, why: &str) -> Result<(), ChangeError> {
        let key = self.keys[n];
        self.call(|sessions, now, app| sessions.reset_in_session(now, key, why, app))
    }

    /// Sends a TestRequest from session `n`.
    ///
    /// # Errors
    /// Returns a [`SendError`].
    pub fn test_request(&mut self, n: usize) -> Result<(), SendError> {
        let key = self.keys[n];
        self.call(|sessions, now, app| sessions.test_request(now, key, app))
    }

    /// Skips the message on which the application of session `n` fails.
    ///
    /// # Errors
    /// Returns a [`ChangeError`].
    pub fn skip(&mut self, n: usize, why: &str) -> Result<(), ChangeError> {
        let key = self.keys[n];
        self.call(|sessions, now, app| sessions.skip(now, key, why, app))
    }

    /// Resumes session `n` after its store has failed.
    ///
    /// # Errors
    /// Returns an [`OpenError`].
    pub fn resume(&mut self, n: usize, why: &str) -> Result<(), OpenError> {
        let key = self.keys[n];
        self.call(|sessions, now, app| sessions.resume(now, key, why, app))
    }

    /// Shows the store of session `n` to the application.
    pub fn show_store(&mut self, n: usize) {
        let key = self.keys[n];
        self.call(|sessions, now, app| sessions.show_store(now, key, app));
    }

    /// Notifies the application of session `n` of something that happened outside the session.
    pub fn notify(&mut self, n: usize, event: &Event<'_>) {
        let key = self.keys[n];
        self.call(|sessions, now, app| sessions.notify(now, key, event, app));
    }

    /// Warms session `n` up. Returns whether it did.
    pub fn warm_up(&mut self, n: usize) -> bool {
        let key = self.keys[n];
        self.call(|sessions, now, app| sessions.warm_up(now, key, app))
    }

    /// Warms up the sessions for which it is time. Returns when the next one is due.
    pub fn warm_up_due(&mut self) -> Option<Mono> {
        self.call(|sessions, now, app| sessions.warm_up_due(now, app))
    }
}

/// What can be seen of the sessions.
impl<A: Application> Side<A> {
    /// Returns the key of session `n`.
    #[must_use]
    pub fn key(&self, n: usize) -> SessionKey {
        self.keys[n]
    }

    /// Returns the identity of session `n`.
    #[must_use]
    pub fn id(&self, n: usize) -> &SessionId {
        &self.ids[n]
    }

    /// Returns the next sequence number that session `n` expects and the next that it uses; `None`
    /// if it is not open.
    #[must_use]
    pub fn numbers(&self, n: usize) -> Option<(SeqNum, SeqNum)> {
        self.sessions.numbers(self.keys[n])
    }

    /// Returns the phase of session `n`.
    #[must_use]
    pub fn phase(&self, n: usize) -> Phase {
        self.sessions.phase(self.keys[n])
    }

    /// Returns why session `n` is halted, if it is.
    #[must_use]
    pub fn halted(&self, n: usize) -> Option<&Halt> {
        self.sessions.halted(self.keys[n])
    }

    /// Returns whether session `n` can have a connection now.
    #[must_use]
    pub fn can_connect(&self, n: usize) -> bool {
        self.sessions.can_connect(self.keys[n])
    }

    /// Returns the sessions, for questions that this harness does not ask itself.
    #[must_use]
    pub const fn sessions(&self) -> &Sessions {
        &self.sessions
    }

    /// Calls the sessions at the time of the clock, with the application.
    fn call<R>(&mut self, call: impl FnOnce(&mut Sessions, Now, &mut Told<'_, A>) -> R) -> R {
        let mut told = Told { app: &mut self.app, ends: &mut self.ends };
        let made = call(&mut self.sessions, self.now, &mut told);
        while let Some((key, next)) = self.sessions.poll() {
            self.nexts.insert(key, next);
            if !self.polled.contains(&key) {
                self.polled.push(key);
            }
        }
        made
    }
}
