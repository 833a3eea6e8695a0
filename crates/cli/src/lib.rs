//! What the commands of Fixbolt have in common: how they end, what they print, their log, the
//! options that they name in place of keys, addresses, the interrupt that stops them, and how a
//! program starts the other one.
//!
//! `fixbolt` is built on it, and so is `fixbolt-bench`, the program that `fixbolt bench` starts. It
//! is no interface for other programs.
#![forbid(unsafe_code)]

/// Writes a line to standard error. If its reader has gone away (`2>&1 | head`), the line is
/// dropped: no command ends because of it.
#[macro_export]
macro_rules! note {
    ($($words:tt)*) => {{
        use std::io::Write as _;
        let _ = writeln!(std::io::stderr(), $($words)*);
    }};
}

pub mod address;
pub mod beside;
pub mod exit;
pub mod interrupt;
pub mod log;
pub mod options;
pub mod output;
