//! The files of a session's directory: their names, how each is made, locked, written and archived.

pub(crate) mod archive;
pub(crate) mod base;
pub(crate) mod cookies;
pub(crate) mod creation;
pub(crate) mod disk_space;
pub(crate) mod floor_writer;
pub(crate) mod found;
pub(crate) mod head;
pub(crate) mod index;
pub(crate) mod listing;
pub(crate) mod lock;
pub(crate) mod names;
pub(crate) mod segment;
pub(crate) mod segment_file;
pub(crate) mod segment_maker;
