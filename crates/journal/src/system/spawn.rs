//! How the store starts its threads.

use std::io;
use std::thread::JoinHandle;

use fixbolt_session::store::StoreError;

use crate::system::system_calls::unpin;

/// Starts a thread that runs on every core that the process has, although the worker that starts it
/// may be pinned to one, and may never leave it any time there.
///
/// # Errors
/// The system's.
pub fn spawn(name: &str, run: Box<dyn FnOnce() + Send>) -> io::Result<JoinHandle<()>> {
    std::thread::Builder::new().name(name.to_owned()).spawn(move || {
        unpin();
        run();
    })
}

/// Starts a thread of the store.
pub(crate) fn start(name: &str, run: Box<dyn FnOnce() + Send>) -> Result<JoinHandle<()>, StoreError> {
    spawn(name, run).map_err(|error| StoreError::Io {
        doing: format!("starting the thread {name}"),
        reason: error.to_string(),
    })
}
