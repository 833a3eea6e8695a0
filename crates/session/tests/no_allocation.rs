//! Property 1 of the design, for the core alone: after a warm-up neither side allocates for a
//! message, with validation in both directions, a store, resends and changes of the second.

#![allow(unsafe_code)] // the counting allocator

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::Arc;
use std::time::Duration;

use fixbolt_codec::{BodySink, Key, Message, MsgType, NewBody, Tag, Version};
use fixbolt_conformance::testing::{BEGIN, Side};
use fixbolt_dictionary::{Policy, Validator, fix_latest, fix40, fix44, fixt11};
use fixbolt_journal::MemoryStore;
use fixbolt_session::{
    Accepted, Application, Delivery, Event, Failure, Handle, Rate, Role, SendError, SessionDictionary,
    SessionId, SessionSettings, Turn,
};

struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
    static BYTES: Cell<usize> = const { Cell::new(0) };
}

fn count(bytes: usize) {
    // A thread that is ending has no counter any more, and is not measured.
    let _ = ALLOCATIONS.try_with(|n| n.set(n.get() + 1));
    let _ = BYTES.try_with(|n| n.set(n.get() + bytes));
}

// SAFETY: every call is passed to the system's allocator unchanged; counting accesses a cell that
// needs no allocation.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size());
        // SAFETY: the caller upholds the contract of `GlobalAlloc`, which is passed on unchanged.
        unsafe { System.alloc(layout) }
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(size);
        // SAFETY: the caller upholds the contract of `GlobalAlloc`, which is passed on unchanged.
        unsafe { System.realloc(memory, layout, size) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: the caller upholds the contract of `GlobalAlloc`, which is passed on unchanged.
        unsafe { System.dealloc(memory, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The number of messages per round and side.
const ROUND: u64 = 50;
/// Rounds before counting begins: the store's ring has wrapped and buffers have their final size.
const WARM_UP: u64 = 500;
const COUNTED: u64 = 2_000;
/// In one of this many rounds the network loses the messages.
const LOST_EVERY: u64 = 40;

#[derive(Default)]
struct Desk {
    messages: u64,
    rejects: u64,
    gaps: u64,
}

impl Application for Desk {
    fn on_message(&mut self, message: Message<'_>, turn: &mut Turn<'_>) -> Result<Delivery, Failure> {
        self.messages += 1;
        if message.msg_type() == b"D" {
            let id = message.get(Tag::new(11)).unwrap_or(b"?");
            report(turn.session(), id)?;
        }
        Ok(Delivery::Done)
    }

    fn on_event(&mut self, event: &Event<'_>, _: &mut Turn<'_>) -> Result<(), Failure> {
        match event {
            Event::Rejected { .. } | Event::RejectReceived { .. } => self.rejects += 1,
            Event::GapDetected { .. } => self.gaps += 1,
            _ => {}
        }
        Ok(())
    }
}

fn order(to: Handle<'_>, n: u64) -> Result<Accepted, SendError> {
    let mut draft = to.draft(MsgType::new(b"D"));
    draft
        .writer()
        .field(Key::new(11), &n)
        .bytes(Key::new(55), b"IBM")
        .bytes(Key::new(54), b"1")
        .bytes(Key::new(60), b"20260105-09:00:00.000")
        .field(Key::new(38), &(n % 1000 + 1))
        .bytes(Key::new(40), b"2")
        .bytes(Key::new(44), b"57.00");
    draft.send()
}

fn report(to: Handle<'_>, id: &[u8]) -> Result<Accepted, SendError> {
    let mut draft = to.draft(MsgType::new(b"8"));
    draft
        .writer()
        .bytes(Key::new(37), id)
        .bytes(Key::new(11), id)
        .bytes(Key::new(17), id)
        .bytes(Key::new(150), b"0")
        .bytes(Key::new(39), b"0")
        .bytes(Key::new(55), b"IBM")
        .bytes(Key::new(54), b"1")
        .bytes(Key::new(151), b"100")
        .bytes(Key::new(14), b"0")
        .bytes(Key::new(6), b"0");
    draft.send()
}

struct End {
    side: Side<Desk>,
    inbox: Vec<u8>,
}

impl End {
    fn new(
        role: Role,
        [trader, venue]: [&str; 2],
        validator: &Arc<Validator>,
        change: fn(&mut SessionSettings),
    ) -> Self {
        let (ours, theirs) = if role == Role::Initiator { (trader, venue) } else { (venue, trader) };
        let id = SessionId::between(Version::Fix44, ours.parse().unwrap(), theirs.parse().unwrap());
        let mut settings = SessionSettings::new(id.unwrap(), role);
        settings.dictionary = SessionDictionary::Own(Arc::clone(validator));
        settings.validation.outgoing = Some(Policy::standard());
        change(&mut settings);
        let store = Box::new(MemoryStore::with_limit(1 << 20));
        let side = Side::begin(BEGIN, Desk::default(), store, vec![settings]);
        Self { side, inbox: Vec::with_capacity(1 << 20) }
    }

    /// Reads the received bytes.
    fn read(&mut self) {
        let used = self.side.receive(0, &self.inbox);
        self.inbox.drain(..used);
    }
}

/// Moves what `from` may write to `to`, unless it is lost.
fn carry(from: &mut End, to: &mut End, lost: bool) -> bool {
    let bytes = from.side.writable(0);
    let length = bytes.len();
    if !lost {
        to.inbox.extend_from_slice(bytes);
    }
    from.side.written(0, length);
    if from.side.is_replaying(0) {
        from.side.wake(0, &[]);
    }
    to.read();
    length > 0
}

#[test]
fn no_message_allocates() {
    exchange(["TRADER", "VENUE"], |_| {});
}

#[test]
fn no_message_of_a_session_with_throttles_allocates() {
    exchange(["TRADER", "VENUE"], |s| {
        s.throttle.max_outbound_rate = Rate::new(Rate::MOST, Duration::from_millis(1));
        s.throttle.max_order_rate = s.throttle.max_outbound_rate;
        s.throttle.max_inbound_rate = s.throttle.max_outbound_rate;
    });
}

#[test]
fn no_message_of_a_session_with_sub_ids_allocates() {
    exchange(["TRADER/DESK/NY", "VENUE/FX"], |_| {});
}

fn exchange(parties: [&str; 2], change: fn(&mut SessionSettings)) {
    let validator = Arc::new(Validator::new(fix44()));
    let mut trader = End::new(Role::Initiator, parties, &validator, change);
    let mut venue = End::new(Role::Acceptor, parties, &validator, change);
    for end in [&mut venue, &mut trader] {
        end.side.connect(0);
    }
    let mut sent = 0;
    let mut before = 0;
    for round in 0..WARM_UP + COUNTED {
        if round == WARM_UP {
            before = ALLOCATIONS.get();
        }
        while carry(&mut trader, &mut venue, false) | carry(&mut venue, &mut trader, false) {}
        for _ in 0..ROUND {
            sent += 1;
            trader.side.act(0, |turn| order(turn.session(), sent)).unwrap();
        }
        if round % LOST_EVERY == 0 {
            carry(&mut trader, &mut venue, true);
        }
        for end in [&mut venue, &mut trader] {
            end.side.pass(Duration::from_millis(30));
        }
    }
    while carry(&mut trader, &mut venue, false) | carry(&mut venue, &mut trader, false) {}
    let allocations = ALLOCATIONS.get() - before;
    // The next message, which arrived, caused the last lost round to be requested.
    assert_eq!((venue.side.app.messages, trader.side.app.messages), (sent, sent));
    assert_eq!((venue.side.app.rejects, trader.side.app.rejects), (0, 0));
    assert!(venue.side.app.gaps > 0, "messages were resent");
    println!("{sent} orders and reports, {} gaps: {allocations} allocations", venue.side.app.gaps);
    assert_eq!(allocations, 0);
}

/// What docs/codec.md says of the memory of a session.
#[test]
fn what_a_session_keeps_for_validation_has_at_most_86_kib() {
    let latest = fix_latest().over(fixt11()).expect("it fits its transport");
    for dictionary in [fix40(), fix44(), &latest] {
        let validator = Validator::new(dictionary);
        let before = BYTES.get();
        let scratch = validator.scratch();
        let bytes = BYTES.get() - before + size_of_val(&scratch);
        assert!((80 << 10..86 << 10).contains(&bytes), "{}: {bytes}", dictionary.version().name);
    }
}
