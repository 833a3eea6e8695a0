//! What a signature with a private key takes: each handshake of an acceptor needs one.

use core::time::Duration;
use std::time::Instant;

use rustls::crypto::ring::sign::any_supported_type;
use rustls::{SignatureAlgorithm, SignatureScheme};

use super::files::Files;
use super::settings::Pem;

/// The longest key of RSA, in bits, that is not slow.
const MOST_BITS: usize = 2048;
/// How often to sign: other work of the machine makes some signatures slower.
const TRIES: usize = 3;

/// Returns a warning that says what a signature takes, if the key is slow to sign with: one of RSA
/// with more than 2048 bits. Signs with it. None for a key that cannot be read.
pub(super) fn warning(source: &Pem) -> Option<String> {
    let name = source.name("the private key");
    let key = any_supported_type(&Files::default().key(source).ok()?).ok()?;
    if key.algorithm() != SignatureAlgorithm::RSA {
        return None;
    }
    let signer = key.choose_scheme(&[SignatureScheme::RSA_PSS_SHA256])?;
    let mut fastest = Duration::MAX;
    let mut bits = 0;
    for _ in 0..TRIES {
        let began = Instant::now();
        bits = signer.sign(b"what a signature takes").ok()?.len() * 8;
        fastest = fastest.min(began.elapsed());
    }
    (bits > MOST_BITS).then(|| {
        format!(
            "{name}: a signature with this key (RSA, {bits} bits) takes {:.1} ms here, and each handshake needs one; a key of ECDSA (P-256) takes a small part of that",
            fastest.as_secs_f64() * 1e3
        )
    })
}
