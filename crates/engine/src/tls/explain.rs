//! What the library's errors are in the words of the session layer.

use rustls::{CertificateError, Error, InvalidMessage, PeerIncompatible};

use fixbolt_session::{CertificateFault, CertificateMismatch, TlsFailure};

/// The most names of a counterparty's certificate that are kept.
const MOST_NAMES: usize = 8;

/// Returns why a connection was given up.
pub(super) fn explain(error: &Error) -> TlsFailure {
    match error {
        Error::InvalidCertificate(wrong) => TlsFailure::Certificate(of_certificate(wrong)),
        Error::NoCertificatesPresented => TlsFailure::NoCertificate,
        Error::AlertReceived(alert) => {
            TlsFailure::Alert { code: u8::from(*alert), name: format!("{alert:?}") }
        }
        Error::PeerIncompatible(reason) => of_incompatible(reason),
        Error::InvalidMessage(InvalidMessage::InvalidContentType) => TlsFailure::NotTls,
        other => TlsFailure::Protocol { reason: other.to_string() },
    }
}

fn of_certificate(error: &CertificateError) -> CertificateFault {
    match error {
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => CertificateFault::Expired,
        CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
            CertificateFault::NotValidYet
        }
        CertificateError::UnknownIssuer => CertificateFault::UnknownIssuer,
        CertificateError::BadSignature => CertificateFault::BadSignature,
        CertificateError::NotValidForName => {
            CertificateFault::WrongName { expected: None, presented: Vec::new() }
        }
        CertificateError::NotValidForNameContext { expected, presented } => {
            // `DnsName("venue.example")`
            let plain = |name: &String| name.split('"').nth(1).unwrap_or(name).to_owned();
            let presented = presented.iter().take(MOST_NAMES).map(plain).collect();
            CertificateFault::WrongName { expected: Some(expected.to_str().into_owned()), presented }
        }
        CertificateError::Revoked => CertificateFault::Revoked,
        CertificateError::UnknownRevocationStatus
        | CertificateError::ExpiredRevocationList
        | CertificateError::ExpiredRevocationListContext { .. } => CertificateFault::NoRevocationList,
        CertificateError::InvalidPurpose | CertificateError::InvalidPurposeContext { .. } => {
            CertificateFault::WrongPurpose
        }
        CertificateError::Other(reason) => match reason.0.downcast_ref::<CertificateMismatch>() {
            Some(mismatch) => CertificateFault::NotTheSessions(*mismatch),
            None => CertificateFault::Other { reason: reason.to_string() },
        },
        other => CertificateFault::Other { reason: other.to_string() },
    }
}

fn of_incompatible(reason: &PeerIncompatible) -> TlsFailure {
    match reason {
        PeerIncompatible::NoCipherSuitesInCommon => TlsFailure::NoCommonCipherSuite,
        PeerIncompatible::ServerDoesNotSupportTls12Or13
        | PeerIncompatible::SupportedVersionsExtensionRequired
        | PeerIncompatible::ServerTlsVersionIsDisabledByOurConfig
        | PeerIncompatible::Tls12NotOffered
        | PeerIncompatible::Tls12NotOfferedOrEnabled
        | PeerIncompatible::Tls13RequiredForQuic => TlsFailure::NoCommonVersion,
        other => TlsFailure::Incompatible { reason: format!("{other:?}") },
    }
}
