//! The session benchmark: an order in, its report out, through [`Sessions`] without a socket,
//! checked before it is timed.
//!
//! An acceptor of FIX.4.4 that is logged on, validates, and numbers and stores both messages. Its
//! application reads the order and replies with a typed ExecutionReport. The benchmark has its own
//! clock: orders come ten microseconds apart. Timers, resends and further sessions are not
//! included.

use std::hint::black_box;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use fixbolt_codec::{Decimal, Index, Message, Precision, SeqNum, Span, Tag, Tier, UtcTimestamp};
use fixbolt_dictionary::{Policy, Validator, fix44};
use fixbolt_journal::{DirectoryStore, MemoryStore};
use fixbolt_messages::fix44::components::{
    Instrument as _, InstrumentWriter as _, OrderQtyData as _, OrderQtyDataWriter as _,
};
use fixbolt_messages::fix44::fields::{ExecType, OrdStatus};
use fixbolt_messages::fix44::{ExecutionReport, NewOrderSingle, execution_report};
use fixbolt_messages::typed::View as _;
use fixbolt_session::store::{SessionKey, Store};
use fixbolt_session::{
    Application, Delivery, Failure, Mono, Now, Role, SessionDictionary, SessionId, SessionSettings, Sessions,
    Turn, Utc,
};

use crate::clock::{median, timed};
use crate::codec::counted;
use crate::folder::Folder;
use crate::harness::Control;
use crate::messages::{MORNING, Nos222, RING, message};
use crate::orders::NEW_ORDER_SINGLE;
use crate::results::Row;
use crate::wire::{Encoder, read};

/// Number of orders prepared at a time: enough to time, few enough to stay in the processor's
/// caches, as in an engine.
const BLOCK: usize = 512;
/// Blocks per slice: the slices of different operations alternate.
const SLICE: usize = 8;
/// Rounds of the ring before instructions are counted: afterwards layouts are learned, and the
/// journal has grown beyond its small segments.
const WARM_UP: usize = 32;
/// Nanoseconds from one order to the next.
const STEP: u64 = 10_000;
/// More fields than a message here has.
const FIELDS: usize = 48;

/// Measures each store in `rounds` alternating slices and returns one row per store: the median
/// slice.
///
/// # Errors
/// Returns the report that is wrong, before anything is timed, or that an order was not answered.
pub fn run(rounds: usize, control: &Control) -> Result<Vec<Row>, String> {
    let mut acceptors = acceptors()?;
    let mut figures = vec![Vec::with_capacity(rounds); acceptors.len()];
    for round in 0..rounds {
        if control.is_stopped() {
            break;
        }
        control.progress(round as u64);
        for (acceptor, figures) in acceptors.iter_mut().zip(&mut figures) {
            let mut time = Duration::ZERO;
            for _ in 0..SLICE {
                acceptor.prepare(BLOCK)?;
                let (spent, answered) = timed(|| acceptor.answer(BLOCK));
                acceptor.all_of(BLOCK, answered)?;
                time += spent;
            }
            #[allow(clippy::cast_precision_loss)] // a few milliseconds
            figures.push(time.as_nanos() as f64 / (SLICE * BLOCK) as f64);
        }
    }
    let timed = acceptors.iter().map(Acceptor::row).zip(&mut figures);
    Ok(timed.filter_map(|(row, figures)| Some(Row { ns: Some(median(figures)?), ..row })).collect())
}

/// Runs each store once, for a profiler that counts the instructions of [`counted`], and returns
/// the rows in the same order, without a figure. Each store calls [`counted`] twice: the first call
/// learns what is learned once, the second one counts a ring. The orders of both are prepared
/// before the first call.
///
/// # Errors
/// Returns an error as [`run`] does.
pub fn once() -> Result<Vec<Row>, String> {
    let mut acceptors = acceptors()?;
    for acceptor in &mut acceptors {
        let orders = (WARM_UP + 1) * RING;
        acceptor.prepare(orders)?;
        let mut answered = 0;
        let mut rounds = |rounds: usize| answered += acceptor.answer(rounds * RING);
        counted(&mut rounds, WARM_UP);
        counted(&mut rounds, 1);
        acceptor.all_of(orders, answered)?;
    }
    Ok(acceptors.iter().map(Acceptor::row).collect())
}

/// Creates a session that is logged on and checked.
fn acceptors() -> Result<Vec<Acceptor>, String> {
    let folder = Folder::new()?;
    let journal = Box::new(DirectoryStore::new(&folder.0));
    let memory = Box::new(MemoryStore::new());
    let mut acceptors = vec![
        Acceptor::new("order-report", journal, Some(folder))?,
        Acceptor::new("order-report-memory", memory, None)?,
    ];
    for acceptor in &mut acceptors {
        acceptor.check()?;
    }
    Ok(acceptors)
}

/// A session that is logged on, its application, and the orders for it.
struct Acceptor {
    name: &'static str,
    sessions: Sessions,
    key: SessionKey,
    venue: Venue,
    trader: Trader,
    /// The directory of the journal, which must be removed after the sessions.
    _folder: Option<Folder>,
}

impl Acceptor {
    fn new(name: &'static str, store: Box<dyn Store>, folder: Option<Folder>) -> Result<Self, String> {
        let (trader, venue) = Nos222::PARTIES;
        let id = SessionId::new(Nos222::VERSION, venue, trader).map_err(|error| error.to_string())?;
        let settings = SessionSettings::new(id, Role::Acceptor)
            .with(|s| s.dictionary = SessionDictionary::Own(Arc::new(Validator::new(fix44()))));
        let mut sessions = Sessions::new(store, settings.max_message_size);
        let mut venue = Venue::default();
        let now = at(0);
        let key = sessions.open(now, settings, &mut venue).map_err(|error| format!("{name}: {error}"))?;
        sessions.connected(now, key, &mut venue);
        let mut acceptor = Self { name, sessions, key, venue, trader: Trader::new()?, _folder: folder };
        if acceptor.feed(now, &logon(), |answer| is_next(answer, b"A", 1)) {
            Ok(acceptor)
        } else {
            Err(format!("{name}: the Logon is not answered"))
        }
    }

    fn prepare(&mut self, orders: usize) -> Result<(), String> {
        self.trader.prepare(orders).ok_or_else(|| format!("{}: no order can be written", self.name))
    }

    /// Feeds this many of the prepared orders; returns how many were consumed and answered.
    fn answer(&mut self, orders: usize) -> usize {
        let mut block = std::mem::take(&mut self.trader.block);
        let answered = block
            .take(orders)
            .filter(|(now, order)| self.feed(*now, black_box(order), |report| !black_box(report).is_empty()));
        let answered = answered.count();
        self.trader.block = block;
        answered
    }

    /// Receives a message; `right` checks what is sent. Returns whether the message was consumed
    /// and the answer is right.
    #[inline]
    fn feed(&mut self, now: Now, bytes: &[u8], right: impl FnOnce(&[u8]) -> bool) -> bool {
        let Self { sessions, key, venue, .. } = self;
        let taken = sessions.receive(now, *key, bytes, venue);
        let answer = sessions.writable(*key);
        let (right, len) = (right(answer), answer.len());
        sessions.written(now, *key, len);
        right && taken == bytes.len()
    }

    fn all_of(&self, orders: usize, answered: usize) -> Result<(), String> {
        let wrong = || format!("{}: {answered} of {orders} orders are answered", self.name);
        (orders == answered).then_some(()).ok_or_else(wrong)
    }

    /// Checks every report of three rings: one valid message, with the next sequence number, about
    /// its order.
    fn check(&mut self) -> Result<(), String> {
        let validator = Validator::new(fix44());
        let mut scratch = validator.scratch();
        self.prepare(3 * RING)?;
        for n in 0..3 * RING {
            let mut block = std::mem::take(&mut self.trader.block);
            let right = block.take(1).all(|(now, order)| {
                self.feed(now, order, |report| {
                    is_next(report, b"8", 2 + n as u64)
                        && of(report, |report| {
                            let found = validator.all(&report, &Policy::standard(), &mut scratch);
                            found.is_empty() && of(order, |order| is_fill(report, order))
                        })
                })
            });
            self.trader.block = block;
            if !right {
                return Err(format!("{}: report {n} is wrong", self.name));
            }
        }
        Ok(())
    }

    fn row(&self) -> Row {
        Row::of_ns("session", "NOS-222", self.name, 0.0).tier(Tier::best().name())
    }
}

/// Returns the time at which order `n` arrives, and its SendingTime.
const fn at(n: u64) -> Now {
    Now { mono: Mono(n * STEP), utc: Utc(MORNING + n * STEP) }
}

fn logon() -> Vec<u8> {
    let (sender, target) = Nos222::PARTIES;
    let fields = format!("35=A|49={sender}|56={target}|34=1|52=20261121-09:00:00.000|98=0|108=30|");
    message(Nos222::VERSION.begin_string(), &fields)
}

/// Returns the result of `look` for the message in `bytes`, or `false` if they are not a message.
fn of(bytes: &[u8], look: impl FnOnce(Message<'_>) -> bool) -> bool {
    let (mut tags, mut spans) = ([0; FIELDS], [Span::default(); FIELDS]);
    let mut index = Index::new(&mut tags, &mut spans);
    read(&mut index, bytes).is_some_and(|message| message.bytes() == bytes && look(message))
}

/// Returns whether `bytes` are a message of this type with this sequence number.
fn is_next(bytes: &[u8], msg_type: &[u8], seq: u64) -> bool {
    of(bytes, |message| {
        message.msg_type() == msg_type && message.get(Tag::new(34)) == Some(seq.to_string().as_bytes())
    })
}

/// Returns whether a report says that its order is completely filled at its price.
fn is_fill(report: Message<'_>, order: Message<'_>) -> bool {
    let same = [(11, 11), (55, 55), (54, 54), (38, 38), (44, 44), (32, 38), (31, 44), (14, 38), (6, 44)];
    same.into_iter().all(|(its, the_orders)| {
        report.get(Tag::new(its)).is_some() && report.get(Tag::new(its)) == order.get(Tag::new(the_orders))
    }) && report.get(Tag::new(151)) == Some(b"0")
}

/// Fills every order completely, at its price. Its OrderIDs are consecutive.
#[derive(Default)]
struct Venue {
    orders: Count,
}

impl Application for Venue {
    fn on_message(&mut self, message: Message<'_>, turn: &mut Turn<'_>) -> Result<Delivery, Failure> {
        let order = NewOrderSingle::read(message)?;
        let (cl_ord_id, side) = (order.cl_ord_id()?, order.side()?);
        let symbol = order.need(|order| order.symbol())?;
        let quantity = order.need(|order| order.order_qty())?;
        let price = order.need(|order| order.price())?;
        let id = self.orders.next();
        let transact_time = UtcTimestamp::from_unix_nanos(turn.now().utc.0, Precision::Millis);
        let required = execution_report::Required {
            order_id: id,
            exec_id: id,
            exec_type: ExecType::TRADE,
            ord_status: OrdStatus::FILLED,
            side,
            leaves_qty: Decimal::from(0),
            cum_qty: quantity,
            avg_px: price,
        };
        ExecutionReport::send(turn.reply(), required, |report| {
            report.cl_ord_id(cl_ord_id).symbol(symbol).order_qty(quantity).price(price);
            report.last_qty(quantity).last_px(price).transact_time(transact_time);
        })?;
        Ok(Delivery::Done)
    }
}

/// A counter as decimal digits.
struct Count([u8; 10]);

impl Default for Count {
    fn default() -> Self {
        Self([b'0'; 10])
    }
}

impl Count {
    fn next(&mut self) -> &[u8] {
        for digit in self.0.iter_mut().rev() {
            if *digit < b'9' {
                *digit += 1;
                break;
            }
            *digit = b'0';
        }
        &self.0
    }
}

/// The counterparty: NOS-222 in turn, each with the next sequence number and its own SendingTime.
struct Trader {
    ring: Vec<Nos222>,
    encoder: Encoder,
    orders: u64,
    block: Block,
}

impl Trader {
    fn new() -> Result<Self, String> {
        let (sender, target) = Nos222::PARTIES;
        let encoder =
            Encoder::new(Nos222::VERSION.begin_string().as_bytes(), sender.as_bytes(), target.as_bytes());
        let encoder = encoder.ok_or("the ring's parties are not CompIDs")?;
        let ring = (0..RING as u64).map(Nos222::new).collect();
        Ok(Self { ring, encoder, orders: 0, block: Block::default() })
    }

    /// Replaces the block by the next `orders` orders; returns `None` if one cannot be written.
    fn prepare(&mut self, orders: usize) -> Option<()> {
        let Self { ring, encoder, orders: before, block } = self;
        block.clear();
        let mut slot = [0; 1024];
        for order in ring.iter().cycle().skip(*before as usize % RING).take(orders) {
            let now = at(*before);
            *before += 1;
            // The Logon was 1.
            let seq = SeqNum(1 + *before);
            let place =
                encoder.encode(&mut slot, NEW_ORDER_SINGLE, seq, now.utc.0, |body| order.write(body))?;
            block.add(now, slot.get(place)?);
        }
        Some(())
    }
}

/// Messages with the time at which each arrives.
#[derive(Default)]
struct Block {
    bytes: Vec<u8>,
    messages: Vec<(Now, Range<usize>)>,
    taken: usize,
}

impl Block {
    fn clear(&mut self) {
        self.bytes.clear();
        self.messages.clear();
        self.taken = 0;
    }

    fn add(&mut self, now: Now, message: &[u8]) {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(message);
        self.messages.push((now, start..self.bytes.len()));
    }

    /// Returns the next `messages` messages, or as many as there are.
    fn take(&mut self, messages: usize) -> impl Iterator<Item = (Now, &[u8])> {
        let first = self.taken;
        self.taken = self.messages.len().min(first + messages);
        let bytes = &self.bytes;
        self.messages[first..self.taken].iter().map(|(now, place)| (*now, &bytes[place.clone()]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_store_has_a_figure_and_the_journal_is_gone_afterwards() {
        let rows = run(1, &Control::default()).unwrap();
        let operations: Vec<&str> = rows.iter().map(|row| row.operation.as_str()).collect();
        assert_eq!(operations, ["order-report", "order-report-memory"]);
        assert!(
            rows.iter().all(|row| row.figure().0 > 0.0 && row.key().starts_with("session fixbolt NOS-222 "))
        );
        assert_eq!(once().unwrap().len(), rows.len());
        let folder = Folder::new().unwrap();
        let path = folder.0.clone();
        let mut acceptor =
            Acceptor::new("journal", Box::new(DirectoryStore::new(&path)), Some(folder)).unwrap();
        acceptor.check().unwrap();
        assert!(std::fs::read_dir(&path).unwrap().next().is_some());
        drop(acceptor);
        assert!(!path.exists());
    }

    #[test]
    fn a_wrong_report_and_a_missing_one_are_told() {
        let mut acceptor = Acceptor::new("memory", Box::new(MemoryStore::new()), None).unwrap();
        acceptor.trader.ring[9].symbol = String::from("\u{1}");
        assert_eq!(acceptor.check(), Err("memory: no order can be written".to_owned()));
        let mut acceptor = Acceptor::new("memory", Box::new(MemoryStore::new()), None).unwrap();
        acceptor.trader.ring[9].side = 'x';
        assert_eq!(acceptor.check(), Err("memory: report 9 is wrong".to_owned()));
        let mut acceptor = Acceptor::new("memory", Box::new(MemoryStore::new()), None).unwrap();
        acceptor.prepare(RING).unwrap();
        assert_eq!(acceptor.answer(2 * RING), RING);
        assert_eq!(acceptor.all_of(2, 1), Err("memory: 1 of 2 orders are answered".to_owned()));
    }
}
