//! What always holds of a session's state. Each type that has such state says it in one `check`,
//! which panics and names what is wrong; here are those of [`State`](crate::state::State) and
//! [`Session`](crate::state::session::Session), the others are beside their types.
//!
//! Builds with debug assertions check each session that a transaction touched after its commit or
//! rollback, and the session of a call at the end of the call. Any build checks when
//! [`Sessions::check`](crate::Sessions::check) is called. Nothing is repaired here, and nothing
//! decides by these conditions.

mod session;
mod state;
#[cfg(test)]
mod testing;

#[cfg(test)]
pub(crate) use testing::{NoStore, said, session};
