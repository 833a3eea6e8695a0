//! Fix8's comparison with QuickFIX (2013): NOS-222, 100,000 times, ten runs averaged.
//!
//! The published regions: `encode` has a pair of clock readings round each call, `decode` one pair
//! round the loop. Fixbolt builds no message object: what is timed of `encode` begins with the
//! values and ends with the whole message, and `decode` ends with the index of the fields, which is
//! discarded. The operations beside them do what a program does: read every field as its type, or
//! validate; and encode without the clock's own time.
//!
//! QuickFIX C++ does the same work in the same run, where its program is built: a run of one, then
//! a run of the other.

mod regions;
mod table;

use fixbolt_workloads::harness::{Control, spread};

use crate::peers::{CodecRun, CodecTest, Peers};
use crate::results::{Part, Parts, Row, Statistic, TestReport};

use self::regions::Regions;

/// How much to measure.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Plan {
    /// Number of messages of each run: 100,000 as published.
    pub messages: u32,
    /// Number of runs, which are averaged: ten as published.
    pub runs: u32,
}

/// An operation of an engine: the average of the runs.
#[derive(Clone, PartialEq, Debug)]
struct Timed {
    engine: String,
    operation: String,
    messages: u64,
    /// Seconds by the clock of each run, and of CPU of the thread.
    seconds: Vec<f64>,
    cpu_seconds: Vec<f64>,
}

impl Timed {
    fn of(engine: &str, operation: &str, messages: u64) -> Self {
        let (engine, operation) = (engine.to_owned(), operation.to_owned());
        Self { engine, operation, messages, seconds: Vec::new(), cpu_seconds: Vec::new() }
    }

    fn average(&self) -> f64 {
        mean(&self.seconds)
    }

    /// Returns nanoseconds per message.
    #[expect(clippy::cast_precision_loss, reason = "fewer than 2^53 messages")]
    fn ns(&self, seconds: f64) -> f64 {
        seconds * 1e9 / self.messages as f64
    }

    /// Returns its figure; the floor of `encode` is the pair of clock readings, in nanoseconds.
    fn row(&self, clock: f64) -> Row {
        let row = Row::of_ns("fix8-codec", "NOS-222", &self.operation, self.ns(self.average()))
            .engine(&self.engine)
            .floor_ns((self.operation == "encode").then_some(clock))
            .with("cpu_ns", self.ns(mean(&self.cpu_seconds)));
        let row = Row {
            // As published.
            statistic: Statistic::Mean(Parts { part: Part::Run, number: self.seconds.len() }),
            worst: self.seconds.iter().copied().reduce(f64::max).map(|seconds| self.ns(seconds)),
            ..row
        };
        let row = match spread(&self.seconds) {
            Some(spread) => row.with("spread", spread),
            None => row,
        };
        match table::published(&self.engine, &self.operation) {
            Some(published) => row.published(published),
            None => row,
        }
    }
}

#[expect(clippy::cast_precision_loss, reason = "few runs")]
fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Measures Fixbolt, and QuickFIX C++ if its program is built.
///
/// # Errors
/// Returns the operation with a wrong result; nothing is timed then.
pub fn run(plan: Plan, control: &Control) -> Result<TestReport, String> {
    let mut regions = Regions::checked(plan.messages)?;
    let (mut ours, mut clock) = (regions.operations(), Vec::new());
    let mut rival = QuickFix::find(control);
    for run in 0..plan.runs {
        control.begin("fix8-codec", u64::from(plan.runs));
        control.progress(u64::from(run));
        clock.push(regions.clock());
        let mut times = Vec::with_capacity(ours.len());
        for operation in &ours {
            if control.is_stopped() {
                break;
            }
            times.push(regions.time(&operation.operation));
        }
        if times.len() < ours.len() {
            break;
        }
        for (operation, (seconds, cpu_seconds)) in ours.iter_mut().zip(times) {
            operation.seconds.push(seconds);
            operation.cpu_seconds.push(cpu_seconds);
        }
        rival.run(plan.messages);
    }
    ours.retain(|operation| !operation.seconds.is_empty());
    let clock = mean(&clock) * 1e9 / f64::from(plan.messages);
    let mut test = TestReport::new(
        "fix8-codec",
        "Fix8's comparison with QuickFIX: NOS-222 (NewOrderSingle, FIX.4.4, 24 fields)",
    )
    .setting("messages", plan.messages)
    .setting("runs", plan.runs);
    let QuickFix { version, operations: theirs, absent, .. } = rival;
    if !version.is_empty() {
        test = test.setting("QuickFIX C++", version);
    }
    test.notes.extend(absent);
    test.rows = theirs.iter().chain(&ours).map(|timed| timed.row(clock)).collect();
    test.tables = vec![table::measured(&theirs, &ours), table::beside(&theirs, &ours), table::as_published()];
    test.notes.extend(table::sentence(&theirs, &ours));
    test.notes.push(format!(
        "encode has a pair of clock readings in each message, as published: {clock:.1} ns here; encode-loop is \
         encode without them"
    ));
    Ok(test)
}

/// QuickFIX C++, whose runs are made in turns with Fixbolt's.
struct QuickFix {
    peers: Option<Peers>,
    version: String,
    operations: Vec<Timed>,
    /// Why it is not measured.
    absent: Option<String>,
}

impl QuickFix {
    fn find(control: &Control) -> Self {
        let found = Peers::find().map(|peers| peers.controlled_by(control.clone()));
        let absent = found.as_ref().err().map(ToString::to_string);
        Self { peers: found.ok(), version: String::new(), operations: Vec::new(), absent }
    }

    /// Makes a run, unless it could not be made before.
    fn run(&mut self, messages: u32) {
        let Some(peers) = &self.peers else { return };
        let made = peers
            .fix8_codec(&CodecTest { messages, runs: 1, dictionary: None })
            .map_err(|error| error.to_string())
            .and_then(|runs| runs.into_iter().try_for_each(|run| self.add(run)));
        if let Err(reason) = made {
            self.absent = Some(reason);
            self.peers = None;
        }
    }

    fn add(&mut self, run: CodecRun) -> Result<(), String> {
        let time = run.time.map_err(|reason| format!("QuickFIX C++ {}: {reason}", run.operation))?;
        self.version = run.version;
        let known = self.operations.iter().position(|operation| operation.operation == run.operation);
        let at = known.unwrap_or_else(|| {
            self.operations.push(Timed::of(&run.engine, &run.operation, run.messages));
            self.operations.len() - 1
        });
        self.operations[at].seconds.push(time.seconds);
        self.operations[at].cpu_seconds.push(time.cpu_seconds);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_operation_has_a_row_and_the_clock_is_shown() {
        let test = run(Plan { messages: 200, runs: 2 }, &Control::default()).unwrap();
        let ours: Vec<&str> = test
            .rows
            .iter()
            .filter(|row| row.engine == "fixbolt")
            .map(|row| row.operation.as_str())
            .collect();
        assert_eq!(ours, ["encode", "decode", "encode-loop", "decode-typed", "decode-validated"]);
        let row = test.rows.iter().find(|row| row.key() == "fix8-codec fixbolt NOS-222 encode").unwrap();
        assert_eq!((row.published, row.figure().0 > 0.0), (Some(1920.0), true));
        assert!(row.more["cpu_ns"] > 0.0 && row.more["spread"] >= 0.0);
        assert!(row.floor_ns > Some(0.0));
        assert!(test.notes.iter().any(|note| note.contains("ns here")), "{:?}", test.notes);
    }

    #[test]
    fn a_measurement_that_is_stopped_at_once_has_no_operations() {
        let control = Control::default();
        control.stop();
        let test = run(Plan { messages: 200, runs: 2 }, &control).unwrap();
        assert!(test.rows.iter().all(|row| row.engine != "fixbolt"), "{:?}", test.rows);
    }
}
