//! Why a connection over TLS was given up, in the words of whoever makes the connections. The
//! session layer knows no TLS.

use core::error::Error;
use core::fmt;

/// Why TLS was given up on a connection: what is wrong, and whose it is.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum TlsFailure {
    /// The counterparty's certificate is not accepted.
    Certificate(CertificateFault),
    /// The counterparty has sent no certificate, and this port requires one.
    NoCertificate,
    /// The counterparty has ended the handshake with an alert: it does not accept our certificate,
    /// for example.
    Alert {
        /// AlertDescription, as the standard of TLS numbers them (RFC 8446, section 6): 48 is an
        /// unknown authority.
        code: u8,
        /// Its name.
        name: String,
    },
    /// The two sides have no cipher suite in common.
    NoCommonCipherSuite,
    /// The counterparty speaks no version of TLS that is enabled here.
    NoCommonVersion,
    /// The two sides differ in something else.
    Incompatible {
        /// In what.
        reason: String,
    },
    /// What the counterparty sends is not TLS.
    NotTls,
    /// The counterparty sends FIX without TLS.
    PlainFix,
    /// The counterparty has closed the connection before anything was received.
    ClosedAtBegin,
    /// The counterparty has closed the connection during the handshake.
    ClosedDuringHandshake,
    /// This side could not begin, or go on.
    Ours {
        /// Why not.
        reason: String,
    },
    /// The counterparty violates the protocol of TLS.
    Protocol {
        /// What is wrong.
        reason: String,
    },
}

/// What is wrong with the counterparty's certificate.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum CertificateFault {
    /// It, or one of its authorities, has expired.
    Expired,
    /// It, or one of its authorities, is not valid yet.
    NotValidYet,
    /// The authority that signed it is unknown.
    UnknownIssuer,
    /// The authority that signed it is known with another key.
    BadSignature,
    /// It is for another host.
    WrongName {
        /// The name that was expected, if that is known.
        expected: Option<String>,
        /// The names that the certificate is for: at most eight of them.
        presented: Vec<String>,
    },
    /// It was revoked.
    Revoked,
    /// There is no current list of revoked certificates of its authority.
    NoRevocationList,
    /// It is for another purpose: an acceptor's must be for servers and an initiator's for clients.
    WrongPurpose,
    /// It is valid, but not one of those that the session's counterparty may have.
    NotTheSessions(CertificateMismatch),
    /// It is not valid for another reason.
    Other {
        /// The reason.
        reason: String,
    },
}

/// Why a connection's certificate does not fit to a session.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum CertificateMismatch {
    /// The connection is not encrypted.
    NoTls,
    /// The connection has no certificate of the counterparty.
    NoCertificate,
    /// Its public key is not pinned.
    Pin,
    /// None of its names is one of the session's.
    Name,
    /// Another session of the port has it for itself.
    OfAnotherSession,
}

impl fmt::Display for TlsFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::PlainFix => {
                return f.write_str("the counterparty sends FIX without TLS, and TLS is expected here (SocketUseSSL); enable TLS there, or use another port");
            }
            Self::Certificate(fault) => return write!(f, "TLS: {fault}"),
            Self::Alert { code, name } => {
                let what_to_do = what_to_do(*code);
                return write!(f, "TLS: the counterparty has ended the connection ({name}): {what_to_do}");
            }
            Self::Incompatible { reason } => {
                return write!(f, "TLS: the counterparty's TLS does not fit to ours: {reason}");
            }
            Self::Ours { reason } | Self::Protocol { reason } => return write!(f, "TLS: {reason}"),
            Self::NoCertificate => {
                "TLS: the counterparty has sent no certificate, and this port requires one (NeedClientAuth); have it send one"
            }
            Self::NoCommonCipherSuite => {
                "TLS: the counterparty has no cipher suite in common with us; compare CipherSuites"
            }
            Self::NoCommonVersion => {
                "TLS: the counterparty speaks no version of TLS that is enabled here; compare EnabledProtocols"
            }
            Self::NotTls => {
                "TLS: what the counterparty sends is not TLS; is it configured for TLS, and is this its port for TLS?"
            }
            Self::ClosedAtBegin => {
                "TLS: the counterparty has closed the connection at the beginning of the handshake; is it configured for TLS, and is this its port for TLS?"
            }
            Self::ClosedDuringHandshake => {
                "TLS: the counterparty has closed the connection during the handshake; its log says why"
            }
        })
    }
}

/// Returns what an alert of the counterparty asks for.
const fn what_to_do(alert: u8) -> &'static str {
    match alert {
        // certificate_required
        116 => "it requires a certificate of ours; set SocketCertificateFile and SocketPrivateKeyFile",
        // unknown_ca, decrypt_error
        48 | 51 => {
            "it does not know the authority that signed our certificate; send it the authority's certificate"
        }
        // bad_certificate, unsupported_certificate, certificate_unknown, access_denied
        42 | 43 | 46 | 49 => {
            "it does not accept our certificate; ask it why, and check SocketCertificateFile, or whether we need one"
        }
        // certificate_expired
        45 => {
            "our certificate has expired, or is not valid yet; renew SocketCertificateFile, and check the clocks of both sides"
        }
        // certificate_revoked
        44 => "our certificate was revoked; renew SocketCertificateFile",
        // handshake_failure, insufficient_security
        40 | 71 => {
            "it accepts none of our cipher suites, or needs a certificate of ours; compare CipherSuites"
        }
        // protocol_version
        70 => "it speaks none of our versions of TLS; compare EnabledProtocols",
        // unrecognized_name
        112 => "it does not know the name that we ask for; check SocketServerName",
        _ => "ask it why",
    }
}

impl fmt::Display for CertificateFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Expired => {
                "the counterparty's certificate, or one of its authorities, has expired; have it renewed, and check the clock of this machine"
            }
            Self::NotValidYet => {
                "the counterparty's certificate, or one of its authorities, is not valid yet; have it renewed, and check the clock of this machine"
            }
            Self::UnknownIssuer => {
                "the authority that signed the counterparty's certificate is unknown; if it is the right one, add it to SocketCAFile"
            }
            Self::BadSignature => {
                "the counterparty's certificate was signed by an authority of which SocketCAFile has its name, but another key; use the authority's new certificate"
            }
            Self::WrongName { expected: None, .. } => {
                "the counterparty's certificate is for another host name; set SocketServerName to its name"
            }
            Self::WrongName { expected: Some(expected), presented } if presented.is_empty() => {
                return write!(
                    f,
                    "the counterparty's certificate has no subjectAltName, in which {expected} must be; have it renewed with one, or write EndpointIdentificationAlgorithm=none, and its common name (CN) in TLSPeerNames"
                );
            }
            Self::WrongName { expected: Some(expected), presented } => {
                let names = presented.join(", ");
                return write!(
                    f,
                    "the counterparty's certificate is for {names}, and not for {expected}; if that is the right counterparty, set SocketServerName to its name"
                );
            }
            Self::Revoked => {
                "the counterparty's certificate was revoked (CertificateRevocationListFile); it needs a new one"
            }
            Self::NoRevocationList => {
                "CertificateRevocationListFile has no current list of the authority that signed the counterparty's certificate; fetch it"
            }
            Self::WrongPurpose => {
                "the counterparty's certificate is for another purpose: an acceptor's must be for servers and an initiator's for clients"
            }
            Self::NotTheSessions(mismatch) => return mismatch.fmt(f),
            Self::Other { reason } => {
                return write!(f, "the counterparty's certificate is not valid: {reason}");
            }
        })
    }
}

impl fmt::Display for CertificateMismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoTls => {
                "the session expects TLS, and connections to its port have none; name the port's TLS (EngineBuilder::tls)"
            }
            Self::NoCertificate => {
                "the session expects a certificate of its counterparty, and there is none; have it send one, and set NeedClientAuth=Y"
            }
            Self::Pin => {
                "the public key of its certificate is not one of TLSPeerPins; if the counterparty has a new key, pin that one"
            }
            Self::Name => {
                "its certificate has none of the names of TLSPeerNames (CompID is its common name, letter by letter); it belongs to another counterparty, or its name must be added"
            }
            Self::OfAnotherSession => {
                "its certificate belongs to another session of this port (TLSPeerPins, TLSPeerNames)"
            }
        })
    }
}

impl Error for TlsFailure {}

impl Error for CertificateMismatch {}
