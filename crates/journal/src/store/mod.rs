//! The stores, which implement the contract of the session core.

pub(crate) mod closed;
pub(crate) mod directory;
pub(crate) mod look;
pub(crate) mod memory;
pub(crate) mod none;
pub(crate) mod pending;
pub(crate) mod per_session;
