//! The FIX session state machine, sans-IO.
#![forbid(unsafe_code)]
