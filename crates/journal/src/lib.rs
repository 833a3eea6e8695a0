//! Message stores of Fixbolt: implementations of the session core's store contract, [`fixbolt_session::store::Store`].
//!
//! [`MemoryStore`] serves resends from memory, [`NoStore`] gap-fills them; [`LateStore`] wraps another store for tests.
#![deny(unsafe_code)]

mod late;
mod ledger;
mod memory;
mod none;
#[cfg(test)]
mod testing;

pub use late::LateStore;
pub use memory::MemoryStore;
pub use none::NoStore;
