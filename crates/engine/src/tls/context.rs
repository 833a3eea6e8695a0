//! What connections of one kind are encrypted with, for as long as the engine runs: it is loaded
//! again when a file has changed, and connections that exist are left alone.

use core::time::Duration;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Weak};

use fixbolt_journal::unpin;
use fixbolt_session::Utc;
use rustls::pki_types::ServerName;
use rustls::{ClientConnection, ServerConnection};

use super::failure::TlsFailure;
use super::key_mode;
use super::material::{Config, Known, Material};
use super::settings::Tls;
use super::stream::TlsStream;
use crate::clock;
use crate::sync::{Mutex, lock};

/// How often the files are looked at.
const LOOK_INTERVAL: Duration = Duration::from_secs(60);
/// How long before a certificate ends that is warned of.
const WARNING: Duration = Duration::from_secs(30 * 86_400);
/// How often it is warned of.
const WARNING_INTERVAL: Duration = Duration::from_secs(86_400);

/// The TLS of a port, or of initiators with the same settings.
#[derive(Debug)]
pub(crate) struct TlsContext {
    settings: Tls,
    /// The counterparty's CompID, for initiators; `None` for a port.
    comp_id: Option<String>,
    material: Mutex<Material>,
}

impl TlsContext {
    fn load(settings: &Tls, comp_id: Option<&str>) -> Result<Material, String> {
        match comp_id {
            None => Material::of_acceptor(settings),
            Some(comp_id) => Material::of_initiator(settings, comp_id),
        }
    }

    /// Begins with a connection that was accepted.
    pub(crate) fn accept(&self) -> Result<TlsStream, TlsFailure> {
        let Config::Server(config) = lock(&self.material).config.clone() else {
            return Err(TlsFailure::new("TLS: these are settings of an initiator"));
        };
        let connection = ServerConnection::new(config);
        connection
            .map(|tls| TlsStream::new(tls.into()))
            .map_err(|error| TlsFailure::new(format!("TLS: {error}")))
    }

    /// Begins with a connection to a host.
    pub(crate) fn connect(&self, host: &str) -> Result<TlsStream, TlsFailure> {
        let Config::Client(config) = lock(&self.material).config.clone() else {
            return Err(TlsFailure::new("TLS: these are settings of an acceptor"));
        };
        let name = self.settings.server_name.as_deref().unwrap_or(host).to_owned();
        let wrong = |error: &dyn core::fmt::Display| TlsFailure::new(format!("TLS to {name}: {error}"));
        let server = ServerName::try_from(name.clone()).map_err(|error| wrong(&error))?;
        let connection = ClientConnection::new(config, server);
        connection.map(|tls| TlsStream::new(tls.into())).map_err(|error| wrong(&error))
    }

    /// Loads the files again. The old ones stay in use if there is something wrong with the new
    /// ones.
    fn reload(&self) -> Result<(), String> {
        let loaded = Self::load(&self.settings, self.comp_id.as_deref());
        let mut material = lock(&self.material);
        let result = loaded.map(|new| *material = new);
        if result.is_err() {
            // Tried again when they change again.
            material.files.look();
        }
        result
    }
}

/// Loads the files that connections would need, those of a port or those of an initiator whose
/// counterparty has this CompID, and returns what is doubtful about them.
///
/// # Errors
/// What is wrong, and what to do.
pub(crate) fn try_files(settings: &Tls, comp_id: Option<&str>) -> Result<Option<String>, String> {
    TlsContext::load(settings, comp_id)?;
    Ok(key_mode::warning(settings))
}

/// Every TLS of an engine, each kind once.
#[derive(Debug, Default)]
pub(crate) struct TlsContexts(Mutex<Contexts>);

#[derive(Debug, Default)]
struct Contexts {
    all: Vec<Weak<TlsContext>>,
    /// Ends the thread that looks at the files when it is dropped.
    watching: Option<Sender<()>>,
}

impl TlsContexts {
    /// Returns the TLS of a port.
    ///
    /// # Errors
    /// What is wrong, and what to do.
    pub(crate) fn of_port(self: &Arc<Self>, settings: &Tls) -> Result<Arc<TlsContext>, String> {
        self.context(settings.of_address(), None)
    }

    /// Returns the TLS of an initiator whose counterparty has this CompID.
    ///
    /// # Errors
    /// What is wrong, and what to do.
    pub(crate) fn of_initiator(
        self: &Arc<Self>,
        settings: &Tls,
        comp_id: &str,
    ) -> Result<Arc<TlsContext>, String> {
        let comp_id = if settings.peer_is_comp_id { comp_id } else { "" };
        self.context(settings.clone(), Some(comp_id.to_owned()))
    }

    fn context(self: &Arc<Self>, settings: Tls, comp_id: Option<String>) -> Result<Arc<TlsContext>, String> {
        let same = |one: &Arc<TlsContext>| one.settings == settings && one.comp_id == comp_id;
        if let Some(known) = self.all().into_iter().find(same) {
            return Ok(known);
        }
        let material = TlsContext::load(&settings, comp_id.as_deref())?;
        warn_of(&material.certificates, clock::now().utc);
        warn_of_key(&settings);
        let context = Arc::new(TlsContext { settings, comp_id, material: Mutex::new(material) });
        let mut contexts = lock(&self.0);
        contexts.all.push(Arc::downgrade(&context));
        if contexts.watching.is_none() {
            contexts.watching = watch(Arc::downgrade(self));
        }
        Ok(context)
    }

    fn all(&self) -> Vec<Arc<TlsContext>> {
        let mut contexts = lock(&self.0);
        contexts.all.retain(|context| context.strong_count() > 0);
        contexts.all.iter().filter_map(Weak::upgrade).collect()
    }

    /// Loads every file again, whether or not it has changed.
    ///
    /// # Errors
    /// What is wrong with those of which the old ones stay in use.
    pub(crate) fn reload(&self) -> Result<(), String> {
        let failed: Vec<_> = self.all().iter().filter_map(|context| context.reload().err()).collect();
        if failed.is_empty() { Ok(()) } else { Err(failed.join("; ")) }
    }

    /// Loads the files again that have changed, and says so.
    fn reload_changed(&self) {
        for context in self.all() {
            if !lock(&context.material).files.have_changed() {
                continue;
            }
            match context.reload() {
                Ok(()) => {
                    tracing::info!(name: "certificates_loaded", "certificates were loaded again: new connections use them");
                    warn_of(&lock(&context.material).certificates, clock::now().utc);
                    warn_of_key(&context.settings);
                }
                Err(error) => tracing::error!(
                    name: "certificates_not_loaded",
                    error,
                    "certificates have changed, and cannot be loaded: new connections use the old ones"
                ),
            }
        }
    }

    fn warn_of_ends(&self) {
        let now = clock::now().utc;
        for context in self.all() {
            warn_of(&lock(&context.material).certificates, now);
        }
    }
}

/// Warns of a private key that others may read.
fn warn_of_key(settings: &Tls) {
    if let Some(warning) = key_mode::warning(settings) {
        tracing::warn!(name: "private_key_exposed", "{warning}");
    }
}

/// Warns of certificates that end soon.
fn warn_of(certificates: &[Known], now: Utc) {
    for Known { what, name, not_after } in certificates {
        let end = not_after;
        if *end <= now {
            tracing::error!(
                name: "certificate_expired", %name, %end, "{what} has expired: counterparties refuse it, renew it"
            );
        } else if end.abs_diff(now) < WARNING {
            tracing::warn!(name: "certificate_expires", %name, %end, "{what} expires soon; renew it");
        }
    }
}

/// Starts the thread that looks at the files, which ends when the sender is dropped. Without it,
/// files are loaded again on request only.
fn watch(contexts: Weak<TlsContexts>) -> Option<Sender<()>> {
    let (sender, receiver) = channel::<()>();
    let thread = std::thread::Builder::new().name("fixbolt-certificates".to_owned()).spawn(move || {
        unpin();
        let mut warned = Duration::ZERO;
        while receiver.recv_timeout(LOOK_INTERVAL) == Err(RecvTimeoutError::Timeout) {
            let Some(contexts) = contexts.upgrade() else { return };
            contexts.reload_changed();
            warned += LOOK_INTERVAL;
            if warned >= WARNING_INTERVAL {
                warned = Duration::ZERO;
                contexts.warn_of_ends();
            }
        }
    });
    if let Err(error) = &thread {
        tracing::error!(%error, "certificates are not watched: their thread cannot be started");
    }
    thread.is_ok().then_some(sender)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;
    use crate::tls::settings::OwnCertificate;

    fn write(folder: &Path, name: &str) {
        let mut parameters = rcgen::CertificateParams::default();
        parameters.distinguished_name.push(rcgen::DnType::CommonName, name);
        let key = rcgen::KeyPair::generate().unwrap();
        let text = parameters.self_signed(&key).unwrap().pem() + &key.serialize_pem();
        fs::write(folder.join("new"), text).unwrap();
        fs::rename(folder.join("new"), folder.join("own.pem")).unwrap();
    }

    fn name(context: &TlsContext) -> String {
        lock(&context.material).certificates[0].name.clone()
    }

    #[test]
    fn a_file_that_has_changed_is_loaded_again_and_a_wrong_one_leaves_the_old() {
        let folder = std::env::temp_dir().join(format!("fixbolt-certificates-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        write(&folder, "FIRST");
        let mut settings = Tls::new();
        let own = folder.join("own.pem");
        settings.certificate = Some(OwnCertificate::new(&own, &own));
        let contexts = Arc::<TlsContexts>::default();
        let context = contexts.of_port(&settings).unwrap();
        let other = contexts.of_port(&settings).unwrap();
        assert!(Arc::ptr_eq(&context, &other), "the same is loaded once");
        contexts.reload_changed();
        assert_eq!(name(&context), "FIRST");
        // The time of a file may be a second's.
        fs::write(&own, "no certificate").unwrap();
        assert!(lock(&context.material).files.have_changed());
        contexts.reload_changed();
        assert_eq!(name(&context), "FIRST");
        assert!(!lock(&context.material).files.have_changed(), "it is tried once");
        let error = contexts.reload().unwrap_err();
        assert!(error.ends_with("own.pem: there is no certificate (PEM: BEGIN CERTIFICATE)"), "{error}");
        write(&folder, "ANOTHER ONE");
        contexts.reload_changed();
        assert_eq!(name(&context), "ANOTHER ONE");
        drop((context, other));
        assert!(contexts.all().is_empty());
        fs::remove_dir_all(&folder).unwrap();
    }
}
