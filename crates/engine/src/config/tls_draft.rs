//! TLS as its keys have set it so far.

use std::path::PathBuf;

use fixbolt_session::Role;

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
    authorities: Option<Authorities>,
    client_certificates: Option<ClientCertificates>,
    /// Suites of TLS 1.3 only; those of TLS 1.2 are left alone.
    tls13_suites: Vec<CipherSuite>,
    /// What cannot be done if the session has TLS: the key, and what to do instead.
    unavailable: Option<(&'static str, &'static str)>,
    /// Everything else.
    pub(super) tls: Tls,
}

/// What is wrong with the keys together.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Mistake {
    /// This key is missing.
    Missing(&'static str),
    /// This key asks for something that cannot be done, and what to do instead.
    Unavailable(&'static str, &'static str),
    /// There is no TLS in this build.
    NotBuilt,
}

/// The form of a key that names a file.
pub(super) const PEM: &str = "a file (PEM)";

/// Sets a file for which there are several keys.
fn once(file: &mut Option<PathBuf>, value: &str, keys: &str) -> Result<(), Refusal> {
    match file.replace(PathBuf::from(value)) {
        Some(before) if before != *value => {
            Err(Refusal::Unavailable(format!("another key names {}: {keys} name the same", before.display())))
        }
        _ => Ok(()),
    }
}

const CERTIFICATE_KEYS: &str =
    "SocketCertificateFile, SocketKeyStore, ServerCertificateFile and ClientCertificateFile";

impl TlsDraft {
    /// Sets our certificate.
    pub(super) fn certificate(&mut self, value: &str) -> Result<(), Refusal> {
        once(&mut self.chain, value, CERTIFICATE_KEYS)
    }

    /// Sets the same, as quickfixgo does.
    pub(super) fn certificate_as_in_go(&mut self, value: &str) -> Result<(), Refusal> {
        self.as_in_go = true;
        self.certificate(value)
    }

    /// Sets our private key.
    pub(super) fn key(&mut self, value: &str) -> Result<(), Refusal> {
        let keys =
            "SocketPrivateKeyFile, SocketKeyStore, ServerCertificateKeyFile and ClientCertificateKeyFile";
        once(&mut self.key, value, keys)
    }

    /// Sets the file that has both.
    pub(super) fn key_store(&mut self, value: &str) -> Result<(), Refusal> {
        self.certificate(value)?;
        self.key(value)
    }

    pub(super) fn authorities(&mut self, authorities: Authorities) -> Result<(), Refusal> {
        match self.authorities.replace(authorities) {
            Some(before) if Some(&before) != self.authorities.as_ref() => Err(Refusal::Unavailable(
                "another key names others: SocketCAFile, SocketTrustStore, CertificationAuthoritiesFile and CertificationAuthoritiesDirectory name the same".to_owned(),
            )),
            _ => Ok(()),
        }
    }

    pub(super) fn need_client_auth(&mut self, how: ClientCertificates) {
        self.client_certificates = Some(how);
    }

    /// Sets CertificateVerifyLevel of QuickFIX, which is about the other side in both roles.
    pub(super) fn verify_level(&mut self, role: Option<Role>, value: &str) -> Result<(), Refusal> {
        let how = match value {
            "0" => ClientCertificates::Off,
            "1" => ClientCertificates::Requested,
            "2" => ClientCertificates::Required,
            _ => return Err(Refusal::Form),
        };
        if role == Some(Role::Initiator) {
            if how == ClientCertificates::Off {
                self.unavailable = Some(("CertificateVerifyLevel", UNVERIFIED));
            }
            return Ok(());
        }
        self.client_certificates.get_or_insert(how);
        Ok(())
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
            self.unavailable = Some((
                "SSLProtocol",
                "versions before TLS 1.2 are not secure and not supported; enable TLSv1_2 or TLSv1_3",
            ));
        }
        Ok(())
    }

    /// Enables just these versions. `None` if there are none.
    fn versions(&mut self, versions: &[TlsVersion]) -> Option<()> {
        self.tls.min_version = *versions.iter().min()?;
        self.tls.max_version = *versions.iter().max()?;
        Some(())
    }

    pub(super) fn cipher_suites(&mut self, value: &str) -> Result<(), Refusal> {
        self.tls.cipher_suites = suites(value)?;
        Ok(())
    }

    pub(super) fn tls13_suites(&mut self, value: &str) -> Result<(), Refusal> {
        self.tls13_suites = suites(value)?;
        let all = self.tls13_suites.iter().all(|suite| suite.is_tls13());
        if all { Ok(()) } else { Err(Refusal::Form) }
    }

    pub(super) fn pins(&mut self, value: &str) -> Result<(), Refusal> {
        let pins: Result<Vec<KeyPin>, _> = value.split(',').map(|pin| pin.trim().parse()).collect();
        self.tls.pins = pins.map_err(|_| Refusal::Form)?;
        Ok(())
    }

    pub(super) fn peer_names(&mut self, value: &str) -> Result<(), Refusal> {
        for name in value.split(',').map(str::trim) {
            match name {
                "" => return Err(Refusal::Form),
                "CompID" => self.tls.peer_is_comp_id = true,
                name => self.tls.peer_names.push(name.to_owned()),
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

    /// Returns the settings; `None` for plain connections.
    ///
    /// # Errors
    /// What is wrong.
    pub(super) fn finish(&self, role: Role) -> Result<Option<Tls>, Mistake> {
        if !self.is_on() {
            return Ok(None);
        }
        if !cfg!(feature = "tls") {
            return Err(Mistake::NotBuilt);
        }
        if let Some((key, instead)) = self.unavailable {
            return Err(Mistake::Unavailable(key, instead));
        }
        let mut tls = self.tls.clone();
        tls.certificate = match (&self.chain, &self.key) {
            (Some(chain), Some(key)) => Some(OwnCertificate::new(chain, key)),
            (None, None) if role == Role::Initiator => None,
            (None, _) => return Err(Mistake::Missing("SocketCertificateFile, the certificate for TLS")),
            (Some(_), None) => {
                return Err(Mistake::Missing("SocketPrivateKeyFile, the private key of its certificate"));
            }
        };
        if let Some(authorities) = &self.authorities {
            tls.authorities = authorities.clone();
        }
        // An acceptor of quickfixgo wants certificates unless SocketUseSSL=Y.
        let as_in_go = self.as_in_go && self.on.is_none();
        let default = if as_in_go { ClientCertificates::Required } else { ClientCertificates::Off };
        tls.client_certificates = self.client_certificates.unwrap_or(default);
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

/// What to do instead of not verifying the certificate of an acceptor.
pub(super) const UNVERIFIED: &str = "a certificate that is not verified protects from nobody between the two sides; name the counterparty's own certificate, or its authority, in SocketCAFile, and write EndpointIdentificationAlgorithm=none if only its name differs";

/// The form of a list of cipher suites.
pub(super) const SUITES: &str = "IANA's names, such as TLS_AES_128_GCM_SHA256, separated by commas; of TLS 1.2 only ECDHE with GCM or ChaCha20";

fn suites(value: &str) -> Result<Vec<CipherSuite>, Refusal> {
    let suites: Result<Vec<_>, _> = value.split([',', ':']).map(|name| name.trim().parse()).collect();
    suites.map_err(|_| Refusal::Form)
}

/// The form of TLSPeerPins.
pub(super) const PINS: &str =
    "SHA-256 of public keys, as 64 hexadecimal digits or in Base64, separated by commas";

pub(super) fn authorities_in(value: &str) -> Authorities {
    Authorities::File(PathBuf::from(value))
}
