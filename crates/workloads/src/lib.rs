//! What the demo and the benchmarks of Fixbolt share: messages to work with, and how work is
//! measured.
//!
//! - [`orders`] and [`reports`] are what a trader sends and a venue answers, [`wire`] the shortest
//!   way from bytes to a message and back, and [`own_messages`] how long the codec takes for
//!   messages of a run.
//! - [`harness`] runs any task by a schedule and measures it; it knows nothing of FIX.
//! - [`machine`] describes where a figure was measured, and what spoils it there.
//!
//! Everything here is repeatable: the same seed yields the same orders and reports. It measures and
//! describes, but keeps and shows no results: that is up to whoever measures.
//!
//! The feature `serde` makes runs and machines serializable.
#![forbid(unsafe_code)]

pub mod clock;
pub mod harness;
pub mod machine;
pub mod memory;
pub mod numbers;
pub mod orders;
pub mod own_messages;
pub mod random;
pub mod reports;
pub mod wire;
