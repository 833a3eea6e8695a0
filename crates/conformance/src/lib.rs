//! Conformance: acceptance scripts, the runner that plays them, and the application they are written for.
//!
//! Scripts are wire text ([`Script`]); [`run`] plays one against a [`Transport`] and compares every answer as [`compare`]
//! says. [`BrokenCore`] proves the scripts, [`wire`] helps tests that write a counterparty by hand. Built for tests and tools; it
//! refuses to be part of an engine: files, sockets and a clock live here, none of them in the session core.
#![forbid(unsafe_code)]

mod broken;
mod compare;
mod echo;
mod runner;
mod script;
mod suite;
mod tcp;
mod virtual_time;

pub mod wire;

pub use broken::{BrokenCore, Defect};
pub use compare::{Difference, Mismatch, Order, compare, readable, verify};
pub use echo::Echo;
pub use runner::{Command, Failure, FailureKind, PATIENCE, Received, Transport, TransportError, run};
pub use script::{ANY_TEST_REQ_ID, Action, Line, Script, ScriptError, Step};
pub use suite::{Outcome, Report, ScriptResult, run_folder};
pub use tcp::Tcp;
pub use virtual_time::{VirtualTime, run_suite};
