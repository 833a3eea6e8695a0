//! A port, and the connections that come in through it.

use core::net::SocketAddr;
use std::io;

use fixbolt_session::SessionId;
use mio::net::{TcpListener, TcpStream};
use mio::{Interest, Registry, Token};

use super::FIRST_LISTENER;
use crate::builder::Acceptance;

/// Makes settings for counterparties that no session was configured for.
#[allow(clippy::type_complexity)] // it is said once, here
pub(crate) struct Template(pub(crate) Box<dyn FnMut(&SessionId) -> Option<Acceptance> + Send>);

/// One listening socket.
pub(crate) struct Listener {
    socket: TcpListener,
    /// Where it listens, with the port that the system chose.
    pub(crate) address: SocketAddr,
    pub(crate) templates: Vec<Template>,
}

/// What accepting came to.
pub(crate) enum Accepted {
    Connection(TcpStream, SocketAddr),
    /// No more for now.
    None,
    /// The system is out of something; try again later.
    Later(io::Error),
}

impl Listener {
    pub(crate) fn bind(address: SocketAddr, number: usize, registry: &Registry) -> io::Result<Self> {
        let mut socket = TcpListener::bind(address)?;
        registry.register(&mut socket, Token(FIRST_LISTENER + number), Interest::READABLE)?;
        let address = socket.local_addr()?;
        Ok(Self { socket, address, templates: Vec::new() })
    }

    pub(crate) fn accept(&self) -> Accepted {
        loop {
            match self.socket.accept() {
                Ok((stream, peer)) => return Accepted::Connection(stream, peer),
                Err(error) => match error.kind() {
                    io::ErrorKind::WouldBlock => return Accepted::None,
                    // The counterparty was gone before we came: not our listener's trouble.
                    io::ErrorKind::Interrupted | io::ErrorKind::ConnectionAborted => {}
                    _ => return Accepted::Later(error),
                },
            }
        }
    }
}
