//! What generated messages are built on: views over a message's fields, and writers into a body.
//!
//! Applications use [`View::need`], [`FieldError`], [`WrongMessage`], [`Group`], [`Codes`],
//! [`Code`] and [`Outcome`]. The rest is for code that `fixbolt-codegen` generates from a
//! dictionary.
//!
//! `tests/compile_fail` has the compiler's messages for common mistakes.

mod code;
mod group;
mod view;
mod write;

pub use crate::__codes as codes;
pub use code::{Code, CodeValue, Codes, CodesOf, IntoCodeValue, code_name};
pub use fixbolt_codec::{FieldError, FieldErrorKind, WrongMessage, WrongVersion};
pub use group::{Group, GroupShape, Tags};
pub use view::{Entry, Fields, Outside, View, check_version};
pub use write::{
    AsWritten, EntryWriter, GroupWriter, MessageWriter, NothingRequired, Order, Outcome, Put, Required,
    Sorted, WithHeader, put_codes, send,
};
