//! Sessions over TLS: two engines, or an engine and a counterparty written by hand.

mod support;

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use fixbolt::codec::{BodySink, Key, MsgType, NewBody};
use fixbolt::tls::{Authorities, ClientCertificates, OwnCertificate, Tls, TlsVersion};
use fixbolt::{Acceptance, Engine, Initiation, PostError, Waiting};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, HandshakeKind, RootCertStore};
use support::certificates::Authority;
use support::*;

fn accepted(tls: Tls) -> Acceptance {
    let mut session = Acceptance::from(acceptor());
    session.tls = Some(tls);
    session
}

fn connected(address: SocketAddr, tls: Tls) -> Initiation {
    let mut session = Initiation::new(initiator(), "localhost", address.port());
    session.reconnect_interval = Duration::from_millis(20);
    session.tls = Some(tls);
    session
}

fn order(sender: &mut fixbolt::Sender, cl_ord_id: &str, text: &str) -> Result<u64, PostError> {
    let mut draft = sender.draft(MsgType::new(b"D"));
    draft.writer().bytes(Key::new(11), cl_ord_id.as_bytes()).bytes(Key::new(58), text.as_bytes());
    draft.send().map(|ticket| ticket.number())
}

/// Lets two engines trade, and checks that nothing is lost.
fn trade(venue_tls: Tls, trader_tls: Tls, waiting: Waiting, workers: usize) {
    let (venue_log, trader_log);
    let venue = {
        let mut apps: Vec<_> = (0..workers).map(|_| Recorder::venue()).collect();
        venue_log =
            apps.iter_mut().map(|(_, log)| std::mem::replace(log, Recorder::venue().1)).collect::<Vec<_>>();
        let mut apps = apps.into_iter().map(|(app, _)| app);
        // The second session is on the second worker, and the first one listens.
        let first = Acceptance::from(of("FIX.4.4:VENUE->OTHER", fixbolt::session::Role::Acceptor));
        let mut builder = Engine::builder().tls(anywhere(), venue_tls.clone()).worker_waiting(waiting);
        if workers > 1 {
            builder = builder.accept(anywhere(), first);
        }
        builder.accept(anywhere(), acceptor()).start_with(workers, |_| apps.next().unwrap()).unwrap()
    };
    let venue_log = venue_log.last().unwrap();
    let (app, log) = Recorder::trader();
    trader_log = log;
    let session = connected(venue.addresses()[0], trader_tls);
    let trader = Engine::builder().connect(session).worker_waiting(waiting).start(app).unwrap();
    venue_log.logged_on();
    trader_log.logged_on();
    let mut sender = trader.session(&initiator().id).unwrap().sender();
    for n in 1..=200 {
        // Of one record, and of several.
        let text = "x".repeat(if n % 20 == 0 { 40_000 } else { 10 });
        order(&mut sender, &format!("ord{n}"), &text).unwrap();
    }
    for n in 1..=200 {
        assert_eq!(venue_log.message(), format!("ord{n}"));
        assert_eq!(trader_log.message(), format!("ord{n}"));
    }
    trader.stop().unwrap();
    assert_eq!(trader_log.ended(), "LoggedOutByUs");
    assert_eq!(venue_log.ended(), "LoggedOutByPeer");
    venue.stop().unwrap();
}

#[test]
fn two_engines_trade_over_each_version_however_they_wait_and_whichever_worker_has_the_session() {
    let authority = Authority::new();
    let (venue, trader) = (authority.issue("VENUE"), authority.issue("TRADER"));
    for version in [TlsVersion::Tls12, TlsVersion::Tls13] {
        let mut venue_tls = authority.tls_of(&venue);
        venue_tls.max_version = version;
        trade(venue_tls.clone(), authority.tls(), Waiting::Blocking, 1);
        venue_tls.client_certificates = ClientCertificates::Required;
        let mut trader_tls = authority.tls_of(&trader);
        trader_tls.min_version = version;
        trade(venue_tls, trader_tls, Waiting::SpinningFor(Duration::from_millis(5)), 2);
    }
    let mut fixs = Tls::fixs();
    fixs.certificate = Some(venue.to_own());
    trade(fixs, authority.tls(), Waiting::Blocking, 1);
}

/// A counterparty that speaks TLS by itself.
struct Client {
    tls: ClientConnection,
    peer: Peer,
}

impl Client {
    fn connect(address: SocketAddr, authority: &Authority) -> Self {
        Self::connect_with(address, Self::config(authority))
    }

    fn config(authority: &Authority) -> Arc<ClientConfig> {
        let mut roots = RootCertStore::empty();
        roots.add(CertificateDer::from_pem_slice(authority.pem.as_bytes()).unwrap()).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config =
            ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
        Arc::new(config.with_root_certificates(roots).with_no_client_auth())
    }

    fn connect_with(address: SocketAddr, config: Arc<ClientConfig>) -> Self {
        let name = ServerName::try_from("localhost").unwrap();
        let tls = ClientConnection::new(config, name).unwrap();
        Self { tls, peer: Peer::on(TcpStream::connect(address).unwrap()) }
    }

    fn send(&mut self, bytes: &[u8]) {
        rustls::Stream::new(&mut self.tls, &mut self.peer.stream).write_all(bytes).unwrap();
    }

    /// Returns what has arrived by the time that it contains `text`.
    fn receive(&mut self, text: &str) -> String {
        let mut received = Vec::new();
        while !String::from_utf8_lossy(&received).contains(text) {
            let mut bytes = [0; 4096];
            let n = rustls::Stream::new(&mut self.tls, &mut self.peer.stream).read(&mut bytes).unwrap();
            assert!(n > 0, "it ends before {text}");
            received.extend_from_slice(&bytes[..n]);
        }
        String::from_utf8_lossy(&received).into_owned()
    }
}

fn venue(authority: &Authority) -> (Engine<Recorder>, Log) {
    let (app, log) = Recorder::venue();
    let tls = authority.tls_of(&authority.issue("VENUE"));
    (Engine::builder().accept(anywhere(), accepted(tls)).start(app).unwrap(), log)
}

#[test]
fn a_logout_is_followed_by_close_notify() {
    let authority = Authority::new();
    let (venue, _log) = venue(&authority);
    let mut client = Client::connect(venue.addresses()[0], &authority);
    let logon = client.peer.message("A", "98=0|108=30");
    client.send(&logon);
    client.receive("35=A");
    // Its sequence number is too low.
    client.peer.seq = 1;
    let order = client.peer.message("D", "11=again");
    client.send(&order);
    client.receive("35=5");
    // Without close_notify it would be an unexpected end.
    let mut stream = rustls::Stream::new(&mut client.tls, &mut client.peer.stream);
    assert_eq!(stream.read(&mut [0; 16]).unwrap(), 0);
    venue.stop().unwrap();
}

#[test]
fn what_arrives_before_a_connection_is_cut_is_not_lost() {
    let authority = Authority::new();
    let (venue, log) = venue(&authority);
    let mut client = Client::connect(venue.addresses()[0], &authority);
    let logon = client.peer.message("A", "98=0|108=30");
    client.send(&logon);
    client.receive("35=A");
    // Many records, and an end without close_notify right after them.
    for n in 0..300 {
        let order = client.peer.message("D", &format!("11=ord{n}"));
        client.send(&order);
    }
    client.peer.stream.shutdown(std::net::Shutdown::Write).unwrap();
    for n in 0..300 {
        assert_eq!(log.message(), format!("ord{n}"));
    }
    assert_eq!(log.ended(), "ConnectionLost");
    venue.stop().unwrap();
}

#[test]
fn a_handshake_that_comes_byte_by_byte_succeeds_and_half_of_one_is_bounded() {
    let authority = Authority::new();
    let (app, log) = Recorder::venue();
    let tls = authority.tls_of(&authority.issue("VENUE"));
    let venue = Engine::builder()
        .accept(anywhere(), accepted(tls))
        .pending_time(Duration::from_secs(2))
        .start(app)
        .unwrap();
    let mut client = Client::connect(venue.addresses()[0], &authority);
    let mut hello = Vec::new();
    client.tls.write_tls(&mut hello).unwrap();
    for byte in &hello {
        client.peer.stream.write_all(&[*byte]).unwrap();
    }
    let logon = client.peer.message("A", "98=0|108=30");
    client.send(&logon);
    log.logged_on();
    drop(client);

    let mut half = TcpStream::connect(venue.addresses()[0]).unwrap();
    half.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    half.write_all(&hello[..hello.len() / 2]).unwrap();
    match half.read(&mut [0; 16]) {
        Ok(n) => assert_eq!(n, 0),
        Err(error) => assert_eq!(error.kind(), ErrorKind::ConnectionReset),
    }
    venue.stop().unwrap();
}

#[test]
fn clients_that_come_at_once_are_all_answered_and_a_session_is_served_meanwhile() {
    const CLIENTS: usize = 50;
    let authority = Authority::new();
    let (venue, log) = venue(&authority);
    let address = venue.addresses()[0];
    let mut client = Client::connect(address, &authority);
    let logon = client.peer.message("A", "98=0|108=30");
    client.send(&logon);
    client.receive("35=A");
    let mut others: Vec<_> = (0..CLIENTS).map(|_| Client::connect(address, &authority)).collect();
    for other in &mut others {
        other.tls.write_tls(&mut other.peer.stream).unwrap();
    }
    let order = client.peer.message("D", "11=meanwhile");
    client.send(&order);
    assert_eq!(log.message(), "meanwhile");
    for other in &mut others {
        other.peer.stream.read_exact(&mut [0]).unwrap();
    }
    drop((client, others));
    venue.stop().unwrap();
}

#[test]
fn a_goodbye_in_place_of_a_hello_ends_the_connection_and_its_place_is_free_at_once() {
    let authority = Authority::new();
    let (app, log) = Recorder::venue();
    let tls = authority.tls_of(&authority.issue("VENUE"));
    let venue = Engine::builder()
        .accept(anywhere(), accepted(tls))
        .pending_time(Duration::from_secs(3600))
        .max_pending_connections(2)
        .start(app)
        .unwrap();
    let address = venue.addresses()[0];
    // The first one to give way if there is no place.
    let silent = TcpStream::connect(address).unwrap();
    let mut leaving = TcpStream::connect(address).unwrap();
    leaving.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    // As clients of TLS 1.2 and 1.3 send it.
    leaving.write_all(&[21, 3, 1, 0, 2, 1, 0]).unwrap();
    assert_eq!(leaving.read(&mut [0]).unwrap(), 0);
    let mut client = Client::connect(address, &authority);
    let logon = client.peer.message("A", "98=0|108=30");
    client.send(&logon);
    log.logged_on();
    silent.set_nonblocking(true).unwrap();
    let read = { &silent }.read(&mut [0]);
    assert!(read.is_err_and(|error| error.kind() == ErrorKind::WouldBlock), "it had to give way");
    drop((silent, client));
    venue.stop().unwrap();
}

#[test]
fn a_hello_of_several_records_and_one_that_comes_with_all_that_follows_are_answered() {
    let authority = Authority::new();
    let (venue, log) = venue(&authority);
    for (seq, size) in [(1, 1), (2, 7), (3, 100_000)] {
        let mut client = Client::connect(venue.addresses()[0], &authority);
        let mut hello = Vec::new();
        client.tls.write_tls(&mut hello).unwrap();
        // A record each for these many bytes.
        for piece in hello[5..].chunks(size) {
            let length = u16::try_from(piece.len()).unwrap().to_be_bytes();
            client.peer.stream.write_all(&[&[22, 3, 1], &length[..], piece].concat()).unwrap();
        }
        client.peer.seq = seq;
        let logon = client.peer.message("A", "98=0|108=30");
        client.send(&logon);
        log.logged_on();
        drop(client);
        log.ended();
    }
    venue.stop().unwrap();
}

#[test]
fn a_session_of_tls_is_never_resumed_and_no_byte_is_sent_before_the_handshake() {
    let authority = Authority::new();
    let config = Client::config(&authority);
    for version in [TlsVersion::Tls12, TlsVersion::Tls13] {
        let mut tls = authority.tls_of(&authority.issue("VENUE"));
        tls.max_version = version;
        let (app, log) = Recorder::venue();
        let venue = Engine::builder().accept(anywhere(), accepted(tls)).start(app).unwrap();
        for seq in 1..=3 {
            let mut client = Client::connect_with(venue.addresses()[0], Arc::clone(&config));
            client.peer.seq = seq;
            assert!(client.tls.early_data().is_none());
            let logon = client.peer.message("A", "98=0|108=30");
            client.send(&logon);
            client.receive("35=A");
            let kind = client.tls.handshake_kind();
            assert!(
                matches!(kind, Some(HandshakeKind::Full | HandshakeKind::FullWithHelloRetryRequest)),
                "{version:?}: {kind:?}"
            );
            assert_eq!(client.tls.tls13_tickets_received(), 0);
            drop(client);
            log.ended();
        }
        venue.stop().unwrap();
    }
}

#[test]
fn certificates_in_a_directory_are_authorities() {
    let authority = Authority::new();
    let scratch = Scratch::new("tls-directory");
    std::fs::write(scratch.0.join("first.pem"), &authority.pem).unwrap();
    std::fs::write(scratch.0.join("again.0"), &authority.pem).unwrap();
    std::fs::write(scratch.0.join("README"), "no certificate").unwrap();
    let mut trader = Tls::new();
    trader.authorities = Authorities::Directory(scratch.0.clone());
    trade(authority.tls_of(&authority.issue("VENUE")), trader, Waiting::Blocking, 1);
}

#[test]
fn certificates_are_loaded_again_for_new_connections_and_those_that_exist_go_on() {
    let scratch = Scratch::new("tls-reload");
    let (first, second) = (Authority::new(), Authority::named("Another authority"));
    let files = [scratch.0.join("own.pem"), scratch.0.join("own.key")];
    let write = |authority: &Authority| {
        let own = authority.issue("VENUE");
        std::fs::write(&files[0], own.pem).unwrap();
        std::fs::write(&files[1], own.key).unwrap();
    };
    write(&first);
    let mut tls = Tls::new();
    tls.certificate = Some(OwnCertificate::new(&files[0], &files[1]));
    let (app, log) = Recorder::venue();
    let venue = Engine::builder().accept(anywhere(), accepted(tls)).start(app).unwrap();
    let mut client = Client::connect(venue.addresses()[0], &first);
    let logon = client.peer.message("A", "98=0|108=30");
    client.send(&logon);
    client.receive("35=A");
    write(&second);
    venue.certificates().reload().unwrap();
    let order = client.peer.message("D", "11=still");
    client.send(&order);
    assert_eq!(log.message(), "still");
    drop(client);
    log.ended();
    let mut client = Client::connect(venue.addresses()[0], &second);
    client.peer.seq = 3;
    let logon = client.peer.message("A", "98=0|108=30");
    client.send(&logon);
    client.receive("35=A");
    // Half of a renewal.
    std::fs::remove_file(&files[1]).unwrap();
    let error = venue.certificates().reload().unwrap_err();
    assert!(format!("{error:#}").contains("own.key: No such file"), "{error:#}");
    drop(client);
    log.ended();
    Client::connect(venue.addresses()[0], &second).send(b"8=FIX");
    venue.stop().unwrap();
}

#[test]
fn sessions_of_an_address_must_agree_and_mistakes_are_named() {
    let authority = Authority::new();
    let issued = authority.issue("VENUE");
    let tls = authority.tls_of(&issued);
    let other = || Acceptance::from(of("FIX.4.4:VENUE->OTHER", fixbolt::session::Role::Acceptor));
    let start = |first: Acceptance, second: Option<Acceptance>| {
        let builder = Engine::builder().accept(anywhere(), first);
        let builder = second.into_iter().fold(builder, |builder, second| builder.accept(anywhere(), second));
        let error = builder.start(Recorder::venue().0).unwrap_err();
        format!("{error:#}")
    };
    let error = start(accepted(tls.clone()), Some(other()));
    assert!(error.contains("it does not use TLS, and another session at its address does"), "{error}");
    let mut strict = other();
    strict.tls = Some(tls.clone());
    strict.tls.as_mut().unwrap().client_certificates = ClientCertificates::Required;
    let error = start(accepted(tls.clone()), Some(strict));
    assert!(
        error.contains("differs from that of another session at its address in whether clients"),
        "{error}"
    );
    let error = start(accepted(authority.tls()), None);
    assert!(error.contains("an acceptor needs a certificate for TLS"), "{error}");
    let mut wrong = tls.clone();
    wrong.certificate.as_mut().unwrap().key =
        authority.tls_of(&authority.issue("X")).certificate.unwrap().key;
    let error = start(accepted(wrong), None);
    assert!(error.contains("is not that of the certificate"), "{error}");
    // Sessions that were meant would be accepted in plain text.
    let elsewhere = "127.0.0.1:9".parse().unwrap();
    let builder = Engine::builder().accept(anywhere(), acceptor()).tls(elsewhere, tls.clone());
    let error = format!("{:#}", builder.start(Recorder::venue().0).unwrap_err());
    assert!(error.contains("127.0.0.1:9: TLS of this address is set, but no session"), "{error}");
    for asked in [ClientCertificates::Requested, ClientCertificates::Required] {
        let mut open = tls.clone();
        (open.client_certificates, open.authorities) = (asked, Authorities::System);
        let error = start(accepted(open), None);
        assert!(error.contains("needs their authorities") && error.contains("set SocketCAFile"), "{error}");
    }
    let mut pinned = tls;
    pinned.peer_pins = vec![issued.pin];
    let error = start(accepted(pinned), None);
    assert!(error.contains("set NeedClientAuth=Y"), "{error}");
    assert!(!format!("{:?}", issued.to_own()).contains("PRIVATE"));
}
