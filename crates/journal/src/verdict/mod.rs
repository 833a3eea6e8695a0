//! What the files of a journal mean: whether a session may start, and where its numbers continue.

pub(crate) mod continuation;
pub(crate) mod damage;
pub(crate) mod next_in;
