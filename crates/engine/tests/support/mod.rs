//! Helpers for the engine's tests: a handwritten counterparty, and applications that record what
//! they see.
#![allow(dead_code, unreachable_pub)] // each test file uses a part

pub mod certificates;
pub mod lines;

use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use fixbolt::OperationError;
use fixbolt::codec::{BodySink, Key, Message, MsgType, NewBody, Precision, SecondCache, Tag};
use fixbolt::session::{
    AcceptedHeartBtInt, Application, Delivery, Event, Failure, LogonDecision, Resume, Role,
    SessionDictionary, SessionId, SessionKey, SessionSettings, Turn,
};
use fixbolt::store::{
    Intercept, Intercepted, MemoryStore, Position, Record, Recovered, Store, StoreError, WorkerWaker,
};
pub use fixbolt_conformance::testing::message;
use fixbolt_conformance::testing::unused;

/// How long an operator's call may take.
pub const LIMIT: Duration = Duration::from_secs(60);

/// The limit of an operator's call that is not waited for.
pub const AT_ONCE: Duration = Duration::from_millis(20);

/// Makes an operator's call again and again until the worker has begun with it.
pub fn begun<T>(operate: impl Fn() -> Result<T, OperationError>) -> Result<T, OperationError> {
    loop {
        match operate() {
            Err(OperationError::Withdrawn) => {}
            outcome => return outcome,
        }
    }
}

/// Returns a loopback address with a port that the system chooses.
pub fn anywhere() -> SocketAddr {
    SocketAddr::from((Ipv4Addr::LOCALHOST, 0))
}

pub fn id(text: &str) -> SessionId {
    text.parse().unwrap()
}

/// Returns settings without a dictionary: the messages of most tests have only an id.
pub fn of(name: &str, role: Role) -> SessionSettings {
    SessionSettings::new(id(name), role).with(|s| {
        s.dictionary = SessionDictionary::None;
        s.timing.accepted_heart_bt_int = AcceptedHeartBtInt::ANY;
    })
}

pub fn acceptor() -> SessionSettings {
    of("FIX.4.4:VENUE->TRADER", Role::Acceptor)
}

pub fn initiator() -> SessionSettings {
    of("FIX.4.4:TRADER->VENUE", Role::Initiator)
}

/// A directory for one test, which is removed when dropped.
pub struct Scratch(pub PathBuf);

impl Scratch {
    pub fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(unused(&format!("fixbolt-{name}")));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A message or event that an application saw.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Seen {
    LoggedOn,
    Ended(String),
    Message(String),
    Sent(u64, u64),
    NotSent(u64, String),
    Other(String),
}

/// Sends everything it sees to a channel; as a venue it answers orders with a report.
pub struct Recorder {
    seen: Sender<Seen>,
    answer: bool,
    /// How often it first answers an order with "not now".
    pub not_now: u32,
    /// The ClOrdIDs of orders on which it panics.
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
            let mut report = turn.session().draft(MsgType::new(b"8"));
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
            Event::Sent { ticket, seq } => Seen::Sent(ticket.number(), seq.0),
            Event::NotSent { ticket, why } => Seen::NotSent(ticket.number(), why.to_string()),
            other => Seen::Other(format!("{other:?}")),
        });
        Ok(())
    }
}

/// The receiver of everything that a [`Recorder`] saw.
pub struct Log(Receiver<Seen>);

impl Log {
    /// Returns what was seen next; fails the test if nothing arrives.
    pub fn next(&self) -> Seen {
        self.0.recv_timeout(Duration::from_secs(20)).expect("the application should have seen something")
    }

    /// Returns the next thing seen, if there is one already.
    pub fn now(&self) -> Option<Seen> {
        self.0.try_recv().ok()
    }

    /// Skips to the next thing that `wanted` accepts, and returns it.
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

/// A [`Recorder`] with a callback that the test replaces.
pub struct Scripted {
    pub recorder: Recorder,
    /// Called for each message; `None` passes it on to the recorder.
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

    /// Creates a venue that calls `on_message` for each message first.
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

/// The number of records that a store accepts before it is full.
struct Room(usize);

impl<S: Store> Intercept<S> for Room {
    fn append(&mut self, store: &mut S, session: SessionKey, record: &Record<'_>) -> Result<(), StoreError> {
        let full = StoreError::Full { place: "test disk".to_owned() };
        self.0 = self.0.checked_sub(1).ok_or(full)?;
        store.append(session, record)
    }
}

/// Returns a store that accepts this many records and is full then.
pub fn full_store(records: usize) -> impl Store {
    Intercepted::new(MemoryStore::new(), Room(records))
}

/// Controls a [`steered_store`] from the test.
#[derive(Default)]
pub struct Steering {
    /// The session whose records are refused and whose store cannot be opened.
    refused: Mutex<Option<SessionId>>,
    /// The session whose storage the store is to report as lost.
    failing: Mutex<Option<SessionId>>,
    waker: Mutex<Option<Arc<dyn WorkerWaker>>>,
    /// Whether acknowledgments are held back.
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

/// Returns a store that refuses and fails when the test tells it to.
pub fn steered_store() -> (impl Store, Arc<Steering>) {
    steered(Arc::default(), None)
}

/// Returns a store that refuses and fails when the test tells it to, and acknowledges late from a
/// thread of its own.
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
        let position = store.commit()?.position;
        if let Some(commits) = &self.commits {
            commits.send(position).unwrap();
        }
        Ok(position)
    }

    fn durable(&mut self, store: &mut S, session: SessionKey) -> Option<Position> {
        if self.commits.is_some() {
            return Some(Position(self.steering.acknowledged.load(Ordering::SeqCst)));
        }
        (store as &mut dyn Store).durable(session)
    }

    fn take_failure(&mut self, _: &mut S) -> Option<(SessionKey, StoreError)> {
        let id = self.steering.failing.lock().unwrap().take()?;
        let (key, _) = self.sessions.iter().find(|(_, open)| *open == id)?;
        Some((*key, StoreError::Full { place: "test disk".to_owned() }))
    }
}

/// A handwritten counterparty.
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
        Self::on(TcpStream::connect(address).unwrap())
    }

    /// A counterparty that was connected to.
    pub fn on(stream: TcpStream) -> Self {
        stream.set_nodelay(true).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        Self { stream, received: Vec::new(), sender: "TRADER", target: "VENUE", seq: 1 }
    }

    pub fn named(mut self, sender: &'static str, target: &'static str) -> Self {
        (self.sender, self.target) = (sender, target);
        self
    }

    /// Returns a message of this counterparty with the next sequence number.
    pub fn message(&mut self, msg_type: &str, fields: &str) -> Vec<u8> {
        let seq = self.seq;
        self.seq += 1;
        let more = if fields.is_empty() { String::new() } else { format!("|{fields}") };
        let (sender, target, time) = (self.sender, self.target, timestamp());
        message("FIX.4.4", &format!("35={msg_type}|49={sender}|56={target}|34={seq}|52={time}{more}"))
    }

    /// Returns an order of exactly this many bytes.
    pub fn order_of(&mut self, bytes: usize) -> Vec<u8> {
        let seq = self.seq;
        let fill = bytes - self.message("D", "11=large|58=x").len();
        // Some of the bytes are the digits of BodyLength.
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

    /// Returns the next message, with `|` for SOH; fails the test if there is none.
    pub fn receive(&mut self) -> String {
        self.try_receive().expect("a message should have arrived")
    }

    /// Returns the next message; `None` if the connection was closed.
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

    /// Checks that nothing arrives for a moment.
    pub fn hears_nothing(&mut self) {
        self.stream.set_read_timeout(Some(Duration::from_millis(100))).unwrap();
        let error = self.stream.read(&mut [0; 1]).expect_err("something arrived");
        assert!(
            matches!(error.kind(), std::io::ErrorKind::WouldBlock | std::io::ErrorKind::TimedOut),
            "{error}"
        );
        self.stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    }

    /// Checks that the connection is closed and that nothing was received first.
    pub fn closed_silently(&mut self) {
        assert_eq!(self.try_receive(), None);
        assert_eq!(self.received, b"");
    }
}

/// Waits until `done` returns true; fails the test if it does not in time.
pub fn eventually(mut done: impl FnMut() -> bool) {
    let give_up = Instant::now() + Duration::from_secs(20);
    while !done() {
        assert!(Instant::now() < give_up, "it never happened");
        std::thread::sleep(Duration::from_millis(1));
    }
}
