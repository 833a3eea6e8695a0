//! Rust source for typed FIX messages, made from a dictionary.
#![forbid(unsafe_code)]
