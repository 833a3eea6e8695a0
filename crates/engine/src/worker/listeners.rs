//! The ports that a worker listens on, and the connections accepted there.

use core::net::SocketAddr;
use core::time::Duration;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};

use fixbolt_session::{Mono, SessionId};
use mio::net::{TcpListener, TcpStream};
use mio::{Interest, Registry};

use super::event_source::EventSource;
use super::refusal::Refusal;
use crate::acceptance::{Acceptance, AcceptanceTemplate};

/// When to accept again after the system ran out of file descriptors.
const ACCEPT_RETRY_INTERVAL: Duration = Duration::from_millis(100);
/// The most connections accepted from one listener per cycle.
const ACCEPT_BATCH: usize = 64;

/// The listeners of one worker, each with an index.
#[derive(Default)]
pub(crate) struct Listeners {
    listeners: Vec<Listener>,
    /// Listeners that may have more connections.
    ready: Vec<usize>,
    retry_at: Option<Mono>,
}

struct Listener {
    socket: TcpListener,
    /// The requested address.
    requested: SocketAddr,
    /// The address, with the port that the system chose.
    address: SocketAddr,
    templates: Vec<AcceptanceTemplate>,
}

impl Listeners {
    /// Listens on `address` and returns the listener's index. If a listener already has this
    /// address, returns its index.
    pub(crate) fn bind(&mut self, address: SocketAddr, registry: &Registry) -> io::Result<usize> {
        if let Some(index) = self
            .listeners
            .iter()
            .position(|listener| [listener.requested, listener.address].contains(&address))
        {
            return Ok(index);
        }
        let index = self.listeners.len();
        let mut socket = TcpListener::bind(address)?;
        registry.register(&mut socket, EventSource::Listener(index).token(), Interest::READABLE)?;
        let bound = socket.local_addr()?;
        self.listeners.push(Listener { socket, requested: address, address: bound, templates: Vec::new() });
        self.ready.push(index);
        Ok(index)
    }

    /// Returns the number of listeners.
    pub(crate) const fn count(&self) -> usize {
        self.listeners.len()
    }

    /// Stops listening on the address that was added last.
    pub(crate) fn remove_last(&mut self) {
        self.listeners.pop();
        let count = self.count();
        self.ready.retain(|index| *index < count);
    }

    /// Lets a listener accept counterparties for which no session was configured.
    pub(crate) fn add_template(&mut self, index: usize, template: AcceptanceTemplate) {
        self.listeners[index].templates.push(template);
    }

    /// Returns the address of a listener, with the port that the system chose.
    pub(crate) fn address(&self, index: usize) -> SocketAddr {
        self.listeners[index].address
    }

    /// Records that the listener may have connections.
    pub(crate) fn mark_ready(&mut self, index: usize) {
        if !self.ready.contains(&index) {
            self.ready.push(index);
        }
    }

    /// Returns whether a listener may have more connections that can be accepted at once.
    pub(crate) fn has_more(&self) -> bool {
        !self.ready.is_empty() && self.retry_at.is_none()
    }

    /// Returns when to accept again, if the system ran out of file descriptors.
    pub(crate) const fn retry_at(&self) -> Option<Mono> {
        self.retry_at
    }

    /// Accepts a batch of connections from each ready listener, and passes them on with the
    /// listener's index.
    pub(crate) fn accept(&mut self, now: Mono, mut take: impl FnMut(usize, TcpStream, SocketAddr)) {
        let mut ready = core::mem::take(&mut self.ready);
        ready.retain(|index| self.accept_from(*index, now, &mut take));
        self.ready = ready;
    }

    /// Returns whether there may be more.
    fn accept_from(
        &mut self,
        index: usize,
        now: Mono,
        take: &mut impl FnMut(usize, TcpStream, SocketAddr),
    ) -> bool {
        if self.retry_at.is_some_and(|at| at > now) {
            return true;
        }
        self.retry_at = None;
        let Some(listener) = self.listeners.get(index) else { return false };
        let mut accepted = 0;
        while accepted < ACCEPT_BATCH {
            match listener.socket.accept() {
                Ok((stream, peer)) => {
                    accepted += 1;
                    take(index, stream, peer);
                }
                Err(error) => match error.kind() {
                    io::ErrorKind::WouldBlock => return false,
                    // The counterparty has already gone; the listener is unaffected.
                    io::ErrorKind::Interrupted | io::ErrorKind::ConnectionAborted => {}
                    _ => {
                        tracing::error!(%error, address = %listener.address, "accepting failed");
                        self.retry_at = Some(now + ACCEPT_RETRY_INTERVAL);
                        return true;
                    }
                },
            }
        }
        true
    }

    /// Asks the listener's templates about an unknown session.
    pub(crate) fn acceptance_for(&mut self, index: usize, id: &SessionId) -> Result<Acceptance, Refusal> {
        let listener = self.listeners.get_mut(index).ok_or(Refusal::NoSuchSession)?;
        let templates = &mut listener.templates;
        catch_unwind(AssertUnwindSafe(|| templates.iter_mut().find_map(|template| (template.0)(id))))
            .map_err(|_| Refusal::TemplatePanicked)?
            .ok_or(Refusal::NoSuchSession)
    }

    /// Stops listening.
    pub(crate) fn close(&mut self) {
        *self = Self::default();
    }
}
