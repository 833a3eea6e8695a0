//! Property 1 of the design: after start-up the loop allocates nothing for a message, with validation and journals, in both
//! roles, through segment changes and the change of the second.

#![allow(unsafe_code)] // the counting allocator

mod support;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::mpsc::{Sender, channel};
use std::time::Duration;

use fixbolt::codec::{Decimal, Message, UtcTimestamp};
use fixbolt::messages::fix44::components::*;
use fixbolt::messages::fix44::fields::{ExecType, OrdStatus, OrdType, Side};
use fixbolt::messages::fix44::{ExecutionReport, NewOrderSingle, execution_report, new_order_single};
use fixbolt::session::{Application, Delivery, Event, SendError, SessionKey, Turn};
use fixbolt::{Engine, Initiation, shipped_validator};
use support::*;

struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

fn count() {
    // A thread that ends has no counter any more, and is of no interest.
    let _ = ALLOCATIONS.try_with(|n| n.set(n.get() + 1));
}

// SAFETY: every call goes to the system's allocator as it came; counting touches a cell that needs no allocation.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: the caller's promise is passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: the caller's promise is passed on.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count();
        // SAFETY: the caller's promise is passed on.
        unsafe { System.realloc(memory, layout, size) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise is passed on.
        unsafe { System.dealloc(memory, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Orders on their way at any time.
const WINDOW: u64 = 64;
/// Orders before counting begins: buffers have grown to their size by then.
const WARM_UP: u64 = 20_000;
const COUNTED: u64 = 120_000;

/// What both sides count, on the thread that they run on.
#[derive(Default)]
struct Count {
    messages: u64,
    at_start: u64,
}

impl Count {
    /// Gives the allocations of the counted stretch when it is over.
    fn message(&mut self) -> Option<u64> {
        self.messages += 1;
        match self.messages {
            WARM_UP => {
                self.at_start = ALLOCATIONS.get();
                None
            }
            n if n == WARM_UP + COUNTED => Some(ALLOCATIONS.get() - self.at_start),
            _ => None,
        }
    }
}

struct Venue {
    count: Count,
    allocations: Sender<(&'static str, u64)>,
}

impl Application for Venue {
    fn on_message(&mut self, message: Message<'_>, turn: &mut Turn<'_>) -> Result<Delivery, SendError> {
        let Ok(order) = NewOrderSingle::read(message) else { return Ok(Delivery::UNSUPPORTED) };
        let (Ok(id), Ok(side), Ok(Some(qty)), Ok(Some(price))) =
            (order.cl_ord_id(), order.side(), order.order_qty(), order.price())
        else {
            return Ok(Delivery::Reject { reason: 1, tag: 44, text: "a limit order is expected" });
        };
        let required = execution_report::Required {
            order_id: id,
            exec_id: id,
            exec_type: ExecType::Trade,
            ord_status: OrdStatus::Filled,
            side,
            leaves_qty: Decimal::from(0),
            cum_qty: qty,
            avg_px: price,
        };
        let mut report = ExecutionReport::write(turn.reply(), required);
        report.cl_ord_id(id).symbol(b"IBM");
        report.send()?;
        if let Some(allocations) = self.count.message() {
            let _ = self.allocations.send(("venue", allocations));
        }
        Ok(Delivery::Done)
    }
}

struct Trader {
    count: Count,
    sent: u64,
    allocations: Sender<(&'static str, u64)>,
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
        side: Side::Buy,
        transact_time: UtcTimestamp::from_unix_nanos(utc, fixbolt::codec::Precision::Millis),
        ord_type: OrdType::Limit,
    };
    let mut order = NewOrderSingle::write(to, required);
    order.symbol(b"IBM").order_qty(Decimal::from(57)).price("298.075".parse().unwrap());
    order.send()
}

impl Application for Trader {
    fn on_message(&mut self, message: Message<'_>, turn: &mut Turn<'_>) -> Result<Delivery, SendError> {
        let Ok(report) = ExecutionReport::read(message) else { return Ok(Delivery::UNSUPPORTED) };
        if !matches!(report.ord_status(), Ok(OrdStatus::Filled)) {
            return Ok(Delivery::UNSUPPORTED);
        }
        self.sent += 1;
        let utc = turn.now().utc.0;
        order(turn.reply(), self.sent, utc)?;
        if let Some(allocations) = self.count.message() {
            let _ = self.allocations.send(("trader", allocations));
        }
        Ok(Delivery::Done)
    }

    fn on_event(&mut self, _: SessionKey, event: &Event<'_>) {
        if matches!(event, Event::LoggedOn) {
            let _ = self.logged_on.send(());
        }
    }
}

#[test]
fn no_message_costs_an_allocation_in_either_role() {
    let scratch = Scratch::new("no-allocation");
    let (allocations, counted) = channel();
    let mut settings = acceptor();
    settings.validator = shipped_validator("FIX.4.4");
    let venue = Engine::builder()
        .accept(anywhere(), settings)
        .journal(scratch.0.join("venue"))
        .start(Venue { count: Count::default(), allocations: allocations.clone() })
        .unwrap();

    let mut settings = initiator();
    settings.validator = shipped_validator("FIX.4.4");
    let session = Initiation::new(settings, "127.0.0.1", venue.addresses()[0].port());
    let (logged_on, told) = channel();
    let trader = Engine::builder()
        .connect(session)
        .journal(scratch.0.join("trader"))
        .start(Trader { count: Count::default(), sent: WINDOW, allocations, logged_on })
        .unwrap();
    told.recv_timeout(Duration::from_secs(20)).unwrap();
    let mut sender = trader.sender(&initiator().id).unwrap();
    for n in 1..=WINDOW {
        order(&mut sender, n, 1_795_000_000_000_000_000).unwrap();
    }
    for _ in 0..2 {
        let (side, allocations) = counted.recv_timeout(Duration::from_secs(120)).unwrap();
        assert_eq!(allocations, 0, "{side}, over {COUNTED} orders and their reports");
    }
    trader.stop().unwrap();
    venue.stop().unwrap();
}
