//! An engine from a configuration file: the builder's calls, made from the file's settings.

use std::path::Path;

use fixbolt_journal::{DirectoryStore, NoStore};

use crate::builder::EngineBuilder;
use crate::config::{Configuration, ConnectionType, EngineConfiguration, SessionConfiguration};
use crate::engine::Engine;
use crate::error::EngineError;

impl Engine<()> {
    /// Returns the builder that the configuration file at `path` describes, and logs each of its
    /// warnings (`tracing`).
    ///
    /// A program that shows the warnings itself, needs the settings in `[APP]`, or runs as many
    /// workers as the file says, reads a [`Configuration`] and calls
    /// [`EngineBuilder::from_config`].
    ///
    /// ```no_run
    /// use fixbolt::prelude::*;
    ///
    /// struct Venue;
    ///
    /// impl Application for Venue {
    ///     fn on_message(&mut self, _: Message<'_>, _: &mut Turn<'_>) -> Result<Delivery, Failure> {
    ///         Ok(Delivery::Done)
    ///     }
    /// }
    ///
    /// let engine = Engine::from_config("venue.cfg")?.start(Venue)?;
    /// engine.wait()?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`EngineError::Config`]: every mistake, each with file and line.
    pub fn from_config(path: impl AsRef<Path>) -> Result<EngineBuilder, EngineError> {
        let configuration = Configuration::from_file(path)?;
        for warning in &configuration.warnings {
            tracing::warn!("{warning}");
        }
        Ok(EngineBuilder::from_config(&configuration))
    }
}

impl EngineBuilder {
    /// Returns the builder that `configuration` describes. Showing its warnings is left to the
    /// caller, and so is the number of workers: if `configuration.engine.workers` names one, the
    /// engine starts with that number only ([`EngineBuilder::start_with`]).
    /// [`Engine::from_config`] reads the file, too.
    ///
    /// ```no_run
    /// use fixbolt::EngineBuilder;
    /// use fixbolt::config::Configuration;
    /// # struct Venue;
    /// # impl fixbolt::session::Application for Venue {
    /// #     fn on_message(
    /// #         &mut self,
    /// #         _: fixbolt::codec::Message<'_>,
    /// #         _: &mut fixbolt::session::Turn<'_>,
    /// #     ) -> Result<fixbolt::session::Delivery, fixbolt::session::Failure> {
    /// #         Ok(fixbolt::session::Delivery::Done)
    /// #     }
    /// # }
    ///
    /// let configuration = Configuration::from_file("venue.cfg")?;
    /// for warning in &configuration.warnings {
    ///     eprintln!("{warning}");
    /// }
    /// let workers = configuration.engine.workers.unwrap_or(1);
    /// let engine = EngineBuilder::from_config(&configuration).start_with(workers, |_| Venue)?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn from_config(configuration: &Configuration) -> Self {
        let sessions = &configuration.sessions;
        let mut builder = match sessions.first() {
            // All sessions of an engine are kept in one place.
            Some(SessionConfiguration { journal: Some(base), .. }) => {
                let (base, engine) = (base.clone(), configuration.engine.clone());
                Self::new().stores(move |_| Box::new(journals(&base, &engine)))
            }
            Some(SessionConfiguration { persist_messages: false, .. }) => {
                Self::new().stores(|_| Box::new(NoStore::new()))
            }
            _ => Self::new(),
        };
        let engine = &configuration.engine;
        builder = builder
            .configured_workers(engine.workers)
            .doubts_told(configuration.is_tried)
            .worker_waiting(engine.worker_waiting)
            .worker_cores(engine.worker_cores.iter().copied())
            .lock_memory(engine.lock_memory)
            .warm_up(engine.warm_up)
            .continue_initialization_on_error(engine.continue_initialization_on_error)
            .max_sessions(engine.max_sessions)
            .max_pending_connections(engine.max_pending_connections)
            .max_connections_per_address(engine.max_connections_per_address)
            .max_dynamic_sessions(engine.max_dynamic_sessions)
            .dynamic_session_idle_time(engine.dynamic_session_idle_time)
            .outbound_queue_size(engine.outbound_queue_size)
            .outbound_queue_budget(engine.outbound_queue_budget);
        if let Some(interval) = engine.warm_up_interval {
            builder = builder.warm_up_interval(interval);
        }
        if let Some(directory) = &engine.message_log {
            builder = builder.message_log(directory);
        }
        let acceptors =
            sessions.iter().filter(|session| matches!(session.connection, ConnectionType::Acceptor { .. }));
        // Only the Logon shows which session a connection is for: until then the most patient
        // session decides.
        if let Some(longest) = acceptors.map(|session| session.settings().timing.logon_timeout).max() {
            builder = builder.pending_time(longest);
        }
        for session in sessions {
            if let Some(worker) = session.dedicated_worker {
                builder = builder.dedicated_worker(session.settings().id.clone(), worker);
            }
            builder = match session.connection.clone() {
                ConnectionType::Acceptor { listen, dynamic_session: None, acceptance } => {
                    builder.accept(listen, acceptance)
                }
                ConnectionType::Acceptor { listen, dynamic_session: Some(identity), acceptance } => {
                    builder.accept_any_from(listen, identity, acceptance)
                }
                ConnectionType::Initiator(initiation) => builder.connect(initiation),
            };
        }
        builder
    }
}

/// Returns a store for journals below `base` with the limits of `engine`.
pub(crate) fn journals(base: &Path, engine: &EngineConfiguration) -> DirectoryStore {
    let mut store = DirectoryStore::new(base).with_retention(engine.retention);
    if let Some(bytes) = engine.journal_quota {
        store = store.with_quota(bytes);
    }
    match &engine.journal_cookies {
        Some(directory) => store.with_cookies(directory),
        None => store,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_logon_timeout_is_how_long_a_connection_may_take_to_log_on() {
        let text = "[DEFAULT]\nConnectionType=acceptor\nSocketAcceptPort=0\nBeginString=FIX.4.4\nSenderCompID=A\n\
             LogonTimeout=3\n[SESSION]\nTargetCompID=B\nLogonTimeout=45\n[SESSION]\nTargetCompID=C\n";
        let configuration = Configuration::from_text("a.cfg", text).unwrap();
        let builder = format!("{:?}", EngineBuilder::from_config(&configuration));
        assert!(builder.contains("pending_time: 45s"), "{builder}");
    }

    #[test]
    fn the_engines_limits_are_those_of_the_file() {
        let text = "[DEFAULT]\nMaxSessions=5\nMaxPendingConnections=6\nOutboundQueueSize=70000\n\
             MaxConnectionsPerAddress=7\nMaxDynamicSessions=8\nDynamicSessionIdleTime=9\n\
             OutboundQueueBudget=80000\nConnectionType=acceptor\nSocketAcceptPort=0\nBeginString=FIX.4.4\n\
             SenderCompID=A\n[SESSION]\nTargetCompID=B\n";
        let configuration = Configuration::from_text("a.cfg", text).unwrap();
        let builder = format!("{:?}", EngineBuilder::from_config(&configuration));
        for limit in [
            "pending: 6, per_address: 7",
            "dynamic_idle_time: 9s",
            "all: 5, dynamic: 8",
            "outbound_queue_size: 70000",
            "outbound_queue_budget: 80000",
        ] {
            assert!(builder.contains(limit), "{limit}: {builder}");
        }
    }

    #[test]
    fn the_limits_of_journals_are_those_of_the_file() {
        let limits = "JournalQuota=2000000\nJournalCookies=cookies\nArchiveGenerations=3\nArchiveDays=4\narchivesize=5000\n";
        let text = |more| {
            format!(
                "[DEFAULT]\n{limits}ConnectionType=acceptor\nSocketAcceptPort=0\nBeginString=FIX.4.4\n\
                 SenderCompID=A\n{more}[SESSION]\nTargetCompID=B\n"
            )
        };
        let configuration = Configuration::from_text("a.cfg", &text("FileStorePath=store\n")).unwrap();
        assert!(configuration.warnings.is_empty(), "{:?}", configuration.warnings);
        let store = format!("{:?}", journals("store".as_ref(), &configuration.engine));
        for limit in [
            "quota: Some(2000000)",
            "cookies: \"cookies\"",
            "generations: Some(3)",
            "age: Some(345600s)",
            "bytes: Some(5000)",
        ] {
            assert!(store.contains(limit), "{limit}: {store}");
        }
        let configuration = Configuration::from_text("a.cfg", &text("")).unwrap();
        let warnings: Vec<String> = configuration.warnings.iter().map(ToString::to_string).collect();
        assert_eq!(warnings.len(), 5);
        let first = "a.cfg:2: JournalQuota has no effect: there is no FileStorePath, and so no journal";
        assert_eq!(warnings[0], first);
    }
}
