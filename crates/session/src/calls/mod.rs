//! The calls of `Sessions`.

pub(crate) mod drive;
pub(crate) mod look;
pub(crate) mod matrix;
pub(crate) mod operate;
pub(crate) mod send;
pub(crate) mod sessions;
pub(crate) mod warm_up;
pub(crate) mod warm_up_times;
