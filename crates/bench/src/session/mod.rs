//! The session benchmark: messages through [`Sessions`](fixbolt_session::Sessions) without a
//! socket, checked before they are timed.
//!
//! An acceptor of FIX.4.4 that is logged on, validates, and numbers and stores what it receives and
//! sends. Its application reads an order and replies with a typed ExecutionReport. The benchmark
//! has its own clock: orders come ten microseconds apart, Heartbeats and ResendRequests thirty
//! seconds. The stages of the path are measured, too: each alone, and the path without it.

mod acceptor;
mod heartbeats;
mod paths;
mod resend;
mod stages;
mod trader;
mod venue;

use std::time::Duration;

use fixbolt_journal::{DirectoryStore, MemoryStore, NoStore};
use fixbolt_workloads::clock::timed;
use fixbolt_workloads::harness::{Contest, Control, alternate};

use self::acceptor::{Acceptor, Orders, Without};
use self::heartbeats::Heartbeats;
use self::paths::{Receive, Send};
use self::resend::Resend;
use self::venue::Work;
use crate::batches::Measured;
use crate::codec::counted;
use crate::folder::Folder;
use crate::messages::RING;
use crate::results::{Part, Row, Table, TestReport};

/// Number of messages prepared at a time: enough to time, few enough to stay in the processor's
/// caches, as in an engine.
const BLOCK: usize = 512;
/// Blocks per slice: the slices of different operations alternate.
const SLICE: usize = 8;
/// Rounds of the ring before instructions are counted: afterwards layouts are learned, and the
/// journal has grown beyond its small segments.
const WARM_UP: usize = 32;
/// Slices that fill a store in memory, which forgets what is oldest.
const FILLING: usize = 7;

/// An operation that was checked.
trait Operation {
    /// Returns its row, without a figure.
    fn row(&self) -> Row;

    /// Returns the number of messages to prepare at a time.
    fn block(&self) -> usize {
        BLOCK
    }

    /// Prepares what is needed for this many messages.
    fn prepare(&mut self, messages: usize) -> Result<(), String>;

    /// Processes this many of the prepared messages; returns for how many the outcome is right.
    fn work(&mut self, messages: usize) -> usize;

    /// Returns the percentiles of single messages, if they are timed.
    fn percentiles(&self) -> Vec<Row> {
        Vec::new()
    }
}

/// Measures each operation in `batches` alternating slices, and returns a figure for each.
///
/// # Errors
/// Returns the outcome that is wrong: before anything is timed, or a message that was not answered.
pub fn measure(batches: usize, control: &Control) -> Result<Measured, String> {
    let mut operations = operations(resend::RANGE)?;
    operations.extend(timed_singly()?);
    let rows: Vec<Row> = operations.iter().map(|operation| operation.row()).collect();
    for (operation, row) in operations.iter_mut().zip(&rows) {
        // Until the store has touched all of its memory.
        for _ in 0..if row.operation.ends_with("-memory") { FILLING } else { 0 } {
            slice(&mut **operation)?;
        }
    }
    let mut contests: Vec<_> =
        operations.iter_mut().map(|operation| Contest::new("session", || slice(&mut **operation))).collect();
    control.begin("session", batches as u64);
    let figures = alternate(&mut contests, batches, control)?;
    drop(contests);
    let medians = rows.into_iter().zip(figures);
    let mut rows: Vec<Row> = medians.filter_map(|(row, slices)| row.median_of(Part::Batch, slices)).collect();
    rows.extend(operations.iter().flat_map(|operation| operation.percentiles()));
    Ok(Measured { rows, notes: Vec::new() })
}

/// Runs each operation once, for a profiler that counts the instructions of [`counted`], and
/// returns the rows in the same order, without a figure. Each operation calls [`counted`] twice:
/// the first call learns what is learned once, the second one counts a ring. What both need is
/// prepared before the first call.
///
/// # Errors
/// Returns the outcome that is wrong: before anything is run, or a message that was not answered.
pub fn once() -> Result<Vec<Row>, String> {
    let mut operations = operations(RING)?;
    for operation in &mut operations {
        let messages = (WARM_UP + 1) * RING;
        operation.prepare(messages)?;
        let mut right = 0;
        let mut rounds = |rounds: usize| right += operation.work(rounds * RING);
        counted(&mut rounds, WARM_UP);
        counted(&mut rounds, 1);
        all_of(&**operation, messages, right)?;
    }
    Ok(operations.iter().map(|operation| operation.row()).collect())
}

/// Creates and checks every operation. A ResendRequest asks for `range` messages.
fn operations(range: usize) -> Result<Vec<Box<dyn Operation>>, String> {
    let on_disk = |name| acceptor_on_disk(name, Without::default());
    let in_memory = |name| Acceptor::new(name, Box::new(MemoryStore::new()), None, Without::default());
    let without = |name, without| Acceptor::new(name, Box::new(NoStore::new()), None, without);
    let work = |work| Without { work, ..Without::default() };
    let no_dictionary = Without { dictionary: true, ..Without::default() };
    let mut operations: Vec<Box<dyn Operation>> = vec![
        Box::new(Orders::checked(on_disk("order-report")?)?),
        Box::new(Orders::checked(in_memory("order-report-memory")?)?),
        Box::new(Heartbeats::checked(on_disk("heartbeat")?, true)?),
        Box::new(Heartbeats::checked(on_disk("heartbeat-in")?, false)?),
        Box::new(Resend::checked(on_disk("resend")?, range)?),
        Box::new(Resend::checked(in_memory("resend-memory")?, range)?),
        Box::new(Orders::checked(without("without-store", Without::default())?)?),
        Box::new(Orders::checked(without("without-validation", no_dictionary)?)?),
        Box::new(Orders::checked(without("without-reads", work(Work::Report))?)?),
        Box::new(Orders::checked(without("without-report", work(Work::Read))?)?),
    ];
    operations.extend(stages::alone()?);
    Ok(operations)
}

/// Creates and checks the operations that read the clock at each message, which a profiler that
/// counts instructions need not allow.
fn timed_singly() -> Result<[Box<dyn Operation>; 2], String> {
    let reads = Without { work: Work::Read, ..Without::default() };
    Ok([
        Box::new(Receive::checked(acceptor_on_disk("receive", reads)?)?),
        Box::new(Send::checked(acceptor_on_disk("send", Without::default())?)?),
    ])
}

/// Creates an acceptor with the journal that sessions have by default.
fn acceptor_on_disk(name: &'static str, without: Without) -> Result<Acceptor, String> {
    let folder = Folder::new()?;
    Acceptor::new(name, Box::new(DirectoryStore::new(&folder.0)), Some(folder), without)
}

/// Times a slice; returns nanoseconds per message.
fn slice(operation: &mut dyn Operation) -> Result<f64, String> {
    let (block, mut time) = (operation.block(), Duration::ZERO);
    for _ in 0..SLICE {
        operation.prepare(block)?;
        let (spent, right) = timed(|| operation.work(block));
        all_of(operation, block, right)?;
        time += spent;
    }
    #[allow(clippy::cast_precision_loss)] // a few milliseconds
    Ok(time.as_nanos() as f64 / (SLICE * block) as f64)
}

fn all_of(operation: &dyn Operation, messages: usize, right: usize) -> Result<(), String> {
    let wrong = || {
        let row = operation.row();
        format!("{}: {right} of {messages} outcomes are right", row.operation)
    };
    (messages == right).then_some(()).ok_or_else(wrong)
}

/// Returns the report of figures that [`measure`] measured, perhaps in several processes: each
/// operation, and the table of stages.
#[must_use]
pub fn report(measured: Measured, batches: usize) -> TestReport {
    let Measured { mut rows, notes } = measured;
    let floor = stages::floor(&rows);
    // That of a store in memory would need such a store's stage.
    for row in rows.iter_mut().filter(|row| row.operation == "order-report") {
        row.floor_ns = floor;
    }
    let (of_single, of_all): (Vec<Row>, Vec<Row>) =
        rows.iter().cloned().partition(|row| row.percentile.is_some());
    let (of_stages, others): (Vec<Row>, Vec<Row>) = of_all
        .into_iter()
        .partition(|row| row.operation.starts_with("stage-") || row.operation.starts_with("without-"));
    let mut test = TestReport::new("session", "thread CPU time per message, in ns");
    test = test.setting("batches", batches).setting("messages", "64 differing ones");
    let mut first = Table::of_rows("", &others, &["spread"]);
    first.note("order-report: an order with its report; floor: the stages alone, one after another");
    first.note("spread: (max - min) / median, in %");
    test.tables =
        vec![first, Table::of_rows("The path without a stage, and each stage alone", &of_stages, &[])];
    test.tables.extend(stages::table(&rows));
    let mut single = Table::of_rows("Single messages, by the clock", &of_single, &[]);
    single.note("receive: from an order's bytes until the application has read it and the journal has it; send: from the application's call until the journal has the report and the socket may have it; two readings of the clock included");
    test.tables.push(single);
    test.rows = rows;
    test.notes = notes;
    test
}

#[cfg(test)]
mod tests;
