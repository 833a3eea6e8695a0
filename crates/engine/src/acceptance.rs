//! The options of a session that counterparties connect to.

use core::net::IpAddr;

use fixbolt_session::{SessionId, SessionSettings};

/// A session that counterparties connect to.
#[derive(Clone, Debug)]
pub struct Acceptance {
    /// The session; its role is [`Role::Acceptor`](fixbolt_session::Role::Acceptor).
    pub settings: SessionSettings,
    /// The addresses from which it may be connected to; empty for any.
    pub allowed: Vec<IpAddr>,
    /// Whether small messages leave at once (TCP_NODELAY).
    pub nodelay: bool,
}

impl From<SessionSettings> for Acceptance {
    fn from(settings: SessionSettings) -> Self {
        Self { settings, allowed: Vec::new(), nodelay: true }
    }
}

/// Makes the options for counterparties that no session was configured for; `None` refuses one.
#[allow(clippy::type_complexity)] // it is said once, here
pub(crate) struct AcceptanceTemplate(pub(crate) Box<dyn FnMut(&SessionId) -> Option<Acceptance> + Send>);
