//! The options of a session that counterparties connect to.

use core::net::IpAddr;

use fixbolt_session::{SessionId, SessionSettings};

use crate::identity_template::IdentityTemplate;
use crate::socket_options::SocketOptions;

/// A session that counterparties connect to.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Acceptance {
    /// The session; its role is [`Role::Acceptor`](fixbolt_session::Role::Acceptor).
    pub settings: SessionSettings,
    /// The addresses from which counterparties may connect; empty for any.
    pub allowed: Vec<IpAddr>,
    /// The options of its sockets.
    pub socket: SocketOptions,
}

impl From<SessionSettings> for Acceptance {
    fn from(settings: SessionSettings) -> Self {
        Self { settings, allowed: Vec::new(), socket: SocketOptions::default() }
    }
}

/// The options of sessions for counterparties for which no session was configured: dynamic
/// sessions.
pub(crate) struct AcceptanceTemplate {
    /// The identities that sessions get.
    pub(crate) identity: IdentityTemplate,
    /// Returns the options of the session with this identity; `None` refuses it.
    #[allow(clippy::type_complexity)] // spelled out once, here
    pub(crate) settings: Box<dyn FnMut(&SessionId) -> Option<Acceptance> + Send>,
    /// The addresses that `settings` admits at most; empty if that is not known.
    pub(crate) allowed: Vec<IpAddr>,
}
