//! One connection, from accept or connect to its close.

use core::net::SocketAddr;
use core::time::Duration;
use std::io;

use fixbolt_session::{Mono, SessionKey, TlsFailure};
use mio::{Interest, Registry};

use super::event_source::EventSource;
use super::receive_buffer::{READ_SIZE, ReceiveBuffer};
use super::transport::{Taken, Transport};
use crate::ports::Port;
use crate::socket_options::{SocketOptions, acknowledge};

/// Buffer size before the Logon is complete: one message of 8 KiB and what a read adds to it.
const PENDING_CAPACITY: usize = 10 * 1024;
/// How long a closing session may take to send its remaining output.
pub(crate) const CLOSING_TIMEOUT: Duration = Duration::from_secs(5);
/// The most bytes from the counterparty that are discarded in that time.
const DRAINING_BYTES: usize = 1024 * 1024;

/// A socket with its receive buffer and its stage.
#[derive(Debug)]
pub(crate) struct Connection {
    pub(crate) transport: Transport,
    pub(crate) peer: SocketAddr,
    pub(crate) stage: Stage,
    pub(crate) received: ReceiveBuffer,
    /// Whether the socket may have unread bytes, or an end that was not seen.
    pub(crate) readable: bool,
    /// The counterparty has closed its direction: read until the end is reached.
    pub(crate) read_closed: bool,
    /// The counterparty has reset the connection, or the network has lost it.
    pub(crate) broken: bool,
    /// Whether the socket may accept bytes.
    pub(crate) writable: bool,
    /// Whether its Logon has arrived.
    pub(crate) has_logon: bool,
    /// Whether it waits for its session to be opened.
    pub(crate) waits: bool,
    /// Whether the connection is in the list of ready connections.
    pub(crate) queued: bool,
    /// Whether each read is acknowledged at once (TCP_QUICKACK).
    pub(crate) quick_ack: bool,
}

/// The stage of a connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Stage {
    /// We are connecting, for an initiator; with TLS until the handshake is done.
    Connecting { initiator: usize, until: Mono },
    /// Accepted at a port from a proxy, whose header will name the counterparty.
    Proxied { port: Port, until: Mono },
    /// Accepted at a port; a complete Logon will name its session.
    Pending { port: Port, until: Mono },
    /// The connection of a session.
    Session(SessionKey),
    /// The connection of a session that is closing: its output is sent, then the connection is
    /// closed.
    Closing { session: SessionKey, until: Mono },
    /// Our direction is closed; further input is discarded, so that a reset does not lose our last
    /// message.
    Draining { until: Mono, bytes: usize },
    /// Removed at the end of the cycle.
    Closed,
}

impl Stage {
    /// Returns when the stage ends at the latest; `None` if it has no limit.
    pub(crate) const fn until(self) -> Option<Mono> {
        match self {
            Self::Connecting { until, .. }
            | Self::Proxied { until, .. }
            | Self::Pending { until, .. }
            | Self::Closing { until, .. }
            | Self::Draining { until, .. } => Some(until),
            Self::Session(_) | Self::Closed => None,
        }
    }

    /// Returns whether the connection was accepted, and its session is not known yet.
    pub(crate) const fn is_pending(self) -> bool {
        matches!(self, Self::Proxied { .. } | Self::Pending { .. })
    }
}

/// How far the handshake of TLS is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Handshake {
    /// Both sides agree, or there is none.
    Done,
    /// A step can be computed.
    HasStep,
    /// For bytes, or for a step that is computed.
    Waits,
    Failed(TlsFailure),
}

/// The outcome of a read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Received {
    Bytes,
    /// Nothing for now.
    Nothing,
    /// The counterparty has closed or lost the connection.
    End,
}

impl Connection {
    pub(crate) fn new(transport: impl Into<Transport>, peer: SocketAddr, stage: Stage) -> Self {
        Self {
            transport: transport.into(),
            peer,
            stage,
            received: ReceiveBuffer::new(PENDING_CAPACITY),
            readable: false,
            read_closed: false,
            broken: false,
            writable: false,
            has_logon: false,
            waits: false,
            queued: false,
            quick_ack: false,
        }
    }

    pub(crate) fn register(&mut self, slot: usize, registry: &Registry) -> io::Result<()> {
        let interest = Interest::READABLE | Interest::WRITABLE;
        registry.register(self.transport.socket_mut(), EventSource::Connection(slot).token(), interest)
    }

    /// Assigns the connection to a session, with messages of up to `max_message_size` bytes.
    pub(crate) fn assign(&mut self, session: SessionKey, max_message_size: usize) {
        self.stage = Stage::Session(session);
        self.received.grow(max_message_size + READ_SIZE);
    }

    /// Sets the options of the session's sockets, and calls `failed` for each one that the system
    /// refuses.
    pub(crate) fn set_options(
        &mut self,
        options: &SocketOptions,
        failed: impl FnMut(&'static str, io::Error),
    ) {
        options.apply(self.transport.socket(), failed);
        self.quick_ack = options.quick_ack;
    }

    /// Reads once, a bounded number of bytes, if there may be any.
    pub(crate) fn receive(&mut self) -> Received {
        if !self.readable {
            return Received::Nothing;
        }
        let free = self.received.free();
        let room = free.len();
        if room == 0 {
            return Received::Nothing;
        }
        let Taken { count, more, end } = self.transport.receive(free, self.read_closed);
        if end {
            self.flush();
            return Received::End;
        }
        self.readable = more;
        self.received.received(count);
        if self.quick_ack && count > 0 {
            acknowledge(self.transport.socket());
        }
        if self.transport.has_tls() {
            // An answer to what was read: of the handshake, or to new keys.
            self.flush();
        }
        if count > 0 { Received::Bytes } else { Received::Nothing }
    }

    /// Writes once. Returns the number of bytes that were accepted.
    pub(crate) fn send(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let (count, writable) = self.transport.send(bytes)?;
        self.writable = writable;
        Ok(count)
    }

    /// Returns whether something was accepted that the socket has not taken yet.
    pub(crate) fn has_unsent(&self) -> bool {
        self.transport.has_unsent()
    }

    /// Writes that, if the socket may take it. A socket that has failed is noticed by the next
    /// read.
    pub(crate) fn flush(&mut self) {
        if self.transport.has_unsent() && self.writable {
            self.writable = self.transport.flush().unwrap_or(true);
        }
    }

    /// Closes our direction. Further input is discarded, for a bounded time and number of bytes.
    pub(crate) fn begin_draining(&mut self, until: Mono) -> io::Result<()> {
        self.transport.shut_down()?;
        self.received.consume(usize::MAX);
        self.stage = Stage::Draining { until, bytes: DRAINING_BYTES };
        self.readable = true;
        Ok(())
    }

    /// Discards the input of a connection that is being drained. Returns whether draining
    /// continues.
    pub(crate) fn drain(&mut self) -> bool {
        let Stage::Draining { until, bytes } = self.stage else { return false };
        let end = self.receive() == Received::End;
        let came = self.received.filled().len();
        self.received.consume(came);
        match bytes.checked_sub(came) {
            Some(bytes) if !end => {
                self.stage = Stage::Draining { until, bytes };
                true
            }
            _ => false,
        }
    }

    /// Returns whether our connection was made; `None` while it is still in progress.
    pub(crate) fn connect_result(&mut self) -> Option<io::Result<()>> {
        match self.transport.socket().take_error() {
            Ok(Some(error)) | Err(error) => return Some(Err(error)),
            Ok(None) => {}
        }
        match self.transport.socket().peer_addr() {
            Ok(_) => Some(Ok(())),
            Err(error) if error.kind() == io::ErrorKind::NotConnected => None,
            Err(error) => Some(Err(error)),
        }
    }

    /// Goes on with the handshake of TLS: writes what there is, and reads until a step can be
    /// computed.
    pub(crate) fn handshake(&mut self) -> Handshake {
        self.flush();
        if self.transport.is_away() {
            return Handshake::Waits;
        }
        if self.readable && self.transport.is_handshaking() && !self.transport.has_step() {
            self.readable = self.transport.fill(self.read_closed);
        }
        match self.transport.failure() {
            Some(failure) => Handshake::Failed(failure.clone()),
            None if !self.transport.is_handshaking() => Handshake::Done,
            None if self.transport.has_step() => Handshake::HasStep,
            None => Handshake::Waits,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[cfg(target_os = "linux")]
    #[test]
    fn a_read_is_acknowledged_at_once_only_if_the_session_wants_that() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        for quick_ack in [false, true] {
            let options = SocketOptions { quick_ack, ..SocketOptions::default() };
            let stream = options.connect(listener.local_addr().unwrap(), None).unwrap();
            let (mut peer, address) = listener.accept().unwrap();
            let mut connection = Connection::new(stream, address, Stage::Closed);
            connection.set_options(&options, |name, error| panic!("{name}: {error}"));
            // What the system does by itself once messages go back and forth.
            let socket = |connection: &Connection| {
                socket2::SockRef::from(connection.transport.socket()).tcp_quickack().unwrap()
            };
            socket2::SockRef::from(connection.transport.socket()).set_tcp_quickack(false).unwrap();
            peer.write_all(b"8=FIX.4.4").unwrap();
            connection.readable = true;
            while connection.receive() != Received::Bytes {
                connection.readable = true;
            }
            assert_eq!(socket(&connection), quick_ack);
        }
    }
}
