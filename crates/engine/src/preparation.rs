//! Prepares a session before it is opened, wherever it comes from; a mistake in it is an
//! [`EngineError`].

use core::fmt;

use fixbolt_session::{Role, SessionId, SessionSettings};

use crate::acceptance::Acceptance;
use crate::error::EngineError;
use crate::initiation::Initiation;
use crate::session_check::{check_hosts, prepare};
use crate::settings_error::SettingsError;

/// Checks a session that is accepted, and fills in the shipped dictionary.
///
/// # Errors
/// [`EngineError::Settings`].
pub(crate) fn prepare_acceptance(acceptance: &mut Acceptance) -> Result<(), EngineError> {
    prepare_for(&mut acceptance.settings, Role::Acceptor)
}

/// Checks a session that connects, and its hosts, and fills in the shipped dictionary.
///
/// # Errors
/// [`EngineError::Settings`].
pub(crate) fn prepare_initiation(initiation: &mut Initiation) -> Result<(), EngineError> {
    prepare_for(&mut initiation.settings, Role::Initiator)?;
    check_hosts(initiation).map_err(|error| wrong(&initiation.settings.id, error))
}

/// Checks that each Logon to a port is for one of its sessions: of two that could take it, one has
/// more SubIDs and LocationIDs.
///
/// # Errors
/// [`EngineError::Settings`].
pub(crate) fn check_unambiguous<'s>(
    session: &SessionId,
    mut others: impl Iterator<Item = &'s SessionId>,
) -> Result<(), EngineError> {
    match others.find(|other| session.is_ambiguous_with(other)) {
        Some(other) => Err(wrong(session, SettingsError::Ambiguous { other: Box::new(other.clone()) })),
        None => Ok(()),
    }
}

fn prepare_for(settings: &mut SessionSettings, role: Role) -> Result<(), EngineError> {
    if settings.role != role {
        return Err(wrong(&settings.id, SettingsError::Role { found: settings.role }));
    }
    prepare(settings).map_err(|error| wrong(&settings.id, error))
}

/// Returns the error of a session that cannot be opened.
pub(crate) fn wrong(session: &SessionId, error: SettingsError) -> EngineError {
    EngineError::Settings { session: Box::new(session.clone()), error }
}

/// Returns the error of a session whose TLS or proxies cannot be used.
pub(crate) fn wrong_tls(session: &SessionId, reason: &dyn fmt::Display) -> EngineError {
    wrong(session, SettingsError::Tls { reason: reason.to_string() })
}
