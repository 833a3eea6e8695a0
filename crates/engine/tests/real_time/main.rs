//! Tests of running engines that wait in real time, in one program, so that they wait at the same
//! time.

#[path = "../support/mod.rs"]
mod support;

mod admission;
mod conformance;
mod halts;
mod handles;
mod loopback;
mod moving;
mod operating;
#[cfg(feature = "tls")]
mod proxies;
mod senders;
mod slow_readers;
mod waiting;
