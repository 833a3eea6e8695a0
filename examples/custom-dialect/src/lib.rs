//! The dialect: its typed messages, and its dictionary for validation.
#![forbid(unsafe_code)]

use std::sync::Arc;

use fixbolt::dictionary::{Source, Validator};

/// FIX.4.4 as the auction venue speaks it.
#[allow(clippy::all, dead_code)] // generated: names and structure come from the dictionary; not all of it is used
pub mod auction {
    include!(concat!(env!("OUT_DIR"), "/auction.rs"));
}

/// What checks the dialect's messages: the same file that they are printed from.
///
/// # Panics
/// Never: the build has read the file.
#[must_use]
pub fn validator() -> Arc<Validator> {
    let loaded = Source::text(include_str!("../auction.xml")).load().expect("the build has read it");
    Arc::new(Validator::new(&loaded.dictionary))
}
