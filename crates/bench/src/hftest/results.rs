//! The tables of the published page, with its figures beside ours.

use std::time::Duration;

use fixbolt::session::{CodecOperation, CodecTime};

use super::preload::Preload;
use crate::results::{Row, Table, TestReport};

/// A side of the test.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mode {
    /// It sends orders and receives reports.
    Client,
    /// It receives orders and sends reports.
    Server,
}

impl Mode {
    const fn name(self) -> &'static str {
        match self {
            Self::Client => "client",
            Self::Server => "server",
        }
    }
}

/// What the messages of a side took.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Timed {
    /// The side.
    pub mode: Mode,
    /// What was measured.
    pub time: CodecTime,
}

/// What was measured. A server of its own knows only its own times.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Outcome {
    /// What the messages of each side took, of each connection.
    pub times: Vec<Timed>,
    /// The orders sent, if this is the client's process.
    pub orders: u64,
    /// The reports received.
    pub reports: u64,
    /// The time from the first order to the last report.
    pub elapsed: Duration,
    /// The orders that were preloaded together, and the resident memory of the process that this
    /// took, in bytes.
    pub preloaded: Option<(u32, u64)>,
}

/// A row of the published table.
struct Published {
    mode: Mode,
    operation: CodecOperation,
    messages: u64,
    /// Seconds as printed.
    time: &'static str,
    per_second: u64,
    /// Microseconds.
    average: f64,
}

/// The published table (Fix8's page of its comparison with QuickFIX, 2013).
const PUBLISHED: [Published; 4] = [
    published(Mode::Client, CodecOperation::Encode, 500_005, "1.37", 364_405, 2.74),
    published(Mode::Client, CodecOperation::Decode, 1_963_246, "13.09", 150_011, 6.67),
    published(Mode::Server, CodecOperation::Encode, 1_963_246, "5.72", 344_015, 2.91),
    published(Mode::Server, CodecOperation::Decode, 500_005, "2.24", 223_334, 4.48),
];

/// Published averages across client and server, in microseconds.
const AVERAGED: [(CodecOperation, f64); 2] = [(CodecOperation::Encode, 2.83), (CodecOperation::Decode, 5.57)];
/// The head of the column with published figures.
const MARK: &str = "published, that year's machine (2013)";
/// What the column of published figures is, and what it is not.
const THEIRS: &str = "published: Fix8 on that year's machine (2013, Xeon E5-2690). On a two-core AVX-512 machine of 2026 Fix8 itself took 0.58 to 1.45 us a message in the place of these 2.74 to 6.67: the column is what its page says, and no rival on this machine";
/// What the bytes of a preloaded order are compared with.
const EACH: &str = "Bytes each: the quantity, price, TransactTime and batch of an order, which is encoded when it is sent. Fix8 preloads message objects, and the page's figure is the RAM that it asks for to run the whole test with them";

const fn published(
    mode: Mode,
    operation: CodecOperation,
    messages: u64,
    time: &'static str,
    per_second: u64,
    average: f64,
) -> Published {
    Published { mode, operation, messages, time, per_second, average }
}

const fn word(operation: CodecOperation) -> &'static str {
    match operation {
        CodecOperation::Encode => "encode",
        CodecOperation::Decode => "decode",
    }
}

impl Outcome {
    /// Returns the total of a side's operation over its connections, if it was measured.
    #[must_use]
    pub fn total(&self, mode: Mode, operation: CodecOperation) -> Option<CodecTime> {
        let same = |timed: &&Timed| timed.mode == mode && timed.time.operation == operation;
        let times = self.times.iter().filter(same).map(|timed| timed.time);
        times.reduce(|sum, time| CodecTime {
            operation,
            time: sum.time + time.time,
            messages: sum.messages + time.messages,
        })
    }

    /// Returns the results: the published tables, and what is beside them.
    #[must_use]
    pub fn report(&self) -> TestReport {
        let mut test = TestReport::new("hftest", "Fix8's preload test: what each side's messages took");
        if self.orders > 0 {
            test = test.setting("orders", self.orders);
        }
        test.tables.push(self.by_mode());
        test.rows.extend(PUBLISHED.iter().filter_map(|row| self.row(row)));
        test.tables.extend(self.averaged());
        self.end_to_end(&mut test);
        test.notes.extend(self.times.iter().map(|timed| format!("{}: {}", timed.mode.name(), timed.time)));
        test.notes.extend([
            "encode: writing the body from values at hand, header and trailer; a client's body is written on the thread that sends".to_owned(),
            "decode: framing, index, CheckSum, MsgSeqNum, validation".to_owned(),
            format!("each message includes about one reading of the clock, an order of the client two: {:.0} ns each here", clock_reading_ns()),
            "wall-clock time: what else runs on the machine, such as the other side, is part of it".to_owned(),
            THEIRS.to_owned(),
        ]);
        test
    }

    fn by_mode(&self) -> Table {
        let columns =
            ["Mode", "Operation", "Msgs processed", "Time secs", "Msgs/sec", "Average µs/msg", MARK];
        let mut table = Table::new("Tabulated results", columns);
        let mut last = None;
        for row in &PUBLISHED {
            let Some(time) = self.total(row.mode, row.operation) else { continue };
            let mode = if last == Some(row.mode) { "" } else { row.mode.name() };
            last = Some(row.mode);
            let Published { messages, time: seconds, per_second, average, .. } = row;
            table.row([
                mode.to_owned(),
                word(row.operation).to_owned(),
                time.messages.to_string(),
                format!("{:.2}", time.time.as_secs_f64()),
                // The page leaves the decimals out.
                format!("{:.0}", per(time.messages, time.time).floor()),
                format!("{:.2}", micros(time)),
                format!("{messages} / {seconds} / {per_second} / {average:.2}"),
            ]);
        }
        table
    }

    fn row(&self, published: &Published) -> Option<Row> {
        let time = self.total(published.mode, published.operation)?;
        let message = match (published.mode, published.operation) {
            (Mode::Client, CodecOperation::Encode) | (Mode::Server, CodecOperation::Decode) => "NOS-HF",
            _ => "ER-HF",
        };
        let operation = format!("{} {}", published.mode.name(), word(published.operation));
        Some(
            Row::of_ns("hftest", message, &operation, 1_000.0 * micros(time))
                .published(1_000.0 * published.average)
                .with("messages", time.messages as f64)
                .with("seconds", time.time.as_secs_f64()),
        )
    }

    /// Returns the table across both sides, if both were measured.
    fn averaged(&self) -> Option<Table> {
        let mut table =
            Table::new("Averaged across client and server...", ["Operation", "Average µs/msg", MARK]);
        for (operation, published) in AVERAGED {
            let [client, server] = [Mode::Client, Mode::Server].map(|mode| self.total(mode, operation));
            let average = (micros(client?) + micros(server?)) / 2.0;
            table.row([word(operation).to_owned(), format!("{average:.2}"), format!("{published:.2}")]);
        }
        Some(table)
    }

    fn end_to_end(&self, test: &mut TestReport) {
        if self.orders > 0 {
            let mut table = Table::new(
                "End to end, from the first order to the last report",
                ["Orders", "Reports", "Time secs", "Orders/sec", "Reports/sec"],
            );
            let (orders, reports) = (per(self.orders, self.elapsed), per(self.reports, self.elapsed));
            table.row([
                self.orders.to_string(),
                self.reports.to_string(),
                format!("{:.2}", self.elapsed.as_secs_f64()),
                format!("{orders:.0}"),
                format!("{reports:.0}"),
            ]);
            test.tables.push(table);
            test.rows.push(Row::of_value("hftest", "NOS-HF", "end to end", orders, "orders/s"));
            test.rows.push(Row::of_value("hftest", "ER-HF", "end to end", reports, "reports/s"));
        }
        if let Some((orders, resident)) = self.preloaded {
            let each = Preload::ORDER_SIZE;
            let columns = ["Orders", "Bytes each (values)", "MB resident", MARK];
            let mut table = Table::new("Memory of the preloaded orders", columns);
            let mb = resident as f64 / 1e6;
            let needed = "16 GB of RAM for the test with 500000 orders";
            table.row([orders.to_string(), each.to_string(), format!("{mb:.1}"), needed.to_owned()]);
            table.note(EACH);
            test.tables.push(table);
            test.rows.push(
                Row::of_value("hftest", "NOS-HF", "preloaded values", each as f64, "bytes")
                    .with("resident_mb", mb),
            );
        }
    }
}

/// Returns what a reading of the clock takes.
fn clock_reading_ns() -> f64 {
    const READINGS: u32 = 10_000;
    let clock = fixbolt::codec_clock();
    let began = clock.read();
    for _ in 0..READINGS {
        std::hint::black_box(clock.read());
    }
    (clock.read() - began).as_secs_f64() * 1e9 / f64::from(READINGS)
}

#[allow(clippy::cast_precision_loss)] // no count comes near 2^53
fn per(count: u64, time: Duration) -> f64 {
    if time.is_zero() { 0.0 } else { count as f64 / time.as_secs_f64() }
}

/// Returns the microseconds per message.
#[allow(clippy::cast_precision_loss)] // no count comes near 2^53
fn micros(time: CodecTime) -> f64 {
    if time.messages == 0 { 0.0 } else { time.time.as_secs_f64() * 1e6 / time.messages as f64 }
}
