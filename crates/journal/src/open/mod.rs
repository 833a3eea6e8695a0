//! One session's open journal: how it is opened, what is added, made visible and read back, and
//! what its threads share.

pub(crate) mod append;
pub(crate) mod bell;
pub(crate) mod calls;
pub(crate) mod close;
pub(crate) mod commit;
pub(crate) mod cursor;
pub(crate) mod failure;
pub(crate) mod head_on_disk;
pub(crate) mod indexes;
pub(crate) mod invariants;
pub(crate) mod log;
pub(crate) mod look_ahead;
pub(crate) mod opening;
pub(crate) mod position;
pub(crate) mod read_back;
pub(crate) mod seek;
pub(crate) mod segments;
pub(crate) mod shared;
pub(crate) mod wanted;
