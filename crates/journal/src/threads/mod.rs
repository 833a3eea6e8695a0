//! The store's threads, and what they do for a session.

pub(crate) mod background;
pub(crate) mod history;
pub(crate) mod preparation;
pub(crate) mod scheduler;
pub(crate) mod set;
pub(crate) mod syncing;
pub(crate) mod work;
