//! The options of a session that we connect for.

use core::time::Duration;

use fixbolt_session::SessionSettings;

/// A session that we connect for.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Initiation {
    /// The session; its role is [`Role::Initiator`](fixbolt_session::Role::Initiator).
    pub settings: SessionSettings,
    /// Hosts and ports, tried in this order. Names are looked up again for each attempt.
    pub hosts: Vec<(String, u16)>,
    /// How long to wait after a connection has ended, or after every host has failed;
    /// at least 1 ms.
    pub reconnect_interval: Duration,
    /// How long one attempt to connect may take, at least 1 ms.
    pub connect_timeout: Duration,
    /// Whether small messages are sent at once (TCP_NODELAY).
    pub nodelay: bool,
}

impl Initiation {
    /// Creates a session that connects to `host` (a name or an address), reconnects after 30 s, and
    /// allows 10 s for each attempt.
    #[must_use]
    pub fn new(settings: SessionSettings, host: &str, port: u16) -> Self {
        Self {
            settings,
            hosts: vec![(host.to_owned(), port)],
            reconnect_interval: Duration::from_secs(30),
            connect_timeout: Duration::from_secs(10),
            nodelay: true,
        }
    }
}
