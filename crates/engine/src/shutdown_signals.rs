//! SIGINT and SIGTERM stop an engine; a second one ends the process.

use std::io;

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::stopper::Stopper;

pub(crate) fn stop_on_signals(stopper: Stopper) -> io::Result<()> {
    let mut signals = Signals::new([SIGINT, SIGTERM])?;
    std::thread::Builder::new().name("fixbolt-signals".to_owned()).spawn(move || {
        let mut asked = false;
        for signal in signals.forever() {
            if asked {
                // A user who asks twice does not want to wait for a counterparty.
                if signal_hook::low_level::emulate_default_handler(signal).is_err() {
                    std::process::abort();
                }
            }
            asked = true;
            stopper.stop();
        }
    })?;
    Ok(())
}
