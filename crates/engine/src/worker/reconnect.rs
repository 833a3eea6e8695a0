//! Connections that we make: one host after another, names looked up anew at each attempt, again after an interval, for ever.

use core::net::{IpAddr, SocketAddr};
use core::time::Duration;
use std::collections::VecDeque;
use std::io;
use std::net::ToSocketAddrs;
use std::sync::Arc;

use fixbolt_session::store::SessionKey;
use fixbolt_session::{Application, Mono};
use mio::net::TcpStream;

use super::Worker;
use super::connection::{Connection, Stage};
use crate::engine::Command;

/// One session's way to its counterparty.
pub(crate) struct Initiator {
    session: SessionKey,
    hosts: Vec<(String, u16)>,
    interval: Duration,
    connect_timeout: Duration,
    step: Step,
    /// Which host of the list is being tried.
    host: usize,
    /// Addresses of that host that were not tried yet.
    addresses: VecDeque<SocketAddr>,
    /// Counts look-ups, so that a late answer is not taken for a newer one's.
    attempt: u64,
}

/// Where an initiator stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Step {
    /// Until the next attempt.
    Waiting { until: Mono },
    /// A host's addresses are being looked up.
    Resolving,
    /// A connection is being made, or there.
    Connected,
    /// The engine stops.
    Stopped,
}

impl Worker {
    /// Begins to connect for a session.
    pub(crate) fn initiate(
        &mut self,
        session: SessionKey,
        hosts: Vec<(String, u16)>,
        interval: Duration,
        connect_timeout: Duration,
    ) {
        self.seats[session.0 as usize].initiator = Some(self.initiators.len());
        self.initiators.push(Initiator {
            session,
            hosts,
            interval,
            connect_timeout,
            step: Step::Waiting { until: self.now.mono },
            host: 0,
            addresses: VecDeque::new(),
            attempt: 0,
        });
        self.wake(self.now.mono);
    }

    /// Starts attempts that are due, and asks to be called for those that are not.
    pub(super) fn connect_due(&mut self) {
        for n in 0..self.initiators.len() {
            let Step::Waiting { until } = self.initiators[n].step else { continue };
            if until > self.now.mono {
                self.wake(until);
            } else if self.sessions.can_connect(self.initiators[n].session) {
                self.initiators[n].host = 0;
                self.resolve(n);
            } else {
                // Halted: whoever ends that need not restart the engine.
                self.wait(n);
            }
        }
    }

    /// The connection has ended, or every host was tried: wait for the interval.
    pub(super) fn wait(&mut self, n: usize) {
        if self.initiators[n].step == Step::Stopped {
            return;
        }
        let until = self.now.mono + self.initiators[n].interval;
        self.initiators[n].step = Step::Waiting { until };
        self.wake(until);
    }

    pub(super) fn stop_connecting(&mut self) {
        for initiator in &mut self.initiators {
            initiator.step = Step::Stopped;
        }
    }

    /// Looks up the host that is to be tried: an address at once, a name on a thread of its own, since the system's resolver
    /// blocks for as long as it likes.
    fn resolve(&mut self, n: usize) {
        let initiator = &mut self.initiators[n];
        initiator.attempt += 1;
        let attempt = initiator.attempt;
        let (host, port) = initiator.hosts[initiator.host].clone();
        initiator.step = Step::Resolving;
        if let Ok(address) = host.parse::<IpAddr>() {
            let address = SocketAddr::new(address, port);
            return self.resolved(n, attempt, Ok(vec![address]));
        }
        let doorbell = Arc::clone(&self.doorbell);
        let looking = std::thread::Builder::new().name("fixbolt-resolver".to_owned()).spawn(move || {
            let addresses = (host.as_str(), port).to_socket_addrs().map(Iterator::collect);
            doorbell.command(Command::Resolved { initiator: n, attempt, addresses });
        });
        if let Err(error) = looking {
            self.resolved(n, attempt, Err(error));
        }
    }

    pub(super) fn resolved(&mut self, n: usize, attempt: u64, addresses: io::Result<Vec<SocketAddr>>) {
        let initiator = &mut self.initiators[n];
        if initiator.step != Step::Resolving || initiator.attempt != attempt {
            return;
        }
        match addresses {
            Ok(addresses) => initiator.addresses = addresses.into(),
            Err(error) => {
                let host = &initiator.hosts[initiator.host].0;
                tracing::warn!(%host, %error, "the host's address could not be looked up");
                initiator.addresses.clear();
            }
        }
        self.try_next(n);
    }

    /// Tries the host's next address; then the next host; then waits.
    pub(super) fn try_next(&mut self, n: usize) {
        if self.initiators[n].step == Step::Stopped {
            return;
        }
        while let Some(address) = self.initiators[n].addresses.pop_front() {
            let until = self.now.mono + self.initiators[n].connect_timeout;
            match TcpStream::connect(address) {
                Ok(stream) => {
                    let stage = Stage::Connecting { initiator: n, until };
                    if self.adopt(Connection::new(stream, address, stage)).is_some() {
                        self.initiators[n].step = Step::Connected;
                        self.wake(until);
                        return;
                    }
                }
                Err(error) => tracing::warn!(%address, %error, "no connection"),
            }
        }
        if self.initiators[n].host + 1 < self.initiators[n].hosts.len() {
            self.initiators[n].host += 1;
            self.resolve(n);
        } else {
            self.wait(n);
        }
    }

    /// The socket of a connection being made has something to tell.
    pub(super) fn connecting(&mut self, slot: usize, n: usize, app: &mut dyn Application) {
        let Some(connection) = self.connections[slot].as_mut() else { return };
        match connection.connect_result() {
            None => {}
            Some(Err(error)) => {
                tracing::warn!(address = %connection.peer, %error, "no connection");
                self.kill(slot);
                self.try_next(n);
            }
            Some(Ok(())) => {
                let session = self.initiators[n].session;
                if self.sessions.can_connect(session) && self.stopping.is_none() {
                    self.seat(slot, session, app);
                } else {
                    self.kill(slot);
                    self.wait(n);
                }
            }
        }
    }
}
