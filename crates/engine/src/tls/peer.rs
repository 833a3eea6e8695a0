//! Whose certificate it is: what a counterparty's certificate says, and what a session expects of
//! it besides its authority.

use fixbolt_session::CertificateMismatch;

use super::pin::KeyPin;
use super::settings::Tls;

/// What matters of a counterparty's certificate, which was verified.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct PeerCertificate {
    /// The digest of its public key.
    pub(crate) key: KeyPin,
    /// Its common name (CN).
    pub(crate) common_name: Option<String>,
    /// The DNS names among its alternative names.
    pub(crate) dns_names: Vec<String>,
    /// The URIs among them.
    pub(crate) uris: Vec<String>,
    /// Its subject, as one line of printable ASCII.
    pub(crate) subject: String,
    /// Its serial number, in hexadecimal digits.
    pub(crate) serial: String,
    /// The end of its validity, such as 2031-03-01T00:00:00Z.
    pub(crate) expires: Option<String>,
}

/// The certificates that a session's counterparty may have.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub(crate) struct PeerRules {
    pins: Box<[KeyPin]>,
    names: Box<[String]>,
    /// The CompID that may be its common name.
    common_name: Option<String>,
    /// The CompID that may be one of its DNS names.
    dns_name: Option<String>,
    /// Whether any certificate will do, on purpose.
    any: bool,
}

impl PeerRules {
    /// Returns the rules of a session whose counterparty has this CompID.
    pub(crate) fn new(tls: &Tls, comp_id: &str) -> Self {
        let if_it = |counts: bool| counts.then(|| comp_id.to_owned());
        Self {
            pins: tls.peer_pins.clone().into(),
            names: tls.peer_names.clone().into(),
            common_name: if_it(tls.peer_is_comp_id),
            dns_name: if_it(tls.peer_dns_name_is_comp_id),
            any: tls.any_peer,
        }
    }

    /// Returns whether they expect a certificate.
    fn bind_any(&self) -> bool {
        !self.pins.is_empty() || self.bind_names()
    }

    fn bind_names(&self) -> bool {
        !self.names.is_empty() || self.common_name.is_some() || self.dns_name.is_some()
    }

    /// Returns whether they say nothing: neither whose certificate it must be, nor that anybody's
    /// will do.
    pub(crate) fn say_nothing(&self) -> bool {
        !self.any && !self.bind_any()
    }

    /// Checks the certificate of a connection.
    pub(crate) fn check(&self, certificate: Option<&PeerCertificate>) -> Result<(), CertificateMismatch> {
        if !self.bind_any() {
            return Ok(());
        }
        let certificate = certificate.ok_or(CertificateMismatch::NoCertificate)?;
        if !self.pins.is_empty() && !self.pins.contains(&certificate.key) {
            return Err(CertificateMismatch::Pin);
        }
        if self.bind_names() && !self.name(certificate) {
            return Err(CertificateMismatch::Name);
        }
        Ok(())
    }

    /// Returns whether a name of the certificate is one of these.
    fn name(&self, certificate: &PeerCertificate) -> bool {
        let PeerCertificate { common_name, dns_names, uris, .. } = certificate;
        let is_named = |name: &String| {
            // Host names have no case; whatever else a name is has one.
            common_name.as_ref() == Some(name)
                || uris.contains(name)
                || dns_names.iter().any(|one| one.eq_ignore_ascii_case(name))
        };
        self.names.iter().any(is_named)
            || self.common_name.is_some() && self.common_name == *common_name
            || self.dns_name.as_ref().is_some_and(|name| dns_names.contains(name))
    }

    /// Returns whether the certificate is bound to the session that has these rules.
    pub(crate) fn bind(&self, certificate: &PeerCertificate) -> bool {
        self.bind_any() && self.check(Some(certificate)).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn certificate(common_name: &str, dns_names: &[&str], uris: &[&str]) -> PeerCertificate {
        let all = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        PeerCertificate {
            key: KeyPin::new([1; 32]),
            common_name: (!common_name.is_empty()).then(|| common_name.to_owned()),
            dns_names: all(dns_names),
            uris: all(uris),
            subject: String::new(),
            serial: String::new(),
            expires: None,
        }
    }

    fn tls(pins: &[KeyPin], names: &[&str]) -> Tls {
        let peer_names = names.iter().map(|name| (*name).to_owned()).collect();
        Tls { peer_pins: pins.to_vec(), peer_names, ..Tls::new() }
    }

    #[test]
    fn a_certificate_must_have_a_pinned_key_and_one_of_the_names() {
        let certificate = certificate("Desk One", &["Trader.example"], &["spiffe://desk/1"]);
        let (key, other) = (certificate.key, KeyPin::new([2; 32]));
        for (tls, expected) in [
            (tls(&[], &[]), Ok(())),
            (tls(&[other, key], &[]), Ok(())),
            (tls(&[other], &[]), Err(CertificateMismatch::Pin)),
            (tls(&[key], &["nobody", "TRADER.EXAMPLE"]), Ok(())),
            (tls(&[key], &["trader"]), Err(CertificateMismatch::Name)),
            (tls(&[], &["spiffe://desk/1"]), Ok(())),
            (tls(&[], &["spiffe://DESK/1"]), Err(CertificateMismatch::Name)),
            (tls(&[], &["Desk One"]), Ok(())),
            (tls(&[], &["DESK ONE"]), Err(CertificateMismatch::Name)),
            // `*` stands for nothing.
            (tls(&[], &["*.example", "*", "spiffe://*", "Desk *"]), Err(CertificateMismatch::Name)),
        ] {
            let rules = PeerRules::new(&tls, "TRADER");
            assert_eq!(rules.check(Some(&certificate)), expected, "{tls:?}");
            assert_eq!(rules.bind(&certificate), expected.is_ok() && !rules.say_nothing());
            if !rules.say_nothing() {
                assert_eq!(rules.check(None), Err(CertificateMismatch::NoCertificate));
            }
        }
    }

    #[test]
    fn a_comp_id_is_the_common_name_or_on_request_a_dns_name_with_the_same_letters() {
        let by_name = Tls { peer_is_comp_id: true, ..Tls::new() };
        let by_dns = Tls { peer_dns_name_is_comp_id: true, ..Tls::new() };
        let by_both = Tls { peer_is_comp_id: true, ..by_dns.clone() };
        for (certificate, named, has_dns) in [
            (certificate("TRADER", &[], &[]), true, false),
            (certificate("trader", &["trader"], &[]), false, false),
            (certificate("X", &["TRADER"], &["TRADER"]), false, true),
            (certificate("", &["x", "TRADER"], &[]), false, true),
            (certificate("TRADER ", &["TRADER.example"], &["TRADER"]), false, false),
            (certificate("", &[], &[]), false, false),
        ] {
            let fits = |tls: &Tls| PeerRules::new(tls, "TRADER").bind(&certificate);
            assert_eq!(
                [&by_name, &by_dns, &by_both].map(fits),
                [named, has_dns, named || has_dns],
                "{certificate:?}"
            );
        }
    }

    #[test]
    fn any_certificate_will_do_on_purpose_unless_a_key_is_pinned() {
        let certificate = certificate("TRADER", &[], &[]);
        let any = Tls { any_peer: true, ..Tls::new() };
        let rules = PeerRules::new(&any, "OTHER");
        assert!(rules.check(Some(&certificate)).is_ok() && rules.check(None).is_ok());
        assert!(!rules.say_nothing() && !rules.bind(&certificate));
        let pinned = Tls { peer_pins: vec![KeyPin::new([2; 32])], ..any };
        assert_eq!(PeerRules::new(&pinned, "OTHER").check(Some(&certificate)), Err(CertificateMismatch::Pin));
    }
}
