//! The options of a session that counterparties connect to.

use core::fmt;
use core::net::IpAddr;

use fixbolt_session::{SessionId, SessionSettings};

use crate::identity_template::IdentityTemplate;
use crate::network::Network;
use crate::socket_options::SocketOptions;
use crate::sync::{Mutex, lock};
use crate::tls::{PeerCertificate, PeerRules, Tls};

/// A session that counterparties connect to.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub struct Acceptance {
    /// The session; its role is [`Role::Acceptor`](fixbolt_session::Role::Acceptor).
    pub settings: SessionSettings,
    /// The addresses from which counterparties may connect; empty for any.
    pub allowed_remote_addresses: Vec<IpAddr>,
    /// The options of its sockets.
    pub socket: SocketOptions,
    /// TLS; `None` for plain connections. The sessions of an address agree about it
    /// ([`EngineBuilder::tls`](crate::EngineBuilder::tls)).
    ///
    /// A certificate that fits to a session of the address that names it cannot log on as a session
    /// that names none, whether or not the first one is open. What
    /// [`EngineBuilder::accept_any`](crate::EngineBuilder::accept_any) returns here is checked for
    /// its own session only: what its certificates are known by is said for the address. Everything
    /// else of it must be as for the address, or the Logon is refused.
    pub tls: Option<Tls>,
    /// The proxies whose connections begin with a PROXY header (version 1 or 2), which names the
    /// counterparty; empty for none. The sessions of an address agree about them
    /// ([`EngineBuilder::proxy_protocol_from`](crate::EngineBuilder::proxy_protocol_from)).
    pub proxy_protocol_from: Vec<Network>,
}

impl From<SessionSettings> for Acceptance {
    fn from(settings: SessionSettings) -> Self {
        Self {
            settings,
            allowed_remote_addresses: Vec::new(),
            socket: SocketOptions::default(),
            tls: None,
            proxy_protocol_from: Vec::new(),
        }
    }
}

/// The options of sessions for counterparties for which no session was configured: dynamic
/// sessions. Every worker asks it.
pub(crate) struct AcceptanceTemplate {
    /// The identities that sessions get.
    pub(crate) identity: IdentityTemplate,
    /// The addresses that the sessions admit at most; empty if that is not known.
    pub(crate) allowed: Vec<IpAddr>,
    /// The TLS of the address, for sessions that say nothing about it.
    pub(crate) tls: Option<Tls>,
    /// The proxies of the address.
    pub(crate) proxies: Vec<Network>,
    settings: Mutex<Settings>,
}

/// Returns the options of the session with an identity; `None` refuses it.
type Settings = Box<dyn FnMut(&SessionId) -> Option<Acceptance> + Send>;

impl AcceptanceTemplate {
    pub(crate) fn new(
        identity: IdentityTemplate,
        settings: impl FnMut(&SessionId) -> Option<Acceptance> + Send + 'static,
    ) -> Self {
        let (allowed, proxies) = (Vec::new(), Vec::new());
        Self { identity, allowed, tls: None, proxies, settings: Mutex::new(Box::new(settings)) }
    }

    /// Returns the options of the session with this identity; `None` refuses it.
    pub(crate) fn ask(&self, id: &SessionId) -> Option<Acceptance> {
        let mut acceptance = (lock(&self.settings))(id)?;
        acceptance.tls = acceptance.tls.or_else(|| self.tls.clone());
        Some(acceptance)
    }

    /// Returns whether the certificates of its sessions are known by their CompID.
    pub(crate) fn binds_by_comp_id(&self) -> bool {
        self.tls.as_ref().is_some_and(Tls::binds_by_comp_id)
    }

    /// Returns whether a certificate belongs to one of the sessions that it makes, or may: as far
    /// as the TLS of the address says, whichever are open.
    pub(crate) fn claims(&self, certificate: &PeerCertificate) -> bool {
        self.binds_by_comp_id()
            || self.tls.as_ref().is_some_and(|tls| PeerRules::new(tls, "").bind(certificate))
    }
}

impl fmt::Debug for AcceptanceTemplate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AcceptanceTemplate").field("identity", &self.identity).finish_non_exhaustive()
    }
}
