//! A small version to make mistakes with.
#![forbid(unsafe_code)]

pub use fixbolt_messages::codec;

/// The printed messages.
#[allow(clippy::all)] // printed: names and shapes are the dictionary's
pub mod paint {
    include!(concat!(env!("OUT_DIR"), "/paint.rs"));
}
