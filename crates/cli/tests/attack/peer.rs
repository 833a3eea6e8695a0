//! One side of a FIX connection, which also does what no FIX engine would.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4, TcpStream};
use std::time::{Duration, Instant};

use rustix::net::{AddressFamily, SocketFlags, SocketType};

use crate::message::{self, Message};

/// How long a peer waits for bytes before the test fails.
const PATIENCE: Duration = Duration::from_secs(20);

/// A connection with the CompIDs and the sequence number of what it sends.
#[derive(Debug)]
pub(crate) struct Peer {
    pub(crate) stream: TcpStream,
    own: String,
    other: String,
    /// The MsgSeqNum of the next message.
    pub(crate) next: u64,
    unread: Vec<u8>,
}

impl Peer {
    /// Wraps a connection.
    pub(crate) fn new(stream: TcpStream, own: &str, other: &str) -> Self {
        stream.set_read_timeout(Some(PATIENCE)).expect("the time is not zero");
        stream.set_write_timeout(Some(PATIENCE)).expect("the time is not zero");
        // The peer may have closed the connection already.
        let _ = stream.set_nodelay(true);
        Self { stream, own: own.to_owned(), other: other.to_owned(), next: 1, unread: Vec::new() }
    }

    /// Connects to a server whose CompID is `VENUE`, without a Logon.
    pub(crate) fn connect(address: &str, own: &str) -> Self {
        Self::new(TcpStream::connect(address).expect("the server listens"), own, "VENUE")
    }

    /// Connects and logs on with sequence numbers that begin at 1.
    pub(crate) fn logged_on(address: &str, own: &str) -> Self {
        let mut peer = Self::connect(address, own);
        let answer = peer.log_on("98=0|108=30|141=Y");
        assert!(answer.as_ref().is_some_and(|answer| answer.kind() == "A"), "{own}: {answer:?}");
        peer
    }

    /// Sends a Logon with these fields and returns the answer; `None` if the connection ended.
    ///
    /// # Panics
    ///
    /// If neither happens.
    pub(crate) fn log_on(&mut self, fields: &str) -> Option<Message> {
        // It may have been closed already.
        let _ = self.send(&format!("35=A|{fields}"));
        self.receive().expect("the Logon is answered, or the connection closed")
    }

    /// Returns a message that begins with the MsgType, with header and trailer, and counts it.
    pub(crate) fn message(&mut self, fields: &str) -> Vec<u8> {
        let (kind, rest) = fields.split_once('|').unwrap_or((fields, ""));
        let header = format!(
            "{kind}|49={}|56={}|34={}|52={}|{rest}",
            self.own,
            self.other,
            self.next,
            message::time(0)
        );
        self.next += 1;
        message::whole("FIX.4.4", &header)
    }

    /// Sends a message that begins with the MsgType.
    pub(crate) fn send(&mut self, fields: &str) -> io::Result<()> {
        let bytes = self.message(fields);
        self.stream.write_all(&bytes)
    }

    /// Sends an order that the venue fills and the echo returns.
    pub(crate) fn order(&mut self, id: &str, text: &str) -> io::Result<()> {
        let order = format!("35=D|11={id}|55=IBM|54=1|60={}|38=100|40=1|58={text}", message::time(0));
        self.send(&order)
    }

    /// Returns the next message; `None` if the connection ended, and an error if nothing comes.
    pub(crate) fn receive(&mut self) -> io::Result<Option<Message>> {
        let mut chunk = [0; 65536];
        loop {
            if let Some((message, length)) = message::first(&self.unread) {
                self.unread.drain(..length);
                return Ok(Some(message));
            }
            match self.stream.read(&mut chunk) {
                Ok(0) => return Ok(None),
                Ok(count) => self.unread.extend_from_slice(&chunk[..count]),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Err(error),
                Err(_) => return Ok(None),
            }
        }
    }

    /// Returns the next message of this kind; `None` if the connection ended before.
    pub(crate) fn next_of(&mut self, kind: &str) -> io::Result<Option<Message>> {
        loop {
            match self.receive()? {
                Some(message) if message.kind() != kind => {}
                found => return Ok(found),
            }
        }
    }

    /// Sends an order, and returns the time until its report.
    ///
    /// # Panics
    ///
    /// If the connection ends, or nothing comes.
    pub(crate) fn round_trip(&mut self, id: &str) -> Duration {
        let began = Instant::now();
        self.order(id, "round").expect("the connection is open");
        loop {
            let report = self.next_of("8").expect("a report comes").expect("the connection stays open");
            if report.get("11").as_deref() == Some(id) {
                return began.elapsed();
            }
        }
    }

    /// Returns the messages until the connection ended; an error if it does not within this time.
    pub(crate) fn until_end(&mut self, within: Duration) -> io::Result<Vec<Message>> {
        let deadline = Instant::now() + within;
        let mut messages = Vec::new();
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            self.stream.set_read_timeout(Some(left.max(Duration::from_millis(1))))?;
            match self.receive()? {
                Some(message) if messages.len() < 1000 => messages.push(message),
                Some(_) => {}
                None => return Ok(messages),
            }
        }
    }

    /// Reads and forgets what has come, without waiting. Returns whether the connection is open.
    pub(crate) fn drain(&mut self) -> bool {
        let mut chunk = [0; 65536];
        self.unread.clear();
        self.stream.set_nonblocking(true).expect("it is a socket");
        let open = loop {
            match self.stream.read(&mut chunk) {
                Ok(0) => break false,
                Ok(_) => {}
                Err(error) => break error.kind() == ErrorKind::WouldBlock,
            }
        };
        self.stream.set_nonblocking(false).expect("it is a socket");
        open
    }

    /// Closes the connection with a reset instead of an orderly end.
    pub(crate) fn reset(self) {
        let _ = rustix::net::sockopt::set_socket_linger(&self.stream, Some(Duration::ZERO));
    }
}

/// Connects from another address of this machine's loopback network.
pub(crate) fn connect_from(source: [u8; 4], to: &str) -> io::Result<TcpStream> {
    let to: SocketAddr = to.parse().expect("it is an address");
    // No server that another test starts meanwhile inherits it, and has fewer descriptors.
    let flags = SocketFlags::CLOEXEC;
    let socket = rustix::net::socket_with(AddressFamily::INET, SocketType::STREAM, flags, None)?;
    rustix::net::bind(&socket, &SocketAddrV4::new(Ipv4Addr::from(source), 0))?;
    rustix::net::connect(&socket, &to)?;
    Ok(TcpStream::from(socket))
}

/// Whether the other side has closed a connection on which it sends nothing.
pub(crate) fn is_closed(mut stream: &TcpStream) -> bool {
    stream.set_nonblocking(true).expect("it is a socket");
    match stream.read(&mut [0]) {
        Ok(count) => count == 0,
        Err(error) => error.kind() != ErrorKind::WouldBlock,
    }
}
