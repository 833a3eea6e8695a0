//! TLS: encrypted connections, and certificates that say who is at the other end.
//!
//! A session has it if [`Initiation::tls`](crate::Initiation::tls) or
//! [`Acceptance::tls`](crate::Acceptance::tls) is set. The connection is made, handshake included,
//! before a byte of FIX is sent. What TLS protects, and what it does not, is in
//! [docs/security.md](https://github.com/fixbolt/fixbolt/blob/main/docs/security.md).
//!
//! Certificates in files are loaded again when the files have changed, which is looked at once a
//! minute, and by [`Certificates::reload`](crate::Certificates::reload). Connections
//! that exist go on as they are. If the new ones cannot be used, the old ones stay, which is tried
//! again once a minute. A certificate that ends within 30 days is warned of once a day.
//!
//! [`Tls`] has all of it: [`Authorities`] that sign the counterparties' certificates, an
//! [`OwnCertificate`] of [`Pem`] files, whether an acceptor asks for
//! [`ClientCertificates`], and whose a certificate must be ([`KeyPin`], names). The initiator of a
//! session whose venue asks for a certificate, and has this one key:
//!
//! ```
//! use fixbolt::Initiation;
//! use fixbolt::session::{Role, SessionSettings};
//! use fixbolt::tls::{Authorities, OwnCertificate, Tls};
//!
//! let mut tls = Tls::new();
//! tls.authorities = Authorities::File("venue-ca.pem".into());
//! tls.certificate = Some(OwnCertificate::new("desk.pem", "desk-key.pem"));
//! tls.peer_pins = vec!["47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=".parse()?];
//!
//! let settings = SessionSettings::new("FIX.4.4:DESK->VENUE".parse()?, Role::Initiator);
//! let mut session = Initiation::new(settings, "fix.venue.example", 9443);
//! session.tls = Some(tls);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#[cfg(not(feature = "tls"))]
mod absent;
#[cfg(feature = "tls")]
mod authorities;
#[cfg(feature = "tls")]
mod certificate;
#[cfg(feature = "tls")]
mod context;
#[cfg(feature = "tls")]
mod der;
#[cfg(feature = "tls")]
mod explain;
mod faults;
#[cfg(feature = "tls")]
mod files;
#[cfg(feature = "tls")]
mod key_mode;
#[cfg(feature = "tls")]
mod material;
#[cfg(feature = "tls")]
mod name;
mod peer;
mod pin;
mod settings;
#[cfg(feature = "tls")]
mod signing;
#[cfg(feature = "tls")]
mod stream;
mod suite;

#[cfg(not(feature = "tls"))]
pub(crate) use absent::{Decrypted, TlsContext, TlsContexts, TlsStream, doubts};
#[cfg(feature = "tls")]
pub(crate) use context::{TlsContext, TlsContexts, doubts};
pub(crate) use faults::TlsFaults;
pub(crate) use peer::{PeerCertificate, PeerRules};
pub use pin::{InvalidPin, KeyPin};
pub use settings::{Authorities, ClientCertificates, OwnCertificate, Pem, Tls, TlsVersion};
pub(crate) use settings::{NOT_BUILT, SAYS_NOTHING};
#[cfg(feature = "tls")]
pub(crate) use stream::{Decrypted, TlsStream};
pub use suite::{CipherSuite, UnknownCipherSuite};

#[cfg(all(test, feature = "tls"))]
mod bound_tests;
#[cfg(all(test, feature = "tls"))]
mod handshake_tests;
#[cfg(all(test, feature = "tls"))]
#[expect(unreachable_pub, reason = "a module of the tests, too")]
#[path = "../../tests/support/lines.rs"]
mod lines;
#[cfg(all(test, feature = "tls"))]
pub(crate) use handshake_tests::shaken;
