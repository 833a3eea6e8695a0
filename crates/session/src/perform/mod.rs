//! A call for one session, and the only place where reactions are carried out.

pub(crate) mod call;
pub(crate) mod carry_out;
pub(crate) mod clock;
pub(crate) mod connection;
pub(crate) mod deliver;
pub(crate) mod garbled;
pub(crate) mod leave;
pub(crate) mod operator;
pub(crate) mod read;
pub(crate) mod replay;
pub(crate) mod reset;
pub(crate) mod scheduling;
pub(crate) mod store;
