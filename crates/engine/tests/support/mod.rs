//! What the engine's tests share: a counterparty that speaks FIX by hand, and applications that
//! note what they see.
#![allow(dead_code, unreachable_pub)] // each test file uses its part

use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use fixbolt::codec::{BodySink, Key, Message, MsgType, NewBody, Precision, SecondCache, Tag};
use fixbolt::session::{
    Application, Delivery, Event, Failure, LogonDecision, Resume, Role, SessionDictionary, SessionId,
    SessionKey, SessionSettings, Turn,
};
use fixbolt::store::{MemoryStore, Position, Record, Recovered, Store, StoreError, WorkerWaker};
use fixbolt_conformance::store::{Intercept, Intercepted};
pub use fixbolt_conformance::wire::message;

/// A loopback address with a port that the system chooses.
pub fn anywhere() -> SocketAddr {
    SocketAddr::from((Ipv4Addr::LOCALHOST, 0))
}

pub fn id(text: &str) -> SessionId {
    text.parse().unwrap()
}

/// Settings without a dictionary: the messages of most tests have nothing but an id.
pub fn of(name: &str, role: Role) -> SessionSettings {
    SessionSettings::new(id(name), role).with(|s| s.dictionary = SessionDictionary::None)
}

pub fn acceptor() -> SessionSettings {
    of("FIX.4.4:VENUE->TRADER", Role::Acceptor)
}

pub fn initiator() -> SessionSettings {
    of("FIX.4.4:TRADER->VENUE", Role::Initiator)
}

/// A directory for one test, removed when the test is over.
pub struct Scratch(pub PathBuf);

impl Scratch {
    pub fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("fixbolt-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Something that an application saw.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Seen {
    LoggedOn,
    Ended(String),
    Message(String),
    Sent(u64, u64),
    NotSent(u64, String),
    Other(String),
}

/// Tells a channel whatever it sees; answers orders with a report when it is a venue.
pub struct Recorder {
    seen: Sender<Seen>,
    answer: bool,
    /// How often an order is answered "not now" first.
    pub not_now: u32,
    /// Orders on which it panics, by ClOrdID.
    pub poison: Option<&'static [u8]>,
}

impl Recorder {
    pub fn venue() -> (Self, Log) {
        Self::new(true)
    }

    pub fn trader() -> (Self, Log) {
        Self::new(false)
    }

    fn new(answer: bool) -> (Self, Log) {
        let (seen, log) = channel();
        (Self { seen, answer, not_now: 0, poison: None }, Log(log))
    }

    fn tell(&self, seen: Seen) {
        let _ = self.seen.send(seen);
    }
}

impl Application for Recorder {
    fn on_message(&mut self, message: Message<'_>, turn: &mut Turn<'_>) -> Result<Delivery, Failure> {
        if self.not_now > 0 {
            self.not_now -= 1;
            return Ok(Delivery::NotNow);
        }
        let order = message.get(Tag::new(11)).unwrap_or(b"?");
        self.tell(Seen::Message(order.escape_ascii().to_string()));
        if self.answer && message.msg_type() == b"D" {
            let mut report = turn.reply().draft(MsgType::new(b"8"));
            report.writer().bytes(Key::new(11), order);
            report.send()?;
        }
        if self.poison == Some(order) {
            panic!("an application's mistake");
        }
        Ok(Delivery::Done)
    }

    fn on_event(&mut self, event: &Event<'_>, _: &mut Turn<'_>) -> Result<(), Failure> {
        self.tell(match event {
            Event::LoggedOn => Seen::LoggedOn,
            Event::Ended(end) => Seen::Ended(format!("{end:?}")),
            Event::Sent { ticket, seq } => Seen::Sent(ticket.0, seq.0),
            Event::NotSent { ticket, why } => Seen::NotSent(ticket.0, why.to_string()),
            other => Seen::Other(format!("{other:?}")),
        });
        Ok(())
    }
}

/// What a [`Recorder`] saw.
pub struct Log(Receiver<Seen>);

impl Log {
    /// The next thing seen; fails the test when nothing comes.
    pub fn next(&self) -> Seen {
        self.0.recv_timeout(Duration::from_secs(20)).expect("the application should have seen something")
    }

    /// Skips to the next thing that `wanted` accepts.
    pub fn wait(&self, wanted: impl Fn(&Seen) -> bool) -> Seen {
        loop {
            let seen = self.next();
            if wanted(&seen) {
                return seen;
            }
        }
    }

    pub fn logged_on(&self) {
        self.wait(|seen| *seen == Seen::LoggedOn);
    }

    pub fn ended(&self) -> String {
        match self.wait(|seen| matches!(seen, Seen::Ended(_))) {
            Seen::Ended(end) => end,
            _ => unreachable!(),
        }
    }

    pub fn message(&self) -> String {
        match self.wait(|seen| matches!(seen, Seen::Message(_))) {
            Seen::Message(order) => order,
            _ => unreachable!(),
        }
    }
}

/// A [`Recorder`] of which a test replaces a callback.
pub struct Scripted {
    pub recorder: Recorder,
    /// `None` leaves the message to the recorder.
    pub message: OnMessage,
    pub logon: Box<dyn FnMut(Message<'_>) -> LogonDecision + Send>,
    pub resume: Box<dyn FnMut() + Send>,
}

type OnMessage = Box<dyn FnMut(Message<'_>, &mut Turn<'_>) -> Option<Result<Delivery, Failure>> + Send>;

impl Scripted {
    pub fn venue() -> (Self, Log) {
        let (recorder, log) = Recorder::venue();
        let logon = Box::new(|_: Message<'_>| LogonDecision::Accept);
        (Self { recorder, message: Box::new(|_, _| None), logon, resume: Box::new(|| ()) }, log)
    }

    /// A venue that does this with a message first.
    pub fn on_message(
        message: impl FnMut(Message<'_>, &mut Turn<'_>) -> Option<Result<Delivery, Failure>> + Send + 'static,
    ) -> (Self, Log) {
        let (app, log) = Self::venue();
        (Self { message: Box::new(message), ..app }, log)
    }
}

impl Application for Scripted {
    fn on_message(&mut self, message: Message<'_>, turn: &mut Turn<'_>) -> Result<Delivery, Failure> {
        match (self.message)(message, turn) {
            Some(done) => done,
            None => self.recorder.on_message(message, turn),
        }
    }

    fn on_logon(&mut self, logon: Message<'_>, _: &mut Turn<'_>) -> Result<LogonDecision, Failure> {
        Ok((self.logon)(logon))
    }

    fn on_resume(&mut self, _: &mut Resume<'_>) -> Result<(), Failure> {
        (self.resume)();
        Ok(())
    }

    fn on_event(&mut self, event: &Event<'_>, turn: &mut Turn<'_>) -> Result<(), Failure> {
        self.recorder.on_event(event, turn)
    }
}

/// The number of records that a store takes before it is full.
struct Room(usize);

impl<S: Store> Intercept<S> for Room {
    fn append(&mut self, store: &mut S, session: SessionKey, record: &Record<'_>) -> Result<(), StoreError> {
        let full = StoreError::Full { place: "test disk".to_owned() };
        self.0 = self.0.checked_sub(1).ok_or(full)?;
        store.append(session, record)
    }
}

/// A store that takes so many records and is full then.
pub fn full_store(records: usize) -> impl Store {
    Intercepted::new(MemoryStore::new(), Room(records))
}

/// What a test does to a [`steered_store`] from outside.
#[derive(Default)]
pub struct Steering {
    /// The records of this session are refused, and its store is not opened.
    refused: Mutex<Option<SessionId>>,
    /// The store notices by itself that the session's storage is gone.
    failing: Mutex<Option<SessionId>>,
    waker: Mutex<Option<Arc<dyn WorkerWaker>>>,
    /// Nothing is acknowledged meanwhile.
    pub holds: AtomicBool,
    acknowledged: AtomicU64,
}

impl Steering {
    pub fn refuse(&self, session: &SessionId) {
        *self.refused.lock().unwrap() = Some(session.clone());
    }

    pub fn allow(&self) {
        *self.refused.lock().unwrap() = None;
    }

    pub fn fail(&self, session: &SessionId) {
        *self.failing.lock().unwrap() = Some(session.clone());
        self.ring();
    }

    fn ring(&self) {
        if let Some(waker) = &*self.waker.lock().unwrap() {
            waker.store_advanced();
        }
    }

    fn check(&self, session: &SessionId) -> Result<(), StoreError> {
        if self.refused.lock().unwrap().as_ref() == Some(session) {
            return Err(StoreError::Full { place: "test disk".to_owned() });
        }
        Ok(())
    }
}

struct Steered {
    steering: Arc<Steering>,
    sessions: Vec<(SessionKey, SessionId)>,
    commits: Option<Sender<Position>>,
}

/// A store that refuses and fails when the test says so.
pub fn steered_store() -> (impl Store, Arc<Steering>) {
    steered(Arc::default(), None)
}

/// The same, which acknowledges late, from a thread of its own.
pub fn late_steered_store() -> (impl Store, Arc<Steering>) {
    let steering = Arc::<Steering>::default();
    let (commits, committed) = channel::<Position>();
    let thread = Arc::clone(&steering);
    std::thread::spawn(move || {
        for position in committed {
            while thread.holds.load(Ordering::SeqCst) {
                std::thread::sleep(Duration::from_millis(1));
            }
            thread.acknowledged.store(position.0, Ordering::SeqCst);
            thread.ring();
        }
    });
    steered(steering, Some(commits))
}

fn steered(steering: Arc<Steering>, commits: Option<Sender<Position>>) -> (impl Store, Arc<Steering>) {
    let steered = Steered { steering: Arc::clone(&steering), sessions: Vec::new(), commits };
    (Intercepted::new(MemoryStore::new(), steered), steering)
}

impl<S: Store> Intercept<S> for Steered {
    fn open(&mut self, store: &mut S, key: SessionKey, session: &SessionId) -> Result<Recovered, StoreError> {
        self.steering.check(session)?;
        self.sessions.push((key, session.clone()));
        store.open(key, session)
    }

    fn set_waker(&mut self, _: &mut S, waker: Arc<dyn WorkerWaker>) {
        *self.steering.waker.lock().unwrap() = Some(waker);
    }

    fn close(&mut self, store: &mut S, session: SessionKey) -> Result<(), StoreError> {
        self.sessions.retain(|(key, _)| *key != session);
        store.close(session)
    }

    fn append(&mut self, store: &mut S, session: SessionKey, record: &Record<'_>) -> Result<(), StoreError> {
        let (_, id) = self.sessions.iter().find(|(key, _)| *key == session).expect("the session is open");
        self.steering.check(id)?;
        store.append(session, record)
    }

    fn commit(&mut self, store: &mut S) -> Result<Position, StoreError> {
        let position = store.commit()?;
        if let Some(commits) = &self.commits {
            commits.send(position).unwrap();
        }
        Ok(position)
    }

    fn durable(&self, store: &S) -> Position {
        if self.commits.is_some() {
            return Position(self.steering.acknowledged.load(Ordering::SeqCst));
        }
        store.durable()
    }

    fn take_failure(&mut self, _: &mut S) -> Option<(SessionKey, StoreError)> {
        let id = self.steering.failing.lock().unwrap().take()?;
        let (key, _) = self.sessions.iter().find(|(_, open)| *open == id)?;
        Some((*key, StoreError::Full { place: "test disk".to_owned() }))
    }
}

/// A counterparty written by hand.
pub struct Peer {
    pub stream: TcpStream,
    received: Vec<u8>,
    sender: &'static str,
    target: &'static str,
    pub seq: u64,
}

pub fn timestamp() -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_nanos();
    let mut cache = SecondCache::new();
    String::from_utf8(cache.render(u64::try_from(now).unwrap(), Precision::Millis).to_vec()).unwrap()
}

impl Peer {
    pub fn connect(address: SocketAddr) -> Self {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_nodelay(true).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        Self { stream, received: Vec::new(), sender: "TRADER", target: "VENUE", seq: 1 }
    }

    pub fn named(mut self, sender: &'static str, target: &'static str) -> Self {
        (self.sender, self.target) = (sender, target);
        self
    }

    /// A message of this counterparty with the next number.
    pub fn message(&mut self, msg_type: &str, fields: &str) -> Vec<u8> {
        let seq = self.seq;
        self.seq += 1;
        let more = if fields.is_empty() { String::new() } else { format!("|{fields}") };
        let (sender, target, time) = (self.sender, self.target, timestamp());
        message("FIX.4.4", &format!("35={msg_type}|49={sender}|56={target}|34={seq}|52={time}{more}"))
    }

    /// An order of so many bytes.
    pub fn order_of(&mut self, bytes: usize) -> Vec<u8> {
        let seq = self.seq;
        let fill = bytes - self.message("D", "11=large|58=x").len();
        // The digits of BodyLength take some of the bytes.
        for digits in 0..8 {
            self.seq = seq;
            let order = self.message("D", &format!("11=large|58=x{}", "x".repeat(fill - digits)));
            if order.len() == bytes {
                return order;
            }
        }
        panic!("no order has {bytes} bytes");
    }

    pub fn send(&mut self, msg_type: &str, fields: &str) {
        let bytes = self.message(msg_type, fields);
        self.stream.write_all(&bytes).unwrap();
    }

    /// Logs on and waits for the answer.
    pub fn log_on(&mut self) {
        self.send("A", "98=0|108=30");
        let answer = self.receive();
        assert!(answer.contains("|35=A|"), "{answer}");
    }

    /// The next message, with `|` for SOH; fails the test when there is none.
    pub fn receive(&mut self) -> String {
        self.try_receive().expect("a message should have come")
    }

    /// The next message; `None` when the connection was closed.
    pub fn try_receive(&mut self) -> Option<String> {
        loop {
            if let Some(at) = self.received.windows(4).position(|w| w == b"\x0110=")
                && let Some(end) = self.received[at + 1..].iter().position(|b| *b == 1)
            {
                let message: Vec<u8> = self.received.drain(..at + 1 + end + 1).collect();
                return Some(String::from_utf8(message).unwrap().replace('\u{1}', "|"));
            }
            let mut bytes = [0; 4096];
            match self.stream.read(&mut bytes) {
                Ok(0) => return None,
                Ok(n) => self.received.extend_from_slice(&bytes[..n]),
                Err(error) if error.kind() == std::io::ErrorKind::ConnectionReset => return None,
                Err(error) => panic!("reading: {error}"),
            }
        }
    }

    /// Nothing has come for a moment.
    pub fn hears_nothing(&mut self) {
        self.stream.set_read_timeout(Some(Duration::from_millis(100))).unwrap();
        let error = self.stream.read(&mut [0; 1]).expect_err("something came");
        assert!(
            matches!(error.kind(), std::io::ErrorKind::WouldBlock | std::io::ErrorKind::TimedOut),
            "{error}"
        );
        self.stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    }

    /// The connection is closed, and nothing was said before.
    pub fn closed_silently(&mut self) {
        assert_eq!(self.try_receive(), None);
        assert_eq!(self.received, b"");
    }
}

/// Waits until `done` says so; fails the test when it never does.
pub fn eventually(mut done: impl FnMut() -> bool) {
    let give_up = Instant::now() + Duration::from_secs(20);
    while !done() {
        assert!(Instant::now() < give_up, "it never happened");
        std::thread::sleep(Duration::from_millis(1));
    }
}
