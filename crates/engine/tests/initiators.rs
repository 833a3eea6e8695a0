//! How an initiator reaches its counterparty: through which hosts an attempt goes, and what ends
//! it. The hosts are listeners whose answers the tests write.

mod support;

use std::io::{ErrorKind, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::num::NonZeroU32;
use std::time::{Duration, Instant};

use fixbolt::session::{Role, SessionSettings};
use fixbolt::{Change, Engine, HostSelection, Initiation, OperationError};
use socket2::SockRef;
use support::lines::Lines;
use support::*;

/// Longer than any test takes.
const LONG: Duration = Duration::from_secs(3600);
const JANE: Change<'_> = Change::new("jane", "a test");

/// A host of the counterparty.
struct Host(TcpListener);

impl Host {
    fn new() -> Self {
        let listener = TcpListener::bind(anywhere()).unwrap();
        listener.set_nonblocking(true).unwrap();
        Self(listener)
    }

    fn address(&self) -> SocketAddr {
        self.0.local_addr().unwrap()
    }

    /// Waits for a connection; fails the test if there is none.
    fn connection(&self) -> TcpStream {
        let mut connection = None;
        eventually(|| {
            connection = self.0.accept().ok();
            connection.is_some()
        });
        let (stream, _) = connection.unwrap();
        stream.set_nonblocking(false).unwrap();
        stream
    }

    /// Accepts a connection and reads its Logon.
    fn logon(&self) -> Peer {
        let mut peer = Peer::on(self.connection()).named("VENUE", "TRADER");
        let logon = peer.receive();
        assert!(logon.contains("|35=A|"), "{logon}");
        peer
    }

    /// Accepts a connection and answers its Logon.
    fn accept(&self) -> Peer {
        let mut peer = self.logon();
        peer.send("A", "98=0|108=30|141=Y");
        peer
    }

    /// Accepts a connection and closes it at once.
    fn close(&self) {
        drop(self.connection());
    }

    /// Checks that nobody has connected.
    fn is_alone(&self) {
        let error = self.0.accept().expect_err("nobody should have connected");
        assert_eq!(error.kind(), ErrorKind::WouldBlock);
    }
}

/// Returns a session that waits for an hour between its attempts, for these hosts.
fn initiation(settings: SessionSettings, hosts: &[&Host]) -> Initiation {
    let settings = settings.with(|s| s.reset.reset_on_logon = true);
    let mut initiation = Initiation::new(settings, "127.0.0.1", 1);
    initiation.hosts = hosts.iter().map(|host| ("127.0.0.1".to_owned(), host.address().port())).collect();
    initiation.reconnect_interval = LONG;
    initiation
}

fn start(initiation: Initiation) -> (Engine<Recorder>, Log) {
    let (app, log) = Recorder::trader();
    (Engine::builder().connect(initiation).start(app).unwrap(), log)
}

#[test]
fn a_backup_host_is_reached_in_the_same_attempt_however_the_first_one_fails() {
    type Fail = fn(&Host);
    let fails: [(&str, Fail); 5] = [
        ("LogonUnanswered", Host::close),
        (
            r#"LogonRefusedByPeer(LogonRefusal { answer: Logout { status: None }, text: "not here" })"#,
            |primary| primary.logon().send("5", "58=not here"),
        ),
        (
            r#"LogonRefusedByPeer(LogonRefusal { answer: Reject { reason: None, tag: None }, text: "no 98" })"#,
            |primary| primary.logon().send("3", "45=1|58=no 98"),
        ),
        ("LogonTimedOut", |primary| drop(primary.logon().try_receive())),
        ("PeerMisbehaved(FirstMessageNotLogon)", |primary| primary.logon().send("0", "")),
    ];
    for (end, fail) in fails {
        let (primary, backup) = (Host::new(), Host::new());
        let settings = initiator().with(|s| s.timing.logon_timeout = Duration::from_millis(200));
        let (trader, log) = start(initiation(settings, &[&primary, &backup]));
        fail(&primary);
        let peer = backup.accept();
        assert_eq!(log.ended(), end);
        log.logged_on();
        primary.is_alone();
        drop(peer);
        drop(trader);
    }
}

#[test]
fn the_backup_is_tried_as_often_as_a_primary_that_accepts_and_closes() {
    let (primary, backup) = (Host::new(), Host::new());
    let mut initiation = initiation(initiator(), &[&primary, &backup]);
    initiation.reconnect_interval = Duration::from_millis(1);
    initiation.max_reconnect_interval = Duration::from_millis(1);
    let (trader, _log) = start(initiation);
    for _ in 0..12 {
        primary.close();
        backup.close();
    }
    drop(trader);
}

#[test]
fn a_session_that_was_logged_on_waits_before_it_connects_again() {
    let (primary, backup) = (Host::new(), Host::new());
    let (trader, log) = start(initiation(initiator(), &[&primary, &backup]));
    drop(primary.accept());
    log.logged_on();
    log.ended();
    // An operator's request is carried out in a later cycle than what follows from the end.
    let session = trader.session(&initiator().id).unwrap();
    assert_eq!(begun(|| session.log_on(JANE, AT_ONCE)), Err(OperationError::TimedOut));
    let peer = primary.accept();
    log.logged_on();
    backup.is_alone();
    drop(peer);
    drop(trader);
}

#[test]
fn by_round_robin_the_next_attempt_begins_with_the_next_host() {
    let (first, second) = (Host::new(), Host::new());
    let mut initiation = initiation(initiator(), &[&first, &second]);
    initiation.host_selection_policy = HostSelection::RoundRobin;
    initiation.reconnect_interval = Duration::from_millis(1);
    let (trader, log) = start(initiation);
    for host in [&first, &second, &first] {
        drop(host.accept());
        log.logged_on();
    }
    drop(trader);
}

#[test]
fn a_connection_comes_from_the_local_address_of_its_host() {
    let (primary, backup) = (Host::new(), Host::new());
    let mut initiation = initiation(initiator(), &[&primary, &backup]);
    let port = TcpListener::bind("127.0.0.5:0").unwrap().local_addr().unwrap();
    initiation.local_addresses = vec![Some("127.0.0.4:0".parse().unwrap()), Some(port)];
    let (trader, log) = start(initiation);
    let first = primary.connection();
    assert_eq!(first.peer_addr().unwrap().ip().to_string(), "127.0.0.4");
    drop(first);
    let peer = backup.accept();
    assert_eq!(peer.stream.peer_addr().unwrap(), port);
    log.logged_on();
    drop(peer);
    drop(trader);
}

#[test]
fn by_priority_a_backup_is_kept_until_it_is_time_to_start_over() {
    let (primary, backup) = (Host::new(), Host::new());
    let mut initiation = initiation(initiator(), &[&primary, &backup]);
    initiation.reconnect_interval = Duration::from_millis(1);
    initiation.priority_start_over = LONG;
    let (trader, log) = start(initiation);
    primary.close();
    for _ in 0..2 {
        drop(backup.accept());
        log.logged_on();
    }
    primary.is_alone();
    drop(trader);
}

#[test]
fn the_options_of_sockets_reach_the_connections_of_sessions() {
    for (inline, answered) in [(true, 0), (false, 1)] {
        let host = Host::new();
        let mut initiation =
            initiation(initiator().with(|s| s.limits.max_garbled_messages = NonZeroU32::new(1)), &[&host]);
        initiation.socket.oob_inline = inline;
        let (trader, _log) = start(initiation);
        let mut peer = host.accept();
        let heartbeats = |peer: &mut Peer| {
            peer.send("1", "112=t");
            peer.try_receive().into_iter().filter(|answer| answer.contains("|112=t|")).count()
        };
        assert_eq!(heartbeats(&mut peer), 1);
        SockRef::from(&peer.stream).send_out_of_band(b"x").unwrap();
        assert_eq!(heartbeats(&mut peer), answered, "out of band, inline: {inline}");
        drop(peer);
        drop(trader);
    }
}

/// Has the session of `initiator` log out, and the counterparty answer that; then nothing comes.
fn exchange_logouts(trader: &Engine<Recorder>, peer: &mut Peer) {
    let session = trader.session(&initiator().id).unwrap();
    assert_eq!(begun(|| session.log_out(JANE, "", AT_ONCE)), Err(OperationError::TimedOut));
    assert!(peer.receive().contains("|35=5|"));
    peer.send("5", "");
    assert_eq!(peer.try_receive(), None);
}

/// Our direction is closed with the last message. The other one is open until the counterparty
/// closes it, or until we do: then the system resets the connection if more arrives.
#[test]
fn a_connection_lingers_for_its_counterparty_as_long_as_it_is_told_to() {
    for (linger, stays) in [(Duration::ZERO, false), (Duration::from_secs(3), true)] {
        let host = Host::new();
        let mut initiation = initiation(initiator(), &[&host]);
        initiation.socket.linger = linger;
        let (trader, log) = start(initiation);
        let mut peer = host.accept();
        log.logged_on();
        exchange_logouts(&trader, &mut peer);
        let begun = Instant::now();
        let mut is_open = true;
        while is_open && begun.elapsed() < Duration::from_millis(500) {
            is_open = peer.stream.write_all(b"x").is_ok();
            std::thread::sleep(Duration::from_millis(10));
        }
        assert_eq!(is_open, stays, "{linger:?}");
        drop(peer);
        drop(trader);
    }
}

#[test]
fn while_a_connection_lingers_another_session_of_the_worker_is_served() {
    let (host, other_host) = (Host::new(), Host::new());
    let mut lingering = initiation(initiator(), &[&host]);
    lingering.socket.linger = Duration::from_secs(5);
    let other = initiation(of("FIX.4.4:TRADER->OTHER", Role::Initiator), &[&other_host]);
    let (recorder, log) = Recorder::trader();
    let trader = Engine::builder().connect(lingering).connect(other).start(recorder).unwrap();
    let mut peer = host.accept();
    log.logged_on();
    let mut other = Peer::on(other_host.connection()).named("OTHER", "TRADER");
    assert!(other.receive().contains("|35=A|"));
    other.send("A", "98=0|108=30|141=Y");
    exchange_logouts(&trader, &mut peer);
    let begun = Instant::now();
    other.send("1", "112=there");
    assert!(other.receive().contains("|112=there|"));
    assert!(begun.elapsed() < Duration::from_secs(4), "it waited for the other one");
    assert!(peer.stream.write_all(b"x").is_ok(), "it lingers");
}

#[test]
fn an_operators_logout_or_switch_before_the_logon_is_answered_goes_to_no_other_host() {
    let (primary, backup) = (Host::new(), Host::new());
    let (trader, log) = start(initiation(initiator(), &[&primary, &backup]));
    let session = trader.session(&initiator().id).unwrap();
    let mut peer = primary.logon();
    session.log_out(JANE, "", LONG).unwrap();
    assert_eq!(peer.try_receive(), None);
    log.ended();
    backup.is_alone();
    assert_eq!(begun(|| session.log_on(JANE, AT_ONCE)), Err(OperationError::TimedOut));
    let mut peer = primary.logon();
    session.disable(JANE, "", LONG).unwrap();
    assert_eq!(peer.try_receive(), None);
    session.enable(JANE, LIMIT).unwrap();
    let peer = primary.accept();
    log.logged_on();
    backup.is_alone();
    drop(peer);
    drop(trader);
}

#[test]
fn the_log_says_which_host_failed_and_why_and_when_the_next_attempt_comes() {
    let lines = Lines::collect();
    let (primary, backup) = (Host::new(), Host::new());
    let mut settings = initiator();
    settings.id = id("FIX.4.4:LOGGED->VENUE");
    let mut initiation = initiation(settings, &[&primary, &backup]);
    // Nothing listens on port 1.
    initiation.hosts.push(("localhost".to_owned(), 1));
    let (trader, log) = start(initiation);
    primary.close();
    backup.close();
    log.ended();
    log.ended();
    let of = |texts: &[&str]| lines.with(&[&["session=FIX.4.4:LOGGED->VENUE "], texts].concat());
    eventually(|| !of(&["no host has logged the session on"]).is_empty());
    for (host, next) in [(&primary, backup.address().to_string()), (&backup, "localhost:1".to_owned())] {
        let (address, next) = (format!("address={} ", host.address()), format!("next={next} "));
        let why = "the counterparty closed the connection instead of answering our Logon";
        assert_eq!(of(&["message=cannot log on ", &address, why, &next]).len(), 1);
    }
    let refused = of(&["message=cannot connect", "host=localhost:1 ", ":1 error=Connection refused"]);
    let last = refused.last().unwrap();
    assert!(last.contains(" next=attempt at 20") && last.contains(" s, to 127.0.0.1:"), "{refused:?}");
    // Half of the hour is left to chance.
    let announced = of(&["no host has logged the session on: next attempt at 20"]);
    let (_, after) = announced[0].split_once("Z, in ").unwrap();
    let (seconds, host) = after.split_once(" s, to ").unwrap();
    let seconds: u64 = seconds.parse().unwrap();
    assert!(announced.len() == 1 && (1800..=3600).contains(&seconds), "{announced:?}");
    assert!(host.starts_with(&format!("{} ", primary.address())), "{host}");
    drop(trader);
}
