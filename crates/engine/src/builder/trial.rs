//! What would keep an engine from starting, found without opening anything.

use std::collections::HashSet;
use std::io;
use std::sync::Arc;

use fixbolt_journal::try_to_create_in;

use super::EngineBuilder;
use crate::error::EngineError;
use crate::memory;
use crate::ports::{Ports, overlap, try_to_bind};
use crate::preparation::wrong_tls;
use crate::tls::{TlsContexts, TlsFaults};

/// The key of a port, and that of its address.
const PORT: &str = "SocketAcceptPort";
const ADDRESS: &str = "SocketAcceptHost";

/// Something that stands in the way of a start.
#[derive(Debug)]
pub(crate) struct Obstacle {
    pub(crate) error: EngineError,
    /// The key of a configuration that it is about.
    pub(crate) key: Option<&'static str>,
    pub(crate) follows: Follows,
}

/// What follows from an obstacle.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Follows {
    /// No engine starts.
    NoStart,
    /// None starts because of a running process, which may be the engine itself.
    NoSecondStart,
    /// The engine starts, and the session is halted.
    Halt,
}

impl Obstacle {
    /// Returns an obstacle that no running process is the cause of.
    pub(crate) fn new(error: EngineError, key: impl Into<Option<&'static str>>) -> Self {
        Self { error, key: key.into(), follows: Follows::NoStart }
    }
}

impl EngineBuilder {
    /// Does what a start with so many shared workers does before it opens anything, loads the
    /// certificates, and tries whether the ports can be bound. Journals are left to the store.
    /// Nothing is told but what is returned.
    pub(crate) fn obstacles(mut self, shared: usize) -> Vec<Obstacle> {
        self.keep_going = false;
        self.are_doubts_told = true;
        let refused = self.plan(shared).err().map(|refused| refused.errors).unwrap_or_default();
        let told = |error| {
            let is_of_workers = matches!(error, EngineError::Workers(_));
            Obstacle::new(error, is_of_workers.then_some("WorkerCores"))
        };
        let mut found: Vec<Obstacle> = refused.into_iter().map(told).collect();
        found.extend(self.check_session_limit().err().map(|error| Obstacle::new(error, "MaxSessions")));
        if self.lock_memory
            && let Err(error) = memory::may_lock()
        {
            found.push(Obstacle::new(EngineError::lock_memory(&error), "LockMemory"));
        }
        if let Some(directory) = &self.message_log
            && let Err(error) = try_to_create_in(directory)
        {
            found.push(Obstacle::new(EngineError::message_log(directory, &error), "FileLogPath"));
        }
        self.try_addresses(&mut found);
        self.try_certificates(&mut found);
        found
    }

    /// Tries the addresses, all of which are bound together.
    fn try_addresses(&self, found: &mut Vec<Obstacle>) {
        let accepted = self.acceptances.iter().map(|(address, _)| *address);
        let mut seen = HashSet::new();
        let mut bound = Vec::new();
        for address in accepted.chain(self.templates.iter().map(|(address, _)| *address)) {
            if !seen.insert(address) {
                continue;
            }
            match try_to_bind(address) {
                Ok(socket) => bound.push((address, socket)),
                Err(error) => found.push(match overlap(address, &error, bound.iter().map(|(at, _)| *at)) {
                    Some(own) => Obstacle::new(own, PORT),
                    None => Obstacle {
                        error: EngineError::listen(address, &error),
                        key: Some(match error.kind() {
                            io::ErrorKind::AddrInUse | io::ErrorKind::PermissionDenied => PORT,
                            _ => ADDRESS,
                        }),
                        follows: match error.kind() {
                            io::ErrorKind::AddrInUse => Follows::NoSecondStart,
                            _ => Follows::NoStart,
                        },
                    },
                }),
            }
        }
    }

    /// Tries the certificates of everyone who is accepted or connects.
    fn try_certificates(self, found: &mut Vec<Obstacle>) {
        let (ports, contexts) = (Ports::default(), Arc::new(TlsContexts::tried()));
        for (address, acceptance) in &self.acceptances {
            let port = ports.at(*address);
            let agreed =
                ports.agree(port, &acceptance.proxy_protocol_from, acceptance.tls.as_ref(), &contexts);
            found.extend(each(agreed, |reason| wrong_tls(&acceptance.settings.id, &reason)));
        }
        for (address, template) in self.templates {
            let port = ports.at(address);
            match ports.agree(port, &template.proxies, template.tls.as_ref(), &contexts) {
                Ok(()) => ports.add_template(port, template),
                refused => {
                    found.extend(each(refused, |reason| EngineError::listen_for_sessions(address, reason)));
                }
            }
        }
        for initiation in &self.initiations {
            let id = &initiation.settings.id;
            if let Some(tls) = &initiation.tls {
                let loaded = contexts.of_initiator(tls, id.target_comp_id());
                found.extend(each(loaded, |reason| wrong_tls(id, &reason)));
            }
        }
    }
}

/// Returns an obstacle for each thing that is wrong.
fn each<T>(
    tried: Result<T, TlsFaults>,
    error: impl Fn(String) -> EngineError,
) -> impl Iterator<Item = Obstacle> {
    let faults = tried.err().unwrap_or_default().0;
    faults.into_iter().map(move |fault| Obstacle::new(error(fault.reason), fault.key))
}
