//! Certificates, keys and revocation lists from PEM, in files or in memory. Remembers the files, so
//! that a change of one is noticed.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use rustls::RootCertStore;
use rustls::pki_types::pem::{self, PemObject};
use rustls::pki_types::{CertificateDer, CertificateRevocationListDer, PrivateKeyDer};

use super::certificate::is_version_1;
use super::settings::{Authorities, Pem};
use crate::encoding::{BYTE_ORDER_MARK, UTF16, is_utf16};

/// The largest file that is read, in bytes.
const MAX_FILE: u64 = 16 << 20;

/// The files that were read, and how they were then.
#[derive(Default, Debug)]
pub(super) struct Files(Vec<(PathBuf, Option<Stamp>)>);

/// What changes when a file is written again.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Stamp {
    modified: Option<SystemTime>,
    size: u64,
}

impl Stamp {
    fn of(path: &Path) -> Option<Self> {
        // Follows links: a renewed certificate is often a link to a new file.
        let metadata = fs::metadata(path).ok()?;
        Some(Self { modified: metadata.modified().ok(), size: metadata.len() })
    }
}

impl Files {
    /// Returns whether a file has changed since it was read.
    pub(super) fn have_changed(&self) -> bool {
        self.0.iter().any(|(path, stamp)| Stamp::of(path) != *stamp)
    }

    /// Returns the certificates of a chain, the own one first.
    pub(super) fn chain(&mut self, source: &Pem) -> Result<Vec<CertificateDer<'static>>, String> {
        let (text, name) = self.text(source, "the certificate")?;
        let chain = certificates(&text, &name)?;
        match chain.first() {
            Some(own) if is_version_1(own) => Err(format!(
                "{name}: the certificate has version 1, which TLS refuses; have one of version 3 issued (`openssl x509 -req` makes one if it is given -extfile)"
            )),
            _ => Ok(chain),
        }
    }

    /// Returns a private key.
    pub(super) fn key(&mut self, source: &Pem) -> Result<PrivateKeyDer<'static>, String> {
        let (text, name) = self.text(source, "the private key")?;
        PrivateKeyDer::from_pem_slice(&text).map_err(|error| match error {
            _ if has(&text, "ENCRYPTED") => format!(
                "{name}: the private key is encrypted; decrypt it (`openssl pkey -in FILE -out NEW`), and let only this process read it"
            ),
            pem::Error::NoItemsFound if is_utf16(&text) => format!("{name}: {UTF16}"),
            pem::Error::NoItemsFound => {
                let but = other_contents(&text);
                format!("{name}: there is no private key (PEM: PKCS#8, PKCS#1 or SEC1){but}")
            }
            other => format!("{name}: {other}"),
        })
    }

    /// Returns the certificate authorities, each of them as a certificate unless they are the
    /// system's.
    pub(super) fn authorities(
        &mut self,
        authorities: &Authorities,
    ) -> Result<(RootCertStore, Vec<CertificateDer<'static>>), String> {
        let found = match authorities {
            Authorities::System => return system(),
            Authorities::File(path) => certificates(&self.read(path)?, &path.display().to_string())?,
            Authorities::Text(text) => {
                certificates(without_mark(text.as_bytes()), "the certificate authorities")?
            }
            Authorities::Directory(path) => self.of_directory(path)?,
        };
        let mut roots = RootCertStore::empty();
        for certificate in &found {
            roots.add(certificate.clone()).map_err(|error| format!("a certificate authority: {error}"))?;
        }
        Ok((roots, found))
    }

    fn of_directory(&mut self, path: &Path) -> Result<Vec<CertificateDer<'static>>, String> {
        let wrong = |error: std::io::Error| format!("{}: {error}", path.display());
        self.note(path);
        let mut names = Vec::new();
        for entry in fs::read_dir(path).map_err(wrong)? {
            names.push(entry.map_err(wrong)?.path());
        }
        names.sort();
        let mut found = Vec::new();
        for name in names.iter().filter(|name| name.is_file()) {
            let text = self.read(name)?;
            found.extend(CertificateDer::pem_slice_iter(&text).filter_map(Result::ok));
        }
        // The system's folders have each certificate twice: with its name, and with its digest.
        found.sort_by(|a: &CertificateDer<'_>, b| a.as_ref().cmp(b.as_ref()));
        found.dedup();
        if found.is_empty() {
            return Err(format!("{}: no file in it has a certificate (PEM)", path.display()));
        }
        Ok(found)
    }

    /// Returns the revocation lists of a file.
    pub(super) fn revocation_lists(
        &mut self,
        path: Option<&Path>,
    ) -> Result<Vec<CertificateRevocationListDer<'static>>, String> {
        let Some(path) = path else { return Ok(Vec::new()) };
        let text = self.read(path)?;
        let lists: Result<Vec<_>, _> = CertificateRevocationListDer::pem_slice_iter(&text).collect();
        match lists {
            Ok(lists) if lists.is_empty() && is_utf16(&text) => Err(format!("{}: {UTF16}", path.display())),
            Ok(lists) if lists.is_empty() => {
                Err(format!("{}: there is no certificate revocation list (PEM)", path.display()))
            }
            Ok(lists) => Ok(lists),
            Err(error) => Err(format!("{}: {error}", path.display())),
        }
    }

    fn text(&mut self, source: &Pem, what: &str) -> Result<(Vec<u8>, String), String> {
        let text = match source {
            Pem::File(path) => self.read(path)?,
            Pem::Text(text) => without_mark(text.as_bytes()).to_vec(),
        };
        Ok((text, source.name(what)))
    }

    fn note(&mut self, path: &Path) {
        if !self.0.iter().any(|(known, _)| known == path) {
            self.0.push((path.to_owned(), Stamp::of(path)));
        }
    }

    fn read(&mut self, path: &Path) -> Result<Vec<u8>, String> {
        // Before it is read: a change meanwhile is noticed the next time.
        self.note(path);
        let wrong = |error: std::io::Error| format!("{}: {error}", path.display());
        let mut text = Vec::new();
        File::open(path).map_err(wrong)?.take(MAX_FILE).read_to_end(&mut text).map_err(wrong)?;
        text.drain(..text.len() - without_mark(&text).len());
        Ok(text)
    }
}

fn without_mark(text: &[u8]) -> &[u8] {
    text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text)
}

fn has(text: &[u8], word: &str) -> bool {
    text.windows(word.len()).any(|part| part == word.as_bytes())
}

/// Returns the certificates of a text, at least one.
fn certificates(text: &[u8], name: &str) -> Result<Vec<CertificateDer<'static>>, String> {
    let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(text).collect();
    match found {
        Ok(found) if found.is_empty() => Err(format!("{name}: {}{}", other_form(text), other_contents(text))),
        Ok(found) => Ok(found),
        Err(error) => Err(format!("{name}: {error}")),
    }
}

/// Returns what a file without a certificate in PEM is.
fn other_form(text: &[u8]) -> &'static str {
    match text {
        [0xfe, 0xed, 0xfe, 0xed, ..] => {
            "this is a Java keystore (JKS), which is not read; convert it to PEM: `keytool -importkeystore -srckeystore FILE -destkeystore NEW.p12 -deststoretype PKCS12`, then `openssl pkcs12 -in NEW.p12 -nodes -out NEW.pem`"
        }
        [0x30, 0x82, _, _, 0x02, 0x01, 0x03, ..] => {
            "this is a PKCS#12 keystore, which is not read; convert it to PEM: `openssl pkcs12 -in FILE -nodes -out NEW.pem`, with -legacy if OpenSSL says unsupported"
        }
        [0x30, ..] => {
            "this is DER, which is not read; convert it to PEM: `openssl x509 -inform der -in FILE -out NEW.pem`"
        }
        text if is_utf16(text) => UTF16,
        _ => "there is no certificate (PEM: BEGIN CERTIFICATE)",
    }
}

/// Returns what a file in PEM has in place of what was expected, as the end of a line; nothing if
/// that is not known.
fn other_contents(text: &[u8]) -> &'static str {
    if has(text, "BEGIN CERTIFICATE REQUEST") || has(text, "BEGIN NEW CERTIFICATE REQUEST") {
        ", but a request for a certificate (CSR): an authority signs it, and sends the certificate"
    } else if has(text, "PRIVATE KEY-----") {
        ", but a private key, which belongs in SocketPrivateKeyFile"
    } else if has(text, "BEGIN CERTIFICATE-----") {
        ", but a certificate, which belongs in SocketCertificateFile"
    } else {
        ""
    }
}

fn system() -> Result<(RootCertStore, Vec<CertificateDer<'static>>), String> {
    let loaded = rustls_native_certs::load_native_certs();
    let mut roots = RootCertStore::empty();
    // Some systems have certificates that no verifier can use.
    let (usable, _) = roots.add_parsable_certificates(loaded.certs);
    if usable == 0 {
        let why = loaded.errors.first().map(|error| format!(" ({error})")).unwrap_or_default();
        return Err(format!(
            "the system has no certificate authorities{why}; name those of the counterparty (SocketCAFile)"
        ));
    }
    Ok((roots, Vec::new()))
}
