//! What an engine with a configuration would find when it starts.

use core::net::SocketAddr;
use std::collections::HashSet;
use std::path::Path;

use fixbolt_journal::try_to_create_in;
use fixbolt_session::schedule::{Schedule, WindowPosition};
use fixbolt_session::store::StoreError;
use fixbolt_session::{SessionId, Utc};

use super::error::{ConfigError, ConfigWarning, SourceLine, Trial};
use super::securing::is_of_tls;
use super::session::{CheckedSession, ConnectionType, EffectiveSetting, SessionConfiguration};
use super::values::local_ip;
use super::{CheckedConfiguration, Configuration, in_order, once};
use crate::builder::EngineBuilder;
use crate::builder::trial::{Follows, Obstacle};
use crate::clock;
use crate::configured::journals;
use crate::descriptors::{self, Descriptors, Opened, TooFew};
use crate::error::{EngineError, ListenError};
use crate::ports::try_to_bind;
use crate::settings_error::SettingsError;
use crate::tls::doubts;
use crate::waiting::{WorkerOptions, too_many};

impl CheckedConfiguration {
    /// Does what an engine with the valid sessions does when it starts, as far as that opens
    /// nothing and changes nothing, and adds what would stop it to the mistakes: certificates, keys
    /// and revocation lists that cannot be loaded, TLS that does not fit the port, journals and
    /// message logs that cannot be written, ports that cannot be bound, cores and memory that this
    /// process cannot have.
    ///
    /// Adds what is doubtful to the warnings: a private key that others may read, and one that is
    /// slow to sign with, with what a signature takes on this machine. Without this call an engine
    /// finds all that when it starts, because a configuration may be for another machine; with it,
    /// an engine with this configuration leaves out what the warnings have.
    ///
    /// What is wrong with other sessions is found beside those that have mistakes already.
    pub fn try_start(&mut self) -> Trial {
        let mut trial = Trial::default();
        self.is_tried = true;
        if let Ok(configuration) = self.clone().usable() {
            self.warn_of_memory(&configuration);
            self.warn_of_cores(&configuration);
            self.warn_of_schedules(clock::now().utc);
            self.warn_of_source_addresses();
            if let Some(descriptors) = descriptors::look() {
                self.compare_descriptors(&configuration, descriptors);
            }
            for Obstacle { error, key, follows } in obstacles(&configuration) {
                let (key, place, reason) = self.told(key, &error);
                let list = match follows {
                    Follows::NoStart => {
                        self.add_mistake(&error, ConfigError::Start { place, key, reason });
                        continue;
                    }
                    Follows::NoSecondStart => &mut trial.in_use,
                    Follows::Halt => &mut trial.halted,
                };
                let instead = match &error {
                    EngineError::Store { session, error: StoreError::Damaged { reason, .. } } => {
                        format!("session {session} is halted when it starts: {reason}")
                    }
                    _ => reason,
                };
                let key = key.unwrap_or_default();
                list.push(ConfigWarning { place, key, instead, is_used: true });
            }
        }
        self.warn_of_tls();
        let file = self.sessions.first().map(|session| session.place.file.clone());
        self.mistakes = in_order(core::mem::take(&mut self.mistakes), &file.unwrap_or_default());
        self.warnings = once(core::mem::take(&mut self.warnings));
        trial.in_use = once(trial.in_use);
        trial
    }

    /// Returns the key that an error is about, its place, and what is wrong with it.
    fn told(&self, key: Option<&str>, error: &EngineError) -> (Option<String>, SourceLine, String) {
        let whole = format!("{error:#}");
        let is_concerned = concerns(error);
        let concerned = self.sessions.iter().find(|session| is_concerned(session));
        let reason = match error {
            EngineError::Settings { error: SettingsError::Tls { reason }, .. }
            | EngineError::Listen { error: ListenError::Sessions { reason }, .. } => Some(reason),
            _ => None,
        };
        if let (Some(reason), Some(session)) = (reason, concerned) {
            let names = |setting: &EffectiveSetting| begins_with_file(reason, &setting.value);
            let same = setting_of_tls(session, |setting| Some(&*setting.key) == key && names(setting));
            // Another engine's key may name the file.
            if let Some((key, place)) = same.or_else(|| setting_of_tls(session, names)) {
                return (Some(key), place, reason.clone());
            }
        }
        let of_session = concerned.into_iter().flat_map(|session| &session.effective);
        let mut settings = self.engine_effective.iter().chain(of_session);
        let named = settings.find(|setting| setting.place.is_some() && Some(&*setting.key) == key);
        if let Some(EffectiveSetting { key, place: Some(place), .. }) = named {
            return (Some(key.clone()), place.clone(), whole);
        }
        let section = concerned.or(self.sessions.first()).map(|session| session.place.clone());
        (None, section.unwrap_or_else(|| SourceLine { file: "".into(), line: 1 }), whole)
    }

    /// Adds a mistake, with which no session that it concerns is valid.
    fn add_mistake(&mut self, error: &EngineError, mistake: ConfigError) {
        let is_concerned = concerns(error);
        for session in self.sessions.iter_mut() {
            if !is_concerned(session) {
                continue;
            }
            match &mut session.result {
                Ok(_) => session.result = Err(vec![mistake.clone()]),
                Err(mistakes) => mistakes.push(mistake.clone()),
            }
        }
        self.mistakes.push(mistake);
    }

    /// Says what is lost with the process, unless the file says that this is meant.
    fn warn_of_memory(&mut self, configuration: &Configuration) {
        let Some(session) = configuration.sessions.first() else { return };
        if session.journal.is_none() && session.persist_messages && !configuration.engine.store_in_memory {
            self.warnings.push(ConfigWarning {
                place: session.place.clone(),
                key: "FileStorePath".to_owned(),
                instead: "none is set, so messages and sequence numbers are in memory only: when the process ends, what was sent cannot be sent again, and sequence numbers begin at 1; name a directory, or write Store=memory in [DEFAULT] if that is meant".to_owned(),
                is_used: true,
            });
        }
    }

    /// Warns of more workers than there are cores.
    fn warn_of_cores(&mut self, configuration: &Configuration) {
        let engine = &configuration.engine;
        let shared = engine.workers.unwrap_or(engine.worker_cores.len().max(1));
        let shared = vec![WorkerOptions { waiting: engine.worker_waiting, core: None }; shared];
        let dedicated = configuration.sessions.iter().filter_map(|session| session.dedicated_worker);
        let workers: Vec<_> = shared.into_iter().chain(dedicated).collect();
        let Some(instead) = too_many(&workers) else { return };
        let of_sessions = self.sessions.iter().flat_map(|session| &session.effective);
        let settings = self.engine_effective.iter().chain(of_sessions);
        let of_workers = ["WorkerWaiting", "Workers", "DedicatedWorker", "WorkerCores"];
        let written = |key: &&str| {
            let setting = settings.clone().find(|setting| setting.key == *key && setting.place.is_some())?;
            Some((setting.key.clone(), setting.place.clone()?))
        };
        let named = of_workers.iter().find_map(written);
        if let Some((key, place)) = named {
            self.warnings.push(ConfigWarning { place, key, instead, is_used: true });
        }
    }

    /// Compares what an engine with this configuration opens with what the process may open.
    fn compare_descriptors(&mut self, configuration: &Configuration, descriptors: Descriptors) {
        let Configuration { engine, sessions, .. } = configuration;
        let ports: HashSet<SocketAddr> = sessions
            .iter()
            .filter_map(|session| match &session.connection {
                ConnectionType::Acceptor { listen, .. } => Some(*listen),
                ConnectionType::Initiator(_) => None,
            })
            .collect();
        let Some(base) = base_of_journals(sessions) else { return };
        let store = journals(base, engine);
        let of_journals: Vec<usize> = fixed(sessions).map(|id| store.descriptors_for(id)).collect();
        let shared = engine.workers.unwrap_or(engine.worker_cores.len().max(1));
        let opened = Opened {
            sessions: sessions.len(),
            journals: of_journals.len(),
            of_journals: of_journals.iter().sum(),
            ports: ports.len(),
            workers: shared + sessions.iter().filter(|session| session.dedicated_worker.is_some()).count(),
        };
        let store = |session| written(session, |setting| setting.key == "FileStorePath");
        let Some((key, place)) = self.sessions.iter().find_map(store) else { return };
        match opened.fits(descriptors) {
            Ok(()) => {}
            Err(TooFew::ToStart(reason)) => {
                self.mistakes.push(ConfigError::Start { place, key: Some(key), reason });
            }
            Err(TooFew::ToConnect(instead)) => {
                self.warnings.push(ConfigWarning { place, key, instead, is_used: true });
            }
        }
    }

    /// Warns of schedules with which there is no connection within three years from now on.
    fn warn_of_schedules(&mut self, now: Utc) {
        for session in &self.sessions {
            let Ok(checked) = &session.result else { continue };
            let is_never =
                |schedule: &Schedule| schedule.connection_at(now) == WindowPosition::Out { until: None };
            if !checked.settings().schedule.as_deref().is_some_and(is_never) {
                continue;
            }
            let of = |key: &str| written(session, |setting| setting.key == key);
            let (key, place) = ["LogonTime", "LogonDay", "StartTime"]
                .into_iter()
                .find_map(of)
                .unwrap_or_else(|| ("StartTime".to_owned(), session.place.clone()));
            self.warnings.push(ConfigWarning {
                place,
                key,
                instead: format!("{} can never log on: its schedule allows no connection within three years, since the windows of logons, of the session and the holidays leave no time", session.name),
                is_used: true,
            });
        }
    }

    /// Warns of local addresses that connections cannot have: no attempt from there succeeds.
    fn warn_of_source_addresses(&mut self) {
        for session in &self.sessions {
            let Ok(SessionConfiguration { connection: ConnectionType::Initiator(initiation), .. }) =
                &session.result
            else {
                continue;
            };
            for (local, (host, port)) in initiation.local_addresses.iter().zip(&initiation.hosts) {
                let Some(local) = local else { continue };
                // A port in use may be that of the running engine.
                let mut any_port = *local;
                any_port.set_port(0);
                let Err(error) = try_to_bind(any_port) else { continue };
                let (key, place) = written(session, |setting| {
                    (setting.key.starts_with("SocketConnectSourceHost") || setting.key == "SocketLocalHost")
                        && local_ip(&setting.value) == Some(local.ip())
                })
                .unwrap_or_else(|| ("SocketConnectSourceHost".to_owned(), session.place.clone()));
                self.warnings.push(ConfigWarning {
                    place,
                    key,
                    instead: format!(
                        "{} can never connect to {host}:{port}: {} is no address of this machine: {error}",
                        session.name,
                        local.ip()
                    ),
                    is_used: true,
                });
            }
        }
    }

    /// Warns of keys and certificates, unless another session has the same.
    fn warn_of_tls(&mut self) {
        let now = clock::now().utc;
        let mut seen = Vec::new();
        for session in &self.sessions {
            let Ok(checked) = &session.result else { continue };
            let (Some(tls), role) = (checked.tls(), checked.settings().role) else { continue };
            if seen.contains(&(tls, role)) {
                continue;
            }
            for instead in doubts(tls, role, now) {
                let named = setting_of_tls(session, |setting| begins_with_file(&instead, &setting.value));
                let (key, place) = named
                    .or_else(|| setting_of_tls(session, |_| true))
                    .unwrap_or_else(|| ("TLS".to_owned(), session.place.clone()));
                self.warnings.push(ConfigWarning { place, key, instead, is_used: true });
            }
            seen.push((tls, role));
        }
    }
}

/// Returns whether a text begins with the name of this file, and not with one that is longer.
fn begins_with_file(text: &str, file: &str) -> bool {
    let goes_on = |next: char| next.is_alphanumeric() || "._-/".contains(next);
    text.strip_prefix(file).is_some_and(|rest| !rest.starts_with(goes_on))
}

/// Returns what stands in the way of an engine with this configuration.
fn obstacles(configuration: &Configuration) -> Vec<Obstacle> {
    let builder = EngineBuilder::from_config(configuration);
    let mut found = builder.obstacles(configuration.engine.workers.unwrap_or(1));
    let sessions = &configuration.sessions;
    let (Some(base), Some(first)) = (base_of_journals(sessions), sessions.first()) else { return found };
    let first = &first.settings().id;
    let in_way = |session: &SessionId, error: StoreError| {
        let follows = match error {
            StoreError::Locked { .. } => Follows::NoSecondStart,
            StoreError::Damaged { .. } => Follows::Halt,
            _ => Follows::NoStart,
        };
        let error = EngineError::Store { session: Box::new(session.clone()), error };
        Obstacle { error, key: Some("FileStorePath"), follows }
    };
    if let Err(error) = try_to_create_in(base) {
        let error =
            StoreError::Io { doing: format!("writing to {}", base.display()), reason: error.to_string() };
        found.push(in_way(first, error));
        return found;
    }
    let store = journals(base, &configuration.engine);
    if let Err(error) = store.look_for_room(fixed(sessions)) {
        found.push(in_way(first, error));
    }
    for id in fixed(sessions) {
        if let Err(error) = store.look(id) {
            found.push(in_way(id, error));
        }
    }
    found
}

/// Returns where the journals are, which is one place for all sessions.
fn base_of_journals(sessions: &[SessionConfiguration]) -> Option<&Path> {
    sessions.first()?.journal.as_deref()
}

/// Returns the sessions whose counterparties are known, which are opened at the start.
fn fixed(sessions: &[SessionConfiguration]) -> impl Iterator<Item = &SessionId> {
    sessions.iter().filter_map(SessionConfiguration::id)
}

/// Returns whether an error of a start is about a session.
fn concerns(error: &EngineError) -> impl Fn(&CheckedSession) -> bool + use<'_> {
    let name = match error {
        EngineError::Settings { session: id, .. }
        | EngineError::Open { session: id, .. }
        | EngineError::Store { session: id, .. } => Some(id.to_string()),
        _ => None,
    };
    move |session| match error {
        EngineError::Listen { address, .. } => matches!(
            &session.result,
            Ok(SessionConfiguration { connection: ConnectionType::Acceptor { listen, .. }, .. })
                if listen == address
        ),
        _ => name.as_ref() == Some(&session.name),
    }
}

/// Returns the first key of TLS that is written for a session and `is` right, and its place.
fn setting_of_tls(
    session: &CheckedSession,
    is: impl Fn(&EffectiveSetting) -> bool,
) -> Option<(String, SourceLine)> {
    written(session, |setting| is_of_tls(&setting.key) && is(setting))
}

/// Returns the first key that is written for a session and `is` right, and its place.
fn written(session: &CheckedSession, is: impl Fn(&EffectiveSetting) -> bool) -> Option<(String, SourceLine)> {
    session.effective.iter().find_map(|setting| {
        let place = setting.place.as_ref()?;
        is(setting).then(|| (setting.key.clone(), place.clone()))
    })
}

#[cfg(test)]
mod tests {
    use super::begins_with_file;

    #[test]
    fn a_text_begins_with_a_file_and_not_with_one_whose_name_is_longer() {
        for (text, is_named) in [
            ("/tls/own: no such file", true),
            ("/tls/own, certificate 2: it has expired", true),
            ("/tls/own.key: no such file", false),
            ("/tls/own-key: no such file", false),
            ("/tls/other: no such file", false),
        ] {
            assert_eq!(begins_with_file(text, "/tls/own"), is_named, "{text}");
        }
    }
}
