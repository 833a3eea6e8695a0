//! Other engines in the same run, where their programs are built.

use crate::harness::{Control, Run};
use crate::peers::{Peers, Program, RoundTripTest, State};
use crate::results::Series;

/// Orders before those that are measured: a virtual machine must have compiled what it runs.
const WARM_UP: u32 = 20_000;

/// The programs that are built, and why others are not measured.
pub(super) struct Rivals {
    peers: Option<Peers>,
    programs: Vec<Program>,
    control: Control,
    notes: Vec<String>,
}

impl Rivals {
    pub(super) fn find(control: &Control) -> Self {
        let mut rivals =
            Self { peers: None, programs: Vec::new(), control: control.clone(), notes: Vec::new() };
        match Peers::find() {
            Ok(peers) => {
                for program in Program::ALL {
                    match peers.state(program) {
                        State::Ready(_) => rivals.programs.push(program),
                        State::NotBuilt { command } => {
                            rivals.notes.push(format!("{program} is not measured: run {command} first."));
                        }
                    }
                }
                rivals.peers = Some(peers.controlled_by(control.clone()));
            }
            Err(error) => rivals.notes.push(format!("No other engine is measured: {error}.")),
        }
        rivals
    }

    /// Measures each at this rate: one run.
    pub(super) fn at(&mut self, rate: f64, messages: u64) -> Vec<Series> {
        let Some(peers) = &self.peers else { return Vec::new() };
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a rate of orders")]
        let test = RoundTripTest {
            rate: rate as u32,
            messages: u32::try_from(messages).unwrap_or(u32::MAX),
            warm_up: WARM_UP,
            validate: true,
            dictionary: None,
        };
        let mut series = Vec::new();
        for program in &self.programs {
            if self.control.is_stopped() {
                break;
            }
            match peers.jlbh(*program, &test) {
                Ok(run) => {
                    let engine = format!("{} {}", run.engine, run.version);
                    series.push(Series::new(
                        super::TEST,
                        &engine,
                        format!("{rate:.0}/s"),
                        vec![Run::open(&run.samples)],
                    ));
                }
                Err(error) => self.notes.push(format!("{program} at {rate:.0}/s: {error}")),
            }
        }
        series
    }

    pub(super) fn notes(self) -> Vec<String> {
        let mut notes = self.notes;
        if !self.programs.is_empty() {
            notes.push(format!(
                "Other engines: one run, after {WARM_UP} orders, both sides in a process of their own, with file store and file log."
            ));
        }
        notes
    }
}
