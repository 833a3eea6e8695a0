//! Other engines in the same run, where their programs are built.

use std::collections::BTreeSet;

use crate::harness::{Arrivals, Control, Run};
use crate::peers::{Peers, Program, RoundTripTest, State};
use crate::results::Series;

/// Orders before those that are measured: a virtual machine must have compiled what it runs.
const WARM_UP: u32 = 20_000;

/// The programs that are built, and why others are not measured.
pub(super) struct Rivals {
    peers: Option<Peers>,
    programs: Vec<Program>,
    control: Control,
    /// Versions and settings of those that have run.
    words: BTreeSet<String>,
    notes: Vec<String>,
}

impl Rivals {
    pub(super) fn find(control: &Control) -> Self {
        let control = control.clone();
        let (programs, words, notes) = (Vec::new(), BTreeSet::new(), Vec::new());
        let mut rivals = Self { peers: None, programs, control, words, notes };
        match Peers::find() {
            Ok(peers) => {
                for program in Program::ENGINES {
                    match peers.state(program) {
                        State::Ready(_) => rivals.programs.push(program),
                        State::NotBuilt { command } => {
                            rivals.notes.push(format!("{program} is not measured: run {command} first."));
                        }
                    }
                }
                rivals.peers = Some(peers.controlled_by(rivals.control.clone()));
            }
            Err(error) => rivals.notes.push(format!("No other engine is measured: {error}.")),
        }
        rivals
    }

    /// Measures each at this rate: one run. The programs know whole rates only, and send at equal
    /// distances.
    pub(super) fn at(&mut self, rate: f64, arrivals: Option<Arrivals>, messages: u64) -> Vec<Series> {
        if self.programs.is_empty() {
            return Vec::new();
        }
        if arrivals != Some(Arrivals::Fixed) || rate.fract() > 0.0 {
            let why = "they send at equal distances and whole rates";
            self.notes.push(format!("Other engines are not measured at {rate}/s here: {why}."));
            return Vec::new();
        }
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
                    self.words.insert(run.words());
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
        if !self.words.is_empty() {
            notes.push(format!(
                "Other engines: one run, after {WARM_UP} orders, both sides in a process of their own, with file store and file log."
            ));
        }
        notes.extend(self.words);
        notes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_schedule_that_the_programs_do_not_know_is_said_and_not_measured() {
        let programs = vec![Program::QuickfixCpp];
        let (control, words) = (Control::default(), BTreeSet::new());
        let mut rivals = Rivals { peers: None, programs, control, words, notes: Vec::new() };
        for (rate, arrivals) in [(2_000.0, Arrivals::Burst { size: 8 }), (0.5, Arrivals::Fixed)] {
            assert!(rivals.at(rate, Some(arrivals), 10).is_empty());
        }
        assert!(rivals.at(2_000.0, Some(Arrivals::Fixed), 10).is_empty(), "there is no folder");
        let said: Vec<&str> = rivals.notes.iter().map(|note| note.split(':').next().unwrap()).collect();
        let not = |rate: &str| format!("Other engines are not measured at {rate}/s here");
        assert_eq!(said, [not("2000"), not("0.5")]);
    }
}
