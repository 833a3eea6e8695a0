//! Whose certificate it is: what a counterparty's certificate says, and what a session expects of
//! it besides its authority.

use super::pin::KeyPin;
use super::settings::Tls;

/// What matters of a counterparty's certificate, which was verified.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct PeerCertificate {
    /// The digest of its public key.
    pub(crate) key: KeyPin,
    /// Its common name, and the DNS names and URIs among its alternative names.
    pub(crate) names: Vec<String>,
}

/// The certificates that a session's counterparty may have.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub(crate) struct PeerRules {
    pins: Box<[KeyPin]>,
    names: Box<[String]>,
}

/// Why a certificate does not fit to a session.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Mismatch {
    /// The connection is not encrypted.
    NoTls,
    /// There is none.
    NoCertificate,
    /// Its key is not pinned.
    Pin,
    /// None of its names is the session's.
    Name,
    /// Another session of the port has it for itself.
    OfAnotherSession,
}

impl Mismatch {
    pub(crate) const fn reason(self) -> &'static str {
        match self {
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
                "its certificate has none of the names of TLSPeerNames; it belongs to another counterparty, or its name must be added"
            }
            Self::OfAnotherSession => {
                "its certificate belongs to another session of this port (TLSPeerPins, TLSPeerNames)"
            }
        }
    }
}

impl PeerRules {
    /// Returns the rules of a session whose counterparty has this CompID.
    pub(crate) fn new(tls: &Tls, comp_id: &str) -> Self {
        let own = tls.peer_is_comp_id.then(|| comp_id.to_owned());
        let names = tls.peer_names.iter().cloned().chain(own).collect();
        Self { pins: tls.pins.clone().into(), names }
    }

    fn are_none(&self) -> bool {
        self.pins.is_empty() && self.names.is_empty()
    }

    /// Checks the certificate of a connection.
    pub(crate) fn check(&self, certificate: Option<&PeerCertificate>) -> Result<(), Mismatch> {
        if self.are_none() {
            return Ok(());
        }
        let certificate = certificate.ok_or(Mismatch::NoCertificate)?;
        if !self.pins.is_empty() && !self.pins.contains(&certificate.key) {
            return Err(Mismatch::Pin);
        }
        // Host names, of which most names are some, have no case.
        let has = |name: &String| certificate.names.iter().any(|one| one.eq_ignore_ascii_case(name));
        if !self.names.is_empty() && !self.names.iter().any(has) {
            return Err(Mismatch::Name);
        }
        Ok(())
    }

    /// Returns whether the certificate is bound to the session that has these rules.
    pub(crate) fn bind(&self, certificate: &PeerCertificate) -> bool {
        !self.are_none() && self.check(Some(certificate)).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_certificate_must_have_a_pinned_key_and_one_of_the_names() {
        let key = KeyPin::new([1; 32]);
        let names = vec!["Trader.example".to_owned(), "spiffe://desk/1".to_owned()];
        let certificate = PeerCertificate { key, names };
        let tls = |pins: &[KeyPin], names: &[&str], comp_id| Tls {
            pins: pins.to_vec(),
            peer_names: names.iter().map(|name| (*name).to_owned()).collect(),
            peer_is_comp_id: comp_id,
            ..Tls::new()
        };
        let other = KeyPin::new([2; 32]);
        for (tls, expected) in [
            (tls(&[], &[], false), Ok(())),
            (tls(&[other, key], &[], false), Ok(())),
            (tls(&[other], &[], false), Err(Mismatch::Pin)),
            (tls(&[key], &["nobody", "TRADER.EXAMPLE"], false), Ok(())),
            (tls(&[key], &["trader"], false), Err(Mismatch::Name)),
            (tls(&[], &[], true), Err(Mismatch::Name)),
            (tls(&[], &["spiffe://desk/1"], true), Ok(())),
        ] {
            let rules = PeerRules::new(&tls, "TRADER");
            assert_eq!(rules.check(Some(&certificate)), expected, "{tls:?}");
            assert_eq!(rules.bind(&certificate), expected.is_ok() && rules != PeerRules::default());
            if rules != PeerRules::default() {
                assert_eq!(rules.check(None), Err(Mismatch::NoCertificate));
            }
        }
        let mut certificate = certificate;
        certificate.names.push("TRADER".to_owned());
        assert_eq!(PeerRules::new(&tls(&[], &[], true), "TRADER").check(Some(&certificate)), Ok(()));
    }
}
