//! A FIX engine: acceptors and initiators over TCP, with journal and configuration.
#![forbid(unsafe_code)]

mod builder;
mod clock;
pub mod config;
mod engine;
mod error;
mod inbound;
mod lane;
mod sender;
mod signals;
mod worker;

pub use builder::{Acceptance, EngineBuilder, Initiation};
pub use engine::{Engine, Stopper};
pub use error::EngineError;
pub use sender::{PostError, Sender, SenderDraft};

pub use fixbolt_codec as codec;
pub use fixbolt_dictionary as dictionary;
pub use fixbolt_journal as journal;
pub use fixbolt_messages as messages;
pub use fixbolt_session as session;
