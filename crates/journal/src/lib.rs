//! Message stores of Fixbolt: implementations of the store contract of the session core,
//! [`fixbolt_session::store::Store`].
//!
//! [`DirectoryStore`] keeps one journal per session on disk (docs/journal.md describes its bytes),
//! [`MemoryStore`] serves resends from memory, and [`NoStore`] answers them with gap fills.
//! With the feature `inspect`, which tools need and engines do not, `JournalReader` reads journals
//! back, and the module `inspect` checks and repairs them.
#![deny(unsafe_code)]

mod archive;
mod aside;
mod backend;
mod background;
mod checkpoint;
mod checksum;
mod closed;
#[cfg(feature = "inspect")]
mod copies;
mod creation;
mod directory;
mod files;
mod floor;
mod head;
mod head_copy;
mod history;
mod identity;
mod index;
#[cfg(feature = "inspect")]
pub mod inspect;
mod invariants;
mod layout;
mod ledger;
mod lock;
mod log;
mod look;
mod look_ahead;
mod mapping;
mod memory;
mod next_in;
mod none;
#[cfg(feature = "inspect")]
mod operate;
mod pending;
mod preparation;
mod read_back;
#[cfg(feature = "inspect")]
mod reader;
mod recover;
#[cfg(feature = "inspect")]
mod repair;
mod scan;
mod segment;
mod shared;
#[cfg(feature = "inspect")]
mod stopped;
mod syncing;
mod system_calls;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
mod thread;

pub use archive::Retention;
pub use checksum::record as record_checksum;
pub use directory::DirectoryStore;
pub use look::{free_bytes, try_to_create_in};
pub use memory::MemoryStore;
pub use none::NoStore;
#[cfg(feature = "inspect")]
pub use reader::{JournalReader, JournalRecord, SessionJournal};
#[cfg(target_os = "linux")]
pub use system_calls::{give_way, lock_limit, lock_memory, pin_to, since_boot};
pub use thread::spawn;
