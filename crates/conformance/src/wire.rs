//! Helpers for tests: one side of a session, whose counterparty the test writes by hand as wire
//! text.
//!
//! Fields are given as text with `|` for SOH. The helpers are for tests only and panic on errors.

use std::time::Duration;

use fixbolt_codec::{BodySink, Frame, Framer, Key, Message, MsgType, NewBody, SeqNum, Tag, Version};
use fixbolt_session::store::Store;
use fixbolt_session::{
    Application, CodecTime, Delivery, Event, Failure, Handle, LogonDecision, Mono, Now, Resend, Role,
    SendError, SessionDictionary, SessionEnd, SessionId, SessionKey, SessionSettings, Sessions, Turn,
    Unreached, Utc,
};

/// What a [`Desk`] does with the next message.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Mood {
    /// Reports it, and has processed it.
    #[default]
    Done,
    /// Reports it, then asks for it again later.
    NotNow,
    /// Does not handle the message.
    Unsupported,
    /// Reports it, then fails with an error of its own.
    Fails,
    /// Reports it, then panics with `application bug`.
    Panics,
    /// Reports it, then fails with [`SendError::BackPressure`].
    Full,
    /// Processes it, even if the report cannot be sent.
    Careless,
}

/// An application that answers each message with an ExecutionReport and records what it is notified
/// of. It refuses a Logon with Password (554) `expired`, and one with `stranger` without a Logout.
#[derive(Default)]
pub struct Desk {
    /// What it does with the next message.
    pub mood: Mood,
    /// A second session that each report goes to.
    pub copies_to: Option<SessionKey>,
    /// The name of the callback that panics: `on_logon`, `on_resend` or `on_event`.
    pub panic_in: &'static str,
    /// The ClOrdID (11) of each message that it processed.
    pub got: Vec<String>,
    /// The numbers of the messages that were offered as ones that it may have seen before.
    pub redelivered: Vec<SeqNum>,
    /// Their application versions.
    pub versions: Vec<Version>,
    /// How connections ended.
    pub ends: Vec<SessionEnd>,
    /// The notes of the session core.
    pub notes: Vec<String>,
    /// What it was told of sequence numbers that were changed, and of resets that were abandoned.
    pub resets: Vec<String>,
    /// The messages that will not arrive, as reported to it: first and last sequence number, and
    /// why.
    pub unreached: Vec<(SeqNum, SeqNum, Unreached)>,
    /// What connections' messages took to encode and decode.
    pub codec_times: Vec<CodecTime>,
}

impl Desk {
    fn panic_if(&self, callback: &str) {
        assert!(self.panic_in != callback, "application bug");
    }
}

impl Application for Desk {
    fn on_message(&mut self, message: Message<'_>, turn: &mut Turn<'_>) -> Result<Delivery, Failure> {
        let id = message.get(Tag::new(11)).unwrap_or(b"?");
        self.redelivered.extend(turn.seq().filter(|_| turn.redelivered()));
        if self.mood == Mood::Unsupported {
            return Ok(Delivery::UNSUPPORTED);
        }
        let written = report(turn.reply(), id).and_then(|_| {
            self.copies_to.and_then(|key| turn.to(key)).map_or(Ok(SeqNum::ZERO), |to| report(to, id))
        });
        match self.mood {
            Mood::Done => drop(written?),
            Mood::Careless => {}
            Mood::NotNow => return Ok(Delivery::NotNow),
            Mood::Unsupported => {}
            Mood::Fails => return Err(Failure::new("cannot")),
            Mood::Panics => panic!("application bug"),
            Mood::Full => return Err(SendError::BackPressure.into()),
        }
        self.got.push(String::from_utf8_lossy(id).into_owned());
        self.versions.extend(message.version());
        Ok(Delivery::Done)
    }

    fn on_logon(&mut self, logon: Message<'_>, _: &mut Turn<'_>) -> Result<LogonDecision, Failure> {
        self.panic_if("on_logon");
        Ok(match logon.get(Tag::new(554)) {
            Some(b"expired") => LogonDecision::refuse("password expired"),
            Some(b"stranger") => LogonDecision::RefuseSilently,
            _ => LogonDecision::Accept,
        })
    }

    fn on_resend(&mut self, _: Message<'_>, _: &mut Turn<'_>) -> Result<Resend, Failure> {
        self.panic_if("on_resend");
        Ok(Resend::Send)
    }

    fn on_event(&mut self, event: &Event<'_>, _: &mut Turn<'_>) -> Result<(), Failure> {
        match event {
            Event::Ended(end) => self.ends.push((*end).clone()),
            Event::CodecTime(time) => self.codec_times.push(*time),
            Event::Note(_) | Event::LogoutReceived { .. } => self.notes.push(event.to_string()),
            Event::SequenceChanged { .. } | Event::ResetAbandoned { .. } => {
                self.panic_if("on_event");
                self.resets.push(event.to_string());
            }
            Event::Unreached { begin, end, why } => self.unreached.push((*begin, *end, *why)),
            _ => self.panic_if("on_event"),
        }
        Ok(())
    }
}

/// Sends an ExecutionReport with this ClOrdID (11).
///
/// # Errors
/// Returns a [`SendError`] if the session refuses it.
pub fn report(to: Handle<'_>, id: &[u8]) -> Result<SeqNum, SendError> {
    let mut draft = to.draft(MsgType::new(b"8"));
    draft.writer().bytes(Key::new(11), id);
    draft.send()
}

/// Returns the settings of session `FIX.4.4:US->name`, without a dictionary.
///
/// # Panics
/// Panics if `name` is not a CompID.
#[must_use]
pub fn settings(name: &str, role: Role) -> SessionSettings {
    let id = SessionId::new(Version::Fix44, "US", name).unwrap();
    SessionSettings::new(id, role).with(|s| s.dictionary = SessionDictionary::None)
}

/// The sessions of one worker, with a clock that moves only when told to. The test is their
/// counterparty; it identifies a session by its index in the settings.
pub struct Side {
    /// The time of the next call.
    pub now: Now,
    /// The session core.
    pub sessions: Sessions,
    /// The application.
    pub desk: Desk,
    /// BeginString and the counterparty's CompID of each session.
    names: Vec<(&'static str, String)>,
}

impl Side {
    /// Opens these sessions. From then on the process does not print the panics of a [`Desk`].
    ///
    /// # Panics
    /// Panics if a session cannot be opened.
    #[must_use]
    pub fn new(store: Box<dyn Store>, all: Vec<SessionSettings>) -> Self {
        std::panic::set_hook(Box::new(|info| {
            if info.payload().downcast_ref::<&str>() != Some(&"application bug") {
                eprintln!("{info}");
            }
        }));
        let now = Now { mono: Mono(1_000_000_000), utc: Utc(1_767_603_600_000_000_000) };
        let mut desk = Desk::default();
        let mut sessions = Sessions::new(store, 64 * 1024);
        let name = |id: &SessionId| (id.version().begin_string(), id.target_comp_id().to_owned());
        let names = all.iter().map(|s| name(&s.id)).collect();
        for settings in all {
            sessions.open(now, settings, &mut desk).unwrap();
        }
        Self { now, sessions, desk, names }
    }

    /// Connects session `n` and logs on with MsgSeqNum `seq`. Returns the messages sent in answer.
    pub fn log_on(&mut self, n: u32, seq: u64, more: &str) -> Vec<String> {
        self.sessions.connected(self.now, SessionKey::new(0, n, n), &mut self.desk);
        self.say(n, &format!("35=A|34={seq}|98=0|108=30|{more}"))
    }

    /// Returns a message of session `n`'s counterparty as bytes. `fields` begin with MsgType (35);
    /// the CompIDs, SendingTime, BodyLength and CheckSum are added.
    ///
    /// # Panics
    /// Panics if `fields` has no `|`, or there is no session `n`.
    #[must_use]
    pub fn wire(&self, n: u32, fields: &str) -> Vec<u8> {
        let time = self.time();
        let (kind, rest) = fields.split_once('|').unwrap();
        let (begin_string, name) = &self.names[n as usize];
        message(begin_string, &format!("{kind}|49={name}|56=US|52={time}|{rest}"))
    }

    /// Returns the time as a UTCTimestamp. The date is always the one on which the test began.
    #[must_use]
    pub fn time(&self) -> String {
        let seconds = self.now.utc.0 / 1_000_000_000 % 86_400;
        format!("20260105-{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60)
    }

    /// Passes a message of the counterparty to session `n`, see [`wire`](Self::wire). Returns the
    /// messages sent in answer.
    pub fn say(&mut self, n: u32, fields: &str) -> Vec<String> {
        let bytes = self.wire(n, fields);
        self.hear(n, &bytes);
        self.take(n)
    }

    /// Passes received bytes to session `n`, in as many calls as it takes. Returns the number of
    /// bytes consumed.
    pub fn hear(&mut self, n: u32, bytes: &[u8]) -> usize {
        let key = SessionKey::new(0, n, n);
        let mut consumed = self.sessions.receive(self.now, key, bytes, &mut self.desk);
        while self.sessions.has_more(key) {
            consumed += self.sessions.receive(self.now, key, &bytes[consumed..], &mut self.desk);
        }
        consumed
    }

    /// Takes what session `n` has to send, until there is no more and no replay is under way.
    /// Returns the messages.
    ///
    /// # Panics
    /// Panics if the session has written something that is not a message.
    pub fn take(&mut self, n: u32) -> Vec<String> {
        let key = SessionKey::new(0, n, n);
        let mut list = Vec::new();
        loop {
            let bytes = self.sessions.writable(key).to_vec();
            self.sessions.written(self.now, key, bytes.len());
            list.extend(messages(&bytes));
            if bytes.is_empty() && !self.sessions.is_replaying(key) {
                return list;
            }
            self.sessions.wake(self.now, key, &[], &mut self.desk);
        }
    }

    /// Takes what session `n` has queued, and has it continue a replay once. Returns the messages.
    ///
    /// # Panics
    /// Panics if the session has written something that is not a message.
    pub fn step(&mut self, n: u32) -> Vec<String> {
        let key = SessionKey::new(0, n, n);
        let bytes = self.sessions.writable(key).to_vec();
        self.sessions.written(self.now, key, bytes.len());
        self.tick(n, &[]);
        messages(&bytes)
    }

    /// Moves the clock.
    pub fn pass(&mut self, time: Duration) {
        self.now = Now { mono: self.now.mono + time, utc: self.now.utc + time };
    }

    /// Tells session `n` the time, with the bytes that were received and not consumed. Returns the
    /// number of bytes consumed.
    pub fn tick(&mut self, n: u32, buffered: &[u8]) -> usize {
        self.sessions.wake(self.now, SessionKey::new(0, n, n), buffered, &mut self.desk)
    }

    /// Sends a NewOrderSingle from the application of session `n`, with a Text (58) of `size`
    /// bytes.
    ///
    /// # Errors
    /// Returns a [`SendError`] if the session refuses it.
    pub fn send(&mut self, n: u32, id: &str, size: usize) -> Result<SeqNum, SendError> {
        self.sessions.act(self.now, SessionKey::new(0, n, n), &mut self.desk, |turn| {
            let mut draft = turn.reply().draft(MsgType::new(b"D"));
            draft.writer().bytes(Key::new(11), id.as_bytes()).bytes(Key::new(58), &vec![b'x'; size]);
            draft.send()
        })
    }

    /// Ends the connection of session `n`. Returns how it ended, if the application was notified.
    pub fn disconnect(&mut self, n: u32) -> Option<SessionEnd> {
        self.sessions.disconnected(self.now, SessionKey::new(0, n, n), &mut self.desk);
        self.desk.ends.pop()
    }
}

fn messages(bytes: &[u8]) -> Vec<String> {
    let mut list = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let Frame::Message(framed) = Framer::new(1 << 20).next(&bytes[at..]) else { panic!("no message") };
        at += framed.bytes().len();
        list.push(String::from_utf8_lossy(framed.bytes()).replace('\x01', "|"));
    }
    list
}

/// Returns a whole message: `fields` begin with MsgType (35), the last `|` may be omitted.
/// BeginString, BodyLength and CheckSum are added.
///
/// ```
/// use fixbolt_conformance::wire::message;
///
/// let heartbeat = message("FIX.4.4", "35=0|49=A|56=B|34=2|52=20261121-09:00:00|");
/// assert!(heartbeat.starts_with(b"8=FIX.4.4\x019=41\x0135=0\x01"));
/// assert!(heartbeat.ends_with(b"\x0110=127\x01"));
/// assert_eq!(message("FIX.4.4", "35=0|112=x"), message("FIX.4.4", "35=0|112=x|"));
/// ```
#[must_use]
pub fn message(begin_string: &str, fields: &str) -> Vec<u8> {
    let mut fields = fields.replace('|', "\x01");
    if !fields.ends_with('\x01') {
        fields.push('\x01');
    }
    sealed(begin_string.as_bytes(), fields.as_bytes())
}

/// Returns `fields` with BeginString, BodyLength and CheckSum around them. The checksum is computed
/// here, independently of the codec, because tests compare the codec's checksum with it.
pub(crate) fn sealed(begin_string: &[u8], fields: &[u8]) -> Vec<u8> {
    let mut message =
        [b"8=", begin_string, format!("\x019={}\x01", fields.len()).as_bytes(), fields].concat();
    let sum = message.iter().fold(0u8, |sum, byte| sum.wrapping_add(*byte));
    message.extend_from_slice(format!("10={sum:03}\x01").as_bytes());
    message
}

/// Returns the MsgTypes (35) of the messages, in order.
#[must_use]
pub fn kinds(list: &[String]) -> String {
    list.iter().map(|m| m.split("|35=").nth(1).and_then(|m| m.split('|').next()).unwrap_or("?")).collect()
}
