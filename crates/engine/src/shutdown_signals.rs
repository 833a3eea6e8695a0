//! SIGINT and SIGTERM stop an engine; a later one ends the process.

use std::ffi::c_int;
use std::io;
use std::time::{Duration, Instant};

use fixbolt_journal::spawn;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::stopper::Stopper;

/// How long signals belong to the first one: what forwards a signal to a process may send it to the
/// process's group, too.
const SAME_REQUEST: Duration = Duration::from_millis(500);

pub(crate) fn stop_on_signals(stopper: Stopper) -> io::Result<()> {
    let mut signals = Signals::new([SIGINT, SIGTERM])?;
    let run = move || {
        let came = signals.forever().map(|signal| (signal, Instant::now()));
        obey(
            came,
            || stopper.stop(),
            |signal| {
                if signal_hook::low_level::emulate_default_handler(signal).is_err() {
                    std::process::abort();
                }
            },
        );
    };
    spawn("fixbolt-signals", Box::new(run)).map(drop)
}

/// Stops at the first signal, and ends the process at one that asks again: a user who asks twice
/// does not want to wait for a counterparty.
fn obey(came: impl Iterator<Item = (c_int, Instant)>, stop: impl Fn(), end: impl Fn(c_int)) {
    let mut first = None;
    for (signal, at) in came {
        match first {
            None => {
                first = Some(at);
                stop();
            }
            Some(first) if at.duration_since(first) >= SAME_REQUEST => end(signal),
            Some(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::{Cell, RefCell};

    #[test]
    fn a_signal_that_comes_twice_is_one_request_and_a_later_one_ends_the_process() {
        let begin = Instant::now();
        for (came, ends) in [
            (&[(SIGTERM, 0)][..], &[][..]),
            (&[(SIGTERM, 0), (SIGTERM, 1), (SIGINT, 499)], &[]),
            (&[(SIGTERM, 0), (SIGINT, 500)], &[SIGINT]),
            (&[(SIGINT, 0), (SIGINT, 1), (SIGTERM, 60_000)], &[SIGTERM]),
        ] {
            let (stops, ended) = (Cell::new(0), RefCell::new(Vec::new()));
            let at = came.iter().map(|(signal, millis)| (*signal, begin + Duration::from_millis(*millis)));
            obey(at, || stops.set(stops.get() + 1), |signal| ended.borrow_mut().push(signal));
            assert_eq!((stops.get(), ended.into_inner().as_slice()), (1, ends), "{came:?}");
        }
    }
}
