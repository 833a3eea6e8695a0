//! When a worker lets its store prepare what it will need: in cycles that found nothing else to do,
//! one step in each.
//!
//! A worker that blocks has no such cycles, as it sleeps instead: so after some cycles with work it
//! looks for more without sleeping, and if it finds none, the store takes one step. It does not do
//! so after each, since looking costs a system call, unless there are steps left. It sleeps
//! afterwards even then: further steps would keep the core from whoever else needs it.

/// Cycles with work after which a worker that blocks prepares before it sleeps.
const CYCLES: u32 = 8;

/// How many cycles with work a worker has had since its store has prepared.
#[derive(Debug, Default)]
pub(crate) struct Preparing {
    cycles: u32,
}

impl Preparing {
    /// Notes a cycle with work.
    pub(crate) fn note_work(&mut self) {
        self.cycles = (self.cycles + 1).min(CYCLES);
    }

    /// Notes that the store has taken a step, and whether there may be another one.
    pub(crate) fn note_step(&mut self, more: bool) {
        self.cycles = if more { CYCLES - 1 } else { 0 };
    }

    /// Returns whether the worker must not sleep before its store has prepared.
    pub(crate) const fn is_due(&self) -> bool {
        self.cycles == CYCLES
    }
}
