//! The bytes of a connection: a socket, plain or with TLS.

use std::io::{self, Read, Write};
use std::net::Shutdown;

use fixbolt_session::TlsFailure;
use mio::net::TcpStream;

use crate::handshake_queue::Queued;
use crate::tls::{Decrypted, PeerCertificate, TlsStream};

/// A socket, and its TLS if it has one.
#[derive(Debug)]
pub(crate) struct Transport {
    socket: TcpStream,
    security: Security,
}

/// What encrypts the bytes.
#[derive(Debug)]
enum Security {
    Plain,
    Tls(Box<TlsStream>),
    /// TLS, of whose handshake a step is computed elsewhere: nothing is read or written meanwhile.
    Away(Queued),
}

/// The outcome of a read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Taken {
    /// The number of bytes.
    pub(crate) count: usize,
    /// Whether there may be more without another event of the socket.
    pub(crate) more: bool,
    /// Whether nothing will follow.
    pub(crate) end: bool,
}

impl From<TcpStream> for Transport {
    fn from(socket: TcpStream) -> Self {
        Self { socket, security: Security::Plain }
    }
}

impl Transport {
    /// A socket whose connection begins with a handshake.
    pub(crate) fn with_tls(socket: TcpStream, tls: TlsStream) -> Self {
        Self { socket, security: Security::Tls(Box::new(tls)) }
    }

    /// Has a handshake follow the bytes that were read.
    pub(crate) fn encrypt(&mut self, tls: TlsStream) {
        self.security = Security::Tls(Box::new(tls));
    }

    const fn tls(&self) -> Option<&TlsStream> {
        match &self.security {
            Security::Tls(tls) => Some(tls),
            Security::Plain | Security::Away(_) => None,
        }
    }

    pub(crate) const fn socket(&self) -> &TcpStream {
        &self.socket
    }

    pub(crate) const fn socket_mut(&mut self) -> &mut TcpStream {
        &mut self.socket
    }

    /// Reads once, up to the length of `into`. `is_last` says that the socket's end may follow the
    /// bytes that it has.
    pub(crate) fn receive(&mut self, into: &mut [u8], is_last: bool) -> Taken {
        match &mut self.security {
            Security::Plain => {}
            Security::Tls(tls) => {
                let Decrypted { count, more, end } = tls.receive(&mut self.socket, into, is_last);
                return Taken { count, more, end };
            }
            Security::Away(_) => return Taken { count: 0, more: true, end: false },
        }
        match again_if_interrupted(|| self.socket.read(into)) {
            // A short read means an empty socket (epoll(7)), unless the end follows the bytes
            // directly.
            Ok(count) => Taken { count, more: count == into.len() || is_last, end: count == 0 },
            Err(error) => Taken { count: 0, more: false, end: error.kind() != io::ErrorKind::WouldBlock },
        }
    }

    /// Returns how many bytes the socket has, up to the length of `into`, and copies them. They are
    /// not decrypted, and stay in the socket.
    pub(crate) fn peek(&self, into: &mut [u8]) -> io::Result<usize> {
        again_if_interrupted(|| self.socket.peek(into))
    }

    /// Reads bytes that the socket is known to have, which are not encrypted.
    pub(crate) fn discard(&mut self, into: &mut [u8]) -> io::Result<()> {
        self.socket.read_exact(into)
    }

    /// Writes once. Returns how many bytes were accepted, and whether more may be.
    pub(crate) fn send(&mut self, bytes: &[u8]) -> io::Result<(usize, bool)> {
        match &mut self.security {
            Security::Plain => {}
            Security::Tls(tls) => return tls.send(&mut self.socket, bytes),
            Security::Away(_) => return Ok((0, true)),
        }
        match again_if_interrupted(|| self.socket.write(bytes)) {
            Ok(count) => Ok((count, count == bytes.len())),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok((0, false)),
            Err(error) => Err(error),
        }
    }

    /// Returns whether something was accepted that the socket has not taken yet.
    pub(crate) fn has_unsent(&self) -> bool {
        self.tls().is_some_and(TlsStream::has_unsent)
    }

    /// Writes that. Returns whether the socket has taken all of it.
    pub(crate) fn flush(&mut self) -> io::Result<bool> {
        match &mut self.security {
            Security::Tls(tls) => tls.flush(&mut self.socket),
            Security::Plain | Security::Away(_) => Ok(true),
        }
    }

    /// Says goodbye, if there is somebody to say it to. Nothing is sent after that. A step of a
    /// handshake that waits is not computed any more.
    pub(crate) fn say_goodbye(&mut self) {
        if let Security::Tls(mut tls) = core::mem::replace(&mut self.security, Security::Plain) {
            tls.say_goodbye(&mut self.socket);
        }
    }

    /// Closes our direction. What is read after that is not decrypted.
    pub(crate) fn shut_down(&mut self) -> io::Result<()> {
        self.say_goodbye();
        self.socket.shutdown(Shutdown::Write)
    }

    /// Returns whether a handshake must be done before anything can be sent.
    pub(crate) fn is_handshaking(&self) -> bool {
        match &self.security {
            Security::Plain => false,
            Security::Tls(tls) => tls.is_handshaking(),
            Security::Away(_) => true,
        }
    }

    /// Reads once, during a handshake. `is_last` says that the socket's end may follow the bytes
    /// that it has. Returns whether there may be more without another event of the socket.
    pub(crate) fn fill(&mut self, is_last: bool) -> bool {
        match &mut self.security {
            Security::Tls(tls) => tls.fill(&mut self.socket, is_last),
            Security::Plain | Security::Away(_) => true,
        }
    }

    /// Returns whether a step of the handshake can be computed.
    pub(crate) fn has_step(&self) -> bool {
        self.tls().is_some_and(TlsStream::has_step)
    }

    /// Returns whether the first step has what a client begins with.
    pub(crate) fn has_hello(&self) -> bool {
        self.tls().is_some_and(TlsStream::has_hello)
    }

    /// Returns whether an acceptor has answered with its signature.
    pub(crate) fn has_signed(&self) -> bool {
        self.tls().is_some_and(TlsStream::has_signed)
    }

    /// Returns whether it has done so in the last step.
    pub(crate) fn has_just_signed(&self) -> bool {
        self.tls().is_some_and(TlsStream::has_just_signed)
    }

    /// Returns whether a step of the handshake is computed elsewhere.
    pub(crate) const fn is_away(&self) -> bool {
        matches!(self.security, Security::Away(_))
    }

    /// Passes TLS on, so that a step is computed elsewhere. It is withdrawn if the connection is
    /// closed.
    ///
    /// # Errors
    /// The error of `pass_on`.
    pub(crate) fn pass_on_step(
        &mut self,
        pass_on: impl FnOnce(Box<TlsStream>) -> io::Result<Queued>,
    ) -> io::Result<()> {
        match core::mem::replace(&mut self.security, Security::Plain) {
            Security::Tls(tls) => self.security = Security::Away(pass_on(tls)?),
            other => self.security = other,
        }
        Ok(())
    }

    /// Takes back what was passed on, once its step is computed.
    pub(crate) fn take_back(&mut self, tls: Box<TlsStream>) {
        self.security = Security::Tls(tls);
    }

    /// Returns whether the step with this number is awaited.
    pub(crate) const fn awaits(&self, number: u64) -> bool {
        matches!(&self.security, Security::Away(step) if step.number() == number)
    }

    /// Returns whether the counterparty has said goodbye in place of its part of the handshake.
    pub(crate) fn peer_has_left(&self) -> bool {
        self.tls().is_some_and(TlsStream::peer_has_left)
    }

    /// Returns why TLS was given up, if it was.
    pub(crate) fn failure(&self) -> Option<&TlsFailure> {
        self.tls()?.failure()
    }

    /// Returns whether the bytes are encrypted.
    pub(crate) const fn has_tls(&self) -> bool {
        !matches!(self.security, Security::Plain)
    }

    /// Returns the certificate of the counterparty, if it has shown one.
    pub(crate) fn peer_certificate(&self) -> Option<PeerCertificate> {
        self.tls()?.peer()
    }
}

/// Repeats a call that a signal interrupts: it changes nothing about the socket, so no event would
/// cause another try.
fn again_if_interrupted(mut call: impl FnMut() -> io::Result<usize>) -> io::Result<usize> {
    loop {
        match call() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            result => return result,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interrupted_call_is_repeated_and_every_other_result_returned() {
        use io::ErrorKind::{ConnectionReset, Interrupted, WouldBlock};
        for (results, expected) in [
            (vec![Err(Interrupted), Err(Interrupted), Ok(3)], Ok(3)),
            (vec![Err(Interrupted), Err(WouldBlock), Ok(3)], Err(WouldBlock)),
            (vec![Err(ConnectionReset), Ok(3)], Err(ConnectionReset)),
        ] {
            let mut results = results.into_iter();
            let call = || results.next().expect("it is not called again").map_err(io::Error::from);
            assert_eq!(again_if_interrupted(call).map_err(|error| error.kind()), expected);
        }
    }
}
