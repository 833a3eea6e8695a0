//! Message stores of Fixbolt: implementations of the store contract of the session core,
//! [`fixbolt_session::store::Store`].
//!
//! [`DirectoryStore`] keeps one journal per session on disk (docs/journal.md describes its bytes),
//! [`MemoryStore`] serves resends from memory, and [`NoStore`] answers them with gap fills.
//! With the feature `inspect`, which tools need and engines do not, `JournalReader` reads journals
//! back, and the module `inspect` checks and repairs them.
#![deny(unsafe_code)]

mod files;
mod layout;
mod open;
mod store;
mod system;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
mod threads;
#[cfg(feature = "inspect")]
mod tools;
mod values;
mod verdict;

pub use store::directory::DirectoryStore;
pub use store::look::{free_bytes, try_to_create_in};
pub use store::memory::MemoryStore;
pub use store::none::NoStore;
pub use system::checksum::record as record_checksum;
pub use system::spawn::spawn;
#[cfg(target_os = "linux")]
pub use system::system_calls::{give_way, lock_limit, lock_memory, pin_to, since_boot};
#[cfg(feature = "inspect")]
pub use tools::inspect;
#[cfg(feature = "inspect")]
pub use tools::reader::{JournalReader, JournalRecord, SessionJournal};
pub use values::limits::Retention;
