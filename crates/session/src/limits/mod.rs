//! What a counterparty may cost, and how much may be sent.

pub(crate) mod flood;
pub(crate) mod pace;
pub(crate) mod refusals;
pub(crate) mod resends;
pub(crate) mod throttle;
