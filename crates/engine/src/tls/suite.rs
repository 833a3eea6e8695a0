//! The cipher suites that there are, by IANA's names.

use core::fmt;
use core::str::FromStr;

/// A cipher suite: of TLS 1.3, or one of TLS 1.2 with forward secrecy and authenticated encryption.
///
/// ```
/// let suite: fixbolt::tls::CipherSuite = "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384".parse()?;
/// assert!("TLS_RSA_WITH_AES_128_CBC_SHA".parse::<fixbolt::tls::CipherSuite>().is_err());
/// # Ok::<(), fixbolt::tls::UnknownCipherSuite>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CipherSuite(&'static str);

impl CipherSuite {
    /// Every cipher suite.
    pub const ALL: [Self; 9] = [
        Self("TLS_AES_256_GCM_SHA384"),
        Self("TLS_AES_128_GCM_SHA256"),
        Self("TLS_CHACHA20_POLY1305_SHA256"),
        Self("TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384"),
        Self("TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256"),
        Self("TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256"),
        Self("TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384"),
        Self("TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256"),
        Self("TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256"),
    ];

    /// The suites of FIXS, in its order: the list of recommended suites for TLS 1.2 with
    /// certificates (FIX Trading Community) without the suites that are not built in (CBC and DHE),
    /// after the two of TLS 1.3 with the same ciphers.
    pub(crate) const FIXS: [Self; 6] =
        [Self::ALL[1], Self::ALL[0], Self::ALL[4], Self::ALL[3], Self::ALL[7], Self::ALL[6]];

    /// Returns IANA's name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.0
    }

    /// Returns whether it is of TLS 1.3.
    #[must_use]
    pub fn is_tls13(self) -> bool {
        !self.0.contains("_WITH_")
    }
}

impl fmt::Display for CipherSuite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0)
    }
}

impl FromStr for CipherSuite {
    type Err = UnknownCipherSuite;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        Self::ALL.into_iter().find(|suite| suite.0.eq_ignore_ascii_case(name)).ok_or(UnknownCipherSuite)
    }
}

/// No cipher suite of [`CipherSuite::ALL`] has this name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct UnknownCipherSuite;

impl fmt::Display for UnknownCipherSuite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("this is no cipher suite of TLS 1.3, and none of TLS 1.2 with ECDHE and GCM or ChaCha20")
    }
}

impl core::error::Error for UnknownCipherSuite {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_suite_is_known_by_its_name_of_iana_and_fixs_has_those_that_it_names() {
        for suite in CipherSuite::ALL {
            assert_eq!(suite.name().parse(), Ok(suite));
        }
        assert_eq!("TLS_DHE_RSA_WITH_AES_128_GCM_SHA256".parse::<CipherSuite>(), Err(UnknownCipherSuite));
        let names: Vec<_> = CipherSuite::FIXS.iter().map(|suite| suite.name()).collect();
        assert_eq!(
            names,
            [
                "TLS_AES_128_GCM_SHA256",
                "TLS_AES_256_GCM_SHA384",
                "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256",
                "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384",
                "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256",
                "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384",
            ]
        );
    }
}
