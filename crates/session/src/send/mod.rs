//! A body becomes a numbered, stored, queued message.

pub(crate) mod draft;
pub(crate) mod number;
pub(crate) mod record;
pub(crate) mod seal;

/// Tries to change what no rollback restores ([`Guarded`](crate::state::guarded::Guarded)).
#[cfg(must_not_build = "send")]
fn change_what_is_guarded(draft: &mut draft::Draft<'_>) {
    draft.sender.fixed.keeps_messages = true; // must not build
    draft.sender.limits.replay_due = crate::values::time::Mono(0); // must not build
    draft.sender.transaction.store_error = None; // must not build
}
