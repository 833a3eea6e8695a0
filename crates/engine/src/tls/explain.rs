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
        other => {
            let name = format!("{other:?}");
            let reason = match in_words(other) {
                Some(words) => format!("{words} ({name})"),
                None => name,
            };
            TlsFailure::Incompatible { reason }
        }
    }
}

/// Returns in what the counterparty differs; `None` for what no connection of ours meets.
const fn in_words(reason: &PeerIncompatible) -> Option<&'static str> {
    Some(match reason {
        // Clients of TLS 1.2 may leave the extension out (RFC 5246, section 7.4.1.4.1); none does.
        PeerIncompatible::SignatureAlgorithmsExtensionRequired => {
            "it names no signature algorithm, as it offers TLS 1.1 at most; enable TLS 1.2 or 1.3 there"
        }
        PeerIncompatible::NoKxGroupsInCommon => {
            "it offers no key exchange with forward secrecy that there is here: ECDHE with X25519, P-256 or P-384"
        }
        PeerIncompatible::NoSignatureSchemesInCommon => {
            "it accepts no signature that our private key can make; compare the kind of the key"
        }
        PeerIncompatible::NoCertificateRequestSignatureSchemesInCommon => {
            "it asks for a certificate, and for no signature algorithm that there is here"
        }
        PeerIncompatible::KeyShareExtensionRequired => "it begins with TLS 1.3, and sends no key for it",
        PeerIncompatible::NullCompressionRequired => "it insists on compression",
        PeerIncompatible::UncompressedEcPointsRequired | PeerIncompatible::NoEcPointFormatsInCommon => {
            "it insists on compressed points of elliptic curves"
        }
        PeerIncompatible::IncorrectCertificateTypeExtension
        | PeerIncompatible::UnsolicitedCertificateTypeExtension => {
            "it insists on bare public keys in place of certificates"
        }
        PeerIncompatible::ServerSentHelloRetryRequestWithUnknownExtension => {
            "it asks for an extension of TLS that there is none of here"
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_counterparty_lacks_is_said_in_words_with_the_name_of_it_in_the_library_last() {
        let told = |reason| explain(&Error::PeerIncompatible(reason)).to_string();
        for (reason, words, name) in [
            (
                PeerIncompatible::SignatureAlgorithmsExtensionRequired,
                "it offers TLS 1.1 at most; enable TLS 1.2 or 1.3 there",
                "(SignatureAlgorithmsExtensionRequired)",
            ),
            (
                PeerIncompatible::NoKxGroupsInCommon,
                "it offers no key exchange with forward secrecy that there is here",
                "(NoKxGroupsInCommon)",
            ),
            (
                PeerIncompatible::KeyShareExtensionRequired,
                "it begins with TLS 1.3, and sends no key for it",
                "(KeyShareExtensionRequired)",
            ),
        ] {
            let told = told(reason);
            assert!(told.contains(words) && told.ends_with(name), "{told}");
        }
        let met_by_nobody = told(PeerIncompatible::NamedGroupsExtensionRequired);
        assert!(met_by_nobody.ends_with(": NamedGroupsExtensionRequired"), "{met_by_nobody}");
    }
}
