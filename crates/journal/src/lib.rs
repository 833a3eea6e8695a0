//! Message stores of Fixbolt: implementations of the store contract of the session core,
//! [`fixbolt_session::store::Store`].
//!
//! [`DirectoryStore`] keeps one journal per session on disk (docs/journal.md describes its bytes),
//! [`MemoryStore`] serves resends from memory, and [`NoStore`] answers them with gap fills.
//! [`JournalReader`] reads journals back; [`inspect`] checks and repairs them.
#![deny(unsafe_code)]

mod backend;
mod checksum;
mod directory;
mod fallocate;
mod files;
mod head;
pub mod inspect;
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
pub use memory::MemoryStore;
pub use none::NoStore;
pub use reader::{JournalReader, JournalRecord, SessionJournal};
