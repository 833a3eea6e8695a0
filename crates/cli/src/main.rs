//! The `fixbolt` command.
#![forbid(unsafe_code)]

fn main() {}
