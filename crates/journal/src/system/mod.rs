//! The operating system: calls, mapped memory, files and their errors, threads.

pub(crate) mod aside;
pub(crate) mod backend;
pub(crate) mod boot;
pub(crate) mod checksum;
pub(crate) mod locked;
pub(crate) mod mapping;
pub(crate) mod spawn;
pub(crate) mod system_calls;
