//! One side of a session, the other side written by hand as wire text.
#![allow(dead_code)] // each test crate uses its part

use std::time::Duration;

use fixbolt_codec::{BodySink, Frame, Framer, Key, Message, MsgType, NewBody, SeqNum, Tag};
use fixbolt_session::store::Store;
use fixbolt_session::{
    Application, Delivery, Event, Handle, LogonDecision, Mono, Now, Resend, Role, SendError, SessionEnd,
    SessionId, SessionKey, SessionSettings, Sessions, Turn, Utc,
};

/// What the application does with the next message.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum Mood {
    #[default]
    Done,
    NotNow,
    Fails,
    Panics,
    Full,
    /// Says it is done whatever its writing came to.
    Careless,
}

#[derive(Default)]
pub(crate) struct Desk {
    pub(crate) mood: Mood,
    pub(crate) copies_to: Option<SessionKey>,
    pub(crate) panic_in: &'static str,
    pub(crate) got: Vec<String>,
    pub(crate) ends: Vec<SessionEnd>,
    pub(crate) notes: Vec<String>,
}

impl Desk {
    fn panic_if(&self, callback: &str) {
        assert!(self.panic_in != callback, "application bug");
    }
}

impl Application for Desk {
    fn on_message(&mut self, message: Message<'_>, turn: &mut Turn<'_>) -> Result<Delivery, SendError> {
        let id = message.get(Tag::new(11)).unwrap_or(b"?");
        let written = report(turn.reply(), id).and_then(|_| {
            self.copies_to.and_then(|key| turn.to(key)).map_or(Ok(SeqNum::ZERO), |to| report(to, id))
        });
        match self.mood {
            Mood::Done => drop(written?),
            Mood::Careless => {}
            Mood::NotNow => return Ok(Delivery::NotNow),
            Mood::Fails => return Err(SendError::Application("cannot")),
            Mood::Panics => panic!("application bug"),
            Mood::Full => return Err(SendError::BackPressure),
        }
        self.got.push(String::from_utf8_lossy(id).into_owned());
        Ok(Delivery::Done)
    }

    fn on_logon(&mut self, _: SessionKey, _: Message<'_>) -> LogonDecision {
        self.panic_if("on_logon");
        LogonDecision::Accept
    }

    fn on_resend(&mut self, _: SessionKey, _: Message<'_>) -> Resend {
        self.panic_if("on_resend");
        Resend::Send
    }

    fn on_event(&mut self, _: SessionKey, event: &Event<'_>) {
        match event {
            Event::Ended(end) => self.ends.push((*end).clone()),
            Event::Note(text) => self.notes.push((*text).to_owned()),
            _ => self.panic_if("on_event"),
        }
    }
}

pub(crate) fn report(to: Handle<'_>, id: &[u8]) -> Result<SeqNum, SendError> {
    let mut draft = to.draft(MsgType::new(b"8"));
    draft.writer().bytes(Key::new(11), id);
    draft.send()
}

pub(crate) fn settings(name: &str, role: Role) -> SessionSettings {
    SessionSettings::new(SessionId::new("FIX.4.4", "US", name).unwrap(), role)
}

/// Sessions of one worker; the counterparties are the test.
pub(crate) struct Side {
    pub(crate) now: Now,
    pub(crate) sessions: Sessions,
    pub(crate) desk: Desk,
    names: Vec<String>,
}

impl Side {
    pub(crate) fn new(store: Box<dyn Store>, all: Vec<SessionSettings>) -> Self {
        std::panic::set_hook(Box::new(|info| {
            if info.payload().downcast_ref::<&str>() != Some(&"application bug") {
                eprintln!("{info}");
            }
        }));
        let now = Now { mono: Mono(1_000_000_000), utc: Utc(1_767_603_600_000_000_000) };
        let mut desk = Desk::default();
        let mut sessions = Sessions::new(store, 64 * 1024);
        let names = all.iter().map(|s| s.id.target_comp_id().to_owned()).collect();
        for settings in all {
            sessions.open(now, settings, &mut desk).unwrap();
        }
        Self { now, sessions, desk, names }
    }

    /// Connects session `n` and logs on with the counterparty's number `seq`; gives what went out.
    pub(crate) fn log_on(&mut self, n: u32, seq: u64, more: &str) -> Vec<String> {
        self.sessions.connected(self.now, SessionKey(n), &mut self.desk);
        self.say(n, &format!("35=A|34={seq}|98=0|108=30|{more}"))
    }

    pub(crate) fn wire(&self, n: u32, fields: &str) -> Vec<u8> {
        let time = self.time();
        let (kind, rest) = fields.split_once('|').unwrap();
        let name = &self.names[n as usize];
        let body = format!("{kind}|49={name}|56=US|52={time}|{rest}").replace('|', "\x01");
        let mut message = format!("8=FIX.4.4\x019={}\x01{body}", body.len());
        let sum = message.bytes().fold(0u8, u8::wrapping_add);
        message += &format!("10={sum:03}\x01");
        message.into_bytes()
    }

    /// UTC as text; days after the test's beginning do not occur.
    pub(crate) fn time(&self) -> String {
        let seconds = self.now.utc.0 / 1_000_000_000 % 86_400;
        format!("20260105-{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60)
    }

    /// The counterparty of session `n` sends a message; gives what goes out because of it.
    pub(crate) fn say(&mut self, n: u32, fields: &str) -> Vec<String> {
        let bytes = self.wire(n, fields);
        self.hear(n, &bytes);
        self.take(n)
    }

    /// Shows bytes to the session; gives how many it consumed.
    pub(crate) fn hear(&mut self, n: u32, bytes: &[u8]) -> usize {
        self.sessions.receive(self.now, SessionKey(n), bytes, &mut self.desk)
    }

    /// Lets the socket take everything.
    pub(crate) fn take(&mut self, n: u32) -> Vec<String> {
        let key = SessionKey(n);
        let mut list = Vec::new();
        loop {
            let bytes = self.sessions.writable(key).to_vec();
            self.sessions.written(key, bytes.len());
            list.extend(messages(&bytes));
            if bytes.is_empty() && !self.sessions.is_replaying(key) {
                return list;
            }
            self.sessions.tick(self.now, key, &[], &mut self.desk);
        }
    }

    pub(crate) fn pass(&mut self, time: Duration) {
        self.now = Now { mono: self.now.mono + time, utc: self.now.utc + time };
    }

    pub(crate) fn tick(&mut self, n: u32, buffered: &[u8]) -> usize {
        self.sessions.tick(self.now, SessionKey(n), buffered, &mut self.desk)
    }

    /// The application sends a message of `size` bytes of text.
    pub(crate) fn send(&mut self, n: u32, id: &str, size: usize) -> Result<SeqNum, SendError> {
        self.sessions.act(self.now, SessionKey(n), &mut self.desk, |turn| {
            let mut draft = turn.reply().draft(MsgType::new(b"D"));
            draft.writer().bytes(Key::new(11), id.as_bytes()).bytes(Key::new(58), &vec![b'x'; size]);
            draft.send()
        })
    }

    pub(crate) fn disconnect(&mut self, n: u32) -> Option<SessionEnd> {
        self.sessions.disconnected(self.now, SessionKey(n), &mut self.desk);
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

/// MsgTypes of messages.
pub(crate) fn kinds(list: &[String]) -> String {
    list.iter().map(|m| m.split("|35=").nth(1).and_then(|m| m.split('|').next()).unwrap_or("?")).collect()
}
