//! FIX tag=value bytes to fields and back: framing, index, field types, encoder.
#![no_std]
#![deny(unsafe_code)]
