//! Two sides with small outboxes over a socket with little room: neither waits forever, and nothing
//! is lost.

use fixbolt_codec::{BodySink, Key, Message, MsgType, NewBody, Version};
use fixbolt_journal::MemoryStore;
use fixbolt_session::{
    Application, Delivery, Failure, Mono, Now, Role, SendError, SessionDictionary, SessionId, SessionKey,
    SessionSettings, Sessions, Turn, Utc,
};

const KEY: SessionKey = SessionKey::new(0, 0, 0);
const NOW: Now = Now { mono: Mono(1_000_000_000), utc: Utc(1_767_603_600_000_000_000) };
/// The number of bytes that a socket accepts before they are read.
const SOCKET: usize = 500;

#[derive(Default)]
struct Count(u64);

impl Application for Count {
    fn on_message(&mut self, _: Message<'_>, _: &mut Turn<'_>) -> Result<Delivery, Failure> {
        self.0 += 1;
        Ok(Delivery::Done)
    }
}

struct Side {
    sessions: Sessions,
    got: Count,
    /// The bytes in the socket, and those that the session has been given but has not consumed.
    socket: Vec<u8>,
    inbox: Vec<u8>,
}

impl Side {
    fn new(ours: &str, theirs: &str, role: Role) -> Self {
        let mut settings = SessionSettings::new(SessionId::new(Version::Fix44, ours, theirs).unwrap(), role);
        settings.dictionary = SessionDictionary::None;
        settings.outbox_size = 16 * 1024;
        settings.max_message_size = 8 * 1024;
        let mut sessions = Sessions::new(Box::new(MemoryStore::new()), 8 * 1024);
        let mut got = Count::default();
        sessions.open(NOW, settings, &mut got).unwrap();
        sessions.connected(NOW, KEY, &mut got);
        Self { sessions, got, socket: Vec::new(), inbox: Vec::new() }
    }

    fn send(&mut self, size: usize) -> bool {
        let sent = self.sessions.act(NOW, KEY, &mut self.got, |turn| {
            let mut draft = turn.reply().draft(MsgType::new(b"B"));
            draft.writer().bytes(Key::new(148), &vec![b'x'; size]);
            draft.send()
        });
        assert!(matches!(sent, Ok(_) | Err(SendError::BackPressure)));
        sent.is_ok()
    }

    /// Reads as an engine does: not while the session is blocked.
    fn read(&mut self) -> bool {
        if self.sessions.is_blocked(KEY) {
            return false;
        }
        let moved = !self.socket.is_empty() || self.sessions.has_more(KEY);
        self.inbox.append(&mut self.socket);
        let used = self.sessions.receive(NOW, KEY, &self.inbox, &mut self.got);
        self.inbox.drain(..used);
        moved
    }

    fn write(&mut self, to: &mut Self) -> bool {
        let bytes = self.sessions.writable(KEY);
        let taken = bytes.len().min(SOCKET - to.socket.len());
        to.socket.extend_from_slice(&bytes[..taken]);
        self.sessions.written(NOW, KEY, taken);
        if taken > 0 && (self.sessions.is_blocked(KEY) || self.sessions.is_replaying(KEY)) {
            let used = self.sessions.wake(NOW, KEY, &self.inbox, &mut self.got);
            self.inbox.drain(..used);
        }
        taken > 0
    }

    /// Discards the queued bytes, as a network failure does.
    fn lose(&mut self) {
        let queued = self.sessions.writable(KEY).len();
        self.sessions.written(NOW, KEY, queued);
    }
}

/// Lets each side read and write once. Returns whether anything moved.
fn round(a: &mut Side, b: &mut Side) -> bool {
    a.write(b) | b.write(a) | a.read() | b.read()
}

/// Continues until nothing moves any more.
fn settle(a: &mut Side, b: &mut Side) {
    for _ in 0..100_000 {
        if !round(a, b) {
            return;
        }
    }
    panic!("they never become quiet");
}

fn pair() -> (Side, Side) {
    let (mut a, mut b) = (Side::new("A", "B", Role::Initiator), Side::new("B", "A", Role::Acceptor));
    settle(&mut a, &mut b);
    (a, b)
}

#[test]
fn two_sides_that_resend_everything_at_the_same_time_keep_reading() {
    let (mut a, mut b) = pair();
    for side in [&mut a, &mut b] {
        for _ in 0..100 {
            assert!(side.send(6500));
            side.lose();
        }
        assert!(side.send(6500));
    }
    settle(&mut a, &mut b);
    assert_eq!((a.got.0, b.got.0), (101, 101));
}

#[test]
fn two_sides_that_send_as_fast_as_they_can_keep_reading() {
    let (mut a, mut b) = pair();
    let mut sent = [0, 0];
    for _ in 0..1000 {
        for (n, side) in [&mut a, &mut b].into_iter().enumerate() {
            while side.send(900) {
                sent[n] += 1;
            }
        }
        assert!(
            round(&mut a, &mut b),
            "both sides wait: {sent:?} sent, {} and {} received",
            b.got.0,
            a.got.0
        );
    }
    settle(&mut a, &mut b);
    assert_eq!([b.got.0, a.got.0], sent);
}
