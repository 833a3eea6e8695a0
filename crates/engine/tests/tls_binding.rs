//! Whose a certificate is: what the configuration says, and nothing else.

mod support;

use std::net::SocketAddr;
use std::sync::LazyLock;
use std::thread;
use std::time::{Duration, Instant};

use fixbolt::session::{Role, SessionId};
use fixbolt::tls::{ClientCertificates, Tls};
use fixbolt::{Acceptance, Change, Engine, EngineBuilder, Initiation};
use support::certificates::{Authority, Issued};
use support::lines::Lines;
use support::*;

static LINES: LazyLock<Lines> = LazyLock::new(Lines::collect);

/// TLS of a port that requires certificates.
fn strict(authority: &Authority) -> Tls {
    let mut tls = authority.tls_of(&authority.issue("VENUE"));
    tls.client_certificates = ClientCertificates::Required;
    tls
}

/// Returns this TLS of a port, with each certificate for the session with its CompID.
fn by_comp_id(tls: &Tls) -> Tls {
    let mut tls = tls.clone();
    tls.peer_is_comp_id = true;
    tls
}

/// The venue's session with a counterparty.
fn session(peer: &str, tls: Tls) -> Acceptance {
    let mut session = Acceptance::from(of(&format!("FIX.4.4:VENUE->{peer}"), Role::Acceptor));
    session.tls = Some(tls);
    session
}

fn any(id: &SessionId) -> Option<Acceptance> {
    Some(Acceptance::from(of(&id.to_string(), Role::Acceptor)))
}

fn start(builder: EngineBuilder) -> Engine<Recorder> {
    LazyLock::force(&LINES);
    builder.start(Recorder::venue().0).unwrap()
}

fn refused(builder: EngineBuilder) -> String {
    format!("{:#}", builder.start(Recorder::venue().0).unwrap_err())
}

/// Connects as this counterparty with this certificate, and stays.
fn trader(address: SocketAddr, name: &str, authority: &Authority, own: &Issued) -> Engine<Recorder> {
    let id = format!("FIX.4.4:{name}->VENUE");
    let mut session = Initiation::new(of(&id, Role::Initiator), "127.0.0.1", address.port());
    session.reconnect_interval = Duration::from_secs(60);
    session.tls = Some(authority.tls_of(own));
    Engine::builder().connect(session).start(Recorder::trader().0).unwrap()
}

/// Waits for the venue's line that this session is connected.
fn await_line(session: &str) {
    let begun = Instant::now();
    while LINES.with(&[session, "=connected "]).is_empty() {
        assert!(begun.elapsed() < Duration::from_secs(20), "{session}: {:#?}", LINES.with(&[]));
        thread::sleep(Duration::from_millis(5));
    }
}

/// Connects as this counterparty with this certificate. Returns the venue's line about it:
/// connected, or why not.
fn tried(address: SocketAddr, name: &str, authority: &Authority, own: &Issued) -> String {
    let session = format!("session=FIX.4.4:VENUE->{name} ");
    let told = || {
        let all = LINES.with(&[&session]);
        all.into_iter()
            .filter(|line| ["=connected ", "=closed before logon "].iter().any(|t| line.contains(t)))
    };
    let before = told().count();
    let trader = trader(address, name, authority, own);
    let begun = Instant::now();
    let line = loop {
        if let Some(line) = told().nth(before) {
            break line;
        }
        assert!(begun.elapsed() < Duration::from_secs(20), "{session}: {:#?}", LINES.with(&[]));
        thread::sleep(Duration::from_millis(5));
    };
    trader.stop().unwrap();
    line
}

#[test]
fn beside_a_template_that_binds_by_comp_id_a_session_that_names_nobody_stops_the_start() {
    let authority = Authority::new();
    let open = strict(&authority);
    let bound = by_comp_id(&open);
    let builder = || Engine::builder().accept_any(anywhere(), any).tls(anywhere(), bound.clone());
    let error = refused(builder().accept(anywhere(), session("OPEN1", open)));
    assert!(error.contains("FIX.4.4:VENUE->OPEN1") && error.contains("TLSPeerNames=none"), "{error}");
    // What it inherits from its address binds it.
    let inherits = Acceptance::from(of("FIX.4.4:VENUE->OTHER", Role::Acceptor));
    start(builder().accept(anywhere(), inherits)).stop().unwrap();
}

#[test]
fn a_comp_id_is_the_common_name_exactly_as_it_is_written() {
    let authority = Authority::new();
    let venue =
        start(Engine::builder().accept(anywhere(), session("EXACT", by_comp_id(&strict(&authority)))));
    let address = venue.addresses()[0];
    for (name, alternative, fits) in [
        ("exact", "localhost", false),
        ("OTHER", "EXACT", false),
        ("EXACT ", "localhost", false),
        ("EXACT", "localhost", true),
    ] {
        let own = authority.issue_as(name, &[alternative], |_| ());
        let line = tried(address, "EXACT", &authority, &own);
        assert_eq!(line.contains("=connected "), fits, "{name}, {alternative}: {line}");
        assert!(fits || line.contains("none of the names of TLSPeerNames"), "{line}");
    }
    venue.stop().unwrap();
}

#[test]
fn whose_a_certificate_is_depends_on_the_configuration_and_not_on_who_is_open() {
    let authority = Authority::new();
    let open = strict(&authority);
    let bound = by_comp_id(&open);
    let mut anybody = open;
    anybody.any_peer = true;
    let builder = Engine::builder().accept_any(anywhere(), any).tls(anywhere(), bound);
    let venue = start(builder.accept(anywhere(), session("ANYBODY", anybody)));
    let address = venue.addresses()[0];
    let own = authority.issue("C1");
    let line = tried(address, "ANYBODY", &authority, &own);
    assert!(line.contains("=connected "), "{line}");
    let trader = trader(address, "C1", &authority, &own);
    await_line("session=FIX.4.4:VENUE->C1 ");
    // Its own session is open now.
    let line = tried(address, "ANYBODY", &authority, &own);
    assert!(line.contains("=connected "), "{line}");
    // The name of another one is another one's, as before.
    let line = tried(address, "C2", &authority, &own);
    assert!(line.contains("none of the names of TLSPeerNames"), "{line}");
    trader.stop().unwrap();
    venue.stop().unwrap();
}

#[test]
fn the_certificate_of_a_session_that_was_left_out_is_for_no_other() {
    let authority = Authority::new();
    let open = strict(&authority);
    let mut left_out = Acceptance::from(of("FIX.4.4:VENUE->LEFT", Role::Initiator));
    left_out.tls = Some(by_comp_id(&open));
    let builder = Engine::builder().accept(anywhere(), left_out);
    let venue =
        start(builder.accept(anywhere(), session("STAYS", open)).continue_initialization_on_error(true));
    let address = venue.addresses()[0];
    let line = tried(address, "STAYS", &authority, &authority.issue("LEFT"));
    assert!(line.contains("belongs to another session of this port"), "{line}");
    let line = tried(address, "STAYS", &authority, &authority.issue("SOMEBODY"));
    assert!(line.contains("=connected "), "{line}");
    venue.stop().unwrap();
}

#[test]
fn the_certificate_of_a_session_is_for_no_other_until_the_session_is_removed() {
    let authority = Authority::new();
    let open = strict(&authority);
    let named = session("NAMED", by_comp_id(&open));
    let id = named.settings.id.clone();
    let builder = Engine::builder().accept(anywhere(), named);
    let venue = start(builder.accept(anywhere(), session("NAMES NONE", open)));
    let (address, own) = (venue.addresses()[0], authority.issue("NAMED"));
    let line = tried(address, "NAMES NONE", &authority, &own);
    assert!(line.contains("belongs to another session of this port"), "{line}");
    venue.session(&id).unwrap().remove(Change::new("jane", "it has left us"), LIMIT).unwrap();
    let line = tried(address, "NAMES NONE", &authority, &own);
    assert!(line.contains("=connected "), "{line}");
    venue.stop().unwrap();
}

#[test]
fn what_is_added_or_answered_later_is_bound_as_well() {
    let authority = Authority::new();
    let open = strict(&authority);
    let of_answer = open.clone();
    let answer = move |id: &SessionId| {
        let mut session = any(id)?;
        session.tls = (id.target_comp_id() == "NOBODYS").then(|| of_answer.clone());
        Some(session)
    };
    let venue = start(Engine::builder().accept_any(anywhere(), answer).tls(anywhere(), by_comp_id(&open)));
    let address = venue.addresses()[0];
    let error = venue.accept(address, session("LATER", open.clone()), LIMIT).unwrap_err();
    assert!(format!("{error:#}").contains("TLSPeerNames=none"), "{error:#}");
    venue.accept(address, session("LATER", by_comp_id(&open)), LIMIT).unwrap();
    let line = tried(address, "NOBODYS", &authority, &authority.issue("C3"));
    assert!(line.contains("belongs to another session of this port"), "{line}");
    venue.stop().unwrap();
}

#[test]
fn a_connection_is_logged_with_the_subject_serial_number_and_end_of_its_certificate() {
    let authority = Authority::new();
    let venue = start(Engine::builder().accept(anywhere(), session("LOGGED", strict(&authority))));
    let hostile = "X\r\n2026-01-01T00:00:00Z message=connected serial=00 \u{1b}[2J\u{202e}, serial 00";
    let own = authority.issue_as(hostile, &[], |certificate| {
        certificate.serial_number = Some(0x1234_5678_9abc_u64.into());
        certificate.not_after = rcgen::date_time_ymd(9999, 12, 31);
    });
    let line = tried(venue.addresses()[0], "LOGGED", &authority, &own);
    assert!(line.contains("serial=123456789ABC expires=9999-12-31T00:00:00Z subject="), "{line}");
    assert!(line.contains("CN=X\\0D\\0A2026-01-01T00:00:00Z message\\=connected serial\\=00 "), "{line}");
    assert!(line.bytes().all(|byte| matches!(byte, b' '..=b'~')), "{line:?}");
    // The initiator's says the same of the acceptor's.
    let of_initiator = LINES.with(&["=connected ", "session=FIX.4.4:LOGGED->VENUE "]);
    assert!(of_initiator[0].contains("subject=CN=VENUE"), "{of_initiator:?}");
    venue.stop().unwrap();
}
