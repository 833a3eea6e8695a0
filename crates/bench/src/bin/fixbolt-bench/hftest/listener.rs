//! What the client hears of its session, for the log and the results.

use std::sync::mpsc::Receiver;

use fixbolt_bench::hftest::{Mode, Timed, Told};
use fixbolt_cli::exit::Failure;
use fixbolt_cli::interrupt::Interrupt;
use fixbolt_cli::log::Warning;

use super::log::{From, LineLog};

/// Listens to the session, also while orders are sent.
pub(super) struct Listener {
    pub(super) interrupt: Interrupt,
    pub(super) told: Receiver<Told>,
    pub(super) warnings: Receiver<Warning>,
    pub(super) log: LineLog,
    pub(super) heart_bt_int: u32,
    /// Where the client connects to, and how often it has tried.
    pub(super) peer: String,
    pub(super) attempts: u32,
    /// Whether the next attempt is not in the log yet.
    pub(super) is_retrying: bool,
    /// Why the last attempt has failed.
    pub(super) problem: Option<String>,
    /// What the connections' messages took.
    pub(super) times: Vec<Timed>,
    /// How the last connection ended.
    pub(super) ended: Option<String>,
    /// Why the log could not be written.
    pub(super) failed: Option<Failure>,
}

impl Listener {
    /// Listens. Returns whether the client goes on: no signal has arrived, and the log is written.
    pub(super) fn goes_on(&mut self) -> bool {
        if let Err(failure) = self.listen() {
            self.failed.get_or_insert(failure);
        }
        self.failed.is_none() && !self.interrupt.came()
    }

    /// Returns why the client does not go on.
    pub(super) fn why(&mut self) -> Failure {
        self.failed.take().unwrap_or_else(|| Failure::interrupted("interrupted"))
    }

    /// Writes what has happened to the session to the log.
    pub(super) fn listen(&mut self) -> Result<(), Failure> {
        while let Ok(told) = self.told.try_recv() {
            match told {
                Told::LoggedOn => {
                    self.retry()?;
                    self.ended = None;
                    self.log.line(From::Command, "Connection successful")?;
                    self.log.line(From::Command, "Session connected")?;
                    for line in ["Client setting heartbeat interval to", "Heartbeat interval is"] {
                        self.log.line(From::Session, &format!("{line} {}", self.heart_bt_int))?;
                    }
                }
                Told::Times(time) => {
                    self.times.push(Timed { mode: Mode::Client, time });
                    self.log.line(From::Command, &time.to_string())?;
                }
                Told::Ended(end) => {
                    self.log.line(From::Session, &format!("Session ended: {end}"))?;
                    self.is_retrying = true;
                    self.problem = Some(end.clone());
                    self.ended = Some(end);
                }
                Told::Other(what) => self.log.line(From::Session, &what)?,
            }
        }
        while let Ok(warning) = self.warnings.try_recv() {
            if warning.name == Some("cannot_connect") {
                self.retry()?;
                self.is_retrying = true;
                self.problem = Some(warning.text.clone());
            }
            self.log.line(From::Session, &warning.text)?;
        }
        Ok(())
    }

    /// Writes the attempt that has now succeeded or failed to the log, unless it is the first.
    fn retry(&mut self) -> Result<(), Failure> {
        if std::mem::take(&mut self.is_retrying) {
            self.attempts += 1;
            let line = format!("Trying to connect to: {} ({})", self.peer, self.attempts);
            self.log.line(From::Command, &line)?;
        }
        Ok(())
    }
}
