//! A running engine, as other threads see it: where it listens, how to send, how to stop.

use core::fmt;
use core::net::SocketAddr;
use std::collections::HashMap;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use fixbolt_session::store::{SessionKey, StoreError};
use fixbolt_session::{Application, SendError, SessionId};
use mio::Events;

use crate::builder::EngineBuilder;
use crate::error::EngineError;
use crate::lane::{Doorbell, Lane};
use crate::sender::Sender;
use crate::signals;
use crate::worker::Worker;

/// Sessions of one process at work on one thread: accepts, connects, reconnects, reads, writes, keeps the time.
///
/// Dropping the engine stops it as [`Engine::stop`] does, without waiting.
pub struct Engine<A> {
    thread: Option<JoinHandle<(A, Result<(), StoreError>)>>,
    stopper: Stopper,
    addresses: Vec<SocketAddr>,
    directory: Arc<Directory>,
    lane_posts: usize,
}

/// Which sessions there are, for other threads; grows when a dynamic session is opened.
#[derive(Debug, Default)]
pub(crate) struct Directory {
    pub(crate) sessions: Mutex<HashMap<SessionId, (SessionKey, usize)>>,
    lanes: Mutex<HashMap<SessionKey, Arc<Lane>>>,
}

/// What other threads may ask of the worker, rarely.
#[derive(Debug)]
pub(crate) enum Command {
    /// Log every session out, then end.
    Stop,
    /// Log one session out.
    LogOut { session: SessionKey, text: String },
    /// The message on which the application failed is skipped, or tried again.
    Resolve { session: SessionKey, skip: bool, answer: std::sync::mpsc::SyncSender<Result<(), SendError>> },
    /// A host's addresses were looked up.
    Resolved { initiator: usize, attempt: u64, addresses: io::Result<Vec<SocketAddr>> },
}

impl Engine<()> {
    /// An engine without sessions yet. [`EngineBuilder::from_config`] begins one from a configuration file.
    #[must_use]
    pub fn builder() -> EngineBuilder {
        EngineBuilder::new()
    }
}

impl<A: Application + Send + 'static> Engine<A> {
    /// Moves worker and application to a thread of their own.
    pub(crate) fn spawn(
        worker: Worker,
        app: A,
        addresses: Vec<SocketAddr>,
        doorbell: Arc<Doorbell>,
        directory: Arc<Directory>,
        lane_posts: usize,
    ) -> io::Result<Self> {
        let thread = std::thread::Builder::new()
            .name("fixbolt".to_owned())
            .spawn(move || worker.run(app, Events::with_capacity(256)))?;
        Ok(Self { thread: Some(thread), stopper: Stopper { doorbell }, addresses, directory, lane_posts })
    }
}

impl<A> Engine<A> {
    /// Where the engine listens, in the order in which the addresses were first named; with the port that the system chose
    /// where 0 was asked for.
    #[must_use]
    pub fn addresses(&self) -> &[SocketAddr] {
        &self.addresses
    }

    /// A sender for messages of `session` from other threads; `None` when there is no such session (yet).
    #[must_use]
    pub fn sender(&self, session: &SessionId) -> Option<Sender> {
        let (key, size) =
            *self.directory.sessions.lock().unwrap_or_else(PoisonError::into_inner).get(session)?;
        let mut lanes = self.directory.lanes.lock().unwrap_or_else(PoisonError::into_inner);
        let lane = lanes.entry(key).or_insert_with(|| Arc::new(Lane::new(key, self.lane_posts, size)));
        Some(Sender::new(session.clone(), Arc::clone(lane), Arc::clone(&self.stopper.doorbell), size))
    }

    /// Logs one session out with a text (empty: none). An initiator logs on again after its reconnect interval.
    ///
    /// `false` when there is no such session.
    pub fn log_out(&self, session: &SessionId, text: &str) -> bool {
        let Some(key) = self.key(session) else { return false };
        self.stopper.doorbell.command(Command::LogOut { session: key, text: text.to_owned() });
        true
    }

    /// Ends `Halted(PoisonMessage)`: the message on which the application failed is skipped.
    ///
    /// # Errors
    /// [`SendError::Unavailable`] when the session does not exist or is not halted by a message.
    pub fn skip_poison_message(&self, session: &SessionId) -> Result<(), SendError> {
        self.resolve(session, true)
    }

    /// Ends `Halted(PoisonMessage)`: the message on which the application failed is offered again after the next logon.
    ///
    /// # Errors
    /// As [`Engine::skip_poison_message`].
    pub fn retry_poison_message(&self, session: &SessionId) -> Result<(), SendError> {
        self.resolve(session, false)
    }

    fn resolve(&self, session: &SessionId, skip: bool) -> Result<(), SendError> {
        let key = self.key(session).ok_or(SendError::Unavailable)?;
        let (answer, result) = std::sync::mpsc::sync_channel(1);
        self.stopper.doorbell.command(Command::Resolve { session: key, skip, answer });
        result.recv().unwrap_or(Err(SendError::Unavailable))
    }

    fn key(&self, session: &SessionId) -> Option<SessionKey> {
        let sessions = self.directory.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        sessions.get(session).map(|(key, _)| *key)
    }

    /// How many turns the loop has made: grows as long as the worker lives and has something to do, at least once a second.
    #[must_use]
    pub fn turns(&self) -> u64 {
        self.stopper.doorbell.turns()
    }

    /// Something to stop the engine with from anywhere.
    #[must_use]
    pub fn stopper(&self) -> Stopper {
        self.stopper.clone()
    }

    /// From now on SIGINT and SIGTERM stop the engine as [`Engine::stop`] does. A second signal ends the process at once.
    ///
    /// # Errors
    /// The system's, when the signals cannot be watched.
    pub fn stop_on_signals(&self) -> Result<(), EngineError> {
        signals::stop_on_signals(self.stopper())
            .map_err(|reason| EngineError::System { doing: "watching signals", reason: reason.to_string() })
    }

    /// Sends Logout in every session, waits for the answers as long as LogoutTimeout says, closes the connections and the
    /// journals, and gives the application back.
    ///
    /// # Errors
    /// As [`Engine::wait`].
    pub fn stop(self) -> Result<A, EngineError> {
        self.stopper.stop();
        self.wait()
    }

    /// Waits until the engine is stopped by a [`Stopper`] or a signal, and gives the application back.
    ///
    /// # Errors
    /// [`EngineError::Panicked`] when the worker thread died, [`EngineError::Closing`] when a journal could not be closed cleanly.
    pub fn wait(mut self) -> Result<A, EngineError> {
        let Some(thread) = self.thread.take() else { return Err(EngineError::Panicked) };
        let (app, closed) = thread.join().map_err(|_| EngineError::Panicked)?;
        closed.map_err(EngineError::Closing)?;
        Ok(app)
    }
}

impl<A> fmt::Debug for Engine<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Engine").field("addresses", &self.addresses).finish_non_exhaustive()
    }
}

impl<A> Drop for Engine<A> {
    fn drop(&mut self) {
        if self.thread.is_some() {
            self.stopper.stop();
        }
    }
}

/// Stops an engine from any thread.
#[derive(Clone, Debug)]
pub struct Stopper {
    doorbell: Arc<Doorbell>,
}

impl Stopper {
    /// Asks the engine to log out and end; returns at once. Wait with [`Engine::wait`].
    pub fn stop(&self) {
        self.doorbell.command(Command::Stop);
    }
}
