//! Message stores of Fixbolt: implementations of the session core's store contract, [`fixbolt_session::store::Store`].
//!
//! [`DirectoryStore`] keeps a journal a session on disk (docs/journal.md gives its bytes); [`MemoryStore`] serves resends from
//! memory, [`NoStore`] gap-fills them; [`LateStore`] wraps another store for tests. [`JournalReader`] reads journals back and
//! [`inspect`] checks and repairs them.
#![deny(unsafe_code)]

mod backend;
mod checksum;
mod directory;
mod files;
mod head;
pub mod inspect;
mod late;
mod layout;
mod ledger;
mod lock;
mod log;
mod mapping;
mod memory;
mod none;
mod reader;
mod recover;
mod repair;
mod scan;
mod segment;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
mod thread;

pub use directory::DirectoryStore;
pub use late::LateStore;
pub use memory::MemoryStore;
pub use none::NoStore;
pub use reader::{JournalReader, JournalRecord, SessionJournal};
