//! The options of a session that we connect for.

use core::net::SocketAddr;
use core::time::Duration;

use fixbolt_session::SessionSettings;

use crate::socket_options::SocketOptions;
use crate::tls::Tls;

/// A session that we connect for.
///
/// An attempt tries one host after another, and each address of a host, until one answers the
/// Logon: it goes on when a connection is refused or closed, when the Logon is refused by either
/// side, and when no answer comes in time. After the last host, and after the connection of a
/// session that was logged on has ended, it waits.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub struct Initiation {
    /// The session; its role is [`Role::Initiator`](fixbolt_session::Role::Initiator).
    pub settings: SessionSettings,
    /// Hosts and ports, tried in this order. Names are looked up again for each attempt.
    pub hosts: Vec<(String, u16)>,
    /// The local address of the connections to each host, in the order of `hosts`. `None` leaves it
    /// to the system, and so does a list that is shorter; port 0 leaves it the port, and 0.0.0.0 or
    /// :: the address.
    pub local_addresses: Vec<Option<SocketAddr>>,
    /// The host that an attempt begins with.
    pub host_selection_policy: HostSelection,
    /// With [`HostSelection::Priority`], how long after an attempt that began with the first host
    /// one begins with it again; until then they begin with the host that was used last. 0 begins
    /// each attempt with the first host.
    pub priority_start_over: Duration,
    /// How long to wait after the connection of a session that was logged on has ended, or after
    /// every host has failed; at least 1 ms. Each further failed attempt doubles it; a logon resets
    /// it. Up to a half of each wait is left out, by chance, so that many initiators do not return
    /// at once.
    pub reconnect_interval: Duration,
    /// The limit up to which failed attempts double the wait; `reconnect_interval` is the limit if
    /// it is longer.
    pub max_reconnect_interval: Duration,
    /// How long one connection may take to be made, with the handshake of TLS; at least 1 ms.
    pub socket_connect_timeout: Duration,
    /// The options of its sockets.
    pub socket: SocketOptions,
    /// TLS; `None` for plain connections.
    pub tls: Option<Tls>,
}

/// The host that an attempt to log on begins with, if there are several.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
#[non_exhaustive]
pub enum HostSelection {
    /// The first one; the others are backups
    /// ([`priority_start_over`](Initiation::priority_start_over)).
    #[default]
    Priority,
    /// The one after the host that was used last, the first after the last.
    RoundRobin,
}

impl Initiation {
    /// Creates a session that connects to `host` (a name or an address), waits up to 30 s between
    /// attempts, then up to 120 s, and allows 10 s for each connection to be made.
    #[must_use]
    pub fn new(settings: SessionSettings, host: &str, port: u16) -> Self {
        Self {
            settings,
            hosts: vec![(host.to_owned(), port)],
            local_addresses: Vec::new(),
            host_selection_policy: HostSelection::Priority,
            priority_start_over: Duration::ZERO,
            reconnect_interval: Duration::from_secs(30),
            max_reconnect_interval: Duration::from_secs(120),
            socket_connect_timeout: Duration::from_secs(10),
            socket: SocketOptions::default(),
            tls: None,
        }
    }
}
