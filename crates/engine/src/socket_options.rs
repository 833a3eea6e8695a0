//! The options of a session's sockets.

use core::time::Duration;
use std::io;
use std::net::SocketAddr;

use mio::net::TcpStream;
use socket2::{Domain, Protocol, SockRef, Socket, Type};

/// The options of the sockets of a session's connections.
///
/// ```
/// use fixbolt::SocketOptions;
///
/// let mut options = SocketOptions::default();
/// assert!(options.nodelay);
/// options.receive_buffer_size = Some(1 << 20);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct SocketOptions {
    /// Whether small messages are sent at once (TCP_NODELAY).
    pub nodelay: bool,
    /// Whether TCP keepalive probes are sent (SO_KEEPALIVE). Heartbeats notice a broken connection
    /// sooner, unless HeartBtInt is 0.
    pub keep_alive: bool,
    /// The size of the send buffer, which has what was written and is not acknowledged, in bytes
    /// (SO_SNDBUF); `None` leaves it to the system, which may round it. At most 2 GiB.
    pub send_buffer_size: Option<usize>,
    /// The size of the receive buffer, which has what arrived and was not read, in bytes
    /// (SO_RCVBUF); `None` leaves it to the system, which may round it. At most 2 GiB.
    pub receive_buffer_size: Option<usize>,
    /// Whether out-of-band data stays among the other bytes (SO_OOBINLINE), where it makes a
    /// message garbled; otherwise it is discarded.
    pub oob_inline: bool,
    /// The type of service in IPv4 headers, or the traffic class of IPv6.
    pub traffic_class: Option<u8>,
    /// How long the system polls the network device for a read that finds nothing, instead of
    /// waiting for its interrupt (SO_BUSY_POLL); `None` leaves it to `net.core.busy_read`. In whole
    /// microseconds, Linux only.
    ///
    /// The engine's sockets do not block, so a read polls the device once, and only the reads of
    /// [`Waiting::Spinning`](crate::Waiting::Spinning) happen without an event. For a worker that
    /// blocks, the system polls while the worker waits, if `net.core.busy_poll` is set. A device
    /// without support for it, such as the loopback, is not polled. Some kernels refuse
    /// values above `net.core.busy_read` without CAP_NET_ADMIN; a warning says that and names the
    /// session.
    pub busy_poll: Option<Duration>,
    /// Whether what was read is acknowledged at once (TCP_QUICKACK), instead of with the next
    /// message, or after up to 40 ms if there is none. Linux only.
    ///
    /// The system forgets the option whenever a message is sent soon after one was received, so it
    /// is set again after every read that returns bytes: one more system call for each, and one
    /// more packet for most.
    pub quick_ack: bool,
    /// How long a connection waits for the counterparty to close it, after our last message was
    /// written, before we do.
    pub linger: Duration,
}

/// TCP_NODELAY, a second of waiting for the counterparty, and otherwise what the system does by
/// itself.
impl Default for SocketOptions {
    fn default() -> Self {
        Self {
            nodelay: true,
            keep_alive: false,
            send_buffer_size: None,
            receive_buffer_size: None,
            oob_inline: false,
            traffic_class: None,
            busy_poll: None,
            quick_ack: false,
            linger: Duration::from_secs(1),
        }
    }
}

impl SocketOptions {
    /// Sets the options of a connection, and calls `failed` for each one that the system refuses.
    pub(crate) fn apply(&self, stream: &TcpStream, mut failed: impl FnMut(&'static str, io::Error)) {
        let socket = SockRef::from(stream);
        let mut set = |name, result: io::Result<()>| {
            if let Err(error) = result {
                failed(name, error);
            }
        };
        set("TCP_NODELAY", socket.set_tcp_nodelay(self.nodelay));
        if self.keep_alive {
            set("SO_KEEPALIVE", socket.set_keepalive(true));
        }
        if self.oob_inline {
            set("SO_OOBINLINE", socket.set_out_of_band_inline(true));
        }
        if let Some(class) = self.traffic_class {
            set("IP_TOS", mark(&socket, class));
        }
        if let Some(time) = self.busy_poll {
            set("SO_BUSY_POLL", system::busy_poll(&socket, time));
        }
        if self.quick_ack {
            set("TCP_QUICKACK", system::quick_ack(&socket));
        }
        self.set_buffer_sizes(&socket, set);
    }

    fn set_buffer_sizes(&self, socket: &Socket, mut set: impl FnMut(&'static str, io::Result<()>)) {
        if let Some(bytes) = self.send_buffer_size {
            set("SO_SNDBUF", socket.set_send_buffer_size(bytes));
        }
        if let Some(bytes) = self.receive_buffer_size {
            set("SO_RCVBUF", socket.set_recv_buffer_size(bytes));
        }
    }

    /// Begins to connect to `address`, from `local` if that is given.
    ///
    /// # Errors
    /// The system's, or that the two addresses are of different kinds.
    pub(crate) fn connect(&self, address: SocketAddr, local: Option<SocketAddr>) -> io::Result<TcpStream> {
        let socket = Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))?;
        socket.set_nonblocking(true)?;
        // The counterparty learns at the beginning how far the window may grow. A size that the
        // system refuses is reported once the connection is the session's.
        self.set_buffer_sizes(&socket, |_, _| {});
        if let Some(local) = local {
            if local.port() != 0 {
                // A port is in use for minutes after its last connection, unless one says so.
                socket.set_reuse_address(true)?;
            }
            socket.bind(&of_kind(local, address)?.into())?;
        }
        match socket.connect(&address.into()) {
            Err(error) if !is_in_progress(&error) => Err(error),
            _ => Ok(TcpStream::from_std(socket.into())),
        }
    }
}

/// Sends the acknowledgment of what was read, if one is due, and has the next ones sent at once,
/// until the system decides otherwise. Does nothing where it cannot:
/// [`SocketOptions::apply`] has said so.
pub(crate) fn acknowledge(stream: &TcpStream) {
    let _ = system::quick_ack(&SockRef::from(stream));
}

/// Options of Linux.
#[cfg(target_os = "linux")]
mod system {
    use super::{Duration, Socket, io};

    pub(super) fn busy_poll(socket: &Socket, time: Duration) -> io::Result<()> {
        let most = u128::from(i32::MAX.unsigned_abs());
        let micros = u32::try_from(time.as_micros().min(most)).unwrap_or_default();
        socket.set_busy_poll(micros).map_err(|error| explained(error, micros))
    }

    /// Adds what to do to a refusal.
    pub(super) fn explained(error: io::Error, micros: u32) -> io::Error {
        if error.kind() != io::ErrorKind::PermissionDenied {
            return error;
        }
        let limit = std::fs::read_to_string("/proc/sys/net/core/busy_read").unwrap_or_default();
        let limit = match limit.trim() {
            "" => String::new(),
            limit => format!(", which is {limit}"),
        };
        let reason = format!(
            "{error}: {micros} microseconds are more than net.core.busy_read{limit}; give the process CAP_NET_ADMIN (in systemd AmbientCapabilities=CAP_NET_ADMIN), or raise net.core.busy_read"
        );
        io::Error::new(error.kind(), reason)
    }

    pub(super) fn quick_ack(socket: &Socket) -> io::Result<()> {
        socket.set_tcp_quickack(true)
    }
}

/// Options that only Linux has.
#[cfg(not(target_os = "linux"))]
mod system {
    use super::{Duration, Socket, io};

    pub(super) fn busy_poll(_: &Socket, _: Duration) -> io::Result<()> {
        Err(io::Error::new(io::ErrorKind::Unsupported, "only Linux has it; leave it out"))
    }

    pub(super) fn quick_ack(_: &Socket) -> io::Result<()> {
        Err(io::Error::new(io::ErrorKind::Unsupported, "only Linux has it; leave it out"))
    }
}

/// Returns `local` as an address from which `address` can be reached: 0.0.0.0 and :: stand for each
/// other.
fn of_kind(local: SocketAddr, address: SocketAddr) -> io::Result<SocketAddr> {
    if local.is_ipv4() == address.is_ipv4() {
        return Ok(local);
    }
    if local.ip().is_unspecified() {
        let any: SocketAddr = match address {
            SocketAddr::V4(_) => ([0; 4], local.port()).into(),
            SocketAddr::V6(_) => ([0; 16], local.port()).into(),
        };
        return Ok(any);
    }
    let reason = format!("it cannot be reached from {}, an address of the other IP version", local.ip());
    Err(io::Error::new(io::ErrorKind::Unsupported, reason))
}

/// Returns whether a connection is being made that was not made at once.
fn is_in_progress(error: &io::Error) -> bool {
    #[cfg(unix)]
    if error.raw_os_error() == Some(libc::EINPROGRESS) {
        return true;
    }
    error.kind() == io::ErrorKind::WouldBlock
}

/// Marks the packets of a connection.
fn mark(socket: &Socket, class: u8) -> io::Result<()> {
    #[cfg(unix)]
    if socket.local_addr()?.is_ipv6() {
        return socket.set_tclass_v6(u32::from(class));
    }
    socket.set_tos_v4(u32::from(class))
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn every_option_reaches_the_socket() {
        for address in ["127.0.0.1:0", "[::1]:0"] {
            // Not every machine has IPv6.
            let Ok(listener) = TcpListener::bind(address) else { continue };
            let stream = SocketOptions::default().connect(listener.local_addr().unwrap(), None).unwrap();
            let (_peer, _) = listener.accept().unwrap();
            let options = SocketOptions {
                nodelay: false,
                keep_alive: true,
                send_buffer_size: Some(20_000),
                receive_buffer_size: Some(30_000),
                oob_inline: true,
                traffic_class: Some(0x10),
                ..SocketOptions::default()
            };
            let socket = SockRef::from(&stream);
            SocketOptions::default().apply(&stream, |name, error| panic!("{name}: {error}"));
            assert!(socket.tcp_nodelay().unwrap());
            assert!(!socket.keepalive().unwrap() && !socket.out_of_band_inline().unwrap());
            options.apply(&stream, |name, error| panic!("{name}: {error}"));
            assert!(!socket.tcp_nodelay().unwrap());
            assert!(socket.keepalive().unwrap() && socket.out_of_band_inline().unwrap());
            let class = if address.starts_with('[') { socket.tclass_v6() } else { socket.tos_v4() };
            assert_eq!(class.unwrap(), 0x10);
            // Linux doubles them, for its own needs.
            assert!([20_000, 40_000].contains(&socket.send_buffer_size().unwrap()));
            assert!([30_000, 60_000].contains(&socket.recv_buffer_size().unwrap()));
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn busy_polling_reaches_the_socket_or_is_refused_with_what_to_do() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let stream = SocketOptions::default().connect(listener.local_addr().unwrap(), None).unwrap();
        let socket = SockRef::from(&stream);
        let options =
            SocketOptions { busy_poll: Some(Duration::from_micros(60)), ..SocketOptions::default() };
        let mut refused = Vec::new();
        options.apply(&stream, |name, error| refused.push((name, error.to_string())));
        if refused.is_empty() {
            assert_eq!(socket.busy_poll().unwrap(), 60);
        } else {
            eprintln!("not seen: this process may not poll for longer: {refused:?}");
        }
        // Not every kernel refuses it, so the refusal is made here.
        let refused = system::explained(io::Error::from_raw_os_error(libc::EPERM), 60).to_string();
        let limit = std::fs::read_to_string("/proc/sys/net/core/busy_read").unwrap();
        let expected = format!(
            "Operation not permitted (os error 1): 60 microseconds are more than net.core.busy_read, which is {}; give the process CAP_NET_ADMIN (in systemd AmbientCapabilities=CAP_NET_ADMIN), or raise net.core.busy_read",
            limit.trim()
        );
        assert_eq!(refused, expected);
    }

    #[test]
    fn the_receive_buffer_has_its_size_before_the_connection_is_made() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let options = SocketOptions { receive_buffer_size: Some(30_000), ..SocketOptions::default() };
        let stream = options.connect(listener.local_addr().unwrap(), None).unwrap();
        assert!([30_000, 60_000].contains(&SockRef::from(&stream).recv_buffer_size().unwrap()));
    }

    #[test]
    fn a_connection_comes_from_the_local_address_that_it_is_given() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let from = |local: &str| SocketOptions::default().connect(address, Some(local.parse().unwrap()));
        let _stream = from("127.0.0.3:0").unwrap();
        assert_eq!(listener.accept().unwrap().1.ip().to_string(), "127.0.0.3");
        let _stream = from("[::]:0").unwrap();
        assert_eq!(listener.accept().unwrap().1.ip().to_string(), "127.0.0.1");
        let error = from("[::1]:0").unwrap_err().to_string();
        assert_eq!(error, "it cannot be reached from ::1, an address of the other IP version");
    }
}
