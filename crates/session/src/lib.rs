//! The FIX session state machine, sans-IO: no socket, thread, file or clock inside.
#![forbid(unsafe_code)]

mod id;
mod time;

#[cfg(feature = "conformance")]
pub mod conformance;
pub mod store;

pub use id::{InvalidSessionId, SessionId};
pub use time::{Mono, Now, Utc};
