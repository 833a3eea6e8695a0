//! What a session says about TLS: plain values, which say nothing about the library.

use core::fmt;
use std::path::{Path, PathBuf};

use super::pin::KeyPin;
use super::suite::CipherSuite;

/// TLS of a session's connections.
///
/// Connections are encrypted with TLS 1.3 or 1.2, and certificates are always verified: that of an
/// acceptor by the initiator, and that of an initiator by an acceptor that asks for it. No session
/// of TLS is resumed, in either role: each connection is a full handshake, with every check. 0-RTT
/// is off (what it sends could be sent again by anyone), and so is ALPN.
///
/// The sessions that are accepted at one address share everything but
/// [`peer_pins`](Self::peer_pins), [`peer_names`](Self::peer_names),
/// [`peer_is_comp_id`](Self::peer_is_comp_id),
/// [`peer_dns_name_is_comp_id`](Self::peer_dns_name_is_comp_id) and [`any_peer`](Self::any_peer):
/// the handshake comes before the Logon.
///
/// ```
/// use fixbolt::tls::{Authorities, Tls};
///
/// let mut tls = Tls::new();
/// tls.authorities = Authorities::File("ca.pem".into());
/// assert_eq!(tls.min_version, fixbolt::tls::TlsVersion::Tls12);
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Tls {
    /// Our certificate; an acceptor needs one.
    pub certificate: Option<OwnCertificate>,
    /// Who signs the certificates that counterparties may have.
    pub authorities: Authorities,
    /// A file of certificate revocation lists (PEM) of all these authorities; without it, no
    /// revocation is checked.
    pub revocation_lists: Option<PathBuf>,
    /// Whether an acceptor asks for the initiator's certificate.
    pub client_certificates: ClientCertificates,
    /// The lowest version.
    pub min_version: TlsVersion,
    /// The highest version.
    pub max_version: TlsVersion,
    /// The cipher suites, the preferred one first; every one that is built in if it is empty.
    pub cipher_suites: Vec<CipherSuite>,
    /// The name that the acceptor's certificate must be for, and that an initiator asks for; the
    /// name of the host that it connects to if there is none.
    pub server_name: Option<String>,
    /// Whether an initiator checks that name. Without it, any certificate of the authorities will
    /// do: give them no other purpose, or name [`peer_pins`](Self::peer_pins).
    pub check_server_name: bool,
    /// Whether an initiator sends that name in its handshake, unencrypted (SNI).
    pub send_server_name: bool,
    /// The public keys that the counterparty may have; any if there are none.
    pub peer_pins: Vec<KeyPin>,
    /// The names of which the counterparty's certificate must have one: its common name (CN), or a
    /// DNS name or URI among its alternative names; any if there are none. Only the case of a DNS
    /// name does not matter.
    pub peer_names: Vec<String>,
    /// Whether the CompID of the counterparty counts as one of these names: as the common name,
    /// with the same letters in the same case.
    pub peer_is_comp_id: bool,
    /// Whether it counts as a DNS name, with the same letters in the same case.
    pub peer_dns_name_is_comp_id: bool,
    /// Whether any certificate that is verified may log on as the session, on purpose, if neither
    /// pins nor names say which: also one that belongs to another session of the address. Without
    /// it, a session that says nothing stops the start beside sessions of
    /// [`EngineBuilder::accept_any`](crate::EngineBuilder::accept_any) whose certificates are known
    /// by their CompID.
    pub any_peer: bool,
}

/// What is wrong with settings that ask for TLS in a build without it.
pub(crate) const NOT_BUILT: &str =
    "this build has no TLS; add `tls` to the features of `fixbolt` in Cargo.toml";

/// What is wrong with a session that says nothing, beside sessions of a template whose certificates
/// are known by their CompID.
pub(crate) const SAYS_NOTHING: &str = "it says nothing of the certificate of its counterparty, and others may log on to its address with the certificate that has their CompID (TLSPeerNames=CompID): each of these certificates could log on as this session, too; name its own (TLSPeerNames, TLSPeerPins), or write TLSPeerNames=none (Tls::any_peer) if any of them may";

impl Tls {
    /// Creates the settings of an initiator that trusts the certificate authorities of the system.
    #[must_use]
    pub const fn new() -> Self {
        Self {
            certificate: None,
            authorities: Authorities::System,
            revocation_lists: None,
            client_certificates: ClientCertificates::Off,
            min_version: TlsVersion::Tls12,
            max_version: TlsVersion::Tls13,
            cipher_suites: Vec::new(),
            server_name: None,
            check_server_name: true,
            send_server_name: true,
            peer_pins: Vec::new(),
            peer_names: Vec::new(),
            peer_is_comp_id: false,
            peer_dns_name_is_comp_id: false,
            any_peer: false,
        }
    }

    /// Creates the settings of an initiator that trusts the certificate authorities of the system,
    /// with the cipher suites that FIX-over-TLS (FIXS) names for certificates, as far as they have
    /// both forward secrecy and authenticated encryption, and with those of TLS 1.3 that use the
    /// same ciphers.
    ///
    /// FIXS expects of its sessions, besides, that each side knows the other: set
    /// [`client_certificates`](Self::client_certificates), or check a password in the Logon (FIXA).
    /// Its mode without certificates (PSK) is not supported.
    #[must_use]
    pub fn fixs() -> Self {
        Self { cipher_suites: CipherSuite::FIXS.to_vec(), ..Self::new() }
    }

    /// Returns whether there are rules for the counterparty's certificate besides its authority.
    pub(crate) const fn binds_peer(&self) -> bool {
        self.binds_by_comp_id() || !self.peer_pins.is_empty() || !self.peer_names.is_empty()
    }

    /// Returns whether the certificate depends on the CompID: those of a template are any.
    pub(crate) const fn binds_by_comp_id(&self) -> bool {
        self.peer_is_comp_id || self.peer_dns_name_is_comp_id
    }

    /// Returns whether it is not said whose the certificate must be, nor that anybody's will do.
    pub(crate) const fn says_nothing_of_peer(&self) -> bool {
        !self.any_peer && !self.binds_peer()
    }

    /// Returns these settings without the rules that each session of an address has for itself.
    pub(crate) fn of_address(&self) -> Self {
        Self {
            peer_pins: Vec::new(),
            peer_names: Vec::new(),
            peer_is_comp_id: false,
            peer_dns_name_is_comp_id: false,
            any_peer: false,
            ..self.clone()
        }
    }

    /// Returns the first thing in which two sessions of an address differ.
    pub(crate) fn differs_from(&self, other: &Self) -> Option<&'static str> {
        let same = [
            (self.certificate == other.certificate, "the certificate"),
            (self.authorities == other.authorities, "the certificate authorities"),
            (self.revocation_lists == other.revocation_lists, "the revocation lists"),
            (self.client_certificates == other.client_certificates, "whether clients need a certificate"),
            ((self.min_version, self.max_version) == (other.min_version, other.max_version), "the versions"),
            (self.cipher_suites == other.cipher_suites, "the cipher suites"),
        ];
        same.into_iter().find(|(same, _)| !same).map(|(_, what)| what)
    }
}

impl Default for Tls {
    fn default() -> Self {
        Self::new()
    }
}

/// A certificate with its private key.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct OwnCertificate {
    /// The certificate, followed by the intermediate ones up to an authority that counterparties
    /// know.
    pub chain: Pem,
    /// The private key (PKCS#8, PKCS#1 or SEC1), not encrypted; it may be in the same file.
    pub key: Pem,
}

impl OwnCertificate {
    /// Creates a certificate from a file, or a text, with the chain and one with the key.
    pub fn new(chain: impl Into<Pem>, key: impl Into<Pem>) -> Self {
        Self { chain: chain.into(), key: key.into() }
    }
}

/// Text in the form PEM.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Pem {
    /// In a file, which is read again when it has changed.
    File(PathBuf),
    /// In memory: from a store of secrets, for example.
    Text(String),
}

#[cfg(feature = "tls")]
impl Pem {
    /// Returns the name of the file, or what a text is.
    pub(super) fn name(&self, what: &str) -> String {
        match self {
            Self::File(path) => path.display().to_string(),
            Self::Text(_) => what.to_owned(),
        }
    }
}

impl<P: AsRef<Path>> From<P> for Pem {
    fn from(path: P) -> Self {
        Self::File(path.as_ref().to_owned())
    }
}

/// Shows no text, which may be a private key.
impl fmt::Debug for Pem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => f.debug_tuple("File").field(path).finish(),
            Self::Text(_) => f.write_str("Text(***)"),
        }
    }
}

/// The certificate authorities whose signature is enough.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Authorities {
    /// The authorities that the system trusts.
    System,
    /// The authorities in a file (PEM), and no others. It may also have a counterparty's own
    /// certificate.
    File(PathBuf),
    /// The authorities in the files of a directory (PEM), and no others.
    Directory(PathBuf),
    /// The authorities in a text (PEM), and no others.
    Text(String),
}

/// Whether an acceptor asks for the initiator's certificate. If it does,
/// [`Tls::authorities`] names who may sign it: [`Authorities::System`] is refused.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
#[non_exhaustive]
pub enum ClientCertificates {
    /// No.
    #[default]
    Off,
    /// It asks, and goes on if there is none. A certificate of an unknown authority is refused.
    Requested,
    /// Without one there is no session.
    Required,
}

/// A version of TLS.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[non_exhaustive]
pub enum TlsVersion {
    /// TLS 1.2.
    Tls12,
    /// TLS 1.3.
    Tls13,
}
