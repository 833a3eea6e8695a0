//! Workloads and measurements of Fixbolt: the messages and orders that are timed, and how time is
//! measured.
//!
//! Everything here is repeatable: the same seed yields the same orders and reports. Results are
//! checked before they are timed. How figures are displayed is decided elsewhere.
#![forbid(unsafe_code)]

pub mod clock;
pub mod codec;
pub mod harness;
pub mod journal;
pub mod print;
pub mod session;

mod folder;
pub mod log;
pub mod machine;
pub mod messages;
pub mod more_messages;
pub mod own_messages;

pub mod open_loop;
pub mod orders;
pub mod random;
pub mod read_all;
pub mod reports;
pub mod results;
pub mod wire;
pub mod write_typed;
