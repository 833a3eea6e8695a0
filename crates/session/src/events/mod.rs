//! What the application is told, and by whose doing.

pub(crate) mod attempt;
pub(crate) mod change_error;
pub(crate) mod end;
pub(crate) mod error;
pub(crate) mod event;
pub(crate) mod failure;
pub(crate) mod logon;
pub(crate) mod open_error;
pub(crate) mod refused;
pub(crate) mod rejects;
pub(crate) mod tls;
