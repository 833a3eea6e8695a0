//! What the log says about an initiator that cannot log on (what happened, and what comes next and
//! when), and about connections that have ended.

mod support;

use std::net::{SocketAddr, TcpListener};
use std::sync::{Arc, LazyLock};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use fixbolt::codec::Message;
use fixbolt::schedule::{Edge, Schedule, TimeOfDay, Weekdays, Window, Zone};
use fixbolt::session::{Application, Delivery, Failure, Role, SessionDictionary, SessionSettings, Turn};
use fixbolt::{Engine, Initiation};
use support::lines::Lines;
use support::*;

static LINES: LazyLock<Lines> = LazyLock::new(Lines::collect);

/// Starts an initiator with this name that waits for up to half a minute between its attempts.
fn start(name: &str, host: (&str, u16), change: impl FnOnce(&mut Initiation)) -> (Engine<Recorder>, Log) {
    LazyLock::force(&LINES);
    let settings = SessionSettings::new(id(&format!("FIX.4.4:{name}->VENUE")), Role::Initiator);
    let mut initiation = Initiation::new(settings, host.0, host.1);
    change(&mut initiation);
    let (app, log) = Recorder::trader();
    (Engine::builder().connect(initiation).start(app).unwrap(), log)
}

/// Waits for a line about the session that contains these texts.
fn line(name: &str, texts: &[&str]) -> String {
    let session = format!("session=FIX.4.4:{name}->VENUE ");
    let texts = [&[session.as_str()], texts].concat();
    let mut found = Vec::new();
    eventually(|| {
        found = LINES.with(&texts);
        !found.is_empty()
    });
    found.remove(0)
}

/// Asserts that a line names the time of the next attempt, how long that is, and where it goes.
fn announces(line: &str, host: &str) {
    let (_, next) = line.split_once("next=attempt at 20").unwrap_or_else(|| panic!("{line}"));
    let (time, wait) = next.split_once("Z, in ").unwrap();
    assert_eq!(time.len(), "26-11-23T14:03:05".len(), "{line}");
    let (seconds, to) = wait.split_once(" s, to ").unwrap();
    // Up to a half is left out by chance.
    assert!((15..=30).contains(&seconds.parse::<u64>().unwrap()), "{line}");
    assert!(to.starts_with(&format!("{host} ")), "{line}");
}

/// Accepts a connection, reads its Logon, and answers with this message, if there is one.
fn answer(listener: &TcpListener, name: &'static str, message: Option<(&str, &str)>) {
    let mut peer = Peer::on(listener.accept().unwrap().0).named("VENUE", name);
    assert!(peer.receive().contains("|35=A|"));
    if let Some((msg_type, fields)) = message {
        peer.send(msg_type, fields);
        peer.try_receive();
    }
}

#[test]
fn a_host_without_address_is_named_with_the_next_attempt() {
    let (trader, _log) = start("NAME", ("nowhere.invalid", 9880), |_| {});
    let line =
        line("NAME", &["the address of the host could not be looked up ", "host=nowhere.invalid ", "error="]);
    announces(&line, "nowhere.invalid:9880");
    drop(trader);
}

#[test]
fn a_refused_connection_is_named_with_the_next_host_or_attempt() {
    // Nothing listens on port 1.
    let (trader, _log) = start("REFUSED", ("127.0.0.1", 1), |initiation| {
        initiation.hosts.push(("127.0.0.2".to_owned(), 1));
    });
    let refused = "message=cannot connect (is the counterparty running?) ";
    let first = line("REFUSED", &[refused, "address=127.0.0.1:1 error=Connection refused"]);
    assert!(first.ends_with("next=127.0.0.2:1 "), "{first}");
    let last = line("REFUSED", &[refused, "address=127.0.0.2:1 error=Connection refused"]);
    announces(&last, "127.0.0.1:1");
    drop(trader);
}

#[test]
fn a_local_address_that_cannot_be_used_is_named_and_the_counterparty_is_not_suspected() {
    let listener = TcpListener::bind(anywhere()).unwrap();
    let address = listener.local_addr().unwrap();
    let host = ("127.0.0.1", address.port());
    // No machine has this address; it is for documentation.
    let (trader, _log) = start("NOWHERE", host, |initiation| {
        initiation.local_addresses = vec![Some("192.0.2.1:0".parse().unwrap())];
    });
    let line_of = |name: &str, local: &str| {
        let text = "message=cannot connect (is the local address one of this machine, and its port free?) ";
        let line = line(name, &[text, &format!("address={address} "), &format!("local={local} ")]);
        announces(&line, &address.to_string());
    };
    line_of("NOWHERE", "192.0.2.1:0");
    drop(trader);
    let (trader, _log) = start("OTHERKIND", host, |initiation| {
        initiation.local_addresses = vec![Some("[::1]:0".parse().unwrap())];
    });
    line_of("OTHERKIND", "[::1]:0");
    drop(trader);
    // The port is in use for a connection to the same counterparty.
    let local: SocketAddr = "127.0.0.1:0".parse().unwrap();
    let port = TcpListener::bind(local).unwrap().local_addr().unwrap();
    let both = ["FIRST", "SECOND"].map(|name| {
        let started = start(name, host, |initiation| initiation.local_addresses = vec![Some(port)]);
        if name == "FIRST" {
            let mut peer = Peer::on(listener.accept().unwrap().0).named("VENUE", name);
            assert!(peer.receive().contains("|35=A|"));
            (started, Some(peer))
        } else {
            (started, None)
        }
    });
    line_of("SECOND", &port.to_string());
    drop(both);
}

#[test]
fn a_refused_logon_is_named_with_the_counterpartys_text_and_the_next_attempt() {
    for (name, message, why) in [
        ("LOGOUT", Some(("5", "58=no such trader")), "the counterparty refused the logon: no such trader "),
        ("REJECT", Some(("3", "45=1|58=98 is wrong")), "the counterparty refused the logon: 98 is wrong "),
        ("CLOSES", None, "the counterparty closed the connection instead of answering our Logon; compare"),
    ] {
        let listener = TcpListener::bind(anywhere()).unwrap();
        let address: SocketAddr = listener.local_addr().unwrap();
        let (trader, _log) = start(name, ("127.0.0.1", address.port()), |_| {});
        answer(&listener, name, message);
        let line = line(name, &["message=cannot log on ", &format!("address={address} error={why}")]);
        announces(&line, &address.to_string());
        let session = format!("session=FIX.4.4:{name}->VENUE ");
        assert_eq!(LINES.with(&[&session, why]).len(), 1, "the reason is told once");
        assert_eq!(LINES.with(&[&session, "INFO message=disconnected "]).len(), 1);
        drop(trader);
    }
}

#[test]
fn the_end_of_a_connection_is_named_and_is_an_error_if_the_application_failed() {
    struct Failing;
    impl Application for Failing {
        fn on_message(&mut self, _: Message<'_>, _: &mut Turn<'_>) -> Result<Delivery, Failure> {
            Err(Failure::new("the risk service does not answer"))
        }
    }
    LazyLock::force(&LINES);
    for (name, msg_type, said) in [
        (
            "ASKS",
            "D",
            "ERROR message=disconnected session=FIX.4.4:VENUE->ASKS reason=the application failed on message 2: the risk service does not answer ",
        ),
        (
            "LEAVES",
            "5",
            "INFO message=disconnected session=FIX.4.4:VENUE->LEAVES reason=the counterparty logged out ",
        ),
    ] {
        let settings = SessionSettings::new(id(&format!("FIX.4.4:VENUE->{name}")), Role::Acceptor);
        let settings = settings.with(|s| s.dictionary = SessionDictionary::None);
        let venue = Engine::builder().accept(anywhere(), settings).start(Failing).unwrap();
        let mut peer = Peer::connect(venue.addresses()[0]).named(name, "VENUE");
        peer.log_on();
        peer.send(msg_type, "58=x");
        while peer.try_receive().is_some() {}
        drop(peer);
        eventually(|| LINES.with(&[said]).len() == 1);
    }
}

/// Returns a schedule with a window of an hour each day that begins when these seconds have passed
/// since 1970.
fn opens_at(second: u64) -> Schedule {
    let edge = |second: u64| {
        let [hour, minute, second] = [second / 3600 % 24, second / 60 % 60, second % 60];
        let [hour, minute, second] = [hour, minute, second].map(|n| u32::try_from(n).unwrap());
        Edge::new(TimeOfDay::new(hour, minute, second).unwrap(), Zone::utc())
    };
    Schedule::new([Window::daily(Weekdays::ALL, edge(second), edge(second + 3600))])
}

fn now() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap()
}

#[test]
fn an_initiator_waits_until_its_schedule_opens_says_so_and_then_logs_on() {
    let listener = TcpListener::bind(anywhere()).unwrap();
    let address = listener.local_addr().unwrap();
    let opens = now().as_secs() + 3;
    let (trader, log) = start("LATER", ("127.0.0.1", address.port()), |initiation| {
        initiation.settings.schedule = Some(Arc::new(opens_at(opens)));
    });
    let said = line("LATER", &["message=outside the session's schedule: the session opens at 20"]);
    let clock = [opens / 3600 % 24, opens / 60 % 60, opens % 60].map(|n| format!("{n:02}")).join(":");
    assert!(said.contains(&format!("T{clock}Z; next attempt then, to {address} ")), "{said}");
    let mut peer = Peer::on(listener.accept().unwrap().0).named("VENUE", "LATER");
    let late = now().checked_sub(Duration::from_secs(opens)).expect("it connected before the window");
    assert!(late < Duration::from_secs(2), "{late:?}");
    assert!(peer.receive().contains("|35=A|"));
    peer.send("A", "98=0|108=30");
    log.logged_on();
    drop(peer);
    drop(trader);
}
