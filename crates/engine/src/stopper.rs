//! Stopping an engine from any thread.

use std::sync::Arc;

use crate::command::Command;
use crate::worker_signal::WorkerSignal;

/// Stops an engine from any thread.
#[derive(Clone, Debug)]
pub struct Stopper {
    workers: Arc<[Arc<WorkerSignal>]>,
}

impl Stopper {
    pub(crate) const fn new(workers: Arc<[Arc<WorkerSignal>]>) -> Self {
        Self { workers }
    }

    /// Asks the engine to log out and end. Returns at once; [`Engine::wait`](crate::Engine::wait)
    /// waits for the end.
    pub fn stop(&self) {
        for worker in &*self.workers {
            worker.command(Command::Stop);
        }
    }
}
