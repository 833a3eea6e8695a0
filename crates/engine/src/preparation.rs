//! Prepares a session before it is opened, wherever it comes from; a mistake in it is an
//! [`EngineError`].

use fixbolt_session::{Role, SessionId, SessionSettings};

use crate::acceptance::Acceptance;
use crate::error::EngineError;
use crate::initiation::Initiation;
use crate::session_check::{ambiguous, check_hosts, prepare};

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
    check_hosts(initiation).map_err(|reason| wrong(&initiation.settings.id, reason))
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
        Some(other) => Err(wrong(session, ambiguous(other))),
        None => Ok(()),
    }
}

fn prepare_for(settings: &mut SessionSettings, role: Role) -> Result<(), EngineError> {
    if settings.role != role {
        let reason = match role {
            Role::Acceptor => "it is added with `accept`, but its role is initiator",
            Role::Initiator => "it is added with `connect`, but its role is acceptor",
        };
        return Err(wrong(&settings.id, reason.to_owned()));
    }
    prepare(settings).map_err(|reason| wrong(&settings.id, reason))
}

/// Returns the error of a session that cannot be opened.
pub(crate) fn wrong(session: &SessionId, reason: String) -> EngineError {
    EngineError::Settings { session: Box::new(session.clone()), reason }
}
