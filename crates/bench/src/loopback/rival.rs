//! Another engine as a contestant: its program measures a slice whenever it is its turn.

use std::cell::RefCell;

use fixbolt_workloads::harness::{Control, Run, Times};

use crate::peers::{PeerError, Peers, Program, RoundTripRun, State};

/// Another engine's program. If it fails, its slices end there, and nobody else's.
pub(super) struct Rival {
    peers: Peers,
    program: Program,
    control: Control,
    /// The engine with its version, and what its program says of itself, as soon as it has run.
    said: RefCell<Option<(String, String)>>,
    /// Why there are no more slices.
    failed: RefCell<Option<String>>,
}

impl Rival {
    /// Returns a contestant for each program that is built, and why the others are not measured.
    pub(super) fn find(programs: &[Program], control: &Control) -> (Vec<Self>, Vec<String>) {
        let peers = match Peers::find() {
            Ok(peers) => peers.controlled_by(control.clone()),
            Err(error) => return (Vec::new(), vec![format!("No other engine is measured: {error}.")]),
        };
        let (mut rivals, mut notes) = (Vec::new(), Vec::new());
        for &program in programs {
            match peers.state(program) {
                State::Ready(_) => rivals.push(Self {
                    peers: peers.clone(),
                    program,
                    control: control.clone(),
                    said: RefCell::default(),
                    failed: RefCell::default(),
                }),
                State::NotBuilt { command } => {
                    notes.push(format!("{program} is not measured: run {command} first."));
                }
            }
        }
        (rivals, notes)
    }

    /// Measures a slice; `None` if it was interrupted, or if the program has failed, now or before.
    pub(super) fn slice(
        &self,
        measure: impl FnOnce(&Peers, Program) -> Result<RoundTripRun, PeerError>,
    ) -> Option<(Run, Vec<Times>)> {
        if self.failed.borrow().is_some() {
            return None;
        }
        match measure(&self.peers, self.program) {
            Ok(run) => {
                let said = || (format!("{} {}", run.engine, run.version), run.words());
                self.said.borrow_mut().get_or_insert_with(said);
                Some((Run::open(&run.samples), run.samples))
            }
            // The terminal's interrupt may have reached the program first.
            Err(PeerError::Stopped { .. }) => {
                self.control.stop();
                None
            }
            Err(error) => {
                *self.failed.borrow_mut() = Some(error.to_string());
                None
            }
        }
    }

    /// Returns the engine with its version, or its name if it has not run.
    pub(super) fn name(&self) -> String {
        let said = self.said.borrow();
        said.as_ref().map_or_else(|| self.program.to_string(), |(name, _)| name.clone())
    }

    /// Returns its version and settings, if it has run.
    pub(super) fn words(&self) -> Option<String> {
        self.said.borrow().as_ref().map(|(_, words)| words.clone())
    }

    /// Returns why there are no more slices, if the program failed.
    pub(super) fn why_not(&self) -> Option<String> {
        self.failed.borrow().clone()
    }
}
