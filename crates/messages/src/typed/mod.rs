//! What printed messages stand on: views over a message's fields, and writers into a body.
//!
//! [`FieldError`], [`WrongMsgType`], [`Group`], [`Codes`] and [`Written`] meet an application; the rest is for printed code, which
//! `fixbolt-codegen` makes of any dictionary.

//!
//! What does not compile:
//!
//! ```compile_fail,E0063
//! use fixbolt_messages::fix44::{TestRequest, test_request};
//! use fixbolt_messages::codec::Memory;
//! TestRequest::write(Memory(&mut [0; 64]), test_request::Required {}); // TestReqID is missing
//! ```
//!
//! ```compile_fail,E0308
//! # use fixbolt_messages::codec::Memory;
//! # use fixbolt_messages::fix44::{Quote, quote, fields::OrdType};
//! // The code of another field.
//! Quote::write(Memory(&mut [0; 64]), quote::Required { quote_id: b"Q" }).side(OrdType::Limit);
//! ```
//!
//! ```compile_fail,E0308
//! # use fixbolt_messages::codec::Memory;
//! # use fixbolt_messages::fix44::QuoteStatusRequest;
//! // No entry is written.
//! QuoteStatusRequest::write(Memory(&mut [0; 64])).party_ids([b"A"], |new, id| {});
//! ```
//!
//! ```compile_fail
//! # use fixbolt_messages::codec::Memory;
//! # use fixbolt_messages::fix44::{QuoteStatusRequest, groups::parties};
//! // The proof of one entry is kept for the next.
//! let mut kept = None;
//! QuoteStatusRequest::write(Memory(&mut [0; 64])).party_ids([b"A"], |new, party_id| {
//!     kept.replace(new.entry(parties::Required { party_id }).done()).unwrap()
//! });
//! ```
//!
//! ```compile_fail,E0599
//! # use fixbolt_messages::codec::Memory;
//! # use fixbolt_messages::fix44::{QuoteStatusRequest, groups::parties};
//! QuoteStatusRequest::write(Memory(&mut [0; 64])).party_ids([b"A"], |new, party_id| {
//!     new.entry(parties::Required { party_id }).leg_side(b"1").done() // a member of another group
//! });
//! ```

mod view;
mod write;

pub use view::{
    Code, Codes, Entry, FieldError, FieldErrorKind, Fields, Group, GroupShape, Outside, Tags, View,
    WrongMsgType,
};
pub use write::{EntryWriter, MessageWriter, NewEntry, NothingRequired, Put, Required, Written, put_codes};
