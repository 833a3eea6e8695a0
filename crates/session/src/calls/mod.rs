//! The calls of `Sessions`.

pub(crate) mod driving;
pub(crate) mod matrix;
pub(crate) mod operating;
pub(crate) mod sessions;
pub(crate) mod warm_up;
pub(crate) mod warm_up_times;
