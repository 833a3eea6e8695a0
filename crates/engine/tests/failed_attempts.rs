//! What an initiator's application is told of each attempt that fails: where, why, which one it is,
//! and what comes next. The line of the log says the same.

mod support;

use std::net::{SocketAddr, TcpListener};
use std::sync::LazyLock;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use fixbolt::codec::{Message, Tag};
use fixbolt::session::{
    Application, AttemptFailure, CertificateFault, CertificateMismatch, Delivery, Event, FailedAttempt,
    Failure, NextAttempt, RefusingAnswer, Role, SessionEnd, TlsFailure, Turn,
};
use fixbolt::tls::{ClientCertificates, Tls, TlsVersion};
use fixbolt::{Acceptance, Engine, Initiation};
use rcgen::date_time_ymd;
use support::certificates::Authority;
use support::lines::Lines;
use support::*;

static LINES: LazyLock<Lines> = LazyLock::new(Lines::collect);

/// Passes each failed attempt on, and whether the session has logged on before it.
struct Trader(Sender<FailedAttempt>);

impl Application for Trader {
    fn on_message(&mut self, _: Message<'_>, _: &mut Turn<'_>) -> Result<Delivery, Failure> {
        Ok(Delivery::Done)
    }

    fn on_event(&mut self, event: &Event<'_>, _: &mut Turn<'_>) -> Result<(), Failure> {
        if let Event::AttemptFailed(attempt) = event {
            let _ = self.0.send((*attempt).clone());
        }
        Ok(())
    }
}

/// Starts an initiator with these hosts, which waits for an hour after it has tried them.
fn start(
    hosts: &[(&str, u16)],
    change: impl FnOnce(&mut Initiation),
) -> (Engine<Trader>, Receiver<FailedAttempt>) {
    LazyLock::force(&LINES);
    let settings = initiator().with(|s| s.timing.logon_timeout = Duration::from_millis(300));
    let mut initiation = Initiation::new(settings, "", 1);
    initiation.hosts = hosts.iter().map(|(host, port)| ((*host).to_owned(), *port)).collect();
    initiation.reconnect_interval = Duration::from_secs(3600);
    initiation.socket_connect_timeout = Duration::from_secs(1);
    change(&mut initiation);
    let (failed, attempts) = channel();
    (Engine::builder().connect(initiation).start(Trader(failed)).unwrap(), attempts)
}

fn next(attempts: &Receiver<FailedAttempt>) -> FailedAttempt {
    attempts.recv_timeout(Duration::from_secs(20)).expect("an attempt should have failed")
}

/// Returns the first attempt that fails at a host, and checks what is said about where and when.
fn only(host: (&str, u16), change: impl FnOnce(&mut Initiation)) -> FailedAttempt {
    let (engine, attempts) = start(&[host], change);
    let attempt = next(&attempts);
    engine.stop().unwrap();
    assert_eq!((attempt.host.as_str(), attempt.port, attempt.attempts), (host.0, host.1, 1));
    let NextAttempt::Later { wait, host: again, port, .. } = &attempt.next else { panic!("{attempt:?}") };
    assert_eq!((again.as_str(), *port), host);
    assert!(*wait > Duration::from_secs(1700) && *wait <= Duration::from_secs(3600), "{wait:?}");
    if let Some(address) = attempt.address {
        // The reason of a time-out is in the message itself.
        let (address, next) = (format!("address={address} "), format!("next={} ", attempt.next));
        let why = attempt.why.to_string();
        let lines = LINES.with(&[&address, &next, &why]);
        assert_eq!(lines.len(), 1, "{attempt:?}: {:#?}", LINES.with(&[]));
    }
    attempt
}

fn listener() -> (TcpListener, SocketAddr) {
    let listener = TcpListener::bind(anywhere()).unwrap();
    let address = listener.local_addr().unwrap();
    (listener, address)
}

#[test]
fn a_name_without_address_a_refused_connection_and_a_wrong_local_address_are_told_apart() {
    let attempt = only(("nowhere.invalid", 9880), |_| {});
    assert!(matches!(&attempt.why, AttemptFailure::NameResolution { error } if !error.is_empty()));
    assert_eq!(attempt.address, None);
    assert!(!LINES.with(&["host=nowhere.invalid ", &format!("error={}", attempt.why)]).is_empty());

    let attempt = only(("127.0.0.1", 1), |_| {});
    assert!(matches!(&attempt.why, AttemptFailure::Refused { error } if error.contains("refused")));
    assert_eq!(attempt.address, Some("127.0.0.1:1".parse().unwrap()));

    let (_listener, address) = listener();
    let local = "192.0.2.1:0".parse().unwrap();
    let attempt = only(("127.0.0.1", address.port()), |initiation| {
        initiation.local_addresses = vec![Some(local)];
    });
    assert!(matches!(&attempt.why, AttemptFailure::LocalAddress { .. }), "{attempt:?}");
    assert_eq!((attempt.address, attempt.local), (Some(address), Some(local)));
}

#[test]
fn attempts_are_counted_over_hosts_and_waits_until_the_session_is_logged_on() {
    let (listener, address) = listener();
    let (engine, attempts) = start(&[("127.0.0.1", 1), ("127.0.0.1", address.port())], |initiation| {
        initiation.reconnect_interval = Duration::from_millis(20);
    });
    for round in 0..2 {
        let refused = next(&attempts);
        assert_eq!((refused.port, refused.attempts), (1, 2 * round + 1));
        assert_eq!(refused.next, NextAttempt::Address(address));
        drop(listener.accept().unwrap());
        let closed = next(&attempts);
        assert_eq!((closed.port, closed.attempts), (address.port(), 2 * round + 2));
        assert!(matches!(closed.next, NextAttempt::Later { port: 1, .. }), "{closed:?}");
    }
    assert_eq!(next(&attempts).attempts, 5);
    let mut peer = Peer::on(listener.accept().unwrap().0).named("VENUE", "TRADER");
    assert!(peer.receive().contains("|35=A|"));
    peer.send("A", "98=0|108=30");
    peer.send("1", "112=there");
    assert!(peer.receive().contains("|112=there|"));
    drop(peer);
    assert_eq!(next(&attempts).attempts, 1);
    drop(listener);
    engine.stop().unwrap();
}

#[test]
fn what_the_counterparty_answers_to_a_logon_is_told() {
    let answered = |message: Option<(&str, &str)>| {
        let (listener, address) = listener();
        let (engine, attempts) = start(&[("127.0.0.1", address.port())], |_| {});
        let mut peer = Peer::on(listener.accept().unwrap().0).named("VENUE", "TRADER");
        assert!(peer.receive().contains("|35=A|"));
        match message {
            Some(("", _)) => drop(peer.try_receive()),
            Some((msg_type, fields)) => {
                peer.send(msg_type, fields);
                peer.try_receive();
            }
            None => drop(peer),
        }
        let attempt = next(&attempts);
        engine.stop().unwrap();
        assert_eq!((attempt.address, attempt.attempts), (Some(address), 1));
        let line = LINES.with(&["cannot log on", &format!("address={address} error={} next", attempt.why)]);
        assert_eq!(line.len(), 1, "{attempt:?}");
        match attempt.why {
            AttemptFailure::LoggingOn(end) => end,
            why => panic!("{why:?}"),
        }
    };
    let refusal = |end| match end {
        SessionEnd::LogonRefusedByPeer(refusal) => (refusal.answer, refusal.text),
        end => panic!("{end:?}"),
    };
    assert_eq!(
        refusal(answered(Some(("5", "1409=5|58=no such trader")))),
        (RefusingAnswer::Logout { status: Some(5) }, "no such trader".to_owned())
    );
    assert_eq!(
        refusal(answered(Some(("3", "45=1|371=98|373=5|58=98 is wrong")))),
        (RefusingAnswer::Reject { reason: Some(5), tag: Some(Tag::new(98)) }, "98 is wrong".to_owned())
    );
    assert_eq!(answered(None), SessionEnd::LogonUnanswered);
    assert_eq!(answered(Some(("", ""))), SessionEnd::LogonTimedOut);
}

/// Lets an initiator try to connect to an acceptor, and returns why TLS was given up.
fn tls_with(venue: Tls, trader: Tls) -> TlsFailure {
    let mut session = Acceptance::from(of("FIX.4.4:VENUE->TRADER", Role::Acceptor));
    session.tls = Some(venue);
    let venue = Engine::builder().accept(anywhere(), session).start(Recorder::venue().0).unwrap();
    let attempt = only(("127.0.0.1", venue.addresses()[0].port()), |initiation| {
        initiation.tls = Some(trader);
    });
    venue.stop().unwrap();
    match attempt.why {
        AttemptFailure::Tls(failure) => failure,
        why => panic!("{why:?}"),
    }
}

#[test]
fn why_a_handshake_failed_is_told_by_its_cause() {
    let (authority, unknown) = (Authority::new(), Authority::named("Another authority"));
    let (own, client) = (authority.issue("VENUE"), authority.issue("TRADER"));
    let issued = |change: &dyn Fn(&mut rcgen::CertificateParams)| {
        authority.tls_of(&authority.issue_as("VENUE", &["127.0.0.1"], change))
    };
    let elsewhere = authority.tls_of(&authority.issue_as("VENUE", &["venue.example"], |_| ()));
    let wrong_name = CertificateFault::WrongName {
        expected: Some("127.0.0.1".to_owned()),
        presented: vec!["venue.example".to_owned()],
    };
    for (venue, fault) in [
        (issued(&|c| c.not_after = date_time_ymd(2020, 1, 1)), CertificateFault::Expired),
        (issued(&|c| c.not_before = date_time_ymd(2090, 1, 1)), CertificateFault::NotValidYet),
        (unknown.tls_of(&unknown.issue("VENUE")), CertificateFault::UnknownIssuer),
        (elsewhere, wrong_name),
    ] {
        assert_eq!(tls_with(venue, authority.tls()), TlsFailure::Certificate(fault));
    }
    let mut pinned = authority.tls();
    pinned.peer_pins = vec![client.pin];
    let mismatch = CertificateFault::NotTheSessions(CertificateMismatch::Pin);
    assert_eq!(tls_with(authority.tls_of(&own), pinned), TlsFailure::Certificate(mismatch));
    // In version 1.3 the acceptor's verdict on our certificate comes after our Logon.
    let mut strict = authority.tls_of(&own);
    strict.client_certificates = ClientCertificates::Required;
    for version in [TlsVersion::Tls12, TlsVersion::Tls13] {
        let mut ours = authority.tls_of(&unknown.issue("TRADER"));
        ours.max_version = version;
        let failure = tls_with(strict.clone(), ours);
        assert_eq!(failure, TlsFailure::Alert { code: 48, name: "UnknownCA".to_owned() });
    }
}

#[test]
fn a_counterparty_without_tls_is_told_by_what_it_does() {
    let authority = Authority::new();
    for (does, expected) in [
        ("closes", AttemptFailure::Tls(TlsFailure::ClosedAtBegin)),
        ("talks", AttemptFailure::Tls(TlsFailure::NotTls)),
        ("sends FIX", AttemptFailure::Tls(TlsFailure::PlainFix)),
        ("is silent", AttemptFailure::TlsTimedOut),
    ] {
        let (listener, address) = listener();
        let peer = std::thread::spawn(move || {
            use std::io::{Read, Write};
            let (mut stream, _) = listener.accept().unwrap();
            let mut hello = [0; 1024];
            assert!(stream.read(&mut hello).is_ok_and(|bytes| bytes > 0));
            match does {
                "talks" => stream.write_all(b"220 mail.example\r\n").unwrap(),
                "sends FIX" => stream.write_all(b"8=FIX.4.4\x019=5\x01").unwrap(),
                _ => {}
            }
            if does != "closes" {
                // Until the initiator has given up.
                while stream.read(&mut hello).is_ok_and(|bytes| bytes > 0) {}
            }
        });
        let attempt = only(("127.0.0.1", address.port()), |initiation| {
            initiation.tls = Some(authority.tls());
        });
        assert_eq!(attempt.why, expected, "{does}");
        peer.join().unwrap();
    }
}
