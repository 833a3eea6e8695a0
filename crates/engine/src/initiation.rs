//! The options of a session that we connect for.

use core::time::Duration;

use fixbolt_session::SessionSettings;

/// A session that we connect for.
///
/// An attempt tries one host after another, and each address of a host, until one answers the
/// Logon: it goes on when a connection is refused or closed, when the Logon is refused by either
/// side, and when no answer comes in time. After the last host, and after the connection of a
/// session that was logged on has ended, it waits.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Initiation {
    /// The session; its role is [`Role::Initiator`](fixbolt_session::Role::Initiator).
    pub settings: SessionSettings,
    /// Hosts and ports, tried in this order. Names are looked up again for each attempt.
    pub hosts: Vec<(String, u16)>,
    /// The host that an attempt begins with.
    pub host_selection: HostSelection,
    /// How long to wait after the connection of a session that was logged on has ended, or after
    /// every host has failed; at least 1 ms. Each further failed attempt doubles it; a logon resets
    /// it. Up to a half of each wait is left out, by chance, so that many initiators do not return
    /// at once.
    pub reconnect_interval: Duration,
    /// The limit up to which failed attempts double the wait; `reconnect_interval` is the limit if
    /// it is longer.
    pub max_reconnect_interval: Duration,
    /// How long one connection may take to be made, at least 1 ms.
    pub connect_timeout: Duration,
    /// Whether small messages are sent at once (TCP_NODELAY).
    pub nodelay: bool,
}

/// The host that an attempt to log on begins with, if there are several.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
#[non_exhaustive]
pub enum HostSelection {
    /// The first one; the others are backups.
    #[default]
    Priority,
    /// The one after the host that was used last, the first after the last.
    RoundRobin,
}

impl Initiation {
    /// The longest wait between attempts, unless told otherwise.
    pub(crate) const MAX_RECONNECT_INTERVAL: Duration = Duration::from_secs(120);

    /// Creates a session that connects to `host` (a name or an address), waits up to 30 s between
    /// attempts, then up to 120 s, and allows 10 s for each connection to be made.
    #[must_use]
    pub fn new(settings: SessionSettings, host: &str, port: u16) -> Self {
        Self {
            settings,
            hosts: vec![(host.to_owned(), port)],
            host_selection: HostSelection::Priority,
            reconnect_interval: Duration::from_secs(30),
            max_reconnect_interval: Self::MAX_RECONNECT_INTERVAL,
            connect_timeout: Duration::from_secs(10),
            nodelay: true,
        }
    }
}
