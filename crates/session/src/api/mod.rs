//! What the application implements and is handed.

pub(crate) mod application;
pub(crate) mod resume;
pub(crate) mod turn;

/// Tries to change what no rollback restores ([`Guarded`](crate::state::guarded::Guarded)).
#[cfg(must_not_build = "api")]
fn change_what_is_guarded(turn: &mut turn::Turn<'_>) {
    let session = &mut turn.core.sessions[turn.own];
    session.fixed.keeps_messages = true; // must not build
    session.standing.halted = None; // must not build
    session.intake.reading.blocked = None; // must not build
    session.limits.outbound_permits = None; // must not build
    session.transaction.unreached = None; // must not build
}
