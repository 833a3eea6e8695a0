//! Benchmarks over sockets: two engines in one process, an order out and its report back over
//! loopback TCP, beside the same bytes over raw TCP.
//!
//! What was exchanged is checked: every report belongs to its order, and afterwards the journals
//! and message logs of both sides hold as many messages as were sent.

pub mod antenna;
pub mod jlbh;
pub mod rtt;
pub mod stream;

mod closed;
mod driven;
mod exchange;
mod layout;
mod one_way;
mod open;
mod pair;
mod paths;
mod raw;
mod rival;
mod room;
mod thread_cpu;
mod watch;

pub use self::layout::{Layout, check_cores};
