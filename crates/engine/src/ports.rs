//! The addresses on which an engine listens, and whom they are for: the sessions that are accepted
//! there, on whichever worker, and the templates of others. A worker takes the lock only when it
//! accepts a connection, reads its Logon, or opens or closes a session.

use core::net::{IpAddr, SocketAddr};
use core::panic::AssertUnwindSafe;
use std::io;
use std::net::TcpListener;
use std::panic::catch_unwind;
use std::sync::Arc;

use fixbolt_session::{SessionId, SessionKey};
use socket2::{Domain, SockRef, Socket, Type};

use crate::acceptance::{Acceptance, AcceptanceTemplate};
use crate::error::{EngineError, ListenError};
use crate::network::Network;
use crate::sync::{Mutex, lock};
use crate::tls::{
    ClientCertificates, PeerCertificate, PeerRules, SAYS_NOTHING, Tls, TlsContext, TlsContexts, TlsFaults,
};

/// Connections that wait at a port until they are accepted, as far as the system allows as many
/// (`net.core.somaxconn`). If there are more, the next one tries again after a second.
const BACKLOG: i32 = 1024;

/// An address on which the engine listens, by its place among them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Port(usize);

/// The addresses, in the order in which they were first named.
#[derive(Debug, Default)]
pub(crate) struct Ports(Arc<Mutex<Vec<Listening>>>);

/// An address at which something is being opened.
///
/// If it had to be bound for that, and [`Binding::listen`] is not called, the engine does not
/// listen on it: dropping the value closes the socket. Only one address is bound at a time.
#[derive(Debug)]
pub(crate) struct Binding {
    ports: Arc<Mutex<Vec<Listening>>>,
    port: Port,
    /// Connections wait there until a worker accepts them.
    socket: Option<TcpListener>,
}

impl Binding {
    pub(crate) const fn port(&self) -> Port {
        self.port
    }

    /// Keeps the address, at which something was opened. Returns the socket if it was bound.
    pub(crate) fn listen(mut self) -> Option<(Port, mio::net::TcpListener)> {
        self.socket.take().map(|socket| (self.port, mio::net::TcpListener::from_std(socket)))
    }
}

impl Drop for Binding {
    fn drop(&mut self) {
        if self.socket.is_some() {
            drop(lock(&self.ports).pop());
        }
    }
}

#[derive(Debug)]
struct Listening {
    requested: SocketAddr,
    /// The address with the port that the system chose.
    address: SocketAddr,
    sessions: Vec<Accepted>,
    /// The certificates of the configured sessions, open or not.
    bound: Vec<(SessionId, Arc<PeerRules>)>,
    templates: Vec<Arc<AcceptanceTemplate>>,
    security: Security,
    /// From which addresses connections begin with a PROXY header; `None` until the first session
    /// decides.
    proxies: Option<Arc<[Network]>>,
}

/// How the connections to a port are secured.
#[derive(Debug, Default)]
enum Security {
    /// Its first session decides.
    #[default]
    Undecided,
    Plain,
    Tls(Box<Tls>, Arc<TlsContext>),
}

/// A session that is open for connections to a port.
#[derive(Clone, Debug)]
pub(crate) struct Accepted {
    pub(crate) id: SessionId,
    pub(crate) key: SessionKey,
    /// The addresses from which it may be connected to; any if there are none.
    pub(crate) allowed: Arc<[IpAddr]>,
    /// The certificates that its counterparty may have.
    pub(crate) peer: Arc<PeerRules>,
    /// Which template of the port has made it, if one has.
    pub(crate) template: Option<usize>,
}

/// A session that a template makes.
pub(crate) struct Made {
    /// Which template of the port it is.
    pub(crate) template: usize,
    /// The identity for which the template was asked.
    pub(crate) id: SessionId,
    pub(crate) acceptance: Acceptance,
}

/// Tries whether an address can be bound. Nobody can connect to it meanwhile. As long as the result
/// is kept, no other address can be bound that could not be listened on beside it.
pub(crate) fn try_to_bind(address: SocketAddr) -> io::Result<Socket> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, None)?;
    // As std's listener does.
    #[cfg(unix)]
    socket.set_reuse_address(true)?;
    socket.bind(&address.into())?;
    // Of two sockets that do not listen yet, both would have to allow it.
    #[cfg(unix)]
    socket.set_reuse_address(false)?;
    Ok(socket)
}

/// Returns the error of an address that is in use because of one of these, on which the engine
/// listens: it includes the address, or is included in it.
pub(crate) fn overlap(
    address: SocketAddr,
    error: &io::Error,
    mut bound: impl Iterator<Item = SocketAddr>,
) -> Option<EngineError> {
    if error.kind() != io::ErrorKind::AddrInUse {
        return None;
    }
    // `[::]` stands for all addresses of IPv4, too, and one of IPv4 may be written as one of IPv6.
    let includes = |all: SocketAddr, one: SocketAddr| {
        let (all, one) = (all.ip(), one.ip());
        let is_all = all.to_canonical().is_unspecified();
        is_all && (all.to_canonical().is_ipv6() || one.to_canonical().is_ipv4())
            || all != one && all.to_canonical() == one.to_canonical()
    };
    let other = bound.find(|other| {
        other.port() == address.port() && (includes(*other, address) || includes(address, *other))
    })?;
    Some(EngineError::Listen { address, error: ListenError::Overlaps { other } })
}

/// Returns whether the allowed addresses contain this one. An empty list allows any.
pub(crate) fn allows(allowed: &[IpAddr], from: IpAddr) -> bool {
    allowed.is_empty() || allowed.contains(&from)
}

impl Listening {
    fn made_by(&self, template: usize, id: &SessionId) -> Option<SessionKey> {
        let made =
            self.sessions.iter().find(|session| session.template == Some(template) && session.id == *id);
        made.map(|session| session.key)
    }
}

impl Ports {
    /// Returns the port with this address, requested or chosen by the system.
    fn find(&self, address: SocketAddr) -> Option<Port> {
        let here = |known: &Listening| [known.requested, known.address].contains(&address);
        lock(&self.0).iter().position(here).map(Port)
    }

    /// Opens something at an address. Returns the socket if the address had to be bound for it:
    /// connections wait there until a worker accepts them. An address at which nothing could be
    /// opened is not listened on.
    ///
    /// # Errors
    /// [`EngineError::Listen`], or that of `open`.
    pub(crate) fn open_at(
        &self,
        address: SocketAddr,
        open: impl FnOnce(Port) -> Result<(), EngineError>,
    ) -> Result<Option<(Port, mio::net::TcpListener)>, EngineError> {
        let binding = self.bind(address)?;
        open(binding.port())?;
        Ok(binding.listen())
    }

    /// Binds an address, unless the engine listens on it.
    ///
    /// # Errors
    /// [`EngineError::Listen`].
    pub(crate) fn bind(&self, address: SocketAddr) -> Result<Binding, EngineError> {
        let (port, socket) = match self.find(address) {
            Some(port) => (port, None),
            None => {
                let (port, socket) = self.bind_new(address).map_err(|error| self.told(address, &error))?;
                (port, Some(socket))
            }
        };
        Ok(Binding { ports: Arc::clone(&self.0), port, socket })
    }

    /// Returns the error of an address that could not be bound.
    fn told(&self, address: SocketAddr, error: &io::Error) -> EngineError {
        let own = overlap(address, error, lock(&self.0).iter().map(|listening| listening.address));
        own.unwrap_or_else(|| EngineError::listen(address, error))
    }

    fn bind_new(&self, address: SocketAddr) -> io::Result<(Port, TcpListener)> {
        let socket = TcpListener::bind(address)?;
        // That of the standard library is 128.
        SockRef::from(&socket).listen(BACKLOG)?;
        socket.set_nonblocking(true)?;
        let bound = socket.local_addr()?;
        Ok((self.add_address(address, bound), socket))
    }

    /// Returns the port with this address, which is added unless it is known. It is not bound.
    pub(crate) fn at(&self, address: SocketAddr) -> Port {
        self.find(address).unwrap_or_else(|| self.add_address(address, address))
    }

    fn add_address(&self, requested: SocketAddr, address: SocketAddr) -> Port {
        let mut ports = lock(&self.0);
        ports.push(Listening {
            requested,
            address,
            sessions: Vec::new(),
            bound: Vec::new(),
            templates: Vec::new(),
            security: Security::Undecided,
            proxies: None,
        });
        Port(ports.len() - 1)
    }

    /// Decides how the connections to a port begin, with which proxies and TLS, or checks that a
    /// further session agrees.
    ///
    /// # Errors
    /// What is wrong, and what to do.
    pub(crate) fn agree(
        &self,
        port: Port,
        proxies: &[Network],
        tls: Option<&Tls>,
        contexts: &Arc<TlsContexts>,
    ) -> Result<(), TlsFaults> {
        self.check_proxies(port, proxies)?;
        self.secure(port, tls, contexts)?;
        self.set_proxies(port, proxies);
        Ok(())
    }

    /// Decides how the connections to a port are secured, or checks that a further session agrees.
    ///
    /// # Errors
    /// What is wrong, and what to do.
    fn secure(
        &self,
        Port(port): Port,
        tls: Option<&Tls>,
        contexts: &Arc<TlsContexts>,
    ) -> Result<(), TlsFaults> {
        if let Some(tls) = tls.filter(|tls| tls.binds_peer())
            && tls.client_certificates == ClientCertificates::Off
        {
            return Err(
                "it expects a certificate of its counterparty (TLSPeerPins, TLSPeerNames), but initiators are not asked for one; set NeedClientAuth=Y".to_owned().into(),
            );
        }
        // Loaded without the lock. Sessions are added one after another.
        let security = match tls {
            None => Security::Plain,
            Some(tls) => Security::Tls(Box::new(tls.of_address()), contexts.of_port(tls)?),
        };
        let mut ports = lock(&self.0);
        let Some(port) = ports.get_mut(port) else { return Ok(()) };
        let by_comp_id = port.templates.iter().any(|template| template.binds_by_comp_id());
        if by_comp_id && tls.is_some_and(Tls::says_nothing_of_peer) {
            return Err(SAYS_NOTHING.to_owned().into());
        }
        let all_or_none = "all sessions of an address use it, or none does; give them different ports";
        match (&port.security, &security) {
            (Security::Undecided, _) => port.security = security,
            (Security::Plain, Security::Tls(..)) => {
                return Err(format!(
                    "it uses TLS, and another session at its address does not: {all_or_none}"
                )
                .into());
            }
            (Security::Tls(..), Security::Plain) => {
                return Err(format!(
                    "it does not use TLS, and another session at its address does: {all_or_none}"
                )
                .into());
            }
            (Security::Tls(first, _), Security::Tls(other, _)) => {
                if let Some(what) = other.differs_from(first) {
                    return Err(format!(
                        "its TLS differs from that of another session at its address in {what}: the handshake comes before the Logon; make them equal, or give them different ports"
                    ).into());
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Returns the TLS of the connections to a port, if they have it.
    pub(crate) fn tls(&self, Port(port): Port) -> Option<Arc<TlsContext>> {
        match &lock(&self.0).get(port)?.security {
            Security::Tls(_, context) => Some(Arc::clone(context)),
            Security::Undecided | Security::Plain => None,
        }
    }

    /// Returns the first thing in which the TLS of a session differs from that of a port, if the
    /// port has TLS.
    pub(crate) fn tls_differs(&self, Port(port): Port, tls: &Tls) -> Option<&'static str> {
        match &lock(&self.0).get(port)?.security {
            Security::Tls(of_port, _) => tls.differs_from(of_port),
            Security::Undecided | Security::Plain => None,
        }
    }

    /// Returns whether a certificate belongs to a session of the port, or to several: by the
    /// configuration, whichever are open.
    pub(crate) fn is_claimed(&self, Port(port): Port, certificate: &PeerCertificate) -> bool {
        let ports = lock(&self.0);
        ports.get(port).is_some_and(|port| {
            port.bound.iter().any(|(_, rules)| rules.bind(certificate))
                || port.templates.iter().any(|template| template.claims(certificate))
        })
    }

    /// Keeps the certificates of a session for it although it could not be opened, if anything is
    /// listened on at its address.
    pub(crate) fn bind_left_out(&self, address: SocketAddr, id: &SessionId, rules: PeerRules) {
        if let Some(Port(port)) = self.find(address)
            && let Some(port) = lock(&self.0).get_mut(port)
            && port.bound.iter().all(|(known, _)| known != id)
        {
            port.bound.push((id.clone(), Arc::new(rules)));
        }
    }

    /// Checks that a further session of a port agrees about its proxies.
    ///
    /// # Errors
    /// What is wrong, and what to do.
    fn check_proxies(&self, Port(port): Port, proxies: &[Network]) -> Result<(), String> {
        let ports = lock(&self.0);
        match ports.get(port).and_then(|port| port.proxies.as_deref()) {
            Some(first) if first != proxies => Err(
                "its proxies (ProxyProtocolFrom) differ from those of another session at its address: their header comes before the Logon; make them equal, or give the sessions different ports".to_owned(),
            ),
            _ => Ok(()),
        }
    }

    /// Sets the addresses from which connections to a port begin with a PROXY header, unless a
    /// session has done so before.
    fn set_proxies(&self, Port(port): Port, proxies: &[Network]) {
        if let Some(port) = lock(&self.0).get_mut(port) {
            port.proxies.get_or_insert_with(|| proxies.into());
        }
    }

    /// Returns whether connections to a port from this address begin with a PROXY header.
    pub(crate) fn is_proxy(&self, Port(port): Port, from: IpAddr) -> bool {
        let ports = lock(&self.0);
        let proxies = ports.get(port).and_then(|port| port.proxies.as_deref()).unwrap_or_default();
        proxies.iter().any(|proxy| proxy.contains(from))
    }

    /// Returns the addresses, with the ports that the system chose.
    pub(crate) fn addresses(&self) -> Vec<SocketAddr> {
        lock(&self.0).iter().map(|port| port.address).collect()
    }

    /// Lets a port accept counterparties for which no session was configured.
    pub(crate) fn add_template(&self, Port(port): Port, template: AcceptanceTemplate) {
        if let Some(port) = lock(&self.0).get_mut(port) {
            port.templates.push(Arc::new(template));
        }
    }

    /// Adds a session that was opened.
    pub(crate) fn add(&self, Port(port): Port, session: Accepted) {
        if let Some(port) = lock(&self.0).get_mut(port) {
            if session.template.is_none() {
                port.bound.retain(|(id, _)| *id != session.id);
                port.bound.push((session.id.clone(), Arc::clone(&session.peer)));
            }
            port.sessions.push(session);
        }
    }

    /// Removes a session that was closed.
    pub(crate) fn remove(&self, Port(port): Port, key: SessionKey) {
        if let Some(port) = lock(&self.0).get_mut(port)
            && let Some(n) = port.sessions.iter().position(|session| session.key == key)
        {
            // In the order in which they were added.
            let removed = port.sessions.remove(n);
            if removed.template.is_none() {
                port.bound.retain(|(id, _)| *id != removed.id);
            }
        }
    }

    /// Returns whether a session or a template of the port may admit connections from this address.
    pub(crate) fn admits(&self, Port(port): Port, from: IpAddr) -> bool {
        let ports = lock(&self.0);
        let Some(port) = ports.get(port) else { return false };
        port.templates.iter().any(|template| allows(&template.allowed, from))
            || port.sessions.iter().any(|session| allows(&session.allowed, from))
    }

    /// Returns the identities of the port's sessions that no template made.
    pub(crate) fn identities(&self, Port(port): Port) -> Vec<SessionId> {
        let ports = lock(&self.0);
        let configured = ports.get(port).into_iter().flat_map(|port| &port.sessions);
        configured.filter(|session| session.template.is_none()).map(|session| session.id.clone()).collect()
    }

    /// Returns the open session that a Logon is for: of those that no template made and that accept
    /// it, the most specific one, or else the one that the port's first template for such Logons
    /// has made. Those of other templates are only looked for if that one refuses the Logon.
    pub(crate) fn session_for(&self, Port(port): Port, logon: &SessionId) -> Option<SessionKey> {
        let ports = lock(&self.0);
        let port = ports.get(port)?;
        let accepting =
            port.sessions.iter().filter(|session| session.template.is_none() && session.id.accepts(logon));
        let configured = accepting.max_by_key(|session| session.id.specificity());
        configured.map(|session| session.key).or_else(|| {
            let (template, id) = identities(&port.templates, logon).next()?;
            port.made_by(template, &id)
        })
    }

    /// Returns the open session with this identity that the port's template has made.
    pub(crate) fn made_by(&self, Port(port): Port, template: usize, id: &SessionId) -> Option<SessionKey> {
        lock(&self.0).get(port)?.made_by(template, id)
    }

    /// Returns whether the port accepts counterparties for which no session was configured.
    pub(crate) fn has_templates(&self, port: Port) -> bool {
        !self.templates(port).is_empty()
    }

    /// Returns the identities that the port's templates have for a Logon.
    pub(crate) fn identities_for(&self, port: Port, logon: &SessionId) -> Vec<SessionId> {
        identities(&self.templates(port), logon).map(|(_, id)| id).collect()
    }

    /// Asks the port's templates about a Logon for a session that is not open. `Ok(None)` if none
    /// takes it.
    ///
    /// # Errors
    /// A template panicked.
    pub(crate) fn ask_templates(&self, port: Port, logon: &SessionId) -> Result<Option<Made>, Panicked> {
        // Not under the lock: an application's code takes the time that it takes.
        let templates = self.templates(port);
        let ask = || {
            identities(&templates, logon).find_map(|(template, id)| {
                let acceptance = templates[template].ask(&id)?;
                Some(Made { template, id, acceptance })
            })
        };
        catch_unwind(AssertUnwindSafe(ask)).map_err(|_| Panicked)
    }

    fn templates(&self, Port(port): Port) -> Vec<Arc<AcceptanceTemplate>> {
        lock(&self.0).get(port).map_or_else(Vec::new, |port| port.templates.clone())
    }
}

/// A template panicked.
#[derive(Debug)]
pub(crate) struct Panicked;

/// Returns the identities that templates have for a Logon, each with the index of the template.
fn identities(
    templates: &[Arc<AcceptanceTemplate>],
    logon: &SessionId,
) -> impl Iterator<Item = (usize, SessionId)> {
    let identities = templates.iter().map(|template| template.identity.identity(logon));
    identities.enumerate().filter_map(|(n, id)| Some((n, id?)))
}
