//! `--tls`, `--ca`, `--cert` and `--key`: TLS of a session without a configuration.

use std::path::PathBuf;

use clap::Args;
use fixbolt::tls::{Authorities, ClientCertificates, OwnCertificate, Tls};
use fixbolt_cli::exit::Failure;

/// The keys of a configuration that these options are in place of.
pub(crate) const OPTIONS: &[(&str, &str)] = &[
    ("SocketUseSSL", "--tls"),
    ("SocketCAFile", "--ca"),
    ("NeedClientAuth", "--ca"),
    ("SocketCertificateFile", "--cert"),
    ("SocketPrivateKeyFile", "--key"),
];

/// What every command with connections has.
#[derive(Debug, Args)]
pub(crate) struct TlsArguments {
    /// Encrypt connections with TLS
    #[arg(long, conflicts_with = "config")]
    tls: bool,
    /// The certificate authorities of the counterparty (PEM) [default: those of the system]; a
    /// server with it requires a certificate of its clients
    #[arg(long, value_name = "FILE", requires = "tls")]
    ca: Option<PathBuf>,
    /// Our certificate (PEM), with those of the authorities in between
    #[arg(long, value_name = "FILE", requires = "tls")]
    cert: Option<PathBuf>,
    /// Its private key (PEM) [default: in the file of the certificate]
    #[arg(long, value_name = "FILE", requires = "cert")]
    key: Option<PathBuf>,
}

impl TlsArguments {
    /// Returns the TLS of an initiator; `None` for plain connections.
    pub(crate) fn of_initiator(&self) -> Option<Tls> {
        self.tls.then(|| {
            let mut tls = Tls::new();
            tls.certificate = self.certificate();
            if let Some(file) = &self.ca {
                tls.authorities = Authorities::File(file.clone());
            }
            tls
        })
    }

    /// Returns the TLS of an acceptor.
    ///
    /// # Errors
    /// It has no certificate.
    pub(crate) fn of_acceptor(&self) -> Result<Option<Tls>, Failure> {
        let Some(mut tls) = self.of_initiator() else { return Ok(None) };
        if tls.certificate.is_none() {
            return Err(Failure::usage(
                "--tls needs a certificate here: --cert FILE --key FILE (`fixbolt certs DIRECTORY` makes some for tests)",
            ));
        }
        if self.ca.is_some() {
            tls.client_certificates = ClientCertificates::Required;
        }
        Ok(Some(tls))
    }

    fn certificate(&self) -> Option<OwnCertificate> {
        let chain = self.cert.as_ref()?;
        Some(OwnCertificate::new(chain, self.key.as_ref().unwrap_or(chain)))
    }
}
