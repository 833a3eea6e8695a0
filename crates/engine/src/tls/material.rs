//! The library's configuration from ours: certificates, authorities, versions, cipher suites.

use std::sync::Arc;

use fixbolt_session::Utc;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{Resumption, WebPkiServerVerifier};
use rustls::crypto::{CryptoProvider, ring};
use rustls::pki_types::{CertificateDer, CertificateRevocationListDer, PrivateKeyDer, ServerName, UnixTime};
use rustls::server::{NoServerSessionStorage, WebPkiClientVerifier};
use rustls::time_provider::TimeProvider;
use rustls::version::{TLS12, TLS13};
use rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, Error, OtherError, RootCertStore, ServerConfig,
    SignatureScheme, SupportedProtocolVersion,
};

use super::authorities::{ByTime, InitiatorVerifier};
use super::certificate::{name_and_end, of_peer};
use super::faults::{TlsFault, TlsFaults};
use super::files::Files;
use super::peer::PeerRules;
use super::settings::{Authorities, ClientCertificates, Pem, Tls, TlsVersion};

/// What an acceptor lacks that has no certificate.
const NO_CERTIFICATE: &str =
    "an acceptor needs a certificate for TLS; set SocketCertificateFile and SocketPrivateKeyFile";
/// What an acceptor lacks that asks for certificates of its clients.
const NO_AUTHORITY: &str = "an acceptor that asks for certificates of its clients needs their authorities, since those that the system trusts sign for anyone; set SocketCAFile (Tls::authorities), or NeedClientAuth=N";

/// What the library needs for connections of one kind.
#[derive(Clone, Debug)]
pub(super) enum Config {
    Server(Arc<ServerConfig>),
    Client(Arc<ClientConfig>),
}

/// A configuration, with the certificates in it and the files that it comes from.
#[derive(Debug)]
pub(super) struct Material {
    pub(super) config: Config,
    pub(super) files: Files,
    pub(super) certificates: Vec<Known>,
}

/// Whose a certificate is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Whose {
    Ours,
    Authority,
}

impl Whose {
    pub(super) const fn what(self) -> &'static str {
        match self {
            Self::Ours => "our certificate",
            Self::Authority => "a certificate authority",
        }
    }

    /// Returns what follows once the certificate is not valid.
    pub(super) const fn then(self) -> &'static str {
        match self {
            Self::Ours => "counterparties refuse it",
            Self::Authority => "no certificate that it has signed is accepted",
        }
    }
}

/// A certificate whose end is watched.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Known {
    pub(super) whose: Whose,
    /// Its common name.
    pub(super) name: String,
    pub(super) not_after: Utc,
}

/// What the settings name.
struct Loaded {
    /// Our certificate and its key, if there is one.
    own: Option<(Vec<CertificateDer<'static>>, PrivateKeyDer<'static>)>,
    /// The authorities, and those of a file as certificates; none if no certificate is verified.
    authorities: Option<(RootCertStore, Vec<CertificateDer<'static>>)>,
    lists: Vec<CertificateRevocationListDer<'static>>,
    provider: Arc<CryptoProvider>,
    versions: Vec<&'static SupportedProtocolVersion>,
}

impl Loaded {
    /// Loads everything, so that everything that is wrong is told at once.
    fn new(tls: &Tls, is_acceptor: bool, files: &mut Files) -> Result<Self, TlsFaults> {
        let mut faults = TlsFaults::default();
        let own = match &tls.certificate {
            Some(own) => {
                let chain = faults.keep(Some("SocketCertificateFile"), files.chain(&own.chain));
                // What is wrong with a file for both is told once.
                let is_told = chain.is_none() && own.key == own.chain;
                let load_key = || faults.keep(Some("SocketPrivateKeyFile"), files.key(&own.key));
                let key = (!is_told).then(load_key).flatten();
                chain.zip(key)
            }
            None if is_acceptor => faults.keep(None, Err(NO_CERTIFICATE.to_owned())),
            None => None,
        };
        let verifies = !is_acceptor || tls.client_certificates != ClientCertificates::Off;
        let authorities = match &tls.authorities {
            _ if !verifies => None,
            Authorities::System if is_acceptor => faults.keep(None, Err(NO_AUTHORITY.to_owned())),
            authorities => {
                let key = (*authorities != Authorities::System).then_some("SocketCAFile");
                faults.keep(key, files.authorities(authorities))
            }
        };
        let lists = tls.revocation_lists.as_deref().filter(|_| verifies);
        let lists = faults.keep(Some("CertificateRevocationListFile"), files.revocation_lists(lists));
        let (provider, versions) = (faults.keep(None, provider(tls)), faults.keep(None, versions(tls)));
        match (lists, provider, versions) {
            (Some(lists), Some(provider), Some(versions)) if faults.0.is_empty() => {
                Ok(Self { own, authorities, lists, provider, versions })
            }
            _ => Err(faults),
        }
    }
}

impl Material {
    /// Loads what an acceptor needs.
    pub(super) fn of_acceptor(tls: &Tls, clock: &Arc<dyn TimeProvider>) -> Result<Self, TlsFaults> {
        let (mut files, mut certificates) = (Files::default(), Vec::new());
        let Loaded { own, authorities, lists, provider, versions } = Loaded::new(tls, true, &mut files)?;
        let (chain, key) = own.ok_or_else(|| NO_CERTIFICATE.to_owned())?;
        know(&mut certificates, Whose::Ours, &chain);
        let builder = ServerConfig::builder_with_details(Arc::clone(&provider), Arc::clone(clock))
            .with_protocol_versions(&versions)
            .map_err(|error| no_suite(&error))?;
        let builder = match authorities {
            None => builder.with_no_client_auth(),
            Some((roots, known)) => {
                know(&mut certificates, Whose::Authority, &known);
                let is_optional = tls.client_certificates == ClientCertificates::Requested;
                let verifier = ByTime::new(roots, &known, move |roots| {
                    let provider = Arc::clone(&provider);
                    let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider)
                        .with_crls(lists.clone())
                        .enforce_revocation_expiration();
                    let verifier = if is_optional { verifier.allow_unauthenticated() } else { verifier };
                    verifier.build().map_err(|error| error.to_string())
                })?;
                builder.with_client_cert_verifier(Arc::new(InitiatorVerifier(verifier)))
            }
        };
        let mut config = builder.with_single_cert(chain, key).map_err(|error| wrong_key(tls, &error))?;
        config.ignore_client_order = !tls.cipher_suites.is_empty();
        // A resumed session would pass by the verifier: no session IDs (TLS 1.2), no tickets.
        config.session_storage = Arc::new(NoServerSessionStorage {});
        config.send_tls13_tickets = 0;
        Ok(Self { config: Config::Server(Arc::new(config)), files, certificates })
    }

    /// Loads what an initiator needs whose counterparty has this CompID.
    pub(super) fn of_initiator(
        tls: &Tls,
        comp_id: &str,
        clock: &Arc<dyn TimeProvider>,
    ) -> Result<Self, TlsFaults> {
        let (mut files, mut certificates) = (Files::default(), Vec::new());
        let Loaded { own, authorities, lists, provider, versions } = Loaded::new(tls, false, &mut files)?;
        let (roots, known) = authorities.unwrap_or_else(|| (RootCertStore::empty(), Vec::new()));
        know(&mut certificates, Whose::Authority, &known);
        let of_chain = Arc::clone(&provider);
        let chain = ByTime::new(roots, &known, move |roots| {
            WebPkiServerVerifier::builder_with_provider(Arc::new(roots), Arc::clone(&of_chain))
                .with_crls(lists.clone())
                .enforce_revocation_expiration()
                .build()
                .map_err(|error| error.to_string())
        })?;
        let rules = PeerRules::new(tls, comp_id);
        let verifier = AcceptorVerifier { chain, check_name: tls.check_server_name, rules };
        let builder = ClientConfig::builder_with_details(provider, Arc::clone(clock))
            .with_protocol_versions(&versions)
            .map_err(|error| no_suite(&error))?
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(verifier));
        let mut config = match own {
            None => builder.with_no_client_auth(),
            Some((chain, key)) => {
                know(&mut certificates, Whose::Ours, &chain);
                builder.with_client_auth_cert(chain, key).map_err(|error| wrong_key(tls, &error))?
            }
        };
        config.enable_sni = tls.send_server_name;
        // As in an acceptor.
        config.resumption = Resumption::disabled();
        Ok(Self { config: Config::Client(Arc::new(config)), files, certificates })
    }
}

fn know(certificates: &mut Vec<Known>, whose: Whose, chain: &[CertificateDer<'_>]) {
    let known = chain.iter().filter_map(|der| name_and_end(der));
    certificates.extend(known.map(|(name, not_after)| Known { whose, name, not_after }));
}

fn no_suite(error: &Error) -> String {
    format!("CipherSuites has none for each version of EnabledProtocols: {error}")
}

fn wrong_key(tls: &Tls, error: &Error) -> TlsFaults {
    let files = tls.certificate.as_ref().map(|own| (&own.key, &own.chain));
    match (error, files) {
        (Error::InconsistentKeys(_), Some((Pem::File(key), Pem::File(chain)))) => {
            let (key, chain) = (key.display(), chain.display());
            let reason = format!("{key}: this private key is not that of the certificate in {chain}");
            TlsFaults(vec![TlsFault { key: Some("SocketPrivateKeyFile"), reason }])
        }
        (Error::InconsistentKeys(_), _) => {
            "the private key (SocketPrivateKeyFile) is not that of the certificate (SocketCertificateFile)"
                .to_owned()
                .into()
        }
        (other, _) => format!("the certificate, or its private key: {other}").into(),
    }
}

/// Returns the cryptography, with the cipher suites of the settings.
fn provider(tls: &Tls) -> Result<Arc<CryptoProvider>, String> {
    let mut provider = ring::default_provider();
    if !tls.cipher_suites.is_empty() {
        let known = provider.cipher_suites;
        provider.cipher_suites = Vec::with_capacity(tls.cipher_suites.len());
        for suite in &tls.cipher_suites {
            // The library names those of TLS 1.3 `TLS13_...`.
            let name = suite.name();
            let own = if suite.is_tls13() { name.replacen("TLS_", "TLS13_", 1) } else { name.to_owned() };
            let found = known.iter().find(|one| one.suite().as_str() == Some(own.as_str()));
            provider.cipher_suites.push(*found.ok_or_else(|| format!("there is no cipher suite {name}"))?);
        }
    }
    Ok(Arc::new(provider))
}

fn versions(tls: &Tls) -> Result<Vec<&'static SupportedProtocolVersion>, String> {
    let suites = |tls13| {
        tls.cipher_suites.is_empty() || tls.cipher_suites.iter().any(|suite| suite.is_tls13() == tls13)
    };
    let range = tls.min_version..=tls.max_version;
    let all = [(TlsVersion::Tls13, &TLS13), (TlsVersion::Tls12, &TLS12)];
    let enabled = all
        .into_iter()
        .filter(|(version, _)| range.contains(version) && suites(*version == TlsVersion::Tls13));
    let versions: Vec<_> = enabled.map(|(_, version)| version).collect();
    if versions.is_empty() {
        return Err("CipherSuites has none for a version of EnabledProtocols".to_owned());
    }
    Ok(versions)
}

/// Verifies the certificate of an acceptor.
#[derive(Debug)]
struct AcceptorVerifier {
    chain: ByTime<WebPkiServerVerifier>,
    check_name: bool,
    rules: PeerRules,
}

impl ServerCertVerifier for AcceptorVerifier {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        use CertificateError::{NotValidForName, NotValidForNameContext};
        self.chain.verify(now, |chain| {
            // The name is the last thing that is checked.
            match chain.verify_server_cert(certificate, intermediates, name, ocsp, now) {
                Err(Error::InvalidCertificate(NotValidForName | NotValidForNameContext { .. }))
                    if !self.check_name =>
                {
                    Ok(())
                }
                other => other.map(drop),
            }
        })?;
        let checked = self.rules.check(of_peer(certificate).as_ref());
        checked.map_err(|mismatch| {
            Error::InvalidCertificate(CertificateError::Other(OtherError(Arc::new(mismatch))))
        })?;
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.chain.all().verify_tls12_signature(message, certificate, signed)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.chain.all().verify_tls13_signature(message, certificate, signed)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.chain.all().supported_verify_schemes()
    }
}
