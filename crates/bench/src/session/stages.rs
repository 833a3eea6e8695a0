//! What the path of an order and its report consists of: each stage alone, on the same messages,
//! and the path without it.

use core::ops::ControlFlow;
use std::hint::black_box;
use std::time::Duration;

use fixbolt_codec::{Frame, Framer, Index, Message, SeqNum, Span, Tier};
use fixbolt_dictionary::{Policy, Scratch, Validator, fix44};
use fixbolt_journal::DirectoryStore;
use fixbolt_session::runtime::session_key;
use fixbolt_session::store::{ConnectionNumber, Record, RecordFlags, RecordKind, SessionKey, Store};
use fixbolt_session::{Now, SessionId};
use fixbolt_workloads::wire::{Encoder, read};

use super::Operation;
use super::acceptor::{FIELDS, is_next, of};
use super::trader::{Trader, at};
use super::venue::{Count, Order};
use crate::folder::Folder;
use crate::messages::{Nos222, RING};
use crate::results::{Row, Table};

/// Maximum length of a message.
const LIMIT: usize = 64 * 1024;

/// A stage, without a session around it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Stage {
    Framing,
    Index,
    Validate,
    Reads,
    Encode,
    Journal,
}

impl Stage {
    const ALL: [Self; 6] =
        [Self::Framing, Self::Index, Self::Validate, Self::Reads, Self::Encode, Self::Journal];

    const fn name(self) -> &'static str {
        match self {
            Self::Framing => "stage-framing",
            Self::Index => "stage-index",
            Self::Validate => "stage-validate",
            Self::Reads => "stage-reads",
            Self::Encode => "stage-encode",
            Self::Journal => "stage-journal",
        }
    }

    /// The instruction set that the stage's index is built with.
    fn tier(self) -> Option<&'static str> {
        matches!(self, Self::Index | Self::Validate | Self::Reads).then(|| Tier::best().name())
    }
}

/// A stage on the orders of the ring.
struct Alone {
    stage: Stage,
    trader: Trader,
    tools: Tools,
}

/// What the stages work with.
struct Tools {
    framer: Framer,
    tags: [u32; FIELDS],
    spans: [Span; FIELDS],
    validator: Validator,
    scratch: Scratch,
    policy: Policy,
    encoder: Encoder,
    slot: Vec<u8>,
    ids: Count,
    seq: u64,
    /// A report, as the session would send it.
    report: Vec<u8>,
    store: DirectoryStore,
    key: SessionKey,
    _folder: Folder,
}

/// Returns every stage, checked.
pub(super) fn alone() -> Result<Vec<Box<dyn Operation>>, String> {
    let mut all: Vec<Box<dyn Operation>> = Vec::new();
    for stage in Stage::ALL {
        let mut alone = Alone { stage, trader: Trader::new()?, tools: Tools::new()? };
        alone.check()?;
        all.push(Box::new(alone));
    }
    Ok(all)
}

impl Tools {
    fn new() -> Result<Self, String> {
        let (trader, venue) = Nos222::PARTIES;
        let folder = Folder::new()?;
        let (mut store, key) = (DirectoryStore::new(&folder.0), session_key(0, 0, 0));
        let id = SessionId::new(Nos222::VERSION, venue, trader).map_err(|error| error.to_string())?;
        store.open(key, &id).map_err(|error| error.to_string())?;
        let begin_string = Nos222::VERSION.begin_string().as_bytes();
        let encoder = Encoder::new(begin_string, venue.as_bytes(), trader.as_bytes());
        let validator = Validator::new(fix44());
        let mut tools = Self {
            framer: Framer::new(LIMIT),
            tags: [0; FIELDS],
            spans: [Span::default(); FIELDS],
            scratch: validator.scratch(),
            validator,
            policy: Policy::standard(),
            encoder: encoder.ok_or("the ring's parties are not CompIDs")?,
            slot: vec![0; 1024],
            ids: Count::default(),
            seq: 0,
            report: Vec::new(),
            store,
            key,
            _folder: folder,
        };
        let time = at(Duration::ZERO).utc.0;
        tools.report = tools.encode(time).ok_or("no report can be written")?.to_vec();
        Ok(tools)
    }

    /// Writes a report.
    #[inline]
    fn encode(&mut self, time: u64) -> Option<&[u8]> {
        self.seq += 1;
        let outgoing = self.encoder.message(&mut self.slot, SeqNum(self.seq), time);
        let place = black_box(Order::KNOWN).report(outgoing, self.ids.next(), time).ok()?;
        self.slot.get(place)
    }

    /// Stores an order and a report in one turn.
    #[inline]
    fn store(&mut self, now: Now, order: &[u8]) -> bool {
        self.seq += 1;
        let record = |kind, flags, cause, body| Record {
            kind,
            flags,
            seq: SeqNum(self.seq),
            next_in: SeqNum(self.seq + 1),
            connection: ConnectionNumber(1),
            cause,
            utc: now.utc,
            mono: now.mono,
            body,
        };
        let order = record(RecordKind::Inbound, RecordFlags::DELIVERED, None, order);
        let report =
            record(RecordKind::Outbound, RecordFlags::default(), Some(SeqNum(self.seq)), &self.report);
        self.store.begin();
        let stored =
            self.store.append(self.key, &order).is_ok() && self.store.append(self.key, &report).is_ok();
        stored && self.store.commit().is_ok()
    }

    /// Does the stage with an order; returns whether its outcome is right.
    #[inline]
    fn run(&mut self, stage: Stage, now: Now, bytes: &[u8]) -> bool {
        match stage {
            Stage::Framing => match self.framer.next(bytes) {
                Frame::Message(framed) => framed.bytes().len() == bytes.len(),
                _ => false,
            },
            Stage::Encode => self.encode(now.utc.0).is_some_and(|report| !black_box(report).is_empty()),
            Stage::Journal => self.store(now, bytes),
            Stage::Index | Stage::Validate | Stage::Reads => {
                let mut index = Index::new(&mut self.tags, &mut self.spans);
                let Some(message) = read(&mut index, bytes) else { return false };
                match stage {
                    Stage::Validate => {
                        let mut valid = true;
                        self.validator.for_each(&message, &self.policy, &mut self.scratch, |_| {
                            valid = false;
                            ControlFlow::Continue(())
                        });
                        valid
                    }
                    Stage::Reads => Order::read(black_box(message)).map(black_box).is_ok(),
                    _ => !black_box(message).bytes().is_empty(),
                }
            }
        }
    }
}

impl Alone {
    /// Checks a ring: what the messages say is what was written, and what was stored is read back.
    fn check(&mut self) -> Result<(), String> {
        self.prepare(RING)?;
        let wrong = |n| format!("{}: message {n} is wrong", self.stage.name());
        let first = self.tools.seq + 1;
        for n in 0..RING {
            let mut block = std::mem::take(&mut self.trader.block);
            let right = block.take(1).all(|(now, order)| {
                self.tools.run(self.stage, now, order)
                    && of(order, |order| is_of(order, &self.trader.ring[n]))
            });
            self.trader.block = block;
            if !right {
                return Err(wrong(n));
            }
        }
        match self.stage {
            Stage::Encode => {
                let seq = self.tools.seq + 1;
                let report = self.tools.encode(at(Duration::ZERO).utc.0).ok_or_else(|| wrong(0))?;
                if !is_next(report, b"8", seq) {
                    return Err(wrong(0));
                }
            }
            Stage::Journal => {
                let Tools { store, key, report, .. } = &mut self.tools;
                let generation = fixbolt_session::store::Generation(0);
                for n in first..first + RING as u64 {
                    let read = store.read(*key, generation, SeqNum(n)..=SeqNum(n));
                    if !read.is_ok_and(|read| read.is_some_and(|record| record.body == report)) {
                        return Err(wrong(n as usize));
                    }
                }
            }
            _ => {}
        }
        Ok(())
    }
}

impl Operation for Alone {
    fn row(&self) -> Row {
        let row = Row::of_ns("session", "NOS-222", self.stage.name(), 0.0);
        match self.stage.tier() {
            Some(tier) => row.tier(tier),
            None => row,
        }
    }

    fn prepare(&mut self, orders: usize) -> Result<(), String> {
        let unwritten = || format!("{}: no order can be written", self.stage.name());
        self.trader.orders(orders).ok_or_else(unwritten)
    }

    fn work(&mut self, orders: usize) -> usize {
        let (stage, tools) = (self.stage, &mut self.tools);
        self.trader.block.take(orders).filter(|(now, order)| tools.run(stage, *now, black_box(order))).count()
    }
}

/// Returns whether a message has the values of an order.
fn is_of(message: Message<'_>, order: &Nos222) -> bool {
    Order::read(message).is_ok_and(|read| read.is(order))
}

/// Returns the table of where the nanoseconds of an order with its report go: each stage as the
/// difference between the path and the path without it, and the stage alone. `None` if a figure is
/// missing.
pub(super) fn table(rows: &[Row]) -> Option<Table> {
    let ns = |operation: &str| rows.iter().find(|row| row.operation == operation).map(|row| row.figure().0);
    let (whole, unstored) = (ns("order-report")?, ns("without-store")?);
    let index = ns("stage-index")?;
    let stages = [
        ("framing, index, BodyLength and CheckSum", index, Some(index)),
        ("validation", unstored - ns("without-validation")?, Some(ns("stage-validate")? - index)),
        ("the application's typed reads", unstored - ns("without-reads")?, Some(ns("stage-reads")? - index)),
        ("the report: written, numbered, queued", unstored - ns("without-report")?, ns("stage-encode")),
        ("the journal: both messages, one commit", whole - unstored, ns("stage-journal")),
    ];
    let rest = whole - stages.iter().map(|(_, ns, _)| ns).sum::<f64>();
    let mut table =
        Table::new("Where the time of order-report goes (ns)", ["stage", "in the path", "%", "alone"]);
    let mut row = |stage: &str, ns: f64, alone: Option<f64>| {
        let alone = alone.map_or_else(|| "-".to_owned(), |ns| format!("{ns:.0}"));
        table.row([stage.to_owned(), format!("{ns:.0}"), format!("{:.0}", 100.0 * ns / whole), alone]);
    };
    for (stage, ns, alone) in stages {
        row(stage, ns, alone);
    }
    row("the rest: header checks, decisions, delivery, bookkeeping", rest, None);
    row("order-report", whole, ns("order-report").and_then(|_| floor(rows)));
    table.note(
        "in the path: the first stage as it is alone, each other one what the path takes less without it",
    );
    table.note("alone: the same work on the same messages without a session around it");
    Some(table)
}

/// Returns the time of the stages alone, one after another: what an order with its report takes at
/// least.
pub(super) fn floor(rows: &[Row]) -> Option<f64> {
    let ns = |operation: &str| rows.iter().find(|row| row.operation == operation).map(|row| row.figure().0);
    let reads = ns("stage-reads")? - ns("stage-index")?;
    Some(ns("stage-validate")? + reads + ns("stage-encode")? + ns("stage-journal")?)
}
