//! SIGINT and SIGTERM as a flag that a command can poll.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use signal_hook::consts::{SIGINT, SIGTERM};

/// The signal that was received, if any.
#[derive(Clone, Debug)]
pub struct Interrupt {
    signal: Arc<AtomicUsize>,
}

impl Interrupt {
    /// Records SIGINT and SIGTERM from now on instead of ending the process; a second one ends it.
    pub fn watch() -> io::Result<Self> {
        let signal = Arc::new(AtomicUsize::new(0));
        for number in [SIGINT, SIGTERM] {
            let again = Arc::new(std::sync::atomic::AtomicBool::new(false));
            signal_hook::flag::register_conditional_shutdown(number, 130, Arc::clone(&again))?;
            signal_hook::flag::register(number, again)?;
            signal_hook::flag::register_usize(number, Arc::clone(&signal), number.unsigned_abs() as usize)?;
        }
        Ok(Self { signal })
    }

    /// Returns whether a signal was received.
    pub fn came(&self) -> bool {
        self.signal.load(Ordering::Relaxed) != 0
    }
}
