//! The header of an index, of raw bytes, and of a stranger's Logon; what the tags say; what is read
//! past and hidden.

pub(crate) mod admin_message;
pub(crate) mod before_send;
pub(crate) mod header;
pub(crate) mod identify;
pub(crate) mod mask;
pub(crate) mod oversized;
pub(crate) mod raw_header;
pub(crate) mod shape;
