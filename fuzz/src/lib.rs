//! Hostile bytes for every door of Fixbolt that a counterparty, a file or an operator can put bytes into.
//!
//! A [`Target`] is a function over bytes that panics when something does not hold that must hold for all of them: never only
//! "no panic", always an invariant or an independent naive answer. Its signature is libFuzzer's, so that a coverage-guided
//! fuzzer can call it too; this package's own driver needs nothing beyond stable Rust, and is blind to coverage: it mutates
//! seeds with a FIX-aware mutator and a seeded generator, so that every input can be made again from three numbers.

mod driver;
mod mutate;
mod random;
mod targets;

pub use driver::{Failure, Settings, Summary, replay, run_all, run_one};
pub use random::Random;
pub use targets::{TARGETS, Target};
