//! A call for one session, and the only place where reactions are carried out.

pub(crate) mod call;
pub(crate) mod carry_out;
pub(crate) mod clock;
pub(crate) mod connection;
pub(crate) mod deliver;
pub(crate) mod garbled;
pub(crate) mod operator;
pub(crate) mod react;
pub(crate) mod read;
pub(crate) mod replay;
pub(crate) mod requests;
pub(crate) mod reset;
pub(crate) mod scheduling;
pub(crate) mod store;
pub(crate) mod waiting;

/// Tries to change what no rollback restores ([`Guarded`](crate::state::guarded::Guarded)).
#[cfg(must_not_build = "perform")]
fn change_what_is_guarded(call: &mut call::Call<'_>) {
    let session = call.session_mut();
    session.fixed.keeps_messages = true; // must not build
    session.standing.halted = None; // must not build
    session.intake.reading.blocked = None; // must not build
    session.limits.outbound_permits = None; // must not build
    session.transaction.unreached = None; // must not build
}
