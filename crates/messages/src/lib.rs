//! Typed messages of the standard FIX versions, generated at build time. Each version is behind a
//! feature: `fix40`, `fix41`, `fix42`, `fix43`, `fix44`, `fix50`, `fix50sp1`, `fix50sp2`,
//! `fix-latest` (module `fix_latest`), `fixt11`. A code set, component or group that is identical
//! in two versions is one type; each version has messages of its own.
//!
//! A message is read through a view over its bytes, and written field by field into a session, a
//! queue or plain memory. Nothing is copied into structs and nothing is allocated.
//!
//! - **Reading.** `NewOrderSingle::read(message)` returns the view if type and version are right.
//!   The getter of a required field returns `Result<T, FieldError>`, any other one
//!   `Result<Option<T>, FieldError>`; `need` makes an optional field required. Text is a
//!   [`&Text`](fixbolt_codec::Text): compare it with `"IBM"`, display it, read it `to_str`, or pass
//!   it on where bytes are wanted. A repeating group is an iterator of entry views. A getter
//!   returns the first field with its tag in its own scope, in whatever order one asks: the
//!   dictionary that the message was checked against decides which fields are in groups
//!   ([`Message::with_places`](fixbolt_codec::Message::with_places); an engine does this for each
//!   message). Then reading in wire order finds each field without a search. A message without
//!   places is read by the structure of the view's own version.
//! - **Writing.** `NewOrderSingle::send(to, Required { .. }, |order| ..)` writes a message and
//!   sends it, in one call: into a session, a queue or plain memory. The required fields are one
//!   struct: forgetting one does not compile, and two cannot be swapped unnoticed. The closure sets
//!   the optional fields, in any order; it returns nothing, or a `Result` whose error becomes that
//!   of the call. Text is anything with bytes (`impl AsRef<[u8]>`), an amount anything that is a
//!   [`Decimal`](codec::Decimal) without loss, in the struct and in the setters. A message that
//!   would not be valid is refused (a repeated field, SOH in a value, a group out of order, a
//!   missing required group), and then no sequence number is used.
//! - **Groups.** `order.party_ids()` begins a group, `entry` its next entry, whose members are set
//!   in the order of the group. The entries may come from any loop, with `?` in it; the count is
//!   written when the group ends, which it does when the message goes on. Without entries nothing
//!   is written. A function that is given an entry takes a
//!   `parties::Writer<'_, '_, impl Required>`, of [`typed::Required`].
//! - **Header.** `with_header(to, |header| ..)` is a sink that writes fields of the standard header
//!   first.
//! - **Components.** Their fields are methods of traits that all messages with the component share:
//!   `use fix44::prelude::*` imports them all. Preludes of several versions can be imported in one
//!   file.
//! - **Anything else.** `get(tag)` reads and `body()` writes fields that the dictionary does not
//!   know, in messages and in entries.
//!
//! Views do not check a message against the dictionary, which is the task of validation. They read
//! the fields they are asked for.
//!
//! ```
//! # #[cfg(feature = "fix44")] {
//! use fixbolt_codec::{Decimal, Memory, UtcTimestamp};
//! use fixbolt_messages::fix44::prelude::*;
//! use fixbolt_messages::fix44::fields::{OrdType, Side, PartyIDSource, PartyRole};
//! use fixbolt_messages::fix44::groups::parties;
//! use fixbolt_messages::fix44::{NewOrderSingle, new_order_single};
//!
//! let mut memory = [0; 512];
//! let now: UtcTimestamp = "20261121-10:00:00".parse()?;
//! let price: Decimal = "298.075".parse()?;
//! let required = new_order_single::Required {
//!     cl_ord_id: "ord1",
//!     side: Side::BUY,
//!     transact_time: now,
//!     ord_type: OrdType::LIMIT,
//! };
//! let body = NewOrderSingle::send(Memory(&mut memory), required, |order| {
//!     order.symbol("IBM").order_qty(57).price(price);
//!     let mut parties = order.party_ids();
//!     for (id, role) in [
//!         ("BROKER", PartyRole::EXECUTING_FIRM),
//!         ("TRADER", PartyRole::ORDER_ORIGINATION_TRADER),
//!     ] {
//!         parties
//!             .entry(parties::Required { party_id: id })
//!             .party_id_source(PartyIDSource::PROPRIETARY)
//!             .party_role(role);
//!     }
//! })?;
//! let parties = b"453=2\x01448=BROKER\x01447=D\x01452=1\x01448=TRADER\x01447=D\x01452=11\x01";
//! assert!(body.bytes.ends_with(parties));
//! # }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Several versions
//! The preludes of two versions can be imported side by side; `examples/two_versions.rs` turns an
//! order in FIX.4.4 into one in FIX.5.0 SP2, and back. Where the code sets of two versions are the
//! same, so is their type. Where they differ, `convert` turns a code of one into the code with the
//! same value of the other. It compiles only between sets of the same field.
//!
//! ```
//! # #[cfg(all(feature = "fix42", feature = "fix44"))] {
//! use fixbolt_messages::{fix42, fix44};
//!
//! let side: fix42::fields::Side = fix44::fields::Side::SELL.convert();
//! assert_eq!(side, fix42::fields::Side::SELL);
//! let source: fix42::fields::IDSource = fix44::fields::SecurityIDSource::RIC_CODE.convert();
//! assert_eq!(source.value(), b"5");
//! # }
//! ```
//!
//! ```compile_fail,E0271
//! use fixbolt_messages::fix44::fields::{OrdType, Side};
//!
//! let ord_type: OrdType = Side::SELL.convert();
//! ```
//!
//! A field that has become narrower in the other version, from text to a single character, is read
//! again: `SettlType::from_field(settl_type.value())?`, with
//! [`FromField`](fixbolt_codec::FromField).
//!
//! A message is read only as one of its own version
//! ([`Message::version`](fixbolt_codec::Message::version)): `fix44::NewOrderSingle::read` of an
//! order in FIX.4.2 is an error that names both versions. [`dispatch!`] passes a message to the
//! handler of its version:
//!
//! ```ignore
//! dispatch!(message, self, turn, [fix42, fix44])?
//! ```
//!
//! # Handling several types
//! Each version has an enum `AnyMessage` to match on, and a trait `Handler` with one method per
//! message type. Types without a method go to `on_other`. The context is whatever the caller
//! passes, for example the turn in which a session delivers the message. A message of another
//! version is an error.
//!
//! ```
//! # #[cfg(feature = "fix44")] {
//! use fixbolt_messages::codec::Message;
//! use fixbolt_messages::typed::WrongMessage;
//! use fixbolt_messages::fix44::{self, Handler, NewOrderSingle, OrderCancelRequest};
//!
//! struct Desk;
//!
//! impl Handler<Vec<String>> for Desk {
//!     type Answer = bool;
//!
//!     fn on_new_order_single(
//!         &mut self,
//!         order: NewOrderSingle<'_>,
//!         notes: &mut Vec<String>,
//!     ) -> bool {
//!         notes.push(format!("{:?}", order.side()));
//!         true
//!     }
//!
//!     fn on_order_cancel_request(
//!         &mut self,
//!         cancel: OrderCancelRequest<'_>,
//!         notes: &mut Vec<String>,
//!     ) -> bool {
//!         notes.push(format!("cancel: {:?}", cancel.orig_cl_ord_id()));
//!         true
//!     }
//!
//!     fn on_other(&mut self, _: Message<'_>, _: &mut Vec<String>) -> bool {
//!         false
//!     }
//! }
//!
//! fn received(
//!     message: Message<'_>,
//!     desk: &mut Desk,
//!     notes: &mut Vec<String>,
//! ) -> Result<bool, WrongMessage> {
//!     fix44::dispatch(message, desk, notes)
//! }
//! # }
//! ```
#![no_std]
#![forbid(unsafe_code)]

// Generated code names this crate from outside, wherever it is included.
extern crate self as fixbolt_messages;

#[cfg(feature = "encoding")]
extern crate alloc;

mod dispatch;
#[cfg(feature = "encoding")]
pub mod encoding;
pub mod typed;

pub use fixbolt_codec as codec;

/// FIX.4.0.
#[cfg(feature = "fix40")]
#[allow(clippy::all)] // generated: names and shapes are the dictionary's
pub mod fix40 {
    include!(concat!(env!("OUT_DIR"), "/fix40.rs"));
}

/// FIX.4.1.
#[cfg(feature = "fix41")]
#[allow(clippy::all)] // generated: names and shapes are the dictionary's
pub mod fix41 {
    include!(concat!(env!("OUT_DIR"), "/fix41.rs"));
}

/// FIX.4.2.
#[cfg(feature = "fix42")]
#[allow(clippy::all)] // generated: names and shapes are the dictionary's
pub mod fix42 {
    include!(concat!(env!("OUT_DIR"), "/fix42.rs"));
}

/// FIX.4.3.
#[cfg(feature = "fix43")]
#[allow(clippy::all)] // generated: names and shapes are the dictionary's
pub mod fix43 {
    include!(concat!(env!("OUT_DIR"), "/fix43.rs"));
}

/// FIX.4.4.
#[cfg(feature = "fix44")]
#[allow(clippy::all)] // generated: names and shapes are the dictionary's
pub mod fix44 {
    include!(concat!(env!("OUT_DIR"), "/fix44.rs"));
}

/// FIX.5.0. Header, trailer and session messages are those of FIXT.1.1.
#[cfg(feature = "fix50")]
#[allow(clippy::all)] // generated: names and shapes are the dictionary's
pub mod fix50 {
    include!(concat!(env!("OUT_DIR"), "/fix50.rs"));
}

/// FIX.5.0 SP1. Header, trailer and session messages are those of FIXT.1.1.
#[cfg(feature = "fix50sp1")]
#[allow(clippy::all)] // generated: names and shapes are the dictionary's
pub mod fix50sp1 {
    include!(concat!(env!("OUT_DIR"), "/fix50sp1.rs"));
}

/// FIX.5.0 SP2. Header, trailer and session messages are those of FIXT.1.1.
#[cfg(feature = "fix50sp2")]
#[allow(clippy::all)] // generated: names and shapes are the dictionary's
pub mod fix50sp2 {
    include!(concat!(env!("OUT_DIR"), "/fix50sp2.rs"));
}

/// FIX Latest. Header, trailer and session messages are those of FIXT.1.1.
#[cfg(feature = "fix-latest")]
#[allow(clippy::all)] // generated: names and shapes are the dictionary's
pub mod fix_latest {
    include!(concat!(env!("OUT_DIR"), "/fix_latest.rs"));
}

/// FIXT.1.1: header, trailer and session messages of FIX.5.0 and later.
#[cfg(feature = "fixt11")]
#[allow(clippy::all)] // generated: names and shapes are the dictionary's
pub mod fixt11 {
    include!(concat!(env!("OUT_DIR"), "/fixt11.rs"));
}
