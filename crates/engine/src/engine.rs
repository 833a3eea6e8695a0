//! A running engine, as other threads see it: where it listens, how to send, how to stop.

use core::fmt;
use core::net::SocketAddr;
use std::io;
use std::sync::Arc;
use std::thread::JoinHandle;

use fixbolt_session::store::StoreError;
use fixbolt_session::{Application, OpenError, SendError, SessionId};

use crate::command::{Command, PoisonResolution};
use crate::error::EngineError;
use crate::sender::Sender;
use crate::session_registry::SessionRegistry;
use crate::shutdown_signals;
use crate::stopper::Stopper;
use crate::worker::Worker;
use crate::worker_signal::WorkerSignal;

/// Sessions of one process at work on one thread: accepts, connects, reconnects, reads, writes, keeps the time.
///
/// Dropping the engine stops it as [`Engine::stop`] does, without waiting.
pub struct Engine<A> {
    thread: Option<JoinHandle<(A, Result<(), StoreError>)>>,
    addresses: Vec<SocketAddr>,
    signal: Arc<WorkerSignal>,
    registry: Arc<SessionRegistry>,
}

impl<A: Application + Send + 'static> Engine<A> {
    /// Moves worker and application to a thread of their own.
    pub(crate) fn spawn(
        worker: Worker,
        app: A,
        addresses: Vec<SocketAddr>,
        signal: Arc<WorkerSignal>,
        registry: Arc<SessionRegistry>,
    ) -> io::Result<Self> {
        let thread = std::thread::Builder::new().name("fixbolt".to_owned()).spawn(move || worker.run(app))?;
        Ok(Self { thread: Some(thread), addresses, signal, registry })
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
        Some(Sender::new(self.registry.outbound_queue(session)?, Arc::clone(&self.signal)))
    }

    /// Logs one session out with a text (empty: none). An initiator logs on again after its reconnect interval.
    ///
    /// `false` when there is no such session.
    pub fn log_out(&self, session: &SessionId, text: &str) -> bool {
        let Some(key) = self.registry.key(session) else { return false };
        self.signal.command(Command::LogOut { session: key, text: text.to_owned() });
        true
    }

    /// Ends `Halted(PoisonMessage)`: the message on which the application failed is skipped.
    ///
    /// # Errors
    /// [`SendError::Unavailable`] when the session does not exist or is not halted by a message.
    pub fn skip_poison_message(&self, session: &SessionId) -> Result<(), SendError> {
        self.resolve_poison_message(session, PoisonResolution::Skip)
    }

    /// Ends `Halted(PoisonMessage)`: the message on which the application failed is offered again after the next logon.
    ///
    /// # Errors
    /// As [`Engine::skip_poison_message`].
    pub fn retry_poison_message(&self, session: &SessionId) -> Result<(), SendError> {
        self.resolve_poison_message(session, PoisonResolution::Retry)
    }

    fn resolve_poison_message(
        &self,
        session: &SessionId,
        resolution: PoisonResolution,
    ) -> Result<(), SendError> {
        let key = self.registry.key(session).ok_or(SendError::Unavailable)?;
        let (answer, result) = std::sync::mpsc::sync_channel(1);
        self.signal.command(Command::ResolvePoisonMessage { session: key, resolution, answer });
        result.recv().unwrap_or(Err(SendError::Unavailable))
    }

    /// Ends every other halt without a restart: the session's store can take records again, or `fixbolt journal repair` has
    /// repaired it. The application is shown what it holds, and the session goes on with its next connection.
    ///
    /// A store that failed is tried again from time to time, too, without being asked.
    ///
    /// # Errors
    /// [`OpenError`]: the session stands still as before.
    pub fn resume(&self, session: &SessionId) -> Result<(), OpenError> {
        let key = self.registry.key(session).ok_or(OpenError::NotOpen)?;
        let (answer, result) = std::sync::mpsc::sync_channel(1);
        self.signal.command(Command::Resume { session: key, answer });
        result.recv().unwrap_or(Err(OpenError::NotOpen))
    }

    /// Returns how many cycles the loop has begun: the number grows as long as the worker lives, at least once a second.
    #[must_use]
    pub fn cycles(&self) -> u64 {
        self.signal.cycles()
    }

    /// Returns something that stops the engine from any thread.
    #[must_use]
    pub fn stopper(&self) -> Stopper {
        Stopper::new(Arc::clone(&self.signal))
    }

    /// From now on SIGINT and SIGTERM stop the engine as [`Engine::stop`] does. A second signal ends the process at once.
    ///
    /// # Errors
    /// The system's, when the signals cannot be watched.
    pub fn stop_on_signals(&self) -> Result<(), EngineError> {
        shutdown_signals::stop_on_signals(self.stopper())
            .map_err(|reason| EngineError::System { doing: "watching signals", reason: reason.to_string() })
    }

    /// Sends Logout in every session, waits for the answers as long as LogoutTimeout says, closes the connections and the
    /// journals, and gives the application back.
    ///
    /// # Errors
    /// As [`Engine::wait`].
    pub fn stop(self) -> Result<A, EngineError> {
        self.signal.command(Command::Stop);
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
            self.signal.command(Command::Stop);
        }
    }
}
