//! What the library's errors mean, and what to do about each.

use rustls::{AlertDescription, CertificateError, Error, InvalidMessage, PeerIncompatible};

use super::failure::TlsFailure;

/// Returns the line about an error of a connection.
pub(super) fn explain(error: &Error) -> TlsFailure {
    TlsFailure::new(match error {
        Error::InvalidCertificate(wrong) => of_certificate(wrong),
        Error::NoCertificatesPresented => {
            "TLS: the counterparty has sent no certificate, and this port requires one (NeedClientAuth); have it send one".to_owned()
        }
        Error::AlertReceived(alert) => of_alert(*alert),
        Error::PeerIncompatible(reason) => of_incompatible(reason),
        Error::InvalidMessage(InvalidMessage::InvalidContentType) => {
            "TLS: what the counterparty sends is not TLS; is it configured for TLS, and is this its port for TLS?"
                .to_owned()
        }
        other => format!("TLS: {other}"),
    })
}

fn of_certificate(error: &CertificateError) -> String {
    let clock = "have it renewed, and check the clock of this machine";
    match error {
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => {
            format!("TLS: the counterparty's certificate, or one of its authorities, has expired; {clock}")
        }
        CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => format!(
            "TLS: the counterparty's certificate, or one of its authorities, is not valid yet; {clock}"
        ),
        CertificateError::UnknownIssuer => {
            "TLS: the authority that signed the counterparty's certificate is unknown; if it is the right one, add it to SocketCAFile"
                .to_owned()
        }
        CertificateError::BadSignature => {
            "TLS: the counterparty's certificate was signed by an authority of which SocketCAFile has its name, but another key; use the authority's new certificate"
                .to_owned()
        }
        CertificateError::NotValidForName => {
            "TLS: the counterparty's certificate is for another host name; set SocketServerName to its name".to_owned()
        }
        CertificateError::NotValidForNameContext { expected, presented } => {
            let names = match presented.as_slice() {
                [] => "no name".to_owned(),
                // `DnsName("venue.example")`
                names => {
                    let plain = |name: &String| name.split('"').nth(1).unwrap_or(name).to_owned();
                    names.iter().map(plain).collect::<Vec<_>>().join(", ")
                }
            };
            format!(
                "TLS: the counterparty's certificate is for {names}, and not for {}; if that is the right counterparty, set SocketServerName to its name",
                expected.to_str()
            )
        }
        CertificateError::Revoked => {
            "TLS: the counterparty's certificate was revoked (CertificateRevocationListFile); it needs a new one".to_owned()
        }
        CertificateError::UnknownRevocationStatus
        | CertificateError::ExpiredRevocationList
        | CertificateError::ExpiredRevocationListContext { .. } => {
            "TLS: CertificateRevocationListFile has no current list of the authority that signed the counterparty's certificate; fetch it".to_owned()
        }
        CertificateError::InvalidPurpose | CertificateError::InvalidPurposeContext { .. } => {
            "TLS: the counterparty's certificate is for another purpose: an acceptor's must be for servers and an initiator's for clients".to_owned()
        }
        CertificateError::Other(reason) => format!("TLS: {reason}"),
        other => format!("TLS: the counterparty's certificate is not valid: {other}"),
    }
}

fn of_alert(alert: AlertDescription) -> String {
    let what_to_do = match alert {
        AlertDescription::CertificateRequired => {
            "it requires a certificate of ours; set SocketCertificateFile and SocketPrivateKeyFile"
        }
        AlertDescription::UnknownCA | AlertDescription::DecryptError => {
            "it does not know the authority that signed our certificate; send it the authority's certificate"
        }
        AlertDescription::BadCertificate
        | AlertDescription::CertificateUnknown
        | AlertDescription::UnsupportedCertificate
        | AlertDescription::AccessDenied => {
            "it does not accept our certificate; ask it why, and check SocketCertificateFile, or whether we need one"
        }
        AlertDescription::CertificateExpired => {
            "our certificate has expired, or is not valid yet; renew SocketCertificateFile, and check the clocks of both sides"
        }
        AlertDescription::CertificateRevoked => "our certificate was revoked; renew SocketCertificateFile",
        AlertDescription::HandshakeFailure | AlertDescription::InsufficientSecurity => {
            "it accepts none of our cipher suites, or needs a certificate of ours; compare CipherSuites"
        }
        AlertDescription::ProtocolVersion => {
            "it speaks none of our versions of TLS; compare EnabledProtocols"
        }
        AlertDescription::UnrecognisedName => {
            "it does not know the name that we ask for; check SocketServerName"
        }
        _ => "ask it why",
    };
    format!("TLS: the counterparty has ended the connection ({alert:?}): {what_to_do}")
}

fn of_incompatible(reason: &PeerIncompatible) -> String {
    let what = match reason {
        PeerIncompatible::NoCipherSuitesInCommon => {
            "has no cipher suite in common with us; compare CipherSuites"
        }
        PeerIncompatible::ServerDoesNotSupportTls12Or13
        | PeerIncompatible::SupportedVersionsExtensionRequired
        | PeerIncompatible::ServerTlsVersionIsDisabledByOurConfig
        | PeerIncompatible::Tls12NotOffered
        | PeerIncompatible::Tls12NotOfferedOrEnabled
        | PeerIncompatible::Tls13RequiredForQuic => {
            "speaks no version of TLS that is enabled here; compare EnabledProtocols"
        }
        other => return format!("TLS: the counterparty's TLS does not fit to ours: {other:?}"),
    };
    format!("TLS: the counterparty {what}")
}
