//! Runs scripts over TCP in real time, so that any engine that listens or connects can be examined.

use core::time::Duration;
use std::collections::BTreeMap;
use std::io::{ErrorKind, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use fixbolt_session::Utc;

use crate::runner::{Command, Received, Transport, TransportError, take_message};

/// A [`Transport`] to a listening port, or from one to which the session under test connects.
#[derive(Debug)]
pub struct Tcp {
    way: Way,
    open: BTreeMap<u32, Open>,
}

#[derive(Debug)]
enum Way {
    To(SocketAddr),
    From(TcpListener),
}

#[derive(Debug)]
struct Open {
    stream: TcpStream,
    buffer: Vec<u8>,
    /// Whether the other side has closed; the buffer then holds the last bytes.
    ended: bool,
}

impl Tcp {
    /// Creates a transport to `address`, without connecting.
    #[must_use]
    pub const fn new(address: SocketAddr) -> Self {
        Self { way: Way::To(address), open: BTreeMap::new() }
    }

    /// Listens on a port of this machine that nobody else uses, for sessions that connect to it.
    ///
    /// # Errors
    /// Returns the system's error.
    pub fn listening() -> std::io::Result<(Self, SocketAddr)> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        Ok((Self { way: Way::From(listener), open: BTreeMap::new() }, address))
    }

    fn opened(&mut self, connection: u32) -> Result<&mut Open, TransportError> {
        self.open.get_mut(&connection).ok_or(TransportError::NotConnected(connection))
    }
}

/// How long a connection may take to be made.
const CONNECTED_WITHIN: Duration = Duration::from_secs(5);

fn accept(listener: &TcpListener) -> std::io::Result<TcpStream> {
    let deadline = Instant::now() + CONNECTED_WITHIN;
    loop {
        match listener.accept() {
            Ok((stream, _)) => return stream.set_nonblocking(false).map(|()| stream),
            Err(e) if e.kind() == ErrorKind::WouldBlock && Instant::now() < deadline => {
                std::thread::sleep(Duration::from_millis(5));
            }
            Err(e) => return Err(e),
        }
    }
}

fn other(doing: &str, e: &std::io::Error) -> TransportError {
    TransportError::Other(format!("{doing}: {e}"))
}

impl Transport for Tcp {
    fn connect(&mut self, connection: u32) -> Result<(), TransportError> {
        let stream = match &self.way {
            Way::To(address) => TcpStream::connect_timeout(address, CONNECTED_WITHIN)
                .map_err(|e| other(&format!("connecting to {address}"), &e)),
            Way::From(listener) => accept(listener).map_err(|e| other("waiting for a connection", &e)),
        }?;
        stream.set_nodelay(true).map_err(|e| other("setting TCP_NODELAY", &e))?;
        self.open.insert(connection, Open { stream, buffer: Vec::new(), ended: false });
        Ok(())
    }

    fn send(&mut self, connection: u32, bytes: &[u8]) -> Result<(), TransportError> {
        let open = self.opened(connection)?;
        match open.stream.write_all(bytes) {
            // Closed by the session: these bytes are lost, as the trait documents.
            Err(e) if matches!(e.kind(), ErrorKind::BrokenPipe | ErrorKind::ConnectionReset) => Ok(()),
            sent => sent.map_err(|e| other("sending", &e)),
        }
    }

    fn receive(&mut self, connection: u32, wait: Duration) -> Result<Received, TransportError> {
        let until = Instant::now() + wait;
        let open = self.opened(connection)?;
        let mut chunk = [0; 4096];
        loop {
            if let Some(message) = take_message(&mut open.buffer) {
                return Ok(Received::Message(message));
            }
            if open.ended {
                return Ok(match std::mem::take(&mut open.buffer) {
                    rest if rest.is_empty() => Received::Disconnected,
                    rest => Received::Message(rest),
                });
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(Received::Nothing);
            }
            open.stream.set_read_timeout(Some(left)).map_err(|e| other("setting a time-out", &e))?;
            match open.stream.read(&mut chunk) {
                Ok(0) => open.ended = true,
                Ok(n) => open.buffer.extend_from_slice(&chunk[..n]),
                Err(e) => match e.kind() {
                    ErrorKind::ConnectionReset | ErrorKind::BrokenPipe => open.ended = true,
                    ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted => {}
                    _ => return Err(other("receiving", &e)),
                },
            }
        }
    }

    fn close(&mut self, connection: u32) -> Result<(), TransportError> {
        self.open.remove(&connection).map(drop).ok_or(TransportError::NotConnected(connection))
    }

    fn utc(&self) -> Utc {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Utc(u64::try_from(since.as_nanos()).unwrap_or(u64::MAX))
    }

    fn command(&mut self, _: &Command) -> Result<(), TransportError> {
        Err(TransportError::OutOfReach)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Action, Order, Script, run};
    use std::path::Path;

    fn wire(line: &str) -> Vec<u8> {
        let script = Script::parse(Path::new("w"), line.as_bytes()).unwrap();
        let Action::Send(line) = &script.steps[0].action else { panic!() };
        line.to_send(Utc(0), None)
    }

    #[test]
    fn a_script_runs_against_a_port_that_answers_in_two_pieces_and_closes() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let server = std::thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut first = [0; 1024];
            assert!(stream.read(&mut first).unwrap() > 0);
            let answer = wire("I8=FIX.4.4|35=A|34=1|98=0|");
            stream.write_all(&answer[..7]).unwrap();
            stream.write_all(&answer[7..]).unwrap();
        });
        let text = b"iCONNECT\nI8=FIX.4.4|35=A|34=1|98=0|\nE8=FIX.4.4|35=A|34=1|98=0|\neDISCONNECT";
        let script = Script::parse(Path::new("tcp.def"), text).unwrap();
        let mut tcp = Tcp::new(address);
        assert_eq!(run(&script, &mut tcp, Order::Strict), Ok(()));
        server.join().unwrap();
    }

    #[test]
    fn a_port_where_nobody_listens_is_named() {
        let address = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
        let script = Script::parse(Path::new("tcp.def"), b"iCONNECT").unwrap();
        let failure = run(&script, &mut Tcp::new(address), Order::Any).unwrap_err();
        assert!(failure.to_string().contains(&address.to_string()), "{failure}");
    }
}
