//! Handshakes with counterparties that keep what they need to resume a session, while the clock and
//! the files move.

use core::sync::atomic::{AtomicU64, Ordering};
use core::time::Duration;
use std::collections::VecDeque;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use rcgen::{
    BasicConstraints, CertificateParams, CertificateRevocationListParams, DnType, ExtendedKeyUsagePurpose,
    IsCa, Issuer, KeyIdMethod, KeyPair, KeyUsagePurpose, RevokedCertParams, SerialNumber, date_time_ymd,
};
use rustls::crypto::{ActiveKeyExchange, CryptoProvider, SharedSecret, SupportedKxGroup, ring};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::server::{Accepted, Acceptor, WebPkiClientVerifier};
use rustls::time_provider::TimeProvider;
use rustls::version::{TLS12, TLS13};
use rustls::{
    ClientConfig, ClientConnection, Connection, Error, HandshakeKind, NamedGroup, RootCertStore,
    ServerConfig, ServerConnection, SupportedProtocolVersion,
};

use super::context::{TlsContext, TlsContexts};
use super::settings::{Authorities, ClientCertificates, OwnCertificate, Pem, Tls};
use super::stream::TlsStream;
use super::suite::CipherSuite;

/// When the tests begin: 2026-01-01T00:00:00Z.
pub(super) const BEGIN: u64 = 1_767_225_600;
pub(super) const HOUR: u64 = 3600;
const VERSIONS: [&SupportedProtocolVersion; 2] = [&TLS12, &TLS13];

/// A clock that a test sets.
#[derive(Debug)]
pub(super) struct Clock(AtomicU64);

impl Clock {
    pub(super) fn new() -> Arc<Self> {
        Arc::new(Self(AtomicU64::new(BEGIN)))
    }

    fn go_on(&self, seconds: u64) {
        self.0.fetch_add(seconds, Ordering::Relaxed);
    }
}

impl TimeProvider for Clock {
    fn current_time(&self) -> Option<UnixTime> {
        Some(UnixTime::since_unix_epoch(Duration::from_secs(self.0.load(Ordering::Relaxed))))
    }
}

/// A certificate authority.
pub(super) struct Authority {
    issuer: Issuer<'static, KeyPair>,
    pem: String,
}

/// A certificate with its key.
pub(super) struct Issued {
    pem: String,
    key: String,
}

impl Authority {
    pub(super) fn new() -> Self {
        Self::until(BEGIN + 1000 * HOUR)
    }

    /// Creates one that ends then.
    fn until(end: u64) -> Self {
        let mut parameters = CertificateParams::default();
        parameters.not_after = date_time_ymd(1970, 1, 1) + Duration::from_secs(end);
        parameters.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        parameters.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        parameters.distinguished_name.push(DnType::CommonName, format!("An authority until {end}"));
        let key = KeyPair::generate().unwrap();
        let pem = parameters.self_signed(&key).unwrap().pem();
        Self { issuer: Issuer::new(parameters, key), pem }
    }

    /// Issues a certificate for `localhost` that ends then.
    pub(super) fn issue(&self, name: &str, serial: u64, end: u64) -> Issued {
        self.issue_as(name, serial, end, |_| {})
    }

    fn issue_as(
        &self,
        name: &str,
        serial: u64,
        end: u64,
        change: impl FnOnce(&mut CertificateParams),
    ) -> Issued {
        let mut parameters = CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
        parameters.distinguished_name.push(DnType::CommonName, name);
        parameters.serial_number = Some(SerialNumber::from(serial));
        parameters.not_after = date_time_ymd(1970, 1, 1) + Duration::from_secs(end);
        change(&mut parameters);
        let key = KeyPair::generate().unwrap();
        let pem = parameters.signed_by(&key, &self.issuer).unwrap().pem();
        Issued { pem, key: key.serialize_pem() }
    }
}

impl Authority {
    /// Writes its revocation list, which has this serial number and must be renewed then.
    fn revoke(&self, serial: u64, next_update: u64, file: &Path) {
        let revoked = RevokedCertParams {
            serial_number: SerialNumber::from(serial),
            revocation_time: date_time_ymd(2024, 1, 1),
            reason_code: None,
            invalidity_date: None,
        };
        let list = CertificateRevocationListParams {
            this_update: date_time_ymd(2024, 1, 1),
            next_update: date_time_ymd(1970, 1, 1) + Duration::from_secs(next_update),
            crl_number: SerialNumber::from(1_u64),
            issuing_distribution_point: None,
            revoked_certs: vec![revoked],
            key_identifier_method: KeyIdMethod::Sha256,
        };
        fs::write(file, list.signed_by(&self.issuer).unwrap().pem().unwrap()).unwrap();
    }

    fn roots(&self) -> Arc<RootCertStore> {
        let mut roots = RootCertStore::empty();
        roots.add(CertificateDer::from_pem_slice(self.pem.as_bytes()).unwrap()).unwrap();
        Arc::new(roots)
    }

    /// Returns our TLS, which trusts this authority and requires certificates.
    pub(super) fn tls(&self, own: &Issued) -> Tls {
        let mut tls = Tls::new();
        tls.certificate = Some(OwnCertificate::new(Pem::Text(own.pem.clone()), Pem::Text(own.key.clone())));
        tls.authorities = Authorities::Text(self.pem.clone());
        tls.client_certificates = ClientCertificates::Required;
        tls
    }

    /// Returns a client that resumes sessions whenever the server lets it.
    fn client(
        &self,
        own: &Issued,
        version: &'static SupportedProtocolVersion,
        clock: &Arc<Clock>,
    ) -> Arc<ClientConfig> {
        let (chain, key) = own.read();
        let provider = Arc::new(ring::default_provider());
        let config = ClientConfig::builder_with_details(provider, Arc::<Clock>::clone(clock))
            .with_protocol_versions(&[version])
            .unwrap()
            .with_root_certificates(self.roots())
            .with_client_auth_cert(chain, key)
            .unwrap();
        Arc::new(config)
    }

    /// Returns a server that resumes sessions whenever the client wants it.
    fn server(
        &self,
        own: &Issued,
        version: &'static SupportedProtocolVersion,
        clock: &Arc<Clock>,
    ) -> Arc<ServerConfig> {
        let (chain, key) = own.read();
        let provider = Arc::new(ring::default_provider());
        let verifier =
            WebPkiClientVerifier::builder_with_provider(self.roots(), Arc::clone(&provider)).build().unwrap();
        let config = ServerConfig::builder_with_details(provider, Arc::<Clock>::clone(clock))
            .with_protocol_versions(&[version])
            .unwrap()
            .with_client_cert_verifier(verifier)
            .with_single_cert(chain, key)
            .unwrap();
        Arc::new(config)
    }
}

impl Issued {
    fn read(&self) -> (Vec<CertificateDer<'static>>, PrivateKeyDer<'static>) {
        let chain = CertificateDer::pem_slice_iter(self.pem.as_bytes()).map(Result::unwrap).collect();
        (chain, PrivateKeyDer::from_pem_slice(self.key.as_bytes()).unwrap())
    }
}

/// A group that no server has: a client that begins with it is asked for another hello.
#[derive(Debug)]
struct Unknown;

impl SupportedKxGroup for Unknown {
    fn start(&self) -> Result<Box<dyn ActiveKeyExchange>, Error> {
        Ok(Box::new(Self))
    }

    fn name(&self) -> NamedGroup {
        NamedGroup::Unknown(0xfe00)
    }
}

impl ActiveKeyExchange for Unknown {
    fn complete(self: Box<Self>, _: &[u8]) -> Result<SharedSecret, Error> {
        unreachable!("no server has it")
    }

    fn pub_key(&self) -> &[u8] {
        &[7; 32]
    }

    fn group(&self) -> NamedGroup {
        self.name()
    }
}

/// Lets the two talk until neither has anything to say. Returns how the handshake went, as the
/// counterparty sees it, or why we gave it up.
fn shake(ours: &mut TlsStream, theirs: &mut Connection) -> Result<HandshakeKind, String> {
    let (mut to_us, mut to_them) = (VecDeque::new(), VecDeque::new());
    loop {
        ours.flush(&mut to_them).unwrap();
        while theirs.wants_write() {
            theirs.write_tls(&mut to_us).unwrap();
        }
        if to_us.is_empty() && to_them.is_empty() {
            return theirs.handshake_kind().ok_or_else(|| "the handshake is not done".to_owned());
        }
        while !to_them.is_empty() {
            theirs.read_tls(&mut to_them).unwrap();
            // Only what we say about it matters.
            let _ = theirs.process_new_packets();
        }
        while !to_us.is_empty() {
            ours.receive(&mut to_us, &mut [0; 64], false);
            if let Some(failure) = ours.failure() {
                return Err(failure.to_string());
            }
        }
    }
}

/// Has a client connect to our port. Returns how the handshake went, and how many tickets it got.
fn accept(port: &TlsContext, client: &Arc<ClientConfig>) -> Result<(HandshakeKind, u32), String> {
    let name = ServerName::try_from("localhost").unwrap();
    let mut client = ClientConnection::new(Arc::clone(client), name).unwrap().into();
    let kind = shake(&mut port.accept().unwrap(), &mut client)?;
    let Connection::Client(client) = client else { unreachable!() };
    Ok((kind, client.tls13_tickets_received()))
}

/// Connects to a server. Returns how the handshake went.
fn connect(initiator: &TlsContext, server: &Arc<ServerConfig>) -> Result<HandshakeKind, String> {
    let mut server = ServerConnection::new(Arc::clone(server)).unwrap().into();
    shake(&mut initiator.connect("localhost").unwrap(), &mut server)
}

/// Returns an acceptor's TLS whose handshake is done.
pub(crate) fn shaken() -> TlsStream {
    connected().0
}

/// Returns an acceptor's TLS whose handshake is done, and its client.
pub(super) fn connected() -> (TlsStream, Connection) {
    let (clock, authority) = (Clock::new(), Authority::new());
    let contexts = Arc::new(TlsContexts::by(Arc::<Clock>::clone(&clock)));
    let port = contexts.of_port(&authority.tls(&authority.issue("VENUE", 1, BEGIN + HOUR))).unwrap();
    let config = authority.client(&authority.issue("CLIENT", 2, BEGIN + HOUR), &TLS13, &clock);
    let name = ServerName::try_from("localhost").unwrap();
    let mut ours = port.accept().unwrap();
    let mut theirs = ClientConnection::new(config, name).unwrap().into();
    shake(&mut ours, &mut theirs).unwrap();
    (ours, theirs)
}

fn is_full(kind: HandshakeKind) -> bool {
    matches!(kind, HandshakeKind::Full | HandshakeKind::FullWithHelloRetryRequest)
}

fn scratch(name: &str) -> std::path::PathBuf {
    let folder = std::env::temp_dir().join(format!("fixbolt-{name}-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    folder
}

/// Returns a record that has this piece of a handshake, which is not encrypted.
pub(super) fn record(piece: &[u8]) -> Vec<u8> {
    [&[22, 3, 1], &(piece.len() as u16).to_be_bytes()[..], piece].concat()
}

/// What a client does with its hello, and whether it has to send two of them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Hello {
    Whole,
    InTwoRecords,
    Twice,
}

#[test]
fn a_handshake_goes_on_once_it_has_cost_a_signature_and_has_signed_once() {
    for version in VERSIONS {
        for how in [Hello::Whole, Hello::InTwoRecords, Hello::Twice] {
            if how == Hello::Twice && version == &TLS12 {
                continue;
            }
            let (clock, authority) = (Clock::new(), Authority::new());
            let contexts = Arc::new(TlsContexts::by(Arc::<Clock>::clone(&clock)));
            let port = contexts.of_port(&authority.tls(&authority.issue("VENUE", 1, BEGIN + HOUR))).unwrap();
            let own = authority.issue("CLIENT", 2, BEGIN + HOUR);
            let client = authority.client(&own, version, &clock);
            let mut config = (*client).clone();
            if how == Hello::Twice {
                let provider = CryptoProvider {
                    kx_groups: vec![&Unknown, ring::kx_group::X25519],
                    ..ring::default_provider()
                };
                let (chain, key) = own.read();
                config = ClientConfig::builder_with_details(Arc::new(provider), Arc::<Clock>::clone(&clock))
                    .with_protocol_versions(&[version])
                    .unwrap()
                    .with_root_certificates(authority.roots())
                    .with_client_auth_cert(chain, key)
                    .unwrap();
            }
            let name = ServerName::try_from("localhost").unwrap();
            let mut client = ClientConnection::new(Arc::new(config), name).unwrap();
            let mut ours = port.accept().unwrap();
            let mut steps = Vec::new();
            while ours.is_handshaking() {
                let mut sent = Vec::new();
                client.write_tls(&mut sent).unwrap();
                let records = match how {
                    Hello::InTwoRecords if steps.is_empty() => {
                        vec![record(&sent[5..100]), record(&sent[100..])]
                    }
                    _ => vec![sent],
                };
                for record in records {
                    ours.fill(&mut &record[..], false);
                    assert!(ours.has_step());
                    let has_hello = ours.has_hello();
                    ours.step();
                    assert_eq!(ours.failure(), None);
                    steps.push((has_hello, ours.has_just_signed(), ours.has_signed()));
                }
                let mut answer = VecDeque::new();
                ours.flush(&mut answer).unwrap();
                while !answer.is_empty() {
                    client.read_tls(&mut answer).unwrap();
                    client.process_new_packets().unwrap();
                }
            }
            let (signs, goes_on) = ((false, true, true), (false, false, true));
            let expected = match how {
                Hello::Whole => vec![(true, true, true), goes_on],
                Hello::InTwoRecords => vec![(false, false, false), signs, goes_on],
                Hello::Twice => vec![(true, false, false), signs, goes_on],
            };
            assert_eq!(steps, expected, "{version:?}, {how:?}");
        }
    }
}

#[test]
fn only_a_whole_client_hello_is_one() {
    let authority = Authority::new();
    let contexts = Arc::new(TlsContexts::by(Clock::new()));
    let port = contexts.of_port(&authority.tls(&authority.issue("VENUE", 1, BEGIN + HOUR))).unwrap();
    for (record, is_hello) in [
        (&[22, 3, 1, 0, 1, 1][..], false),
        (&[22, 3, 1, 0, 4, 1, 0, 0, 1], false),
        (&[22, 3, 1, 0, 5, 1, 0, 0, 2, 3], false),
        (&[22, 3, 1, 0, 6, 1, 0, 0, 2, 3, 3], true),
        (&[22, 3, 1, 0, 6, 2, 0, 0, 2, 3, 3], false),
        (&[23, 3, 1, 0, 6, 1, 0, 0, 2, 3, 3], false),
        // It is not there yet.
        (&[22, 3, 1, 0, 7, 1, 0, 0, 2, 3, 3], false),
    ] {
        let mut ours = port.accept().unwrap();
        ours.fill(&mut &record[..], false);
        assert_eq!(ours.has_hello(), is_hello, "{record:?}");
    }
}

/// Returns the hello of an initiator.
fn hello(tls: &Tls) -> Accepted {
    let initiator = Arc::new(TlsContexts::by(Clock::new())).of_initiator(tls, "VENUE").unwrap();
    let (mut acceptor, mut sent) = (Acceptor::default(), VecDeque::new());
    initiator.connect("localhost").unwrap().flush(&mut sent).unwrap();
    acceptor.read_tls(&mut sent).unwrap();
    acceptor.accept().ok().flatten().expect("it is a whole hello")
}

/// Returns IANA's name of a cipher suite.
fn name_of(suite: rustls::CipherSuite) -> String {
    suite.as_str().unwrap().replace("TLS13_", "TLS_")
}

#[test]
fn a_hello_has_the_suites_of_the_settings_in_their_order_and_no_protocol() {
    let authority = Authority::new();
    let mut tls = authority.tls(&authority.issue("CLIENT", 1, BEGIN + HOUR));
    for (settings, expected) in
        [(Vec::new(), &CipherSuite::ALL[..]), (Tls::fixs().cipher_suites, &CipherSuite::FIXS)]
    {
        tls.cipher_suites = settings;
        let accepted = hello(&tls);
        let hello = accepted.client_hello();
        let offered = hello.cipher_suites().iter().map(|suite| name_of(*suite));
        // The last one stands for secure renegotiation.
        let offered: Vec<_> = offered.filter(|name| !name.ends_with("_SCSV")).collect();
        assert_eq!(offered, expected.iter().map(|suite| suite.name()).collect::<Vec<_>>());
        assert!(hello.alpn().is_none());
    }
}

#[test]
fn a_hello_says_the_name_of_the_host_only_if_it_is_to() {
    let authority = Authority::new();
    let mut tls = authority.tls(&authority.issue("CLIENT", 1, BEGIN + HOUR));
    assert_eq!(hello(&tls).client_hello().server_name(), Some("localhost"));
    tls.send_server_name = false;
    assert_eq!(hello(&tls).client_hello().server_name(), None);
}

#[test]
fn an_acceptor_prefers_tls_13_and_the_suites_of_the_settings_in_their_order() {
    let (clock, authority) = (Clock::new(), Authority::new());
    let contexts = Arc::new(TlsContexts::by(Arc::<Clock>::clone(&clock)));
    let own = authority.issue("VENUE", 1, BEGIN + HOUR);
    let port = contexts.of_port(&Tls { cipher_suites: Tls::fixs().cipher_suites, ..authority.tls(&own) });
    let (port, client) = (port.unwrap(), authority.issue("CLIENT", 2, BEGIN + HOUR));
    // What is agreed on with a client that prefers AES-256, and has every suite except those that
    // were agreed on before.
    let agreed = |versions: &[&'static SupportedProtocolVersion]| {
        let mut provider = ring::default_provider();
        let mut agreed = Vec::new();
        loop {
            let (chain, key) = client.read();
            let time = Arc::<Clock>::clone(&clock);
            let config = ClientConfig::builder_with_details(Arc::new(provider.clone()), time)
                .with_protocol_versions(versions)
                .unwrap()
                .with_root_certificates(authority.roots())
                .with_client_auth_cert(chain, key)
                .unwrap();
            let name = ServerName::try_from("localhost").unwrap();
            let mut theirs = ClientConnection::new(Arc::new(config), name).unwrap().into();
            if shake(&mut port.accept().unwrap(), &mut theirs).is_err() {
                return agreed;
            }
            let suite = theirs.negotiated_cipher_suite().unwrap().suite();
            provider.cipher_suites.retain(|one| one.suite() != suite);
            agreed.push(name_of(suite));
        }
    };
    // Our key is one of ECDSA.
    let of_tls13 = ["TLS_AES_128_GCM_SHA256", "TLS_AES_256_GCM_SHA384"];
    assert_eq!(agreed(&[&TLS12, &TLS13]), of_tls13);
    assert_eq!(agreed(&[&TLS13]), of_tls13);
    let of_tls12 = ["TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256", "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384"];
    assert_eq!(agreed(&[&TLS12]), of_tls12);
}

#[test]
fn an_acceptor_agrees_on_no_protocol() {
    for version in VERSIONS {
        let (clock, authority) = (Clock::new(), Authority::new());
        let contexts = Arc::new(TlsContexts::by(Arc::<Clock>::clone(&clock)));
        let port = contexts.of_port(&authority.tls(&authority.issue("VENUE", 1, BEGIN + HOUR))).unwrap();
        let client = authority.client(&authority.issue("CLIENT", 2, BEGIN + HOUR), version, &clock);
        let mut config = (*client).clone();
        config.alpn_protocols = vec![b"fix".to_vec()];
        let name = ServerName::try_from("localhost").unwrap();
        let mut theirs = ClientConnection::new(Arc::new(config), name).unwrap().into();
        shake(&mut port.accept().unwrap(), &mut theirs).unwrap();
        assert_eq!(theirs.alpn_protocol(), None, "{version:?}");
    }
}

#[test]
fn an_acceptor_checks_the_dates_of_a_client_certificate_at_each_handshake() {
    for version in VERSIONS {
        let (clock, authority) = (Clock::new(), Authority::new());
        let contexts = Arc::new(TlsContexts::by(Arc::<Clock>::clone(&clock)));
        let own = authority.issue("VENUE", 1, BEGIN + 1000 * HOUR);
        let port = contexts.of_port(&authority.tls(&own)).unwrap();
        let client = authority.client(&authority.issue("CLIENT", 2, BEGIN + HOUR), version, &clock);
        for _ in 0..2 {
            let (kind, tickets) = accept(&port, &client).unwrap();
            assert!(is_full(kind) && tickets == 0, "{version:?}: {kind:?}, {tickets} tickets");
        }
        clock.go_on(2 * HOUR);
        let error = accept(&port, &client).unwrap_err();
        assert!(error.contains("has expired"), "{version:?}: {error}");
    }
}

#[test]
fn an_acceptor_checks_the_revocation_of_a_client_certificate_at_each_handshake() {
    let folder = scratch("revoked-clients");
    for version in VERSIONS {
        let (clock, authority) = (Clock::new(), Authority::new());
        let contexts = Arc::new(TlsContexts::by(Arc::<Clock>::clone(&clock)));
        let mut tls = authority.tls(&authority.issue("VENUE", 1, BEGIN + 1000 * HOUR));
        let file = folder.join("list.pem");
        authority.revoke(7, BEGIN + HOUR, &file);
        tls.revocation_lists = Some(file.clone());
        let port = contexts.of_port(&tls).unwrap();
        let client = authority.client(&authority.issue("CLIENT", 2, BEGIN + 1000 * HOUR), version, &clock);
        accept(&port, &client).unwrap();
        // The list is too old to say anything about it.
        clock.go_on(2 * HOUR);
        let error = accept(&port, &client).unwrap_err();
        assert!(error.contains("has no current list"), "{version:?}: {error}");
        authority.revoke(7, BEGIN + 100 * HOUR, &file);
        contexts.reload().unwrap();
        accept(&port, &client).unwrap();
        authority.revoke(2, BEGIN + 100 * HOUR, &file);
        contexts.reload().unwrap();
        let error = accept(&port, &client).unwrap_err();
        assert!(error.contains("was revoked"), "{version:?}: {error}");
    }
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn an_initiator_checks_an_acceptors_certificate_at_each_handshake() {
    let folder = scratch("revoked-servers");
    for version in VERSIONS {
        let (clock, authority) = (Clock::new(), Authority::new());
        let contexts = Arc::new(TlsContexts::by(Arc::<Clock>::clone(&clock)));
        let mut tls = authority.tls(&authority.issue("CLIENT", 1, BEGIN + 1000 * HOUR));
        let plain = contexts.of_initiator(&tls, "VENUE").unwrap();
        let file = folder.join("list.pem");
        authority.revoke(7, BEGIN + HOUR, &file);
        tls.revocation_lists = Some(file);
        tls.peer_is_comp_id = true;
        let careful = contexts.of_initiator(&tls, "VENUE").unwrap();
        let short = authority.server(&authority.issue("VENUE", 2, BEGIN + HOUR), version, &clock);
        let long = authority.server(&authority.issue("VENUE", 3, BEGIN + 1000 * HOUR), version, &clock);
        for (initiator, server) in [(&plain, &short), (&careful, &long)] {
            for _ in 0..2 {
                let kind = connect(initiator, server).unwrap();
                assert!(is_full(kind), "{version:?}: {kind:?}");
            }
        }
        clock.go_on(2 * HOUR);
        let error = connect(&plain, &short).unwrap_err();
        assert!(error.contains("has expired"), "{version:?}: {error}");
        let error = connect(&careful, &long).unwrap_err();
        assert!(error.contains("has no current list"), "{version:?}: {error}");
    }
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn an_authority_that_has_ended_is_none_in_either_role() {
    for version in VERSIONS {
        let clock = Clock::new();
        let (short, long) = (Authority::until(BEGIN + HOUR), Authority::new());
        let contexts = Arc::new(TlsContexts::by(Arc::<Clock>::clone(&clock)));
        let both = |own: &Issued| {
            let mut tls = long.tls(own);
            tls.authorities = Authorities::Text(short.pem.clone() + &long.pem);
            tls
        };
        let port = contexts.of_port(&both(&long.issue("VENUE", 1, BEGIN + 1000 * HOUR))).unwrap();
        let initiator =
            contexts.of_initiator(&both(&long.issue("CLIENT", 2, BEGIN + 1000 * HOUR)), "VENUE").unwrap();
        let alone = contexts.of_initiator(&short.tls(&long.issue("X", 3, BEGIN + HOUR)), "VENUE").unwrap();
        let server = |authority: &Authority| {
            let (chain, key) = authority.issue("VENUE", 4, BEGIN + 1000 * HOUR).read();
            let provider = Arc::new(ring::default_provider());
            let config = ServerConfig::builder_with_details(provider, Arc::<Clock>::clone(&clock))
                .with_protocol_versions(&[version])
                .unwrap()
                .with_no_client_auth()
                .with_single_cert(chain, key)
                .unwrap();
            Arc::new(config)
        };
        let (of_short, of_long) = (server(&short), server(&long));
        let client = |authority: &Authority| {
            let own = authority.issue("CLIENT", 5, BEGIN + 1000 * HOUR);
            let (chain, key) = own.read();
            let provider = Arc::new(ring::default_provider());
            let config = ClientConfig::builder_with_details(provider, Arc::<Clock>::clone(&clock))
                .with_protocol_versions(&[version])
                .unwrap()
                .with_root_certificates(long.roots())
                .with_client_auth_cert(chain, key)
                .unwrap();
            Arc::new(config)
        };
        let (client_of_short, client_of_long) = (client(&short), client(&long));
        accept(&port, &client_of_short).unwrap();
        connect(&initiator, &of_short).unwrap();
        clock.go_on(2 * HOUR);
        for _ in 0..2 {
            let error = accept(&port, &client_of_short).unwrap_err();
            assert!(error.contains("one of its authorities, has expired"), "{version:?}: {error}");
            for initiator in [&initiator, &alone] {
                let error = connect(initiator, &of_short).unwrap_err();
                assert!(error.contains("one of its authorities, has expired"), "{version:?}: {error}");
            }
            accept(&port, &client_of_long).unwrap();
            connect(&initiator, &of_long).unwrap();
        }
    }
}

/// Has a name in a certificate that is not that of the host.
fn elsewhere(parameters: &mut CertificateParams) {
    parameters.subject_alt_names = vec![rcgen::SanType::DnsName("elsewhere.example".try_into().unwrap())];
}

#[test]
fn without_the_check_of_the_name_everything_else_about_a_certificate_is_checked() {
    let folder = scratch("no-name");
    for version in VERSIONS {
        let (clock, authority, other) =
            (Clock::new(), Authority::new(), Authority::until(BEGIN + 999 * HOUR));
        let contexts = Arc::new(TlsContexts::by(Arc::<Clock>::clone(&clock)));
        let mut tls = authority.tls(&authority.issue("CLIENT", 1, BEGIN + 1000 * HOUR));
        let strict = contexts.of_initiator(&tls, "VENUE").unwrap();
        tls.check_server_name = false;
        let file = folder.join("list.pem");
        authority.revoke(7, BEGIN + 1000 * HOUR, &file);
        tls.revocation_lists = Some(file);
        let lenient = contexts.of_initiator(&tls, "VENUE").unwrap();
        let server = |authority: &Authority, serial: u64, end: u64| {
            authority.server(&authority.issue_as("VENUE", serial, end, elsewhere), version, &clock)
        };
        let error = connect(&strict, &server(&authority, 2, BEGIN + 2 * HOUR)).unwrap_err();
        assert!(error.contains("is for elsewhere.example, and not for localhost"), "{version:?}: {error}");
        connect(&lenient, &server(&authority, 2, BEGIN + 2 * HOUR)).unwrap();
        for (wrong, seen) in [
            (server(&authority, 3, BEGIN - HOUR), "has expired"),
            (server(&authority, 7, BEGIN + 2 * HOUR), "was revoked"),
        ] {
            let error = connect(&lenient, &wrong).unwrap_err();
            assert!(error.contains(seen), "{version:?}: {error}");
        }
        let (chain, key) = other.issue_as("VENUE", 2, BEGIN + 2 * HOUR, elsewhere).read();
        let builder = ServerConfig::builder_with_details(
            Arc::new(ring::default_provider()),
            Arc::<Clock>::clone(&clock),
        );
        let builder = builder.with_protocol_versions(&[version]).unwrap().with_no_client_auth();
        let error = connect(&lenient, &Arc::new(builder.with_single_cert(chain, key).unwrap())).unwrap_err();
        assert!(error.contains("is unknown"), "{version:?}: {error}");
        let mut bound = tls.clone();
        bound.peer_names = vec!["venue.example".to_owned()];
        let bound = contexts.of_initiator(&bound, "VENUE").unwrap();
        let error = connect(&bound, &server(&authority, 2, BEGIN + 2 * HOUR)).unwrap_err();
        assert!(error.contains("none of the names of TLSPeerNames"), "{version:?}: {error}");
    }
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn a_certificate_is_only_for_what_its_purposes_say() {
    for version in VERSIONS {
        let (clock, authority) = (Clock::new(), Authority::new());
        let contexts = Arc::new(TlsContexts::by(Arc::<Clock>::clone(&clock)));
        let end = BEGIN + HOUR;
        let own = authority.tls(&authority.issue("OURS", 1, end));
        let (port, initiator) = (contexts.of_port(&own).unwrap(), contexts.of_initiator(&own, "X").unwrap());
        let of = |purpose: ExtendedKeyUsagePurpose| {
            authority.issue_as("THEIRS", 2, end, |c| c.extended_key_usages = vec![purpose])
        };
        let (for_servers, for_clients) =
            (of(ExtendedKeyUsagePurpose::ServerAuth), of(ExtendedKeyUsagePurpose::ClientAuth));
        accept(&port, &authority.client(&for_clients, version, &clock)).unwrap();
        connect(&initiator, &authority.server(&for_servers, version, &clock)).unwrap();
        let client = accept(&port, &authority.client(&for_servers, version, &clock)).unwrap_err();
        let server = connect(&initiator, &authority.server(&for_clients, version, &clock)).unwrap_err();
        for error in [client, server] {
            assert!(error.contains("is for another purpose"), "{version:?}: {error}");
        }
    }
}

#[test]
fn the_counterpartys_own_certificate_can_be_its_authority() {
    for version in VERSIONS {
        let (clock, authority) = (Clock::new(), Authority::new());
        let contexts = Arc::new(TlsContexts::by(Arc::<Clock>::clone(&clock)));
        let alone = |name: &str| {
            let mut parameters = CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
            parameters.distinguished_name.push(DnType::CommonName, name);
            let key = KeyPair::generate().unwrap();
            let pem = parameters.self_signed(&key).unwrap().pem();
            Issued { pem, key: key.serialize_pem() }
        };
        let (theirs, another) = (alone("VENUE"), alone("VENUE"));
        let mut tls = authority.tls(&authority.issue("CLIENT", 1, BEGIN + HOUR));
        tls.authorities = Authorities::Text(theirs.pem.clone());
        let initiator = contexts.of_initiator(&tls, "VENUE").unwrap();
        connect(&initiator, &authority.server(&theirs, version, &clock)).unwrap();
        let error = connect(&initiator, &authority.server(&another, version, &clock)).unwrap_err();
        assert!(error.contains("has its name, but another key"), "{version:?}: {error}");
    }
}
