//! Hostile bytes for every input of Fixbolt that a counterparty, a file or an operator controls.
//!
//! A [`Target`] is a function over bytes that panics if an invariant is broken, or if a result
//! differs from that of an independent naive implementation. Its signature is libFuzzer's, so that
//! a coverage-guided fuzzer can call it too. This package's own driver needs only stable Rust and
//! does not measure coverage: it uses a FIX-aware mutator and a seeded generator, so that
//! every input can be reproduced from three numbers.

mod driver;
mod mutate;
mod random;
mod targets;

pub use driver::{Failure, Settings, Summary, replay, run_all, run_one};
pub use random::Random;
pub use targets::{TARGETS, Target};
