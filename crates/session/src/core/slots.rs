//! The open sessions of a worker, by index.

use crate::state::session::Session;
use crate::values::id::SessionId;
use crate::values::key::SessionKey;

/// Returns the session at index `at`.
///
/// # Panics
/// Panics if there is none: only an open session is ever used.
#[inline]
pub(crate) fn opened(table: &[Option<Session>], at: usize) -> &Session {
    table[at].as_ref().expect("a session at work is open")
}

/// Returns the session at index `at`.
///
/// # Panics
/// The same as [`opened`].
#[inline]
pub(crate) fn opened_mut(table: &mut [Option<Session>], at: usize) -> &mut Session {
    table[at].as_mut().expect("a session at work is open")
}

/// Returns the open session with this key.
#[inline]
pub(crate) fn find(table: &[Option<Session>], key: SessionKey) -> Option<&Session> {
    table.get(key.index())?.as_ref().filter(|session| session.key == key)
}

/// Returns the open session with this key.
#[inline]
pub(crate) fn find_mut(table: &mut [Option<Session>], key: SessionKey) -> Option<&mut Session> {
    table.get_mut(key.index())?.as_mut().filter(|session| session.key == key)
}

/// Returns the open session with this identity.
pub(crate) fn find_id(table: &[Option<Session>], id: &SessionId) -> Option<SessionKey> {
    table.iter().flatten().find(|session| session.settings.id == *id).map(|session| session.key)
}
