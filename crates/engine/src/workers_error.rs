//! Why sessions cannot be distributed over workers: values with their words.

use core::fmt;
use std::error::Error;
use std::io;

use fixbolt_session::SessionId;

/// Why the sessions cannot be distributed over the workers as requested.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum WorkersError {
    /// The program starts another number of workers than the configuration has.
    NotAsConfigured {
        /// Workers in the configuration.
        configured: usize,
        /// The number that the program starts.
        started: usize,
    },
    /// There are too many.
    TooMany {
        /// The largest number, dedicated workers included.
        most: usize,
        /// Their number.
        found: usize,
    },
    /// There are several, and one store ([`EngineBuilder::store`](crate::EngineBuilder::store)).
    OneStore,
    /// There are several, because a session has a dedicated one, and one application.
    OneApplication,
    /// Cores or dedicated workers are named for an engine that is driven by its caller.
    NoThreads,
    /// Cores are named, but not one for each worker.
    Cores {
        /// The number of workers.
        workers: usize,
        /// The number of cores.
        named: usize,
    },
    /// A core is named for two workers.
    CoreTwice {
        /// The core.
        core: usize,
        /// The two workers, counted from 0.
        workers: [usize; 2],
    },
    /// A core does not exist, or this process may not use it.
    NoSuchCore {
        /// The core.
        core: usize,
        /// The cores of this machine in the words of the system, `0-7` for example; empty if it
        /// does not say.
        present: String,
    },
    /// The system refused to pin a thread to a core for another reason.
    Core {
        /// The core.
        core: usize,
        /// What kind of error the system returned.
        kind: io::ErrorKind,
        /// The system's reason.
        reason: String,
    },
    /// A session is named that does not exist.
    NoSuchSession {
        /// The session.
        session: Box<SessionId>,
        /// The method of the builder that names it.
        named_by: &'static str,
    },
    /// A session is to have a dedicated worker, and has one already, or belongs together with a
    /// session that has.
    TwoDedicated {
        /// The session.
        session: Box<SessionId>,
    },
}

impl fmt::Display for WorkersError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotAsConfigured { configured, started } => write!(
                f,
                "the configuration has Workers={configured}, but the program starts {started}; pass the configuration's engine.workers to start_with, or leave the key out"
            ),
            Self::TooMany { most, found } => write!(f, "there are {found}, {most} at most"),
            Self::OneStore => f.write_str("each of several needs a store of its own: use `stores`"),
            Self::OneApplication => f.write_str("a session has a dedicated worker: use `start_with`"),
            Self::NoThreads => {
                f.write_str("an engine that is driven by its caller has no threads of its own")
            }
            Self::Cores { workers, named } => {
                write!(f, "{workers} start, but {named} cores are named; name one for each worker, or none")
            }
            Self::CoreTwice { core, workers: [first, second] } => {
                write!(f, "core {core} is named for worker {first} and for worker {second}")
            }
            Self::NoSuchCore { core, present } => {
                write!(f, "core {core} does not exist, or this process may not use it")?;
                if present.is_empty() { Ok(()) } else { write!(f, "; this machine has {present}") }
            }
            Self::Core { core, reason, .. } => {
                write!(f, "a thread cannot be pinned to core {core}: {reason}")
            }
            Self::NoSuchSession { session, named_by } => {
                write!(f, "`{named_by}` names {session}, and there is no such session")
            }
            Self::TwoDedicated { session } => write!(
                f,
                "{session} cannot have a dedicated worker: it has one already, or belongs together with a session that has"
            ),
        }
    }
}

impl Error for WorkersError {}
