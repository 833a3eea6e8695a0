//! What a worker knows about its sessions besides the session core: their identities, and their
//! connections.

use core::net::IpAddr;
use core::ops::{Index, IndexMut};
use core::time::Duration;

use fixbolt_session::{Mono, SessionId, SessionKey, SessionSettings};

use super::refusal::Refusal;
use crate::socket_options::SocketOptions;

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
    pub(crate) max_message_size: usize,
    pub(crate) logout_timeout: Duration,
    /// The slot of its connection.
    pub(crate) connection: Option<usize>,
    /// Whether an operator ends that connection.
    pub(crate) withdrawn: bool,
    /// When to call the session even if nothing was received, with or without a connection.
    pub(crate) deadline: Option<Mono>,
}

/// How a session gets its connections.
#[derive(Debug)]
pub(crate) enum Side {
    /// Through a listener, from these addresses; from any if the list is empty. `dynamic` if a
    /// template of the listener made it, because a counterparty asked for it.
    Acceptor { listener: usize, allowed: Vec<IpAddr>, dynamic: Option<Dynamic> },
    /// By one of our initiators.
    Initiator { initiator: usize },
}

/// What a worker knows about a dynamic session.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Dynamic {
    /// Which template of its listener made it.
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
    pub(crate) fn new(settings: &SessionSettings, side: Side, socket: SocketOptions) -> Self {
        Self {
            id: settings.id.clone(),
            side,
            socket,
            max_message_size: settings.max_message_size,
            logout_timeout: settings.logout_timeout,
            connection: None,
            withdrawn: false,
            deadline: None,
        }
    }

    /// Checks whether a connection to `listener` from this address may use the session.
    pub(crate) fn admit(&self, listener: usize, from: IpAddr) -> Result<(), Refusal> {
        match &self.side {
            Side::Acceptor { listener: at, allowed, .. } if *at == listener => admit(allowed, from),
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

    /// Returns whether this template of this listener made it.
    pub(crate) fn is_made_by(&self, listener: usize, template: usize) -> bool {
        matches!(&self.side, Side::Acceptor { listener: at, dynamic: Some(dynamic), .. }
            if *at == listener && dynamic.template == template)
    }

    /// Returns whether it is a session of the listener that no template made.
    fn is_configured_at(&self, listener: usize) -> bool {
        matches!(&self.side, Side::Acceptor { listener: at, dynamic: None, .. } if *at == listener)
    }

    /// Returns whether it is a dynamic session.
    pub(crate) const fn is_dynamic(&self) -> bool {
        matches!(self.side, Side::Acceptor { dynamic: Some(_), .. })
    }
}

/// Checks whether the allowed addresses contain this one. An empty list allows any.
pub(crate) fn admit(allowed: &[IpAddr], from: IpAddr) -> Result<(), Refusal> {
    if allowed.is_empty() || allowed.contains(&from) { Ok(()) } else { Err(Refusal::AddressNotAllowed) }
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

    /// Returns whether a session of the listener admits connections from this address.
    pub(crate) fn admits(&self, listener: usize, from: IpAddr) -> bool {
        self.entries.iter().flatten().any(|(_, entry)| entry.admit(listener, from).is_ok())
    }

    /// Returns the sessions of the listener that no template made.
    fn configured_at(&self, listener: usize) -> impl Iterator<Item = (SessionKey, &SessionEntry)> {
        let all = self.entries.iter().flatten().map(|(key, entry)| (*key, entry));
        all.filter(move |(_, entry)| entry.is_configured_at(listener))
    }

    /// Returns the session of the listener that a Logon is for, of those that no template made: of
    /// several that accept it, the most specific one.
    pub(crate) fn for_logon(&self, listener: usize, logon: &SessionId) -> Option<SessionKey> {
        let accepting = self.configured_at(listener).filter(|(_, entry)| entry.id.accepts(logon));
        accepting.max_by_key(|(_, entry)| entry.id.specificity()).map(|(key, _)| key)
    }

    /// Returns the identities of the listener's sessions that no template made.
    pub(crate) fn identities_at(&self, listener: usize) -> impl Iterator<Item = &SessionId> {
        self.configured_at(listener).map(|(_, entry)| &entry.id)
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
