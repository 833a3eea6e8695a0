//! The bytes of a journal, as pure functions: records, head, floor, checkpoint, and how they are
//! found.

pub(crate) mod checkpoint;
pub(crate) mod cookie;
pub(crate) mod floor;
pub(crate) mod head_copy;
pub(crate) mod records;
pub(crate) mod scan;
