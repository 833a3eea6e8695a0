//! TLS as its keys have set it so far.

use std::path::{Path, PathBuf};

use fixbolt_session::Role;

use super::paths::path_of;
use super::refusal::Refusal;
use crate::tls::{Authorities, CipherSuite, ClientCertificates, KeyPin, OwnCertificate, Tls, TlsVersion};

/// What the keys say about TLS.
#[derive(Default)]
pub(super) struct TlsDraft {
    /// SocketUseSSL, if it is there.
    pub(super) on: Option<bool>,
    chain: Option<PathBuf>,
    key: Option<PathBuf>,
    /// Whether the certificate is named as quickfixgo does.
    as_in_go: bool,
    /// Whether TLS is turned on, or the certificate named, as QuickFIX/N does.
    pub(super) as_in_net: bool,
    authorities: Option<Authorities>,
    client_certificates: Option<ClientCertificates>,
    /// SSLCheckCertificateRevocation, if it is there.
    pub(super) check_revocation: Option<bool>,
    /// Suites of TLS 1.3 only; those of TLS 1.2 are left alone.
    tls13_suites: Vec<CipherSuite>,
    /// Whether SSLProtocol names no version that is supported.
    is_of_old_versions: bool,
    /// What is wrong if the session has TLS.
    mistakes: Vec<Mistake>,
    /// Everything else.
    pub(super) tls: Tls,
}

/// What is wrong with the keys together.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Mistake {
    /// This key is missing.
    Missing(&'static str),
    /// This key asks for something that cannot be done, and what to do instead.
    Unavailable(&'static str, String),
    /// This key contradicts others.
    Contradicts(&'static str, &'static str),
    /// There is no TLS in this build.
    NotBuilt,
}

/// The form of a key that names a file.
pub(super) const PEM: &str = "a file (PEM)";

/// Sets a file for which there are several keys.
fn once(file: &mut Option<PathBuf>, value: &str, keys: &str) -> Result<(), Refusal> {
    let named = path_of(value);
    match file.replace(named.clone()) {
        Some(before) if before != named => {
            Err(Refusal::Unavailable(format!("another key names another file: {keys} name the same")))
        }
        _ => Ok(()),
    }
}

const CERTIFICATE_KEYS: &str =
    "SocketCertificateFile, SocketKeyStore, SSLCertificate, ServerCertificateFile and ClientCertificateFile";

/// What to do about versions before TLS 1.2.
const OLD_VERSIONS: &str = "versions before TLS 1.2 are not secure and not supported; enable";

/// Returns why the value of a key of QuickFIX/N cannot be the name of a file in PEM: it is a file
/// in another form, or the subject of a certificate in the system's store.
fn not_pem(value: &str, options: &str) -> Option<String> {
    let end = value.rsplit_once('.').map_or("", |(_, end)| end);
    if ["pfx", "p12"].iter().any(|other| end.eq_ignore_ascii_case(other)) {
        return Some(format!(
            "PKCS#12 is not read; convert it to PEM: `openssl pkcs12 -in {value} {options} -out NEW.pem` (with -legacy if OpenSSL says unsupported), and let nobody else read that file"
        ));
    }
    let names_a_file = !value.contains('=') && value.contains(['/', '\\', '.']);
    (!names_a_file && !Path::new(value).exists()).then(|| {
        format!(
            "there is no such file, and the system's store of certificates is not read; export the certificate to a file (.pfx), and convert it to PEM: `openssl pkcs12 -in FILE.pfx {options} -out NEW.pem`"
        )
    })
}

impl TlsDraft {
    /// Sets our certificate.
    pub(super) fn certificate(&mut self, value: &str) -> Result<(), Refusal> {
        once(&mut self.chain, value, CERTIFICATE_KEYS)
    }

    /// Sets our certificate as quickfixgo does.
    pub(super) fn certificate_as_in_go(&mut self, value: &str) -> Result<(), Refusal> {
        self.as_in_go = true;
        self.certificate(value)
    }

    /// Sets our private key.
    pub(super) fn key(&mut self, value: &str) -> Result<(), Refusal> {
        let keys = "SocketPrivateKeyFile, SocketKeyStore, SSLCertificate, ServerCertificateKeyFile and ClientCertificateKeyFile";
        once(&mut self.key, value, keys)
    }

    /// Sets the file that has both our certificate and our private key.
    pub(super) fn key_store(&mut self, value: &str) -> Result<(), Refusal> {
        self.certificate(value)?;
        self.key(value)
    }

    /// Sets the file that has both our certificate and our private key, as QuickFIX/N does.
    pub(super) fn certificate_as_in_net(&mut self, value: &str) -> Result<(), Refusal> {
        self.as_in_net = true;
        let other = not_pem(value, "-nodes");
        self.mistakes.extend(other.map(|instead| Mistake::Unavailable("SSLCertificate", instead)));
        self.key_store(value)
    }

    /// Sets the authorities as QuickFIX/N does.
    pub(super) fn authorities_as_in_net(&mut self, value: &str) -> Result<(), Refusal> {
        let other = not_pem(value, "-nokeys");
        self.mistakes.extend(other.map(|instead| Mistake::Unavailable("SSLCACertificate", instead)));
        self.authorities(authorities_in(value))
    }

    pub(super) fn authorities(&mut self, authorities: Authorities) -> Result<(), Refusal> {
        match self.authorities.replace(authorities) {
            Some(before) if Some(&before) != self.authorities.as_ref() => Err(Refusal::Unavailable(
                "another key names others: SocketCAFile, SocketTrustStore, SSLCACertificate, CertificationAuthoritiesFile and CertificationAuthoritiesDirectory name the same".to_owned(),
            )),
            _ => Ok(()),
        }
    }

    /// Sets whether clients need a certificate, as `key` says, which is one of several.
    pub(super) fn client_certificates(&mut self, key: &'static str, how: ClientCertificates) {
        if self.client_certificates.replace(how).is_some_and(|before| before != how) {
            let why = "NeedClientAuth, SSLRequireClientCertificate and CertificateVerifyLevel (1 is Y, 2 is requested) say the same, but their values differ";
            self.mistakes.push(Mistake::Contradicts(key, why));
        }
    }

    /// Sets CertificateVerifyLevel of QuickFIX, which is about the other side in both roles.
    pub(super) fn verify_level(&mut self, role: Option<Role>, level: usize) {
        let key = "CertificateVerifyLevel";
        let how =
            [ClientCertificates::Off, ClientCertificates::Required, ClientCertificates::Requested][level];
        match (role, how) {
            (Some(Role::Initiator), ClientCertificates::Off) => {
                self.mistakes.push(Mistake::Unavailable(key, UNVERIFIED.to_owned()));
            }
            (Some(Role::Initiator), _) => {}
            _ => self.client_certificates(key, how),
        }
    }

    /// Sets EnabledProtocols: a list of versions.
    pub(super) fn protocols(&mut self, value: &str) -> Result<(), Refusal> {
        let version = |name: &str| match name.trim() {
            "TLSv1.2" => Some(TlsVersion::Tls12),
            "TLSv1.3" => Some(TlsVersion::Tls13),
            _ => None,
        };
        let versions: Option<Vec<_>> = value.split(',').map(version).collect();
        self.versions(&versions.ok_or(Refusal::Form)?).ok_or(Refusal::Form)
    }

    /// Sets SSLProtocol of QuickFIX: names with `+` and `-`, in turn, as Apache has them.
    pub(super) fn ssl_protocol(&mut self, value: &str) -> Result<(), Refusal> {
        const NAMES: [&str; 6] = ["SSLv2", "SSLv3", "TLSv1", "TLSv1_1", "TLSv1_2", "TLSv1_3"];
        let mut enabled = [false; NAMES.len()];
        for word in value.split([' ', ',']).filter(|word| !word.is_empty()) {
            let (on, name) = match word.strip_prefix('-') {
                Some(name) => (false, name),
                None => (true, word.strip_prefix('+').unwrap_or(word)),
            };
            if name.eq_ignore_ascii_case("all") {
                enabled = [on; NAMES.len()];
            } else {
                let n =
                    NAMES.iter().position(|known| known.eq_ignore_ascii_case(name)).ok_or(Refusal::Form)?;
                enabled[n] = on;
            }
        }
        let versions = [(enabled[4], TlsVersion::Tls12), (enabled[5], TlsVersion::Tls13)];
        let versions: Vec<_> =
            versions.into_iter().filter(|(on, _)| *on).map(|(_, version)| version).collect();
        if self.versions(&versions).is_none() {
            self.is_of_old_versions = true;
            let instead = format!("{OLD_VERSIONS} TLSv1_2 or TLSv1_3");
            self.mistakes.push(Mistake::Unavailable("SSLProtocol", instead));
        }
        Ok(())
    }

    /// Sets SSLProtocols of QuickFIX/N: a list of .NET's names.
    pub(super) fn net_protocols(&mut self, value: &str) -> Result<(), Refusal> {
        const NAMES: [&str; 8] = ["None", "Default", "Ssl2", "Ssl3", "Tls", "Tls11", "Tls12", "Tls13"];
        let mut versions = Vec::new();
        for word in value.split(',').map(str::trim) {
            let known = NAMES.iter().find(|known| known.eq_ignore_ascii_case(word));
            match *known.ok_or(Refusal::Form)? {
                "None" => versions.extend([TlsVersion::Tls12, TlsVersion::Tls13]),
                "Tls12" => versions.push(TlsVersion::Tls12),
                "Tls13" => versions.push(TlsVersion::Tls13),
                // Default stands for SSL 3.0 and TLS 1.0.
                _ => {}
            }
        }
        if self.versions(&versions).is_none() {
            let instead = format!("{OLD_VERSIONS} Tls12 or Tls13");
            self.mistakes.push(Mistake::Unavailable("SSLProtocols", instead));
        }
        Ok(())
    }

    /// Leaves of the versions that are enabled just these. `None` if there are none of them.
    fn versions(&mut self, versions: &[TlsVersion]) -> Option<()> {
        let (min, max) = (*versions.iter().min()?, *versions.iter().max()?);
        self.at_least(min);
        self.tls.max_version = self.tls.max_version.min(max);
        Some(())
    }

    /// Leaves this version and later ones.
    pub(super) fn at_least(&mut self, version: TlsVersion) {
        self.tls.min_version = self.tls.min_version.max(version);
    }

    pub(super) fn cipher_suites(&mut self, value: &str) -> Result<(), Refusal> {
        self.tls.cipher_suites = suites(value)?;
        Ok(())
    }

    pub(super) fn tls13_suites(&mut self, value: &str) -> Result<(), Refusal> {
        self.tls13_suites = suites(value)?;
        let others = self.tls13_suites.iter().filter(|suite| !suite.is_tls13());
        let others: Vec<_> = others.map(ToString::to_string).collect();
        if others.is_empty() { Ok(()) } else { Err(Refusal::Parts(others)) }
    }

    pub(super) fn pins(&mut self, value: &str) -> Result<(), Refusal> {
        let pins: Result<Vec<KeyPin>, _> = value.split(',').map(|pin| pin.trim().parse()).collect();
        self.tls.peer_pins = pins.map_err(|_| Refusal::Form)?;
        Ok(())
    }

    /// Sets TLSPeerNames: names, and words that stand for the counterparty's CompID, or for nobody.
    pub(super) fn peer_names(&mut self, value: &str) -> Result<(), Refusal> {
        if value.trim().eq_ignore_ascii_case("none") {
            self.tls.any_peer = true;
            return Ok(());
        }
        for name in value.split(',').map(str::trim) {
            match name.to_ascii_lowercase().as_str() {
                "" | "none" => return Err(Refusal::Form),
                "compid" => self.tls.peer_is_comp_id = true,
                "dns:compid" => self.tls.peer_dns_name_is_comp_id = true,
                _ => self.tls.peer_names.push(name.to_owned()),
            }
        }
        Ok(())
    }

    /// Returns whether the session's connections are encrypted: as SocketUseSSL says, or else if a
    /// certificate or an authority is named, as in quickfixgo and QuickFIX.
    pub(super) fn is_on(&self) -> bool {
        let named = self.chain.is_some() || self.key.is_some() || self.authorities.is_some();
        self.on.unwrap_or(named)
    }

    /// Returns whether a key names certificates that the counterparty must have.
    pub(super) fn binds_peer(&self) -> bool {
        self.tls.binds_peer()
    }

    /// Returns whether SSLProtocol enables nothing that a counterparty of today accepts: so it is
    /// in a stock file of QuickFIX, whose sessions have no TLS.
    pub(super) const fn is_of_old_versions(&self) -> bool {
        self.is_of_old_versions
    }

    /// Returns whether revocation is not checked, without a key that says so, where QuickFIX/N
    /// would check it.
    pub(super) fn leaves_out_revocation(&self) -> bool {
        self.as_in_net && self.check_revocation.is_none() && self.tls.revocation_lists.is_none()
    }

    /// Returns the settings; `None` for plain connections.
    ///
    /// # Errors
    /// What is wrong.
    pub(super) fn finish(&self, role: Role) -> Result<Option<Tls>, Vec<Mistake>> {
        if !self.is_on() {
            return Ok(None);
        }
        if !cfg!(feature = "tls") {
            return Err(vec![Mistake::NotBuilt]);
        }
        let mut mistakes = self.mistakes.clone();
        mistakes.extend(match (self.check_revocation, &self.tls.revocation_lists) {
            (Some(true), None) => Some(Mistake::Unavailable("SSLCheckCertificateRevocation", "revocation is checked with lists in a file, and no authority is asked; name them in CertificateRevocationListFile, or write SSLCheckCertificateRevocation=N".to_owned())),
            (Some(false), Some(_)) => Some(Mistake::Contradicts("SSLCheckCertificateRevocation", "CertificateRevocationListFile names revocation lists, but SSLCheckCertificateRevocation=N does not read them")),
            _ => None,
        });
        if self.tls.min_version > self.tls.max_version {
            let keys = "EnabledProtocols, SSLProtocol, SSLProtocols and SocketMinimumTLSVersion leave no version of TLS, since each excludes some";
            mistakes.push(Mistake::Contradicts("EnabledProtocols", keys));
        }
        let mut tls = self.tls.clone();
        tls.certificate = match (&self.chain, &self.key) {
            (Some(chain), Some(key)) => Some(OwnCertificate::new(chain, key)),
            (None, None) if role == Role::Initiator => None,
            (None, _) => {
                mistakes.push(Mistake::Missing("SocketCertificateFile, the certificate for TLS"));
                None
            }
            (Some(_), None) => {
                mistakes.push(Mistake::Missing("SocketPrivateKeyFile, the private key of its certificate"));
                None
            }
        };
        if let Some(authorities) = &self.authorities {
            tls.authorities = authorities.clone();
        }
        // An acceptor of quickfixgo wants certificates unless SocketUseSSL=Y, and one of QuickFIX/N
        // unless SSLRequireClientCertificate=N.
        let required = self.as_in_net || self.as_in_go && self.on.is_none();
        let default = if required { ClientCertificates::Required } else { ClientCertificates::Off };
        tls.client_certificates = self.client_certificates.unwrap_or(default);
        if role == Role::Acceptor {
            let asks = tls.client_certificates != ClientCertificates::Off;
            if asks && self.authorities.is_none() {
                mistakes.push(Mistake::Missing(NO_AUTHORITY));
            }
            if !asks && tls.binds_peer() {
                mistakes.push(Mistake::Missing(NOT_ASKED));
            }
        }
        if !mistakes.is_empty() {
            return Err(mistakes);
        }
        if !self.tls13_suites.is_empty() {
            let others: Vec<_> = match tls.cipher_suites.as_slice() {
                [] => CipherSuite::ALL.to_vec(),
                some => some.to_vec(),
            };
            let tls12 = others.into_iter().filter(|suite| !suite.is_tls13());
            tls.cipher_suites = self.tls13_suites.iter().copied().chain(tls12).collect();
        }
        Ok(Some(tls))
    }
}

/// What an acceptor lacks that asks for certificates of its clients.
const NO_AUTHORITY: &str = "SocketCAFile, the authorities of its clients' certificates: those that the system trusts sign for anyone (NeedClientAuth=N asks clients for none)";

/// What an acceptor lacks that has rules for certificates of its clients.
const NOT_ASKED: &str =
    "NeedClientAuth=Y, although TLSPeerPins or TLSPeerNames expects a certificate of its counterparty";

/// What to do instead of not verifying the certificate of an acceptor.
pub(super) const UNVERIFIED: &str = "a certificate that is not verified protects from nobody between the two sides; name the counterparty's own certificate, or its authority, in SocketCAFile, and write EndpointIdentificationAlgorithm=none if only its name differs";

/// The form of a list of cipher suites.
pub(super) const SUITES: &str = "IANA's names, such as TLS_AES_128_GCM_SHA256, separated by commas; of TLS 1.2 only ECDHE with GCM or ChaCha20";

fn suites(value: &str) -> Result<Vec<CipherSuite>, Refusal> {
    let names = || value.split([',', ':']).map(str::trim);
    let suites: Result<Vec<_>, _> = names().map(str::parse).collect();
    suites.map_err(|_| {
        let is_unknown = |name: &&str| !name.is_empty() && name.parse::<CipherSuite>().is_err();
        Refusal::Parts(names().filter(is_unknown).map(str::to_owned).collect())
    })
}

/// The form of TLSPeerPins.
pub(super) const PINS: &str =
    "SHA-256 of public keys, as 64 hexadecimal digits or in Base64, separated by commas";

pub(super) fn authorities_in(value: &str) -> Authorities {
    Authorities::File(path_of(value))
}
