//! How an initiator reaches its counterparty: it tries one host after another, looks names up for
//! each attempt, and repeats after an interval, without end. Sans-IO: events come in, the next step
//! comes out.

use core::net::{IpAddr, SocketAddr};
use core::time::Duration;
use std::collections::VecDeque;
use std::io;

use fixbolt_session::{Mono, SessionKey};

/// The connection attempts of one session.
///
/// Call [`start`](Self::start) at [`waiting_until`](Self::waiting_until), carry out the [`Step`]
/// that it returns, and report the outcome, which returns the next step. Call [`wait`](Self::wait)
/// when a connection has ended.
#[derive(Debug)]
pub(crate) struct Initiator {
    pub(crate) session: SessionKey,
    hosts: Vec<(String, u16)>,
    reconnect_interval: Duration,
    connect_timeout: Duration,
    state: State,
    /// The index of the host being tried.
    host: usize,
    /// Addresses of that host that have not been tried yet.
    addresses: VecDeque<SocketAddr>,
    /// Whether the next attempt is due as soon as the connection has ended.
    at_once: bool,
    /// Counts look-ups, so that a late answer is not mistaken for a newer one.
    attempt: u64,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    /// Waits for the next attempt.
    Waiting { until: Mono },
    /// A host's addresses are being looked up.
    LookingUp,
    /// A connection is being made, or is established.
    Connected,
    /// The engine is stopping.
    Stopped,
}

/// Which attempt an operator asks for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Attempt {
    /// The current one, or else the next.
    Next,
    /// The one after the current connection, which is being logged out.
    AfterThis,
}

/// What an initiator asks its caller to do.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Step {
    /// Look up the host's addresses, and pass them to [`Initiator::looked_up`].
    LookUp { host: String, port: u16, attempt: u64 },
    /// Connect to the address before `until`, or else call [`Initiator::try_next_address`].
    Connect { address: SocketAddr, until: Mono },
    /// Wait until then.
    Wait { until: Mono },
    /// Do nothing.
    Nothing,
}

impl Initiator {
    /// Creates an initiator whose first attempt is due at once.
    pub(crate) const fn new(
        session: SessionKey,
        hosts: Vec<(String, u16)>,
        reconnect_interval: Duration,
        connect_timeout: Duration,
        now: Mono,
    ) -> Self {
        Self {
            session,
            hosts,
            reconnect_interval,
            connect_timeout,
            state: State::Waiting { until: now },
            host: 0,
            addresses: VecDeque::new(),
            at_once: false,
            attempt: 0,
        }
    }

    /// Returns when the next attempt is due; `None` unless it waits for one.
    pub(crate) const fn waiting_until(&self) -> Option<Mono> {
        match self.state {
            State::Waiting { until } => Some(until),
            State::LookingUp | State::Connected | State::Stopped => None,
        }
    }

    /// Begins an attempt with the first host.
    pub(crate) fn start(&mut self, now: Mono) -> Step {
        self.host = 0;
        self.look_up(now)
    }

    /// Makes an attempt begin without waiting for the interval.
    pub(crate) fn hasten(&mut self, attempt: Attempt, now: Mono) {
        match &mut self.state {
            State::Waiting { until } => *until = now,
            State::LookingUp | State::Connected => self.at_once = attempt == Attempt::AfterThis,
            State::Stopped => {}
        }
    }

    /// Waits for the interval, after the connection has ended or when the session cannot be
    /// connected now.
    pub(crate) fn wait(&mut self, now: Mono) -> Step {
        if self.state == State::Stopped {
            return Step::Nothing;
        }
        let interval =
            if core::mem::take(&mut self.at_once) { Duration::ZERO } else { self.reconnect_interval };
        let until = now + interval;
        self.state = State::Waiting { until };
        Step::Wait { until }
    }

    /// Stops connecting.
    pub(crate) fn stop(&mut self) {
        self.state = State::Stopped;
    }

    /// Takes the answer to [`Step::LookUp`].
    pub(crate) fn looked_up(
        &mut self,
        attempt: u64,
        addresses: io::Result<Vec<SocketAddr>>,
        now: Mono,
    ) -> Step {
        if self.state != State::LookingUp || self.attempt != attempt {
            return Step::Nothing;
        }
        match addresses {
            Ok(addresses) => self.addresses = addresses.into(),
            Err(error) => {
                let host = &self.hosts[self.host].0;
                tracing::warn!(%host, %error, "the address of the host could not be looked up");
                self.addresses.clear();
            }
        }
        self.try_next_address(now)
    }

    /// Tries the host's next address; if there is none, the next host; if there is none, waits.
    pub(crate) fn try_next_address(&mut self, now: Mono) -> Step {
        if self.state == State::Stopped {
            return Step::Nothing;
        }
        if let Some(address) = self.addresses.pop_front() {
            self.state = State::Connected;
            return Step::Connect { address, until: now + self.connect_timeout };
        }
        if self.host + 1 < self.hosts.len() {
            self.host += 1;
            self.look_up(now)
        } else {
            self.wait(now)
        }
    }

    /// Looks up the current host, unless it is an address already.
    fn look_up(&mut self, now: Mono) -> Step {
        self.attempt += 1;
        self.state = State::LookingUp;
        let (host, port) = &self.hosts[self.host];
        match host.parse::<IpAddr>() {
            Ok(address) => {
                let address = SocketAddr::new(address, *port);
                self.looked_up(self.attempt, Ok(vec![address]), now)
            }
            Err(_) => Step::LookUp { host: host.clone(), port: *port, attempt: self.attempt },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Mono = Mono(1_000_000_000);
    const INTERVAL: Duration = Duration::from_secs(30);
    const TIMEOUT: Duration = Duration::from_secs(10);

    fn initiator(hosts: &[&str]) -> Initiator {
        let hosts = hosts.iter().map(|host| ((*host).to_owned(), 9880)).collect();
        Initiator::new(SessionKey::new(0, 0, 0), hosts, INTERVAL, TIMEOUT, NOW)
    }

    fn address(text: &str) -> SocketAddr {
        SocketAddr::new(text.parse().unwrap(), 9880)
    }

    fn connect(text: &str) -> Step {
        Step::Connect { address: address(text), until: NOW + TIMEOUT }
    }

    #[test]
    fn every_address_of_every_host_is_tried_in_order_and_then_the_interval_waited_for() {
        let mut initiator = initiator(&["10.0.0.1", "venue.example"]);
        assert_eq!(initiator.waiting_until(), Some(NOW));
        assert_eq!(initiator.start(NOW), connect("10.0.0.1"));
        let look_up = Step::LookUp { host: "venue.example".to_owned(), port: 9880, attempt: 2 };
        assert_eq!(initiator.try_next_address(NOW), look_up);
        let addresses = vec![address("10.0.0.2"), address("10.0.0.3")];
        assert_eq!(initiator.looked_up(2, Ok(addresses), NOW), connect("10.0.0.2"));
        assert_eq!(initiator.try_next_address(NOW), connect("10.0.0.3"));
        assert_eq!(initiator.waiting_until(), None);
        assert_eq!(initiator.try_next_address(NOW), Step::Wait { until: NOW + INTERVAL });
        assert_eq!(initiator.waiting_until(), Some(NOW + INTERVAL));
    }

    #[test]
    fn a_name_that_cannot_be_looked_up_is_passed_over() {
        let mut initiator = initiator(&["venue.example", "10.0.0.1"]);
        assert!(matches!(initiator.start(NOW), Step::LookUp { attempt: 1, .. }));
        let error = io::Error::other("no such name");
        assert_eq!(initiator.looked_up(1, Err(error), NOW), connect("10.0.0.1"));
    }

    #[test]
    fn an_answer_to_an_older_look_up_is_ignored() {
        let mut initiator = initiator(&["venue.example"]);
        assert!(matches!(initiator.start(NOW), Step::LookUp { attempt: 1, .. }));
        initiator.wait(NOW);
        assert_eq!(initiator.looked_up(1, Ok(vec![address("10.0.0.1")]), NOW), Step::Nothing);
        assert!(matches!(initiator.start(NOW), Step::LookUp { attempt: 2, .. }));
        assert_eq!(initiator.looked_up(1, Ok(vec![address("10.0.0.1")]), NOW), Step::Nothing);
        assert_eq!(initiator.looked_up(2, Ok(vec![address("10.0.0.2")]), NOW), connect("10.0.0.2"));
    }

    #[test]
    fn an_attempt_that_is_asked_for_does_not_wait_for_the_interval() {
        let mut initiator = initiator(&["10.0.0.1"]);
        initiator.start(NOW);
        // The attempt has begun: there is nothing to hasten.
        initiator.hasten(Attempt::Next, NOW);
        assert_eq!(initiator.wait(NOW), Step::Wait { until: NOW + INTERVAL });
        initiator.hasten(Attempt::Next, NOW);
        assert_eq!(initiator.waiting_until(), Some(NOW));
        initiator.start(NOW);
        initiator.hasten(Attempt::AfterThis, NOW);
        assert_eq!(initiator.wait(NOW), Step::Wait { until: NOW });
        initiator.start(NOW);
        assert_eq!(initiator.wait(NOW), Step::Wait { until: NOW + INTERVAL });
    }

    #[test]
    fn a_stopped_initiator_asks_for_nothing() {
        let mut initiator = initiator(&["10.0.0.1"]);
        initiator.start(NOW);
        initiator.stop();
        assert_eq!(initiator.try_next_address(NOW), Step::Nothing);
        assert_eq!(initiator.wait(NOW), Step::Nothing);
        assert_eq!(initiator.waiting_until(), None);
    }
}
