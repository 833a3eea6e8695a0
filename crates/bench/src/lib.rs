//! A latency harness for any work, the form of its results, and the workloads of Fixbolt.
//!
//! - [`harness`] runs any task by a schedule and measures it; it knows nothing of FIX.
//! - [`machine`] describes where a figure was measured, and what spoils it there.
//! - [`results`] is what every benchmark returns: figures, latency runs, tables; as text, JSON, CSV
//!   and HdrHistogram's format; compared, and held against conditions.
//! - The other modules are the messages, orders and tests that `fixbolt bench` runs.
//!
//! Everything here is repeatable: the same seed yields the same orders and reports. Results are
//! checked before they are timed.
#![forbid(unsafe_code)]

pub mod aim;
pub mod batches;
pub mod clock;
pub mod codec;
pub mod fix8_codec;
pub mod fsfix;
pub mod generated;
pub mod harness;
pub mod hftest;
pub mod journal;
pub mod print;
pub mod session;

mod folder;
pub mod log;
pub mod loopback;
pub mod machine;
mod memory;
pub mod messages;
pub mod more_messages;
pub mod own_messages;
pub mod peers;
#[cfg(test)]
mod published;

pub mod orders;
pub mod random;
pub mod read_all;
pub mod reports;
pub mod results;
pub mod values;
pub mod wire;
pub mod write_typed;
