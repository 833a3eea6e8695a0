//! One TCP connection of a worker, from accept or connect to its close.

use core::net::SocketAddr;
use std::io::{self, Read, Write};
use std::net::Shutdown;

use fixbolt_session::Mono;
use fixbolt_session::store::SessionKey;
use mio::net::TcpStream;
use mio::{Interest, Registry, Token};

use super::FIRST_CONNECTION;
use crate::inbound::Inbound;

/// Bytes kept of a connection before its Logon is complete: one message of 8 KiB and what a read brings on top.
const PENDING_CAPACITY: usize = 10 * 1024;

/// A socket with its bytes and its place in life.
pub(crate) struct Connection {
    pub(crate) stream: TcpStream,
    pub(crate) peer: SocketAddr,
    pub(crate) stage: Stage,
    pub(crate) inbound: Inbound,
    /// The socket may have bytes (or its end) that were not read.
    pub(crate) readable: bool,
    /// The counterparty has closed its direction: read until the end shows.
    pub(crate) read_closed: bool,
    /// The socket may take bytes.
    pub(crate) writable: bool,
    /// Whether it stands in the worker's list of connections to look after.
    pub(crate) queued: bool,
}

/// What a connection is there for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Stage {
    /// Our connection is being made.
    Connecting { initiator: usize, until: Mono },
    /// Accepted; whose it is shows when its Logon is complete.
    Pending { listener: usize, until: Mono },
    /// A session's.
    Session(SessionKey),
    /// A session's whose end is decided: what is queued goes out, then it is closed.
    Closing { session: SessionKey, until: Mono },
    /// Our direction is closed; what still comes is thrown away, so that the last message is not lost with a reset.
    Draining { until: Mono, bytes: usize },
    /// To be freed at the end of the turn.
    Dead,
}

/// What a read came to.
pub(crate) enum Received {
    Bytes,
    /// Nothing for now.
    Nothing,
    /// The counterparty is gone.
    End,
}

impl Connection {
    pub(crate) fn new(stream: TcpStream, peer: SocketAddr, stage: Stage) -> Self {
        Self {
            stream,
            peer,
            stage,
            inbound: Inbound::new(PENDING_CAPACITY),
            readable: false,
            read_closed: false,
            writable: false,
            queued: false,
        }
    }

    pub(crate) fn register(&mut self, slot: usize, registry: &Registry) -> io::Result<()> {
        let interest = Interest::READABLE | Interest::WRITABLE;
        registry.register(&mut self.stream, Token(FIRST_CONNECTION + slot), interest)
    }

    /// One read of bounded size.
    pub(crate) fn receive(&mut self) -> Received {
        let free = self.inbound.free();
        let room = free.len();
        if room == 0 {
            return Received::Nothing;
        }
        match self.stream.read(free) {
            Ok(0) => Received::End,
            Ok(n) => {
                // A short read means an empty socket (epoll(7)), unless the end is waiting behind the bytes.
                self.readable = n == room || self.read_closed;
                self.inbound.received(n);
                Received::Bytes
            }
            Err(error) => match error.kind() {
                io::ErrorKind::WouldBlock => {
                    self.readable = false;
                    Received::Nothing
                }
                io::ErrorKind::Interrupted => Received::Nothing,
                _ => Received::End,
            },
        }
    }

    /// One write; gives how many bytes the socket took.
    pub(crate) fn send(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self.stream.write(bytes) {
            Ok(n) => {
                self.writable = n == bytes.len();
                Ok(n)
            }
            Err(error) => match error.kind() {
                io::ErrorKind::WouldBlock => {
                    self.writable = false;
                    Ok(0)
                }
                io::ErrorKind::Interrupted => Ok(0),
                _ => Err(error),
            },
        }
    }

    /// Closes our direction and throws away what still comes, for a bounded time and number of bytes.
    pub(crate) fn drain(&mut self, until: Mono) {
        const BYTES: usize = 1024 * 1024;
        if self.stream.shutdown(Shutdown::Write).is_err() {
            self.stage = Stage::Dead;
            return;
        }
        self.inbound.consume(usize::MAX);
        self.stage = Stage::Draining { until, bytes: BYTES };
        self.readable = true;
    }

    /// Whether our connection was made: `None` when it is still being made.
    pub(crate) fn connect_result(&mut self) -> Option<io::Result<()>> {
        match self.stream.take_error() {
            Ok(Some(error)) | Err(error) => return Some(Err(error)),
            Ok(None) => {}
        }
        match self.stream.peer_addr() {
            Ok(_) => Some(Ok(())),
            Err(error) if error.kind() == io::ErrorKind::NotConnected => None,
            Err(error) => Some(Err(error)),
        }
    }
}
