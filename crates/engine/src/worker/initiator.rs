//! How an initiator reaches its counterparty. An attempt tries one host after another, until one
//! answers the Logon; names are looked up for each. After the last host it waits, and tries again,
//! without end. Sans-IO: events and random numbers come in, the next step comes out.

use core::net::{IpAddr, SocketAddr};
use core::time::Duration;
use std::collections::VecDeque;
use std::io;
use std::sync::Arc;

use fixbolt_session::{
    AttemptFailure, Backoff, FailedAttempt, Mono, NextAttempt, Now, SessionId, SessionKey, TlsFailure, Utc,
};

use super::failed_attempt::log;
use crate::initiation::{HostSelection, Initiation};
use crate::socket_options::SocketOptions;
use crate::tls::{TlsContext, TlsStream};

/// The connection attempts of one session.
///
/// Call [`start`](Self::start) at [`waiting_until`](Self::waiting_until), carry out the [`Step`]
/// that it returns, and report the outcome, which returns the next step: [`failed`](Self::failed)
/// or, for a connection that was passed to the session, [`ended`](Self::ended).
#[derive(Debug)]
pub(crate) struct Initiator {
    pub(crate) session: SessionKey,
    /// The session's name in the log.
    pub(crate) id: SessionId,
    /// The options of its sockets.
    pub(crate) socket: SocketOptions,
    /// What its connections are encrypted with.
    tls: Option<Arc<TlsContext>>,
    hosts: Vec<(String, u16)>,
    local_addresses: Vec<Option<SocketAddr>>,
    selection: HostSelection,
    /// How long after an attempt that began with the first host one begins with it again.
    start_over: Duration,
    backoff: Backoff,
    connect_timeout: Duration,
    state: State,
    /// The index of the host being tried, or else of the one used last.
    host: usize,
    /// When an attempt began with the first host, by priority.
    began_with_first: Option<Mono>,
    /// The number of hosts that this attempt has not come to yet.
    left: usize,
    /// Addresses of the host that have not been tried yet.
    addresses: VecDeque<SocketAddr>,
    /// Whether the next attempt is due as soon as the connection has ended.
    at_once: bool,
    /// The start of the session's next window, once the log says that it is waited for.
    announced: Option<Option<Utc>>,
    /// Counts look-ups, so that a late answer is not mistaken for a newer one.
    look_ups: u64,
    /// The number of attempts that have failed since the last logon.
    failed: u64,
    /// The last one of them, until the caller takes it.
    last_failed: Option<FailedAttempt>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    /// Waits for the next attempt.
    Waiting { until: Mono },
    /// A host's addresses are being looked up.
    LookingUp,
    /// A connection is being made, or exists.
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
    LookUp { host: String, port: u16, look_up: u64 },
    /// Connect to the address before `until`, from `local` if that is given, or else call
    /// [`Initiator::failed`].
    Connect { address: SocketAddr, local: Option<SocketAddr>, until: Mono },
    /// Wait until then.
    Wait { until: Mono },
    /// Do nothing.
    Nothing,
}

/// How a session's connection ended, as far as the next attempt depends on it.
#[derive(Debug)]
pub(crate) enum ConnectionEnd {
    /// The session had logged on.
    AfterLogon,
    /// The session had not.
    BeforeLogon { address: SocketAddr, why: AttemptFailure },
    /// The session had not, and is not to be connected: an operator logged it out or disabled it,
    /// or it is halted.
    Withdrawn,
}

impl Initiator {
    /// Creates an initiator whose first attempt is due at once.
    pub(crate) fn new(session: SessionKey, initiation: Initiation, now: Mono) -> Self {
        let Initiation {
            settings, hosts, local_addresses, host_selection_policy, priority_start_over, ..
        } = initiation;
        let Initiation { reconnect_interval, max_reconnect_interval, socket_connect_timeout, socket, .. } =
            initiation;
        Self {
            session,
            id: settings.id,
            socket,
            tls: None,
            // The one after it is the first.
            host: hosts.len().saturating_sub(1),
            hosts,
            local_addresses,
            selection: host_selection_policy,
            start_over: priority_start_over,
            backoff: Backoff::new(reconnect_interval, max_reconnect_interval),
            connect_timeout: socket_connect_timeout,
            state: State::Waiting { until: now },
            began_with_first: None,
            left: 0,
            addresses: VecDeque::new(),
            at_once: false,
            announced: None,
            look_ups: 0,
            failed: 0,
            last_failed: None,
        }
    }

    /// Encrypts its connections with this.
    pub(crate) fn secured_by(self, tls: Option<Arc<TlsContext>>) -> Self {
        Self { tls, ..self }
    }

    /// Begins with the TLS of a connection to the current host, if it has any.
    pub(crate) fn tls(&self) -> Result<Option<TlsStream>, TlsFailure> {
        self.tls.as_ref().map(|tls| tls.connect(&self.hosts[self.host].0)).transpose()
    }

    /// Returns when the next attempt is due; `None` unless it waits for one.
    pub(crate) const fn waiting_until(&self) -> Option<Mono> {
        match self.state {
            State::Waiting { until } => Some(until),
            State::LookingUp | State::Connected | State::Stopped => None,
        }
    }

    /// Begins an attempt.
    pub(crate) fn start(&mut self, now: Now, random: u32) -> Step {
        self.announced = None;
        self.left = self.hosts.len();
        self.host = self.before_first(now.mono);
        if self.selection == HostSelection::Priority && self.host + 1 == self.hosts.len() {
            self.began_with_first = Some(now.mono);
        }
        self.next_host(now, random)
    }

    /// Returns the index of the host before the one that an attempt at this time begins with.
    fn before_first(&self, at: Mono) -> usize {
        let last = self.hosts.len() - 1;
        match self.selection {
            HostSelection::RoundRobin => self.host,
            HostSelection::Priority => match self.began_with_first {
                Some(began) if at - began < self.start_over => (self.host + last) % self.hosts.len(),
                _ => last,
            },
        }
    }

    /// Makes an attempt begin without waiting.
    pub(crate) fn hasten(&mut self, attempt: Attempt, now: Mono) {
        match &mut self.state {
            State::Waiting { until } => *until = now,
            State::LookingUp | State::Connected => self.at_once = attempt == Attempt::AfterThis,
            State::Stopped => {}
        }
    }

    /// Continues the attempt after an address was of no use.
    pub(crate) fn failed(&mut self, address: SocketAddr, why: AttemptFailure, now: Now, random: u32) -> Step {
        if self.state == State::Stopped {
            return Step::Nothing;
        }
        let (host, port) = self.hosts[self.host].clone();
        let local = self.local_address();
        let step = self.next_address(now, random);
        let mut attempt = FailedAttempt::new(host, port, why);
        (attempt.address, attempt.local) = (Some(address), local);
        self.report(attempt, step, now)
    }

    /// Tells of a failed attempt, in the log and to whoever takes it, with what comes next.
    fn report(&mut self, mut attempt: FailedAttempt, step: Step, now: Now) -> Step {
        self.failed += 1;
        (attempt.attempts, attempt.next) = (self.failed, self.next_of(&step, now));
        log(&self.id, &attempt);
        self.last_failed = Some(attempt);
        step
    }

    /// Returns the attempt that has failed since the last call, if one has.
    pub(crate) fn take_failed(&mut self) -> Option<FailedAttempt> {
        self.last_failed.take()
    }

    /// Returns the local address of the connections to the current host; `None` leaves it to the
    /// system.
    pub(crate) fn local_address(&self) -> Option<SocketAddr> {
        self.local_addresses.get(self.host).copied().flatten()
    }

    /// Returns what follows a failure: an address or a host of the same attempt, or else the next
    /// attempt.
    fn next_of(&self, step: &Step, now: Now) -> NextAttempt {
        match step {
            Step::Connect { address, .. } => NextAttempt::Address(*address),
            Step::LookUp { host, port, .. } => NextAttempt::Host { host: host.clone(), port: *port },
            Step::Wait { until } => self.announcement(*until, now),
            Step::Nothing => NextAttempt::Nothing,
        }
    }

    /// Returns when the next attempt begins, and with which host.
    fn announcement(&self, until: Mono, now: Now) -> NextAttempt {
        let wait = until - now.mono;
        let (host, port) = self.first_host(until);
        NextAttempt::Later { at: now.utc + wait, wait, host, port }
    }

    /// Returns the host that an attempt at this time begins with.
    fn first_host(&self, at: Mono) -> (String, u16) {
        self.hosts[(self.before_first(at) + 1) % self.hosts.len()].clone()
    }

    /// Takes the end of a connection that was passed to the session.
    pub(crate) fn ended(&mut self, end: ConnectionEnd, now: Now, random: u32) -> Step {
        match end {
            ConnectionEnd::BeforeLogon { address, why } => self.failed(address, why, now, random),
            ConnectionEnd::AfterLogon => {
                self.backoff.reset();
                self.failed = 0;
                let step = self.back_off(now, random);
                if let Step::Wait { until } = step {
                    tracing::info!(name: "next_attempt", session = %self.id, "next {}", self.announcement(until, now));
                }
                step
            }
            ConnectionEnd::Withdrawn => self.postpone(now.mono),
        }
    }

    /// Waits, because the session is not to be connected now. This is no failure.
    pub(crate) fn postpone(&mut self, now: Mono) -> Step {
        self.wait(self.backoff.first(), now)
    }

    /// Waits for the session's next window, which begins at `next` if one does within three years;
    /// looks again after `wait`.
    pub(crate) fn await_window(&mut self, next: Option<Utc>, wait: Duration, now: Mono) -> Step {
        self.backoff.reset();
        if self.state != State::Stopped && self.announced != Some(next) {
            let session = &self.id;
            match next {
                Some(at) => {
                    let (host, port) = self.first_host(now + wait);
                    let to = NextAttempt::Host { host, port };
                    tracing::info!(
                        name: "outside_schedule", %session, "outside the session's schedule: the session opens at {at}; next attempt then, to {to}"
                    );
                }
                None => tracing::warn!(
                    name: "no_window", %session, "outside the session's schedule, which has no window in the next three years"
                ),
            }
            self.announced = Some(next);
        }
        self.at_once = false;
        self.wait(wait, now)
    }

    /// Stops connecting.
    pub(crate) fn stop(&mut self) {
        self.state = State::Stopped;
    }

    /// Takes the answer to [`Step::LookUp`].
    pub(crate) fn looked_up(
        &mut self,
        look_up: u64,
        addresses: io::Result<Vec<SocketAddr>>,
        now: Now,
        random: u32,
    ) -> Step {
        if self.state != State::LookingUp || self.look_ups != look_up {
            return Step::Nothing;
        }
        self.addresses.clear();
        let why = match addresses {
            Ok(addresses) if !addresses.is_empty() => {
                self.addresses.extend(addresses);
                return self.next_address(now, random);
            }
            Ok(_) => AttemptFailure::NoAddress,
            Err(error) => AttemptFailure::NameResolution { error: error.to_string() },
        };
        let (host, port) = self.hosts[self.host].clone();
        let step = self.next_address(now, random);
        self.report(FailedAttempt::new(host, port, why), step, now)
    }

    /// Tries the host's next address; if there is none, the next host.
    fn next_address(&mut self, now: Now, random: u32) -> Step {
        match self.addresses.pop_front() {
            Some(address) => {
                self.state = State::Connected;
                let local = self.local_address();
                Step::Connect { address, local, until: now.mono + self.connect_timeout }
            }
            None => self.next_host(now, random),
        }
    }

    /// Looks up the host after the current one, unless it is an address already. Waits if the
    /// attempt has come to every host.
    fn next_host(&mut self, now: Now, random: u32) -> Step {
        if self.left == 0 {
            return self.back_off(now, random);
        }
        self.left -= 1;
        self.host = (self.host + 1) % self.hosts.len();
        self.look_ups += 1;
        self.state = State::LookingUp;
        let (host, port) = &self.hosts[self.host];
        match host.parse::<IpAddr>() {
            Ok(address) => {
                let address = SocketAddr::new(address, *port);
                self.looked_up(self.look_ups, Ok(vec![address]), now, random)
            }
            Err(_) => Step::LookUp { host: host.clone(), port: *port, look_up: self.look_ups },
        }
    }

    /// Waits after a failed attempt or the end of a session's connection.
    fn back_off(&mut self, now: Now, random: u32) -> Step {
        let wait = self.backoff.next(random);
        self.wait(wait, now.mono)
    }

    fn wait(&mut self, wait: Duration, now: Mono) -> Step {
        if self.state == State::Stopped {
            return Step::Nothing;
        }
        let wait = if core::mem::take(&mut self.at_once) { Duration::ZERO } else { wait };
        let until = now + wait;
        self.addresses.clear();
        self.state = State::Waiting { until };
        Step::Wait { until }
    }
}

#[cfg(test)]
mod tests {
    use fixbolt_session::runtime::{mono, session_key};
    use fixbolt_session::{Misbehavior, Role, SessionEnd, SessionSettings};

    use super::*;
    use crate::config::{Configuration, ConnectionType};
    use crate::worker::failed_attempt::of_connecting;

    const NOW: Mono = mono(1_000_000_000);
    /// 2026-11-23T14:02:35Z.
    const CLOCKS: Now = Now { mono: NOW, utc: Utc(1_795_442_555_000_000_000) };
    const INTERVAL: Duration = Duration::from_secs(30);
    const LONGEST: Duration = Duration::from_secs(50);
    const TIMEOUT: Duration = Duration::from_secs(10);
    /// A random number that leaves waits whole.
    const WHOLE: u32 = 0;

    fn initiator_by(selection: HostSelection, hosts: &[&str]) -> Initiator {
        let settings = SessionSettings::new("FIX.4.4:A->B".parse().unwrap(), Role::Initiator);
        let mut initiation = Initiation::new(settings, "", 9880);
        initiation.hosts = hosts.iter().map(|host| ((*host).to_owned(), 9880)).collect();
        initiation.host_selection_policy = selection;
        (initiation.reconnect_interval, initiation.max_reconnect_interval) = (INTERVAL, LONGEST);
        initiation.socket_connect_timeout = TIMEOUT;
        Initiator::new(session_key(0, 0, 0), initiation, NOW)
    }

    fn initiator(hosts: &[&str]) -> Initiator {
        initiator_by(HostSelection::Priority, hosts)
    }

    fn address(text: &str) -> SocketAddr {
        SocketAddr::new(text.parse().unwrap(), 9880)
    }

    fn connect(text: &str) -> Step {
        Step::Connect { address: address(text), local: None, until: NOW + TIMEOUT }
    }

    fn refused() -> AttemptFailure {
        of_connecting(&io::ErrorKind::ConnectionRefused.into(), None)
    }

    fn before_logon(text: &str, end: SessionEnd) -> ConnectionEnd {
        ConnectionEnd::BeforeLogon { address: address(text), why: AttemptFailure::LoggingOn(end) }
    }

    impl Initiator {
        fn starts(&mut self) -> Step {
            self.start(CLOCKS, WHOLE)
        }

        /// The address that was given out last is refused.
        fn is_refused(&mut self) -> Step {
            self.failed(address("10.0.0.1"), refused(), CLOCKS, WHOLE)
        }

        fn ends(&mut self, end: ConnectionEnd) -> Step {
            self.ended(end, CLOCKS, WHOLE)
        }

        fn is_looked_up(&mut self, look_up: u64, addresses: &[&str]) -> Step {
            let addresses = addresses.iter().map(|text| address(text)).collect();
            self.looked_up(look_up, Ok(addresses), CLOCKS, WHOLE)
        }
    }

    #[test]
    fn every_address_of_every_host_is_tried_in_order_and_then_the_interval_waited_for() {
        let mut initiator = initiator(&["10.0.0.1", "venue.example"]);
        assert_eq!(initiator.waiting_until(), Some(NOW));
        assert_eq!(initiator.starts(), connect("10.0.0.1"));
        let look_up = Step::LookUp { host: "venue.example".to_owned(), port: 9880, look_up: 2 };
        assert_eq!(initiator.is_refused(), look_up);
        assert_eq!(initiator.is_looked_up(2, &["10.0.0.2", "10.0.0.3"]), connect("10.0.0.2"));
        assert_eq!(
            initiator.failed(address("10.0.0.2"), AttemptFailure::TimedOut, CLOCKS, WHOLE),
            connect("10.0.0.3")
        );
        assert_eq!(initiator.waiting_until(), None);
        assert_eq!(initiator.is_refused(), Step::Wait { until: NOW + INTERVAL });
        assert_eq!(initiator.waiting_until(), Some(NOW + INTERVAL));
    }

    #[test]
    fn an_attempt_goes_on_to_the_next_host_after_any_failure_before_the_logon_is_answered() {
        for end in [
            SessionEnd::LogonUnanswered,
            SessionEnd::LogonTimedOut,
            SessionEnd::PeerMisbehaved(Misbehavior::FirstMessageNotLogon),
            SessionEnd::ConnectionLost,
            SessionEnd::LogonRefused,
        ] {
            let mut initiator = initiator(&["10.0.0.1", "10.0.0.2"]);
            initiator.starts();
            assert_eq!(initiator.ends(before_logon("10.0.0.1", end.clone())), connect("10.0.0.2"));
            let all_failed = initiator.ends(before_logon("10.0.0.2", end));
            assert_eq!(all_failed, Step::Wait { until: NOW + INTERVAL });
        }
    }

    #[test]
    fn the_connection_of_a_session_that_was_logged_on_is_waited_for() {
        let mut initiator = initiator(&["10.0.0.1", "10.0.0.2"]);
        initiator.starts();
        assert_eq!(initiator.ends(ConnectionEnd::AfterLogon), Step::Wait { until: NOW + INTERVAL });
    }

    #[test]
    fn each_failed_attempt_doubles_the_wait_up_to_the_longest_and_a_logon_resets_it() {
        let mut initiator = initiator(&["10.0.0.1"]);
        for wait in [INTERVAL, LONGEST, LONGEST] {
            initiator.starts();
            assert_eq!(initiator.is_refused(), Step::Wait { until: NOW + wait });
        }
        initiator.starts();
        assert_eq!(initiator.ends(ConnectionEnd::AfterLogon), Step::Wait { until: NOW + INTERVAL });
        initiator.starts();
        assert_eq!(initiator.is_refused(), Step::Wait { until: NOW + LONGEST });
    }

    #[test]
    fn by_priority_each_attempt_begins_with_the_first_host() {
        let mut initiator = initiator(&["10.0.0.1", "10.0.0.2"]);
        for _ in 0..3 {
            assert_eq!(initiator.starts(), connect("10.0.0.1"));
            assert_eq!(initiator.is_refused(), connect("10.0.0.2"));
            initiator.ends(ConnectionEnd::AfterLogon);
        }
    }

    #[test]
    fn by_priority_an_attempt_begins_with_the_host_used_last_until_it_is_time_to_start_over() {
        let mut initiator = initiator(&["10.0.0.1", "10.0.0.2", "10.0.0.3"]);
        initiator.start_over = Duration::from_secs(120);
        assert_eq!(initiator.starts(), connect("10.0.0.1"));
        assert_eq!(initiator.is_refused(), connect("10.0.0.2"));
        initiator.ends(ConnectionEnd::AfterLogon);
        for _ in 0..2 {
            assert_eq!(initiator.starts(), connect("10.0.0.2"));
            initiator.ends(ConnectionEnd::AfterLogon);
        }
        // Every host has its turn all the same.
        for host in ["10.0.0.2", "10.0.0.3", "10.0.0.1"] {
            let step = if host == "10.0.0.2" { initiator.starts() } else { initiator.is_refused() };
            assert_eq!(step, connect(host));
        }
        initiator.ends(ConnectionEnd::AfterLogon);
        let at = |seconds| Now { mono: NOW + Duration::from_secs(seconds), ..CLOCKS };
        let first_at = |initiator: &mut Initiator, seconds| {
            let Step::Connect { address, .. } = initiator.start(at(seconds), WHOLE) else { panic!() };
            initiator.ends(ConnectionEnd::AfterLogon);
            address.ip().to_string()
        };
        initiator.host = 1;
        assert_eq!(first_at(&mut initiator, 119), "10.0.0.2");
        assert_eq!(first_at(&mut initiator, 120), "10.0.0.1");
    }

    #[test]
    fn the_connections_to_a_host_come_from_its_local_address() {
        let mut initiator = initiator(&["10.0.0.1", "10.0.0.2", "10.0.0.3"]);
        initiator.local_addresses = vec![None, Some(address("10.0.0.9"))];
        let from = |step| match step {
            Step::Connect { local, .. } => local,
            step => panic!("{step:?}"),
        };
        assert_eq!(from(initiator.starts()), None);
        assert_eq!(from(initiator.is_refused()), Some(address("10.0.0.9")));
        assert_eq!(from(initiator.is_refused()), None);
    }

    /// presets/logon-rate-limit.cfg, with the shortest waits that chance may leave.
    #[test]
    fn a_venue_that_counts_logons_gets_one_a_minute_and_ten_failed_ones_an_hour() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../presets/logon-rate-limit.cfg");
        let text = format!(
            "[SESSION]\ninclude={path}\nConnectionType=initiator\nBeginString=FIX.4.4\nSenderCompID=A\n\
             TargetCompID=B\nHeartBtInt=30\nSocketConnectHost=10.0.0.1\nSocketConnectPort=1\n"
        );
        let session = Configuration::from_text("a.cfg", &text).unwrap().sessions.remove(0);
        let ConnectionType::Initiator(session) = session.connection else { panic!() };
        let mut initiator = initiator(&["10.0.0.1"]);
        initiator.backoff = Backoff::new(session.reconnect_interval, session.max_reconnect_interval);
        let mut attempts = Vec::new();
        let mut now = CLOCKS;
        let (mut wait_for, hour) = (Vec::new(), Duration::from_secs(3600));
        for _ in 0..40 {
            attempts.push(now.mono);
            initiator.start(now, u32::MAX);
            let Step::Wait { until } = initiator.failed(address("10.0.0.1"), refused(), now, u32::MAX) else {
                panic!()
            };
            wait_for.push(until - now.mono);
            now.mono = until;
        }
        initiator.start(now, u32::MAX);
        let Step::Wait { until } = initiator.ended(ConnectionEnd::AfterLogon, now, u32::MAX) else {
            panic!()
        };
        wait_for.push(until - now.mono);
        assert!(*wait_for.iter().min().unwrap() >= Duration::from_secs(59), "{wait_for:?}");
        for (n, first) in attempts.iter().enumerate() {
            let count = attempts[n..].iter().filter(|at| **at - *first < hour).count();
            assert!(count <= 10, "{count} from attempt {n} on");
        }
    }

    #[test]
    fn what_comes_next_has_its_time_and_host() {
        let mut initiator = initiator(&["10.0.0.1", "venue.example", "::1"]);
        initiator.starts();
        let next = |initiator: &Initiator, step: &Step| initiator.next_of(step, CLOCKS).to_string();
        let step = initiator.is_refused();
        assert_eq!(next(&initiator, &step), "venue.example:9880");
        initiator.is_looked_up(2, &["10.0.0.2", "10.0.0.3"]);
        let step = initiator.is_refused();
        assert_eq!(next(&initiator, &step), "10.0.0.3:9880");
        let step = initiator.is_refused();
        assert_eq!(next(&initiator, &step), "[::1]:9880");
        let step = initiator.is_refused();
        let announcement = "attempt at 2026-11-23T14:03:05Z, in 30 s, to 10.0.0.1:9880";
        assert_eq!(next(&initiator, &step), announcement);
        assert_eq!(initiator.announcement(NOW, CLOCKS).to_string(), "attempt at once, to 10.0.0.1:9880");
        initiator.selection = HostSelection::RoundRobin;
        initiator.host = 0;
        let announcement = initiator.announcement(NOW + INTERVAL, CLOCKS).to_string();
        assert!(announcement.ends_with(", in 30 s, to venue.example:9880"), "{announcement}");
    }

    #[test]
    fn by_round_robin_an_attempt_begins_with_the_host_after_the_one_used_last() {
        let hosts = ["10.0.0.1", "10.0.0.2", "10.0.0.3"];
        let mut initiator = initiator_by(HostSelection::RoundRobin, &hosts);
        assert_eq!(initiator.starts(), connect("10.0.0.1"));
        initiator.ends(ConnectionEnd::AfterLogon);
        assert_eq!(initiator.starts(), connect("10.0.0.2"));
        assert_eq!(initiator.is_refused(), connect("10.0.0.3"));
        initiator.ends(ConnectionEnd::AfterLogon);
        // Every host has its turn, the first after the last.
        for expected in hosts {
            let step = if expected == hosts[0] { initiator.starts() } else { initiator.is_refused() };
            assert_eq!(step, connect(expected));
        }
        assert_eq!(initiator.is_refused(), Step::Wait { until: NOW + INTERVAL * 5 / 3 });
        assert_eq!(initiator.starts(), connect("10.0.0.1"));
    }

    #[test]
    fn a_session_that_is_not_to_be_connected_goes_to_no_other_host_and_counts_as_no_failure() {
        let mut initiator = initiator(&["10.0.0.1", "10.0.0.2"]);
        for _ in 0..3 {
            initiator.starts();
            assert_eq!(initiator.ends(ConnectionEnd::Withdrawn), Step::Wait { until: NOW + INTERVAL });
        }
        initiator.starts();
        initiator.is_refused();
        assert_eq!(initiator.is_refused(), Step::Wait { until: NOW + INTERVAL });
    }

    #[test]
    fn a_name_that_cannot_be_looked_up_or_has_no_address_is_passed_over() {
        let mut initiator = initiator(&["venue.example", "nowhere.example", "10.0.0.1"]);
        assert!(matches!(initiator.starts(), Step::LookUp { look_up: 1, .. }));
        let error = io::Error::other("no such name");
        let next = initiator.looked_up(1, Err(error), CLOCKS, WHOLE);
        assert!(matches!(next, Step::LookUp { look_up: 2, .. }));
        assert_eq!(initiator.is_looked_up(2, &[]), connect("10.0.0.1"));
    }

    #[test]
    fn an_answer_to_an_older_look_up_is_ignored() {
        let mut initiator = initiator(&["venue.example"]);
        assert!(matches!(initiator.starts(), Step::LookUp { look_up: 1, .. }));
        initiator.postpone(NOW);
        assert_eq!(initiator.is_looked_up(1, &["10.0.0.1"]), Step::Nothing);
        assert!(matches!(initiator.starts(), Step::LookUp { look_up: 2, .. }));
        assert_eq!(initiator.is_looked_up(1, &["10.0.0.1"]), Step::Nothing);
        assert_eq!(initiator.is_looked_up(2, &["10.0.0.2"]), connect("10.0.0.2"));
    }

    #[test]
    fn an_attempt_that_is_asked_for_does_not_wait_for_the_interval() {
        let mut initiator = initiator(&["10.0.0.1"]);
        initiator.starts();
        // The attempt has begun: there is nothing to hasten.
        initiator.hasten(Attempt::Next, NOW);
        assert_eq!(initiator.postpone(NOW), Step::Wait { until: NOW + INTERVAL });
        initiator.hasten(Attempt::Next, NOW);
        assert_eq!(initiator.waiting_until(), Some(NOW));
        for end in [ConnectionEnd::Withdrawn, ConnectionEnd::AfterLogon] {
            initiator.starts();
            initiator.hasten(Attempt::AfterThis, NOW);
            assert_eq!(initiator.ends(end), Step::Wait { until: NOW });
        }
        initiator.starts();
        assert_eq!(initiator.ends(ConnectionEnd::AfterLogon), Step::Wait { until: NOW + INTERVAL });
    }

    #[test]
    fn an_initiator_outside_its_schedule_waits_without_counting_a_failure() {
        let mut initiator = initiator(&["10.0.0.1"]);
        initiator.starts();
        assert_eq!(initiator.is_refused(), Step::Wait { until: NOW + INTERVAL });
        let minute = Duration::from_secs(60);
        for _ in 0..2 {
            let step = initiator.await_window(Some(Utc(7)), minute, NOW);
            assert_eq!(step, Step::Wait { until: NOW + minute });
            assert_eq!(initiator.announced, Some(Some(Utc(7))));
        }
        initiator.starts();
        assert_eq!(initiator.announced, None);
        assert_eq!(initiator.is_refused(), Step::Wait { until: NOW + INTERVAL });
    }

    #[test]
    fn a_stopped_initiator_asks_for_nothing() {
        let mut initiator = initiator(&["10.0.0.1", "10.0.0.2"]);
        initiator.starts();
        initiator.stop();
        assert_eq!(initiator.is_refused(), Step::Nothing);
        assert_eq!(initiator.ends(ConnectionEnd::AfterLogon), Step::Nothing);
        assert_eq!(initiator.postpone(NOW), Step::Nothing);
        assert_eq!(initiator.waiting_until(), None);
    }

    #[test]
    fn a_failed_attempt_is_reported_once_with_its_number_until_the_next_logon() {
        let mut initiator = initiator(&["10.0.0.1", "venue.example"]);
        assert_eq!(initiator.take_failed(), None);
        let mut reported = Vec::new();
        for _ in 0..2 {
            initiator.starts();
            initiator.is_refused();
            reported.push(initiator.take_failed().unwrap());
            let error = io::Error::other("no such name");
            initiator.looked_up(initiator.look_ups, Err(error), CLOCKS, WHOLE);
            reported.push(initiator.take_failed().unwrap());
            assert_eq!(initiator.take_failed(), None);
        }
        let attempts: Vec<_> = reported.iter().map(|attempt| attempt.attempts).collect();
        assert_eq!(attempts, [1, 2, 3, 4]);
        let (first, second) = (&reported[0], &reported[1]);
        assert_eq!(
            (first.host.as_str(), first.port, first.address),
            ("10.0.0.1", 9880, Some(address("10.0.0.1")))
        );
        assert!(matches!(first.why, AttemptFailure::Refused { .. }));
        assert_eq!(first.next, NextAttempt::Host { host: "venue.example".to_owned(), port: 9880 });
        assert_eq!((second.host.as_str(), second.address), ("venue.example", None));
        assert_eq!(second.why, AttemptFailure::NameResolution { error: "no such name".to_owned() });
        assert!(
            matches!(&second.next, NextAttempt::Later { wait: INTERVAL, host, .. } if host == "10.0.0.1")
        );
        initiator.starts();
        initiator.ends(ConnectionEnd::AfterLogon);
        assert_eq!(initiator.take_failed(), None);
        initiator.starts();
        initiator.is_refused();
        assert_eq!(initiator.take_failed().unwrap().attempts, 1);
    }
}
