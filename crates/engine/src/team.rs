//! The workers of an engine, as they see each other: which of them lives, how much each has to do,
//! and connections that one passes to another.

use std::sync::Arc;

use crate::command::Command;
use crate::distribution::least;
use crate::worker_signal::WorkerSignal;

/// The workers of an engine. The shared ones come first; a dedicated one has certain sessions only.
#[derive(Debug)]
pub(crate) struct Team {
    workers: Box<[Arc<WorkerSignal>]>,
    shared: usize,
}

impl Team {
    pub(crate) fn new(workers: Vec<Arc<WorkerSignal>>, shared: usize) -> Self {
        Self { workers: workers.into(), shared }
    }

    /// Returns all workers.
    pub(crate) fn workers(&self) -> &[Arc<WorkerSignal>] {
        &self.workers
    }

    /// Returns the number of shared workers.
    pub(crate) const fn shared(&self) -> usize {
        self.shared
    }

    /// Returns the living shared worker with the fewest connections; `None` if none lives.
    pub(crate) fn least_loaded(&self) -> Option<usize> {
        let loads: Vec<usize> = self.workers[..self.shared]
            .iter()
            .map(|worker| if worker.is_stopped() { usize::MAX } else { worker.load() })
            .collect();
        let worker = least(&loads);
        (loads.get(worker)? != &usize::MAX).then_some(worker)
    }

    /// Returns the living shared worker that takes over what a dead one leaves.
    pub(crate) fn heir(&self) -> Option<&WorkerSignal> {
        self.least_loaded().map(|worker| &*self.workers[worker])
    }

    /// Leaves a command for every worker.
    pub(crate) fn command_all(&self, command: impl Fn() -> Command) {
        for worker in &self.workers {
            worker.command(command());
        }
    }
}
