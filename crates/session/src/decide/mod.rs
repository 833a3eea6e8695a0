//! What may follow a message, a timer or an operator's call: these files read, and return a
//! `Reaction`.

pub(crate) mod admin;
pub(crate) mod answers;
pub(crate) mod check;
pub(crate) mod due;
pub(crate) mod fields;
pub(crate) mod gaps;
pub(crate) mod inbound;
pub(crate) mod logon;
pub(crate) mod reaction;
pub(crate) mod requests;
pub(crate) mod sequence;
