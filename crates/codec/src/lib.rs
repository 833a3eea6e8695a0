//! FIX tag=value bytes to fields and back: framing, index, field types, encoder. No allocation, no
//! `std`.
//!
//! Reading: [`Framer`] splits a stream into messages, [`Index`] finds their fields, [`FromField`]
//! reads a value. Writing: [`BodyWriter`] writes fields into the memory of a [`NewBody`],
//! [`Envelope`] adds MsgSeqNum, times, BodyLength and CheckSum. A [`Template`] writes messages of
//! which only a few values differ, and [`Message::forward`] sends a received one again in another
//! session.
//!
//! ```
//! use fixbolt_codec::{BodySink, Envelope, Frame, Framer, Index, Key, Memory, MsgType, NewBody};
//! use fixbolt_codec::{Decimal, SeqNum, Span, Stamp};
//!
//! // Bytes of a stream become a message, and a field of it a value.
//! let bytes = b"8=FIX.4.4\x019=29\x0135=D\x0111=ord1\x0155=IBM\x0144=298.5\x0110=047\x01";
//! let Frame::Message(framed) = Framer::new(1024).next(bytes) else { panic!("it is complete") };
//! let (mut tags, mut spans) = ([0; 64], [Span::default(); 64]);
//! let mut index = Index::new(&mut tags, &mut spans);
//! let order = index.build(framed).unwrap();
//! let price: Decimal = order.required(44).unwrap();
//!
//! // Values become a body, with room before and after it, and the body a message.
//! let mut memory = [0; 512];
//! let mut draft = Memory(&mut memory[128..505]).draft(MsgType::new(b"8"));
//! draft.writer().bytes(Key::new(37), b"1").field(Key::new(6), &price);
//! let body = draft.send().unwrap();
//! let (length, sum) = (body.bytes.len(), body.sum);
//! let envelope = Envelope::new(b"FIX.4.4", b"VENUE", b"TRADER").unwrap();
//! let stamp = Stamp {
//!     seq: SeqNum(1),
//!     sending_time: b"20260105-09:00:00",
//!     original: None,
//!     last_processed: None,
//! };
//! let report = MsgType::new(b"8");
//! let whole = envelope.seal(&mut memory, 128..128 + length, report, sum, &stamp).unwrap();
//! assert!(memory[whole.clone()].starts_with(b"8=FIX.4.4\x019=63\x0135=8\x0149=VENUE\x01"));
//! assert!(memory[whole].ends_with(b"\x0137=1\x016=298.5\x0110=160\x01"));
//! ```
//!
//! The standard's data types and the types that represent them:
//!
//! | FIX | here |
//! |---|---|
//! | int | `i64`, or `u64` and `u32` where negative values are not wanted |
//! | Length, TagNum, SeqNum, NumInGroup, DayOfMonth | [`Length`], [`Tag`], [`SeqNum`], [`NumInGroup`], [`DayOfMonth`] |
//! | float, Qty, Price, PriceOffset, Amt, Percentage | [`Decimal`]; [`WideDecimal`] for up to 38 digits, [`Digits`] beyond |
//! | char, Boolean | [`Char`], `bool` |
//! | String, XID, XIDREF; CHAR of FIX.4.0 and 4.1 | [`Text`] |
//! | MultipleCharValue, MultipleStringValue, MultipleValueString | [`MultipleCharValue`], [`MultipleStringValue`] for both others |
//! | Country, Currency, Exchange, Language | the types of these names |
//! | MonthYear | [`MonthYear`] |
//! | UTCTimestamp (TIME), UTCTimeOnly | [`UtcTimestamp`], [`UtcTimeOnly`] |
//! | UTCDateOnly (UTCDate), LocalMktDate (DATE) | [`Date`] |
//! | LocalMktTime, TZTimeOnly, TZTimestamp | [`LocalMktTime`], [`TzTimeOnly`], [`TzTimestamp`] |
//! | data, XMLData | `&[u8]`, written together with their length by [`BodyWriter::data`] |
//! | Tenor | [`Tenor`] |
//! | Unions such as Reserved100Plus, or Qty and codes | the code's type; validation knows the union |
//!
//! Three features, off by default: `f64` (conversion between decimals and binary fractions),
//! `rust_decimal` (conversion to and from that crate's decimals) and `std` (the system's clock).
#![no_std]
#![deny(unsafe_code)]

#[cfg(feature = "std")]
extern crate std;

mod body;
mod body_writer;
mod checks;
mod data_fields;
mod data_key;
mod encode_error;
mod envelope;
mod field_error;
mod forward;
mod frame;
mod framer;
mod head;
mod index;
mod key;
mod look_up;
mod message;
mod message_version;
mod msg_type;
mod number;
mod open_group;
mod place;
#[doc(hidden)]
pub mod plumbing;
mod raw_body;
mod redacted;
mod scan;
mod scope;
mod secrets;
mod set;
mod short_value;
#[cfg(target_arch = "x86_64")]
#[allow(unsafe_code)]
mod simd;
mod soh;
mod sorting;
mod tag_set;
mod template;
mod tier;
mod types;
mod version;
mod wrong_message;

pub use body::{Body, BodySink, Memory, MemoryDraft, NewBody};
pub use body_writer::BodyWriter;
pub use data_fields::DataFields;
pub use data_key::DataKey;
pub use encode_error::{EncodeError, EncodeErrorKind};
pub use envelope::{BEGIN_STRING_LEN, COMP_ID_LEN, Envelope, HeaderIds, NoHeadroom, Stamp, digits};
pub use field_error::{FieldError, FieldErrorKind};
pub use frame::{Frame, FrameError, Framed};
pub use framer::{Framer, Recovery};
pub use index::{Fault, FaultKind, Index, IndexError, Span, byte_sum};
pub use key::Key;
pub use look_up::find_tag;
pub use message::{Field, Message};
pub use msg_type::{MsgType, is_admin};
pub use number::{SeqNum, Tag};
pub use open_group::OpenGroup;
pub use place::{Place, Section};
pub use redacted::{Redacted, is_secret};
pub use scope::{Entries, Scope};
pub use secrets::{SecretRanges, Secrets};
pub use template::{Hole, Holes, Template};
pub use tier::{Tier, TierError};
pub use types::{
    Char, Country, Currency, Date, DayOfMonth, Decimal, Digits, Exchange, FromField, Language, Length,
    LocalMktTime, MonthYear, MonthYearPart, MultipleCharValue, MultipleStringValue, NumInGroup, Precision,
    Rounding, SecondCache, SecondReader, Tenor, TenorUnit, Text, ToField, TzTimeOnly, TzTimestamp,
    UtcTimeOnly, UtcTimestamp, ValueError, WideDecimal, ZoneOffset,
};
pub use version::{UnknownVersion, Version};
pub use wrong_message::{WrongMessage, WrongVersion};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
