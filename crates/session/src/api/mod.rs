//! What the application implements and is handed.

pub(crate) mod application;
pub(crate) mod resume;
pub(crate) mod turn;
