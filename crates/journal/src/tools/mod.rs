//! What operators do with a journal: read, check, copy, repair and change it.

pub(crate) mod copies;
pub(crate) mod directories;
pub(crate) mod forget;
pub mod inspect;
pub(crate) mod operate;
pub(crate) mod reader;
pub(crate) mod repair;
pub(crate) mod stopped;
