//! Conformance tests: acceptance scripts, the runner that plays them, and the application they are
//! written for.
//!
//! Scripts are wire text ([`Script`]); [`run`] plays one against a [`Transport`] and compares every
//! answer with [`compare`]. [`BrokenCore`] proves that the scripts find defects. [`testing`] is the
//! harness of tests with a handwritten counterparty, [`store`] helps tests whose store fails or is
//! late, [`secrets`] tests of what must not be shown. This crate is for tests and tools and never
//! part of an engine: it uses files, sockets and a clock, and the session core uses none of them.
#![forbid(unsafe_code)]

mod broken;
mod compare;
mod echo;
mod edition;
mod initiator;
mod runner;
mod script;
mod suite;
mod tcp;
mod virtual_time;

pub mod disk;
pub mod secrets;
pub mod simulation;
pub mod store;
pub mod testing;

pub use broken::{BrokenCore, Defect, Relapse};
pub use compare::{Difference, Mismatch, Order, compare, readable, verify};
pub use echo::Echo;
pub use edition::{Edition, Family};
pub use runner::{Command, Failure, FailureKind, PATIENCE, Received, Transport, TransportError, run};
pub use script::{ANY_TEST_REQ_ID, Action, Line, Script, ScriptError, Step};
pub use suite::{Outcome, Report, ScriptResult, run_folder, run_scripts};
pub use tcp::Tcp;
pub use virtual_time::{VirtualTime, run_suite};
