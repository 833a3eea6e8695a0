//! An application made of closures, and the sessions of one worker, whose counterparties are
//! handwritten.

#![allow(dead_code)] // each test uses a part

use std::sync::{Arc, Mutex};

use fixbolt_codec::{BodySink, BodyWriter, Key, Message, MsgType, NewBody, SeqNum};
use fixbolt_conformance::wire::kinds;
use fixbolt_journal::MemoryStore;
use fixbolt_session::store::Store;
use fixbolt_session::{
    Application, Delivery, Direction, Event, Failure, LogonDecision, Mono, Now, Resend, Resume, Role,
    SessionDictionary, SessionEnd, SessionId, SessionKey, SessionSettings, Sessions, Turn, Utc, WireMessage,
    WireObserver,
};

/// What an application does in a callback, set by the test.
pub(crate) type Act<I, R> = Box<dyn FnMut(I, &mut Turn<'_>) -> Result<R, Failure>>;

/// An application made of closures.
#[allow(clippy::type_complexity)] // each is written only once, here
pub(crate) struct App {
    pub(crate) message: Act<Vec<u8>, Delivery>,
    pub(crate) logon: Box<dyn FnMut(&Message<'_>, &mut Turn<'_>) -> Result<LogonDecision, Failure>>,
    pub(crate) sending_logon: Box<dyn FnMut(&mut BodyWriter<'_>, &mut Turn<'_>) -> Result<(), Failure>>,
    pub(crate) resend: Act<Vec<u8>, Resend>,
    pub(crate) resume: Box<dyn FnMut(&mut Resume<'_>) -> Result<(), Failure>>,
    pub(crate) event: Box<dyn FnMut(&Event<'_>, &mut Turn<'_>) -> Result<(), Failure>>,
    pub(crate) events: Vec<String>,
    pub(crate) ends: Vec<SessionEnd>,
}

impl Default for App {
    fn default() -> Self {
        Self {
            message: Box::new(|_, _| Ok(Delivery::Done)),
            logon: Box::new(|_, _| Ok(LogonDecision::Accept)),
            sending_logon: Box::new(|_, _| Ok(())),
            resend: Box::new(|_, _| Ok(Resend::Send)),
            resume: Box::new(|_| Ok(())),
            event: Box::new(|_, _| Ok(())),
            events: Vec::new(),
            ends: Vec::new(),
        }
    }
}

impl Application for App {
    fn on_message(&mut self, message: Message<'_>, turn: &mut Turn<'_>) -> Result<Delivery, Failure> {
        (self.message)(message.bytes().to_vec(), turn)
    }

    fn on_logon(&mut self, logon: Message<'_>, turn: &mut Turn<'_>) -> Result<LogonDecision, Failure> {
        (self.logon)(&logon, turn)
    }

    fn on_sending_logon(&mut self, logon: &mut BodyWriter<'_>, turn: &mut Turn<'_>) -> Result<(), Failure> {
        (self.sending_logon)(logon, turn)
    }

    fn on_resend(&mut self, message: Message<'_>, turn: &mut Turn<'_>) -> Result<Resend, Failure> {
        (self.resend)(message.bytes().to_vec(), turn)
    }

    fn on_resume(&mut self, resume: &mut Resume<'_>) -> Result<(), Failure> {
        (self.resume)(resume)
    }

    fn on_event(&mut self, event: &Event<'_>, turn: &mut Turn<'_>) -> Result<(), Failure> {
        self.events.push(format!("{}: {event}", turn.session_id()));
        if let Event::Ended(end) = event {
            self.ends.push((*end).clone());
        }
        (self.event)(event, turn)
    }
}

/// The sessions of one worker, whose counterparties are handwritten.
pub(crate) struct Bench {
    pub(crate) sessions: Sessions,
    pub(crate) now: Now,
    pub(crate) ids: Vec<SessionId>,
    pub(crate) keys: Vec<SessionKey>,
}

pub(crate) const SENT: &str = "20260105-09:00:00";

impl Bench {
    pub(crate) fn open(app: &mut App, all: Vec<SessionSettings>) -> Self {
        Self::observed(app, all, None)
    }

    pub(crate) fn observed(
        app: &mut App,
        all: Vec<SessionSettings>,
        wire: Option<Arc<dyn WireObserver>>,
    ) -> Self {
        Self::on_store(app, Box::new(MemoryStore::new()), all, wire)
    }

    pub(crate) fn on_store(
        app: &mut App,
        store: Box<dyn Store>,
        all: Vec<SessionSettings>,
        wire: Option<Arc<dyn WireObserver>>,
    ) -> Self {
        let now = Now { mono: Mono(1_000_000_000), utc: Utc(1_767_603_600_000_000_000) };
        let mut sessions = Sessions::new(store, 64 * 1024);
        if let Some(wire) = wire {
            sessions = sessions.observed_by(wire);
        }
        let ids = all.iter().map(|settings| settings.id.clone()).collect();
        let keys = all.into_iter().map(|settings| sessions.open(now, settings, app).unwrap()).collect();
        Self { sessions, now, ids, keys }
    }

    /// Creates one acceptor with its application, logged on.
    pub(crate) fn logged_on(app: &mut App, begin_string: &str) -> Self {
        let mut bench = Self::open(app, vec![settings(begin_string, "A", Role::Acceptor)]);
        bench.sessions.connected(bench.now, bench.keys[0], app);
        let answer = bench.say(app, 0, "35=A|34=1|98=0|108=30|");
        assert_eq!(kinds(&answer), "A", "{answer:?}");
        bench
    }

    /// Passes a message from the counterparty to session `n`; returns what that session sends.
    pub(crate) fn say(&mut self, app: &mut App, n: usize, fields: &str) -> Vec<String> {
        let bytes = wire(&self.ids[n], fields);
        self.sessions.receive(self.now, self.keys[n], &bytes, app);
        self.sessions.check();
        self.take(n)
    }

    /// Returns the messages that session `n` has queued, with `|` for SOH.
    pub(crate) fn take(&mut self, n: usize) -> Vec<String> {
        let bytes = self.sessions.writable(self.keys[n]).to_vec();
        self.sessions.written(self.now, self.keys[n], bytes.len());
        let text = String::from_utf8(bytes).unwrap().replace('\x01', "|");
        text.split_inclusive("8=FIX.")
            .skip(1)
            .map(|part| part.trim_end_matches("8=FIX.").to_owned())
            .collect()
    }
}

pub(crate) fn settings(begin_string: &str, target: &str, role: Role) -> SessionSettings {
    let id = format!("{begin_string}:US->{target}").parse().unwrap();
    SessionSettings::new(id, role).with(|s| s.dictionary = SessionDictionary::None)
}

pub(crate) fn wire(id: &SessionId, fields: &str) -> Vec<u8> {
    let (msg_type, rest) = fields.split_once('|').unwrap();
    let (us, them) = (id.sender_comp_id(), id.target_comp_id());
    let body = format!("{msg_type}|49={them}|56={us}|52={SENT}|{rest}").replace('|', "\x01");
    let mut message = format!("8={}\x019={}\x01{body}", id.version(), body.len()).into_bytes();
    let checksum = fixbolt_codec::byte_sum(&message);
    message.extend_from_slice(format!("10={checksum:03}\x01").as_bytes());
    message
}

pub(crate) fn order(turn: &mut Turn<'_>, id: &str) -> Result<SeqNum, Failure> {
    let mut draft = turn.reply().draft(MsgType::new(b"D"));
    draft.writer().bytes(Key::new(11), id.as_bytes());
    Ok(draft.send()?)
}

#[derive(Default)]
pub(crate) struct Capture(pub(crate) Mutex<Vec<(Direction, bool, String)>>);

impl WireObserver for Capture {
    fn on_wire(&self, message: &WireMessage<'_>) {
        let text = String::from_utf8_lossy(message.bytes).replace('\x01', "|");
        self.0.lock().unwrap().push((message.direction, message.garbled, text));
    }
}
