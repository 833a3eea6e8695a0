//! A body becomes a numbered, stored, queued message.

pub(crate) mod draft;
pub(crate) mod outbound_check;
pub(crate) mod own_messages;
pub(crate) mod sending;
pub(crate) mod throttling;
