//! What goes wrong with TLS: each connection is closed, and one line of the log says what is wrong
//! and what to do.

mod support;

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use fixbolt::session::{Role, SessionId};
use fixbolt::tls::{ClientCertificates, Tls, TlsVersion};
use fixbolt::{Acceptance, Engine, Initiation};
use rcgen::date_time_ymd;
use support::certificates::Authority;
use support::lines::Lines;
use support::*;

fn venue(tls: Option<Tls>) -> Engine<Recorder> {
    let mut session = Acceptance::from(acceptor());
    session.tls = tls;
    let mut other = Acceptance::from(of("FIX.4.4:VENUE->OTHER", Role::Acceptor));
    other.tls = session.tls.as_ref().map(|tls| {
        let mut tls = tls.clone();
        (tls.peer_pins, tls.peer_names, tls.peer_is_comp_id) = (Vec::new(), Vec::new(), false);
        tls
    });
    let builder = Engine::builder().accept(anywhere(), session).accept(anywhere(), other);
    builder.pending_time(Duration::from_secs(1)).start(Recorder::venue().0).unwrap()
}

fn trader(address: SocketAddr, name: &str, tls: Option<Tls>) -> Engine<Recorder> {
    let mut session = Initiation::new(of(name, Role::Initiator), "127.0.0.1", address.port());
    session.reconnect_interval = Duration::from_secs(60);
    session.socket_connect_timeout = Duration::from_secs(1);
    session.tls = tls;
    Engine::builder().connect(session).start(Recorder::trader().0).unwrap()
}

/// Waits for a line with all these texts, after as many of them as there were before.
fn await_next_line(lines: &Lines, texts: &[&str], before: usize) {
    let begun = Instant::now();
    while lines.with(texts).len() <= before {
        assert!(begun.elapsed() < Duration::from_secs(20), "{texts:?}: {:#?}", lines.with(&[]));
        thread::sleep(Duration::from_millis(5));
    }
}

/// Waits for a line with all these texts.
fn await_line(lines: &Lines, texts: &[&str]) {
    await_next_line(lines, texts, 0);
}

/// The messages about a connection that fails: an acceptor's and an initiator's.
const FAILURES: [&str; 2] = ["closed before logon", "cannot connect"];

/// Lets an initiator try, and expects these lines of the acceptor and of the initiator, and no
/// second line of either about the failure.
fn tried(lines: &Lines, venue_tls: Option<Tls>, name: &str, trader_tls: Option<Tls>, expected: [&[&str]; 2]) {
    let before = expected.map(|texts| lines.with(texts).len());
    let failures = FAILURES.map(|message| lines.with(&[message]).len());
    let venue = venue(venue_tls);
    let trader = trader(venue.addresses()[0], name, trader_tls);
    for (texts, before) in expected.into_iter().zip(before).filter(|(texts, _)| !texts.is_empty()) {
        await_next_line(lines, texts, before);
    }
    trader.stop().unwrap();
    venue.stop().unwrap();
    for (message, before) in FAILURES.into_iter().zip(failures) {
        let told = lines.with(&[message]).split_off(before);
        assert!(told.len() <= 1, "more than one line: {told:?}");
    }
}

const TRADER: &str = "FIX.4.4:TRADER->VENUE";

#[test]
fn each_refusal_is_one_line_that_says_what_is_wrong_and_what_to_do() {
    let lines = Lines::collect();
    let lines = &lines;
    let (authority, unknown) = (Authority::new(), Authority::named("Another authority"));
    let (own, client) = (authority.issue("VENUE"), authority.issue("TRADER"));
    let venue_tls = authority.tls_of(&own);
    let of_client = || Some(authority.tls_of(&client));
    let mut strict = venue_tls.clone();
    strict.client_certificates = ClientCertificates::Required;
    let closed = "closed before logon";

    // No TLS at one side.
    tried(
        lines,
        Some(venue_tls.clone()),
        TRADER,
        None,
        [&[closed, "sends FIX without TLS", "SocketUseSSL"], &[]],
    );
    let plain = "speaks TLS, and this port expects FIX without it";
    tried(
        lines,
        None,
        TRADER,
        Some(authority.tls()),
        [&[closed, plain], &["cannot connect", "at the beginning of the handshake", "configured for TLS"]],
    );

    // The acceptor's certificate.
    let acceptor_with = |change: &dyn Fn(&mut rcgen::CertificateParams)| {
        authority.tls_of(&authority.issue_as("VENUE", &["127.0.0.1"], change))
    };
    let namesake = Authority::new();
    for (tls, seen_by_venue, seen_by_trader) in [
        (namesake.tls_of(&namesake.issue("VENUE")), "DecryptError", "has its name, but another key"),
        (
            unknown.tls_of(&unknown.issue("VENUE")),
            "UnknownCA",
            "authority that signed the counterparty's certificate is unknown",
        ),
        (
            acceptor_with(&|c| c.not_after = date_time_ymd(2020, 1, 1)),
            "CertificateExpired",
            "has expired; have it renewed",
        ),
        (acceptor_with(&|c| c.not_before = date_time_ymd(2090, 1, 1)), "", "is not valid yet"),
        (
            authority.tls_of(&authority.issue_as("VENUE", &["venue.example"], |_| ())),
            "BadCertificate",
            "certificate is for venue.example, and not for 127.0.0.1",
        ),
        (
            authority.tls_of(&authority.issue_as("VENUE", &[], |_| ())),
            "BadCertificate",
            "certificate has no subjectAltName, in which 127.0.0.1 must be; have it renewed with one, or write EndpointIdentificationAlgorithm=none, and its common name (CN) in TLSPeerNames",
        ),
    ] {
        let of_venue: &[&str] = &[closed, seen_by_venue];
        tried(
            lines,
            Some(tls),
            TRADER,
            Some(authority.tls()),
            [of_venue, &["cannot connect", seen_by_trader]],
        );
    }
    let mut pinned = authority.tls();
    pinned.peer_pins = vec![client.pin];
    tried(
        lines,
        Some(venue_tls.clone()),
        TRADER,
        Some(pinned),
        [&[closed], &["cannot connect", "is not one of TLSPeerPins"]],
    );

    // The initiator's.
    for (tls, seen) in [
        (Some(authority.tls()), "has sent no certificate"),
        (Some(authority.tls_of(&unknown.issue("TRADER"))), "is unknown; if it is the right one"),
        (
            Some(
                authority
                    .tls_of(&authority.issue_as("TRADER", &[], |c| c.not_after = date_time_ymd(2020, 1, 1))),
            ),
            "has expired",
        ),
    ] {
        let ours: &[&str] = &["TLS: the counterparty has ended the connection"];
        tried(lines, Some(strict.clone()), TRADER, tls, [&[closed, seen], ours]);
    }

    // Revoked, or not known whether it is.
    let scratch = Scratch::new("tls-revoked");
    let revoked = authority.issue_as("TRADER", &[], |c| c.serial_number = Some(7_u64.into()));
    for (n, (tls, until, seen)) in [
        (authority.tls_of(&revoked), 2096, "was revoked"),
        (authority.tls_of(&client), 2025, "has no current list"),
    ]
    .into_iter()
    .enumerate()
    {
        let mut careful = strict.clone();
        let file = scratch.0.join(format!("{n}.crl"));
        std::fs::write(&file, authority.revoke(7, until)).unwrap();
        careful.revocation_lists = Some(file);
        tried(lines, Some(careful), TRADER, Some(tls), [&[closed, seen], &[]]);
    }

    // Versions and cipher suites.
    let mut only13 = venue_tls.clone();
    only13.min_version = TlsVersion::Tls13;
    let mut only12 = authority.tls();
    only12.max_version = TlsVersion::Tls12;
    let of_venue: &[&str] = &[closed, "no version of TLS that is enabled here"];
    tried(lines, Some(only13), TRADER, Some(only12), [of_venue, &["cannot connect", "EnabledProtocols"]]);

    // Whose certificate it is.
    let session = "session=FIX.4.4:VENUE->TRADER ";
    let mut by_pin = strict.clone();
    by_pin.peer_pins = vec![own.pin];
    tried(lines, Some(by_pin), TRADER, of_client(), [&[closed, session, "is not one of TLSPeerPins"], &[]]);
    let mut by_name = strict.clone();
    by_name.peer_names = vec!["somebody.example".to_owned()];
    tried(
        lines,
        Some(by_name),
        TRADER,
        of_client(),
        [&[closed, session, "none of the names of TLSPeerNames"], &[]],
    );
    let mut asked = venue_tls;
    asked.client_certificates = ClientCertificates::Requested;
    asked.peer_is_comp_id = true;
    let none: &[&str] = &[closed, session, "there is none; have it send one"];
    tried(lines, Some(asked), TRADER, Some(authority.tls()), [none, &[]]);
    let mut bound = strict;
    bound.peer_is_comp_id = true;
    let other: &[&str] =
        &[closed, "session=FIX.4.4:VENUE->OTHER ", "belongs to another session of this port"];
    tried(lines, Some(bound), "FIX.4.4:OTHER->VENUE", of_client(), [other, &[]]);

    dynamic_sessions_are_those_of_the_certificate(lines, &authority);
    halves_of_handshakes_are_bounded(lines, &authority);
    a_certificate_that_ends_soon_is_warned_of(lines, &authority);
}

fn a_certificate_that_ends_soon_is_warned_of(lines: &Lines, authority: &Authority) {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    let after = |days: u64| date_time_ymd(1970, 1, 1) + now + Duration::from_secs(days * 86_400);
    for (name, days) in [("TEN DAYS", 10), ("FORTY DAYS", 40)] {
        let own = authority.issue_as(name, &["localhost"], |c| c.not_after = after(days));
        venue(Some(authority.tls_of(&own))).stop().unwrap();
    }
    assert_eq!(lines.with(&["our certificate expires soon; renew it", "name=TEN DAYS ", "end="]).len(), 1);
    assert!(lines.with(&["FORTY DAYS"]).is_empty());
    let expired = lines.with(&["our certificate has expired: counterparties refuse it"]);
    assert_eq!(expired.len(), 2, "those of two refusals above: {expired:?}");
}

fn dynamic_sessions_are_those_of_the_certificate(lines: &Lines, authority: &Authority) {
    let mut tls = authority.tls_of(&authority.issue("VENUE"));
    tls.client_certificates = ClientCertificates::Required;
    tls.peer_is_comp_id = true;
    let any = |id: &SessionId| Some(Acceptance::from(of(&id.to_string(), Role::Acceptor)));
    let (app, log) = Recorder::venue();
    let venue =
        Engine::builder().accept_any(anywhere(), any).tls(anywhere(), tls.clone()).start(app).unwrap();
    let with = Some(authority.tls_of(&authority.issue("TRADER")));
    let other = trader(venue.addresses()[0], "FIX.4.4:SOMEBODY->VENUE", with.clone());
    await_line(lines, &["closed before logon", "session=FIX.4.4:VENUE->SOMEBODY ", "TLSPeerNames"]);
    let own = trader(venue.addresses()[0], TRADER, with);
    log.logged_on();
    own.stop().unwrap();
    other.stop().unwrap();
    venue.stop().unwrap();

    // One that expects more than its port, whose handshake is over.
    for (name, what) in
        [("STRICT", "whether clients need a certificate"), ("NEWER", "the versions"), ("SAME", "")]
    {
        let mut of_port = tls.clone();
        of_port.peer_is_comp_id = false;
        of_port.client_certificates = ClientCertificates::Requested;
        let mut answer = of_port.clone();
        match name {
            "STRICT" => answer.client_certificates = ClientCertificates::Required,
            "NEWER" => answer.min_version = TlsVersion::Tls13,
            _ => {}
        }
        let expects = move |id: &SessionId| {
            let mut session = any(id)?;
            session.tls = Some(answer.clone());
            Some(session)
        };
        let (app, log) = Recorder::venue();
        let builder = Engine::builder().accept_any(anywhere(), expects).tls(anywhere(), of_port);
        let venue = builder.start(app).unwrap();
        let trader = trader(venue.addresses()[0], &format!("FIX.4.4:{name}->VENUE"), Some(authority.tls()));
        if what.is_empty() {
            log.logged_on();
        } else {
            let session = format!("session=FIX.4.4:VENUE->{name} ");
            let differs = format!("differs from that of its address in {what}: ");
            await_line(lines, &["closed before logon", &session, &differs]);
        }
        trader.stop().unwrap();
        venue.stop().unwrap();
    }

    // One that expects TLS at a port that has none.
    let expects = move |id: &SessionId| {
        let mut session = any(id)?;
        session.tls = Some(tls.clone());
        Some(session)
    };
    let venue = Engine::builder().accept_any(anywhere(), expects).start(Recorder::venue().0).unwrap();
    let plain = trader(venue.addresses()[0], "FIX.4.4:PLAIN->VENUE", None);
    await_line(lines, &["closed before logon", "session=FIX.4.4:VENUE->PLAIN ", "the session expects TLS"]);
    plain.stop().unwrap();
    venue.stop().unwrap();
}

fn halves_of_handshakes_are_bounded(lines: &Lines, authority: &Authority) {
    let venue = venue(Some(authority.tls_of(&authority.issue("VENUE"))));
    let mut silent = TcpStream::connect(venue.addresses()[0]).unwrap();
    silent.write_all(&[0x16, 0x03, 0x01]).unwrap();
    await_line(lines, &["closed before logon", "the handshake was not done in time"]);
    silent.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    assert_eq!(silent.read(&mut [0]).unwrap_or(0), 0);
    let mut noise = TcpStream::connect(venue.addresses()[0]).unwrap();
    noise.write_all(b"GET / HTTP/1.1\r\n\r\n").unwrap();
    await_line(lines, &["closed before logon", "is not TLS"]);
    venue.stop().unwrap();

    // One that accepts, and says nothing, and one that says goodbye.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let silent = trader(listener.local_addr().unwrap(), TRADER, Some(authority.tls()));
    await_line(lines, &["cannot connect: timed out before the handshake of TLS was done"]);
    silent.stop().unwrap();
    let leaving = TcpListener::bind("127.0.0.1:0").unwrap();
    let trader = trader(leaving.local_addr().unwrap(), TRADER, Some(authority.tls()));
    let (mut acceptor, _) = leaving.accept().unwrap();
    acceptor.write_all(&[21, 3, 3, 0, 2, 1, 0]).unwrap();
    await_line(lines, &["cannot connect", "has ended the connection (CloseNotify)"]);
    trader.stop().unwrap();
}
