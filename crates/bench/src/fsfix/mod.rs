//! FsFIX's benchmark: four messages of FIX.4.4, three of them with groups, written and read.
//!
//! `write` and `read` are what is on its page: every field from and to a value of its type.
//! QuickFIX/J does the same in the same run, where its program is built.

mod table;
mod works;

use std::time::Duration;

use fixbolt_workloads::harness::{Control, SLICES};

use crate::batches;
use crate::messages::RING;
use crate::peers::{MessageRow, MessageTest, Peers};
use crate::results::{Part, Row, TestReport, of_parts};

pub(crate) use self::works::Messages;

/// How much to measure.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Plan {
    /// Rounds of the ring of 64 messages in each of the 20 slices.
    pub rounds: usize,
    /// The length of each of QuickFIX/J's 11 batches.
    pub batch: Duration,
    /// How long QuickFIX/J runs before. Its compiler needs 2 s.
    pub warm_up: Duration,
}

impl Plan {
    /// What is measured unless something else is asked for: about three minutes with QuickFIX/J.
    pub const STANDARD: Self =
        Self { rounds: 200, batch: Duration::from_millis(100), warm_up: Duration::from_secs(2) };
    /// A first look.
    pub const SHORT: Self = Self { rounds: 50, batch: Duration::from_millis(20), ..Self::STANDARD };
}

/// How often each is measured, in turn.
const RUNS: usize = 3;

/// Measures Fixbolt, and QuickFIX/J if its program is built, in turn.
///
/// # Errors
/// Returns the operation with a wrong result; nothing is timed then.
pub fn run(plan: Plan, control: &Control) -> Result<TestReport, String> {
    let messages = Messages::new()?;
    let mut works = messages.works()?;
    let (mut ours, mut theirs, mut version, mut notes) = (Vec::new(), Vec::new(), String::new(), Vec::new());
    for run in 0..RUNS {
        if control.is_stopped() {
            break;
        }
        control.begin(format!("fsfix, run {} of {RUNS}", run + 1), SLICES as u64);
        ours.push(batches::measure(&mut works, SLICES, plan.rounds, control));
        // What was said of one run is true of all.
        if theirs.len() == run {
            match quickfixj(plan, control) {
                Ok((of, rows, without)) => {
                    theirs.push(rows);
                    (version, notes) = (of, without);
                }
                Err(reason) => notes = vec![reason],
            }
        }
    }
    if (1..ours.len()).contains(&theirs.len()) {
        notes.push(format!("QuickFIX/J: {} of {RUNS} runs were measured", theirs.len()));
    }
    let ours: Vec<Row> = of_parts(Part::Run, &ours).into_iter().map(table::with_published).collect();
    let theirs = of_parts(Part::Run, &theirs);
    let mut test = TestReport::new(
        "fsfix",
        "FsFIX's benchmark: thread CPU time to write and read four messages of FIX.4.4, medians",
    )
    .setting("messages", format!("{RING} differing ones"))
    .setting("runs", RUNS)
    .setting("slices in each", SLICES)
    .setting("messages in each", plan.rounds * RING);
    if !version.is_empty() {
        test = test.setting("QuickFIX/J", version);
    }
    test.notes.extend(notes);
    test.tables = vec![table::as_page(&ours, &theirs), table::operations(&ours, &theirs)];
    test.rows = ours.into_iter().chain(theirs).collect();
    test.notes.extend(table::notes());
    Ok(test)
}

/// Returns the version of QuickFIX/J, its figures, and what it has no figures of.
fn quickfixj(plan: Plan, control: &Control) -> Result<(String, Vec<Row>, Vec<String>), String> {
    let peers = Peers::find().map_err(|error| error.to_string())?.controlled_by(control.clone());
    let test = MessageTest { warm_up: plan.warm_up, batch: plan.batch };
    let measured = peers.fsfix(test).map_err(|error| error.to_string())?;
    let version = measured.first().map(|row| row.version.clone()).unwrap_or_default();
    let (mut rows, mut notes) = (Vec::new(), Vec::new());
    for row in measured {
        match of_peer(&row) {
            Ok(row) => rows.push(row),
            Err(note) => notes.push(note),
        }
    }
    Ok((version, rows, notes))
}

fn of_peer(row: &MessageRow) -> Result<Row, String> {
    let MessageRow { engine, message, operation, time, .. } = row;
    let time = time.as_ref().map_err(|reason| format!("{engine}: {message} {operation}: {reason}"))?;
    let spread = 100.0 * (time.ns_max - time.ns_min) / time.ns;
    // In the rival's favor: the others have the time of code that is not compiled yet, or of the
    // compiler.
    let ns = if spread > table::STEADY { time.ns_min } else { time.ns };
    let row = Row::of_ns("fsfix", message, operation, ns).engine(engine);
    Ok(table::with_published(row.with(table::BATCHES_SPREAD, spread).with("wall_ns", time.wall_ns)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::peers::MessageTime;
    use std::collections::BTreeMap;

    #[test]
    fn a_peers_row_has_its_published_figure_and_one_without_a_time_is_a_note() {
        let time = MessageTime {
            ns: 1000.0,
            ns_min: 900.0,
            ns_max: 1100.0,
            wall_ns: 1050.0,
            batches: 11,
            messages: 9,
        };
        let peer = MessageRow {
            engine: "QuickFIX/J".to_owned(),
            version: "2.3.1".to_owned(),
            message: "MarketDataRequest".to_owned(),
            operation: "write".to_owned(),
            time: Ok(time),
            settings: BTreeMap::new(),
        };
        let row = of_peer(&peer).unwrap();
        assert_eq!(row.key(), "fsfix QuickFIX/J MarketDataRequest write");
        assert_eq!(
            (row.ns, row.published, row.more[table::BATCHES_SPREAD]),
            (Some(1000.0), Some(1459.0), 20.0)
        );
        let unsteady = MessageTime { ns_max: 1600.0, ..time };
        let row = of_peer(&MessageRow { time: Ok(unsteady), ..peer.clone() }).unwrap();
        assert_eq!((row.ns, row.more[table::BATCHES_SPREAD]), (Some(900.0), 70.0), "the fastest batch");
        let none = MessageRow { time: Err("out of range".to_owned()), ..peer };
        assert_eq!(of_peer(&none), Err("QuickFIX/J: MarketDataRequest write: out of range".to_owned()));
    }
}
