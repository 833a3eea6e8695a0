//! Append-only journal: FIX message store and audit log in one.
#![deny(unsafe_code)]
