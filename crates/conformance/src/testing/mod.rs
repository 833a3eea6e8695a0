//! The harness for tests of sessions: the sessions of one worker with their application, clock and
//! store ([`Side`]). The test is their counterparty and writes its messages as text, with `|` for
//! SOH.
//!
//! A test makes no `Sessions` of its own and drives none, so that only this module knows the calls
//! of the core. An application is a [`Desk`], which answers each message, an [`App`] made of
//! closures, or the test's own. Tests of programs run them to their end with [`Ended`]. The helpers
//! are for tests only and panic on errors.

mod app;
mod capture;
mod command;
mod desk;
mod scratch;
mod side;
mod text;
mod thread_status;
mod told;

pub use app::{Act, App, order};
pub use capture::Capture;
pub use command::{Ended, directory};
pub use desk::{Desk, Mood, report};
pub use scratch::{Scratch, unused};
pub use side::{BEGIN, Side};
pub use text::{kinds, message, messages, settings, settings_of, value};
pub use thread_status::ThreadStatus;

pub(crate) use text::sealed;
