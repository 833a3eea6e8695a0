//! Stopping an engine from any thread.

use std::sync::Arc;

use crate::command::Command;
use crate::team::Team;

/// Stops an engine from any thread.
#[derive(Clone, Debug)]
pub struct Stopper {
    team: Arc<Team>,
}

impl Stopper {
    pub(crate) const fn new(team: Arc<Team>) -> Self {
        Self { team }
    }

    /// Asks the engine to log out and end. Returns at once; [`Engine::wait`](crate::Engine::wait)
    /// waits for the end.
    pub fn stop(&self) {
        self.team.command_all(|| Command::Stop);
    }
}
