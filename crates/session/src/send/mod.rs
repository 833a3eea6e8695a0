//! A body becomes a numbered, stored, queued message.

pub(crate) mod draft;
pub(crate) mod number;
pub(crate) mod record;
pub(crate) mod seal;
