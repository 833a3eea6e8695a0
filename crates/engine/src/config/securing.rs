//! What the keys of TLS decide together. A session that has one has TLS, or says that it has none.

use fixbolt_session::Role;

use super::error::{ConfigError, ConfigWarning};
use super::other_keys;
use super::reading::SessionReader;
use super::rows::row_of;
use super::text::Setting;
use super::tls_draft::Mistake;
use crate::tls::{ClientCertificates, NOT_BUILT, Tls};

/// The keys that turn TLS on, or are the first to look at.
const FIRST: [&str; 7] = [
    "SocketUseSSL",
    "SocketCertificateFile",
    "SocketKeyStore",
    "SSLCertificate",
    "SocketCAFile",
    "TLSPeerPins",
    "TLSPeerNames",
];

/// The keys with which certificates are verified.
const VERIFYING: [&str; 5] = [
    "SocketCAFile",
    "SSLCACertificate",
    "CertificationAuthoritiesFile",
    "CertificationAuthoritiesDirectory",
    "CertificateRevocationListFile",
];

/// The keys that say whether an acceptor asks clients for certificates.
const ASKING: [&str; 3] = ["NeedClientAuth", "SSLRequireClientCertificate", "CertificateVerifyLevel"];

/// Returns whether a key is about TLS, whether or not it is used.
pub(super) fn is_of_tls(key: &str) -> bool {
    row_of(key).is_some_and(|row| row.is_of_tls) || other_keys::is_of_tls(key)
}

impl<'s> SessionReader<'s> {
    /// Returns the TLS of the session's connections.
    pub(super) fn tls(&mut self, warnings: &mut Vec<ConfigWarning>) -> Option<Tls> {
        let role = self.draft.role?;
        let on = self.find("SocketUseSSL");
        let is_net = on.is_some_and(|setting| setting.key.eq_ignore_ascii_case("SSLEnable"));
        self.draft.tls.as_in_net |= is_net;
        let first = FIRST.into_iter().find_map(|name| self.find(name));
        if !self.draft.tls.is_on() {
            self.check_plain(on, warnings);
            return None;
        }
        if let (true, Some(setting)) = (self.draft.tls.leaves_out_revocation(), self.net_key()) {
            let why = "revocation is not checked, which QuickFIX/N does; name lists in CertificateRevocationListFile, or write SSLCheckCertificateRevocation=N";
            warnings.push(setting.doubtful(why.to_owned()));
        }
        if let (Some(preset), Some(suites)) = (self.find("TLSPreset"), self.find("CipherSuites"))
            && !preset.text().eq_ignore_ascii_case("none")
            // What the session itself says is meant to count instead of a default.
            && (self.find_own("TLSPreset").is_some() || self.find_own("CipherSuites").is_none())
        {
            let why = format!("{} at {} names the cipher suites", suites.key, suites.place);
            warnings.push(preset.without_effect(why));
        }
        match self.draft.tls.finish(role) {
            Ok(tls) => {
                let is_off = |tls: &Tls| tls.client_certificates == ClientCertificates::Off;
                if role == Role::Acceptor && tls.as_ref().is_some_and(is_off) {
                    self.check_unasked(warnings);
                }
                tls
            }
            Err(mistakes) => {
                for mistake in mistakes {
                    self.tell_tls(mistake, first);
                }
                None
            }
        }
    }

    /// Returns the key by which a session has TLS as in QuickFIX/N.
    fn net_key(&self) -> Option<&'s Setting> {
        let on = self.find("SocketUseSSL").filter(|on| on.key.eq_ignore_ascii_case("SSLEnable"));
        on.or_else(|| self.find("SSLCertificate"))
    }

    /// Warns of what would verify clients, in the session of an acceptor that asks them for no
    /// certificate. What it inherits may be for other sessions, once a key says that it asks for
    /// none.
    fn check_unasked(&self, warnings: &mut Vec<ConfigWarning>) {
        let says_so = ASKING.into_iter().find_map(|name| self.find(name));
        for name in VERIFYING {
            match (says_so, self.find(name)) {
                (None, Some(setting)) => {
                    let why = "an acceptor verifies no client with it unless it asks for certificates; write NeedClientAuth=Y, or N if that is meant";
                    warnings.push(setting.doubtful(why.to_owned()));
                }
                (Some(off), Some(setting)) if self.find_own(name).is_some() => {
                    let why = format!("{}={} asks clients for no certificate", off.key, off.written);
                    warnings.push(setting.without_effect(why));
                }
                _ => {}
            }
        }
    }

    /// Checks that a session without TLS has none on purpose. What does not apply to its role
    /// counts: the file is about TLS.
    fn check_plain(&mut self, on: Option<&'s Setting>, warnings: &mut Vec<ConfigWarning>) {
        if let (true, Some(setting)) =
            (self.draft.tls.binds_peer(), self.find("TLSPeerPins").or_else(|| self.find("TLSPeerNames")))
        {
            let what = "TLSPeerPins and TLSPeerNames are about the counterparty's certificate, and the session has no TLS; set SocketUseSSL=Y";
            return self.contradicts(on.unwrap_or(setting), what);
        }
        let is_own = self.find_own("SocketUseSSL").is_some();
        let sections = match on {
            Some(_) if is_own => return,
            // What the session itself says is more than a default.
            Some(_) => [Some(self.own), None],
            None => [Some(self.own), self.defaults],
        };
        let settings = sections.into_iter().flatten().flat_map(|section| &section.settings);
        let named: Vec<&Setting> = settings.filter(|setting| is_of_tls(&setting.key)).collect();
        for setting in named {
            let key = &setting.key;
            if let Some(on) = on {
                let reason = format!(
                    "{key} is about TLS, and {} at {} turns it off; write SocketUseSSL for this session, Y or N",
                    on.key, on.place
                );
                return self.contradicts(setting, reason);
            }
            if key.eq_ignore_ascii_case("SSLProtocol") && self.draft.tls.is_of_old_versions() {
                let instead = "the session has no TLS; SocketUseSSL=Y turns it on, with TLSv1_2 or TLSv1_3";
                warnings.push(setting.without_effect(instead));
                continue;
            }
            let reason = format!(
                "{key} is about TLS, and nothing turns it on: SocketUseSSL=Y does; SocketUseSSL=N says that connections are plain on purpose"
            );
            return self.contradicts(setting, reason);
        }
    }

    fn tell_tls(&mut self, mistake: Mistake, first: Option<&Setting>) {
        let place = |key: &str| self.find(key).or(first);
        match mistake {
            Mistake::Missing(what) => self.missing(what),
            Mistake::Unavailable(key, instead) => {
                if let Some(setting) = place(key) {
                    self.mistakes.push(setting.unavailable(instead));
                }
            }
            Mistake::Contradicts(key, why) => match place(key) {
                Some(setting) => self.contradicts(setting, why),
                None => {
                    let place = self.own.place.clone();
                    self.mistakes.push(ConfigError::Contradiction { place, reason: why.to_owned() });
                }
            },
            Mistake::NotBuilt => {
                let place = first.map_or(&self.own.place, |setting| &setting.place).clone();
                let key = first.map_or("TLS", |setting| &setting.key).to_owned();
                self.mistakes.push(ConfigError::Unavailable {
                    place,
                    key,
                    reason: NOT_BUILT.to_owned().into(),
                });
            }
        }
    }
}
