//! The workers of an engine, as they see each other: which of them lives, how much each has to do,
//! and connections that one passes to another.

use std::sync::Arc;

use mio::net::TcpListener;

use crate::command::Command;
use crate::distribution::least;
use crate::ports::Port;
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
        least_loaded(&self.workers[..self.shared])
    }

    /// Has a worker accept the connections to a port: this one, or another one if it has ended. The
    /// counterparties of the living must be accepted by somebody, so it is a dedicated one if no
    /// shared one lives.
    pub(crate) fn listen(&self, worker: usize, port: Port, mut socket: TcpListener) {
        let mut next = Some(&self.workers[worker]);
        while let Some(worker) = next {
            match worker.listen(port, socket) {
                None => return,
                Some(left) => socket = left,
            }
            let heir = self.least_loaded().or_else(|| least_loaded(&self.workers));
            next = heir.map(|worker| &self.workers[worker]);
        }
    }

    /// Leaves a command for every worker.
    pub(crate) fn command_all(&self, command: impl Fn() -> Command) {
        for worker in &self.workers {
            worker.command(command());
        }
    }
}

/// Returns the living one with the fewest connections; `None` if none lives.
fn least_loaded(workers: &[Arc<WorkerSignal>]) -> Option<usize> {
    let load = |worker: &Arc<WorkerSignal>| if worker.is_stopped() { usize::MAX } else { worker.load() };
    let loads: Vec<usize> = workers.iter().map(load).collect();
    let worker = least(&loads);
    (loads.get(worker)? != &usize::MAX).then_some(worker)
}
