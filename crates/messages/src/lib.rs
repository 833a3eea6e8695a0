//! Typed messages of the standard FIX versions.
#![forbid(unsafe_code)]
