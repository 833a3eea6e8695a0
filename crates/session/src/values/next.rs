//! What a session asks its driver for, and what passes between them when bytes are written.

use crate::values::time::Mono;

/// What a session asks its driver for from now on. It replaces what
/// [`Sessions::poll`](crate::Sessions::poll) returned for the session before.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
#[non_exhaustive]
pub struct Next {
    /// Whether the transport is to be closed, once `output` is `false`. Nothing more is read.
    pub close: bool,
    /// What the session reads.
    pub read: Read,
    /// Whether bytes are queued. The store may not have released them
    /// ([`Sessions::writable`](crate::Sessions::writable)).
    pub output: bool,
    /// When to call [`Sessions::wake`](crate::Sessions::wake); `None` if only bytes change
    /// anything. It has passed if the session can continue without waiting: another session's
    /// outbox has room now, or its own socket has accepted bytes.
    pub deadline: Option<Mono>,
}

/// What a session reads.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
#[non_exhaustive]
pub enum Read {
    /// Bytes that arrive: call [`Sessions::receive`](crate::Sessions::receive) then.
    #[default]
    Bytes,
    /// More of the bytes that it has been passed: the last call processed enough. Call
    /// [`Sessions::receive`](crate::Sessions::receive) again, even if nothing has arrived, after
    /// the other sessions have had their turn.
    Again,
    /// Nothing until it is woken: the application returned `NotNow`, an outbox is full, or messages
    /// that we requested come too fast.
    Nothing,
}

/// Whether a socket accepts more.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Socket {
    /// It accepted no more for now.
    Full,
    /// It accepted all that it was offered and may accept more. The counterparty is not blamed for
    /// what waits until the socket is full.
    Open,
}

/// Bytes for a socket.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Writable<'s> {
    /// The bytes that the store has released.
    pub bytes: &'s [u8],
    /// Whether the session limits how many messages it sends. Their windows begin at the time of
    /// [`Sessions::wrote`](crate::Sessions::wrote): one that was read before the bytes were written
    /// would begin them too early.
    pub is_timed: bool,
}
