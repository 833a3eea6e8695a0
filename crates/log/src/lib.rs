//! Reads FIX messages from the logs of any engine: raw, after a prefix on their line, and with
//! something else in place of SOH.
//!
//! It finds messages and does not check them, and it skips nothing that has content.
#![forbid(unsafe_code)]

mod form;
mod input;
mod prefix;
mod scan;

pub use form::Form;
pub use input::{Input, Next};
pub use prefix::{Direction, direction, time};
pub use scan::{Piece, Position, Separator};
