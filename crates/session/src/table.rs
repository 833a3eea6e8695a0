//! The open sessions of a worker, by place.

use crate::id::SessionId;
use crate::key::SessionKey;
use crate::session::Session;

/// The session in this place.
///
/// # Panics
/// If there is none: only a session that is open is ever at work.
#[inline]
pub(crate) fn opened(table: &[Option<Session>], at: usize) -> &Session {
    table[at].as_ref().expect("a session at work is open")
}

/// The session in this place.
///
/// # Panics
/// As [`opened`].
#[inline]
pub(crate) fn opened_mut(table: &mut [Option<Session>], at: usize) -> &mut Session {
    table[at].as_mut().expect("a session at work is open")
}

/// The open session with this key.
#[inline]
pub(crate) fn find(table: &[Option<Session>], key: SessionKey) -> Option<&Session> {
    table.get(key.index())?.as_ref().filter(|session| session.key == key)
}

/// The open session with this key.
#[inline]
pub(crate) fn find_mut(table: &mut [Option<Session>], key: SessionKey) -> Option<&mut Session> {
    table.get_mut(key.index())?.as_mut().filter(|session| session.key == key)
}

/// The open session with this identity.
pub(crate) fn find_id(table: &[Option<Session>], id: &SessionId) -> Option<SessionKey> {
    table.iter().flatten().find(|session| session.settings.id == *id).map(|session| session.key)
}
