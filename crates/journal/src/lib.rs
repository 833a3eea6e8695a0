//! Message stores of Fixbolt: implementations of the store contract of the session core,
//! [`fixbolt_session::store::Store`].
//!
//! [`DirectoryStore`] keeps one journal per session on disk (docs/journal.md describes its bytes),
//! [`MemoryStore`] serves resends from memory, and [`NoStore`] answers them with gap fills.
//! With the feature `inspect`, which tools need and engines do not, `JournalReader` reads journals
//! back, and the module `inspect` checks and repairs them.
#![deny(unsafe_code)]

mod append;
mod archive;
mod aside;
mod backend;
mod background;
mod base;
mod bell;
mod boot;
mod checkpoint;
mod checksum;
mod clock;
mod close;
mod closed;
mod commit;
mod continuation;
#[cfg(feature = "inspect")]
mod copies;
mod creation;
mod cursor;
mod damage;
#[cfg(feature = "inspect")]
mod directories;
mod directory;
mod disk_space;
mod files;
mod floor;
mod floor_writer;
mod head;
mod head_copy;
mod history;
mod identity;
mod index;
mod indexes;
#[cfg(feature = "inspect")]
pub mod inspect;
mod invariants;
mod layout;
mod ledger;
mod limits;
mod listing;
mod lock;
mod log;
mod look;
mod look_ahead;
mod mapping;
mod memory;
mod mutex;
mod names;
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
mod reserve;
mod scan;
mod segment;
mod segment_file;
mod segment_maker;
mod shared;
mod spawn;
#[cfg(feature = "inspect")]
mod stopped;
mod syncing;
mod system_calls;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
mod thread;
mod wanted;
mod work;

pub use checksum::record as record_checksum;
pub use directory::DirectoryStore;
pub use limits::Retention;
pub use look::{free_bytes, try_to_create_in};
pub use memory::MemoryStore;
pub use none::NoStore;
#[cfg(feature = "inspect")]
pub use reader::{JournalReader, JournalRecord, SessionJournal};
pub use spawn::spawn;
#[cfg(target_os = "linux")]
pub use system_calls::{give_way, lock_limit, lock_memory, pin_to, since_boot};
