//! hffix in the same run, where its programs are built.

use std::collections::BTreeSet;

use fixbolt_workloads::harness::Control;

use crate::batches::Measured;
use crate::peers::{Peers, Program, State};
use crate::results::{Part, Parts, Row, Statistic};

/// What is said of the rows, after the version.
const WORDS: &str = "the same bytes, in processes of its own, in turn with Fixbolt's; index: every field visited, and CheckSum summed up by the benchmark program, because hffix does not verify it (index-unsummed is without); encode: times are in their parts already, and BodyLength has six digits";

/// Adds the rows of each build, or says what builds it.
pub(super) fn add(test: &mut Measured, batches: usize, rounds: usize, control: &Control) {
    let peers = match Peers::find() {
        Ok(peers) => peers.controlled_by(control.clone()),
        Err(error) => return test.notes.push(format!("hffix is not measured: {error}.")),
    };
    let mut absent = BTreeSet::new();
    let mut version = None;
    for program in Program::HFFIX {
        if control.is_stopped() {
            break;
        }
        if let State::NotBuilt { command } = peers.state(program) {
            absent.insert(format!("hffix is not measured: run {command} first."));
            continue;
        }
        match peers.codec(program, batches, rounds) {
            Ok(rows) => {
                version = rows.first().map(|row| row.version.clone()).or(version);
                test.rows.extend(rows.into_iter().filter_map(|row| {
                    let time = row.time.ok()?;
                    let spread = 100.0 * (time.ns_max - time.ns_min) / time.ns;
                    let of = Row::of_ns("codec", &row.message, &row.operation, time.ns);
                    let parts = Parts { part: Part::Batch, number: time.batches as usize };
                    let of = Row { statistic: Statistic::Median(parts), worst: Some(time.ns_max), ..of };
                    Some(of.engine(&program.to_string()).with("spread", spread))
                }));
            }
            Err(error) => test.notes.push(format!("{program} is not measured: {error}.")),
        }
    }
    test.notes.extend(absent);
    test.notes.extend(version.map(|version| format!("hffix {version}: {WORDS}")));
}
