//! A FIX engine: acceptors and initiators over TCP, with journal and configuration.
//!
//! An [`Engine`] runs its sessions on one thread. The application is a value with callbacks on that thread; everything that it
//! writes in one callback becomes visible together with the message that caused it, or not at all. Other threads send through a
//! [`Sender`]. Two engines in one process know nothing of each other.
//!
//! It refuses to guess: a setting that is not understood, a journal that is damaged or in use, a port that is taken stop the
//! start with one line that says what and where. It binds to the address that it is given, and configuration files that name
//! none to loopback.
//!
//! Below is the project's front page; its two programs are compiled with this crate's documentation.
#![doc = include_str!("../../../README.md")]
#![forbid(unsafe_code)]

/// Says that the loop has come to a point where a test may end the process.
macro_rules! kill_point {
    ($point:ident) => {
        #[cfg(feature = "kill-points")]
        fixbolt_session::kill_points::reach(fixbolt_session::kill_points::Point::$point);
    };
}

mod acceptance;
mod builder;
mod clock;
mod command;
pub mod config;
mod configured;
mod engine;
mod error;
mod initiation;
mod limits;
mod outbound_queue;
mod sender;
mod session_registry;
mod shutdown_signals;
mod stopper;
pub mod testing;
mod tier;
mod worker;
mod worker_signal;

pub use acceptance::Acceptance;
pub use builder::EngineBuilder;
pub use configured::shipped_validator;
pub use engine::Engine;
pub use error::EngineError;
pub use initiation::Initiation;
pub use sender::{PostError, Sender, SenderDraft};
pub use stopper::Stopper;
pub use tier::choose_tier;

pub use fixbolt_codec as codec;
pub use fixbolt_dictionary as dictionary;
pub use fixbolt_journal as journal;
pub use fixbolt_messages as messages;
pub use fixbolt_session as session;
