//! Two sides with small outboxes over a socket with little room: neither waits forever, and nothing
//! is lost.

use fixbolt_codec::{BodySink, Key, Message, MsgType, NewBody};
use fixbolt_conformance::testing::{Side, settings_of};
use fixbolt_session::{Application, Delivery, Failure, Read, Role, SendError, Turn};

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

struct End {
    side: Side<Count>,
    /// The bytes in the socket, and those that the session has been given but has not consumed.
    socket: Vec<u8>,
    inbox: Vec<u8>,
}

impl End {
    fn new(id: &str, role: Role) -> Self {
        let settings = settings_of(id, role)
            .with(|s| (s.limits.outbound_buffer_size, s.limits.max_message_size) = (16 * 1024, 8 * 1024));
        let mut side = Side::with_app(Count::default(), vec![settings]);
        side.connect(0);
        Self { side, socket: Vec::new(), inbox: Vec::new() }
    }

    fn send(&mut self, size: usize) -> bool {
        let sent = self.side.act(0, |turn| {
            let mut draft = turn.session().draft(MsgType::new(b"B"));
            draft.writer().bytes(Key::new(148), &vec![b'x'; size]);
            draft.send()
        });
        assert!(matches!(sent, Ok(_) | Err(SendError::BackPressure)));
        sent.is_ok()
    }

    /// Reads as an engine does: not while the session is blocked.
    fn read(&mut self) -> bool {
        if self.side.next(0).read == Read::Nothing {
            return false;
        }
        let moved = !self.socket.is_empty() || self.side.next(0).read == Read::Again;
        self.inbox.append(&mut self.socket);
        let used = self.side.receive(0, &self.inbox);
        self.inbox.drain(..used);
        moved
    }

    fn write(&mut self, to: &mut Self) -> bool {
        let bytes = self.side.write(0, SOCKET - to.socket.len());
        to.socket.extend_from_slice(&bytes);
        let taken = bytes.len();
        if taken > 0 && (self.side.next(0).read == Read::Nothing || self.side.is_replaying(0)) {
            let used = self.side.wake(0, &self.inbox);
            self.inbox.drain(..used);
        }
        taken > 0
    }

    /// Discards the queued bytes, as a network failure does.
    fn lose(&mut self) {
        self.side.write(0, usize::MAX);
    }
}

/// Lets each side read and write once. Returns whether anything moved.
fn round(a: &mut End, b: &mut End) -> bool {
    a.write(b) | b.write(a) | a.read() | b.read()
}

/// Continues until nothing moves any more.
fn settle(a: &mut End, b: &mut End) {
    for _ in 0..100_000 {
        if !round(a, b) {
            return;
        }
    }
    panic!("they never become quiet");
}

fn pair() -> (End, End) {
    let (mut a, mut b) =
        (End::new("FIX.4.4:A->B", Role::Initiator), End::new("FIX.4.4:B->A", Role::Acceptor));
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
    assert_eq!((a.side.app.0, b.side.app.0), (101, 101));
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
            b.side.app.0,
            a.side.app.0
        );
    }
    settle(&mut a, &mut b);
    assert_eq!([b.side.app.0, a.side.app.0], sent);
}
