//! FIX tag=value bytes to fields and back: framing, index, field types, encoder. No allocation, no `std`.
#![no_std]
#![deny(unsafe_code)]

mod number;

pub use number::{SeqNum, Tag};
