//! Certificates for one test: an authority, and what it signs.

use fixbolt::tls::{Authorities, KeyPin, OwnCertificate, Pem, Tls};
use rcgen::{
    BasicConstraints, CertificateParams, CertificateRevocationListParams, DnType, IsCa, Issuer, KeyIdMethod,
    KeyPair, KeyUsagePurpose, PublicKeyData, RevokedCertParams, SerialNumber, date_time_ymd,
};
use ring::digest::{SHA256, digest};

/// A certificate authority.
pub struct Authority {
    issuer: Issuer<'static, KeyPair>,
    pub pem: String,
}

/// A certificate and its key.
pub struct Issued {
    pub pem: String,
    pub key: String,
    pub pin: KeyPin,
}

impl Authority {
    pub fn new() -> Self {
        Self::named("A test authority")
    }

    pub fn named(name: &str) -> Self {
        let mut parameters = CertificateParams::default();
        parameters.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        parameters.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        parameters.distinguished_name.push(DnType::CommonName, name);
        let key = KeyPair::generate().unwrap();
        let pem = parameters.self_signed(&key).unwrap().pem();
        Self { issuer: Issuer::new(parameters, key), pem }
    }

    /// Issues a certificate with this common name, for `localhost` and 127.0.0.1.
    pub fn issue(&self, name: &str) -> Issued {
        self.issue_as(name, &["localhost", "127.0.0.1"], |_| ())
    }

    /// Issues one for these names, with changes.
    pub fn issue_as(
        &self,
        name: &str,
        alternative: &[&str],
        change: impl FnOnce(&mut CertificateParams),
    ) -> Issued {
        let alternative: Vec<String> = alternative.iter().map(|name| (*name).to_owned()).collect();
        let mut parameters = CertificateParams::new(alternative).unwrap();
        parameters.distinguished_name.push(DnType::CommonName, name);
        change(&mut parameters);
        let key = KeyPair::generate().unwrap();
        let pem = parameters.signed_by(&key, &self.issuer).unwrap().pem();
        let digest = digest(&SHA256, &key.subject_public_key_info());
        Issued { pem, key: key.serialize_pem(), pin: KeyPin::new(digest.as_ref().try_into().unwrap()) }
    }

    /// Returns the list of the certificates that it has revoked: the one with this serial number.
    pub fn revoke(&self, serial_number: u64, next_update: i32) -> String {
        let revoked = RevokedCertParams {
            serial_number: SerialNumber::from(serial_number),
            revocation_time: date_time_ymd(2024, 1, 1),
            reason_code: None,
            invalidity_date: None,
        };
        let list = CertificateRevocationListParams {
            this_update: date_time_ymd(2024, 1, 1),
            next_update: date_time_ymd(next_update, 1, 1),
            crl_number: SerialNumber::from(1_u64),
            issuing_distribution_point: None,
            revoked_certs: vec![revoked],
            key_identifier_method: KeyIdMethod::Sha256,
        };
        list.signed_by(&self.issuer).unwrap().pem().unwrap()
    }

    /// Returns TLS that trusts this authority.
    pub fn tls(&self) -> Tls {
        let mut tls = Tls::new();
        tls.authorities = Authorities::Text(self.pem.clone());
        tls
    }

    /// Returns TLS that trusts this authority and has a certificate.
    pub fn tls_of(&self, own: &Issued) -> Tls {
        let mut tls = self.tls();
        tls.certificate = Some(own.to_own());
        tls
    }
}

impl Issued {
    pub fn to_own(&self) -> OwnCertificate {
        OwnCertificate::new(Pem::Text(self.pem.clone()), Pem::Text(self.key.clone()))
    }
}
