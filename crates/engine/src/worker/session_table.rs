//! What a worker knows of its sessions beside the session core: where they are connected, and which have output.

use core::net::IpAddr;
use core::ops::{Index, IndexMut};
use core::time::Duration;

use fixbolt_session::{Mono, SessionId, SessionKey, SessionSettings};

use super::refusal::Refusal;

/// The sessions of one worker, by key.
#[derive(Debug)]
pub(crate) struct SessionTable {
    entries: Vec<SessionEntry>,
    /// Sessions to be written for, and the list that is being worked on.
    output: Vec<SessionKey>,
    writing: Vec<SessionKey>,
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
    /// When the session wants to be called although nothing came.
    pub(crate) deadline: Option<Mono>,
    /// Whether it is in the list of sessions to be written for.
    has_output: bool,
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
            has_output: false,
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
    pub(crate) fn new() -> Self {
        Self { entries: Vec::new(), output: Vec::with_capacity(256), writing: Vec::with_capacity(256) }
    }

    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Adds a session; keys are given in the order in which sessions are opened.
    pub(crate) fn add(&mut self, key: SessionKey, entry: SessionEntry) {
        debug_assert_eq!(key.0 as usize, self.entries.len(), "keys are dense from 0");
        self.entries.push(entry);
    }

    /// The key of each session.
    #[allow(clippy::cast_possible_truncation)] // there are at most as many entries as keys
    pub(crate) fn keys(&self) -> impl Iterator<Item = SessionKey> + use<> {
        (0..self.entries.len()).map(|n| SessionKey(n as u32))
    }

    /// Makes [`SessionTable::next_output`] name the session in the next round.
    pub(crate) fn mark_output(&mut self, key: SessionKey) {
        let entry = &mut self.entries[key.0 as usize];
        if !entry.has_output {
            entry.has_output = true;
            self.output.push(key);
        }
    }

    pub(crate) fn has_output(&self) -> bool {
        !self.output.is_empty()
    }

    /// Begins a round over the sessions that are marked now; those marked meanwhile come in the next one.
    pub(crate) fn begin_output(&mut self) {
        core::mem::swap(&mut self.output, &mut self.writing);
    }

    /// The next session of the round.
    pub(crate) fn next_output(&mut self) -> Option<SessionKey> {
        let key = self.writing.pop()?;
        self[key].has_output = false;
        Some(key)
    }
}

impl Index<SessionKey> for SessionTable {
    type Output = SessionEntry;

    fn index(&self, key: SessionKey) -> &SessionEntry {
        &self.entries[key.0 as usize]
    }
}

impl IndexMut<SessionKey> for SessionTable {
    fn index_mut(&mut self, key: SessionKey) -> &mut SessionEntry {
        &mut self.entries[key.0 as usize]
    }
}
