//! QuickFIX C++ beside Fixbolt, where its program is built.

use std::cell::RefCell;

use super::{QUICKFIX, Settings, Slice};
use crate::harness::{Control, Run};
use crate::peers::{PeerError, Peers, Program, RoundTripTest, State};

/// QuickFIX C++'s program. If it fails, its rows end there, and nobody else's.
pub(super) struct QuickFix {
    peers: Peers,
    control: Control,
    /// Its version and settings, as soon as it has run.
    words: RefCell<Option<String>>,
    /// Why there are no more slices, with validation or without.
    failed: RefCell<Vec<(bool, String)>>,
}

impl QuickFix {
    /// Finds the program.
    ///
    /// # Errors
    /// Returns why there is none.
    pub(super) fn find(control: &Control) -> Result<Self, String> {
        let peers = Peers::find().map_err(|error| error.to_string())?;
        match peers.state(Program::QuickfixCpp) {
            State::Ready(_) => Ok(Self {
                peers: peers.controlled_by(control.clone()),
                control: control.clone(),
                words: RefCell::default(),
                failed: RefCell::default(),
            }),
            State::NotBuilt { command } => Err(format!("{QUICKFIX} is not built; build it with: {command}")),
        }
    }

    /// Measures a slice; `None` if it was interrupted, or if the program has failed, now or before.
    pub(super) fn slice(&self, settings: &Settings, validate: bool) -> Option<Slice> {
        if self.why_not(validate).is_some() {
            return None;
        }
        let test = RoundTripTest {
            rate: settings.rate,
            messages: settings.of_a_slice(),
            warm_up: settings.warm_up,
            validate,
            dictionary: None,
        };
        match self.peers.antenna(&test) {
            Ok(run) => {
                self.words.borrow_mut().get_or_insert_with(|| run.words());
                Some((Run::open(&run.samples), run.samples))
            }
            // The terminal's interrupt may have reached the program first.
            Err(PeerError::Stopped { .. }) => {
                self.control.stop();
                None
            }
            Err(error) => {
                self.failed.borrow_mut().push((validate, error.to_string()));
                None
            }
        }
    }

    /// Returns its version and settings, if it has run.
    pub(super) fn words(&self) -> Option<String> {
        self.words.borrow().clone()
    }

    /// Returns why there are no more slices, with validation or without, if the program failed.
    pub(super) fn why_not(&self, validate: bool) -> Option<String> {
        let failed = self.failed.borrow();
        failed.iter().find(|(of, _)| *of == validate).map(|(_, why)| why.clone())
    }
}
