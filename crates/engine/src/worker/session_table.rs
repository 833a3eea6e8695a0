//! What a worker knows of its sessions beside the session core: who they are, and where they are connected.

use core::net::IpAddr;
use core::ops::{Index, IndexMut};
use core::time::Duration;

use fixbolt_session::{Mono, SessionId, SessionKey, SessionSettings};

use super::refusal::Refusal;

/// The sessions of one worker, by key.
#[derive(Debug, Default)]
pub(crate) struct SessionTable {
    entries: Vec<SessionEntry>,
}

/// What a worker knows of one session.
#[derive(Debug)]
pub(crate) struct SessionEntry {
    pub(crate) id: SessionId,
    pub(crate) side: Side,
    pub(crate) nodelay: bool,
    pub(crate) max_message_size: usize,
    pub(crate) logout_timeout: Duration,
    /// The slot of its connection.
    pub(crate) connection: Option<usize>,
    /// When the session wants to be called although nothing came, with a connection or without one.
    pub(crate) deadline: Option<Mono>,
    key: Option<SessionKey>,
}

/// How a session gets its connections.
#[derive(Debug)]
pub(crate) enum Side {
    /// Through a listener, from these addresses; from any if there are none.
    Acceptor { listener: usize, allowed: Vec<IpAddr> },
    /// By an initiator of ours.
    Initiator { initiator: usize },
}

impl SessionEntry {
    pub(crate) fn new(settings: &SessionSettings, side: Side, nodelay: bool) -> Self {
        Self {
            id: settings.id.clone(),
            side,
            nodelay,
            max_message_size: settings.max_message_size,
            logout_timeout: settings.logout_timeout,
            connection: None,
            deadline: None,
            key: None,
        }
    }

    /// Whether a connection that came to `listener` from this address may have the session.
    pub(crate) fn admit(&self, listener: usize, from: IpAddr) -> Result<(), Refusal> {
        match &self.side {
            Side::Acceptor { listener: at, allowed } if *at == listener => admit(allowed, from),
            _ => Err(Refusal::NoSuchSession),
        }
    }
}

/// Whether the addresses that are allowed contain this one. No address means any.
pub(crate) fn admit(allowed: &[IpAddr], from: IpAddr) -> Result<(), Refusal> {
    if allowed.is_empty() || allowed.contains(&from) { Ok(()) } else { Err(Refusal::AddressNotAllowed) }
}

impl SessionTable {
    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Adds a session. None is ever closed, so that their places follow one another.
    pub(crate) fn add(&mut self, key: SessionKey, entry: SessionEntry) {
        debug_assert_eq!(key.index(), self.entries.len(), "places follow one another");
        self.entries.push(SessionEntry { key: Some(key), ..entry });
    }

    /// The key of the session in place `n`.
    pub(crate) fn key(&self, n: usize) -> Option<SessionKey> {
        self.entries.get(n)?.key
    }
}

impl Index<SessionKey> for SessionTable {
    type Output = SessionEntry;

    fn index(&self, key: SessionKey) -> &SessionEntry {
        &self.entries[key.index()]
    }
}

impl IndexMut<SessionKey> for SessionTable {
    fn index_mut(&mut self, key: SessionKey) -> &mut SessionEntry {
        &mut self.entries[key.index()]
    }
}
