//! The server's side.

use std::io::Write;
use std::sync::mpsc::channel;
use std::time::Duration;

use fixbolt::config::Configuration;
use fixbolt_bench::hftest::{Mode, Outcome, Timed, Told, start_server};
use fixbolt_cli::exit::{Answer, Failure};
use fixbolt_cli::interrupt::Interrupt;
use fixbolt_cli::note;
use fixbolt_cli::output;

use super::log::{From, LineLog};
use super::{Hftest, conclude, warnings};

/// Serves clients until a signal arrives, or with `--once` until the first has logged out.
pub(super) fn run(arguments: &Hftest, configuration: &Configuration) -> Result<Answer, Failure> {
    let interrupt =
        Interrupt::watch().map_err(|error| Failure::usage(format!("cannot watch signals: {error}")))?;
    let warnings = warnings()?;
    let mut log = LineLog::new(arguments.log.as_deref(), false)?;
    let (to, told) = channel();
    let engine = start_server(configuration, arguments.seed, to).map_err(Failure::usage)?;
    log.line(From::Command, "Starting session")?;
    let mut out = output::stdout();
    for address in engine.addresses() {
        writeln!(out, "listening {address}")?;
        log.line(From::Command, &format!("Waiting for connections at: {address}"))?;
    }
    out.flush()?;
    let mut outcome = Outcome::default();
    let mut served = 0;
    let is_done = |served: u32| interrupt.came() || arguments.once && served > 0;
    while !is_done(served) {
        if let Ok(told) = told.recv_timeout(Duration::from_millis(50)) {
            served += u32::from(matches!(told, Told::Ended(_)));
            write(&mut log, &mut outcome, &told)?;
        }
        for warning in warnings.try_iter() {
            log.line(From::Session, &warning.text)?;
        }
    }
    engine.stop().map_err(|error| Failure::usage(format!("{error:#}")))?;
    for told in told.try_iter() {
        write(&mut log, &mut outcome, &told)?;
    }
    if outcome.times.is_empty() {
        note!("no client has logged on: there is nothing to show");
        return Ok(Answer::No);
    }
    conclude(arguments, &outcome)
}

/// Writes what was told to the log, and keeps the times.
fn write(log: &mut LineLog, outcome: &mut Outcome, told: &Told) -> Result<(), Failure> {
    match told {
        Told::LoggedOn => log.line(From::Session, "Session connected"),
        Told::Times(time) => {
            outcome.times.push(Timed { mode: Mode::Server, time: *time });
            log.line(From::Command, &time.to_string())
        }
        Told::Ended(end) => log.line(From::Session, &format!("Session ended: {end}")),
        Told::Other(what) => log.line(From::Session, what),
    }
}
