//! The ports that a worker listens on, and the connections accepted there.

use core::ffi::c_int;
use core::net::{IpAddr, SocketAddr};
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};

use fixbolt_session::{Mono, SessionId};
use mio::net::{TcpListener, TcpStream};
use mio::{Interest, Registry};
use socket2::SockRef;

use super::event_source::EventSource;
use super::refusal::Refusal;
use super::session_table::admit;
use crate::acceptance::{Acceptance, AcceptanceTemplate};

/// Connections that wait at a port until they are accepted, as far as the system allows as many
/// (`net.core.somaxconn`). If there are more, the next one tries again after a second.
const BACKLOG: c_int = 1024;

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

/// A connection that was accepted.
pub(crate) struct Incoming {
    pub(crate) listener: usize,
    pub(crate) stream: TcpStream,
    pub(crate) peer: SocketAddr,
    /// Whether a template of the listener may admit the address.
    pub(crate) template_admits: bool,
}

/// A session that a template makes.
pub(crate) struct Made {
    /// The index of the template.
    pub(crate) template: usize,
    /// The identity for which the template was asked.
    pub(crate) id: SessionId,
    pub(crate) acceptance: Acceptance,
}

impl Listener {
    fn template_admits(&self, from: IpAddr) -> bool {
        self.templates.iter().any(|template| admit(&template.allowed, from).is_ok())
    }
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
        // That of the standard library is 128.
        SockRef::from(&socket).listen(BACKLOG)?;
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

    /// Returns whether a listener accepts counterparties for which no session was configured.
    pub(crate) fn has_templates(&self, index: usize) -> bool {
        self.listeners.get(index).is_some_and(|listener| !listener.templates.is_empty())
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

    /// Returns when to accept again, if accepting is paused.
    pub(crate) const fn retry_at(&self) -> Option<Mono> {
        self.retry_at
    }

    /// Accepts nothing until this time. New connections wait in the system's queue.
    pub(crate) fn pause(&mut self, until: Mono) {
        self.retry_at = Some(until);
    }

    /// Ends a pause that has lasted long enough. Returns whether there may be connections to accept
    /// now.
    pub(crate) fn may_accept(&mut self, now: Mono) -> bool {
        self.retry_at = self.retry_at.filter(|at| *at > now);
        self.has_more()
    }

    /// Accepts connections from the ready listeners, at most `most` in all, whatever becomes of
    /// them. Returns whether there were as many, so that there may be more.
    ///
    /// # Errors
    /// The system's. The listeners remain ready: the caller decides when to try again.
    pub(crate) fn accept(&mut self, mut most: usize, mut take: impl FnMut(Incoming)) -> io::Result<bool> {
        let Self { listeners, ready, .. } = self;
        let mut result = Ok(());
        ready.retain(|index| {
            let Some(listener) = listeners.get(*index) else { return false };
            while most > 0 && result.is_ok() {
                match listener.socket.accept() {
                    Ok((stream, peer)) => {
                        most -= 1;
                        let template_admits = listener.template_admits(peer.ip().to_canonical());
                        take(Incoming { listener: *index, stream, peer, template_admits });
                    }
                    Err(error) => match error.kind() {
                        io::ErrorKind::WouldBlock => return false,
                        // The counterparty has already gone; the listener is unaffected.
                        io::ErrorKind::Interrupted | io::ErrorKind::ConnectionAborted => {}
                        _ => result = Err(error),
                    },
                }
            }
            true
        });
        // Another one begins the next time: connections that arrive at one port without end must
        // not keep those at the others waiting.
        if !ready.is_empty() {
            ready.rotate_left(1);
        }
        result.map(|()| most == 0)
    }

    /// Returns the identities that the listener's templates have for a Logon, each with the index
    /// of the template.
    pub(crate) fn identities_for(
        &self,
        index: usize,
        logon: &SessionId,
    ) -> impl Iterator<Item = (usize, SessionId)> {
        let templates = self.listeners.get(index).map_or(&[][..], |listener| &listener.templates);
        let identities = templates.iter().map(|template| template.identity.identity(logon));
        identities.enumerate().filter_map(|(n, id)| Some((n, id?)))
    }

    /// Asks the listener's templates about a Logon for a session that is not open.
    pub(crate) fn acceptance_for(&mut self, index: usize, logon: &SessionId) -> Result<Made, Refusal> {
        let listener = self.listeners.get_mut(index).ok_or(Refusal::NoSuchSession)?;
        let ask = |(template, asked): (usize, &mut AcceptanceTemplate)| {
            let id = asked.identity.identity(logon)?;
            let acceptance = (asked.settings)(&id)?;
            Some(Made { template, id, acceptance })
        };
        catch_unwind(AssertUnwindSafe(|| listener.templates.iter_mut().enumerate().find_map(ask)))
            .map_err(|_| Refusal::TemplatePanicked)?
            .ok_or(Refusal::NoSuchSession)
    }

    /// Stops listening.
    pub(crate) fn close(&mut self) {
        *self = Self::default();
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpStream as Peer;
    use std::time::Duration;

    use mio::Poll;

    use super::*;

    #[test]
    fn a_port_where_connections_always_wait_leaves_the_others_their_turn() {
        let poll = Poll::new().unwrap();
        let mut listeners = Listeners::default();
        let [flooded, other] = ["127.0.0.1:0", "127.0.0.2:0"]
            .map(|address| listeners.bind(address.parse().unwrap(), poll.registry()).unwrap());
        let connect = |index| Peer::connect(listeners.address(index)).unwrap();
        let _peers = [flooded, flooded, flooded, other].map(connect);
        let mut from = Vec::new();
        for _ in 0..2 {
            assert!(listeners.accept(1, |incoming| from.push(incoming.listener)).unwrap());
        }
        assert_eq!(from, [flooded, other]);
    }

    #[test]
    fn hundreds_of_counterparties_may_connect_at_once() {
        let poll = Poll::new().unwrap();
        let mut listeners = Listeners::default();
        let listener = listeners.bind("127.0.0.1:0".parse().unwrap(), poll.registry()).unwrap();
        let address = listeners.address(listener);
        // A connection for which there is no room does not fail, it takes a second or more.
        let connect = |_| Peer::connect_timeout(&address, Duration::from_millis(900)).unwrap();
        let peers: Vec<_> = (0..300).map(connect).collect();
        let mut accepted = 0;
        assert!(!listeners.accept(usize::MAX, |_| accepted += 1).unwrap());
        assert_eq!(accepted, peers.len());
    }
}
