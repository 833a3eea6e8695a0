//! What connections of one kind are encrypted with, for as long as the engine runs: it is loaded
//! again when a file has changed, and connections that exist are left alone.

use core::sync::atomic::{AtomicBool, Ordering};
use core::time::Duration;
use std::sync::{Arc, Weak};

use fixbolt_journal::spawn;
use fixbolt_session::Utc;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::time_provider::{DefaultTimeProvider, TimeProvider};
use rustls::{ClientConnection, ServerConnection};

use fixbolt_session::{Role, TlsFailure};

use super::certificate::{CLIENTS, SERVERS, is_for, is_for_a_host, name_and_end, validity_in_seconds};
use super::faults::TlsFaults;
use super::files::Files;
use super::key_mode;
use super::material::{Config, Known, Material, Whose};
use super::settings::{Authorities, Tls};
use super::signing;
use super::stream::TlsStream;
use crate::sync::{Mutex, lock};

/// How many causes of failures are remembered; an older one is told again.
const MOST_CAUSES: usize = 16;
/// How long before a certificate ends that is warned of.
const WARNING: Duration = Duration::from_secs(30 * 86_400);

/// The TLS of a port, or of initiators with the same settings.
#[derive(Debug)]
pub(crate) struct TlsContext {
    settings: Tls,
    /// The counterparty's CompID, for initiators; `None` for a port.
    comp_id: Option<String>,
    /// The time by which certificates are judged.
    clock: Arc<dyn TimeProvider>,
    material: Mutex<Material>,
    /// Why the files could not be loaded since they were the last time, each cause once.
    failures: Mutex<Vec<String>>,
}

impl TlsContext {
    fn new(settings: Tls, comp_id: Option<String>, clock: Arc<dyn TimeProvider>) -> Result<Self, TlsFaults> {
        let material = Self::load(&settings, comp_id.as_deref(), &clock)?;
        Ok(Self { settings, comp_id, clock, material: Mutex::new(material), failures: Mutex::default() })
    }

    fn load(
        settings: &Tls,
        comp_id: Option<&str>,
        clock: &Arc<dyn TimeProvider>,
    ) -> Result<Material, TlsFaults> {
        match comp_id {
            None => Material::of_acceptor(settings, clock),
            Some(comp_id) => Material::of_initiator(settings, comp_id, clock),
        }
    }

    /// Begins with a connection that was accepted.
    pub(crate) fn accept(&self) -> Result<TlsStream, TlsFailure> {
        let Config::Server(config) = lock(&self.material).config.clone() else {
            return Err(TlsFailure::Ours { reason: "these are settings of an initiator".to_owned() });
        };
        let connection = ServerConnection::new(config);
        connection
            .map(|tls| TlsStream::new(tls.into()))
            .map_err(|error| TlsFailure::Ours { reason: error.to_string() })
    }

    /// Begins with a connection to a host.
    pub(crate) fn connect(&self, host: &str) -> Result<TlsStream, TlsFailure> {
        let Config::Client(config) = lock(&self.material).config.clone() else {
            return Err(TlsFailure::Ours { reason: "these are settings of an acceptor".to_owned() });
        };
        let name = self.settings.server_name.as_deref().unwrap_or(host).to_owned();
        let wrong =
            |error: &dyn core::fmt::Display| TlsFailure::Ours { reason: format!("to {name}: {error}") };
        let server = ServerName::try_from(name.clone()).map_err(|error| wrong(&error))?;
        let connection = ClientConnection::new(config, server);
        connection.map(|tls| TlsStream::new(tls.into())).map_err(|error| wrong(&error))
    }

    /// Returns whether the files are to be loaded again: they have changed, or could not be loaded.
    fn is_due(&self) -> bool {
        !lock(&self.failures).is_empty() || lock(&self.material).files.have_changed()
    }

    /// Loads the files again. The old ones stay in use if there is something wrong with the new
    /// ones.
    fn reload(&self) -> Result<(), String> {
        let loaded = Self::load(&self.settings, self.comp_id.as_deref(), &self.clock);
        let loaded = loaded.map_err(|faults| faults.to_string());
        let mut failures = lock(&self.failures);
        match loaded {
            Ok(new) => {
                *lock(&self.material) = new;
                failures.clear();
                Ok(())
            }
            Err(cause) => {
                if !failures.contains(&cause) {
                    failures.truncate(MOST_CAUSES - 1);
                    failures.insert(0, cause.clone());
                }
                Err(cause)
            }
        }
    }
}

/// Returns what is doubtful about files that can be loaded: a private key that others may read, or
/// that is slow to sign with, a certificate of ours that counterparties refuse for what it says it
/// is for, and certificates of which the time is over, or soon will be. Each begins with the file's
/// name. Signs with the key.
pub(crate) fn doubts(tls: &Tls, role: Role, now: Utc) -> Vec<String> {
    let mut files = Files::default();
    let mut found = Vec::new();
    if let Some(own) = &tls.certificate {
        found.extend([key_mode::warning(&own.key), signing::warning(&own.key)].into_iter().flatten());
        let chain = files.chain(&own.chain).unwrap_or_default();
        let file = own.chain.name("the certificate");
        found.extend(chain.first().and_then(|own| doubtful_use(&file, own, role)));
        found.extend(doubtful_times(&file, Whose::Ours, &chain, now));
    }
    // A directory may have hundreds of certificates that concern nobody.
    if let Authorities::File(path) = &tls.authorities
        && let Ok((_, known)) = files.authorities(&tls.authorities)
    {
        found.extend(doubtful_times(&path.display().to_string(), Whose::Authority, &known, now));
    }
    found
}

/// Returns why counterparties refuse a certificate of ours in this role, whoever has signed it.
fn doubtful_use(file: &str, own: &CertificateDer<'_>, role: Role) -> Option<String> {
    let (name, _) = name_and_end(own)?;
    let what = format!("{file}: the certificate of {name}");
    let (purpose, of, refused_by) = match role {
        Role::Acceptor => (SERVERS, "serverAuth", "initiators refuse an acceptor's"),
        Role::Initiator => (CLIENTS, "clientAuth", "acceptors refuse an initiator's"),
    };
    if !is_for(own, purpose) {
        return Some(format!(
            "{what} has purposes (extendedKeyUsage), and {of} is none of them: {refused_by} without it; have it renewed with it"
        ));
    }
    (role == Role::Acceptor && !is_for_a_host(own)).then(|| {
        format!(
            "{what} has neither a DNS name nor an IP address as subjectAltName: initiators that check the acceptor's name refuse it; have it renewed with one"
        )
    })
}

/// Returns what is doubtful about the times of a file's certificates.
fn doubtful_times(file: &str, whose: Whose, chain: &[CertificateDer<'_>], now: Utc) -> Vec<String> {
    let then = whose.then();
    let doubt = |der: &CertificateDer<'_>| {
        let ((name, end), (begin, _)) = (name_and_end(der)?, validity_in_seconds(der)?);
        let begin = Utc(begin.saturating_mul(1_000_000_000));
        let what = format!("{file}: the certificate of {name}");
        match nearness(end, now) {
            Some(Nearness::Expired) => Some(format!("{what} has expired ({end}): {then}; renew it")),
            _ if begin > now => Some(format!("{what} is valid only from {begin} on: until then {then}")),
            Some(Nearness::Soon) => Some(format!("{what} expires soon ({end}): then {then}; renew it")),
            None => None,
        }
    };
    chain.iter().filter_map(doubt).collect()
}

/// Every TLS of an engine, each kind once.
#[derive(Debug)]
pub(crate) struct TlsContexts {
    /// The time by which certificates are judged: the system's, except in tests.
    clock: Arc<dyn TimeProvider>,
    /// Whether they are only tried: nothing is told, and no file is looked at again.
    are_tried: bool,
    /// Whether nothing is told of private keys that are loaded for the first time.
    leave_out_keys: AtomicBool,
    intervals: Intervals,
    contexts: Mutex<Contexts>,
}

/// How often something is done.
#[derive(Clone, Copy, Debug)]
struct Intervals {
    /// The files are looked at.
    look: Duration,
    /// Certificates that end soon are warned of.
    warning: Duration,
}

impl Default for Intervals {
    fn default() -> Self {
        Self { look: Duration::from_secs(60), warning: Duration::from_secs(86_400) }
    }
}

#[derive(Debug, Default)]
struct Contexts {
    all: Vec<Weak<TlsContext>>,
    /// Ends the thread that looks at the files when it is dropped.
    watching: Option<oneshot::Sender<()>>,
}

impl Default for TlsContexts {
    fn default() -> Self {
        Self::by(Arc::new(DefaultTimeProvider))
    }
}

impl TlsContexts {
    /// Returns none, whose certificates will be judged by the time of this clock.
    pub(super) fn by(clock: Arc<dyn TimeProvider>) -> Self {
        Self {
            clock,
            are_tried: false,
            leave_out_keys: AtomicBool::new(false),
            intervals: Intervals::default(),
            contexts: Mutex::default(),
        }
    }

    /// Returns none, to try whether their files can be loaded.
    pub(crate) fn tried() -> Self {
        Self { are_tried: true, ..Self::default() }
    }

    /// Sets whether private keys that others may read are left out, as they were told already.
    pub(crate) fn leave_out_keys(&self, leave_out: bool) {
        self.leave_out_keys.store(leave_out, Ordering::Relaxed);
    }

    fn now(&self) -> Utc {
        // A machine without a clock: every certificate is refused anyway.
        let seconds = self.clock.current_time().map_or(0, |now| now.as_secs());
        Utc(seconds.saturating_mul(1_000_000_000))
    }

    /// Returns the TLS of a port.
    ///
    /// # Errors
    /// What is wrong, and what to do.
    pub(crate) fn of_port(self: &Arc<Self>, settings: &Tls) -> Result<Arc<TlsContext>, TlsFaults> {
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
    ) -> Result<Arc<TlsContext>, TlsFaults> {
        let comp_id = if settings.binds_by_comp_id() { comp_id } else { "" };
        self.context(settings.clone(), Some(comp_id.to_owned()))
    }

    fn context(
        self: &Arc<Self>,
        settings: Tls,
        comp_id: Option<String>,
    ) -> Result<Arc<TlsContext>, TlsFaults> {
        let same = |one: &Arc<TlsContext>| one.settings == settings && one.comp_id == comp_id;
        if let Some(known) = self.all().into_iter().find(same) {
            return Ok(known);
        }
        let context = Arc::new(TlsContext::new(settings, comp_id, Arc::clone(&self.clock))?);
        if !self.are_tried {
            warn_of(&lock(&context.material).certificates, self.now());
            if !self.leave_out_keys.load(Ordering::Relaxed) {
                warn_of_key(&context.settings);
            }
        }
        let mut contexts = lock(&self.contexts);
        contexts.all.push(Arc::downgrade(&context));
        if contexts.watching.is_none() && !self.are_tried {
            contexts.watching = watch(Arc::downgrade(self), self.intervals);
        }
        Ok(context)
    }

    fn all(&self) -> Vec<Arc<TlsContext>> {
        let mut contexts = lock(&self.contexts);
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

    /// Loads the files again that have changed, or could not be loaded before. Returns what there
    /// is to say: each cause of a failure once, until they can be loaded.
    fn look(&self) -> Vec<Looked> {
        let all = self.all();
        let mut news = Vec::new();
        for context in all.iter().filter(|context| context.is_due()) {
            let known: Vec<_> = all.iter().map(|one| lock(&one.failures).clone()).collect();
            match context.reload() {
                Ok(()) => {
                    news.push(Looked::Loaded);
                    warn_of(&lock(&context.material).certificates, self.now());
                    warn_of_key(&context.settings);
                }
                Err(cause) if known.iter().flatten().any(|one| *one == cause) => {}
                Err(cause) => news.push(Looked::Failed(cause)),
            }
        }
        news
    }

    fn warn_of_ends(&self) {
        let now = self.now();
        for context in self.all() {
            warn_of(&lock(&context.material).certificates, now);
        }
    }
}

/// Warns of a private key that others may read.
fn warn_of_key(settings: &Tls) {
    if let Some(warning) = settings.certificate.as_ref().and_then(|own| key_mode::warning(&own.key)) {
        tracing::warn!(name: "private_key_exposed", "{warning}");
    }
}

/// What became of files that were to be loaded again.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Looked {
    Loaded,
    /// They were not, for this reason.
    Failed(String),
}

impl Looked {
    fn tell(&self) {
        match self {
            Self::Loaded => {
                tracing::info!(name: "certificates_loaded", "certificates were loaded again: new connections use them");
            }
            Self::Failed(error) => tracing::error!(
                name: "certificates_not_loaded",
                error,
                "certificates cannot be loaded again: new connections use the old ones until they can, which is tried each minute"
            ),
        }
    }
}

/// Warns of certificates that end soon.
fn warn_of(certificates: &[Known], now: Utc) {
    for Known { whose, name, not_after } in certificates {
        let (what, then, end) = (whose.what(), whose.then(), not_after);
        match nearness(*end, now) {
            Some(Nearness::Expired) => tracing::error!(
                name: "certificate_expired", %name, %end, "{what} has expired: {then}; renew it"
            ),
            Some(Nearness::Soon) => {
                tracing::warn!(name: "certificate_expires", %name, %end, "{what} expires soon; renew it");
            }
            None => {}
        }
    }
}

/// How near a certificate's end is that is warned of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Nearness {
    Expired,
    Soon,
}

fn nearness(end: Utc, now: Utc) -> Option<Nearness> {
    match end {
        _ if end <= now => Some(Nearness::Expired),
        _ if end.abs_diff(now) < WARNING => Some(Nearness::Soon),
        _ => None,
    }
}

/// Starts the thread that looks at the files, which ends when the sender is dropped. Without it,
/// files are loaded again on request only.
fn watch(contexts: Weak<TlsContexts>, intervals: Intervals) -> Option<oneshot::Sender<()>> {
    let (sender, receiver) = oneshot::channel::<()>();
    let run = move || {
        let mut warned = Duration::ZERO;
        while receiver.recv_timeout(intervals.look) == Err(oneshot::RecvTimeoutError::Timeout) {
            let Some(contexts) = contexts.upgrade() else { return };
            contexts.look().iter().for_each(Looked::tell);
            warned += intervals.look;
            if warned >= intervals.warning {
                warned = Duration::ZERO;
                contexts.warn_of_ends();
            }
        }
    };
    let thread = spawn("fixbolt-certificates", Box::new(run));
    if let Err(error) = &thread {
        tracing::error!(%error, "certificates are not watched: their thread cannot be started");
    }
    thread.is_ok().then_some(sender)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;
    use std::time::Instant;

    use rustls::pki_types::UnixTime;

    use super::*;
    use crate::tls::lines::Lines;
    use crate::tls::settings::{OwnCertificate, TlsVersion};

    #[test]
    fn a_certificates_doubtful_time_is_told_with_its_file_and_what_follows() {
        let mut parameters = rcgen::CertificateParams::default();
        parameters.distinguished_name.push(rcgen::DnType::CommonName, "VENUE");
        parameters.not_before = rcgen::date_time_ymd(2030, 1, 1);
        parameters.not_after = rcgen::date_time_ymd(2031, 1, 1);
        let key = rcgen::KeyPair::generate().unwrap();
        let chain = [parameters.self_signed(&key).unwrap().der().clone()];
        let day = |day: u64| Utc(day * 86_400 * 1_000_000_000);
        let told = |now| doubtful_times("own.pem", Whose::Ours, &chain, now);
        // Days since 1970: 2030 begins with the 21,915th, 2031 with the 22,280th.
        assert_eq!(
            told(day(21_914)),
            [
                "own.pem: the certificate of VENUE is valid only from 2030-01-01T00:00:00Z on: until then counterparties refuse it"
            ]
        );
        assert_eq!(told(day(21_915)), [""; 0]);
        assert_eq!(told(day(22_250)), [""; 0]);
        assert_eq!(
            told(day(22_251)),
            [
                "own.pem: the certificate of VENUE expires soon (2031-01-01T00:00:00Z): then counterparties refuse it; renew it"
            ]
        );
        assert_eq!(
            told(day(22_280)),
            [
                "own.pem: the certificate of VENUE has expired (2031-01-01T00:00:00Z): counterparties refuse it; renew it"
            ]
        );
    }

    #[test]
    fn a_certificate_that_every_counterparty_refuses_in_our_role_is_told_with_what_it_lacks() {
        use rcgen::ExtendedKeyUsagePurpose::{ClientAuth, ServerAuth};
        let issued = |names: &[&str], purposes: &[rcgen::ExtendedKeyUsagePurpose]| {
            let names = names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
            let mut parameters = rcgen::CertificateParams::new(names).unwrap();
            parameters.distinguished_name.push(rcgen::DnType::CommonName, "VENUE");
            parameters.extended_key_usages = purposes.to_vec();
            let key = rcgen::KeyPair::generate().unwrap();
            parameters.self_signed(&key).unwrap().der().clone()
        };
        let told = |certificate: &CertificateDer<'_>| {
            [Role::Acceptor, Role::Initiator].map(|role| doubtful_use("own.pem", certificate, role))
        };
        let begin = "own.pem: the certificate of VENUE has ";
        let no_servers = Some(format!(
            "{begin}purposes (extendedKeyUsage), and serverAuth is none of them: initiators refuse an acceptor's without it; have it renewed with it"
        ));
        let no_clients = Some(format!(
            "{begin}purposes (extendedKeyUsage), and clientAuth is none of them: acceptors refuse an initiator's without it; have it renewed with it"
        ));
        let no_host = Some(format!(
            "{begin}neither a DNS name nor an IP address as subjectAltName: initiators that check the acceptor's name refuse it; have it renewed with one"
        ));
        for (names, purposes, expected) in [
            (&["venue.example"][..], &[][..], [None, None]),
            (&["192.0.2.1"], &[ClientAuth, ServerAuth], [None, None]),
            (&["venue.example"], &[ClientAuth], [no_servers, None]),
            (&["venue.example"], &[ServerAuth], [None, no_clients]),
            (&[], &[], [no_host, None]),
        ] {
            let certificate = issued(names, purposes);
            assert_eq!(told(&certificate), expected, "{names:?} {purposes:?}");
            // A cut certificate is no reason to panic.
            for length in 0..certificate.len() {
                told(&certificate[..length].to_vec().into());
            }
        }
    }

    #[test]
    fn files_that_do_not_fit_are_named_with_what_they_have() {
        let folder = std::env::temp_dir().join(format!("fixbolt-unfit-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let file = |name: &str| folder.join(name);
        let parameters = rcgen::CertificateParams::default();
        let (key, other) = (rcgen::KeyPair::generate().unwrap(), rcgen::KeyPair::generate().unwrap());
        fs::write(file("own.pem"), parameters.self_signed(&key).unwrap().pem()).unwrap();
        fs::write(file("own.csr"), parameters.serialize_request(&key).unwrap().pem().unwrap()).unwrap();
        fs::write(file("own.key"), key.serialize_pem()).unwrap();
        fs::write(file("other.key"), other.serialize_pem()).unwrap();
        fs::write(file("notes"), "none of these").unwrap();
        let told = |chain: &str, key: &str| {
            let mut settings = Tls::new();
            settings.certificate = Some(OwnCertificate::new(file(chain), file(key)));
            let faults = Arc::new(TlsContexts::tried()).of_port(&settings).unwrap_err();
            let folder = format!("{}/", folder.display());
            faults.0.iter().map(|fault| fault.to_string().replace(&folder, "")).collect::<Vec<_>>()
        };
        assert_eq!(
            told("own.pem", "other.key"),
            ["SocketPrivateKeyFile: other.key: this private key is not that of the certificate in own.pem"]
        );
        let no_certificate = "there is no certificate (PEM: BEGIN CERTIFICATE)";
        let no_key = "there is no private key (PEM: PKCS#8, PKCS#1 or SEC1)";
        let is_a_key = "but a private key, which belongs in SocketPrivateKeyFile";
        let is_a_certificate = "but a certificate, which belongs in SocketCertificateFile";
        assert_eq!(
            told("own.key", "own.pem"),
            [
                format!("SocketCertificateFile: own.key: {no_certificate}, {is_a_key}"),
                format!("SocketPrivateKeyFile: own.pem: {no_key}, {is_a_certificate}"),
            ]
        );
        let is_a_request =
            "but a request for a certificate (CSR): an authority signs it, and sends the certificate";
        assert_eq!(
            told("own.csr", "own.key"),
            [format!("SocketCertificateFile: own.csr: {no_certificate}, {is_a_request}")]
        );
        assert_eq!(told("notes", "own.key"), [format!("SocketCertificateFile: notes: {no_certificate}")]);
        fs::remove_dir_all(&folder).unwrap();
    }

    fn write(folder: &Path, name: &str) {
        let mut parameters = rcgen::CertificateParams::default();
        parameters.distinguished_name.push(rcgen::DnType::CommonName, name);
        parameters.not_after = rcgen::date_time_ymd(2100, 1, 1);
        let key = rcgen::KeyPair::generate().unwrap();
        let text = parameters.self_signed(&key).unwrap().pem() + &key.serialize_pem();
        fs::write(folder.join("new"), text).unwrap();
        fs::rename(folder.join("new"), folder.join("own.pem")).unwrap();
    }

    fn name(context: &TlsContext) -> String {
        lock(&context.material).certificates[0].name.clone()
    }

    /// The second day before the certificates of these tests end.
    #[derive(Debug)]
    struct EndOf2099;

    impl TimeProvider for EndOf2099 {
        fn current_time(&self) -> Option<UnixTime> {
            let end = rcgen::date_time_ymd(2100, 1, 1).unix_timestamp() as u64;
            Some(UnixTime::since_unix_epoch(Duration::from_secs(end - 2 * 86_400)))
        }
    }

    fn wait_until(is_so: impl Fn() -> bool) {
        let begun = Instant::now();
        while !is_so() {
            assert!(begun.elapsed() < Duration::from_secs(20));
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    #[test]
    fn a_thread_looks_at_the_files_once_a_minute_and_warns_of_ends_once_a_day() {
        let lines = Lines::collect();
        let warned = |name: &str| {
            let name = format!("name={name} ");
            lines.with(&["our certificate expires soon; renew it", &name]).len()
        };
        let watched = |name: &str, intervals| {
            let folder = std::env::temp_dir().join(format!("fixbolt-{name}-{}", std::process::id()));
            fs::create_dir_all(&folder).unwrap();
            write(&folder, name);
            let own = folder.join("own.pem");
            let mut settings = Tls::new();
            settings.certificate = Some(OwnCertificate::new(&own, &own));
            let contexts = Arc::new(TlsContexts { intervals, ..TlsContexts::by(Arc::new(EndOf2099)) });
            let context = contexts.of_port(&settings).unwrap();
            (folder, context, contexts)
        };
        let usual = Intervals::default();
        assert_eq!((usual.look.as_secs(), usual.warning.as_secs()), (60, 86_400));
        let look = Duration::from_millis(10);
        let (often, context, _often) = watched("WARNED-OFTEN", Intervals { look, warning: look });
        let (once, other, _once) = watched("WARNED-ONCE", Intervals { look, ..usual });
        wait_until(|| warned("WARNED-OFTEN") > 2);
        for (folder, context) in [(&often, &context), (&once, &other)] {
            write(folder, "RENEWED");
            wait_until(|| name(context) == "RENEWED");
            fs::remove_dir_all(folder).unwrap();
        }
        assert_eq!(warned("WARNED-ONCE"), 1, "at the start");
    }

    #[test]
    fn a_reload_that_failed_is_tried_again_at_each_look_and_said_once_for_each_cause() {
        let folder = std::env::temp_dir().join(format!("fixbolt-tried-again-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let own = folder.join("own.pem");
        write(&folder, "FIRST");
        let mut settings = Tls::new();
        settings.certificate = Some(OwnCertificate::new(&own, &own));
        let contexts = Arc::<TlsContexts>::default();
        let context = contexts.of_port(&settings).unwrap();
        // Another one with the same files: what is wrong with them is said once.
        settings.min_version = TlsVersion::Tls13;
        let _other = contexts.of_port(&settings).unwrap();
        let look = || {
            let failed = |looked: &Looked| matches!(looked, Looked::Failed(_));
            let news = contexts.look();
            let failures = news.iter().filter(|looked| failed(looked)).count();
            (news.len() - failures, failures, name(&context))
        };
        let first = |failures| (0, failures, "FIRST".to_owned());
        write(&folder, "THE SECOND ONE");
        let whole = fs::read(&own).unwrap();
        let half = [&whole[..whole.len() / 2], &vec![b'\n'; whole.len() - whole.len() / 2]].concat();
        let time = fs::metadata(&own).unwrap().modified().unwrap();
        // As seen by its size and its time, the file is the same while it is being written.
        let write_as = |text: &[u8]| {
            fs::write(&own, text).unwrap();
            fs::File::options().write(true).open(&own).unwrap().set_modified(time).unwrap();
        };
        write_as(&half);
        assert_eq!([look(), look(), look()], [first(1), first(0), first(0)]);
        // Another cause, and the first one again.
        fs::remove_file(&own).unwrap();
        assert_eq!([look(), look()], [first(1), first(0)]);
        write_as(&half);
        assert_eq!(look(), first(0));
        write_as(&whole);
        let second = |loaded| (loaded, 0, "THE SECOND ONE".to_owned());
        assert_eq!([look(), look()], [second(2), second(0)], "they are loaded once");
        // One that was asked for: whoever asked is told.
        write_as(&half);
        contexts.reload().unwrap_err();
        assert_eq!(look(), second(0));
        write_as(&whole);
        assert_eq!(look(), second(2));
        // What was repaired may fail again.
        fs::write(&own, "").unwrap();
        assert_eq!(look(), (0, 1, "THE SECOND ONE".to_owned()));
        fs::remove_dir_all(&folder).unwrap();
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
        contexts.look();
        assert_eq!(name(&context), "FIRST");
        // The time of a file may be a second's.
        fs::write(&own, "no certificate").unwrap();
        assert!(lock(&context.material).files.have_changed());
        contexts.look();
        assert_eq!(name(&context), "FIRST");
        let error = contexts.reload().unwrap_err();
        assert!(error.ends_with("own.pem: there is no certificate (PEM: BEGIN CERTIFICATE)"), "{error}");
        write(&folder, "ANOTHER ONE");
        contexts.look();
        assert_eq!(name(&context), "ANOTHER ONE");
        drop((context, other));
        assert!(contexts.all().is_empty());
        fs::remove_dir_all(&folder).unwrap();
    }
}
