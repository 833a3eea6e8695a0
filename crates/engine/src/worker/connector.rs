//! The initiators of a worker, with what they need from the system: sockets, and host name
//! look-ups.

use core::net::SocketAddr;
use core::ops::Range;
use std::collections::VecDeque;
use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::io;
use std::net::ToSocketAddrs;
use std::sync::Arc;
use std::time::Duration;

use fixbolt_journal::spawn;
use fixbolt_session::{AttemptFailure, FailedAttempt, Mono, Now, SessionKey, Utc};

use super::failed_attempt::of_connecting;
use super::initiator::{Attempt, ConnectionEnd, Initiator, Step};

use super::transport::Transport;
use crate::command::Command;
use crate::worker_signal::WorkerSignal;

/// How long at most to wait for a window of a session's schedule before looking at the wall clock
/// again.
const LOOK_INTERVAL: Duration = Duration::from_secs(60);

/// The initiators of one worker, each with an index.
#[derive(Debug)]
pub(crate) struct Connector {
    initiators: Vec<Initiator>,
    /// Attempts that have failed, until their sessions' application is told.
    failed: VecDeque<(SessionKey, FailedAttempt)>,
    signal: Arc<WorkerSignal>,
}

/// The progress of an initiator.
#[derive(Debug)]
pub(crate) enum Progress {
    /// A connection is being made. If it is not established by then,
    /// [`Connector::failed`] continues.
    Connecting { transport: Transport, address: SocketAddr, until: Mono },
    /// [`Connector::start`] continues then.
    Waiting { until: Mono },
    /// A command continues it, or nothing does.
    Nothing,
}

impl Connector {
    pub(crate) const fn new(signal: Arc<WorkerSignal>) -> Self {
        Self { initiators: Vec::new(), failed: VecDeque::new(), signal }
    }

    /// Adds an initiator. Its index is the number of initiators added before.
    pub(crate) fn add(&mut self, initiator: Initiator) {
        self.initiators.push(initiator);
    }

    /// Returns the index of each initiator.
    pub(crate) fn indices(&self) -> Range<usize> {
        0..self.initiators.len()
    }

    /// Returns the session that an initiator connects for.
    pub(crate) fn session(&self, index: usize) -> SessionKey {
        self.initiators[index].session
    }

    /// Returns the local address of the connections to the initiator's current host, if it is not
    /// left to the system.
    pub(crate) fn local_address(&self, index: usize) -> Option<SocketAddr> {
        self.initiators[index].local_address()
    }

    /// Returns when the initiator's next attempt is due; `None` unless it waits for one.
    pub(crate) fn waiting_until(&self, index: usize) -> Option<Mono> {
        self.initiators[index].waiting_until()
    }

    /// Makes an attempt begin without waiting.
    pub(crate) fn hasten(&mut self, index: usize, attempt: Attempt, now: Mono) {
        self.initiators[index].hasten(attempt, now);
    }

    /// Stops connecting for a session that was removed.
    pub(crate) fn remove(&mut self, index: usize) {
        self.initiators[index].stop();
    }

    /// Begins an attempt.
    pub(crate) fn start(&mut self, index: usize, now: Now) -> Progress {
        let step = self.initiators[index].start(now, random());
        self.carry_out(index, step, now)
    }

    /// Continues after a connection could not be made.
    pub(crate) fn failed(
        &mut self,
        index: usize,
        address: SocketAddr,
        why: AttemptFailure,
        now: Now,
    ) -> Progress {
        let step = self.initiators[index].failed(address, why, now, random());
        self.carry_out(index, step, now)
    }

    /// Continues after the connection of the session has ended.
    pub(crate) fn ended(&mut self, index: usize, end: ConnectionEnd, now: Now) -> Progress {
        let step = self.initiators[index].ended(end, now, random());
        self.carry_out(index, step, now)
    }

    /// Returns an attempt that has failed, with its session, each once.
    pub(crate) fn next_failed(&mut self) -> Option<(SessionKey, FailedAttempt)> {
        self.failed.pop_front()
    }

    /// Waits, because the session is not to be connected now.
    pub(crate) fn postpone(&mut self, index: usize, now: Now) -> Progress {
        let step = self.initiators[index].postpone(now.mono);
        self.carry_out(index, step, now)
    }

    /// Waits for the session's next window, which begins at `next` if one does within three years.
    pub(crate) fn await_window(&mut self, index: usize, next: Option<Utc>, now: Now) -> Progress {
        let wait = next.map_or(LOOK_INTERVAL, |next| next.abs_diff(now.utc).min(LOOK_INTERVAL));
        let step = self.initiators[index].await_window(next, wait, now.mono);
        self.carry_out(index, step, now)
    }

    /// Takes the result of a look-up, which arrives as [`Command::HostLookedUp`].
    pub(crate) fn looked_up(
        &mut self,
        index: usize,
        look_up: u64,
        addresses: io::Result<Vec<SocketAddr>>,
        now: Now,
    ) -> Progress {
        let step = self.initiators[index].looked_up(look_up, addresses, now, random());
        self.carry_out(index, step, now)
    }

    /// Stops connecting.
    pub(crate) fn stop(&mut self) {
        for initiator in &mut self.initiators {
            initiator.stop();
        }
    }

    fn carry_out(&mut self, index: usize, mut step: Step, now: Now) -> Progress {
        loop {
            let initiator = &mut self.initiators[index];
            self.failed.extend(initiator.take_failed().map(|failed| (initiator.session, failed)));
            step = match step {
                Step::Connect { address, local, until } => match self.connect(index, address, local) {
                    Ok(transport) => return Progress::Connecting { transport, address, until },
                    Err(why) => self.initiators[index].failed(address, why, now, random()),
                },
                Step::LookUp { host, port, look_up } => match self.look_up(index, host, port, look_up) {
                    Ok(()) => return Progress::Nothing,
                    Err(error) => self.initiators[index].looked_up(look_up, Err(error), now, random()),
                },
                Step::Wait { until } => return Progress::Waiting { until },
                Step::Nothing => return Progress::Nothing,
            };
        }
    }

    /// Begins a connection.
    fn connect(
        &self,
        index: usize,
        address: SocketAddr,
        local: Option<SocketAddr>,
    ) -> Result<Transport, AttemptFailure> {
        let initiator = &self.initiators[index];
        let tls = initiator.tls().map_err(AttemptFailure::Tls)?;
        let stream =
            initiator.socket.connect(address, local).map_err(|error| of_connecting(&error, local))?;
        Ok(match tls {
            None => Transport::from(stream),
            Some(tls) => Transport::with_tls(stream, tls),
        })
    }

    /// Looks up a host name on a thread of its own, since the system's resolver may block for any
    /// length of time.
    fn look_up(&self, initiator: usize, host: String, port: u16, look_up: u64) -> io::Result<()> {
        let signal = Arc::clone(&self.signal);
        let run = move || {
            let addresses = (host.as_str(), port).to_socket_addrs().map(Iterator::collect);
            signal.command(Command::HostLookedUp { initiator, look_up, addresses });
        };
        spawn("fixbolt-resolver", Box::new(run)).map(drop)
    }
}

/// Returns a random number. The keys of hash maps are good enough, and the standard library has
/// nothing else.
fn random() -> u32 {
    let bits = RandomState::new().build_hasher().finish();
    (bits >> 32) as u32
}
