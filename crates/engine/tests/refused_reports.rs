//! What an acceptor's application is told of connections that are closed before logon: from where,
//! for which session, and why. The line of the log says the same.

mod support;

use std::io::Write;
use std::net::{SocketAddr, TcpStream};
use std::sync::LazyLock;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use fixbolt::codec::{Message, SeqNum};
use fixbolt::session::{
    Application, CertificateMismatch, Delivery, Failure, FirstMessageFault, LogonDecision, LogonFault,
    Misbehavior, Refusal, RefusedConnection, SessionEnd, TlsFailure, Turn,
};
use fixbolt::tls::{ClientCertificates, Tls};
use fixbolt::{Acceptance, Change, Engine, Initiation};
use support::certificates::Authority;
use support::lines::Lines;
use support::*;

const JANE: Change<'_> = Change::new("jane", "test");

static LINES: LazyLock<Lines> = LazyLock::new(Lines::collect);

/// Passes each report on, and panics then. Refuses the password "wrong".
struct Venue(Sender<RefusedConnection>);

impl Application for Venue {
    fn on_logon(&mut self, logon: Message<'_>, _: &mut Turn<'_>) -> Result<LogonDecision, Failure> {
        Ok(match logon.get(fixbolt::codec::Tag::new(554)) {
            Some(b"wrong") => LogonDecision::RefuseSilently,
            _ => LogonDecision::Accept,
        })
    }

    fn on_message(&mut self, _: Message<'_>, _: &mut Turn<'_>) -> Result<Delivery, Failure> {
        Ok(Delivery::Done)
    }

    fn on_refused(&mut self, refused: &RefusedConnection) {
        let _ = self.0.send(refused.clone());
        panic!("an application's mistake");
    }
}

fn start(session: Acceptance) -> (Engine<Venue>, Receiver<RefusedConnection>) {
    LazyLock::force(&LINES);
    let (refused, reports) = channel();
    let builder = Engine::builder().accept(anywhere(), session).pending_time(Duration::from_millis(500));
    (builder.start(Venue(refused)).unwrap(), reports)
}

fn next(reports: &Receiver<RefusedConnection>) -> RefusedConnection {
    let report = reports.recv_timeout(Duration::from_secs(20)).expect("a connection should be refused");
    let why = report.why.to_string();
    let lines = LINES.with(&[&format!("peer={} ", report.address), &why]);
    // How a session's connection has ended is told by the session.
    let is_told = !matches!(report.why, Refusal::LoggingOn(_));
    assert_eq!(!lines.is_empty(), is_told, "{report:?}: {:#?}", LINES.with(&[]));
    report
}

/// Checks the report about a connection, and returns why it was closed.
fn why(reports: &Receiver<RefusedConnection>, from: SocketAddr, session: Option<&str>) -> Refusal {
    let report = next(reports);
    assert_eq!((report.address, report.session, report.unreported), (from, session.map(id), 0));
    report.why
}

const SESSION: Option<&str> = Some("FIX.4.4:VENUE->TRADER");

#[test]
fn a_connection_without_a_logon_is_reported_without_a_session() {
    let (venue, reports) = start(acceptor().into());
    let address = venue.addresses()[0];
    let said = |bytes: &[u8]| {
        let mut stream = TcpStream::connect(address).unwrap();
        let from = stream.local_addr().unwrap();
        stream.write_all(bytes).unwrap();
        let why = why(&reports, from, None);
        drop(stream);
        why
    };
    assert_eq!(said(b"GET / HTTP/1.1\r\n\r\n"), Refusal::NotALogon(FirstMessageFault::NotFix));
    let heartbeat = message("FIX.4.4", "35=0|49=TRADER|56=VENUE|34=1|52=20260105-09:00:00");
    assert_eq!(said(&heartbeat), Refusal::NotALogon(FirstMessageFault::MsgType));
    let unknown = message("FIX.9.9", "35=A|49=TRADER|56=VENUE|34=1|52=20260105-09:00:00");
    assert_eq!(said(&unknown), Refusal::NotALogon(FirstMessageFault::BeginString));
    assert_eq!(said(&[0x16, 3, 1, 0, 5]), Refusal::SpeaksTls);
    assert_eq!(said(b"PROXY TCP4 192.0.2.1 192.0.2.2 1 2\r\n"), Refusal::SpeaksProxy);
    assert_eq!(said(b"8=FIX.4.4"), Refusal::NoLogonInTime);
    let closed = TcpStream::connect(address).unwrap();
    let from = closed.local_addr().unwrap();
    drop(closed);
    assert_eq!(why(&reports, from, None), Refusal::ClosedByPeer);
    venue.stop().unwrap();
}

#[test]
fn a_logon_is_reported_with_its_session_and_what_speaks_against_it() {
    let (venue, reports) = start(acceptor().into());
    let session = venue.session(&acceptor().id).unwrap();
    let sent = |mut peer: Peer, asked, fields: &str| {
        let from = peer.stream.local_addr().unwrap();
        peer.send("A", fields);
        let refusal = why(&reports, from, asked);
        drop(peer);
        refusal
    };
    let connect = || Peer::connect(venue.addresses()[0]);
    let plain = "98=0|108=30";
    let stranger = connect().named("OTHER", "VENUE");
    assert_eq!(sent(stranger, Some("FIX.4.4:VENUE->OTHER"), plain), Refusal::NoSuchSession);

    let refused = sent(connect(), SESSION, "98=0|108=30|553=desk|554=wrong");
    assert_eq!(refused, Refusal::LoggingOn(SessionEnd::LogonRefused));
    assert!(LINES.with(&["554=wrong"]).is_empty());
    let invalid = |fault| Refusal::LoggingOn(SessionEnd::PeerMisbehaved(Misbehavior::InvalidLogon(fault)));
    assert_eq!(sent(connect(), SESSION, "98=5|108=30"), invalid(LogonFault::EncryptMethod));
    assert_eq!(sent(connect(), SESSION, "98=0|108=-5"), invalid(LogonFault::HeartBtInt));
    session.set_numbers(JANE, Some(SeqNum(7)), None, LIMIT).unwrap();
    let too_low = Misbehavior::MsgSeqNumTooLow { expected: SeqNum(7), received: SeqNum(1) };
    let too_low = Refusal::LoggingOn(SessionEnd::PeerMisbehaved(too_low));
    assert_eq!(sent(connect(), SESSION, plain), too_low);

    let mut logged_on = connect();
    logged_on.seq = 7;
    logged_on.log_on();
    let to = Some(logged_on.stream.local_addr().unwrap());
    let second = sent(connect(), SESSION, plain);
    assert_eq!(second, Refusal::AlreadyConnected { to });
    // An operator ends the connection on purpose, and nobody is refused.
    begun(|| session.disable(JANE, "", AT_ONCE)).unwrap_err();
    drop(logged_on);
    eventually(|| session.state() == fixbolt::session::SessionState::Disabled);
    assert_eq!(sent(connect(), SESSION, plain), Refusal::Disabled);
    assert!(reports.try_recv().is_err());
    venue.stop().unwrap();
}

#[test]
fn an_address_that_may_not_connect_is_reported() {
    let mut session = Acceptance::from(acceptor());
    session.allowed_remote_addresses = vec!["192.0.2.1".parse().unwrap()];
    let (venue, reports) = start(session);
    let peer = Peer::connect(venue.addresses()[0]);
    let from = peer.stream.local_addr().unwrap();
    assert_eq!(why(&reports, from, None), Refusal::NoSessionForAddress);
    venue.stop().unwrap();
}

#[test]
fn a_certificate_that_is_missing_or_not_the_sessions_is_reported() {
    let authority = Authority::new();
    let (own, client) = (authority.issue("VENUE"), authority.issue("TRADER"));
    let refused = |venue: Tls, trader: Tls| {
        let mut session = Acceptance::from(acceptor());
        session.tls = Some(venue);
        let (venue, reports) = start(session);
        let mut session = Initiation::new(initiator(), "127.0.0.1", venue.addresses()[0].port());
        session.reconnect_interval = Duration::from_secs(3600);
        session.tls = Some(trader);
        let trader = Engine::builder().connect(session).start(Recorder::trader().0).unwrap();
        let why = next(&reports).why;
        trader.stop().unwrap();
        venue.stop().unwrap();
        why
    };
    let mut strict = authority.tls_of(&own);
    strict.client_certificates = ClientCertificates::Required;
    assert_eq!(refused(strict.clone(), authority.tls()), Refusal::Tls(TlsFailure::NoCertificate));
    strict.peer_pins = vec![own.pin];
    let other = refused(strict, authority.tls_of(&client));
    assert_eq!(other, Refusal::Certificate(CertificateMismatch::Pin));
}

#[test]
fn a_flood_of_refused_connections_is_reported_in_part_and_counted() {
    let (venue, reports) = start(acceptor().into());
    let connect = || {
        let mut stream = TcpStream::connect(venue.addresses()[0]).unwrap();
        stream.write_all(b"GET / HTTP/1.1\r\n\r\n").unwrap();
    };
    (0..60).for_each(|_| connect());
    let (mut reported, mut left_out) = (0, 0);
    eventually(|| {
        // The next second begins a new count.
        connect();
        for report in reports.try_iter() {
            reported += 1;
            left_out += report.unreported;
        }
        left_out > 0
    });
    assert!(left_out >= 50, "{reported} were reported");
    venue.stop().unwrap();
}
