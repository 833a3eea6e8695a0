//! What printed messages stand on: views over a message's fields, and writers into a body.
//!
//! [`FieldError`], [`WrongMsgType`], [`Group`], [`Codes`] and [`Written`] meet an application; the rest is for printed code, which
//! `fixbolt-codegen` makes of any dictionary.
//!
//! What does not compile, and what the compiler says: `tests/compile_fail`.

mod code;
mod group;
mod view;
mod write;

pub use code::{Code, Codes};
pub use fixbolt_codec::{FieldError, FieldErrorKind, WrongMsgType};
pub use group::{Group, GroupShape, Tags};
pub use view::{Entry, Fields, Outside, View};
pub use write::{EntryWriter, MessageWriter, NewEntry, NothingRequired, Put, Required, Written, put_codes};
