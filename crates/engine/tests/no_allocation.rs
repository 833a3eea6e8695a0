//! Property 1 of the design: after start-up the loop allocates nothing, takes no lock and makes no
//! system calls except recv, send and epoll for a message. While it has none, it makes the pages of
//! its journals ready (madvise), and rarely wakes one of their threads. This holds with validation
//! and journals, in both roles, during segment changes, changes of the second, a long resend, a
//! long gap of the counterparty, and while orders are exchanged during both; for workers that
//! block, and for those that spin and have a message log.
//!
//! The *stretch* is the time between two points on each worker's thread. During it, a counting
//! allocator counts the allocations of that thread. Both points are also marked by a system call
//! that nothing else makes (`statx` of a path that does not exist), so that `.ci/syscalls`, which
//! runs this test under strace, can identify the worker threads and the stretch. It refuses all
//! calls except these. The clocks are read twice per cycle:
//! `clock_gettime` is in the vDSO and makes no system call if the kernel's clock source allows it
//! (tsc does).
//!
//! A contended lock would show up as `futex`. That the worker takes no lock at all has to be seen
//! in the code. These are the locks that it can reach, and when it takes them:
//!
//! - The worker signal's list of commands (stop, log out, resolve, a looked-up host): only when its
//!   atomic flag says that a command is waiting. Messages from other threads come through lock-free
//!   queues.
//! - The session registry: when a session is opened.
//! - The lock for threads that wait for room: only while one waits, which an atomic counter shows.
//!   A ring's own lock: never; it is for threads that add pages.
//! - A session's status: when a halt begins or ends.
//! - The channel through which the store thread passes the next segment: it is read once per
//!   segment. std's bounded channel locks only to wake a blocked sender, and the store thread never
//!   blocks on it.
//! - A journal's `maker`, `ahead` and `head`: they are locked by the store's threads. The worker
//!   locks them only when it closes a session, or does the threads' work because they are late.
//!   This work also allocates and makes system calls, so this test would fail.
//! - A journal's `failure`: only after a failure, which an atomic flag shows.
//! - A journal's `bells`: when the worker wakes a thread of the store. Others take it when they do
//!   so, too, and never while they wait for anything.
//!
//! `FIXBOLT_PROOF_ORDERS` sets the minimum number of orders in the stretch: 120,000 by default, a
//! million in `.ci/long`. The stretch continues until each journal has changed segments twice.

#[path = "support/allocations.rs"]
mod allocations;
mod support;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use allocations::ALLOCATIONS;
use fixbolt::codec::{Decimal, Message, UtcTimestamp};
use fixbolt::messages::fix44::fields::{ExecType, OrdStatus, OrdType, Side};
use fixbolt::messages::fix44::prelude::*;
use fixbolt::messages::fix44::{ExecutionReport, NewOrderSingle, execution_report, new_order_single};
use fixbolt::session::{
    Application, Delivery, Event, Failure, Role, SessionDictionary, SessionId, SessionReject,
    SessionRejectCode, SessionSettings, Turn,
};
use fixbolt::{Engine, EngineBuilder, Initiation, Waiting};
use support::*;

/// The number of orders in flight at any time.
const WINDOW: u64 = 64;
/// The number of orders before the stretch begins. By then the journals' segments have reached
/// their final size: the small first segments fill faster than the store thread can prepare the
/// next ones.
const WARM_UP: u64 = 40_000;
/// The number of messages that the handwritten counterparty requests again, and of those that it
/// withholds at first.
const RESENT: u64 = 12_000;
/// The number of its orders during the venue's resend, and after its own gap.
const LIVE: u64 = 50;
/// The number of its orders in flight.
const BATCH: u64 = 100;

/// The stretch of one worker, shared by its thread and the test's.
struct Stretch {
    /// The paths that mark its beginning and end among the system calls.
    marks: [&'static str; 2],
    open: AtomicBool,
    over: AtomicBool,
    messages: AtomicU64,
    begun: AtomicBool,
    ended: AtomicBool,
    allocations: AtomicU64,
}

impl Stretch {
    fn new(marks: [&'static str; 2]) -> Arc<Self> {
        Arc::new(Self {
            marks,
            open: AtomicBool::new(false),
            over: AtomicBool::new(false),
            messages: AtomicU64::new(0),
            begun: AtomicBool::new(false),
            ended: AtomicBool::new(false),
            allocations: AtomicU64::new(u64::MAX),
        })
    }

    /// Messages that the application has seen.
    fn messages(&self) -> u64 {
        self.messages.load(Ordering::Acquire)
    }

    /// Called on the worker's thread for each message.
    fn message(&self) {
        self.messages.fetch_add(1, Ordering::Release);
        if !self.begun.load(Ordering::Relaxed) {
            if self.open.load(Ordering::Acquire) {
                let _ = std::fs::metadata(self.marks[0]);
                self.allocations.store(ALLOCATIONS.get(), Ordering::Relaxed);
                self.begun.store(true, Ordering::Release);
            }
        } else if !self.ended.load(Ordering::Relaxed) && self.over.load(Ordering::Acquire) {
            let allocations = ALLOCATIONS.get() - self.allocations.load(Ordering::Relaxed);
            let _ = std::fs::metadata(self.marks[1]);
            self.allocations.store(allocations, Ordering::Relaxed);
            self.ended.store(true, Ordering::Release);
        }
    }
}

struct Venue(Arc<Stretch>);

impl Application for Venue {
    fn on_message(&mut self, message: Message<'_>, turn: &mut Turn<'_>) -> Result<Delivery, Failure> {
        let Ok(order) = NewOrderSingle::read(message) else { return Ok(Delivery::UNSUPPORTED) };
        let (Ok(id), Ok(side), Ok(Some(qty)), Ok(Some(price))) =
            (order.cl_ord_id(), order.side(), order.order_qty(), order.price())
        else {
            return Ok(Delivery::Reject(
                SessionReject::new(SessionRejectCode::OTHER).text("a limit order is expected"),
            ));
        };
        let required = execution_report::Required {
            order_id: id,
            exec_id: id,
            exec_type: ExecType::TRADE,
            ord_status: OrdStatus::FILLED,
            side,
            leaves_qty: 0,
            cum_qty: qty,
            avg_px: price,
        };
        ExecutionReport::send(turn.session(), required, |report| {
            report.cl_ord_id(id).symbol("IBM");
        })?;
        self.0.message();
        Ok(Delivery::Done)
    }
}

struct Trader {
    stretch: Arc<Stretch>,
    sent: u64,
    logged_on: Sender<()>,
}

fn order<'b, N: fixbolt::codec::NewBody<'b>>(
    to: N,
    n: u64,
    utc: u64,
) -> Result<
    <N::Draft as fixbolt::codec::BodySink<'b>>::Receipt,
    <N::Draft as fixbolt::codec::BodySink<'b>>::Error,
> {
    let mut id = *b"ord0000000000";
    for (place, digit) in id.iter_mut().rev().zip(0..10) {
        *place = b'0' + u8::try_from(n / 10u64.pow(digit) % 10).unwrap();
    }
    let required = new_order_single::Required {
        cl_ord_id: &id,
        side: Side::BUY,
        transact_time: UtcTimestamp::from_unix_nanos(utc, fixbolt::codec::Precision::Millis),
        ord_type: OrdType::LIMIT,
    };
    NewOrderSingle::send(to, required, |order| {
        order.symbol("IBM").order_qty(57).price(Decimal::from_parts(298_075, 3));
    })
}

impl Application for Trader {
    fn on_message(&mut self, message: Message<'_>, turn: &mut Turn<'_>) -> Result<Delivery, Failure> {
        let Ok(report) = ExecutionReport::read(message) else { return Ok(Delivery::UNSUPPORTED) };
        if !matches!(report.ord_status(), Ok(OrdStatus::FILLED)) {
            return Ok(Delivery::UNSUPPORTED);
        }
        self.sent += 1;
        let utc = turn.now().utc.0;
        order(turn.session(), self.sent, utc)?;
        self.stretch.message();
        Ok(Delivery::Done)
    }

    fn on_event(&mut self, event: &Event<'_>, _: &mut Turn<'_>) -> Result<(), Failure> {
        if matches!(event, Event::LoggedOn) {
            let _ = self.logged_on.send(());
        }
        Ok(())
    }
}

/// A handwritten counterparty in the test's thread: it makes the venue resend messages, and
/// withholds some of its own.
struct Forgetful(Peer);

impl Forgetful {
    fn log_on(address: std::net::SocketAddr) -> Self {
        let mut peer = Peer::connect(address).named("FORGETFUL", "VENUE");
        peer.stream.set_read_timeout(Some(Duration::from_secs(120))).unwrap();
        // No heartbeats: it is silent while the other sessions work.
        peer.send("A", "98=0|108=0");
        let answer = peer.receive();
        assert!(answer.contains("|35=A|"), "{answer}");
        Self(peer)
    }

    /// Returns the fields of an order after its header.
    fn order(n: u64) -> String {
        format!("11=forgetful{n}|55=IBM|54=1|60={}|38=57|40=2|44=298.075", timestamp())
    }

    /// Sends the next `n` orders in one write.
    fn send_orders(&mut self, n: u64) {
        let mut bytes = Vec::new();
        for _ in 0..n {
            let fields = Self::order(self.0.seq);
            bytes.extend(self.0.message("D", &fields));
        }
        self.write(&bytes);
    }

    fn write(&mut self, bytes: &[u8]) {
        use std::io::Write;
        self.0.stream.write_all(bytes).unwrap();
    }

    /// Reads the next `n` reports, none of which may be a resent one.
    fn receive_reports(&mut self, n: u64) {
        for _ in 0..n {
            let report = self.0.receive();
            assert!(report.contains("|35=8|") && !report.contains("|43=Y|"), "{report}");
        }
    }

    fn trade(&mut self, orders: u64) {
        for _ in 0..orders / BATCH {
            self.send_orders(BATCH);
            self.receive_reports(BATCH);
        }
    }

    /// Requests all messages again, and keeps sending orders meanwhile.
    fn have_everything_sent_again(&mut self) {
        let request = self.0.message("2", "7=1|16=0");
        self.write(&request);
        self.send_orders(LIVE);
        let mut resent = 0;
        loop {
            let message = self.0.receive();
            assert!(message.contains("|43=Y|"), "before the end of the replay: {message}");
            resent += u64::from(message.contains("|35=8|"));
            if resent == RESENT {
                break;
            }
        }
        self.receive_reports(LIVE);
    }

    /// Withholds orders until the venue requests them.
    fn lose_orders(&mut self) {
        let lost = self.0.seq;
        self.0.seq += RESENT;
        self.send_orders(LIVE);
        let asked = self.0.receive();
        assert!(asked.contains("|35=2|") && asked.contains(&format!("|7={lost}|")), "{asked}");
        let mut bytes = Vec::new();
        for n in 0..RESENT {
            let (seq, time) = (lost + n, timestamp());
            bytes.extend(message(
                "FIX.4.4",
                &format!(
                    "35=D|49=FORGETFUL|56=VENUE|34={seq}|43=Y|52={time}|122={time}|{}",
                    Self::order(seq)
                ),
            ));
            if (n + 1) % BATCH == 0 {
                self.write(&bytes);
                bytes.clear();
                self.receive_reports(BATCH);
            }
        }
        self.receive_reports(LIVE);
    }
}

/// Waits until `done` returns true for the value of `progress`; fails the test if that value does
/// not change for a minute.
fn wait(progress: &Stretch, done: impl Fn() -> bool) {
    let (mut seen, mut since) = (progress.messages(), Instant::now());
    while !done() {
        std::thread::sleep(Duration::from_millis(1));
        let now = progress.messages();
        if now != seen {
            (seen, since) = (now, Instant::now());
        }
        assert!(since.elapsed() < Duration::from_secs(60), "no message for a minute, after {seen}");
    }
}

/// Returns the number of segments of a session's journal, including one created ahead.
fn segments(base: &Path, session: &SessionId) -> usize {
    let files = std::fs::read_dir(base.join("journal").join(session.file_name())).unwrap();
    let names = files.map(|file| file.unwrap().file_name().into_string().unwrap());
    names.filter(|name| name.starts_with("segment-") && !name.ends_with(".new")).count()
}

fn second() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs()
}

fn validated(mut settings: SessionSettings) -> SessionSettings {
    settings.dictionary = SessionDictionary::Shipped;
    settings
}

/// How the workers of a proof wait, and whether there is a message log.
#[derive(Clone, Copy)]
struct Way {
    /// The name, and the marks of the venue and of the trader.
    name: &'static str,
    marks: [[&'static str; 2]; 2],
    waiting: Waiting,
    logs: bool,
}

impl Way {
    /// Returns the builder of an engine with files in `base`.
    fn engine(self, base: &Path) -> EngineBuilder {
        let builder = Engine::builder().worker_waiting(self.waiting).journal(base.join("journal"));
        if self.logs { builder.message_log(base.join("log")) } else { builder }
    }
}

#[test]
fn no_message_allocates_in_either_role() {
    // One after the other: spinning workers need the cores.
    prove(Way {
        name: "no-allocation",
        marks: [
            ["/fixbolt-proof/begin/venue", "/fixbolt-proof/end/venue"],
            ["/fixbolt-proof/begin/trader", "/fixbolt-proof/end/trader"],
        ],
        waiting: Waiting::Blocking,
        logs: false,
    });
    prove(Way {
        name: "no-allocation-spinning",
        marks: [
            ["/fixbolt-proof/begin/spinning-venue", "/fixbolt-proof/end/spinning-venue"],
            ["/fixbolt-proof/begin/spinning-trader", "/fixbolt-proof/end/spinning-trader"],
        ],
        waiting: Waiting::Spinning,
        logs: true,
    });
}

fn prove(way: Way) {
    let orders: u64 = std::env::var("FIXBOLT_PROOF_ORDERS")
        .map_or(120_000, |orders| orders.parse().expect("FIXBOLT_PROOF_ORDERS is a number"));
    let scratch = Scratch::new(way.name);
    let (venue_base, trader_base) = (scratch.0.join("venue"), scratch.0.join("trader"));
    let [selling, buying] = way.marks.map(Stretch::new);
    let forgetful = of("FIX.4.4:VENUE->FORGETFUL", Role::Acceptor);
    let venue = way
        .engine(&venue_base)
        .accept(anywhere(), validated(acceptor()))
        .accept(anywhere(), validated(forgetful))
        .start(Venue(Arc::clone(&selling)))
        .unwrap();
    let address = venue.addresses()[0];
    let (logged_on, told) = channel();
    let trader = way
        .engine(&trader_base)
        .connect(Initiation::new(validated(initiator()), "127.0.0.1", address.port()))
        .start(Trader { stretch: Arc::clone(&buying), sent: WINDOW, logged_on })
        .unwrap();
    told.recv_timeout(Duration::from_secs(20)).unwrap();

    let mut peer = Forgetful::log_on(address);
    peer.trade(RESENT);
    let mut sender = trader.session(&initiator().id).unwrap().sender();
    for n in 1..=WINDOW {
        order(&mut sender, n, 1_795_000_000_000_000_000).unwrap();
    }
    wait(&buying, || buying.messages() >= WARM_UP);
    for stretch in [&selling, &buying] {
        stretch.open.store(true, Ordering::Release);
    }
    wait(&buying, || [&selling, &buying].iter().all(|stretch| stretch.begun.load(Ordering::Acquire)));
    let journals = [(&venue_base, acceptor().id), (&trader_base, initiator().id)];
    let segments = || journals.each_ref().map(|(base, session)| segments(base, session));
    let (at_first, segments_at_first, second_at_first) = (buying.messages(), segments(), second());

    peer.have_everything_sent_again();
    let during_resend = buying.messages() - at_first;
    assert!(during_resend > 0, "other sessions continue during a resend");
    peer.lose_orders();

    let changed = || {
        segments().iter().zip(segments_at_first).all(|(now, then)| *now > then + 1)
            && second() > second_at_first
    };
    wait(&buying, || buying.messages() - at_first >= orders && changed());
    let counted = buying.messages() - at_first;
    let changes: Vec<usize> =
        segments().iter().zip(segments_at_first).map(|(now, then)| now - then).collect();
    let seconds = second() - second_at_first;
    for stretch in [&selling, &buying] {
        stretch.over.store(true, Ordering::Release);
    }
    wait(&buying, || [&selling, &buying].iter().all(|stretch| stretch.ended.load(Ordering::Acquire)));
    let allocations = [&selling, &buying].map(|stretch| stretch.allocations.load(Ordering::Acquire));
    eprintln!(
        "{}: {counted} orders and their reports, {during_resend} of them while {RESENT} messages were sent again; \
         {RESENT} came late; segment changes {changes:?}, {seconds} changes of the second; allocations {allocations:?}",
        way.name
    );
    assert_eq!(allocations, [0, 0], "allocations of the venue and of the trader");
    drop(peer);
    trader.stop().unwrap();
    venue.stop().unwrap();
    for (base, session) in journals {
        let log = base.join("log").join(format!("{}.messages.log", session.file_name()));
        assert_eq!(std::fs::metadata(log).is_ok_and(|file| file.len() > 1 << 20), way.logs);
    }
}
