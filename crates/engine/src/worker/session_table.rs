//! What a worker knows about its sessions besides the session core: their identities, and their
//! connections.

use core::net::IpAddr;
use core::ops::{Index, IndexMut};
use core::time::Duration;
use std::sync::Arc;

use fixbolt_session::{Mono, Next, Refusal, SessionId, SessionKey, SessionSettings};

use crate::ports::{Accepted, Port, allows};
use crate::socket_options::SocketOptions;
use crate::tls::{PeerRules, Tls};

/// The sessions of one worker, by key.
#[derive(Debug, Default)]
pub(crate) struct SessionTable {
    entries: Vec<Option<(SessionKey, SessionEntry)>>,
}

/// What a worker knows about one session.
#[derive(Debug)]
pub(crate) struct SessionEntry {
    pub(crate) id: SessionId,
    pub(crate) side: Side,
    pub(crate) socket: SocketOptions,
    /// The certificates that its counterparty may have, if it connects to us.
    pub(crate) peer: Arc<PeerRules>,
    pub(crate) max_message_size: usize,
    pub(crate) logout_timeout: Duration,
    /// The slot of its connection.
    pub(crate) connection: Option<usize>,
    /// Whether an operator ends that connection.
    pub(crate) withdrawn: bool,
    /// What it asks for, with or without a connection.
    pub(crate) next: Next,
    /// Whether it is in the list of sessions that may have output.
    pub(crate) has_output: bool,
}

/// How a session gets its connections.
#[derive(Debug)]
pub(crate) enum Side {
    /// Through a port, from these addresses; from any if the list is empty. `dynamic` if a
    /// template of the port made it, because a counterparty asked for it.
    Acceptor { port: Port, allowed: Arc<[IpAddr]>, dynamic: Option<Dynamic> },
    /// By one of our initiators.
    Initiator { initiator: usize },
}

/// What a worker knows about a dynamic session.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Dynamic {
    /// Which template of its port made it.
    pub(crate) template: usize,
    /// Whether it has logged on since it was opened, and counts towards the limit of such sessions.
    pub(crate) counted: bool,
    /// When its connection ended, if it has none.
    pub(crate) idle_since: Option<Mono>,
}

impl Dynamic {
    /// A session that has not logged on.
    pub(crate) const fn new(template: usize) -> Self {
        Self { template, counted: false, idle_since: None }
    }
}

impl SessionEntry {
    pub(crate) fn new(
        settings: &SessionSettings,
        side: Side,
        socket: SocketOptions,
        tls: Option<&Tls>,
    ) -> Self {
        Self {
            peer: Arc::new(peer_rules(tls, &settings.id)),
            id: settings.id.clone(),
            side,
            socket,
            max_message_size: settings.limits.max_message_size,
            logout_timeout: settings.timing.logout_timeout,
            connection: None,
            withdrawn: false,
            next: Next::default(),
            has_output: false,
        }
    }

    /// Checks whether a connection to this port from this address may use the session.
    pub(crate) fn admit(&self, port: Port, from: IpAddr) -> Result<(), Refusal> {
        match &self.side {
            Side::Acceptor { port: at, allowed, .. } if *at == port => admit(allowed, from),
            _ => Err(Refusal::NoSuchSession),
        }
    }

    /// Returns what is known about it as a dynamic session, if it is one.
    pub(crate) const fn dynamic(&mut self) -> Option<&mut Dynamic> {
        match &mut self.side {
            Side::Acceptor { dynamic, .. } => dynamic.as_mut(),
            Side::Initiator { .. } => None,
        }
    }

    /// Returns the port through which it is accepted, and how it is known there.
    pub(crate) fn accepted(&self, key: SessionKey) -> Option<(Port, Accepted)> {
        let Side::Acceptor { port, allowed, dynamic } = &self.side else { return None };
        let template = dynamic.map(|dynamic| dynamic.template);
        let (id, allowed, peer) = (self.id.clone(), Arc::clone(allowed), Arc::clone(&self.peer));
        Some((*port, Accepted { id, key, allowed, peer, template }))
    }

    /// Returns whether it is a dynamic session.
    pub(crate) const fn is_dynamic(&self) -> bool {
        matches!(self.side, Side::Acceptor { dynamic: Some(_), .. })
    }
}

/// Returns the certificates that a session's counterparty may have.
pub(crate) fn peer_rules(tls: Option<&Tls>, id: &SessionId) -> PeerRules {
    tls.map(|tls| PeerRules::new(tls, id.target_comp_id())).unwrap_or_default()
}

/// Checks whether the allowed addresses contain this one. An empty list allows any.
pub(crate) fn admit(allowed: &[IpAddr], from: IpAddr) -> Result<(), Refusal> {
    if allows(allowed, from) { Ok(()) } else { Err(Refusal::AddressNotAllowed) }
}

impl SessionTable {
    /// Returns the number of places, with or without a session.
    pub(crate) fn places(&self) -> usize {
        self.entries.len()
    }

    /// Adds a session, in the place that its key names.
    pub(crate) fn add(&mut self, key: SessionKey, entry: SessionEntry) {
        if self.entries.len() <= key.index() {
            self.entries.resize_with(key.index() + 1, || None);
        }
        self.entries[key.index()] = Some((key, entry));
    }

    /// Removes a session.
    pub(crate) fn remove(&mut self, key: SessionKey) -> Option<SessionEntry> {
        let place = self.entries.get_mut(key.index())?;
        let (_, entry) = place.take_if(|(open, _)| *open == key)?;
        Some(entry)
    }

    /// Returns the key of the session in place `n`.
    pub(crate) fn key(&self, n: usize) -> Option<SessionKey> {
        self.entries.get(n)?.as_ref().map(|(key, _)| *key)
    }

    /// Returns the session with this key, if it is open here.
    pub(crate) fn get(&self, key: SessionKey) -> Option<&SessionEntry> {
        let (open, entry) = self.entries.get(key.index())?.as_ref()?;
        (*open == key).then_some(entry)
    }
}

impl Index<SessionKey> for SessionTable {
    type Output = SessionEntry;

    /// # Panics
    /// If the session is not open here.
    fn index(&self, key: SessionKey) -> &SessionEntry {
        self.get(key).expect("the session is open")
    }
}

impl IndexMut<SessionKey> for SessionTable {
    fn index_mut(&mut self, key: SessionKey) -> &mut SessionEntry {
        let entry = self.entries.get_mut(key.index()).and_then(Option::as_mut);
        &mut entry.filter(|(open, _)| *open == key).expect("the session is open").1
    }
}
