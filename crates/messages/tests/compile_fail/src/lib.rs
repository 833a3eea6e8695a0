//! A small version to make mistakes with.
#![forbid(unsafe_code)]

pub use fixbolt_messages::codec;

/// The generated messages.
#[allow(clippy::all)] // generated: names and structure come from the dictionary
pub mod paint {
    include!(concat!(env!("OUT_DIR"), "/paint.rs"));
}
