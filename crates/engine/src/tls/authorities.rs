//! Verification by the authorities that are valid at the time: of those that it is given, the
//! library asks nothing but their key, so one that has ended would go on for ever.

use core::fmt;
use std::sync::Arc;

use rustls::client::danger::HandshakeSignatureValid;
use rustls::pki_types::{CertificateDer, UnixTime};
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::{
    CertificateError, DigitallySignedStruct, DistinguishedName, Error, RootCertStore, SignatureScheme,
};

use super::certificate::validity_in_seconds;
use crate::sync::{Mutex, lock};

/// A verifier by the authorities that are valid at the time.
pub(super) struct ByTime<V: ?Sized> {
    /// The one with all authorities.
    all: Arc<V>,
    roots: RootCertStore,
    /// From when to when each of them is valid, in seconds since 1970; empty for the system's,
    /// which are its own business.
    validity: Vec<(u64, u64)>,
    make: Box<dyn Fn(RootCertStore) -> Result<Arc<V>, String> + Send + Sync>,
    /// The one with those that were valid the last time, if some were not.
    valid: Mutex<Option<Valid<V>>>,
}

/// A verifier with some of the authorities.
struct Valid<V: ?Sized> {
    /// Which of them.
    flags: Vec<bool>,
    /// None if there are none.
    verifier: Option<Arc<V>>,
}

impl<V: ?Sized> ByTime<V> {
    /// Returns a verifier that knows these authorities, of which `known` has the certificates.
    ///
    /// # Errors
    /// The error of `make`.
    pub(super) fn new(
        roots: RootCertStore,
        known: &[CertificateDer<'_>],
        make: impl Fn(RootCertStore) -> Result<Arc<V>, String> + Send + Sync + 'static,
    ) -> Result<Self, String> {
        let validity = known.iter().map(|der| validity_in_seconds(der).unwrap_or((0, u64::MAX))).collect();
        let all = make(roots.clone())?;
        Ok(Self { all, roots, validity, make: Box::new(make), valid: Mutex::default() })
    }

    /// Returns the verifier for what does not depend on the time.
    pub(super) fn all(&self) -> &V {
        &self.all
    }

    /// Verifies a certificate.
    ///
    /// # Errors
    /// The error of the verifier; that something has expired, if only an authority is not valid
    /// now.
    pub(super) fn verify(
        &self,
        now: UnixTime,
        verify: impl Fn(&V) -> Result<(), Error>,
    ) -> Result<(), Error> {
        verify(&self.all)?;
        let is_valid = |(from, to): &(u64, u64)| (*from..=*to).contains(&now.as_secs());
        let flags: Vec<bool> = self.validity.iter().map(is_valid).collect();
        if flags.iter().all(|is_valid| *is_valid) {
            return Ok(());
        }
        let mut valid = lock(&self.valid);
        if valid.as_ref().is_none_or(|valid| valid.flags != flags) {
            // Revocation lists are large: not for each handshake.
            let verifier = self.with(&flags);
            *valid = Some(Valid { flags, verifier });
        }
        let verifier = valid.as_ref().and_then(|valid| valid.verifier.clone());
        drop(valid);
        match verifier {
            Some(verifier) if verify(&verifier).is_ok() => Ok(()),
            _ => Err(Error::InvalidCertificate(CertificateError::Expired)),
        }
    }

    fn with(&self, flags: &[bool]) -> Option<Arc<V>> {
        let roots = self.roots.roots.iter().zip(flags).filter(|(_, is_valid)| **is_valid);
        let roots: RootCertStore = roots.map(|(root, _)| root.clone()).collect();
        if roots.is_empty() { None } else { (self.make)(roots).ok() }
    }
}

impl<V: ?Sized> fmt::Debug for ByTime<V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ByTime").field("authorities", &self.roots.len()).finish_non_exhaustive()
    }
}

/// Verifies the certificate of an initiator.
#[derive(Debug)]
pub(super) struct InitiatorVerifier(pub(super) ByTime<dyn ClientCertVerifier>);

impl ClientCertVerifier for InitiatorVerifier {
    fn offer_client_auth(&self) -> bool {
        self.0.all().offer_client_auth()
    }

    fn client_auth_mandatory(&self) -> bool {
        self.0.all().client_auth_mandatory()
    }

    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        self.0.all().root_hint_subjects()
    }

    fn verify_client_cert(
        &self,
        certificate: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        now: UnixTime,
    ) -> Result<ClientCertVerified, Error> {
        self.0
            .verify(now, |verifier| verifier.verify_client_cert(certificate, intermediates, now).map(drop))?;
        Ok(ClientCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.0.all().verify_tls12_signature(message, certificate, signed)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.0.all().verify_tls13_signature(message, certificate, signed)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.0.all().supported_verify_schemes()
    }
}
