//! A body becomes a numbered, stored, queued message.

pub(crate) mod draft;
pub(crate) mod sending;
