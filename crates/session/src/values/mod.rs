//! Names and numbers: who, when, which.

pub(crate) mod backoff;
pub(crate) mod clock_watch;
pub(crate) mod codec_timing;
pub(crate) mod comp_ids;
pub(crate) mod fix;
pub(crate) mod id;
pub(crate) mod key;
pub(crate) mod next;
pub(crate) mod time;
pub(crate) mod waits_for;
