//! The sockets of the ports on which a worker accepts connections.

use core::net::SocketAddr;
use std::io;

use fixbolt_session::Mono;
use mio::net::{TcpListener, TcpStream};
use mio::{Interest, Registry};

use super::event_source::EventSource;
use crate::ports::Port;

/// The listeners of one worker, each with an index.
#[derive(Debug, Default)]
pub(crate) struct Listeners {
    listeners: Vec<Listener>,
    /// Listeners that may have more connections.
    ready: Vec<usize>,
    retry_at: Option<Mono>,
}

#[derive(Debug)]
struct Listener {
    socket: TcpListener,
    port: Port,
}

/// A connection that was accepted.
pub(crate) struct Incoming {
    pub(crate) port: Port,
    pub(crate) stream: TcpStream,
    pub(crate) peer: SocketAddr,
}

impl Listeners {
    /// Accepts the connections to a port from now on.
    ///
    /// # Errors
    /// The system's.
    pub(crate) fn add(&mut self, port: Port, mut socket: TcpListener, registry: &Registry) -> io::Result<()> {
        let index = self.listeners.len();
        registry.register(&mut socket, EventSource::Listener(index).token(), Interest::READABLE)?;
        self.listeners.push(Listener { socket, port });
        self.ready.push(index);
        Ok(())
    }

    /// Returns the sockets, for another worker.
    pub(crate) fn give_away(&mut self, registry: &Registry) -> Vec<(Port, TcpListener)> {
        let Self { listeners, .. } = core::mem::take(self);
        let mut given = Vec::with_capacity(listeners.len());
        for Listener { mut socket, port } in listeners {
            // The other worker could not watch it otherwise.
            if registry.deregister(&mut socket).is_ok() {
                given.push((port, socket));
            }
        }
        given
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
                        take(Incoming { port: listener.port, stream, peer });
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
    use crate::ports::Ports;

    /// Listens on an address and accepts the connections.
    fn listen(listeners: &mut Listeners, ports: &Ports, address: &str, poll: &Poll) -> (Port, SocketAddr) {
        let (port, socket) = ports.open_at(address.parse().unwrap(), |_| Ok(())).unwrap().unwrap();
        listeners.add(port, socket, poll.registry()).unwrap();
        (port, *ports.addresses().last().unwrap())
    }

    #[test]
    fn a_port_where_connections_always_wait_leaves_the_others_their_turn() {
        let poll = Poll::new().unwrap();
        let (mut listeners, ports) = (Listeners::default(), Ports::default());
        let [flooded, other] =
            ["127.0.0.1:0", "127.0.0.2:0"].map(|address| listen(&mut listeners, &ports, address, &poll));
        let connect = |(_, address)| Peer::connect(address).unwrap();
        let _peers = [flooded, flooded, flooded, other].map(connect);
        let mut from = Vec::new();
        for _ in 0..2 {
            assert!(listeners.accept(1, |incoming| from.push(incoming.port)).unwrap());
        }
        assert_eq!(from, [flooded.0, other.0]);
    }

    #[test]
    fn hundreds_of_counterparties_may_connect_at_once() {
        let poll = Poll::new().unwrap();
        let (mut listeners, ports) = (Listeners::default(), Ports::default());
        let (_, address) = listen(&mut listeners, &ports, "127.0.0.1:0", &poll);
        // A connection for which there is no room does not fail, it takes a second or more.
        let connect = |_| Peer::connect_timeout(&address, Duration::from_millis(900)).unwrap();
        let peers: Vec<_> = (0..300).map(connect).collect();
        let mut accepted = 0;
        assert!(!listeners.accept(usize::MAX, |_| accepted += 1).unwrap());
        assert_eq!(accepted, peers.len());
    }

    #[test]
    fn another_worker_accepts_what_a_listener_that_was_given_away_has_waiting() {
        let (first, second) = (Poll::new().unwrap(), Poll::new().unwrap());
        let (mut giving, mut taking, ports) = (Listeners::default(), Listeners::default(), Ports::default());
        let (port, address) = listen(&mut giving, &ports, "127.0.0.1:0", &first);
        let _peer = Peer::connect(address).unwrap();
        for (port, socket) in giving.give_away(first.registry()) {
            taking.add(port, socket, second.registry()).unwrap();
        }
        let mut accepted = Vec::new();
        assert!(!giving.accept(9, |_| unreachable!("it has no listener")).unwrap());
        assert!(!taking.accept(9, |incoming| accepted.push(incoming.port)).unwrap());
        assert_eq!(accepted, [port]);
    }
}
