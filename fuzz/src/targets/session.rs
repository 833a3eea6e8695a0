//! The session core in virtual time, driven as by an engine: a counterparty's bytes in pieces, a
//! clock, an application that echoes, fails, panics or says "not now", and a store that
//! acknowledges at once or late.
//!
//! What must hold in every case: everything on the wire is complete, numbered without gaps, and
//! committed before it is sent; a resent message has the body of its original; the application
//! receives each sequence number once; memory is bounded; silence ends the connection; and
//! afterwards a correct logon works.

use std::collections::HashMap;
use std::num::{NonZeroU32, NonZeroU64};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use fixbolt_codec::{
    BodySink, DataFields, EncodeErrorKind, Frame, Framer, FromField, Index, Key, Message, MsgType, NewBody,
    SeqNum, Span, Tag, UtcTimestamp, Version,
};
use fixbolt_conformance::store::Late;
use fixbolt_conformance::testing::message;
use fixbolt_dictionary::{Validator, fix42, fix44};
use fixbolt_journal::MemoryStore;
use fixbolt_session::runtime::mono;
use fixbolt_session::store::Store;
use fixbolt_session::{
    AcceptedHeartBtInt, Application, Delivery, Event, Failure, MatrixState, Next, Now, Phase, Read,
    ReplayInterleave, Resend, ResendAnswer, ResendOverLimit, ResendRange, Role, SendError, SessionDictionary,
    SessionId, SessionKey, SessionReject, SessionRejectCode, SessionSettings, Sessions, Socket, Turn, Utc,
};

use super::watched::{Seen, Watched};
use crate::random::Random;

/// Returns the validator of a version, which is created once.
fn validator(version: Version) -> Arc<Validator> {
    static FIX42: LazyLock<Arc<Validator>> = LazyLock::new(|| Arc::new(Validator::new(fix42())));
    static FIX44: LazyLock<Arc<Validator>> = LazyLock::new(|| Arc::new(Validator::new(fix44())));
    Arc::clone(if version == Version::Fix42 { &FIX42 } else { &FIX44 })
}

const MOST: usize = 8192;
const OUTBOX: usize = 32 * 1024;

pub(super) fn seeds() -> Vec<Vec<u8>> {
    let talk = |version: &str, bodies: &[&str]| -> Vec<u8> {
        let mut stream = Vec::new();
        for (n, body) in bodies.iter().enumerate() {
            let (kind, rest) = body.split_once('|').expect("a kind");
            let number = format!("34={}|", n + 1);
            let number = if rest.contains("34=") { "" } else { &number };
            let header = format!("35={kind}|49=TRADER|56=VENUE|{number}52=20260105-10:00:00.000|");
            stream.extend(message(version, &format!("{header}{rest}")));
        }
        stream
    };
    let order = "D|11=ord1|21=1|55=IBM|54=1|60=20260105-10:00:00|38=100|40=2|44=57.00|";
    let logon = "A|98=0|108=30|";
    vec![
        talk("FIX.4.2", &[logon, order, "1|112=are you there|", "2|7=1|16=0|", order, "0|", "5|"]),
        talk(
            "FIX.4.4",
            &["A|98=0|108=30|141=Y|", order, "2|7=2|16=2|", "4|123=Y|36=9|", order, "3|45=2|58=no|", order],
        ),
        talk(
            "FIX.4.4",
            &[
                logon,
                "D|34=5|11=b|55=X|54=1|38=1|40=1|",
                "D|34=2|43=Y|122=20260105-09:59:59|11=a|",
                "4|36=20|",
                order,
            ],
        ),
        talk(
            "FIX.4.2",
            &["A|98=0|108=1|", "4|34=7|123=Y|36=12|", "2|34=2|7=1|16=999999|", "1|34=3|112=x|", "5|34=20|"],
        ),
        talk(
            "FIX.4.4",
            &[
                logon,
                order,
                order,
                order,
                order,
                "2|7=1|16=3|",
                "2|7=1|16=0|",
                "A|98=0|108=30|141=Y|34=1|",
                order,
            ],
        ),
        talk(
            "FIX.4.2",
            &[
                logon,
                "8|37=o|17=e|115=CLIENT|129=DESK|",
                "j|45=1|372=D|380=0|",
                "B|148=h|95=3|96=a=b|",
                "x|1=2|",
            ],
        ),
        talk("FIX.4.4", &["A|98=0|108=0|", order, "0|112=y|", "5|58=bye|"]),
        talk(
            "FIX.4.4",
            &["A|34=18446744073709551615|98=0|108=30|", "4|34=1|36=18446744073709551615|", order],
        ),
    ]
}

pub(super) fn run(data: &[u8]) {
    // The last bytes choose the settings, so that removing bytes from the beginning of a failing
    // input does not change them.
    let mut random = Random::of_bytes(&data[data.len().saturating_sub(16)..]);
    let version = if data.starts_with(b"8=FIX.4.2") { Version::Fix42 } else { Version::Fix44 };
    let role = if random.one_in(3) { Role::Initiator } else { Role::Acceptor };
    let mut world = World::new(version, role, &mut random);
    world.no_heartbeats = data.windows(6).any(|six| six.starts_with(b"108=0") || six == b"108=-0");
    // The second time, the same bytes arrive again: sequence numbers that are too low now, resent
    // messages, another logon.
    for _ in 0..1 + random.below(3) {
        if world.sessions.halted(world.key).is_some() {
            break;
        }
        world.connect();
        let mut at = 0;
        while at < data.len() && world.is_open() {
            let piece = if random.one_in(2) { data.len() } else { 1 + random.below(200) };
            let end = (at + piece).min(data.len());
            world.arrive(&data[at..end]);
            at = end;
            if random.one_in(4) {
                world.pass(random.below(3_000) as u64);
            }
        }
        if random.one_in(2) {
            world.fall_silent();
        }
        world.disconnect();
    }
    world.recover();
}

/// A worker with one session and the two ends of its connection.
struct World {
    sessions: Sessions,
    key: SessionKey,
    /// What the session asks for.
    next: Next,
    now: Now,
    app: Echo,
    seen: Seen,
    role: Role,
    version: Version,
    /// Bytes that the session has not consumed yet.
    buffer: Vec<u8>,
    wire: Wire,
    /// The counterparty may have asked for no heartbeats: then a session that is logged on may wait
    /// forever.
    no_heartbeats: bool,
}

impl World {
    fn new(version: Version, role: Role, random: &mut Random) -> Self {
        let memory = MemoryStore::with_limit(if random.one_in(4) { 8 * 1024 } else { 256 * 1024 });
        let (store, seen): (Box<dyn Store>, Seen) = if random.one_in(2) {
            let (store, seen) = Watched::around(Late::around(memory));
            (Box::new(store), seen)
        } else {
            let (store, seen) = Watched::around(memory);
            (Box::new(store), seen)
        };
        let mut sessions = Sessions::new(store, MOST);
        let id = SessionId::new(version, "VENUE", "TRADER").expect("a good identity");
        let mut settings = SessionSettings::new(id, role);
        if random.one_in(2) {
            settings.timing.accepted_heart_bt_int = AcceptedHeartBtInt::ANY;
        }
        settings.limits.outbound_buffer_size = OUTBOX;
        settings.limits.reorder_buffer_size = 4096;
        settings.limits.max_message_size = MOST;
        settings.reset.reset_on_logon = random.one_in(4);
        settings.reset.reset_on_logout = random.one_in(8);
        settings.reset.reset_on_disconnect = random.one_in(8);
        settings.resend.resend_horizon =
            random.one_in(4).then(|| 1 + random.below(20) as u64).and_then(NonZeroU64::new);
        settings.resend.resend_request_chunk_size =
            random.one_in(4).then(|| 1 + random.below(5) as u64).and_then(NonZeroU64::new);
        settings.resend.closed_resend_interval = random.one_in(4);
        settings.resend.send_redundant_resend_requests = random.one_in(4);
        settings.resend.send_next_expected_msg_seq_num = random.one_in(4);
        settings.resend.replay_interleave = match random.below(6) {
            0 => ReplayInterleave::All,
            1 => ReplayInterleave::Heartbeats,
            _ => ReplayInterleave::None,
        };
        settings.resend.max_replay_rate =
            random.one_in(8).then(|| 1 + random.below(1000) as u32).and_then(NonZeroU32::new);
        settings.resend.max_resend_range =
            random.one_in(4).then(|| 1 + random.below(20) as u64).and_then(NonZeroU64::new);
        settings.resend.max_resends =
            random.one_in(4).then(|| 1 + random.below(3) as u32).and_then(NonZeroU32::new);
        if random.one_in(2) {
            settings.resend.resend_over_limit = ResendOverLimit::GapFill;
        }
        settings.resend.max_resend_requests = NonZeroU32::MIN.saturating_add(random.below(4) as u32);
        settings.resend.enable_last_msg_seq_num_processed = random.one_in(4);
        settings.validation.disconnect_on_error = random.one_in(8);
        settings.reset.reset_on_error = random.one_in(8);
        settings.dictionary = match random.one_in(2) {
            true => SessionDictionary::Own(validator(version)),
            false => SessionDictionary::None,
        };
        let utc = UtcTimestamp::from_field(b"20260105-10:00:00.000")
            .expect("a time")
            .to_unix_nanos()
            .expect("in range");
        let now = Now { mono: mono(1_000_000_000_000), utc: Utc(utc) };
        let mut app =
            Echo { mood: Mood::of(random), random: random.clone(), done: 0, delivered: 0, violation: None };
        let interleaves = settings.resend.replay_interleave != ReplayInterleave::None;
        let key = sessions.open(now, settings, &mut app).expect("an empty store opens");
        Self {
            sessions,
            key,
            next: Next::default(),
            now,
            app,
            seen,
            role,
            version,
            buffer: Vec::new(),
            wire: Wire { interleaves, ..Wire::default() },
            no_heartbeats: false,
        }
    }

    fn connect(&mut self) {
        assert!(self.sessions.can_connect(self.key), "disconnected and not halted, but refuses a connection");
        self.buffer.clear();
        self.wire.connected(self.sessions.numbers(self.key).unwrap().1);
        self.sessions.connected(self.now, self.key, &mut self.app);
        self.follow_numbers();
        self.write();
    }

    /// A reset at either end of a connection comes without an event.
    fn follow_numbers(&mut self) {
        self.app.done = self.sessions.numbers(self.key).unwrap().0.0 - 1;
    }

    /// Returns what the session asks for.
    fn next(&mut self) -> Next {
        while let Some((_, next)) = self.sessions.poll() {
            self.next = next;
        }
        self.next
    }

    fn replays(&self) -> bool {
        self.sessions.matrix_state(self.key) == Some(MatrixState::HandlingResendRequest)
    }

    fn is_open(&mut self) -> bool {
        !self.next().close && self.sessions.phase(self.key) != Phase::Disconnected
    }

    fn arrive(&mut self, bytes: &[u8]) {
        self.buffer.extend_from_slice(bytes);
        loop {
            let consumed = self.sessions.receive(self.now, self.key, &self.buffer, &mut self.app);
            self.consumed(consumed);
            self.write();
            if self.next().read != Read::Again {
                break;
            }
        }
        // "Not now" and a full outbox end when time passes and the socket accepts bytes.
        let mut rounds = 0;
        while (self.next().read == Read::Nothing || self.replays()) && self.is_open() {
            rounds += 1;
            assert!(rounds < 20_000, "the session stays blocked although the socket accepts everything");
            self.pass(1);
        }
        if self.is_open() {
            assert!(self.buffer.len() <= MOST, "{} bytes wait in the buffer", self.buffer.len());
        }
    }

    fn consumed(&mut self, bytes: usize) {
        assert!(bytes <= self.buffer.len(), "consumed more than there was");
        self.buffer.drain(..bytes);
    }

    /// Advances the clock by this many milliseconds.
    fn pass(&mut self, milliseconds: u64) {
        self.now.mono = self.now.mono + Duration::from_millis(milliseconds);
        self.now.utc.0 += milliseconds * 1_000_000;
        let consumed = self.sessions.wake(self.now, self.key, &self.buffer, &mut self.app);
        self.consumed(consumed);
        self.write();
    }

    /// The socket accepts everything that the store has released, until nothing is left.
    fn write(&mut self) {
        for _ in 0..6 {
            self.sessions.store_advanced(self.now, &mut self.app);
            let bytes = self.sessions.writable(self.key).bytes.to_vec();
            assert!(bytes.len() <= OUTBOX, "more to write than fits into the outbox");
            self.wire.next_out = self.sessions.numbers(self.key).unwrap().1.0;
            self.wire.sent(&bytes, &self.seen, self.version);
            self.sessions.wrote(self.now, self.key, bytes.len(), Socket::Full);
            if !self.next().output {
                break;
            }
        }
        assert!(!self.next().output, "the store has released everything, but bytes remain");
        assert_eq!(self.app.violation, None);
        self.sessions.check();
    }

    /// The counterparty sends nothing more: the connection ends after a bounded number of
    /// deadlines.
    fn fall_silent(&mut self) {
        for _ in 0..200 {
            if !self.is_open() {
                return;
            }
            let endless = self.no_heartbeats && self.sessions.phase(self.key) == Phase::LoggedOn;
            let Some(deadline) = self.next().deadline else {
                assert!(endless, "no deadline, in phase {:?}", self.sessions.phase(self.key));
                return;
            };
            let step = deadline - self.now.mono;
            self.now.mono = self.now.mono + step;
            self.now.utc = self.now.utc + step;
            self.pass(0);
            let mut calls = 0;
            while let Some(next) = self.next().deadline
                && next <= self.now.mono
                && self.is_open()
            {
                // What was kept, or is sent again, is sent a few messages a call.
                let (_, next_out) = self.sessions.numbers(self.key).unwrap();
                let replays = self.replays();
                // What has waited for the socket goes on.
                let most = if replays { next_out.0 } else { 100 };
                calls += 1;
                assert!(calls <= most, "a deadline that has passed stays: a busy loop");
                self.pass(0);
            }
            if endless {
                return;
            }
        }
        panic!(
            "the counterparty is silent, but the connection continues in phase {:?}",
            self.sessions.phase(self.key)
        );
    }

    fn disconnect(&mut self) {
        self.sessions.disconnected(self.now, self.key, &mut self.app);
        self.follow_numbers();
        assert_eq!(self.sessions.phase(self.key), Phase::Disconnected);
        assert!(
            self.sessions.writable(self.key).bytes.is_empty(),
            "bytes of the old connection wait for the next one"
        );
    }

    /// A correct counterparty connects and is served, whatever happened before.
    fn recover(&mut self) {
        self.app.mood = Mood::Good;
        if self.sessions.halted(self.key).is_some() {
            let skipped = self.sessions.skip(self.now, self.key, "fuzz", &mut self.app);
            assert_eq!(
                skipped,
                Ok(()),
                "halted by something that an operator cannot skip: {:?}",
                self.sessions.halted(self.key)
            );
        }
        self.connect();
        let (next_in, _) = self.sessions.numbers(self.key).unwrap();
        // The answer to a reset is a reset.
        let reset = self.role == Role::Acceptor || self.wire.said.contains(r"\x01141=Y\x01");
        let number = if reset { 1 } else { next_in.0 };
        if number > u64::MAX / 2 {
            return;
        }
        let flag = if reset { "141=Y|" } else { "" };
        let time = self.time();
        let header = |kind: &str, number: u64| format!("35={kind}|49=TRADER|56=VENUE|34={number}|52={time}|");
        self.arrive(&message(
            self.version.begin_string(),
            &format!("{}98=0|108=30|{flag}", header("A", number)),
        ));
        assert_eq!(
            self.sessions.phase(self.key),
            Phase::LoggedOn,
            "a correct Logon is answered with {}",
            self.wire.said
        );
        let delivered = self.app.delivered;
        self.arrive(&message(
            self.version.begin_string(),
            &format!("{}11=last|21=1|55=IBM|54=1|60=20260105-10:00:00|38=1|40=1|", header("D", number + 1)),
        ));
        assert_eq!(self.app.delivered, delivered + 1, "a correct order is answered with {}", self.wire.said);
    }

    fn time(&self) -> String {
        let mut cache = fixbolt_codec::SecondCache::default();
        String::from_utf8_lossy(cache.render(self.now.utc.0, fixbolt_codec::Precision::Millis)).into_owned()
    }
}

/// What is known about the messages that were sent.
#[derive(Default)]
struct Wire {
    /// A message that is not complete yet.
    rest: Vec<u8>,
    /// The sequence number of the next message that is sent for the first time.
    next: u64,
    /// Messages sent for the first time since the sequence numbers began at 1, which resent ones
    /// must repeat.
    originals: HashMap<u64, Vec<(u32, Vec<u8>)>>,
    /// Whether new messages are sent between those of a replay, before their turn.
    interleaves: bool,
    /// The session's NextNumOut, which includes kept messages before they are on the wire.
    next_out: u64,
    /// Whether a Logout was sent in this connection.
    logged_out: bool,
    /// Whether it was sent in front of messages that were kept, so that it was the last message.
    left: bool,
    /// Number of messages sent.
    count: usize,
    /// The last message sent, for failure reports.
    said: String,
    /// The one before it.
    before: Vec<String>,
}

impl Wire {
    fn connected(&mut self, next_out: SeqNum) {
        self.rest.clear();
        // After a reset that has crossed our Logout, numbers begin with 2 (R-RESET-13).
        if next_out.0 < self.next {
            self.originals.clear();
        }
        self.next = next_out.0;
        (self.logged_out, self.left) = (false, false);
    }

    fn sent(&mut self, bytes: &[u8], seen: &Seen, version: Version) {
        self.rest.extend_from_slice(bytes);
        let stream = std::mem::take(&mut self.rest);
        let (mut tags, mut spans) = (vec![0; 2048], vec![Span::default(); 2048]);
        let mut framer = Framer::new(64 * 1024);
        let mut at = 0;
        loop {
            match framer.next(&stream[at..]) {
                Frame::Message(framed) => {
                    let mut index = Index::new(&mut tags, &mut spans);
                    let text = framed.bytes().escape_ascii();
                    let message =
                        index.build(framed).unwrap_or_else(|error| panic!("we sent {text}: {error:?}"));
                    assert_eq!(message.fault(), None, "we sent {text}");
                    assert_eq!(message.begin_string(), version.begin_string().as_bytes());
                    self.message(&message, seen);
                    at += framed.bytes().len();
                }
                Frame::Garbled { bytes, error } => {
                    panic!("we sent garbled bytes ({error:?}): {}", bytes.escape_ascii())
                }
                Frame::Incomplete { .. } => break,
            }
        }
        self.rest = stream[at..].to_vec();
    }

    fn message(&mut self, message: &Message<'_>, seen: &Seen) {
        let text = message.bytes().escape_ascii();
        assert!(!self.left, "after the Logout that ended the session {} comes {text}", self.said);
        self.before.push(std::mem::replace(&mut self.said, text.to_string()));
        if self.before.len() > 8 {
            self.before.remove(0);
        }
        self.count += 1;
        assert!(self.count < 5_000, "message number {}: {text}", self.count);
        let field = |tag: u32| message.get(Tag::new(tag));
        assert_eq!((field(49), field(56)), (Some(&b"VENUE"[..]), Some(&b"TRADER"[..])), "{text}");
        let number = u64::from_field(field(34).unwrap_or_default())
            .unwrap_or_else(|_| panic!("no sequence number: {text}"));
        if field(43) == Some(b"Y") {
            let end = self.next.max(self.next_out);
            assert!(number < end, "a resent message that was never written, {end} is next: {text}");
            if message.msg_type() == b"4" {
                let next = u64::from_field(field(36).unwrap_or_default()).unwrap_or_default();
                assert!(field(123) == Some(b"Y") && next > number && next <= end, "gap fill: {text}");
            } else if let Some(original) = self.originals.get(&number) {
                assert_eq!(&content(message), original, "a resent message with another body: {text}");
            }
            return;
        }
        assert!(seen.is_safe(message.bytes()), "on the wire before it was safe in the store: {text}");
        if number == 1 && message.msg_type() == b"A" {
            self.originals.clear();
            self.next = 1;
        } else {
            // After our Logout the application's answers are kept for the next connection.
            // The Logout that ends the session does not wait for messages that are kept, either.
            let logout = message.msg_type() == b"5";
            let kept = number > self.next && (self.logged_out || logout);
            let is_first = self.interleaves && !self.originals.contains_key(&number);
            let in_order = number == self.next || kept || is_first;
            assert!(in_order, "{} is next, and after {:#?} comes {text}", self.next, self.before);
            self.left = kept && logout && !self.logged_out;
        }
        self.logged_out |= message.msg_type() == b"5";
        let next = number.saturating_add(1);
        self.next = if self.interleaves { self.next.max(next) } else { next };
        self.originals.insert(number, content(message));
    }
}

/// Returns the fields that a resent message shares with its original.
fn content(message: &Message<'_>) -> Vec<(u32, Vec<u8>)> {
    (0..message.len())
        .filter(|n| !matches!(message.tags()[*n], 8 | 9 | 10 | 43 | 52 | 122 | 369))
        .map(|n| (message.tags()[n], message.value(n).to_vec()))
        .collect()
}

#[derive(Clone, Copy, PartialEq, Debug)]
enum Mood {
    Good,
    Hesitant,
    Failing,
    Panicking,
    Rejecting,
}

/// An application that sends every message back, unless its mood is to fail.
struct Echo {
    mood: Mood,
    random: Random,
    /// The last sequence number that was processed completely.
    done: u64,
    delivered: usize,
    /// What the core did wrong; a panic in a callback would count as the application's.
    violation: Option<String>,
}

impl Application for Echo {
    fn on_message(&mut self, message: Message<'_>, turn: &mut Turn<'_>) -> Result<Delivery, Failure> {
        let number = turn.seq().map_or(0, |seq| seq.0);
        if number <= self.done {
            self.violation = Some(format!("{number} is delivered after {}", self.done));
        }
        let odd = self.random.one_in(3);
        match self.mood {
            Mood::Hesitant if odd => return Ok(Delivery::NotNow),
            Mood::Failing if odd => {
                // What was written before is rolled back.
                let _ = echo(message, turn);
                return Err(Failure::new("in a failing mood"));
            }
            Mood::Panicking if odd => {
                let _ = echo(message, turn);
                panic!("the application panics, as its mood says");
            }
            _ => {}
        }
        let delivery = match self.mood {
            Mood::Rejecting if odd => Delivery::UNSUPPORTED,
            Mood::Rejecting => Delivery::Reject(
                SessionReject::new(SessionRejectCode::VALUE_IS_INCORRECT).tag(Tag::new(55)).text("not here"),
            ),
            _ => echo(message, turn)?,
        };
        self.done = number;
        self.delivered += 1;
        Ok(delivery)
    }

    fn on_resend_request(&mut self, _: ResendRange, _: &mut Turn<'_>) -> Result<ResendAnswer, Failure> {
        Ok(match self.random.below(20) {
            0 => ResendAnswer::GapFill,
            1 => ResendAnswer::refuse("not now"),
            _ => ResendAnswer::AsUsual,
        })
    }

    fn on_resend(&mut self, _: Message<'_>, _: &mut Turn<'_>) -> Result<Resend, Failure> {
        Ok(if self.random.one_in(5) { Resend::GapFill } else { Resend::Send })
    }

    fn on_event(&mut self, event: &Event<'_>, turn: &mut Turn<'_>) -> Result<(), Failure> {
        if let Event::SequenceChanged { next_in, .. } = event {
            self.done = next_in.0 - 1;
        }
        if self.random.one_in(8) {
            let mut note = turn.session().draft(MsgType::new(b"B"));
            note.writer().bytes(Key::new(148), b"written because of an event");
            let sent = note.send();
            // No room, or not logged on: not an error.
            if self.mood == Mood::Failing && self.random.one_in(8) {
                sent?;
                return Err(Failure::new("at an event"));
            }
        }
        Ok(())
    }
}

/// Sends the body of the message back. A body that would not be a valid message is not sent.
fn echo(message: Message<'_>, turn: &mut Turn<'_>) -> Result<Delivery, SendError> {
    let Some(msg_type) = MsgType::try_new(message.msg_type()) else { return Ok(Delivery::Done) };
    let mut draft = turn.session().draft(msg_type);
    let writer = draft.writer();
    for field in message.fields() {
        let Some(tag) = field.tag else { continue };
        let number = tag.number();
        let of_data = DataFields::STANDARD.data_tag(number).is_some()
            || DataFields::STANDARD.length_tag(number).is_some();
        if HEADER_AND_TRAILER.contains(&number) || of_data {
            continue;
        }
        writer.bytes(Key::of(tag), field.value);
    }
    match draft.writer().error() {
        Some(error) if error.kind != EncodeErrorKind::NoRoom => Ok(Delivery::Done),
        _ => match draft.send() {
            Ok(_) | Err(SendError::TooLarge { .. } | SendError::SessionMessage) => Ok(Delivery::Done),
            Err(SendError::BackPressure) => Ok(Delivery::NotNow),
            Err(error) => Err(error),
        },
    }
}

const HEADER_AND_TRAILER: &[u32] = &[
    8, 9, 10, 34, 35, 43, 49, 50, 52, 56, 57, 90, 91, 97, 115, 116, 122, 128, 129, 142, 143, 144, 145, 212,
    213, 347, 369, 370, 627, 1128, 1129, 1156,
];

impl Mood {
    fn of(random: &mut Random) -> Self {
        *random.pick(&[
            Self::Good,
            Self::Good,
            Self::Hesitant,
            Self::Failing,
            Self::Panicking,
            Self::Rejecting,
        ])
    }
}
