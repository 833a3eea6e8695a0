//! One session and its application; the test is the counterparty.

use core::fmt;
use core::time::Duration;

use fixbolt_codec::{Precision, SeqNum, UtcTimestamp, Version, byte_sum};
use fixbolt_journal::MemoryStore;
use fixbolt_session::runtime::mono;
use fixbolt_session::store::Store;
use fixbolt_session::{
    Application, BeforeSend, Halt, MatrixState, Mono, Next, Now, OpenError, Phase, Read, SendError,
    SessionKey, SessionSettings, Sessions, Socket, Turn, Utc,
};

use super::sent::Sent;
use crate::error::EngineError;
use crate::preparation;
use crate::session_check;

/// The start of a test's clock: 2026-01-05 09:00:00 UTC.
const BEGIN: Now = Now { mono: mono(1_000_000_000), utc: Utc(1_767_603_600_000_000_000) };

/// A session and its application, in virtual time. The test writes the counterparty's messages.
///
/// Messages are text, with `|` for SOH, and begin with MsgType (35). The fields that a counterparty
/// adds by itself (BeginString, BodyLength, CompIDs, MsgSeqNum, SendingTime, CheckSum) are added. A
/// MsgSeqNum (34) in the text is kept.
pub struct TestSession<A> {
    now: Now,
    settings: SessionSettings,
    sessions: Sessions,
    key: SessionKey,
    /// What the session asks for.
    next: Next,
    app: A,
    /// The counterparty's next MsgSeqNum.
    next_in: SeqNum,
    /// Bytes received but not yet consumed.
    buffered: Vec<u8>,
}

impl<A: Application> TestSession<A> {
    /// Shows every message to `observer`, too.
    #[cfg(test)]
    pub(crate) fn observed_by(self, observer: std::sync::Arc<dyn fixbolt_session::WireObserver>) -> Self {
        Self { sessions: self.sessions.observed_by(observer), ..self }
    }

    /// Shows every new message to `hook`, before it is sent, as
    /// [`EngineBuilder::before_send`](crate::EngineBuilder::before_send) does.
    #[must_use]
    pub fn before_send(self, hook: impl BeforeSend + 'static) -> Self {
        Self { sessions: self.sessions.before_send(std::sync::Arc::new(hook)), ..self }
    }

    /// Opens the session on a store in memory. It has no connection yet.
    ///
    /// Messages are validated as in an engine: with the shipped dictionary of the version, unless
    /// the settings say otherwise.
    ///
    /// # Errors
    /// [`EngineError`] if a setting is invalid.
    pub fn new(settings: SessionSettings, app: A) -> Result<Self, EngineError> {
        Self::on_store(settings, Box::new(MemoryStore::new()), app)
    }

    /// Opens the session on `store`, for example a journal whose directory another `TestSession`
    /// has written.
    ///
    /// # Errors
    /// [`EngineError`] if a setting is invalid, or the store cannot be opened.
    pub fn on_store(
        mut settings: SessionSettings,
        store: Box<dyn Store>,
        mut app: A,
    ) -> Result<Self, EngineError> {
        session_check::prepare(&mut settings).map_err(|error| preparation::wrong(&settings.id, error))?;
        let mut sessions = Sessions::new(store, settings.limits.max_message_size);
        let key = sessions
            .open(BEGIN, settings.clone(), &mut app)
            .map_err(|error| EngineError::open(settings.id.clone(), error))?;
        let next_in = sessions.numbers(key).map_or(SeqNum::ONE, |(next_in, _)| next_in);
        let mut side = Self {
            now: BEGIN,
            settings,
            sessions,
            key,
            next: Next::default(),
            app,
            next_in,
            buffered: Vec::new(),
        };
        side.poll();
        Ok(side)
    }

    /// Connects the transport. Returns what the session sends: an initiator's Logon.
    pub fn connect(&mut self) -> Vec<Sent> {
        self.open_transport();
        self.take()
    }

    /// Connects, and logs the counterparty on, with new sequence numbers if the session is set to
    /// [`reset_on_logon`](fixbolt_session::ResetSettings::reset_on_logon), and over FIXT.1.1 with
    /// the session's own default version. Returns what the session sends, its Logon first.
    pub fn log_on(&mut self) -> Vec<Sent> {
        let mut sent = self.connect();
        let flag = if self.settings.reset.reset_on_logon { "141=Y|" } else { "" };
        let default = self.settings.default_appl_ver_id.and_then(Version::appl_ver_id);
        let default = default.map(|id| format!("1137={id}|")).unwrap_or_default();
        let heart_bt_int = self.settings.timing.heart_bt_int;
        sent.extend(self.receive(&format!("35=A|98=0|108={heart_bt_int}|{flag}{default}")));
        sent
    }

    /// Receives a message from the counterparty. Returns what the session sends in response.
    ///
    /// # Panics
    /// If `fields` does not begin with `35=`.
    pub fn receive(&mut self, fields: &str) -> Vec<Sent> {
        let message = self.message(fields);
        self.receive_bytes(&message)
    }

    /// Receives bytes, whole messages or not. Returns what the session sends in response.
    pub fn receive_bytes(&mut self, bytes: &[u8]) -> Vec<Sent> {
        self.hear(bytes);
        self.take()
    }

    /// Returns a message from the counterparty as bytes, with the next MsgSeqNum (34) unless
    /// `fields` has one.
    ///
    /// The sequence numbers of a Logon with ResetSeqNumFlag (141) Y begin at 1.
    ///
    /// # Panics
    /// If `fields` does not begin with `35=`.
    pub fn message(&mut self, fields: &str) -> Vec<u8> {
        assert!(fields.starts_with("35="), "a message begins with MsgType, as 35=D|11=ord1|: {fields}");
        let fields = fields.trim_end_matches('|');
        let (msg_type, rest) = fields.split_once('|').unwrap_or((fields, ""));
        let id = &self.settings.id;
        let (us, them) = (id.sender(), id.target());
        let mut head = format!("{msg_type}|49={}|56={}|", them.comp_id(), us.comp_id());
        let has = |tag: &str| rest.split('|').any(|field| field.starts_with(tag));
        for (tag, sub_id) in [
            ("50=", them.sub_id()),
            ("142=", them.location_id()),
            ("57=", us.sub_id()),
            ("143=", us.location_id()),
        ] {
            if let Some(sub_id) = sub_id.filter(|_| !has(tag)) {
                head += &format!("{tag}{sub_id}|");
            }
        }
        if msg_type == "35=A" && has("141=Y") {
            self.next_in = SeqNum::ONE;
        }
        if !has("34=") {
            head += &format!("34={}|", self.next_in);
            self.next_in = self.next_in.next();
        }
        if !has("52=") {
            let time = UtcTimestamp::from_unix_nanos(self.now.utc.0, Precision::Millis);
            head += &format!("52={time}|");
        }
        let end = if rest.is_empty() { "" } else { "|" };
        let body = format!("{head}{rest}{end}").replace('|', "\x01");
        let mut message =
            format!("8={}\x019={}\x01{body}", id.version().begin_string(), body.len()).into_bytes();
        let checksum = byte_sum(&message);
        message.extend_from_slice(format!("10={checksum:03}\x01").as_bytes());
        message
    }

    /// Lets the application write outside a callback for a message, as [`Engine`](crate::Engine)'s
    /// senders do. Returns what the session sends.
    ///
    /// # Errors
    /// The error that `act` returns, or the session's refusal; nothing is sent then.
    pub fn act(
        &mut self,
        act: impl FnOnce(&mut Turn<'_>) -> Result<(), SendError>,
    ) -> Result<Vec<Sent>, SendError> {
        let acted = self.sessions.act(self.now, self.key, &mut self.app, act);
        self.poll();
        acted.map(|()| self.take())
    }

    /// Advances the clock by `time`. Returns what the session sends.
    ///
    /// Everything that becomes due meanwhile happens at its time: heartbeats, TestRequests,
    /// timeouts, deferred messages.
    pub fn advance(&mut self, time: Duration) -> Vec<Sent> {
        let until = self.now.mono + time;
        let mut sent = Vec::new();
        // A session's deadlines are at least a millisecond apart.
        while let Some(due) = self.next.deadline.filter(|due| *due <= until) {
            let step = due.max(self.now.mono + Duration::from_millis(1)).min(until) - self.now.mono;
            self.pass(step);
            self.wake();
            sent.extend(self.take());
            if self.now.mono >= until {
                break;
            }
        }
        self.pass(until - self.now.mono);
        sent
    }

    /// Closes the transport, whichever side would have closed it.
    pub fn disconnect(&mut self) {
        self.buffered.clear();
        self.sessions.disconnected(self.now, self.key, &mut self.app);
        self.poll();
    }

    /// Simulates the end and restart of the process. Returns the old application.
    ///
    /// The session is closed and reopened on its store with another application, which is shown
    /// what the store holds; a store in memory keeps only the sequence numbers.
    ///
    /// # Errors
    /// [`OpenError`] if the store cannot be opened.
    pub fn restart(&mut self, app: A) -> Result<A, OpenError> {
        self.disconnect();
        self.sessions.close(self.key)?;
        let before = core::mem::replace(&mut self.app, app);
        self.key = self.sessions.open(self.now, self.settings.clone(), &mut self.app)?;
        self.poll();
        Ok(before)
    }

    /// Returns the application.
    pub const fn app(&mut self) -> &mut A {
        &mut self.app
    }

    /// Returns the time.
    #[must_use]
    pub const fn now(&self) -> Now {
        self.now
    }

    /// Returns the state of the session.
    #[must_use]
    pub fn phase(&self) -> Phase {
        self.sessions.phase(self.key)
    }

    /// Returns why the session is halted, until an operator ends that.
    #[must_use]
    pub fn halted(&self) -> Option<&Halt> {
        self.sessions.halted(self.key)
    }

    /// Returns the next sequence number expected, and the next one to be sent.
    #[must_use]
    pub fn numbers(&self) -> (SeqNum, SeqNum) {
        self.sessions.numbers(self.key).unwrap_or((SeqNum::ONE, SeqNum::ONE))
    }

    /// Returns whether the session wants its connection closed, which
    /// [`disconnect`](Self::disconnect) does.
    #[must_use]
    pub fn wants_close(&self) -> bool {
        self.next.close
    }

    /// Takes everything that the session has to send.
    pub(super) fn take_bytes(&mut self) -> Vec<u8> {
        let mut all = Vec::new();
        loop {
            let bytes = self.sessions.writable(self.key).bytes.to_vec();
            self.sessions.wrote(self.now, self.key, bytes.len(), Socket::Full);
            self.poll();
            let is_due = self.next.deadline.is_some_and(|at| at <= self.now.mono);
            let replays = self.sessions.matrix_state(self.key) == Some(MatrixState::HandlingResendRequest);
            if bytes.is_empty() && !(replays && is_due) {
                return all;
            }
            all.extend(bytes);
            if is_due {
                self.wake();
            }
        }
    }

    fn take(&mut self) -> Vec<Sent> {
        Sent::all(&self.take_bytes())
    }

    /// Receives bytes, without taking the session's output.
    pub(super) fn hear(&mut self, bytes: &[u8]) {
        self.buffered.extend_from_slice(bytes);
        loop {
            let consumed = self.sessions.receive(self.now, self.key, &self.buffered, &mut self.app);
            self.buffered.drain(..consumed);
            self.poll();
            if self.next.read != Read::Again {
                break;
            }
        }
    }

    pub(super) fn wake(&mut self) {
        let consumed = self.sessions.wake(self.now, self.key, &self.buffered, &mut self.app);
        self.buffered.drain(..consumed);
        self.poll();
    }

    /// Learns what the session asks for, after each call.
    fn poll(&mut self) {
        while let Some((_, next)) = self.sessions.poll() {
            self.next = next;
        }
    }

    pub(super) const fn next_deadline(&self) -> Option<Mono> {
        self.next.deadline
    }

    pub(super) fn pass(&mut self, time: Duration) {
        self.now = Now { mono: self.now.mono + time, utc: self.now.utc + time };
    }

    pub(super) fn open_transport(&mut self) {
        // The counterparty of a session that has begun again does so, too.
        if self.numbers().0 == SeqNum::ONE {
            self.next_in = SeqNum::ONE;
        }
        self.sessions.connected(self.now, self.key, &mut self.app);
        self.poll();
    }
}

impl<A> fmt::Debug for TestSession<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TestSession")
            .field("session", &format_args!("{}", self.settings.id))
            .field("phase", &self.sessions.phase(self.key))
            .field("numbers", &self.sessions.numbers(self.key))
            .finish_non_exhaustive()
    }
}
