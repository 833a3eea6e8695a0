//! The benchmarks of Fixbolt, and the form of their results.
//!
//! - [`results`] is what every benchmark returns: figures, latency runs, tables; as text, JSON, CSV
//!   and HdrHistogram's format; compared, and held against conditions.
//! - The other modules are the tests that `fixbolt bench` runs, and their messages.
//!
//! The harness, the orders and the reports are those of [`fixbolt_workloads`]. Everything here is
//! repeatable: the same seed yields the same messages. Results are checked before they are timed.
#![forbid(unsafe_code)]

pub mod aim;
pub mod batches;
pub mod codec;
pub mod fix8_codec;
pub mod fsfix;
pub mod generated;
pub mod hftest;
pub mod journal;
pub mod print;
pub mod session;

mod folder;
pub mod log;
pub mod loopback;
pub mod messages;
pub mod more_messages;
pub mod peers;
#[cfg(test)]
mod published;

pub mod read_all;
pub mod results;
pub mod values;
pub mod write_typed;
